// Crossed effects: eta = b + s[system] + t[topic] + k x, observations sorted by system.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "likelihoods.hpp"

namespace surefoot {

struct Crossed {
  std::int64_t n, systems, topics;
  const std::int32_t* system;
  const std::int32_t* topic;
  const double* first;      // the family's first datum of each observation
  const double* second;     // the family's second one
  const double* covariate;  // x, or null
  std::int64_t fixed() const { return covariate ? 2 : 1; }
  std::int64_t size() const { return fixed() + systems + topics; }
};

// eta for one parameter vector (b, [k], s, t).
static SUREFOOT_CLONES void linear_predictor(const Crossed& d, const double* x, double* __restrict eta) {
  const double* __restrict s = x + d.fixed();
  const double* __restrict t = s + d.systems;
  const std::int32_t* __restrict system = d.system;
  const std::int32_t* __restrict topic = d.topic;
  const double* __restrict covariate = d.covariate;
  const std::int64_t n = d.n;
  const double b = x[0];
#pragma GCC ivdep
  for (std::int64_t o = 0; o < n; ++o) eta[o] = b + s[system[o]] + t[topic[o]];
  if (covariate) {
    const double k = x[1];
#pragma GCC ivdep
    for (std::int64_t o = 0; o < n; ++o) eta[o] += k * covariate[o];
  }
}

// Sums of one value an observation by system, by topic, in total and times the covariate.
static SUREFOOT_CLONES void scatter(const Crossed& d, const double* g, double* out) {
  const std::int64_t p = d.size();
  for (std::int64_t c = 0; c < p; ++c) out[c] = 0.0;
  double* s = out + d.fixed();
  double* t = s + d.systems;
  for (std::int64_t o = 0; o < d.n;) {
    const std::int32_t i = d.system[o];
    std::int64_t end = o;
    while (end < d.n && d.system[end] == i) ++end;
    for (std::int64_t q = o; q < end; ++q) t[d.topic[q]] += g[q];
    s[i] = lane_sum(g + o, end - o);
    o = end;
  }
  out[0] = lane_sum(g, d.n);
  if (d.covariate) out[1] = lane_dot(g, d.covariate, d.n);
}

template <class Family>
SUREFOOT_INLINE void value_loop(std::int64_t n, const Family f, const double* __restrict eta,
                                const double* __restrict first, const double* __restrict second,
                                double* __restrict v) {
#pragma GCC ivdep
  for (std::int64_t o = 0; o < n; ++o) v[o] = f.value(eta[o], first[o], second[o]);
}

// Value, gradient and both curvatures, for Newton's method.
template <class Family>
SUREFOOT_INLINE void curvature_loop(std::int64_t n, const Family f, const double* __restrict eta,
                                    const double* __restrict first,
                                    const double* __restrict second, double* __restrict v,
                                    double* __restrict g, double* __restrict h,
                                    double* __restrict i) {
#pragma GCC ivdep
  for (std::int64_t o = 0; o < n; ++o) {
    const Terms t = f.terms(eta[o], first[o], second[o]);
    v[o] = t.value;
    g[o] = t.gradient;
    h[o] = t.curvature;
    i[o] = t.information;
  }
}

// Value and first derivatives by eta and the two shapes.
template <class Family>
SUREFOOT_INLINE void gradient_loop(std::int64_t n, const Family f, const double* __restrict eta,
                                   const double* __restrict first, const double* __restrict second,
                                   double* __restrict v, double* __restrict g,
                                   double* __restrict a, double* __restrict b) {
#pragma GCC ivdep
  for (std::int64_t o = 0; o < n; ++o) {
    const Terms t = f.terms(eta[o], first[o], second[o]);
    v[o] = t.value;
    g[o] = t.gradient;
    a[o] = t.by_first;
    b[o] = t.by_second;
  }
}

}  // namespace surefoot
