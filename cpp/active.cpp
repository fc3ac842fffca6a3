// Dynamic programs of active evaluation (Sawade et al. 2012): moments of DCG-like sums and of
// ERR under independent graded labels, and the draws of many simulated studies.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "clones.hpp"
#include "parallel.hpp"
#include "philox.hpp"
#include "special.hpp"

namespace nb = nanobind;
using surefoot::lane_sum;
using surefoot::parallel_chunks;

namespace {

using In1d = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using In1i = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using In1s = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using In2d = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;  // strided: uniform is stride 0
using Out1d = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out2s = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Out2d = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::int64_t kChunk = 64;

// p(y | x, z) of every item, and the gain of every grade.
struct Labels {
  const double* p;
  std::int64_t row, column;
  int grades;
  const double* gain;

  // E[gain] and E[gain^2] of one item; G is the number of grades, 0 when known only now.
  template <int G>
  SUREFOOT_INLINE void moments(std::int64_t item, double& first, double& second) const {
    const double* at = p + item * row;
    const int n = G > 0 ? G : grades;
    double m1 = 0, m2 = 0;
    for (int g = 0; g < n; ++g) {
      const double weighted = at[g * column] * gain[g];
      m1 += weighted;
      m2 += weighted * gain[g];
    }
    first = m1;
    second = m2;
  }
};

Labels labels_of(const In2d& p, const In1d& gain) {
  return {p.data(), p.stride(0), p.stride(1), static_cast<int>(gain.shape(0)), gain.data()};
}

// The items of one ranking of every query: items[offset[x]] .. items[offset[x + 1]], best first.
struct Ranking {
  const std::int64_t* offset;
  const std::int32_t* items;
};

// Eq. 2 from the last position up: with S the value of the list below position i and l the gain there,
// S_i = S + l (1/i - S). The variance follows by the law of total variance, all terms positive
// (errata Active-2: the products of Eq. 23 can be 0/0).
template <int G>
SUREFOOT_CLONES void err_chunk(const Labels& labels, const Ranking& ranking, std::int64_t depth,
                               const double* reciprocal, double* mean, double* variance,
                               std::int64_t begin, std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) {
    const std::int64_t first = ranking.offset[x];
    const std::int64_t n = std::min(depth, ranking.offset[x + 1] - first);
    double s = 0, v = 0;
    for (std::int64_t i = n - 1; i >= 0; --i) {
      double m1, m2;
      labels.moments<G>(ranking.items[first + i], m1, m2);
      const double spread = std::max(m2 - m1 * m1, 0.0);
      const double pass = 1.0 - m1;
      const double gap = reciprocal[i] - s;
      v = spread * gap * gap + (pass * pass + spread) * v;
      s += m1 * gap;
    }
    mean[x] = s;
    variance[x] = v;
  }
}

std::vector<double> reciprocals(const In1i& offset, std::int64_t depth) {
  std::int64_t longest = 0;
  for (std::size_t x = 0; x + 1 < offset.shape(0); ++x)
    longest = std::max(longest, offset.data()[x + 1] - offset.data()[x]);
  longest = std::min(longest, depth);
  std::vector<double> out(static_cast<std::size_t>(longest));
  for (std::int64_t i = 0; i < longest; ++i) out[i] = 1.0 / static_cast<double>(i + 1);
  return out;
}

void err_moments(In2d p, In1d gain, In1i offset, In1s items, std::int64_t depth, Out1d mean,
                 Out1d variance, int threads) {
  const Labels labels = labels_of(p, gain);
  const Ranking ranking{offset.data(), items.data()};
  const auto queries = static_cast<std::int64_t>(mean.shape(0));
  double *m = mean.data(), *v = variance.data();
  const std::vector<double> reciprocal = reciprocals(offset, depth);
  nb::gil_scoped_release release;
  parallel_chunks(queries, kChunk, threads, [&](std::int64_t begin, std::int64_t end) {
    auto run = [&](auto kernel) {
      kernel(labels, ranking, depth, reciprocal.data(), m, v, begin, end);
    };
    switch (labels.grades) {
      case 2: return run(err_chunk<2>);
      case 3: return run(err_chunk<3>);
      case 5: return run(err_chunk<5>);
      default: return run(err_chunk<0>);
    }
  });
}

