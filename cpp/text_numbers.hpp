// Decimal numbers, exact to the last bit.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "clones.hpp"

namespace surefoot::text {

enum class Number { good, malformed, not_finite, too_large };

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// "nan", "inf", "infinity" in any case, with or without a sign.
inline bool names_no_number(const char* p, const char* end) {
  if (p < end && (*p == '+' || *p == '-')) ++p;
  for (const char* name : {"nan", "inf", "infinity"}) {
    const char* q = p;
    const char* n = name;
    while (q < end && *n != '\0' && (*q | 0x20) == *n) ++q, ++n;
    if (q == end && *n == '\0') return true;
  }
  return false;
}

// Any decimal number: [+-]digits[.digits][e[+-]digits] with at least one digit before the exponent.
inline Number parse_any_number(const char* begin, const char* end, double& out) {
  const char* p = begin;
  if (p < end && (*p == '+' || *p == '-')) ++p;
  const char* first = p;
  int digits = 0;
  while (p < end && is_digit(*p)) ++p, ++digits;
  if (p < end && *p == '.') {
    ++p;
    while (p < end && is_digit(*p)) ++p, ++digits;
  }
  if (digits == 0) return names_no_number(begin, end) ? Number::not_finite : Number::malformed;
  if (p < end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p < end && (*p == '+' || *p == '-')) ++p;
    if (p == end) return Number::malformed;
    while (p < end && is_digit(*p)) ++p;
    if (!is_digit(p[-1])) return Number::malformed;
  }
  if (p != end) return Number::malformed;
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L
  const auto [stop, code] = std::from_chars(first, end, out);
  if (code != std::errc()) {
    // Too small is a rounding to (nearly) zero, too large is a mistake; strtod tells them apart.
    out = std::strtod(std::string(first, end).c_str(), nullptr);
  }
#else
  out = std::strtod(std::string(first, end).c_str(), nullptr);
#endif
  if (!std::isfinite(out)) return Number::too_large;
  if (*begin == '-') out = -out;
  return Number::good;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SUREFOOT_EIGHT_DIGITS 1
// Eight characters at once, the first in the lowest byte, as digits: '0' becomes 0, '.' no digit.
SUREFOOT_INLINE std::uint64_t load_digits(const char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, 8);
  return v ^ 0x3030303030303030ull;
}
// The top bit of every byte that is no digit; exact up to the first such byte, and none where all are.
SUREFOOT_INLINE std::uint64_t no_digits(std::uint64_t digits) {
  return ((digits + 0x7676767676767676ull) | digits) & 0x8080808080808080ull;
}
// The first n of eight digits (0 < n <= 8) moved to the end, zeros before them.
SUREFOOT_INLINE std::uint64_t first_digits(std::uint64_t digits, std::ptrdiff_t n) {
  return digits << (64 - 8 * n);
}
// The number that eight digits make.
SUREFOOT_INLINE std::uint64_t number_of(std::uint64_t digits) {
  constexpr std::uint64_t pairs = 0x000000ff000000ffull;
  digits = digits * 10 + (digits >> 8);
  return ((digits & pairs) * 0x000f424000000064ull + ((digits >> 16) & pairs) * 0x0000271000000001ull) >> 32;
}
#endif

inline constexpr std::ptrdiff_t kReadable = 8;  // bytes that must be readable behind a number

// The usual case: up to 19 digits whose value is below 2^53, at most 22 of them decimals. Mantissa and
// power of ten are then exact doubles, so that one division is correctly rounded (Clinger 1990).
SUREFOOT_INLINE Number parse_number(const char* begin, const char* end, double& out) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  const char* p = begin;
  const bool negative = p < end && *p == '-';
  p += negative;
  std::uint64_t mantissa = 0;
  std::ptrdiff_t decimals = 0;
#if defined(SUREFOOT_EIGHT_DIGITS)
  // Up to eight digits before the point and up to eight behind it, without a loop.
  static constexpr std::uint64_t kWhole[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  const std::ptrdiff_t size = end - p;
  const std::uint64_t head = load_digits(p), stop = no_digits(head);
  const std::ptrdiff_t whole = stop == 0 ? 8 : __builtin_ctzll(stop) >> 3;
  if (whole >= size && size > 0) {
    if (size <= 8) {
      const auto value = static_cast<double>(number_of(first_digits(head, size)));
      out = negative ? -value : value;
      return Number::good;
    }
  } else if (whole > 0 && p[whole] == '.') {
    decimals = size - whole - 1;
    if (decimals > 0 && decimals <= 8) {
      const std::uint64_t tail = first_digits(load_digits(p + whole + 1), decimals);
      mantissa = number_of(first_digits(head, whole)) * kWhole[decimals] + number_of(tail);
      if (no_digits(tail) == 0 && mantissa <= kExact) {
        const double value = static_cast<double>(mantissa) / kPowers[decimals];
        out = negative ? -value : value;
        return Number::good;
      }
    }
  }
  mantissa = 0;
  decimals = 0;
#endif
  if (end - p > 20 || p == end) return parse_any_number(begin, end, out);
  const char* start = p;
  while (p < end && is_digit(*p)) mantissa = 10 * mantissa + static_cast<unsigned>(*p++ - '0');
  std::ptrdiff_t digits = p - start;
  if (p < end && *p == '.') {
    start = ++p;
    while (p < end && is_digit(*p)) mantissa = 10 * mantissa + static_cast<unsigned>(*p++ - '0');
    decimals = p - start;
    digits += decimals;
  }
  if (p != end || digits == 0 || digits > 19 || mantissa > kExact) {
    return parse_any_number(begin, end, out);
  }
  const double value = static_cast<double>(mantissa) / kPowers[decimals];
  out = negative ? -value : value;
  return Number::good;
}

// Whether a field is a number whose value nobody needs: usually a few digits.
SUREFOOT_INLINE bool is_short_integer(const char* begin, const char* end) {
#if defined(SUREFOOT_EIGHT_DIGITS)
  const std::ptrdiff_t size = end - begin;
  return size > 0 && size <= 8 && no_digits(first_digits(load_digits(begin), size)) == 0;
#else
  (void)begin, (void)end;
  return false;
#endif
}

}  // namespace surefoot::text
