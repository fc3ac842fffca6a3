// Lines of white-space separated fields out of a stream of blocks, with exact line numbers in errors.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "text_numbers.hpp"

namespace surefoot::text {

// What can be wrong with a line. The numbers are shared with kernels/text.py, which finds the words.
enum class Fault : int {
  field_count = 1,
  malformed_number = 2,
  not_finite = 3,
  too_large = 4,
  control_character = 5,
  duplicate = 6,
  topic_too_large = 7,
  line_too_long = 8,
};

struct TextError : std::exception {
  Fault fault;
  std::int64_t line;
  std::string text;  // the offending field
  std::string whole;  // the line it is in
  int count;  // fields found, or number of the offending field (from 0)
  TextError(Fault fault, std::int64_t line, std::string text, std::string whole, int count)
      : fault(fault), line(line), text(std::move(text)), whole(std::move(whole)), count(count) {}
  const char* what() const noexcept override { return "bad text"; }
};

// A topic comes back after another one began: the one-pass road ends here.
struct ScatteredTopics {};

struct Field {
  const char* begin;
  std::uint32_t size;
  const char* end() const { return begin + size; }
  std::string str() const { return std::string(begin, size); }
  std::string_view view() const { return {begin, size}; }
};

// Kinds of bytes up to ' '; everything above is part of a field.
enum Kind : std::uint8_t { kBlank = 0, kNewline = 1, kReturn = 2, kControl = 4 };
constexpr std::array<std::uint8_t, 256> make_kinds() {
  std::array<std::uint8_t, 256> kinds{};
  for (int c = 0; c < 256; ++c) kinds[c] = c < 0x20 ? kControl : kBlank;
  kinds['\t'] = kinds['\v'] = kinds['\f'] = kBlank;
  kinds['\n'] = kNewline;
  kinds['\r'] = kReturn;
  return kinds;
}
inline constexpr auto kKinds = make_kinds();
inline std::uint8_t kind_of(char c) { return kKinds[static_cast<unsigned char>(c)]; }

constexpr std::size_t kPadding = 64;  // readable bytes behind every buffer

// Bits that are set; the baseline of x86-64 has no instruction for it.
SUREFOOT_INLINE unsigned count_bits(std::uint64_t x) {
  x -= (x >> 1) & 0x5555555555555555ull;
  x = (x & 0x3333333333333333ull) + ((x >> 2) & 0x3333333333333333ull);
  return static_cast<unsigned>((((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full) * 0x0101010101010101ull) >> 56);
}

// Positions of all bytes <= ' ' in text[0, size); `out` has room for size + kPadding entries, and
// kPadding bytes behind the text can be read.
inline std::size_t index_separators_anywhere(const char* text, std::size_t size, std::uint32_t* out) {
  std::size_t n = 0;
  for (std::size_t base = 0; base < size; base += 64) {
    std::uint64_t mask = 0;
#if defined(__SSE2__)
    const __m128i space = _mm_set1_epi8(0x20);
    for (int part = 0; part < 4; ++part) {
      const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + base + 16 * part));
      const auto bits = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(x, space), x)));
      mask |= static_cast<std::uint64_t>(bits) << (16 * part);
    }
#else
    for (int i = 0; i < 64; ++i) {
      mask |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[base + i]) <= 0x20) << i;
    }
#endif
    if (size - base < 64) mask &= (std::uint64_t{1} << (size - base)) - 1;
    const unsigned count = count_bits(mask);
    // Written eight at a time without looking: the surplus is overwritten by the next block.
    for (unsigned done = 0; done < count; done += 8) {
      for (int i = 0; i < 8; ++i) {
        out[n + done + i] = static_cast<std::uint32_t>(base) + (mask ? __builtin_ctzll(mask) : 0);
        mask &= mask - 1;
      }
    }
    n += count;
  }
  return n;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(SUREFOOT_NO_CLONES)
#define SUREFOOT_WIDE_SEPARATORS 1
// The same with the instruction that packs the bytes of a mask.
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt"))) inline std::size_t index_separators_wide(
    const char* text, std::size_t size, std::uint32_t* out) {
  alignas(64) std::uint8_t counting[64];
  for (int i = 0; i < 64; ++i) counting[i] = static_cast<std::uint8_t>(i);
  const __m512i numbers = _mm512_load_si512(counting), space = _mm512_set1_epi8(0x20);
  std::size_t n = 0;
  for (std::size_t base = 0; base < size; base += 64) {
    std::uint64_t mask = _mm512_cmple_epu8_mask(_mm512_loadu_si512(text + base), space);
    if (size - base < 64) mask &= (std::uint64_t{1} << (size - base)) - 1;
    const auto count = static_cast<unsigned>(__builtin_popcountll(mask));
    __m512i places = _mm512_maskz_compress_epi8(mask, numbers);
    const __m512i from = _mm512_set1_epi32(static_cast<int>(base));
    for (unsigned done = 0;;) {
      const __m512i sixteen = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
      _mm512_storeu_si512(out + n + done, _mm512_add_epi32(sixteen, from));
      done += 16;
      if (done >= count) break;
      places = _mm512_alignr_epi32(places, places, 4);
    }
    n += count;
  }
  return n;
}
#endif

