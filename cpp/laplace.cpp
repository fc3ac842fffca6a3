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

// Buffers of one thread.
struct Work {
  std::vector<double> eta, v, g, h, i, grad, step, trial, coupling, diagonal, dense, tail;
  explicit Work(const Crossed& d)
      : eta(d.n), v(d.n), g(d.n), h(d.n), i(d.n), grad(d.size()), step(d.size()), trial(d.size()) {
    const std::size_t large = std::max(d.systems, d.topics);
    const std::size_t small = std::min(d.systems, d.topics) + d.fixed();
    coupling.resize(large * small);
    diagonal.resize(large);
    dense.resize(small * small);
    tail.resize(small);
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

// Curvature (weights w, plus the prior) into its factor; false where it is not positive definite.
// coupling: (large, small) rows; dense: upper triangular U with U'U = Schur complement.
SUREFOOT_INLINE bool factorise(const Crossed& d, const Prior& p, const double* w, Work& k) {
  const bool topics_large = d.topics >= d.systems;
  const std::int64_t large = topics_large ? d.topics : d.systems;
  const std::int64_t effects = topics_large ? d.systems : d.topics;
  const std::int64_t fixed = d.fixed(), small = effects + fixed;
  double* c = k.coupling.data();
  double* m = k.dense.data();
  double* diag = k.diagonal.data();
  for (std::int64_t q = 0; q < large * small; ++q) c[q] = 0.0;
  for (std::int64_t q = 0; q < small * small; ++q) m[q] = 0.0;
  for (std::int64_t l = 0; l < large; ++l) diag[l] = topics_large ? p.t_precision : p.s_precision;
  // small block, in the order: fixed effects, then the smaller effects
  for (std::int64_t o = 0; o < d.n; ++o) {
    const std::int64_t l = topics_large ? d.topic[o] : d.system[o];
    const std::int64_t e = fixed + (topics_large ? d.system[o] : d.topic[o]);
    diag[l] += w[o];
    c[l * small + e] += w[o];
    m[e * small + e] += w[o];
  }
  for (std::int64_t l = 0; l < large; ++l) {
    const double prior = topics_large ? p.t_precision : p.s_precision;
    c[l * small] = diag[l] - prior;
  }
  double total = 0.0;
  for (std::int64_t e = fixed; e < small; ++e) {
    total += m[e * small + e];
    m[e] = m[e * small + e];
    m[e * small + e] += topics_large ? p.s_precision : p.t_precision;
  }
  m[0] = total + p.b_precision;
  if (d.covariate) {
    for (std::int64_t o = 0; o < d.n; ++o) {
      const std::int64_t l = topics_large ? d.topic[o] : d.system[o];
      const std::int64_t e = fixed + (topics_large ? d.system[o] : d.topic[o]);
      const double wx = w[o] * d.covariate[o];
      c[l * small + 1] += wx;
      m[small + e] += wx;
      m[1] += wx;
      m[small + 1] += wx * d.covariate[o];
    }
    m[small + 1] += p.k_precision;
  }
  for (std::int64_t l = 0; l < large; ++l) {
    if (!(diag[l] > 0.0)) return false;
    const double inverse = 1.0 / diag[l];
    const double* row = c + l * small;
    for (std::int64_t a = 0; a < small; ++a) {
      const double f = row[a] * inverse;
      double* target = m + a * small;
      for (std::int64_t e = a; e < small; ++e) target[e] -= f * row[e];
    }
  }
  for (std::int64_t a = 0; a < small; ++a) {
    double* row = m + a * small;
    if (!(row[a] > 0.0)) return false;
    const double root = std::sqrt(row[a]), inverse = 1.0 / root;
    row[a] = root;
    for (std::int64_t e = a + 1; e < small; ++e) row[e] *= inverse;
    for (std::int64_t q = a + 1; q < small; ++q) {
      const double f = row[q];
      double* target = m + q * small;
      for (std::int64_t e = q; e < small; ++e) target[e] -= f * row[e];
    }
  }
  return true;
}

SUREFOOT_INLINE double log_determinant(const Crossed& d, const Work& k) {
  const std::int64_t large = std::max(d.systems, d.topics);
  const std::int64_t small = std::min(d.systems, d.topics) + d.fixed();
  double out = 0.0;
  for (std::int64_t l = 0; l < large; ++l) out += std::log(k.diagonal[l]);
  for (std::int64_t a = 0; a < small; ++a) out += 2.0 * std::log(k.dense[a * small + a]);
  return out;
}

// Back substitution U x = r for the small block, in place.
SUREFOOT_INLINE void back_substitute(const double* u, std::int64_t small, double* r) {
  for (std::int64_t a = small - 1; a >= 0; --a) {
    const double rest = lane_dot(u + a * small + a + 1, r + a + 1, small - a - 1);
    r[a] = (r[a] - rest) / u[a * small + a];
  }
}

// Where the blocks lie in a parameter vector (b, [k], s, t).
struct Blocks {
  std::int64_t large, effects, small, large_at, small_at;
  explicit SUREFOOT_INLINE Blocks(const Crossed& d) {
    const bool topics_large = d.topics >= d.systems;
    large = topics_large ? d.topics : d.systems;
    effects = topics_large ? d.systems : d.topics;
    small = effects + d.fixed();
    const std::int64_t s_at = d.fixed(), t_at = s_at + d.systems;
    large_at = topics_large ? t_at : s_at;
    small_at = topics_large ? s_at : t_at;
  }
};

// step = A^{-1} grad.
SUREFOOT_INLINE void solve(const Crossed& d, Work& k) {
  const Blocks at(d);
  const std::int64_t fixed = d.fixed();
  double* r = k.tail.data();
  for (std::int64_t a = 0; a < fixed; ++a) r[a] = k.grad[a];
  for (std::int64_t e = 0; e < at.effects; ++e) r[fixed + e] = k.grad[at.small_at + e];
  for (std::int64_t l = 0; l < at.large; ++l) {
    const double f = k.grad[at.large_at + l] / k.diagonal[l];
    const double* row = k.coupling.data() + l * at.small;
    for (std::int64_t a = 0; a < at.small; ++a) r[a] -= f * row[a];
  }
  const double* u = k.dense.data();
  for (std::int64_t a = 0; a < at.small; ++a) {
    r[a] /= u[a * at.small + a];
    const double f = r[a];
    for (std::int64_t e = a + 1; e < at.small; ++e) r[e] -= f * u[a * at.small + e];
  }
  back_substitute(u, at.small, r);
  for (std::int64_t a = 0; a < fixed; ++a) k.step[a] = r[a];
  for (std::int64_t e = 0; e < at.effects; ++e) k.step[at.small_at + e] = r[fixed + e];
  for (std::int64_t l = 0; l < at.large; ++l) {
    const double rest = lane_dot(k.coupling.data() + l * at.small, r, at.small);
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
  back_substitute(k.dense.data(), at.small, r);
  for (std::int64_t a = 0; a < fixed; ++a) x[a] = mode[a] + r[a];
  for (std::int64_t e = 0; e < at.effects; ++e)
    x[at.small_at + e] = mode[at.small_at + e] + r[fixed + e];
  for (std::int64_t l = 0; l < at.large; ++l) {
    const double rest = lane_dot(k.coupling.data() + l * at.small, r, at.small);
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
