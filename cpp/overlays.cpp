// Sums over topics that every overlay is made of: one pass over a systems x topics matrix.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "clones.hpp"
#include "parallel.hpp"

namespace nb = nanobind;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

namespace {

constexpr int kLanes = 8;           // independent sums, so that the order of additions is fixed
constexpr std::int64_t kChunk = 2048;  // a chunk and its baseline stay in the first-level cache

enum Column { kCount, kWins, kLosses, kLossOver, kPositive, kNegative, kMeanPos, kM2Pos, kMeanNeg, kM2Neg, kColumns };

inline double fold(const double (&lane)[kLanes]) {
  return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

// Chan, Golub and LeVeque 1979: join the mean and the centred second moment of two groups.
inline void join(double& n, double& mean, double& m2, double n2, double mean2, double m22) {
  if (n2 == 0) return;
  const double total = n + n2, shift = mean2 - mean;
  m2 += m22 + shift * shift * (n * n2 / total);
  mean += shift * (n2 / total);
  n = total;
}

SUREFOOT_CLONES void moments_of_row(const double* x, const double* b, std::int64_t n_topics,
                                    double tolerance, double threshold, double* out) {
  double total[kColumns] = {};
  for (std::int64_t start = 0; start < n_topics; start += kChunk) {
    const std::int64_t m = std::min(kChunk, n_topics - start);
    const double* xs = x + start;
    const double* bs = b + start;
    double count[kLanes] = {}, wins[kLanes] = {}, losses[kLanes] = {}, over[kLanes] = {};
    double n_pos[kLanes] = {}, n_neg[kLanes] = {}, pos[kLanes] = {}, neg[kLanes] = {};
    const std::int64_t whole = m - m % kLanes;
    auto sum_one = [&](std::int64_t j, int k) {
      const double d = xs[j] - bs[j];  // NaN where either score is missing: every test is false
      count[k] += d == d ? 1.0 : 0.0;
      wins[k] += d > tolerance ? 1.0 : 0.0;
      losses[k] += d < -tolerance ? 1.0 : 0.0;
      // 1e-12: a loss of exactly the threshold is not over it, whatever the rounding
      over[k] += -d > threshold * std::fabs(bs[j]) + 1e-12 ? 1.0 : 0.0;
      n_pos[k] += d > 0 ? 1.0 : 0.0;
      n_neg[k] += d < 0 ? 1.0 : 0.0;
      pos[k] += d > 0 ? d : 0.0;
      neg[k] += d < 0 ? d : 0.0;
    };
    for (std::int64_t j = 0; j < whole; j += kLanes)
      for (int k = 0; k < kLanes; ++k) sum_one(j + k, k);
    for (std::int64_t j = whole; j < m; ++j) sum_one(j, static_cast<int>(j - whole));
    const double np = fold(n_pos), nn = fold(n_neg);
    const double mean_pos = np > 0 ? fold(pos) / np : 0.0, mean_neg = nn > 0 ? fold(neg) / nn : 0.0;
    double m2_pos[kLanes] = {}, m2_neg[kLanes] = {};
    auto square_one = [&](std::int64_t j, int k) {
      const double d = xs[j] - bs[j];
      const double p = d - mean_pos, q = d - mean_neg;
      m2_pos[k] += d > 0 ? p * p : 0.0;
      m2_neg[k] += d < 0 ? q * q : 0.0;
    };
    for (std::int64_t j = 0; j < whole; j += kLanes)
      for (int k = 0; k < kLanes; ++k) square_one(j + k, k);
    for (std::int64_t j = whole; j < m; ++j) square_one(j, static_cast<int>(j - whole));
    total[kCount] += fold(count);
    total[kWins] += fold(wins);
    total[kLosses] += fold(losses);
    total[kLossOver] += fold(over);
    join(total[kPositive], total[kMeanPos], total[kM2Pos], np, mean_pos, fold(m2_pos));
    join(total[kNegative], total[kMeanNeg], total[kM2Neg], nn, mean_neg, fold(m2_neg));
  }
  std::copy(total, total + kColumns, out);
}

SUREFOOT_CLONES void add_topics(const double* x, std::int64_t n, double* sum, double* count) {
  for (std::int64_t j = 0; j < n; ++j) {
    const double v = x[j];
    sum[j] += v == v ? v : 0.0;
    count[j] += v == v ? 1.0 : 0.0;
  }
}

// Dincer et al. 2016, Eqs 4-7: e_ij = S_i T_j / N over the topics that the system has.
// out: sum of z > 0, sum of z < 0, S_i, number of topics, number of cells with a negative expectation.
SUREFOOT_CLONES void z_of_row(const double* x, const double* sum, const double* count, double size,
                              bool add_self, std::int64_t n_topics, double* out) {
  const double self = add_self ? 1.0 : 0.0;
  double row[kLanes] = {}, grand[kLanes] = {}, present[kLanes] = {};
  auto mass = [&](std::int64_t j) {
    // a missing score of another system is filled with the topic's mean
    const double k = count[j] + self, v = x[j];
    return k > 0 ? (sum[j] + self * v) / k * (size + self) : 0.0;
  };
  auto total_one = [&](std::int64_t j, int k) {
    const double v = x[j], t = mass(j);
    row[k] += v == v ? v : 0.0;
    grand[k] += v == v ? t : 0.0;
    present[k] += v == v ? 1.0 : 0.0;
  };
  const std::int64_t whole = n_topics - n_topics % kLanes;
  for (std::int64_t j = 0; j < whole; j += kLanes)
    for (int k = 0; k < kLanes; ++k) total_one(j + k, k);
  for (std::int64_t j = whole; j < n_topics; ++j) total_one(j, static_cast<int>(j - whole));
  const double total = fold(row), n = fold(grand);
  const double share = n != 0 ? total / n : 0.0;
  double pos[kLanes] = {}, neg[kLanes] = {}, bad[kLanes] = {};
  auto z_one = [&](std::int64_t j, int k) {
    const double e = share * mass(j);
    // an all-zero topic or system expects nothing: z is 0 there
    const double z = e > 0 ? (x[j] - e) / std::sqrt(e > 0 ? e : 1.0) : 0.0;
    pos[k] += z > 0 ? z : 0.0;
    neg[k] += z < 0 ? z : 0.0;
    bad[k] += e < 0 ? 1.0 : 0.0;
  };
  for (std::int64_t j = 0; j < whole; j += kLanes)
    for (int k = 0; k < kLanes; ++k) z_one(j + k, k);
  for (std::int64_t j = whole; j < n_topics; ++j) z_one(j, static_cast<int>(j - whole));
  out[0] = fold(pos);
  out[1] = fold(neg);
  out[2] = total;
  out[3] = fold(present);
  out[4] = fold(bad);
}

nb::ndarray<nb::numpy, double, nb::ndim<2>> owned(double* data, std::size_t rows, std::size_t columns) {
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return nb::ndarray<nb::numpy, double, nb::ndim<2>>(data, {rows, columns}, owner);
}

auto difference_moments(Matrix values, Vector baseline, double tolerance, double threshold, int threads) {
  const auto n_systems = static_cast<std::int64_t>(values.shape(0));
  const auto n_topics = static_cast<std::int64_t>(values.shape(1));
  auto* out = new double[static_cast<std::size_t>(n_systems) * kColumns]();
  {
    nb::gil_scoped_release release;
    surefoot::parallel_chunks(n_systems, 1, threads, [&](std::int64_t i, std::int64_t) {
      moments_of_row(values.data() + i * n_topics, baseline.data(), n_topics, tolerance, threshold,
                     out + i * kColumns);
    });
  }
  return owned(out, static_cast<std::size_t>(n_systems), kColumns);
}

auto topic_totals(Matrix values, int threads) {
  const auto n_systems = static_cast<std::int64_t>(values.shape(0));
  const auto n_topics = static_cast<std::int64_t>(values.shape(1));
  auto* out = new double[static_cast<std::size_t>(n_topics) * 2]();
  {
    nb::gil_scoped_release release;
    surefoot::parallel_chunks(n_topics, kChunk, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = 0; i < n_systems; ++i)
        add_topics(values.data() + i * n_topics + begin, end - begin, out + begin, out + n_topics + begin);
    });
  }
  return owned(out, 2, static_cast<std::size_t>(n_topics));
}

auto z_sums(Matrix values, Vector sum, Vector count, double size, Flags add_self, int threads) {
  const auto n_systems = static_cast<std::int64_t>(values.shape(0));
  const auto n_topics = static_cast<std::int64_t>(values.shape(1));
  auto* out = new double[static_cast<std::size_t>(n_systems) * 5]();
  {
    nb::gil_scoped_release release;
    surefoot::parallel_chunks(n_systems, 1, threads, [&](std::int64_t i, std::int64_t) {
      z_of_row(values.data() + i * n_topics, sum.data(), count.data(), size, add_self.data()[i] != 0,
               n_topics, out + i * 5);
    });
  }
  return owned(out, static_cast<std::size_t>(n_systems), 5);
}

}  // namespace

void bind_overlays(nb::module_& m) {
  m.def("difference_moments", &difference_moments, nb::arg("values"), nb::arg("baseline"),
        nb::arg("tolerance"), nb::arg("threshold"), nb::arg("threads"));
  m.def("topic_totals", &topic_totals, nb::arg("values"), nb::arg("threads"));
  m.def("z_sums", &z_sums, nb::arg("values"), nb::arg("sum"), nb::arg("count"), nb::arg("size"),
        nb::arg("add_self"), nb::arg("threads"));
}