inline std::size_t index_separators(const char* text, std::size_t size, std::uint32_t* out) {
#if defined(SUREFOOT_WIDE_SEPARATORS)
  static const bool wide = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                           __builtin_cpu_supports("avx512vbmi2");
  if (wide) return index_separators_wide(text, size, out);
#endif
  return index_separators_anywhere(text, size, out);
}

inline bool is_number(const Field& field) {
  double value;
  return parse_number(field.begin, field.end(), value) == Number::good;
}

// Reads blocks, cuts them into lines of `kFields` fields and hands each to `sink`:
//   Sink::kWordsBehind               whether words may follow the last field, as trec_eval allows behind
//                                    a tag; not behind a number, which is a sign of a blank inside an id
//   sink.line(fields, number)        one line; pointers are valid until the buffer moves
//   sink.keep_from() -> const char*  first byte still needed, or nullptr
//   sink.moved(base)                 that byte is now at `base`
template <int kFields, class Sink>
class LineReader {
 public:
  explicit LineReader(Sink& sink) : sink_(sink), buffer_(kPadding) {}

  std::int64_t lines() const { return line_; }

  void feed(const char* data, std::size_t size) {
    while (size > 0) {
      const std::size_t part = std::min(size, kBlock);
      std::memcpy(room(part), data, part);
      end_ += part;
      data += part;
      size -= part;
      process();
    }
  }

  // Up to `length` bytes of an open file from `offset`; returns the bytes read (fewer at its end), or
  // -errno.
  std::int64_t feed_file(int file, std::int64_t offset, std::int64_t length) {
    std::int64_t done = 0;
    while (done < length) {
      const std::size_t part = static_cast<std::size_t>(std::min<std::int64_t>(length - done, kBlock));
      const ssize_t got = ::pread(file, room(part), part, static_cast<off_t>(offset + done));
      if (got < 0) {
        if (errno == EINTR) continue;
        return -errno;
      }
      if (got == 0) break;
      end_ += static_cast<std::size_t>(got);
      done += got;
      process();
    }
    return done;
  }

