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
  RunJoiner(const JudgedIndex& index, Ties ties, std::int64_t depth, Duplicates duplicates, bool keep_scores)
      : index_(index), ties_(ties), depth_(depth), duplicates_(duplicates), keep_scores_(keep_scores), reader_(*this) {}
  RunJoiner(const RunJoiner&) = delete;
  RunJoiner& operator=(const RunJoiner&) = delete;

  static constexpr bool kWordsBehind = true;
  LineReader<kRunFields, RunJoiner>& reader() { return reader_; }
  // Make room for a text of this size, of short lines.
  void expect(std::size_t bytes) {
    code.reserve(bytes / 24 * width());
    if (keep_scores_) score.reserve(bytes / 24);
  }
  void finish() {
    reader_.finish();
    end_topic();
  }

  // -- what the reader asks for
  SUREFOOT_INLINE void line(const Field* f, std::int64_t number) {
    const double score = number_in(f, kRunFields, 4, number);
    double rank = 0.0;
    if (ties_ == Ties::rank || !is_short_integer(f[3].begin, f[3].end())) rank = number_in(f, kRunFields, 3, number);
    if (!open_ || f[0].size != topic_.size() || !same_bytes(f[0].begin, topic_.data(), topic_.size())) {
      end_topic();
      begin_topic(f);
    }
    const auto offset = static_cast<std::size_t>(f[2].begin - base_);
    if (offset > 0xffffffffull) throw TextError(Fault::topic_too_large, number, f[0].str(), {}, 0);
    const std::uint64_t hash = hash_bytes(f[2].begin, f[2].size);
    const std::int64_t earlier = documents_.insert(
        hash,
        [&](std::size_t e) {
          const Record& r = records_[e];
          return r.size == f[2].size && same_bytes(base_ + r.offset, f[2].begin, r.size);
        },
        [&](std::size_t e) { return records_[e].hash; });
    ++rows;
    if (__builtin_expect(earlier >= 0, 0)) {
      repeated(static_cast<std::size_t>(earlier), f, score, rank, number);
      return;
    }
    // field by field: a record made elsewhere and copied would wait for its own stores
    Record& record = *records_.extend(1);
    record.score = score;
    record.hash = hash;
    record.offset = static_cast<std::uint32_t>(offset);
    record.size = f[2].size;
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
  Column<std::uint8_t> code;  // `width()` bytes a document, as the index codes its grades
  Column<double> score;
  std::size_t width() const { return index_.grade_codes().width(); }
  std::string tag;
  std::int64_t rows = 0, extra_topics = 0;
  const std::unordered_map<std::string, std::int64_t>& seen() const { return seen_; }

 private:
  void begin_topic(const Field* f) {
    topic_ = f[0].str();
    if (!seen_.emplace(topic_, run_topics_).second) throw ScatteredTopics{};
    if (run_topics_ == 0) tag = f[5].str();
    ++run_topics_;
    judged_topic_ = index_.topic(topic_);
    base_ = f[0].begin;
    documents_.clear(records_.size());  // topics of a run are much alike
    records_.clear();
    ranks_.clear();
    open_ = true;
  }

  void end_topic() {
    if (!open_) return;
    write_topic();
    open_ = false;
  }

  void repeated(std::size_t earlier, const Field* f, double score, double rank, std::int64_t number) {
    if (duplicates_ == Duplicates::error) throw TextError(Fault::duplicate, number, f[2].str(), topic_, 2);
    if (duplicates_ == Duplicates::first) return;
    records_[earlier].score = score;
    if (ties_ == Ties::rank) ranks_[earlier] = rank;
  }

  void write_topic() {
    if (judged_topic_ < 0) {
      ++extra_topics;
      return;
    }
    std::size_t n = records_.size();
    const bool reordered = ranker_.rank(records_, ranks_, base_, ties_, order_);
    if (depth_ > 0) n = std::min(n, static_cast<std::size_t>(depth_));
    const std::size_t before = code.size() / width();
    segments.push_back({judged_topic_, static_cast<std::int64_t>(before), static_cast<std::int64_t>(n)});
    std::uint8_t* codes = code.extend(n * width());
    const auto record = [&](std::size_t i) -> const Record& { return records_[reordered ? order_[i] : i]; };
    const auto look_up = [&](auto* out) {
      index_.codes(
          judged_topic_, n, out, [&](std::size_t i) { return record(i).hash; },
          [&](std::size_t i) { return base_ + record(i).offset; }, [&](std::size_t i) { return record(i).size; });
    };
    if (width() == 1) {
      look_up(codes);
    } else {
      look_up(reinterpret_cast<std::uint32_t*>(codes));
    }
    if (!keep_scores_) return;
    double* scores = score.extend(n);
    for (std::size_t i = 0; i < n; ++i) scores[i] = record(i).score;
  }

  const JudgedIndex& index_;
  const Ties ties_;
  const std::int64_t depth_;
  const Duplicates duplicates_;
  const bool keep_scores_;
  LineReader<kRunFields, RunJoiner> reader_;
  std::int64_t run_topics_ = 0;
  // the topic at hand
  bool open_ = false;
  std::string topic_;
  const char* base_ = nullptr;
  std::int64_t judged_topic_ = -1;
  Column<Record> records_;
  std::vector<double> ranks_;
  // working memory
  std::unordered_map<std::string, std::int64_t> seen_;
  SeenDocuments documents_;
  Ranker ranker_;
  std::vector<std::uint32_t> order_;
};

}  // namespace surefoot::text
