// Bootstrap resampling: one set of resamples of the topics shared by all series, and exact order
// statistics of the replicates without sorting them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "clones.hpp"
#include "gather_sums.hpp"
#include "parallel.hpp"
#include "philox_words.hpp"

namespace nb = nanobind;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Topics of one resample: stream = number of the resample, so no resample depends on another.
SUREFOOT_CLONES void draw_topics(std::uint64_t seed, std::uint64_t resample, std::uint32_t n,
                                 std::uint32_t* out) {
  surefoot::draw_below(seed, resample, n, n, out);
}

SUREFOOT_CLONES void sums_of(const surefoot::Row* block, const std::uint32_t* rows, std::int64_t n,
                             double* sums) {
  surefoot::gather_sums(block, rows, n, sums);
}

SUREFOOT_CLONES void moments_of(const surefoot::Row* block, const std::uint32_t* rows, std::int64_t n,
                                double* sums, double* squares) {
  surefoot::gather_moments(block, rows, n, sums, squares);
}

// A resample whose variance is this small a part of its second moment has no spread but rounding.
constexpr double kNoSpread = 1e-13;

// One series out of the interleaved sums: its means, and their ratios to the standard errors of
// their resamples, infinite without spread.
SUREFOOT_CLONES void means_of(const double* sums, std::int64_t count, double n, double* mean) {
  for (std::int64_t b = 0; b < count; ++b) mean[b] = sums[b * surefoot::kWidth] / n;
}

SUREFOOT_CLONES void studentise(const double* mean, const double* squares, std::int64_t count,
                                double n, double* student) {
  const double scale = 1.0 / (n - 1.0), endless = std::numeric_limits<double>::infinity();
  for (std::int64_t b = 0; b < count; ++b) {
    const double second = squares[b * surefoot::kWidth] / n;
    double variance = second - mean[b] * mean[b];
    const double flat = mean[b] == 0.0 ? 0.0 : std::copysign(endless, mean[b]);
    const bool spread = variance > kNoSpread * second;
    variance = spread ? variance : 1.0;
    const double ratio = mean[b] / std::sqrt(variance * scale);
    student[b] = spread ? ratio : flat;
  }
}

constexpr std::int64_t kResamplesAtOnce = 64;

// Resample `first + b` goes to column `column + b` of the outputs.
void bootstrap_means(Matrix x, std::uint64_t seed, std::int64_t first, std::int64_t count,
                     std::int64_t column, Output means, nb::object student_object, int threads) {
  const std::int64_t n_series = static_cast<std::int64_t>(x.shape(0));
  const std::int64_t n_topics = static_cast<std::int64_t>(x.shape(1));
  const std::int64_t stride = static_cast<std::int64_t>(means.shape(1));
  double* const mean_out = means.data();
  if (n_topics == 0) throw std::invalid_argument("bootstrap_means: no topics");
  double* student_out = nullptr;
  if (!student_object.is_none()) student_out = nb::cast<Output>(student_object).data();
  const double* const values = x.data();
  nb::gil_scoped_release release;
  const std::vector<surefoot::Row> table = surefoot::pack(values, n_series, n_topics, false);
  const std::int64_t blocks = (n_series + surefoot::kWidth - 1) / surefoot::kWidth;
  const std::int64_t row = n_topics + surefoot::kDrawSlack;
  const double n = static_cast<double>(n_topics);
  const std::int64_t chunk =
      std::clamp<std::int64_t>((1 << 18) / row, 1, kResamplesAtOnce);
  surefoot::parallel_chunks(count, chunk, threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::uint32_t> drawn(static_cast<std::size_t>(row * (end - begin)));
    std::vector<double> sums(static_cast<std::size_t>(surefoot::kWidth * chunk));
    std::vector<double> squares(student_out == nullptr ? 0 : sums.size());
    for (std::int64_t b = begin; b < end; ++b)
      draw_topics(seed, static_cast<std::uint64_t>(first + b), static_cast<std::uint32_t>(n_topics),
                  drawn.data() + (b - begin) * row);
    for (std::int64_t block = 0; block < blocks; ++block) {
      const surefoot::Row* const data = table.data() + block * n_topics;
      const std::int64_t width =
          std::min<std::int64_t>(surefoot::kWidth, n_series - block * surefoot::kWidth);
      for (std::int64_t b = 0; b < end - begin; ++b) {
        const std::uint32_t* const rows = drawn.data() + b * row;
        double* const to = &sums[b * surefoot::kWidth];
        if (student_out == nullptr)
          sums_of(data, rows, n_topics, to);
        else
          moments_of(data, rows, n_topics, to, &squares[b * surefoot::kWidth]);
      }
      for (std::int64_t s = 0; s < width; ++s) {
        const std::int64_t to = (block * surefoot::kWidth + s) * stride + column + begin;
        means_of(&sums[s], end - begin, n, mean_out + to);
        if (student_out == nullptr) continue;
        studentise(mean_out + to, &squares[s], end - begin, n, student_out + to);
      }
    }
  });
}

nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<2>> resample_indices(std::uint64_t seed,
                                                                  std::uint32_t n_topics,
                                                                  std::int64_t first,
                                                                  std::int64_t count) {
  if (n_topics == 0) throw std::invalid_argument("resample_indices: no topics");
  auto* out = new std::uint32_t[static_cast<std::size_t>(count) * n_topics];
  nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<std::uint32_t*>(p); });
  {
    nb::gil_scoped_release release;
    std::vector<std::uint32_t> drawn(n_topics + surefoot::kDrawSlack);
    for (std::int64_t b = 0; b < count; ++b) {
      draw_topics(seed, static_cast<std::uint64_t>(first + b), n_topics, drawn.data());
      std::copy_n(drawn.data(), n_topics, out + b * n_topics);
    }
  }
  return nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<2>>(
      out, {static_cast<std::size_t>(count), n_topics}, owner);
}

// The wanted order statistics of one row. A histogram finds the bin of each rank; only the few
// values of those bins are put in order. Bins are a monotone function of the value: exact.
class Selector {
 public:
  void select(const double* row, std::int64_t n, const std::int64_t* ranks, std::int64_t n_ranks,
              double* out) {
    if (n <= 4 * kBins) {
      copy_.assign(row, row + n);
      std::sort(copy_.begin(), copy_.end());
      for (std::int64_t k = 0; k < n_ranks; ++k) out[k] = copy_[static_cast<std::size_t>(ranks[k])];
      return;
    }
    // the range comes from a sample, so that a few wild values do not spoil the bins
    double low = std::numeric_limits<double>::infinity(), high = -low;
    const std::int64_t step = n / kBins;
    for (std::int64_t i = 0; i < n; i += step) {
      if (std::isfinite(row[i])) low = std::min(low, row[i]), high = std::max(high, row[i]);
    }
    if (!(low <= high)) low = high = 0.0;  // nothing finite was met
    const double scale = high > low ? (kBins - 1) / (high - low) : 0.0;
    counts_.assign(kBins, 0);
    bin_.resize(static_cast<std::size_t>(n));
    assign_bins(row, n, low, high, scale, bin_.data());
    for (std::int64_t i = 0; i < n; ++i) ++counts_[bin_[static_cast<std::size_t>(i)]];
    slot_.assign(kBins, -1);
    start_.clear();
    std::vector<int> bin_of_rank(static_cast<std::size_t>(n_ranks));
    std::vector<std::int64_t> before(kBins + 1, 0);
    for (int b = 0; b < kBins; ++b) before[b + 1] = before[b] + counts_[b];
    for (std::int64_t k = 0; k < n_ranks; ++k) {
      const int b = static_cast<int>(
          std::upper_bound(before.begin(), before.end(), ranks[k]) - before.begin() - 1);
      bin_of_rank[k] = b;
      if (slot_[b] < 0) {
        slot_[b] = static_cast<int>(start_.size());
        start_.emplace_back();
        start_.back().reserve(static_cast<std::size_t>(counts_[b]));
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const int slot = slot_[bin_[static_cast<std::size_t>(i)]];
      if (slot >= 0) start_[static_cast<std::size_t>(slot)].push_back(row[i]);
    }
    for (std::int64_t k = 0; k < n_ranks; ++k) {
      auto& values = start_[static_cast<std::size_t>(slot_[bin_of_rank[k]])];
      auto nth = values.begin() + (ranks[k] - before[bin_of_rank[k]]);
      std::nth_element(values.begin(), nth, values.end());
      out[k] = *nth;
    }
  }

 private:
  static constexpr int kBins = 2048;

  SUREFOOT_CLONES static void assign_bins(const double* row, std::int64_t n, double low, double high,
                                          double scale, std::uint16_t* bin) {
    for (std::int64_t i = 0; i < n; ++i) {
      double v = row[i];
      v = v < low ? low : v;
      v = v > high ? high : v;
      bin[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>((v - low) * scale));
    }
  }

  std::vector<double> copy_;
  std::vector<std::int64_t> counts_;
  std::vector<std::uint16_t> bin_;
  std::vector<int> slot_;
  std::vector<std::vector<double>> start_;
};

void order_statistics(Matrix rows, Integers ranks, Output out, int threads) {
  const std::int64_t n_rows = static_cast<std::int64_t>(rows.shape(0));
  const std::int64_t n = static_cast<std::int64_t>(rows.shape(1));
  const std::int64_t n_ranks = static_cast<std::int64_t>(ranks.shape(1));
  const double* const values = rows.data();
  const std::int64_t* const wanted = ranks.data();
  double* const to = out.data();
  nb::gil_scoped_release release;
  surefoot::parallel_chunks(n_rows, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    Selector selector;
    for (std::int64_t i = begin; i < end; ++i)
      selector.select(values + i * n, n, wanted + i * n_ranks, n_ranks, to + i * n_ranks);
  });
}

