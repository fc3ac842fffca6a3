// Document ids by hash: the judged ones of each topic, and the ones already seen in a topic of a run.
// A hash only says where to look; equality of ids is always decided by their bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
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

// Ids are short: two loads that overlap see up to 16 bytes.
SUREFOOT_INLINE bool same_bytes(const char* a, const char* b, std::size_t n) {
  if (n > 16) return std::memcmp(a, b, n) == 0;
  if (n >= 8) return ((load64(a) ^ load64(b)) | (load64(a + n - 8) ^ load64(b + n - 8))) == 0;
  if (n >= 4) return ((load32(a) ^ load32(b)) | (load32(a + n - 4) ^ load32(b + n - 4))) == 0;
  return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

inline std::uint32_t table_size(std::size_t n) {
  std::uint32_t size = 16;  // a single judgment is met by few look-ups
  while (size < 2 * n) size *= 2;
  return size;
}

// Open addressing: the upper half of the hash and the number of the entry + 1; 0 is free.
SUREFOOT_INLINE std::uint64_t slot_of(std::uint64_t hash, std::size_t entry) {
  return (hash & 0xffffffff00000000ull) | (entry + 1);
}
SUREFOOT_INLINE bool same_tag(std::uint64_t slot, std::uint64_t hash) { return (slot ^ hash) >> 32 == 0; }
SUREFOOT_INLINE std::size_t entry_of(std::uint64_t slot) { return (slot & 0xffffffffull) - 1; }

// Which documents a topic has had so far; one table serves topic after topic. A slot holds the number of
// the entry + 1 in its low bits and as much of the hash as fits above them; 0 is free.
class SeenDocuments {
 public:
  // Empty, with room for n documents before it has to grow.
  void clear(std::size_t n) {
    make(n);
    count_ = 0;
  }

  // The earlier entry that is the same document, or -1 after noting this one as the next entry.
  // `same(i)` compares the bytes of entry i with this document's; `hash_of(i)` is its hash.
  template <class Same, class HashOf>
  SUREFOOT_INLINE std::int64_t insert(std::uint64_t hash, Same&& same, HashOf&& hash_of) {
    if (__builtin_expect(count_ == room_, 0)) grow(hash_of);
    const std::uint32_t tag = static_cast<std::uint32_t>(hash >> 32) << entry_bits_;
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const std::uint32_t slot = slots_[at];
      if (slot == 0) {
        slots_[at] = tag | ++count_;
        return -1;
      }
      if ((slot & ~entries_) == tag && same((slot & entries_) - 1)) {
        return static_cast<std::int64_t>((slot & entries_) - 1);
      }
    }
  }

 private:
  void make(std::size_t n) {
    std::size_t size = 1024;
    entry_bits_ = 9;
    while (size < 4 * n) size *= 2, ++entry_bits_;
    if (entry_bits_ > 30) throw std::length_error("too many documents in one topic");
    room_ = static_cast<std::uint32_t>(size / 4);  // a quarter full at most: the first look decides
    mask_ = size - 1;
    entries_ = (std::uint32_t{1} << entry_bits_) - 1;
    slots_.assign(size, 0);
  }

  template <class HashOf>
  void grow(HashOf& hash_of) {
    make(2 * std::size_t{room_});
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::uint64_t hash = hash_of(i);
      std::size_t at = hash & mask_;
      while (slots_[at] != 0) at = (at + 1) & mask_;
      slots_[at] = static_cast<std::uint32_t>(hash >> 32) << entry_bits_ | (i + 1);
    }
  }

  std::vector<std::uint32_t> slots_;
  std::size_t mask_ = 0;
  std::uint32_t count_ = 0, room_ = 0, entries_ = 0;
  unsigned entry_bits_ = 0;
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

// A small number for every grade that occurs: a run of millions of documents has few grades, so that one
// byte a document says it. Code 0 is no judgment, and its level no number.
class GradeCodes {
 public:
  GradeCodes(const double* grades, std::size_t n) : code_of_row_(n) {
    for (std::size_t row = 0; row < n; ++row) {
      if (row > 0 && grades[row] == grades[row - 1]) {
        code_of_row_[row] = code_of_row_[row - 1];
        continue;
      }
      const auto [place, fresh] = code_of_.emplace(grades[row], static_cast<std::uint32_t>(levels_.size()));
      if (fresh) levels_.push_back(grades[row]);
      code_of_row_[row] = place->second;
    }
  }

