// A run and the judgments, joined topic by topic: document ids live no longer than their topic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "text_column.hpp"
#include "text_index.hpp"
#include "text_lines.hpp"
#include "text_rank.hpp"

namespace surefoot::text {

enum class Duplicates : int { error = 0, first = 1, last = 2 };

constexpr int kRunFields = 6;  // topic Q0 document rank score tag

// Where one topic's documents lie in the output.
struct Segment {
  std::int64_t topic, begin, count;
};

class RunJoiner {
 public:
  RunJoiner(const JudgedIndex& index, Ties ties, std::int64_t depth, Duplicates duplicates)
      : index_(index), ties_(ties), depth_(depth), duplicates_(duplicates), reader_(*this) {}
  RunJoiner(const RunJoiner&) = delete;
  RunJoiner& operator=(const RunJoiner&) = delete;

  static constexpr bool kWordsBehind = true;
  LineReader<kRunFields, RunJoiner>& reader() { return reader_; }
  void finish() {
    reader_.finish();
    end_topic();
  }

  // -- what the reader asks for
  SUREFOOT_INLINE void line(const Field* f, std::int64_t number) {
    const double score = number_in(f, kRunFields, 4, number);
    const double rank = number_in(f, kRunFields, 3, number);
    if (!open_ || f[0].size != topic_.size() || !same_bytes(f[0].begin, topic_.data(), topic_.size())) {
      end_topic();
      begin_topic(f, number);
    }
    const auto offset = static_cast<std::size_t>(f[2].begin - base_);
    if (offset > 0xffffffffull) throw TextError(Fault::topic_too_large, number, f[0].str(), {}, 0);
    records_.push_back({score, hash_bytes(f[2].begin, f[2].size), static_cast<std::uint32_t>(offset), f[2].size});
    if (ties_ == Ties::rank) ranks_.push_back(rank);
  }
  const char* keep_from() const { return open_ ? base_ : nullptr; }
  void moved(const char* base) { base_ = base; }

  // -- a topic whose rows are in columns already, its documents unique
  void add_topic(std::string_view name, Packed documents, const double* scores, const double* ranks,
                 std::int64_t begin, std::int64_t end) {
    judged_topic_ = index_.topic(name);
    ++run_topics_;
    records_.clear();
    ranks_.clear();
    base_ = documents.block + documents.begin_of(begin);
    for (std::int64_t row = begin; row < end; ++row) {
      const std::string_view id = documents.at(row);
      const auto offset = static_cast<std::size_t>(id.data() - base_);
      if (offset > 0xffffffffull) throw TextError(Fault::topic_too_large, 0, std::string(name), {}, 0);
      records_.push_back({scores[row], hash_bytes(id.data(), id.size()), static_cast<std::uint32_t>(offset),
                          static_cast<std::uint32_t>(id.size())});
      ranks_.push_back(ranks[row]);
    }
    write_topic();
  }

  // -- what came of it
  std::vector<Segment> segments;
  Column<double> grade, score;
  std::string tag;
  std::int64_t rows = 0, extra_topics = 0;
  const std::unordered_map<std::string, std::int64_t>& seen() const { return seen_; }

 private:
  void begin_topic(const Field* f, std::int64_t number) {
    topic_ = f[0].str();
    if (!seen_.emplace(topic_, run_topics_).second) throw ScatteredTopics{};
    if (run_topics_ == 0) tag = f[5].str();
    ++run_topics_;
    judged_topic_ = index_.topic(topic_);
    base_ = f[0].begin;
    first_line_ = number;
    records_.clear();
    ranks_.clear();
    open_ = true;
  }

  void end_topic() {
    if (!open_) return;
    rows += static_cast<std::int64_t>(records_.size());
    check_duplicates();
    write_topic();
    open_ = false;
  }

  void check_duplicates() {
    const std::size_t n = records_.size();
    documents_.clear(n);
    std::size_t kept = 0;
    const auto same = [&](std::size_t earlier, std::size_t now) {
      const Record &a = records_[earlier], &b = records_[now];
      return a.size == b.size && same_bytes(base_ + a.offset, base_ + b.offset, a.size);
    };
    for (std::size_t i = 0; i < n; ++i) {
      // entries before `kept` are final; entry i is moved down to its place first
      if (kept != i) {
        records_[kept] = records_[i];
        if (!ranks_.empty()) ranks_[kept] = ranks_[i];
      }
      const std::int64_t earlier =
          documents_.insert(records_[kept].hash, kept, [&](std::size_t e) { return same(e, kept); });
      if (earlier < 0) {
        ++kept;
        continue;
      }
      if (duplicates_ == Duplicates::error) duplicate(records_[kept]);
      if (duplicates_ == Duplicates::last) {
        records_[static_cast<std::size_t>(earlier)] = records_[kept];
        if (!ranks_.empty()) ranks_[static_cast<std::size_t>(earlier)] = ranks_[kept];
      }
    }
    records_.resize(kept);
    if (!ranks_.empty()) ranks_.resize(kept);
  }

  [[noreturn]] void duplicate(const Record& record) const {
    const auto newlines = std::count(base_, base_ + record.offset, '\n');
    throw TextError(Fault::duplicate, first_line_ + newlines, std::string(record.id(base_)), topic_, 2);
  }

  void write_topic() {
    if (judged_topic_ < 0) {
      ++extra_topics;
      return;
    }
    std::size_t n = records_.size();
    const bool reordered = ranker_.rank(records_, ranks_, base_, ties_, order_);
    if (depth_ > 0) n = std::min(n, static_cast<std::size_t>(depth_));
    segments.push_back({judged_topic_, static_cast<std::int64_t>(grade.size()), static_cast<std::int64_t>(n)});
    double* grades = grade.extend(n);
    double* scores = score.extend(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Record& r = records_[reordered ? order_[i] : i];
      grades[i] = index_.grade(judged_topic_, r.hash, base_ + r.offset, r.size);
      scores[i] = r.score;
    }
  }

  const JudgedIndex& index_;
  const Ties ties_;
  const std::int64_t depth_;
  const Duplicates duplicates_;
  LineReader<kRunFields, RunJoiner> reader_;
  std::int64_t run_topics_ = 0;
  // the topic at hand
  bool open_ = false;
  std::string topic_;
  const char* base_ = nullptr;
  std::int64_t first_line_ = 0, judged_topic_ = -1;
  std::vector<Record> records_;
  std::vector<double> ranks_;
  // working memory
  std::unordered_map<std::string, std::int64_t> seen_;
  SeenDocuments documents_;
  Ranker ranker_;
  std::vector<std::uint32_t> order_;
};

}  // namespace surefoot::text