// How many values of each row lie below -tolerance, and how many within it of zero.
SUREFOOT_CLONES void count_row(const double* row, std::int64_t n, double tolerance,
                               std::int64_t* below, std::int64_t* near) {
  std::int64_t b = 0, m = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    b += row[i] < -tolerance;
    m += std::fabs(row[i]) <= tolerance;
  }
  *below = b;
  *near = m;
}

void count_below(Matrix rows, nb::ndarray<const double, nb::ndim<1>, nb::c_contig> tolerance,
                 nb::ndarray<std::int64_t, nb::ndim<2>, nb::c_contig> out, int threads) {
  const std::int64_t n_rows = static_cast<std::int64_t>(rows.shape(0));
  const std::int64_t n = static_cast<std::int64_t>(rows.shape(1));
  const double* const values = rows.data();
  const double* const limit = tolerance.data();
  std::int64_t* const to = out.data();
  nb::gil_scoped_release release;
  surefoot::parallel_chunks(n_rows, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      count_row(values + i * n, n, limit[i], to + 2 * i, to + 2 * i + 1);
  });
}

}  // namespace

void bind_resample(nb::module_& m) {
  m.def("bootstrap_means", &bootstrap_means, nb::arg("x"), nb::arg("seed"), nb::arg("first"),
        nb::arg("count"), nb::arg("column"), nb::arg("means"), nb::arg("student").none(), nb::arg("threads"));
  m.def("resample_indices", &resample_indices, nb::arg("seed"), nb::arg("n_topics"),
        nb::arg("first"), nb::arg("count"));
  m.def("order_statistics", &order_statistics, nb::arg("rows"), nb::arg("ranks"), nb::arg("out"),
        nb::arg("threads"));
  m.def("count_below", &count_below, nb::arg("rows"), nb::arg("tolerance"), nb::arg("out"),
        nb::arg("threads"));
}