  const std::vector<double>& levels() const { return levels_; }
  // Bytes of a code.
  std::size_t width() const { return levels_.size() <= 256 ? 1 : 4; }
  std::uint32_t of_row(std::int64_t row) const { return code_of_row_[static_cast<std::size_t>(row)]; }
  const std::uint32_t* place_of(std::int64_t row) const { return code_of_row_.data() + row; }

 private:
  std::unordered_map<double, std::uint32_t> code_of_;
  std::vector<double> levels_ = {std::numeric_limits<double>::quiet_NaN()};
  std::vector<std::uint32_t> code_of_row_;
};

// All judgments, for look-up by topic and document. Borrows the arrays of ids it is built from.
class JudgedIndex {
 public:
  JudgedIndex(Packed topics, std::int64_t n_topics, const std::int64_t* offsets, Packed documents, const double* grades)
      : offsets_(offsets), documents_(documents), codes_(grades, static_cast<std::size_t>(offsets[n_topics])) {
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

  const GradeCodes& grade_codes() const { return codes_; }

  // Codes of the grades of n documents of a topic; `hash_of(i)`, `id_of(i)`, `size_of(i)` say which. The
  // judgments of all topics fill more than a cache, so the places to look at are fetched ahead, a group at a
  // time.
  template <class Code, class HashOf, class IdOf, class SizeOf>
  void codes(std::int64_t topic, std::size_t n, Code* out, HashOf&& hash_of, IdOf&& id_of, SizeOf&& size_of) const {
    const Table& table = tables_[static_cast<std::size_t>(topic)];
    const std::int64_t first = offsets_[topic];
    const std::uint64_t* slots = slots_.data() + table.begin;
    if (table.mask < 64) {
      for (std::size_t i = 0; i < n; ++i) {
        out[i] = static_cast<Code>(code_from(table, first, hash_of(i) & table.mask, hash_of(i), id_of(i), size_of(i)));
      }
      return;
    }
    constexpr std::size_t kGroup = 64;
    std::size_t places[kGroup];
    for (std::size_t begin = 0; begin < n; begin += kGroup) {
      const std::size_t count = std::min(kGroup, n - begin);
      for (std::size_t i = 0; i < count; ++i) {
        places[i] = hash_of(begin + i) & table.mask;
        __builtin_prefetch(slots + places[i]);
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t hash = hash_of(begin + i);
        std::size_t at = places[i];
        while (slots[at] != 0 && !same_tag(slots[at], hash)) at = (at + 1) & table.mask;
        places[i] = at;
        if (slots[at] != 0) __builtin_prefetch(documents_.ends + first + entry_of(slots[at]));
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t slot = slots[places[i]];
        if (slot == 0) continue;
        const std::int64_t row = first + static_cast<std::int64_t>(entry_of(slot));
        __builtin_prefetch(documents_.block + documents_.begin_of(row));
        __builtin_prefetch(codes_.place_of(row));
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t k = begin + i;
        out[k] = static_cast<Code>(code_from(table, first, places[i], hash_of(k), id_of(k), size_of(k)));
      }
    }
  }

 private:
  struct Table {
    std::size_t begin, mask;
  };

  // Code of a document whose slot is at `at` or behind.
  SUREFOOT_INLINE std::uint32_t code_from(const Table& table, std::int64_t first, std::size_t at, std::uint64_t hash,
                                          const char* id, std::size_t size) const {
    const std::uint64_t* slots = slots_.data() + table.begin;
    for (;; at = (at + 1) & table.mask) {
      const std::uint64_t slot = slots[at];
      if (slot == 0) return 0;
      if (!same_tag(slot, hash)) continue;
      const std::int64_t row = first + static_cast<std::int64_t>(entry_of(slot));
      const std::string_view judged = documents_.at(row);
      if (judged.size() == size && same_bytes(judged.data(), id, size)) return codes_.of_row(row);
    }
  }

  std::unordered_map<std::string, std::int64_t> topic_of_;
  std::vector<Table> tables_;
  std::vector<std::uint64_t> slots_;
  const std::int64_t* offsets_;
  Packed documents_;
  GradeCodes codes_;
};

}  // namespace surefoot::text
