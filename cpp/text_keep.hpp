// Judgments and runs kept whole: every document id, value and rank, grouped by topic. This is also the
// road for topics that lie scattered through a file.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "text_column.hpp"
#include "text_index.hpp"
#include "text_join.hpp"
#include "text_lines.hpp"

namespace surefoot::text {

constexpr int kQrelsFields = 4;  // topic iteration document grade

template <int kFields>
class Keeper {
 public:
  explicit Keeper(Duplicates duplicates) : duplicates_(duplicates), reader_(*this) {}
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  static constexpr bool kWordsBehind = kFields == kRunFields;
  LineReader<kFields, Keeper>& reader() { return reader_; }

  void line(const Field* f, std::int64_t number) {
    constexpr bool run = kFields == kRunFields;
    const double value = number_in(f, kFields, run ? 4 : 3, number);
    const double rank = run ? number_in(f, kFields, 3, number) : 0.0;
    if (run) {
      if (values.size() == 0) tag = f[kFields - 1].str();
      else if (!other_tags) other_tags = f[kFields - 1].view() != tag;
    }
    add(f[0].view(), f[2].view(), value, rank, number);
  }
  const char* keep_from() const { return nullptr; }
  void moved(const char*) {}

  // One row, from a line or from a table (where `number` counts rows).
  void add(std::string_view topic, std::string_view document, double value, double rank, std::int64_t number) {
    if (topic_of_row.size() == 0 || topic != topics[static_cast<std::size_t>(current_)]) {
      const auto [place, fresh] = topic_of_.emplace(std::string(topic), static_cast<std::int64_t>(topics.size()));
      if (fresh) topics.emplace_back(topic);
      grouped_ &= fresh;
      current_ = place->second;
    }
    topic_of_row.push_back(current_);
    if (!document.empty()) std::memcpy(block.extend(document.size()), document.data(), document.size());
    ends.push_back(static_cast<std::int64_t>(block.size()));
    values.push_back(value);
    ranks.push_back(rank);
    numbers_.push_back(number);
  }

  void finish() {
    reader_.finish();
    count_topics();
    if (!grouped_) group();
    drop_duplicates();
  }

  std::vector<std::string> topics;
  Column<std::int64_t> topic_of_row, ends, offsets;
  Column<char> block;
  Column<double> values, ranks;
  std::string tag;
  bool other_tags = false;
  std::int64_t dropped = 0;  // duplicates that were not kept
  bool scattered() const { return !grouped_; }

 private:
  std::size_t rows() const { return values.size(); }
  std::int64_t begin_of(std::size_t row) const { return row == 0 ? 0 : ends.data()[row - 1]; }
  std::string_view id(std::size_t row) const {
    return {block.data() + begin_of(row), static_cast<std::size_t>(ends.data()[row] - begin_of(row))};
  }

  void count_topics() {
    offsets = {};
    std::int64_t* o = offsets.extend(topics.size() + 1);
    std::fill(o, o + topics.size() + 1, 0);
    for (std::size_t row = 0; row < rows(); ++row) ++o[topic_of_row[row] + 1];
    for (std::size_t t = 0; t < topics.size(); ++t) o[t + 1] += o[t];
  }

  // A stable counting sort by topic.
  void group() {
    std::vector<std::int64_t> next(offsets.data(), offsets.data() + topics.size());
    std::vector<std::size_t> source(rows());
    for (std::size_t row = 0; row < rows(); ++row) {
      source[static_cast<std::size_t>(next[static_cast<std::size_t>(topic_of_row[row])]++)] = row;
    }
    select(source);
  }

  // Keep the rows named, in that order.
  void select(const std::vector<std::size_t>& source) {
    Column<std::int64_t> new_topics, new_ends;
    Column<char> new_block;
    Column<double> new_values, new_ranks;
    std::vector<std::int64_t> new_numbers;
    for (const std::size_t row : source) {
      const std::string_view text = id(row);
      if (!text.empty()) std::memcpy(new_block.extend(text.size()), text.data(), text.size());
      new_ends.push_back(static_cast<std::int64_t>(new_block.size()));
      new_topics.push_back(topic_of_row[row]);
      new_values.push_back(values[row]);
      new_ranks.push_back(ranks[row]);
      new_numbers.push_back(numbers_[row]);
    }
    topic_of_row = std::move(new_topics);
    ends = std::move(new_ends);
    block = std::move(new_block);
    values = std::move(new_values);
    ranks = std::move(new_ranks);
    numbers_ = std::move(new_numbers);
  }

  void drop_duplicates() {
    std::vector<std::size_t> kept;
    SeenDocuments documents;
    // the earliest line is reported, whatever its topic
    std::int64_t wrong_line = -1;
    std::size_t wrong_row = 0;
    for (std::size_t t = 0; t < topics.size(); ++t) {
      const auto begin = static_cast<std::size_t>(offsets[t]), end = static_cast<std::size_t>(offsets[t + 1]);
      documents.clear(end - begin);
      const std::size_t before = kept.size();
      const auto hash_of = [&](std::size_t e) {
        const std::string_view text = id(kept[before + e]);
        return hash_bytes(text.data(), text.size());
      };
      for (std::size_t row = begin; row < end; ++row) {
        const std::string_view now = id(row);
        const std::int64_t seen = documents.insert(
            hash_bytes(now.data(), now.size()), [&](std::size_t e) { return id(kept[before + e]) == now; }, hash_of);
        if (seen < 0) {
          kept.push_back(row);
          continue;
        }
        if (duplicates_ == Duplicates::error && (wrong_line < 0 || numbers_[row] < wrong_line)) {
          wrong_line = numbers_[row];
          wrong_row = row;
        }
        if (duplicates_ == Duplicates::last) {
          const std::size_t earlier = kept[before + static_cast<std::size_t>(seen)];
          values[earlier] = values[row];
          ranks[earlier] = ranks[row];
        }
      }
    }
    if (wrong_line >= 0) {
      throw TextError(Fault::duplicate, wrong_line, std::string(id(wrong_row)),
                      topics[static_cast<std::size_t>(topic_of_row[wrong_row])], 2);
    }
    dropped = static_cast<std::int64_t>(rows() - kept.size());
    if (dropped > 0) {
      select(kept);
      count_topics();
    }
  }

  const Duplicates duplicates_;
  LineReader<kFields, Keeper> reader_;
  std::unordered_map<std::string, std::int64_t> topic_of_;
  std::vector<std::int64_t> numbers_;
  std::int64_t current_ = -1;
  bool grouped_ = true;
};

}  // namespace surefoot::text
