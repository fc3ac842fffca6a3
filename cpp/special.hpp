// Elementary and gamma functions that compilers turn into vector code: no branches, no tables, no
// calls. Errors are a few units in the last place where the models use them (tests hold them to
// mpmath); NaN and infinities are the caller's business.
#pragma once

#include <cstdint>
#include <cstring>

#include "clones.hpp"

namespace surefoot {

SUREFOOT_INLINE std::uint64_t bits_of(double x) {
  std::uint64_t u;
  std::memcpy(&u, &x, 8);
  return u;
}
SUREFOOT_INLINE double from_bits(std::uint64_t u) {
  double x;
  std::memcpy(&x, &u, 8);
  return x;
}

// exp for |x| < 700.
SUREFOOT_INLINE double fast_exp(double x) {
  constexpr double magic = 0x1.8p52;
  const double shifted = x * 1.4426950408889634074 + magic;
  const double n = shifted - magic;
  const double r = (x - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45;
  // Estrin's scheme: a short chain of dependent operations counts for more than their number
  const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const double c0 = 0.5 + r * (1.0 / 6.0), c2 = 1.0 / 24.0 + r * (1.0 / 120.0);
  const double c4 = 1.0 / 720.0 + r * (1.0 / 5040.0), c6 = 1.0 / 40320.0 + r * (1.0 / 362880.0);
  const double c8 = 1.0 / 3628800.0 + r * (1.0 / 39916800.0) + r2 * (1.0 / 479001600.0);
  const double p = ((c0 + r2 * c2) + r4 * (c4 + r2 * c6) + r8 * c8) * r2 + r + 1.0;
  const std::uint64_t exponent = bits_of(shifted) - bits_of(magic) + 1023u;
  return p * from_bits(exponent << 52);
}

// log for positive normal x: e log 2 + log m, m in [sqrt(1/2), sqrt(2)), and log m by its series in
// f = (m - 1) / (m + 1).
struct Mantissa {
  double m, e;
};
SUREFOOT_INLINE Mantissa mantissa(double x) {
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcdull;
  const std::uint64_t u = bits_of(x);
  const std::uint64_t k = (u - root_half + 0x4000000000000000ull) >> 52;  // exponent + 1024
  return {from_bits(u - ((k - 1024u) << 52)), from_bits(k + 0x4330000000000000ull) - (0x1p52 + 1024.0)};
}
SUREFOOT_INLINE double log_series(double f, double e) {
  const double s = f * f, s2 = s * s, s4 = s2 * s2, s8 = s4 * s4;
  const double c0 = 1.0 / 3.0 + s * (1.0 / 5.0), c2 = 1.0 / 7.0 + s * (1.0 / 9.0);
  const double c4 = 1.0 / 11.0 + s * (1.0 / 13.0), c6 = 1.0 / 15.0 + s * (1.0 / 17.0);
  const double c8 = 1.0 / 19.0 + s * (1.0 / 21.0);
  const double p = (c0 + s2 * c2) + s4 * (c4 + s2 * c6) + s8 * c8;
  return e * 0x1.62e42fefa3800p-1 + (e * 0x1.ef35793c76730p-45 + (2.0 * f + 2.0 * f * s * p));
}
SUREFOOT_INLINE double fast_log(double x) {
  const Mantissa v = mantissa(x);
  return log_series((v.m - 1.0) / (v.m + 1.0), v.e);
}
// Three logarithms for one division.
struct Logs {
  double a, b, c;
};
SUREFOOT_INLINE Logs fast_logs(double a, double b, double c) {
  const Mantissa u = mantissa(a), v = mantissa(b), w = mantissa(c);
  const double du = u.m + 1.0, dv = v.m + 1.0, dw = w.m + 1.0, uv = du * dv;
  const double over = 1.0 / (uv * dw), over_uv = over * dw;
  return {log_series((u.m - 1.0) * (over_uv * dv), u.e), log_series((v.m - 1.0) * (over_uv * du), v.e),
          log_series((w.m - 1.0) * (over * uv), w.e)};
}

// Gamma functions by Stirling's series at z = x + 7 and the recurrence back to x (Abramowitz & Stegun
// 6.1.15, 6.1.40): P = x (x+1) ... (x+6), its derivatives give the digamma and trigamma corrections.
struct Shifted {
  double z, product, first, second;
};

SUREFOOT_INLINE double shift_product(double x) {
  double p = x;
  p *= x + 1.0;
  p *= x + 2.0;
  p *= x + 3.0;
  p *= x + 4.0;
  p *= x + 5.0;
  p *= x + 6.0;
  return p;
}

// P, P' and P'' of the shift.
SUREFOOT_INLINE Shifted shift(double x) {
  double p = x, d = 1.0, dd = 0.0;
#pragma GCC unroll 8
  for (int k = 1; k <= 6; ++k) {
    const double y = x + k;
    dd = dd * y + 2.0 * d;
    d = d * y + p;
    p = p * y;
  }
  return {x + 7.0, p, d, dd};
}

// log Gamma(z) for z >= 7, given log z and 1/z.
SUREFOOT_INLINE double stirling(double z, double log_z, double inverse) {
  const double s = inverse * inverse;
  double p = -691.0 / 360360.0;
  p = p * s + 1.0 / 1188.0;
  p = p * s - 1.0 / 1680.0;
  p = p * s + 1.0 / 1260.0;
  p = p * s - 1.0 / 360.0;
  p = p * s + 1.0 / 12.0;
  return (z - 0.5) * log_z - z + 0.91893853320467274178 + p * inverse;
}
// digamma(z) for z >= 7.
SUREFOOT_INLINE double digamma_tail(double log_z, double inverse) {
  const double s = inverse * inverse;
  double p = 691.0 / 32760.0;
  p = p * s - 1.0 / 132.0;
  p = p * s + 1.0 / 240.0;
  p = p * s - 1.0 / 252.0;
  p = p * s + 1.0 / 120.0;
  p = p * s - 1.0 / 12.0;
  return log_z - 0.5 * inverse + p * s;
}
// trigamma(z) for z >= 7.
SUREFOOT_INLINE double trigamma_tail(double inverse) {
  const double s = inverse * inverse;
  double p = -691.0 / 2730.0;
  p = p * s + 5.0 / 66.0;
  p = p * s - 1.0 / 30.0;
  p = p * s + 1.0 / 42.0;
  p = p * s - 1.0 / 30.0;
  p = p * s + 1.0 / 6.0;
  return inverse + 0.5 * s + p * s * inverse;
}

SUREFOOT_INLINE double fast_lgamma(double x) {
  const double z = x + 7.0;
  return stirling(z, fast_log(z), 1.0 / z) - fast_log(shift_product(x));
}
SUREFOOT_INLINE double fast_digamma(double x) {
  const Shifted s = shift(x);
  return digamma_tail(fast_log(s.z), 1.0 / s.z) - s.first / s.product;
}

// exp(x^2) erfc(x) for x >= 0: Chebyshev series in (x - 3.75) / (x + 3.75) of (1 + 2 x) times it
// (Shepherd & Laframboise 1981); coefficients in cpp/erfcx.inc, made by tests/kernels/make_erfcx.py.
SUREFOOT_INLINE double fast_erfcx(double x) {
  static constexpr double c[] = {
#include "erfcx.inc"
  };
  constexpr int n = sizeof(c) / sizeof(c[0]);
  const double t = (x - 3.75) / (x + 3.75), t2 = 2.0 * t;
  double b1 = 0.0, b2 = 0.0;
#pragma GCC unroll 32
  for (int k = n - 1; k >= 1; --k) {
    const double b = t2 * b1 - b2 + c[k];
    b2 = b1;
    b1 = b;
  }
  return (t * b1 - b2 + c[0]) / (1.0 + 2.0 * x);
}

// Sum in a fixed order of eight lanes, the same for every vector width.
SUREFOOT_INLINE double lane_sum(const double* v, std::int64_t n) {
  double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (int l = 0; l < 8; ++l) lane[l] += v[k + l];
  for (int l = 0; k < n; ++k, ++l) lane[l] += v[k];
  return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}
SUREFOOT_INLINE double lane_dot(const double* a, const double* b, std::int64_t n) {
  double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (int l = 0; l < 8; ++l) lane[l] += a[k + l] * b[k + l];
  for (int l = 0; k < n; ++k, ++l) lane[l] += a[k] * b[k];
  return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

}  // namespace surefoot
