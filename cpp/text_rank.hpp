// The order of one topic's documents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "text_column.hpp"
#include "text_index.hpp"

namespace surefoot::text {

enum class Ties : int { trec = 0, docid = 1, file = 2, rank = 3 };

struct Record {
  double score;
  std::uint64_t hash;
  std::uint32_t offset;  // of the document id, from the topic's first byte
  std::uint32_t size;
  std::string_view id(const char* base) const { return {base + offset, size}; }
};

// Doubles as integers of the same order; the zeros of both signs are one.
inline std::uint64_t ordered_bits(double x) {
  x += 0.0;
  std::uint64_t bits;
  std::memcpy(&bits, &x, 8);
  return bits ^ ((bits >> 63) != 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
}

class Ranker {
 public:
  // Fills `order` with the entries in rank order; returns false where that is the order of the file.
  // `ranks` is read for Ties::rank alone.
  bool rank(const Column<Record>& records, const std::vector<double>& ranks, const char* base, Ties ties,
            std::vector<std::uint32_t>& order) {
    const std::size_t n = records.size();
    bool sorted = true, tied = false;
    if (ties == Ties::rank) {
      for (std::size_t i = 1; i < n; ++i) sorted &= ranks[i - 1] <= ranks[i];
    } else {
      for (std::size_t i = 1; i < n; ++i) {
        sorted &= records[i - 1].score >= records[i].score;
        tied |= records[i - 1].score == records[i].score;
      }
    }
    const bool by_id = ties == Ties::trec || ties == Ties::docid;
    if (sorted && !(tied && by_id)) return false;
    order.resize(n);
    if (sorted) {
      for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
    } else {
      keys_.resize(n);
      for (std::size_t i = 0; i < n; ++i) {
        // ascending keys: scores descending, ranks ascending
        const std::uint64_t key = ties == Ties::rank ? ordered_bits(ranks[i]) : ~ordered_bits(records[i].score);
        keys_[i] = {key, static_cast<std::uint32_t>(i)};
      }
      std::sort(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) {
        return a.key != b.key ? a.key < b.key : a.entry < b.entry;
      });
      for (std::size_t i = 0; i < n; ++i) order[i] = keys_[i].entry;
    }
    if (by_id) {
      for (std::size_t i = 0; i < n;) {
        std::size_t j = i + 1;
        while (j < n && records[order[j]].score == records[order[i]].score) ++j;
        if (j - i > 1) {
          const bool descending = ties == Ties::trec;
          std::sort(order.begin() + static_cast<std::ptrdiff_t>(i), order.begin() + static_cast<std::ptrdiff_t>(j),
                    [&](std::uint32_t a, std::uint32_t b) {
                      const int c = records[a].id(base).compare(records[b].id(base));
                      return descending ? c > 0 : c < 0;
                    });
        }
        i = j;
      }
    }
    return true;
  }

 private:
  struct Key {
    std::uint64_t key;
    std::uint32_t entry;
  };
  std::vector<Key> keys_;
};

}  // namespace surefoot::text
