// Sums of chosen rows of a table, for many series side by side: the inner loop of every bootstrap
// and sign-flip kernel. Each series is summed in the order of the draws whatever the vector width,
// so results are the same bytes on every processor.
#pragma once

#include <cstdint>
#include <vector>

#include "clones.hpp"

namespace surefoot {

constexpr int kVector = 8;
constexpr int kVectors = 3;
constexpr int kWidth = kVector * kVectors;  // series summed together: as many as fit the registers

typedef double Vector __attribute__((vector_size(kVector * sizeof(double))));

// One topic of a block of series; aligned, so that no vector crosses a cache line.
struct alignas(kVector * sizeof(double)) Row {
  double value[kWidth];
};

// A (series x topics) matrix as blocks of kWidth series, each block one Row a topic, zero-padded.
// `signs` appends a negated copy of every row, so that row `topic + n_topics` is minus `topic`.
inline std::vector<Row> pack(const double* x, std::int64_t n_series, std::int64_t n_topics,
                             bool signs) {
  const std::int64_t blocks = (n_series + kWidth - 1) / kWidth;
  const std::int64_t rows = signs ? 2 * n_topics : n_topics;
  std::vector<Row> table(static_cast<std::size_t>(blocks * rows), Row{});
  for (std::int64_t s = 0; s < n_series; ++s) {
    Row* const block = table.data() + (s / kWidth) * rows;
    for (std::int64_t j = 0; j < n_topics; ++j) {
      block[j].value[s % kWidth] = x[s * n_topics + j];
      if (signs) block[j + n_topics].value[s % kWidth] = -x[s * n_topics + j];
    }
  }
  return table;
}

SUREFOOT_INLINE void gather_sums(const Row* block, const std::uint32_t* rows, std::int64_t n,
                                 double* sums) {
  Vector sum[kVectors] = {};
  for (std::int64_t k = 0; k < n; ++k) {
    const double* const row = block[rows[k]].value;
    for (int v = 0; v < kVectors; ++v) {
      Vector value;
      __builtin_memcpy(&value, row + v * kVector, sizeof value);
      sum[v] += value;
    }
  }
  __builtin_memcpy(sums, sum, sizeof sum);
}

SUREFOOT_INLINE void gather_moments(const Row* block, const std::uint32_t* rows, std::int64_t n,
                                    double* sums, double* squares) {
  Vector sum[kVectors] = {}, square[kVectors] = {};
  for (std::int64_t k = 0; k < n; ++k) {
    const double* const row = block[rows[k]].value;
    for (int v = 0; v < kVectors; ++v) {
      Vector value;
      __builtin_memcpy(&value, row + v * kVector, sizeof value);
      sum[v] += value;
      square[v] += value * value;
    }
  }
  __builtin_memcpy(sums, sum, sizeof sum);
  __builtin_memcpy(squares, square, sizeof square);
}

}  // namespace surefoot
