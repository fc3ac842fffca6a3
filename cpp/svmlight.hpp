// SVMlight / LETOR text: "label qid:ID index:value ... # comment", read in one pass.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace surefoot {

struct SvmlightTable {
  std::vector<float> label;
  std::vector<std::int64_t> query;  // index of the query's id among `ids`
  std::vector<std::string> ids;     // in order of first sight; a repeat after a gap is scattered
  std::vector<std::int64_t> first;  // first row of each id
  std::vector<std::string> document;  // from "#docid = X" or a first word after '#'
  std::vector<std::int64_t> start;  // cells of each row
  std::vector<std::int32_t> column;
  std::vector<float> value;
  std::int64_t width = 0;
};

struct SvmlightError : std::runtime_error {
  std::int64_t line;
  SvmlightError(std::int64_t at, const std::string& what) : std::runtime_error(what), line(at) {}
};

// Exact for up to 19 digits and small exponents; the C library takes the rest.
inline bool parse_number(const char*& p, const char* end, double& out) {
  static const double kPower[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char* begin = p;
  bool negative = false;
  if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
  std::uint64_t mantissa = 0;
  int digits = 0, significant = 0, exponent = 0;
  auto digit = [&](int shift) {
    const int d = *p - '0';
    if (significant > 0 || d != 0) ++significant;
    if (significant <= 19) {
      mantissa = mantissa * 10 + static_cast<std::uint64_t>(d);
      exponent += shift;
    } else {
      exponent += 1 + shift;
    }
    ++digits;
    ++p;
  };
  while (p < end && *p >= '0' && *p <= '9') digit(0);
  if (p < end && *p == '.') {
    ++p;
    while (p < end && *p >= '0' && *p <= '9') digit(-1);
  }
  if (digits == 0) {
    // NULL (LETOR's "not retrieved") and NaN are missing values
    const std::string word(begin, std::min<std::size_t>(4, static_cast<std::size_t>(end - begin)));
    if (word == "NULL") {
      p = begin + 4;
    } else if (word.substr(0, 3) == "nan" || word.substr(0, 3) == "NaN") {
      p = begin + 3;
    } else {
      return false;
    }
    out = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    const char* mark = p++;
    bool down = false;
    if (p < end && (*p == '-' || *p == '+')) down = *p++ == '-';
    if (p == end || *p < '0' || *p > '9') {
      p = mark;
    } else {
      int e = 0;
      while (p < end && *p >= '0' && *p <= '9') e = std::min(e * 10 + (*p++ - '0'), 9999);
      exponent += down ? -e : e;
    }
  }
  if (significant <= 19 && mantissa < (1ull << 53) && exponent >= -22 && exponent <= 22) {
    const double m = static_cast<double>(mantissa);
    out = exponent < 0 ? m / kPower[-exponent] : m * kPower[exponent];
    if (negative) out = -out;
  } else {
    out = std::strtod(std::string(begin, p).c_str(), nullptr);
  }
  return true;
}

inline SvmlightTable parse_svmlight(const char* text, std::size_t size) {
  SvmlightTable table;
  const char* p = text;
  const char* end = text + size;
  std::int64_t line = 0;
  auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  auto excerpt = [](const char* from, const char* to) {
    return std::string(from, std::min<std::size_t>(static_cast<std::size_t>(to - from), 24));
  };
  while (p < end) {
    ++line;
    const char* stop = p;
    while (stop < end && *stop != '\n') ++stop;
    while (p < stop && blank(*p)) ++p;
    if (p == stop || *p == '#') {
      p = stop + 1;
      continue;
    }
    double number;
    const char* token = p;
    if (!parse_number(p, stop, number) || (p < stop && !blank(*p))) {
      throw SvmlightError(line, "the label is not a number: '" + excerpt(token, stop) + "'");
    }
    table.label.push_back(static_cast<float>(number));
    while (p < stop && blank(*p)) ++p;
    if (stop - p < 4 || p[0] != 'q' || p[1] != 'i' || p[2] != 'd' || p[3] != ':') {
      throw SvmlightError(line, "there is no qid: after the label");
    }
    p += 4;
    token = p;
    while (p < stop && !blank(*p)) ++p;
    const std::size_t length = static_cast<std::size_t>(p - token);
    if (length == 0) throw SvmlightError(line, "the query id is empty");
    const auto row = static_cast<std::int64_t>(table.label.size()) - 1;
    if (table.ids.empty() || table.ids.back().size() != length ||
        table.ids.back().compare(0, length, token, length) != 0) {
      table.ids.emplace_back(token, length);
      table.first.push_back(row);
    }
    table.query.push_back(static_cast<std::int64_t>(table.ids.size()) - 1);
    table.start.push_back(static_cast<std::int64_t>(table.value.size()));
    std::int64_t previous = 0;
    for (;;) {
      while (p < stop && blank(*p)) ++p;
      if (p == stop || *p == '#') break;
      token = p;
      std::int64_t index = 0;
      while (p < stop && *p >= '0' && *p <= '9' && index < 100000000) index = index * 10 + (*p++ - '0');
      if (p == token || p == stop || *p != ':') {
        throw SvmlightError(line, "'" + excerpt(token, stop) + "' is not index:value");
      }
      if (index < 1 || index > 100000000) {
        throw SvmlightError(line, "feature indices begin at 1, but one is " + std::to_string(index));
      }
      if (index <= previous) {
        throw SvmlightError(line, "feature " + std::to_string(index) + " comes after feature " +
                                      std::to_string(previous) + "; indices must rise");
      }
      previous = index;
      ++p;
      token = p;
      if (!parse_number(p, stop, number) || (p < stop && !blank(*p) && *p != '#')) {
        throw SvmlightError(line, "the value of feature " + std::to_string(index) +
                                      " is not a number: '" + excerpt(token, stop) + "'");
      }
      table.column.push_back(static_cast<std::int32_t>(index - 1));
      table.value.push_back(static_cast<float>(number));
      if (index > table.width) table.width = index;
    }
    std::string name;
    if (p < stop && *p == '#') {
      ++p;
      while (p < stop && blank(*p)) ++p;
      const char* word = p;
      while (p < stop && !blank(*p) && *p != '=') ++p;
      name.assign(word, p);
      while (p < stop && blank(*p)) ++p;
      if (name == "docid" && p < stop && *p == '=') {
        ++p;
        while (p < stop && blank(*p)) ++p;
        word = p;
        while (p < stop && !blank(*p)) ++p;
        name.assign(word, p);
      }
    }
    table.document.push_back(name);
    p = stop + 1;
  }
  table.start.push_back(static_cast<std::int64_t>(table.value.size()));
  return table;
}

}  // namespace surefoot
