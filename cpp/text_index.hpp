// Document ids by hash: the judged ones of each topic, and the ones already seen in a topic of a run.
// A hash only says where to look; equality of ids is always decided by their bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "clones.hpp"

namespace surefoot::text {

inline std::uint64_t load64(const char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}
inline std::uint64_t load32(const char* p) {
  std::uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
SUREFOOT_INLINE std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// In the manner of wyhash (Wang Yi, public domain).
SUREFOOT_INLINE std::uint64_t hash_bytes(const char* p, std::size_t n) {
  constexpr std::uint64_t k0 = 0xa0761d6478bd642full, k1 = 0xe7037ed1a0b428dbull, k2 = 0x8ebc6af09c88c6e3ull;
  std::uint64_t seed = k0 ^ n, a, b;
  if (n <= 16) {
    if (n >= 8) {
      a = load64(p);
      b = load64(p + n - 8);
    } else if (n >= 4) {
      a = load32(p);
      b = load32(p + n - 4);
    } else {
      a = n > 0 ? (static_cast<std::uint64_t>(static_cast<unsigned char>(p[0])) << 16) |
                      (static_cast<std::uint64_t>(static_cast<unsigned char>(p[n / 2])) << 8) |
                      static_cast<unsigned char>(p[n - 1])
                : 0;
      b = 0;
    }
  } else {
    const char* q = p;
    std::size_t left = n;
    while (left > 16) {
      seed = fold(load64(q) ^ k1, load64(q + 8) ^ seed);
      q += 16;
      left -= 16;
    }
    a = load64(p + n - 16);
    b = load64(p + n - 8);
  }
  return fold(k2 ^ n, fold(a ^ k1, b ^ seed));
}

SUREFOOT_INLINE bool same_bytes(const char* a, const char* b, std::size_t n) { return std::memcmp(a, b, n) == 0; }

inline std::uint32_t table_size(std::size_t n) {
  std::uint32_t size = 4;
  while (size < 2 * n) size *= 2;
  return size;
}

// Open addressing: the upper half of the hash and the number of the entry + 1; 0 is free.
SUREFOOT_INLINE std::uint64_t slot_of(std::uint64_t hash, std::size_t entry) {
  return (hash & 0xffffffff00000000ull) | (entry + 1);
}
SUREFOOT_INLINE bool same_tag(std::uint64_t slot, std::uint64_t hash) { return (slot ^ hash) >> 32 == 0; }
SUREFOOT_INLINE std::size_t entry_of(std::uint64_t slot) { return (slot & 0xffffffffull) - 1; }

// Which documents a topic has had so far; one table serves topic after topic.
class SeenDocuments {
 public:
  void clear(std::size_t n) {
    const std::uint32_t size = table_size(n);
    mask_ = size - 1;
    slots_.assign(size, 0);
  }

  // The earlier entry that is the same document, or -1 after noting this one. `same(i)` compares bytes.
  template <class Same>
  SUREFOOT_INLINE std::int64_t insert(std::uint64_t hash, std::size_t entry, Same&& same) {
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const std::uint64_t slot = slots_[at];
      if (slot == 0) {
        slots_[at] = slot_of(hash, entry);
        return -1;
      }
      if (same_tag(slot, hash) && same(entry_of(slot))) return static_cast<std::int64_t>(entry_of(slot));
    }
  }

 private:
  std::vector<std::uint64_t> slots_;
  std::size_t mask_ = 0;
};

// Ids packed end to end, as in data/documents.py.
struct Packed {
  const char* block;
  const std::int64_t* ends;
  std::int64_t begin_of(std::int64_t i) const { return i == 0 ? 0 : ends[i - 1]; }
  std::string_view at(std::int64_t i) const {
    return {block + begin_of(i), static_cast<std::size_t>(ends[i] - begin_of(i))};
  }
};

// All judgments, for look-up by topic and document. Borrows the arrays it is built from.
class JudgedIndex {
 public:
  JudgedIndex(Packed topics, std::int64_t n_topics, const std::int64_t* offsets, Packed documents, const double* grades)
      : offsets_(offsets), documents_(documents), grades_(grades) {
    topic_of_.reserve(static_cast<std::size_t>(n_topics));
    std::size_t total = 0;
    for (std::int64_t t = 0; t < n_topics; ++t) {
      topic_of_.emplace(std::string(topics.at(t)), t);
      const std::uint32_t size = table_size(static_cast<std::size_t>(offsets[t + 1] - offsets[t]));
      tables_.push_back({total, size - 1});
      total += size;
    }
    slots_.assign(total, 0);
    for (std::int64_t t = 0; t < n_topics; ++t) {
      std::uint64_t* slots = slots_.data() + tables_[t].begin;
      const std::size_t mask = tables_[t].mask;
      for (std::int64_t row = offsets[t]; row < offsets[t + 1]; ++row) {
        const std::string_view id = documents.at(row);
        const std::uint64_t hash = hash_bytes(id.data(), id.size());
        std::size_t at = hash & mask;
        while (slots[at] != 0) at = (at + 1) & mask;
        slots[at] = slot_of(hash, static_cast<std::size_t>(row - offsets[t]));
      }
    }
  }

  std::int64_t topics() const { return static_cast<std::int64_t>(tables_.size()); }

  std::int64_t topic(std::string_view name) const {
    const auto found = topic_of_.find(std::string(name));
    return found == topic_of_.end() ? -1 : found->second;
  }

  // Grade of a document, NaN if unjudged.
  SUREFOOT_INLINE double grade(std::int64_t topic, std::uint64_t hash, const char* id, std::size_t size) const {
    const Table& table = tables_[static_cast<std::size_t>(topic)];
    const std::uint64_t* slots = slots_.data() + table.begin;
    for (std::size_t at = hash & table.mask;; at = (at + 1) & table.mask) {
      const std::uint64_t slot = slots[at];
      if (slot == 0) return std::numeric_limits<double>::quiet_NaN();
      if (!same_tag(slot, hash)) continue;
      const std::int64_t row = offsets_[topic] + static_cast<std::int64_t>(entry_of(slot));
      const std::string_view judged = documents_.at(row);
      if (judged.size() == size && same_bytes(judged.data(), id, size)) return grades_[row];
    }
  }

 private:
  struct Table {
    std::size_t begin, mask;
  };
  std::unordered_map<std::string, std::int64_t> topic_of_;
  std::vector<Table> tables_;
  std::vector<std::uint64_t> slots_;
  const std::int64_t* offsets_;
  Packed documents_;
  const double* grades_;
};

}  // namespace surefoot::text
