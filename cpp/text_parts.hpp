// Cutting one big file into parts that hold whole topics, for several threads.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "text_lines.hpp"

namespace surefoot::text {

// Reads lines of an open file one by one from an offset.
class LineCursor {
 public:
  LineCursor(int file, std::int64_t offset) : file_(file), offset_(offset) {}

  // Start of the next line in the file; its text without the newline is in `line`. False at the end.
  bool next(std::string& line, std::int64_t& start) {
    for (;;) {
      const char* from = block_.data() + used_;
      const void* end = used_ < block_.size() ? std::memchr(from, '\n', block_.size() - used_) : nullptr;
      if (end != nullptr) {
        const auto size = static_cast<std::size_t>(static_cast<const char*>(end) - from);
        line.assign(from, size);
        start = offset_ + static_cast<std::int64_t>(used_);
        used_ += size + 1;
        return true;
      }
      std::vector<char> more(block_.begin() + static_cast<std::ptrdiff_t>(used_), block_.end());
      offset_ += static_cast<std::int64_t>(used_);
      used_ = 0;
      const std::size_t left = more.size(), size = std::max(kBlock, left);  // doubled for a long line
      more.resize(left + size);
      ssize_t got;
      do {
        got = ::pread(file_, more.data() + left, size, static_cast<off_t>(offset_ + static_cast<std::int64_t>(left)));
      } while (got < 0 && errno == EINTR);
      more.resize(left + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      block_.swap(more);
      if (got <= 0) return false;
    }
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 16;
  int file_;
  std::int64_t offset_;
  std::vector<char> block_;
  std::size_t used_ = 0;
};

// Where, at or behind `offset`, the next topic begins; `size` if nowhere.
inline std::int64_t next_topic(int file, std::int64_t offset, std::int64_t size) {
  if (offset <= 0) return 0;
  LineCursor lines(file, offset - 1);
  std::string line, topic;
  std::int64_t start;
  lines.next(line, start);  // the rest of the line before
  bool known = false;
  while (lines.next(line, start)) {
    std::size_t begin = 0;
    while (begin < line.size() && static_cast<unsigned char>(line[begin]) <= 0x20) ++begin;
    std::size_t end = begin;
    while (end < line.size() && static_cast<unsigned char>(line[end]) > 0x20) ++end;
    if (begin == end) continue;
    const std::string found = line.substr(begin, end - begin);
    if (known && found != topic) return start;
    topic = found;
    known = true;
  }
  return size;
}

// Newlines before `offset`.
inline std::int64_t lines_before(int file, std::int64_t offset) {
  std::vector<char> block(std::size_t{1} << 20);
  std::int64_t lines = 0;
  for (std::int64_t at = 0; at < offset;) {
    const auto part = static_cast<std::size_t>(std::min<std::int64_t>(offset - at, static_cast<std::int64_t>(block.size())));
    const ssize_t got = ::pread(file, block.data(), part, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    lines += std::count(block.data(), block.data() + got, '\n');
    at += got;
  }
  return lines;
}

}  // namespace surefoot::text