SUREFOOT_INLINE void scale(double* t, std::int64_t begin, std::int64_t end, double factor) {
  for (std::int64_t j = begin; j < end; ++j) t[j] *= factor;
}

struct Scratch {
  std::vector<std::int32_t> position;  // of each item of the query in the second ranking
  std::vector<double> row, pass, second;
};

// Covariance of the ERR of two rankings of one query. Summing Eq. 2 by parts,
// L = 1 - sum_i u_i P_i (n >= 1) with P_i the probability to get past position i and
// u_i = 1/i - 1/(i+1), u_n = 1/n; so Cov(L1, L2) = sum_ij u_i v_j Cov(P_i, Q_j). E[P_i Q_j] is a
// two-index table over the positions of both rankings: going one item down the first ranking
// multiplies by E[1-l], or by E[(1-l)^2] / E[1-l] <= 1 where the second ranking has passed it already.
template <int G>
SUREFOOT_CLONES void covariance_chunk(const Labels& labels, const std::int64_t* item_offset,
                                      const Ranking& a, const Ranking& b, std::int64_t depth,
                                      Scratch& scratch, double* covariance, std::int64_t begin,
                                      std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) {
    const std::int64_t base = item_offset[x];
    const std::int64_t n_items = item_offset[x + 1] - base;
    const std::int64_t na = std::min(depth, a.offset[x + 1] - a.offset[x]);
    const std::int64_t nb_ = std::min(depth, b.offset[x + 1] - b.offset[x]);
    const std::int32_t* items_a = a.items + a.offset[x];
    const std::int32_t* items_b = b.items + b.offset[x];
    scratch.position.assign(static_cast<std::size_t>(n_items), static_cast<std::int32_t>(nb_));
    scratch.row.resize(static_cast<std::size_t>(nb_));
    double* t = scratch.row.data();
    double q = 1;
    for (std::int64_t j = 0; j < nb_; ++j) {
      scratch.position[items_b[j] - base] = static_cast<std::int32_t>(j);
      double m1, m2;
      labels.moments<G>(items_b[j], m1, m2);
      q *= 1.0 - m1;
      const double rank = static_cast<double>(j + 1);
      t[j] = q * (j + 1 < nb_ ? 1.0 / (rank * (rank + 1)) : 1.0 / rank);
    }
    const double alone = lane_sum(t, nb_);
    double p = 1, total = 0;
    for (std::int64_t i = 0; i < na; ++i) {
      double m1, m2;
      labels.moments<G>(items_a[i], m1, m2);
      const double pass = 1.0 - m1;
      const double pass_twice = (1.0 - 2.0 * m1) + m2;
      const double again = pass > 0 ? std::max(pass_twice, 0.0) / pass : 0.0;
      const std::int64_t from = scratch.position[items_a[i] - base];
      scale(t, 0, from, pass);
      scale(t, from, nb_, again);
      p *= pass;
      const double rank = static_cast<double>(i + 1);
      const double weight = i + 1 < na ? 1.0 / (rank * (rank + 1)) : 1.0 / rank;
      total += weight * (lane_sum(t, nb_) - p * alone);
    }
    covariance[x] = total;
  }
}

void err_covariance(In2d p, In1d gain, In1i item_offset, In1i offset_a, In1s items_a, In1i offset_b,
                    In1s items_b, std::int64_t depth, Out1d covariance, int threads) {
  const Labels labels = labels_of(p, gain);
  const Ranking a{offset_a.data(), items_a.data()}, b{offset_b.data(), items_b.data()};
  const auto queries = static_cast<std::int64_t>(covariance.shape(0));
  const std::int64_t* base = item_offset.data();
  double* out = covariance.data();
  nb::gil_scoped_release release;
  parallel_chunks(queries, kChunk, threads, [&](std::int64_t begin, std::int64_t end) {
    Scratch scratch;
    auto run = [&](auto kernel) { kernel(labels, base, a, b, depth, scratch, out, begin, end); };
    switch (labels.grades) {
      case 2: return run(covariance_chunk<2>);
      case 3: return run(covariance_chunk<3>);
      case 5: return run(covariance_chunk<5>);
      default: return run(covariance_chunk<0>);
    }
  });
}

