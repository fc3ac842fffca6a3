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
SUREFOOT_INLINE void linear_predictor(const Crossed& d, const double* x, double* eta) {
  const double* s = x + d.fixed();
  const double* t = s + d.systems;
  for (std::int64_t o = 0; o < d.n; ++o) eta[o] = x[0] + s[d.system[o]] + t[d.topic[o]];
  if (d.covariate)
    for (std::int64_t o = 0; o < d.n; ++o) eta[o] += x[1] * d.covariate[o];
}

// Sums of one value an observation by system, by topic, in total and times the covariate.
SUREFOOT_INLINE void scatter(const Crossed& d, const double* g, double* out) {
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
SUREFOOT_INLINE void value_loop(const Crossed& d, const Family& f, const double* eta, double* v) {
  for (std::int64_t o = 0; o < d.n; ++o) v[o] = f.value(eta[o], d.first[o], d.second[o]);
}

}  // namespace surefoot
