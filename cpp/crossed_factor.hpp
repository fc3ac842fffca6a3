// The normal approximation of crossed effects at one point: the prior, the factor of the curvature, and
// what is solved with it or drawn from it.
//
// The larger block of effects is diagonal in the curvature and is eliminated first; what remains is a
// dense system of the smaller block and the fixed effects.
#pragma once

#include <cmath>
#include <vector>

#include "hierarchy.hpp"

namespace surefoot {
namespace {

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

// Draws that go through a factor together, one a lane.
constexpr std::int64_t kLanes = 16;

// Buffers of one thread.
struct Work {
  std::vector<double> eta, v, g, h, i, grad, step, coupling, diagonal, dense, tail, lanes;
  explicit Work(const Crossed& d)
      : eta(d.n), v(d.n), g(d.n), h(d.n), i(d.n), grad(d.size()), step(d.size()) {
    const Blocks at(d);
    lanes.resize(static_cast<std::size_t>(d.size() * kLanes));
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
SUREFOOT_CLONES bool factorise(const Crossed& d, const Prior& p, const double* w, Work& k) {
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
SUREFOOT_CLONES void solve(const Crossed& d, Work& k) {
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

// Offsets from the mode of up to kLanes draws at once: A^{-1/2} z with A = R R', added to each x.
SUREFOOT_CLONES void draw_lanes(const Crossed& d, Work& k, std::int64_t count, const double* z,
                                double* x) {
  const Blocks at(d);
  const std::int64_t p = d.size(), fixed = d.fixed();
  double* r = k.lanes.data();
  for (std::int64_t a = 0; a < p; ++a)
    for (std::int64_t l = 0; l < kLanes; ++l) r[a * kLanes + l] = l < count ? z[l * p + a] : 0.0;
  for (std::int64_t a = at.small - 1; a >= 0; --a) {
    const double* row = k.dense.data() + a * at.stride;
    double sum[kLanes];
    for (std::int64_t l = 0; l < kLanes; ++l) sum[l] = r[a * kLanes + l];
    for (std::int64_t e = a + 1; e < at.small; ++e)
      for (std::int64_t l = 0; l < kLanes; ++l) sum[l] -= row[e] * r[e * kLanes + l];
    const double inverse = 1.0 / row[a];
    for (std::int64_t l = 0; l < kLanes; ++l) r[a * kLanes + l] = sum[l] * inverse;
  }
  for (std::int64_t c = 0; c < at.large; ++c) {
    const double* row = k.coupling.data() + c * at.stride;
    double rest[kLanes] = {};
    for (std::int64_t e = 0; e < at.small; ++e)
      for (std::int64_t l = 0; l < kLanes; ++l) rest[l] += row[e] * r[e * kLanes + l];
    const double inverse = 1.0 / k.diagonal[c], root = std::sqrt(inverse);
    double* out = r + (at.small + c) * kLanes;
    for (std::int64_t l = 0; l < kLanes; ++l) out[l] = out[l] * root - rest[l] * inverse;
  }
  for (std::int64_t l = 0; l < count; ++l) {
    double* to = x + l * p;
    for (std::int64_t a = 0; a < fixed; ++a) to[a] += r[a * kLanes + l];
    for (std::int64_t e = 0; e < at.effects; ++e) to[at.small_at + e] += r[(fixed + e) * kLanes + l];
    for (std::int64_t c = 0; c < at.large; ++c)
      to[at.large_at + c] += r[(at.small + c) * kLanes + l];
  }
}

}  // namespace
}  // namespace surefoot
