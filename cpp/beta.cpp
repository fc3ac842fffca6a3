// Likelihood kernels of the hierarchical models: one observation's terms, pointwise log likelihoods of
// posterior draws, and the gradient of many parameter vectors at once.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>

#include "hierarchy.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace surefoot;

namespace {

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

enum FamilyId { gaussian = 0, student = 1, beta = 2, skew_normal = 3 };

template <class Family>
SUREFOOT_INLINE void terms_loop(std::int64_t n, const Family f, const double* __restrict eta,
                                const double* __restrict first, const double* __restrict second,
                                double* __restrict out) {
#pragma GCC ivdep
  for (std::int64_t o = 0; o < n; ++o) {
    const Terms t = f.terms(eta[o], first[o], second[o]);
    out[o] = t.value;
    out[n + o] = t.gradient;
    out[2 * n + o] = t.curvature;
    out[3 * n + o] = t.information;
    out[4 * n + o] = t.by_first;
    out[5 * n + o] = t.by_second;
  }
}

#define SUREFOOT_TERMS(name, Family)                                                             \
  SUREFOOT_CLONES void name(std::int64_t n, const double* shape, const double* eta,               \
                            const double* first, const double* second, double* out) {             \
    terms_loop(n, Family(shape), eta, first, second, out);                                        \
  }
SUREFOOT_TERMS(terms_gaussian, GaussianFamily)
SUREFOOT_TERMS(terms_student, StudentFamily)
SUREFOOT_TERMS(terms_beta, BetaFamily)
SUREFOOT_TERMS(terms_skew_normal, SkewNormalFamily)

// value, gradient, curvature, information, by_first, by_second: out (6, n).
void terms(int family, Doubles shape, Doubles eta, Doubles first, Doubles second, Out out) {
  const auto n = static_cast<std::int64_t>(eta.size());
  if (first.size() != eta.size() || second.size() != eta.size() || out.size() != 6 * eta.size() ||
      shape.size() != 2)
    throw std::invalid_argument("terms: arrays do not fit together");
  nb::gil_scoped_release release;
  switch (family) {
    case gaussian: return terms_gaussian(n, shape.data(), eta.data(), first.data(), second.data(), out.data());
    case student: return terms_student(n, shape.data(), eta.data(), first.data(), second.data(), out.data());
    case beta: return terms_beta(n, shape.data(), eta.data(), first.data(), second.data(), out.data());
    case skew_normal: return terms_skew_normal(n, shape.data(), eta.data(), first.data(), second.data(), out.data());
    default: throw std::invalid_argument("terms: unknown family");
  }
}

// One parameter vector: pointwise log likelihood into out (n).
template <class Family>
SUREFOOT_INLINE void pointwise_one(const Crossed& d, const double* shape, const double* x,
                                   double* eta, double* out) {
  const Family f(shape);
  linear_predictor(d, x, eta);
  value_loop(d.n, f, eta, d.first, d.second, out);
}

// One parameter vector: value, gradient (size + 2 shapes).
template <class Family>
SUREFOOT_INLINE void gradient_one(const Crossed& d, const double* shape, const double* x,
                                  double* work, double* value, double* out) {
  const Family f(shape);
  double *eta = work, *v = eta + d.n, *g = v + d.n, *a = g + d.n, *b = a + d.n;
  linear_predictor(d, x, eta);
  gradient_loop(d.n, f, eta, d.first, d.second, v, g, a, b);
  *value = lane_sum(v, d.n);
  scatter(d, g, out);
  out[d.size()] = lane_sum(a, d.n);
  out[d.size() + 1] = lane_sum(b, d.n);
}

#define SUREFOOT_ONE(suffix, Family)                                                             \
  SUREFOOT_CLONES void pointwise_##suffix(const Crossed& d, const double* shape, const double* x, \
                                          double* eta, double* out) {                             \
    pointwise_one<Family>(d, shape, x, eta, out);                                                 \
  }                                                                                               \
  SUREFOOT_CLONES void gradient_##suffix(const Crossed& d, const double* shape, const double* x,  \
                                         double* work, double* value, double* out) {              \
    gradient_one<Family>(d, shape, x, work, value, out);                                          \
  }