// Eq. 1 and every other sum of discounted gains: a signed linear form over the union of the items.
// Without a second ranking `offset_b` points to zeros.
void linear_moments(In2d p, In1d gain, In1i item_offset, In1d discount, In1i offset_a, In1s items_a,
                    In1i offset_b, In1s items_b, Out1d mean, Out1d variance, int threads) {
  const Labels labels = labels_of(p, gain);
  const Ranking rankings[2] = {{offset_a.data(), items_a.data()}, {offset_b.data(), items_b.data()}};
  const double sign[2] = {1.0, -1.0};
  const auto depth = static_cast<std::int64_t>(discount.shape(0));
  const auto queries = static_cast<std::int64_t>(mean.shape(0));
  const std::int64_t* base = item_offset.data();
  const double* weight = discount.data();
  double *m = mean.data(), *v = variance.data();
  nb::gil_scoped_release release;
  parallel_chunks(queries, kChunk, threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> coefficient;
    for (std::int64_t x = begin; x < end; ++x) {
      coefficient.assign(static_cast<std::size_t>(base[x + 1] - base[x]), 0.0);
      for (int side = 0; side < 2; ++side) {
        const Ranking& r = rankings[side];
        const std::int64_t n = std::min(depth, r.offset[x + 1] - r.offset[x]);
        for (std::int64_t i = 0; i < n; ++i)
          coefficient[r.items[r.offset[x] + i] - base[x]] += sign[side] * weight[i];
      }
      double s = 0, total = 0;
      for (std::size_t z = 0; z < coefficient.size(); ++z) {
        const double c = coefficient[z];
        if (c == 0) continue;
        double m1, m2;
        labels.moments<0>(base[x] + static_cast<std::int64_t>(z), m1, m2);
        s += c * m1;
        total += c * c * std::max(m2 - m1 * m1, 0.0);
      }
      m[x] = s;
      v[x] = total;
    }
  });
}

// 53 bits on the open interval (0, 1): draw `index` of study `study`, the same number that the label
// store draws for one study.
inline double uniform_at(const surefoot::Philox& generator, std::uint64_t study, std::uint64_t index) {
  const auto w = generator.block(study, index);
  const std::uint64_t word = w[0] | (static_cast<std::uint64_t>(w[1]) << 32);
  // the largest word would be rounded up to 1
  return std::min((static_cast<double>(word >> 11) + 0.5) * 0x1.0p-53, 1.0 - 0x1.0p-53);
}

void uniform_draws(std::uint64_t seed, std::uint64_t study, std::uint64_t first, Out1d out) {
  const surefoot::Philox generator(seed);
  for (std::size_t i = 0; i < out.shape(0); ++i)
    out.data()[i] = uniform_at(generator, study, first + i);
}

// Algorithm 1 for many studies. With look-up a query is paid for once. Row s of `draws` holds the
// queries drawn (-1 beyond), `counts[s, b]` how many of them the b-th budget (ascending) pays for.
void replacement_studies(In1d cumulative, In1d cost, In1d budgets, bool look_up, std::uint64_t seed,
                         std::uint64_t first_study, Out2s draws, Out2s counts, int threads) {
  const auto queries = static_cast<std::int64_t>(cost.shape(0));
  const auto n_budgets = static_cast<std::int64_t>(budgets.shape(0));
  const auto limit = static_cast<std::int64_t>(draws.shape(1));
  const auto studies = static_cast<std::int64_t>(draws.shape(0));
  const double *c = cumulative.data(), *price = cost.data(), *budget = budgets.data();
  std::int32_t *drawn = draws.data(), *count = counts.data();
  nb::gil_scoped_release release;
  parallel_chunks(studies, 8, threads, [&](std::int64_t begin, std::int64_t end) {
    const surefoot::Philox generator(seed);
    std::vector<std::uint8_t> known(static_cast<std::size_t>(queries));
    for (std::int64_t s = begin; s < end; ++s) {
      std::fill(known.begin(), known.end(), 0);
      std::int32_t* row = drawn + s * limit;
      std::int64_t k = 0, b = 0, distinct = 0;
      double spent = 0;
      while (b < n_budgets && k < limit) {
        const double u = uniform_at(generator, first_study + static_cast<std::uint64_t>(s),
                                    static_cast<std::uint64_t>(k)) * c[queries - 1];
        // a u next to 1 can be rounded up to the whole sum
        const auto x = std::min<std::int64_t>(std::upper_bound(c, c + queries, u) - c, queries - 1);
        const bool free = look_up && known[x];
        if (!free) {
          // the draw that a budget cannot pay for ends that budget's study
          while (b < n_budgets && spent + price[x] > budget[b]) count[s * n_budgets + b++] =
              static_cast<std::int32_t>(k);
          if (b == n_budgets) break;
          spent += price[x];
          if (!known[x]) ++distinct;
          known[x] = 1;
        }
        row[k++] = static_cast<std::int32_t>(x);
        if (look_up && distinct == queries) break;  // errata Active-6: nothing is left to learn
      }
      while (b < n_budgets) count[s * n_budgets + b++] = static_cast<std::int32_t>(k);
      std::fill(row + k, row + limit, -1);
    }
  });
}

