// Arbitrary bytes through the parser of cpp/text_*.hpp, under sanitizers: `make fuzz`.
//
// Checks, for every input: no fault that a sanitizer sees; the same outcome however the bytes are cut
// into blocks; the joining reader and the keeping reader accept the same files; every number finite.
// Built by g++ it makes its own inputs for a number of seconds; with -DLIBFUZZER it is a libFuzzer target.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "text_join.hpp"
#include "text_keep.hpp"

using namespace surefoot::text;

namespace {

void require(bool held, const char* what) {
  if (held) return;
  std::fprintf(stderr, "fuzz_text: broken promise: %s\n", what);
  std::abort();
}

// Outcome of one reader: rows, or the line and kind of its fault.
struct Outcome {
  bool good = false;
  std::int64_t rows = 0, line = 0;
  int fault = 0;
  double sum = 0;
  bool operator==(const Outcome& o) const {
    return good == o.good && rows == o.rows && line == o.line && fault == o.fault && sum == o.sum;
  }
};

// Every way to find the separators finds the same.
void same_separators(const std::string& data) {
  std::string text = data;
  text.resize(data.size() + kPadding, ' ');
  std::vector<std::uint32_t> plain(text.size() + kPadding), chosen(text.size() + kPadding);
  const std::size_t n = index_separators_anywhere(text.data(), data.size(), plain.data());
  require(index_separators(text.data(), data.size(), chosen.data()) == n, "as many separators");
  plain.resize(n);
  chosen.resize(n);
  require(plain == chosen, "the same separators");
}

// The quick road for numbers agrees with the slow one, bit for bit, on every piece between separators.
void same_numbers(const std::string& data) {
  const std::string text = data + std::string(kPadding, ' ');
  for (std::size_t begin = 0; begin < data.size();) {
    std::size_t end = begin;
    while (end < data.size() && static_cast<unsigned char>(data[end]) > 0x20) ++end;
    double quick = 0, slow = 0;
    const Number outcome = parse_number(text.data() + begin, text.data() + end, quick);
    require(outcome == parse_any_number(text.data() + begin, text.data() + end, slow), "one idea of a number");
    if (outcome == Number::good) require(std::memcmp(&quick, &slow, sizeof quick) == 0, "one value of a number");
    if (is_short_integer(text.data() + begin, text.data() + end)) {
      require(outcome == Number::good && quick == std::floor(quick), "short integers are numbers");
    }
    begin = end + 1;
  }
}

template <class Reader>
void feed(Reader& reader, const std::string& data, const std::vector<std::size_t>& cuts) {
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    if (cut <= from || cut >= data.size()) continue;
    reader.reader().feed(data.data() + from, cut - from);
    from = cut;
  }
  reader.reader().feed(data.data() + from, data.size() - from);
  reader.finish();
}

template <int kFields>
Outcome keep(const std::string& data, const std::vector<std::size_t>& cuts, Duplicates duplicates) {
  Outcome out;
  Keeper<kFields> keeper(duplicates);
  try {
    feed(keeper, data, cuts);
  } catch (const TextError& error) {
    out.line = error.line;
    out.fault = static_cast<int>(error.fault);
    return out;
  }
  out.good = true;
  out.rows = static_cast<std::int64_t>(keeper.values.size());
  require(keeper.offsets[keeper.topics.size()] == out.rows, "offsets end at the last row");
  for (std::int64_t row = 0; row < out.rows; ++row) {
    const double value = keeper.values[static_cast<std::size_t>(row)];
    require(std::isfinite(value), "values are finite");
    out.sum += value * static_cast<double>(row % 7 + 1);
  }
  return out;
}

// Returns false for scattered topics, which the joining reader does not take.
bool join(const JudgedIndex& index, const std::string& data, const std::vector<std::size_t>& cuts, Ties ties,
          std::int64_t depth, Duplicates duplicates, Outcome& out) {
  RunJoiner joiner(index, ties, depth, duplicates, true);
  try {
    feed(joiner, data, cuts);
  } catch (const TextError& error) {
    out.line = error.line;
    out.fault = static_cast<int>(error.fault);
    return true;
  } catch (const ScatteredTopics&) {
    return false;
  }
  out.good = true;
  out.rows = joiner.rows;
  for (std::size_t i = 0; i < joiner.score.size(); ++i) {
    require(std::isfinite(joiner.score[i]), "scores are finite");
    require(joiner.code[i] < index.grade_codes().levels().size(), "codes name grades");
    out.sum += joiner.code[i] + joiner.score[i] * static_cast<double>(i % 5);
  }
  for (const Segment& s : joiner.segments) {
    require(depth == 0 || s.count <= depth, "depth is kept");
    for (std::int64_t i = s.begin + 1; i < s.begin + s.count && ties != Ties::rank; ++i) {
      const auto at = static_cast<std::size_t>(i);
      require(joiner.score[at - 1] >= joiner.score[at], "scores descend");
    }
  }
  return true;
}

