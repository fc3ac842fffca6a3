// Sums of chosen rows of a table, for many series side by side: the inner loop of every bootstrap
// and sign-flip kernel. Each series is summed in the order of the draws whatever the vector width,
// so results are the same bytes on every processor.
#pragma once

#include <cstdint>
#include <vector>

#include "clones.hpp"

namespace surefoot {

constexpr int kVector = 4;
constexpr int kVectors = 6;
constexpr int kWidth = kVector * kVectors;  // series summed together: as many as fit the registers

typedef double Vector __attribute__((vector_size(kVector * sizeof(double))));

// A (series x topics) matrix as blocks of kWidth series, each block topics x kWidth, zero-padded.
// `signs` appends a negated copy of every row, so that row `topic + n_topics` is minus `topic`.
inline std::vector<double> pack(const double* x, std::int64_t n_series, std::int64_t n_topics,
                                bool signs) {
  const std::int64_t blocks = (n_series + kWidth - 1) / kWidth;
  const std::int64_t rows = signs ? 2 * n_topics : n_topics;
  std::vector<double> table(static_cast<std::size_t>(blocks * rows * kWidth), 0.0);
  for (std::int64_t s = 0; s < n_series; ++s) {
    double* block = table.data() + (s / kWidth) * rows * kWidth + s % kWidth;
    for (std::int64_t j = 0; j < n_topics; ++j) {
      block[j * kWidth] = x[s * n_topics + j];
      if (signs) block[(j + n_topics) * kWidth] = -x[s * n_topics + j];
    }
  }
  return table;
}

SUREFOOT_INLINE void gather_sums(const double* block, const std::uint32_t* rows, std::int64_t n,
                                 double* sums) {
  Vector sum[kVectors] = {};
  for (std::int64_t k = 0; k < n; ++k) {
    const double* row = block + static_cast<std::int64_t>(rows[k]) * kWidth;
    for (int v = 0; v < kVectors; ++v) {
      Vector value;
      __builtin_memcpy(&value, row + v * kVector, sizeof value);
      sum[v] += value;
    }
  }
  __builtin_memcpy(sums, sum, sizeof sum);
}

SUREFOOT_INLINE void gather_moments(const double* block, const std::uint32_t* rows, std::int64_t n,
                                    double* sums, double* squares) {
  Vector sum[kVectors] = {}, square[kVectors] = {};
  for (std::int64_t k = 0; k < n; ++k) {
    const double* row = block + static_cast<std::int64_t>(rows[k]) * kWidth;
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
