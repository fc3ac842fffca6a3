// Laplace approximations of crossed-effects models at many hyperparameter values, and weighted draws
// from them. For one value: Newton's method for the mode of (b, [k], s, t) given the shape and the
// prior precisions, and a factor of the curvature there. Draws lean on the approximation of a value
// near theirs: each has a shape, a prior and an offset of its own mode, and its exact importance ratio.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <limits>
#include <stdexcept>

#include "beta_curve.hpp"
#include "crossed_factor.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace surefoot;

namespace {

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Longs = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// One approximation and the draws that lean on it.
struct Task {
  const double* shape;
  Prior prior;
  int max_steps;
  double tolerance;
  double* x;        // in: start; out: mode
  double* summary;  // log posterior at the mode, log determinant, status, log of the prior's constants,
                    // sum of the curvatures of all observations
  std::int64_t draws;
  const double* draw_shape;  // (draws, 2)
  const double* draw_prior;  // (draws, 5)
  const double* z;           // (draws, size)
  double* drawn;             // (draws, size); in: offsets of the modes
  double* log_ratio;         // (draws)
};

SUREFOOT_INLINE Prior prior_at(const double* w) { return {w[0], w[1], w[2], w[3], w[4]}; }

SUREFOOT_INLINE double log_constant(const Crossed& d, const Prior& p) {
  return 0.5 * (std::log(p.b_precision) + static_cast<double>(d.systems) * std::log(p.s_precision) +
                static_cast<double>(d.topics) * std::log(p.t_precision));
}

template <class Family>
SUREFOOT_INLINE double log_likelihood(const Crossed& d, const double* shape, const double* x, Work& k,
                                      CurveWork&, const CurveTables&) {
  const Family f(shape);
  linear_predictor(d, x, k.eta.data());
  value_loop(d.n, f, k.eta.data(), d.first, d.second, k.v.data());
  return lane_sum(k.v.data(), d.n);
}
// For fewer observations a curve costs more than it saves.
constexpr std::int64_t kEnoughForCurve = 96;
template <>
SUREFOOT_INLINE double log_likelihood<BetaFamily>(const Crossed& d, const double* shape,
                                                  const double* x, Work& k, CurveWork& w,
                                                  const CurveTables& tables) {
  const BetaFamily f(shape);
  double out;
  if (d.n >= kEnoughForCurve && curve_log_likelihood(d, f, x, tables, w, k.eta.data(), out)) return out;
  linear_predictor(d, x, k.eta.data());
  value_loop(d.n, f, k.eta.data(), d.first, d.second, k.v.data());
  return lane_sum(k.v.data(), d.n);
}

// status: 0 converged, 1 stopped at max_steps, 2 by expected information, 3 failed.
template <class Family>
SUREFOOT_INLINE void laplace_one(const Crossed& d, const Task& q, Work& k, CurveWork& w,
                                 const CurveTables& tables) {
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
      if (largest < q.tolerance) {
        // what the last step gains, to second order
        posterior += 0.5 * lane_dot(k.grad.data(), k.step.data(), p);
        if (observed) status = 0.0;
      }
      break;
    }
  }
  const double log_det = status == 3.0 ? 0.0 : log_determinant(d, k);
  q.summary[0] = status == 3.0 ? -std::numeric_limits<double>::infinity() : posterior;
  q.summary[1] = log_det;
  q.summary[2] = status;
  q.summary[3] = log_constant(d, q.prior);
  q.summary[4] = lane_sum(status == 2.0 ? k.i.data() : k.h.data(), d.n);
  if (status == 3.0) {
    for (std::int64_t c = 0; c < q.draws; ++c) {
      for (std::int64_t e = 0; e < p; ++e) q.drawn[c * p + e] = q.x[e];
      q.log_ratio[c] = -std::numeric_limits<double>::infinity();
    }
    return;
  }
  for (std::int64_t from = 0; from < q.draws; from += kLanes) {
    const std::int64_t count = q.draws - from < kLanes ? q.draws - from : kLanes;
    for (std::int64_t c = from; c < from + count; ++c)
      for (std::int64_t e = 0; e < p; ++e) q.drawn[c * p + e] += q.x[e];
    draw_lanes(d, k, count, q.z + from * p, q.drawn + from * p);
  }
  for (std::int64_t c = 0; c < q.draws; ++c) {
    const double *x = q.drawn + c * p, *z = q.z + c * p;
    const Prior prior = prior_at(q.draw_prior + 5 * c);
    q.log_ratio[c] = log_likelihood<Family>(d, q.draw_shape + 2 * c, x, k, w, tables) +
                     log_prior(d, prior, x) + log_constant(d, prior) + 0.5 * lane_dot(z, z, p) -
                     0.5 * log_det;
  }
}

