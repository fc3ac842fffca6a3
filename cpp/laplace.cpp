// Laplace approximations of crossed-effects models at many hyperparameter values, and weighted draws
// from them. For one value: Newton's method for the mode of (b, [k], s, t) given the shape and the
// prior precisions, a factor of the curvature there, and draws with their log importance ratios.
//
// The larger block of effects is diagonal in the curvature and is eliminated first; what remains is a
// dense system of the smaller block and the fixed effects.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <limits>
#include <stdexcept>

#include "hierarchy.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace surefoot;

namespace {

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Prior {
  double b_location, b_precision, k_precision, s_precision, t_precision;
};

// Where the blocks lie in a parameter vector (b, [k], s, t), and how long the rows of the matrices are:
// whole vectors, so that no loop along them has a remainder.
struct Blocks {
  std::int64_t large, effects, small, stride, large_at, small_at;
  explicit SUREFOOT_INLINE Blocks(const Crossed& d) {
    const bool topics_large = d.topics >= d.systems;
    large = topics_large ? d.topics : d.systems;
    effects = topics_large ? d.systems : d.topics;
    small = effects + d.fixed();
    stride = (small + 7) / 8 * 8;
    const std::int64_t s_at = d.fixed(), t_at = s_at + d.systems;
    large_at = topics_large ? t_at : s_at;
    small_at = topics_large ? s_at : t_at;
  }
};

// Buffers of one thread.
struct Work {
  std::vector<double> eta, v, g, h, i, grad, step, trial, coupling, diagonal, dense, tail;
  explicit Work(const Crossed& d)
      : eta(d.n), v(d.n), g(d.n), h(d.n), i(d.n), grad(d.size()), step(d.size()), trial(d.size()) {
    const Blocks at(d);
    coupling.resize(at.large * at.stride);
    diagonal.resize(at.large);
    dense.resize(at.small * at.stride);
    tail.resize(at.stride);
  }
};

SUREFOOT_INLINE double log_prior(const Crossed& d, const Prior& p, const double* x) {
  const double off = x[0] - p.b_location;
  const double* s = x + d.fixed();
  const double* t = s + d.systems;
  double out = -0.5 * (p.b_precision * off * off + p.s_precision * lane_dot(s, s, d.systems) +
                       p.t_precision * lane_dot(t, t, d.topics));
  if (d.covariate) out -= 0.5 * p.k_precision * x[1] * x[1];
  return out;
}

// target[e] -= sum of four rows times their factors, for e from `begin` rounded down to whole vectors:
// what lies below the diagonal is never read.
SUREFOOT_INLINE void subtract_rows(std::int64_t begin, std::int64_t stride, const double* factor,
                                   const double* __restrict row0, const double* __restrict row1,
                                   const double* __restrict row2, const double* __restrict row3,
                                   double* __restrict target) {
  for (std::int64_t e = begin / 8 * 8; e < stride; e += 8)
    for (std::int64_t l = e; l < e + 8; ++l)
      target[l] -= (factor[0] * row0[l] + factor[1] * row1[l]) +
                   (factor[2] * row2[l] + factor[3] * row3[l]);
}

// Curvature (weights w, plus the prior) into its factor; false where it is not positive definite.
// coupling: (large, small) rows; dense: upper triangular U with U'U = Schur complement.
SUREFOOT_INLINE bool factorise(const Crossed& d, const Prior& p, const double* w, Work& k) {
  const Blocks at(d);
  const bool topics_large = d.topics >= d.systems;
  const std::int64_t large = at.large, fixed = d.fixed(), small = at.small, stride = at.stride;
  double* c = k.coupling.data();
  double* m = k.dense.data();
  double* diag = k.diagonal.data();
  double* of_effect = k.tail.data();
  const double large_prior = topics_large ? p.t_precision : p.s_precision;
  for (std::int64_t q = 0; q < large * stride; ++q) c[q] = 0.0;
  for (std::int64_t q = 0; q < small * stride; ++q) m[q] = 0.0;
  for (std::int64_t l = 0; l < large; ++l) diag[l] = 0.0;
  for (std::int64_t a = 0; a < stride; ++a) of_effect[a] = 0.0;
  // small block, in the order: fixed effects, then the smaller effects
  for (std::int64_t o = 0; o < d.n;) {
    const std::int64_t i = d.system[o];
    std::int64_t end = o;
    while (end < d.n && d.system[end] == i) ++end;
    const double sum = lane_sum(w + o, end - o);
    if (topics_large) {
      of_effect[fixed + i] = sum;
      for (std::int64_t q = o; q < end; ++q) {
        diag[d.topic[q]] += w[q];
        c[d.topic[q] * stride + fixed + i] += w[q];
      }
    } else {
      diag[i] = sum;
      double* row = c + i * stride + fixed;
      for (std::int64_t q = o; q < end; ++q) {
        of_effect[fixed + d.topic[q]] += w[q];
        row[d.topic[q]] += w[q];
      }
    }
    o = end;
  }
  for (std::int64_t l = 0; l < large; ++l) {
    c[l * stride] = diag[l];
    diag[l] += large_prior;
  }
  double total = 0.0;
  for (std::int64_t e = fixed; e < small; ++e) {
    total += of_effect[e];
    m[e] = of_effect[e];
    m[e * stride + e] = of_effect[e] + (topics_large ? p.s_precision : p.t_precision);
  }
  m[0] = total + p.b_precision;
  if (d.covariate) {
    for (std::int64_t o = 0; o < d.n; ++o) {
      const std::int64_t l = topics_large ? d.topic[o] : d.system[o];
      const std::int64_t e = fixed + (topics_large ? d.system[o] : d.topic[o]);
      const double wx = w[o] * d.covariate[o];
      c[l * stride + 1] += wx;
      m[stride + e] += wx;
      m[1] += wx;
      m[stride + 1] += wx * d.covariate[o];
    }
    m[stride + 1] += p.k_precision;
  }
  for (std::int64_t l = 0; l < large; ++l)
    if (!(diag[l] > 0.0)) return false;
  for (std::int64_t l = 0; l < large; l += 4) {
    const double* row[4];
    double inverse[4];
    for (std::int64_t r = 0; r < 4; ++r) {
      const bool there = l + r < large;
      row[r] = c + (there ? l + r : l) * stride;
      inverse[r] = there ? 1.0 / diag[l + r] : 0.0;
    }
    for (std::int64_t a = 0; a < small; ++a) {
      const double factor[4] = {row[0][a] * inverse[0], row[1][a] * inverse[1],
                                row[2][a] * inverse[2], row[3][a] * inverse[3]};
      subtract_rows(a, stride, factor, row[0], row[1], row[2], row[3], m + a * stride);
    }
  }
  // rows of the factor in groups of four, each group subtracted from the rows after it at once
  for (std::int64_t g = 0; g < small; g += 4) {
    const std::int64_t after = g + 4 < small ? g + 4 : small;
    for (std::int64_t a = g; a < after; ++a) {
      double* row = m + a * stride;
      if (!(row[a] > 0.0)) return false;
      const double root = std::sqrt(row[a]), inverse = 1.0 / root;
      row[a] = root;
      for (std::int64_t e = a + 1; e < stride; ++e) row[e] *= inverse;
      for (std::int64_t q = a + 1; q < after; ++q) {
        const double f = row[q];
        double* target = m + q * stride;
        for (std::int64_t e = q; e < stride; ++e) target[e] -= f * row[e];
      }
    }
    if (after - g < 4) break;
    const double* row = m + g * stride;
    for (std::int64_t q = after; q < small; ++q) {
      const double factor[4] = {row[q], row[stride + q], row[2 * stride + q], row[3 * stride + q]};
      subtract_rows(q, stride, factor, row, row + stride, row + 2 * stride, row + 3 * stride,
                    m + q * stride);
    }
  }
  return true;
}

SUREFOOT_INLINE double log_determinant(const Crossed& d, const Work& k) {
  const Blocks at(d);
  double out = 0.0;
  for (std::int64_t l = 0; l < at.large; ++l) out += std::log(k.diagonal[l]);
  for (std::int64_t a = 0; a < at.small; ++a) out += 2.0 * std::log(k.dense[a * at.stride + a]);
  return out;
}

// Back substitution U x = r for the small block, in place.
SUREFOOT_INLINE void back_substitute(const double* u, const Blocks& at, double* r) {
  for (std::int64_t a = at.small - 1; a >= 0; --a) {
    const double* row = u + a * at.stride;
    r[a] = (r[a] - lane_dot(row + a + 1, r + a + 1, at.small - a - 1)) / row[a];
  }
}

// step = A^{-1} grad.
SUREFOOT_INLINE void solve(const Crossed& d, Work& k) {
  const Blocks at(d);
  const std::int64_t fixed = d.fixed();
  double* r = k.tail.data();
  for (std::int64_t a = 0; a < fixed; ++a) r[a] = k.grad[a];
  for (std::int64_t e = 0; e < at.effects; ++e) r[fixed + e] = k.grad[at.small_at + e];
  for (std::int64_t l = 0; l < at.large; ++l) {
    const double f = k.grad[at.large_at + l] / k.diagonal[l];
    const double* row = k.coupling.data() + l * at.stride;
    for (std::int64_t a = 0; a < at.small; ++a) r[a] -= f * row[a];
  }
  const double* u = k.dense.data();
  for (std::int64_t a = 0; a < at.small; ++a) {
    r[a] /= u[a * at.stride + a];
    const double f = r[a];
    for (std::int64_t e = a + 1; e < at.small; ++e) r[e] -= f * u[a * at.stride + e];
  }
  back_substitute(u, at, r);
  for (std::int64_t a = 0; a < fixed; ++a) k.step[a] = r[a];
  for (std::int64_t e = 0; e < at.effects; ++e) k.step[at.small_at + e] = r[fixed + e];
  for (std::int64_t l = 0; l < at.large; ++l) {
    const double rest = lane_dot(k.coupling.data() + l * at.stride, r, at.small);
    k.step[at.large_at + l] = (k.grad[at.large_at + l] - rest) / k.diagonal[l];
  }
}

// x = mode + A^{-1/2} z with A = R R'.
SUREFOOT_INLINE void draw_one(const Crossed& d, Work& k, const double* mode, const double* z,
                              double* x) {
  const Blocks at(d);
  const std::int64_t fixed = d.fixed();
  double* r = k.tail.data();
  for (std::int64_t a = 0; a < at.small; ++a) r[a] = z[a];
  back_substitute(k.dense.data(), at, r);
  for (std::int64_t a = 0; a < fixed; ++a) x[a] = mode[a] + r[a];
  for (std::int64_t e = 0; e < at.effects; ++e)
    x[at.small_at + e] = mode[at.small_at + e] + r[fixed + e];
  for (std::int64_t l = 0; l < at.large; ++l) {
    const double rest = lane_dot(k.coupling.data() + l * at.stride, r, at.small);
    x[at.large_at + l] = mode[at.large_at + l] + z[at.small + l] / std::sqrt(k.diagonal[l]) -
                         rest / k.diagonal[l];
  }
}

struct Task {
  const double* shape;
  Prior prior;
  int max_steps;
  double tolerance;
  std::int64_t draws;
  const double* z;   // (draws, size)
  double* x;         // in: start; out: mode
  double* summary;   // log posterior at the mode, log determinant, status
  double* drawn;     // (draws, size)
  double* log_ratio; // (draws)
};

// status: 0 converged, 1 stopped at max_steps, 2 by expected information, 3 failed.
template <class Family>
SUREFOOT_INLINE void laplace_one(const Crossed& d, const Task& q, Work& k) {
  const Family f(q.shape);
  const std::int64_t p = d.size(), fixed = d.fixed();
  double previous = -std::numeric_limits<double>::infinity(), status = 1.0, posterior = 0.0;
  bool moved = false;
  for (int step = 0; step <= q.max_steps; ++step) {
    linear_predictor(d, q.x, k.eta.data());
    curvature_loop(d.n, f, k.eta.data(), d.first, d.second, k.v.data(), k.g.data(), k.h.data(),
                   k.i.data());
    posterior = lane_sum(k.v.data(), d.n) + log_prior(d, q.prior, q.x);
    if (moved && !(posterior >= previous - 1e-7 * (1.0 + std::fabs(previous)))) {
      // a step too far: halve it, up to the caller's patience
      if (step == q.max_steps) {
        status = 3.0;
        break;
      }
      for (std::int64_t c = 0; c < p; ++c) {
        k.step[c] *= 0.5;
        q.x[c] -= k.step[c];
      }
      continue;
    }
    previous = posterior;
    scatter(d, k.g.data(), k.grad.data());
    k.grad[0] -= q.prior.b_precision * (q.x[0] - q.prior.b_location);
    if (d.covariate) k.grad[1] -= q.prior.k_precision * q.x[1];
    for (std::int64_t c = fixed; c < fixed + d.systems; ++c) k.grad[c] -= q.prior.s_precision * q.x[c];
    for (std::int64_t c = fixed + d.systems; c < p; ++c) k.grad[c] -= q.prior.t_precision * q.x[c];
    const bool observed = factorise(d, q.prior, k.h.data(), k);
    if (!observed && !factorise(d, q.prior, k.i.data(), k)) {
      status = 3.0;
      break;
    }
    status = observed ? 1.0 : 2.0;
    solve(d, k);
    double largest = 0.0;
    for (std::int64_t c = 0; c < p; ++c) {
      const double a = std::fabs(k.step[c]);
      largest = a > largest || !(a == a) ? a : largest;
    }
    if (!(largest < 1e6)) {
      status = 3.0;
      break;
    }
    const double cap = largest > 4.0 ? 4.0 / largest : 1.0;
    // the last step is taken with the curvature at hand: the weights correct what it misses
    for (std::int64_t c = 0; c < p; ++c) {
      k.step[c] *= cap;
      q.x[c] += k.step[c];
    }
    moved = true;
    if (largest < q.tolerance || (q.max_steps == 0)) {
      if (largest < q.tolerance && observed) status = 0.0;
      break;
    }
  }
  const double log_det = status == 3.0 ? 0.0 : log_determinant(d, k);
  q.summary[0] = status == 3.0 ? -std::numeric_limits<double>::infinity() : posterior;
  q.summary[1] = log_det;
  q.summary[2] = status;
  const double constant =
      0.5 * (std::log(q.prior.b_precision) + static_cast<double>(d.systems) * std::log(q.prior.s_precision) +
             static_cast<double>(d.topics) * std::log(q.prior.t_precision));
  q.summary[3] = constant;
  for (std::int64_t c = 0; c < q.draws; ++c) {
    double* x = q.drawn + c * p;
    const double* z = q.z + c * p;
    if (status == 3.0) {
      for (std::int64_t e = 0; e < p; ++e) x[e] = q.x[e];
      q.log_ratio[c] = -std::numeric_limits<double>::infinity();
      continue;
    }
    draw_one(d, k, q.x, z, x);
    linear_predictor(d, x, k.eta.data());
    value_loop(d.n, f, k.eta.data(), d.first, d.second, k.v.data());
    q.log_ratio[c] = lane_sum(k.v.data(), d.n) + log_prior(d, q.prior, x) + constant +
                     0.5 * lane_dot(z, z, p) - 0.5 * log_det;
  }
}

SUREFOOT_CLONES void laplace_gaussian(const Crossed& d, const Task& q, Work& k) {
  laplace_one<GaussianFamily>(d, q, k);
}
SUREFOOT_CLONES void laplace_student(const Crossed& d, const Task& q, Work& k) {
  laplace_one<StudentFamily>(d, q, k);
}
SUREFOOT_CLONES void laplace_beta(const Crossed& d, const Task& q, Work& k) {
  laplace_one<BetaFamily>(d, q, k);
}

// shape (n, 2); prior (n, 5): location and precision of b, precisions of k, s, t; x (n, size) is the
// start and becomes the mode; summary (n, 4); z and drawn (n, draws, size); log_ratio (n, draws).
void laplace(int family, std::int64_t systems, std::int64_t topics, Ints system, Ints topic,
             Doubles first, Doubles second, Doubles covariate, Doubles shape, Doubles prior,
             int max_steps, double tolerance, Doubles z, Out x, Out summary, Out drawn,
             Out log_ratio, int threads) {
  const auto n = static_cast<std::int64_t>(system.size());
  const Crossed d{n, systems, topics, system.data(), topic.data(), first.data(), second.data(),
                  covariate.size() ? covariate.data() : nullptr};
  const std::int64_t p = d.size(), count = static_cast<std::int64_t>(shape.size()) / 2;
  const std::int64_t draws = count ? static_cast<std::int64_t>(log_ratio.size()) / count : 0;
  if (static_cast<std::int64_t>(topic.size()) != n || static_cast<std::int64_t>(first.size()) != n ||
      static_cast<std::int64_t>(second.size()) != n ||
      (covariate.size() && static_cast<std::int64_t>(covariate.size()) != n) ||
      static_cast<std::int64_t>(prior.size()) != 5 * count ||
      static_cast<std::int64_t>(x.size()) != p * count ||
      static_cast<std::int64_t>(summary.size()) != 4 * count ||
      static_cast<std::int64_t>(z.size()) != p * draws * count || drawn.size() != z.size())
    throw std::invalid_argument("laplace: arrays do not fit together");
  for (std::int64_t o = 0; o < n; ++o)
    if (system.data()[o] < 0 || system.data()[o] >= systems || topic.data()[o] < 0 ||
        topic.data()[o] >= topics || (o > 0 && system.data()[o] < system.data()[o - 1]))
      throw std::invalid_argument("observations must be sorted by system and within range");
  auto run = family == 0 ? laplace_gaussian : family == 1 ? laplace_student : laplace_beta;
  if (family < 0 || family > 2) throw std::invalid_argument("laplace: unknown family");
  nb::gil_scoped_release release;
  parallel_chunks(count, 4, threads, [&](std::int64_t begin, std::int64_t end) {
    Work work(d);
    for (std::int64_t c = begin; c < end; ++c) {
      const double* w = prior.data() + 5 * c;
      const Task task{shape.data() + 2 * c,
                      {w[0], w[1], w[2], w[3], w[4]},
                      max_steps,
                      tolerance,
                      draws,
                      z.data() + p * draws * c,
                      x.data() + p * c,
                      summary.data() + 4 * c,
                      drawn.data() + p * draws * c,
                      log_ratio.data() + draws * c};
      run(d, task, work);
    }
  });
}

}  // namespace

void bind_laplace(nb::module_& m) { m.def("laplace", &laplace); }