// Priority sampling (Duffield, Lund, Thorup 2007), without replacement: queries in descending order of
// q/u. `thresholds[s, b]` is the priority of the first query that the budget leaves out (0: none).
void priority_studies(In1d q, In1d cost, In1d budgets, std::uint64_t seed, std::uint64_t first_study,
                      Out2s draws, Out2s counts, Out2d thresholds, int threads) {
  const auto queries = static_cast<std::int64_t>(q.shape(0));
  const auto n_budgets = static_cast<std::int64_t>(budgets.shape(0));
  const auto limit = static_cast<std::int64_t>(draws.shape(1));
  const auto studies = static_cast<std::int64_t>(draws.shape(0));
  const double *weight = q.data(), *price = cost.data(), *budget = budgets.data();
  std::int32_t *drawn = draws.data(), *count = counts.data();
  double* threshold = thresholds.data();
  nb::gil_scoped_release release;
  parallel_chunks(studies, 8, threads, [&](std::int64_t begin, std::int64_t end) {
    const surefoot::Philox generator(seed);
    std::vector<double> priority(static_cast<std::size_t>(queries));
    std::vector<std::int32_t> order(static_cast<std::size_t>(queries));
    for (std::int64_t s = begin; s < end; ++s) {
      for (std::int64_t x = 0; x < queries; ++x)
        priority[x] = weight[x] / uniform_at(generator, first_study + static_cast<std::uint64_t>(s),
                                             static_cast<std::uint64_t>(x));
      std::iota(order.begin(), order.end(), 0);
      const auto before = [&](std::int32_t i, std::int32_t j) {
        return priority[i] > priority[j] || (priority[i] == priority[j] && i < j);
      };
      const auto head = order.begin() + std::min(queries, limit + 1);
      std::partial_sort(order.begin(), head, order.end(), before);
      std::int32_t* row = drawn + s * limit;
      std::int64_t k = 0, b = 0;
      double spent = 0;
      for (; k < std::min(queries, limit) && b < n_budgets; ++k) {
        const std::int32_t x = order[k];
        while (b < n_budgets && spent + price[x] > budget[b]) {
          threshold[s * n_budgets + b] = priority[x];
          count[s * n_budgets + b++] = static_cast<std::int32_t>(k);
        }
        if (b == n_budgets) break;
        spent += price[x];
        row[k] = x;
      }
      for (; b < n_budgets; ++b) {
        threshold[s * n_budgets + b] = k < queries ? priority[order[k]] : 0.0;
        count[s * n_budgets + b] = static_cast<std::int32_t>(k);
      }
      std::fill(row + k, row + limit, -1);
    }
  });
}

}  // namespace

void bind_active(nb::module_& m) {
  m.def("active_err_moments", &err_moments);
  m.def("active_err_covariance", &err_covariance);
  m.def("active_linear_moments", &linear_moments);
  m.def("active_uniform_draws", &uniform_draws);
  m.def("active_replacement_studies", &replacement_studies);
  m.def("active_priority_studies", &priority_studies);
}