// Few judgments for topics 1, 2 and 10, and enough for topic 3 to be looked up in groups.
const JudgedIndex& judgments() {
  static const std::string topics = "12103";
  static const std::int64_t topic_ends[] = {1, 2, 4, 5};
  static std::string documents = "abcdocdoc1";
  static std::vector<std::int64_t> offsets = {0, 2, 4, 5}, ends = {1, 2, 3, 6, 10};
  static std::vector<double> grades = {1, 0, 2, -1, 0.5};
  if (offsets.size() == 4) {
    for (int i = 0; i < 60; ++i) {
      documents += "d" + std::to_string(i);
      ends.push_back(static_cast<std::int64_t>(documents.size()));
      grades.push_back(i % 4);
    }
    offsets.push_back(static_cast<std::int64_t>(ends.size()));
  }
  static const JudgedIndex index({topics.data(), topic_ends}, 4, offsets.data(), {documents.data(), ends.data()},
                                 grades.data());
  return index;
}

void try_one(const std::string& data, std::uint64_t choice) {
  std::vector<std::size_t> cuts;
  std::uint64_t state = choice;
  for (int i = 0; i < 4 && !data.empty(); ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    cuts.push_back((state >> 33) % data.size());
  }
  std::sort(cuts.begin(), cuts.end());
  same_separators(data);
  same_numbers(data);
  const auto ties = static_cast<Ties>(choice % 4);
  const auto duplicates = static_cast<Duplicates>(choice / 4 % 3);
  const std::int64_t depth = choice / 12 % 2 ? 3 : 0;
  const Outcome kept = keep<kRunFields>(data, {}, duplicates);
  require(kept == keep<kRunFields>(data, cuts, duplicates), "blocks may be cut anywhere (run)");
  require(keep<kQrelsFields>(data, {}, duplicates) == keep<kQrelsFields>(data, cuts, duplicates),
          "blocks may be cut anywhere (judgments)");
  Outcome whole, parts;
  const bool grouped = join(judgments(), data, {}, ties, depth, duplicates, whole);
  require(grouped == join(judgments(), data, cuts, ties, depth, duplicates, parts), "scattered is scattered");
  if (!grouped) return;
  require(whole == parts, "blocks may be cut anywhere (join)");
  require(whole.good == kept.good, "both readers accept the same files");
  // with duplicates kept apart, the rows read are those of the file
  if (whole.good && duplicates == Duplicates::error) require(whole.rows == kept.rows, "both readers see all rows");
}

}  // namespace

#ifdef LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string data(reinterpret_cast<const char*>(bytes), size);
  try_one(data, hash_bytes(data.data(), data.size()));
  return 0;
}
#else
int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 20;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::mt19937_64 random(seed);
  const std::vector<std::string> pieces = {
      "1 Q0 a 1 3.5 t\n", "1 Q0 b 2 2.5 t\n", "2 Q0 doc 1 1e3 t\n", "10 Q0 doc1 1 -0.25 t\n", "1 0 a 1\n",
      "2 0 doc -1\n", " ", "  ", "\t", "\n", "\r\n", "\r", "\v", "\f", "\xEF\xBB\xBF", std::string(1, '\0'),
      "nan", "inf", "-inf", "1e400", "1e-400", "abc", "2_0", "2,0", "0x10", "+1", "-", ".", "1.", ".5", "e5",
      "9007199254740993", "0.1000000000000000055511151231257827", std::string(40, '9'), "\x7f", "\xff",
      std::string(70, 'd'), std::string(300, 'q'), "1 Q0 a 1 3.5", "t words behind\n", "#", "\"a\""};
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t tried = 0;
  std::string data;
  for (;; ++tried) {
    if (tried % 64 == 0) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      if (spent.count() > seconds) break;
    }
    if (data.size() > 4000 || pick(4) == 0) data.clear();
    if (data.empty()) {
      const std::size_t lines = pick(40);
      for (std::size_t i = 0; i < lines; ++i) {
        data += std::to_string(pick(3) + 1) + " Q0 d" + std::to_string(pick(1000)) + " " + std::to_string(i) + " " +
                std::to_string(static_cast<double>(pick(2000)) / 8) + " t\n";
      }
    }
    const std::size_t changes = 1 + pick(4);
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t at = pick(data.size() + 1);
      switch (pick(5)) {
        case 0: data.insert(at, pieces[pick(pieces.size())]); break;
        case 1: if (at < data.size()) data[at] = static_cast<char>(random()); break;
        case 2: data.erase(at, 1 + pick(8)); break;
        case 3: data.insert(at, data.substr(pick(data.size() + 1), pick(60))); break;
        default: data.resize(at); break;
      }
    }
    try_one(data, random());
    // now and then something larger than every buffer
    if (tried % 5000 == 4999) {
      std::string large;
      while (large.size() < (std::size_t{1} << 20)) large += data.empty() ? "1 Q0 a 1 1 t\n" : data;
      try_one(large, random());
    }
  }
  std::printf("fuzz_text: %llu inputs in %g s, seed %llu, nothing found\n", static_cast<unsigned long long>(tried),
              seconds, static_cast<unsigned long long>(seed));
  return 0;
}
#endif