SUREFOOT_CLONES void laplace_gaussian(const Crossed& d, const Task& q, Work& k, CurveWork& w,
                                      const CurveTables& tables) {
  laplace_one<GaussianFamily>(d, q, k, w, tables);
}
SUREFOOT_CLONES void laplace_student(const Crossed& d, const Task& q, Work& k, CurveWork& w,
                                      const CurveTables& tables) {
  laplace_one<StudentFamily>(d, q, k, w, tables);
}
SUREFOOT_CLONES void laplace_beta(const Crossed& d, const Task& q, Work& k, CurveWork& w,
                                      const CurveTables& tables) {
  laplace_one<BetaFamily>(d, q, k, w, tables);
}

SUREFOOT_CLONES void laplace_skew_normal(const Crossed& d, const Task& q, Work& k, CurveWork& w,
                                         const CurveTables& tables) {
  laplace_one<SkewNormalFamily>(d, q, k, w, tables);
}
using LaplaceFunction = void (*)(const Crossed&, const Task&, Work&, CurveWork&, const CurveTables&);

// shape (m, 2); prior (m, 5); x (m, size) is the start and becomes the mode; summary (m, 5). Draws
// edges[r] to edges[r + 1] lean on approximation r: draw_shape (n, 2), draw_prior (n, 5), z and drawn
// (n, size), log_ratio (n).
void laplace(int family, std::int64_t systems, std::int64_t topics, Ints system, Ints topic,
             Doubles first, Doubles second, Doubles covariate, Doubles shape, Doubles prior,
             int max_steps, double tolerance, Out x, Out summary, Longs edges, Doubles draw_shape,
             Doubles draw_prior, Doubles z, Out drawn, Out log_ratio, int threads) {
  const auto n = static_cast<std::int64_t>(system.size());
  const Crossed d{n, systems, topics, system.data(), topic.data(), first.data(), second.data(),
                  covariate.size() ? covariate.data() : nullptr};
  const std::int64_t p = d.size(), count = static_cast<std::int64_t>(shape.size()) / 2;
  const std::int64_t draws = static_cast<std::int64_t>(log_ratio.size());
  const std::int64_t* edge = edges.data();
  if (static_cast<std::int64_t>(topic.size()) != n || static_cast<std::int64_t>(first.size()) != n ||
      static_cast<std::int64_t>(second.size()) != n ||
      (covariate.size() && static_cast<std::int64_t>(covariate.size()) != n) ||
      static_cast<std::int64_t>(prior.size()) != 5 * count ||
      static_cast<std::int64_t>(x.size()) != p * count ||
      static_cast<std::int64_t>(summary.size()) != 5 * count ||
      static_cast<std::int64_t>(edges.size()) != count + 1 ||
      static_cast<std::int64_t>(draw_shape.size()) != 2 * draws ||
      static_cast<std::int64_t>(draw_prior.size()) != 5 * draws ||
      static_cast<std::int64_t>(z.size()) != p * draws || drawn.size() != z.size() || edge[0] != 0 ||
      edge[count] != draws)
    throw std::invalid_argument("laplace: arrays do not fit together");
  for (std::int64_t r = 0; r < count; ++r)
    if (edge[r + 1] < edge[r]) throw std::invalid_argument("laplace: arrays do not fit together");
  for (std::int64_t o = 0; o < n; ++o)
    if (system.data()[o] < 0 || system.data()[o] >= systems || topic.data()[o] < 0 ||
        topic.data()[o] >= topics || (o > 0 && system.data()[o] < system.data()[o - 1]))
      throw std::invalid_argument("observations must be sorted by system and within range");
  constexpr LaplaceFunction functions[] = {laplace_gaussian, laplace_student, laplace_beta,
                                           laplace_skew_normal};
  if (family < 0 || family > 3) throw std::invalid_argument("laplace: unknown family");
  const LaplaceFunction run = functions[family];
  const CurveTables& tables = CurveTables::get();
  nb::gil_scoped_release release;
  parallel_chunks(count, draws ? 1 : 4, threads, [&](std::int64_t begin, std::int64_t end) {
    Work work(d);
    CurveWork curve(d);
    for (std::int64_t c = begin; c < end; ++c) {
      const std::int64_t at = edge[c];
      const Task task{shape.data() + 2 * c,
                      prior_at(prior.data() + 5 * c),
                      max_steps,
                      tolerance,
                      x.data() + p * c,
                      summary.data() + 5 * c,
                      edge[c + 1] - at,
                      draw_shape.data() + 2 * at,
                      draw_prior.data() + 5 * at,
                      z.data() + p * at,
                      drawn.data() + p * at,
                      log_ratio.data() + at};
      run(d, task, work, curve, tables);
    }
  });
}

}  // namespace

void bind_laplace(nb::module_& m) { m.def("laplace", &laplace); }