SUREFOOT_ONE(gaussian, GaussianFamily)
SUREFOOT_ONE(student, StudentFamily)
SUREFOOT_ONE(beta, BetaFamily)
SUREFOOT_ONE(skew_normal, SkewNormalFamily)

using PointwiseFunction = void (*)(const Crossed&, const double*, const double*, double*, double*);
using GradientFunction = void (*)(const Crossed&, const double*, const double*, double*, double*, double*);

PointwiseFunction pointwise_of(int family) {
  switch (family) {
    case gaussian: return pointwise_gaussian;
    case student: return pointwise_student;
    case beta: return pointwise_beta;
    case skew_normal: return pointwise_skew_normal;
    default: throw std::invalid_argument("unknown family");
  }
}
GradientFunction gradient_of(int family) {
  switch (family) {
    case gaussian: return gradient_gaussian;
    case student: return gradient_student;
    case beta: return gradient_beta;
    case skew_normal: return gradient_skew_normal;
    default: throw std::invalid_argument("unknown family");
  }
}

Crossed crossed(std::int64_t systems, std::int64_t topics, const Ints& system, const Ints& topic,
                const Doubles& first, const Doubles& second, const Doubles& covariate) {
  const auto n = static_cast<std::int64_t>(system.size());
  if (static_cast<std::int64_t>(topic.size()) != n || static_cast<std::int64_t>(first.size()) != n ||
      static_cast<std::int64_t>(second.size()) != n ||
      (covariate.size() != 0 && static_cast<std::int64_t>(covariate.size()) != n))
    throw std::invalid_argument("observations do not fit together");
  for (std::int64_t o = 0; o < n; ++o)
    if (system.data()[o] < 0 || system.data()[o] >= systems || topic.data()[o] < 0 ||
        topic.data()[o] >= topics || (o > 0 && system.data()[o] < system.data()[o - 1]))
      throw std::invalid_argument("observations must be sorted by system and within range");
  return {n, systems, topics, system.data(), topic.data(), first.data(), second.data(),
          covariate.size() ? covariate.data() : nullptr};
}

void pointwise(int family, std::int64_t systems, std::int64_t topics, Ints system, Ints topic,
               Doubles first, Doubles second, Doubles covariate, Doubles shape, Doubles x, Out out,
               int threads) {
  const Crossed d = crossed(systems, topics, system, topic, first, second, covariate);
  const PointwiseFunction f = pointwise_of(family);
  const std::int64_t draws = static_cast<std::int64_t>(shape.size()) / 2, p = d.size();
  if (static_cast<std::int64_t>(x.size()) != draws * p ||
      static_cast<std::int64_t>(out.size()) != draws * d.n)
    throw std::invalid_argument("pointwise: arrays do not fit together");
  nb::gil_scoped_release release;
  parallel_chunks(draws, 16, threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> eta(static_cast<std::size_t>(d.n));
    for (std::int64_t c = begin; c < end; ++c)
      f(d, shape.data() + 2 * c, x.data() + p * c, eta.data(), out.data() + d.n * c);
  });
}

void gradient(int family, std::int64_t systems, std::int64_t topics, Ints system, Ints topic,
              Doubles first, Doubles second, Doubles covariate, Doubles shape, Doubles x, Out value,
              Out out, int threads) {
  const Crossed d = crossed(systems, topics, system, topic, first, second, covariate);
  const GradientFunction f = gradient_of(family);
  const std::int64_t draws = static_cast<std::int64_t>(shape.size()) / 2, p = d.size();
  if (static_cast<std::int64_t>(x.size()) != draws * p ||
      static_cast<std::int64_t>(value.size()) != draws ||
      static_cast<std::int64_t>(out.size()) != draws * (p + 2))
    throw std::invalid_argument("gradient: arrays do not fit together");
  nb::gil_scoped_release release;
  parallel_chunks(draws, 4, threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> work(static_cast<std::size_t>(5 * d.n));
    for (std::int64_t c = begin; c < end; ++c)
      f(d, shape.data() + 2 * c, x.data() + p * c, work.data(), value.data() + c,
        out.data() + (p + 2) * c);
  });
}

}  // namespace

void bind_beta(nb::module_& m) {
  m.def("likelihood_terms", &terms);
  m.def("likelihood_pointwise", &pointwise);
  m.def("likelihood_gradient", &gradient);
}
