// Many words of one Philox stream at once, eight blocks side by side so that compilers vectorise
// the rounds, and unbiased integers made of them.
#pragma once

#include <cstdint>

#include "clones.hpp"

namespace surefoot {

constexpr int kLanes = 8;               // blocks computed together
constexpr int kWordsAtOnce = 4 * kLanes;

// Words of blocks [8 * group, 8 * group + 8) of a stream. The order is part of every seeded result:
// word 0 of the eight blocks, then word 1 of the eight, and so on.
SUREFOOT_INLINE void philox_words(std::uint64_t seed, std::uint64_t stream, std::uint64_t group,
                                  std::uint32_t* out) {
  // counters stand in the low halves of 64-bit lanes; what the rounds leave above is never read
  typedef std::uint64_t Lanes __attribute__((vector_size(kLanes * sizeof(std::uint64_t))));
  constexpr std::uint64_t kLow = 0xFFFFFFFFull;
  const std::uint64_t index = group * kLanes;
  Lanes c0 = {index, index + 1, index + 2, index + 3, index + 4, index + 5, index + 6, index + 7};
  Lanes c1 = c0 >> 32, c2 = Lanes{} + stream, c3 = Lanes{} + (stream >> 32);
  std::uint64_t k0 = seed & kLow, k1 = seed >> 32;
  std::uint64_t m0 = 0xD2511F53u, m1 = 0xCD9E8D57u;
  __asm__("" : "+r"(m0), "+r"(m1));  // a constant would become dozens of shifts and additions
  for (int round = 0; round < 10; ++round) {
    const Lanes p0 = (c0 & kLow) * m0, p1 = (c2 & kLow) * m1;
    c0 = (p1 >> 32) ^ c1 ^ k0;
    c2 = (p0 >> 32) ^ c3 ^ k1;
    c1 = p1;
    c3 = p0;
    k0 = (k0 + 0x9E3779B9u) & kLow;
    k1 = (k1 + 0xBB67AE85u) & kLow;
  }
  for (int i = 0; i < kLanes; ++i) {
    out[i] = static_cast<std::uint32_t>(c0[i]);
    out[kLanes + i] = static_cast<std::uint32_t>(c1[i]);
    out[2 * kLanes + i] = static_cast<std::uint32_t>(c2[i]);
    out[3 * kLanes + i] = static_cast<std::uint32_t>(c3[i]);
  }
}

// Populations up to this size are drawn from 16-bit halves of the words, larger ones from the words.
constexpr std::uint32_t kHalfWordLimit = 4096;
// Room that draw_below may write beyond the draws asked for.
constexpr std::int64_t kDrawSlack = 2 * kWordsAtOnce;

// n_draws uniform integers in [0, n), exactly unbiased (Lemire 2019, with the rejection bound fixed
// in advance). A rejection is rare, so a whole group is stored and compacted only when it holds one.
// Order: the low halves of the group's words, then the high halves.
SUREFOOT_INLINE void draw_below(std::uint64_t seed, std::uint64_t stream, std::uint32_t n,
                                std::int64_t n_draws, std::uint32_t* out) {
  std::uint32_t words[kWordsAtOnce], parts[2 * kWordsAtOnce], fraction[2 * kWordsAtOnce];
  const bool halves = n <= kHalfWordLimit;
  const std::uint32_t bound = halves ? 0x10000u % n : (0u - n) % n;
  const int size = halves ? 2 * kWordsAtOnce : kWordsAtOnce;
  std::int64_t filled = 0;
  for (std::uint64_t group = 0; filled < n_draws; ++group) {
    philox_words(seed, stream, group, words);
    std::uint32_t rejected = 0;
    if (halves) {
      for (int w = 0; w < kWordsAtOnce; ++w) {
        parts[w] = (words[w] & 0xFFFFu) * n;
        parts[kWordsAtOnce + w] = (words[w] >> 16) * n;
      }
      for (int w = 0; w < 2 * kWordsAtOnce; ++w) {
        fraction[w] = parts[w] & 0xFFFFu;
        rejected |= fraction[w] < bound;
        out[filled + w] = parts[w] >> 16;
      }
    } else {
      for (int w = 0; w < kWordsAtOnce; ++w) {
        const std::uint64_t m = static_cast<std::uint64_t>(words[w]) * n;
        fraction[w] = static_cast<std::uint32_t>(m);
        rejected |= fraction[w] < bound;
        out[filled + w] = static_cast<std::uint32_t>(m >> 32);
      }
    }
    if (!rejected) {
      filled += size;
      continue;
    }
    std::uint32_t* const begin = out + filled;
    for (int w = 0; w < size; ++w) {
      out[filled] = begin[w];
      filled += fraction[w] >= bound;
    }
  }
}

}  // namespace surefoot