  void finish() {
    if (end_ > scan_ || (!begun_ && end_ > 0)) {
      *room(1) = '\n';
      ++end_;
      process();
    }
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 18;
  static constexpr std::size_t kWindow = std::size_t{1} << 14;
  static constexpr std::size_t kLongest = std::size_t{1} << 26;  // of a line; places in it are 32 bits

  // Room for `size` more bytes behind end_, after dropping what nobody needs.
  char* room(std::size_t size) {
    if (end_ + size + kPadding > buffer_.size()) {
      const char* kept = sink_.keep_from();
      const std::size_t from = kept == nullptr ? scan_ : static_cast<std::size_t>(kept - buffer_.data());
      const std::size_t left = end_ - from;
      if (left + size + kPadding > buffer_.size()) {
        std::vector<char> larger(2 * buffer_.size() + size);
        std::memcpy(larger.data(), buffer_.data() + from, left);
        buffer_.swap(larger);
      } else {
        std::memmove(buffer_.data(), buffer_.data() + from, left);
      }
      scan_ -= from;
      end_ = left;
      if (kept != nullptr) sink_.moved(buffer_.data());
    }
    return buffer_.data() + end_;
  }

  // All complete lines that are in the buffer.
  void process() {
    if (!begun_) {
      if (end_ < 3 && std::memcmp(buffer_.data(), "\xEF\xBB\xBF", end_) == 0) return;
      begun_ = true;
      if (end_ >= 3 && std::memcmp(buffer_.data(), "\xEF\xBB\xBF", 3) == 0) scan_ = 3;
    }
    for (;;) {
      // A window of whole lines, small enough for its index to stay in the fastest cache.
      const char* start = buffer_.data() + scan_;
      std::size_t size = std::min(end_ - scan_, kWindow);
      const char* last = last_newline(start, size);
      if (last == nullptr) {
        const std::size_t known = std::max(size, searched_);
        const void* next = end_ - scan_ > known ? std::memchr(start + known, '\n', end_ - scan_ - known) : nullptr;
        if (next == nullptr) {
          searched_ = end_ - scan_;
          if (searched_ > kLongest) {
            throw TextError(Fault::line_too_long, line_ + 1, {}, whole(start, start + searched_), 0);
          }
          return;
        }
        last = static_cast<const char*>(next);
      }
      searched_ = 0;
      size = static_cast<std::size_t>(last - start) + 1;
      if (separators_.size() < size + kPadding) separators_.resize(size + kPadding);
      const std::size_t n = index_separators(start, size, separators_.data());
      lines_of(start, separators_.data(), n);
      scan_ += size;
    }
  }

  static const char* last_newline(const char* start, std::size_t size) {
    while (size > 0 && start[size - 1] != '\n') --size;
    return size > 0 ? start + size - 1 : nullptr;
  }

  void lines_of(const char* text, const std::uint32_t* at, std::size_t n) {
    std::size_t i = 0;
    std::uint32_t start = 0;
    Field fields[kFields];
    while (i < n) {
      ++line_;
      if (i + kFields <= n) {
        // The usual line: single separators, then the end.
        std::uint32_t from = start;
        unsigned odd = 0;
        for (int f = 0; f < kFields; ++f) {
          const std::uint32_t to = at[i + f];
          fields[f] = {text + from, to - from};
          odd |= (to == from) | (f < kFields - 1 ? kind_of(text[to]) : 0u);
          from = to + 1;
        }
        const std::uint32_t last = at[i + kFields - 1];
        if (odd == 0 && text[last] == '\n') {
          sink_.line(fields, line_);
          i += kFields;
          start = last + 1;
          continue;
        }
        if (odd == 0 && text[last] == '\r' && text[last + 1] == '\n') {
          sink_.line(fields, line_);
          i += kFields + 1;
          start = last + 2;
          continue;
        }
      }
      i = any_line(text, at, i, start, fields);
      start = at[i - 1] + 1;
    }
  }

  // A line with blanks in a row, too few or too many fields, or bytes that do not belong in text.
  // Returns the index behind its newline.
  std::size_t any_line(const char* text, const std::uint32_t* at, std::size_t i, std::uint32_t start,
                       Field (&fields)[kFields]) {
    int count = 0;
    std::uint32_t from = start;
    const char* control = nullptr;
    bool returned = false, broken = false;  // a carriage return, and something behind it
    for (;; ++i) {
      const std::uint32_t to = at[i];
      if (to > from) {
        if (count < kFields) fields[count] = {text + from, to - from};
        ++count;
        broken |= returned;
      }
      from = to + 1;
      const std::uint8_t kind = kind_of(text[to]);
      if (kind == kNewline) break;
      if (kind == kReturn) returned = true;
      if (kind == kControl && control == nullptr) control = text + to;
    }
    const char* end = text + at[i];
    if (control != nullptr) {
      throw TextError(Fault::control_character, line_, std::string(control, 1), whole(text + start, end), count);
    }
    if (count == 0) return i + 1;
    const bool words_behind = count > kFields && Sink::kWordsBehind && !is_number(fields[kFields - 1]);
    if ((count == kFields || words_behind) && !broken) {
      sink_.line(fields, line_);
    } else {
      throw TextError(Fault::field_count, line_, {}, whole(text + start, end), count);
    }
    return i + 1;
  }

  static std::string whole(const char* begin, const char* end) {
    if (end > begin && end[-1] == '\r') --end;
    return std::string(begin, std::min<std::size_t>(static_cast<std::size_t>(end - begin), 400));
  }

  Sink& sink_;
  std::vector<char> buffer_;
  std::vector<std::uint32_t> separators_;
  std::size_t scan_ = 0, end_ = 0, searched_ = 0;
  std::int64_t line_ = 0;
  bool begun_ = false;
};

// The number in a field, or the fault that says why there is none.
SUREFOOT_INLINE double number_in(const Field* fields, int count, int which, std::int64_t line) {
  double value;
  const Field& field = fields[which];
  const Number outcome = parse_number(field.begin, field.end(), value);
  if (__builtin_expect(outcome != Number::good, 0)) {
    const Fault fault = outcome == Number::malformed    ? Fault::malformed_number
                        : outcome == Number::not_finite ? Fault::not_finite
                                                        : Fault::too_large;
    std::string whole;
    for (int f = 0; f < count; ++f) whole += (f ? " " : "") + fields[f].str();
    throw TextError(fault, line, field.str(), whole, which);
  }
  return value;
}

}  // namespace surefoot::text
