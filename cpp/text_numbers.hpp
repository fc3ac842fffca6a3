// Decimal numbers, exact to the last bit.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
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

// The usual case: up to 19 digits whose value is below 2^53, at most 22 of them decimals. Mantissa and
// power of ten are then exact doubles, so that one division is correctly rounded (Clinger 1990).
SUREFOOT_INLINE Number parse_number(const char* begin, const char* end, double& out) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char* p = begin;
  const bool negative = p < end && *p == '-';
  p += negative;
  if (end - p > 20 || p == end) return parse_any_number(begin, end, out);
  std::uint64_t mantissa = 0;
  const char* start = p;
  while (p < end && is_digit(*p)) mantissa = 10 * mantissa + static_cast<unsigned>(*p++ - '0');
  std::ptrdiff_t digits = p - start, decimals = 0;
  if (p < end && *p == '.') {
    start = ++p;
    while (p < end && is_digit(*p)) mantissa = 10 * mantissa + static_cast<unsigned>(*p++ - '0');
    decimals = p - start;
    digits += decimals;
  }
  if (p != end || digits == 0 || digits > 19 || mantissa > (std::uint64_t{1} << 53)) {
    return parse_any_number(begin, end, out);
  }
  const double value = static_cast<double>(mantissa) / kPowers[decimals];
  out = negative ? -value : value;
  return Number::good;
}

}  // namespace surefoot::text
