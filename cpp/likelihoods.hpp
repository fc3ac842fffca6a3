// Likelihoods of one observation given its linear predictor eta: value, first and second derivative,
// expected information, and derivatives by the shape parameters. Each struct is one family.
//
// shape[0], shape[1]: beta (phi, -), gaussian (sigma, -), student (sigma, nu), skew normal (sigma,
// lambda). first, second: beta (logit y, log(1 - y)); others (y, -).
#pragma once

#include <cmath>

#include "special.hpp"

namespace surefoot {

struct Terms {
  double value, gradient, curvature, information, by_first, by_second;
};

// y ~ Beta(mu phi, (1 - mu) phi), logit mu = eta (thesis Eq. 5.3, errata thesis-41).
struct BetaFamily {
  double phi, log_gamma, digamma_phi;
  explicit BetaFamily(const double* shape)
      : phi(shape[0]), log_gamma(fast_lgamma(shape[0])), digamma_phi(fast_digamma(shape[0])) {}

  struct Means {
    double mu, nu, a, b;
  };
  SUREFOOT_INLINE Means means(double eta) const {
    // beyond +-250 the density no longer changes in double precision
    eta = eta > 250.0 ? 250.0 : eta;
    eta = eta < -250.0 ? -250.0 : eta;
    const double e = fast_exp(-(eta < 0 ? -eta : eta));
    const double large = 1.0 / (1.0 + e), small = e * large;
    const double mu = eta < 0 ? small : large, nu = eta < 0 ? large : small;
    return {mu, nu, mu * phi, nu * phi};
  }
  // log Gamma(a) + log Gamma(b). Products of a's and b's factors share divisions and a logarithm; their
  // size limits phi to about 1e18, far beyond any data.
  SUREFOOT_INLINE double gammas(const Means& m) const {
    const double za = m.a + 7.0, zb = m.b + 7.0, inverse = 1.0 / (za * zb);
    const Logs l = fast_logs(za, zb, shift_product(m.a) * shift_product(m.b));
    return stirling(za, l.a, inverse * zb) + stirling(zb, l.b, inverse * za) - l.c;
  }
  SUREFOOT_INLINE double gammas(double eta) const { return gammas(means(eta)); }
  SUREFOOT_INLINE double value(double eta, double logit_y, double log1m_y) const {
    const Means m = means(eta);
    return log_gamma - gammas(m) + (m.a - 1.0) * logit_y + (phi - 2.0) * log1m_y;
  }
  SUREFOOT_INLINE Terms terms(double eta, double logit_y, double log1m_y) const {
    const Means m = means(eta);
    const Shifted sa = shift(m.a), sb = shift(m.b);
    const double both = sa.product * sb.product, tails = sa.z * sb.z, shared = 1.0 / (both * tails);
    const double inverse = shared * both, over = shared * tails;
    const double ia = inverse * sb.z, ib = inverse * sa.z;
    const double ra = over * sb.product, rb = over * sa.product;
    const Logs l = fast_logs(sa.z, sb.z, both);
    const double la = l.a, lb = l.b;
    const double gammas = stirling(sa.z, la, ia) + stirling(sb.z, lb, ib) - l.c;
    const double qa = sa.first * ra, qb = sb.first * rb;
    const double psi_a = digamma_tail(la, ia) - qa, psi_b = digamma_tail(lb, ib) - qb;
    const double tri_a = trigamma_tail(ia) + (qa * qa - sa.second * ra);
    const double tri_b = trigamma_tail(ib) + (qb * qb - sb.second * rb);
    Terms t;
    t.value = log_gamma - gammas + (m.a - 1.0) * logit_y + (phi - 2.0) * log1m_y;
    // d mu / d eta = mu (1 - mu), times phi
    const double slope = m.a * m.nu, pull = logit_y - psi_a + psi_b;
    t.gradient = slope * pull;
    t.information = slope * slope * (tri_a + tri_b);
    t.curvature = t.information - slope * (m.nu - m.mu) * pull;
    t.by_first = digamma_phi - m.mu * psi_a - m.nu * psi_b + m.mu * logit_y + log1m_y;
    t.by_second = 0.0;
    return t;
  }
};

struct GaussianFamily {
  double precision, constant, sigma;
  explicit GaussianFamily(const double* shape)
      : precision(1.0 / (shape[0] * shape[0])),
        constant(-std::log(shape[0]) - 0.91893853320467274178),
        sigma(shape[0]) {}
  SUREFOOT_INLINE double value(double eta, double y, double) const {
    const double r = y - eta;
    return constant - 0.5 * r * r * precision;
  }
  SUREFOOT_INLINE Terms terms(double eta, double y, double) const {
    const double r = y - eta;
    return {constant - 0.5 * r * r * precision, r * precision, precision, precision,
            (r * r * precision - 1.0) / sigma, 0.0};
  }
};

// Student t around eta with scale sigma and nu degrees of freedom.
struct StudentFamily {
  double sigma, nu, constant, by_nu_constant, inverse;
  explicit StudentFamily(const double* shape) : sigma(shape[0]), nu(shape[1]) {
    constant = fast_lgamma(0.5 * (nu + 1.0)) - fast_lgamma(0.5 * nu) -
               0.5 * std::log(nu * 3.14159265358979323846) - std::log(sigma);
    by_nu_constant = 0.5 * (fast_digamma(0.5 * (nu + 1.0)) - fast_digamma(0.5 * nu) - 1.0 / nu);
    inverse = 1.0 / (nu * sigma * sigma);
  }
  SUREFOOT_INLINE double value(double eta, double y, double) const {
    const double r = y - eta;
    return constant - 0.5 * (nu + 1.0) * fast_log(1.0 + r * r * inverse);
  }
  SUREFOOT_INLINE Terms terms(double eta, double y, double) const {
    const double r = y - eta, q = r * r * inverse, d = 1.0 / (1.0 + q), l = fast_log(1.0 + q);
    const double base = (nu + 1.0) * inverse * d;
    return {constant - 0.5 * (nu + 1.0) * l,
            base * r,
            base * (1.0 - q) * d,
            (nu + 1.0) / ((nu + 3.0) * sigma * sigma),
            ((nu + 1.0) * q * d - 1.0) / sigma,
            by_nu_constant - 0.5 * l + 0.5 * (nu + 1.0) * q * d / nu};
  }
};

// Skew normal with mean eta and standard deviation sigma (brms' parameterisation; thesis Algorithm 4.2):
// delta = lambda / sqrt(1 + lambda^2), omega = sigma / sqrt(1 - 2 delta^2 / pi),
// xi = eta - omega delta sqrt(2 / pi).
struct SkewNormalFamily {
  double sigma, lambda, omega, offset, constant, omega_by_lambda, offset_by_lambda;
  explicit SkewNormalFamily(const double* shape) : sigma(shape[0]), lambda(shape[1]) {
    constexpr double two_over_pi = 0.63661977236758134308;
    const double root = std::sqrt(1.0 + lambda * lambda), delta = lambda / root;
    const double shrink = 1.0 - two_over_pi * delta * delta;
    omega = sigma / std::sqrt(shrink);
    const double by_lambda = 1.0 / (root * root * root);  // d delta / d lambda
    omega_by_lambda = omega * two_over_pi * delta / shrink * by_lambda;
    const double c = std::sqrt(two_over_pi);
    offset = omega * delta * c;
    offset_by_lambda = c * (omega_by_lambda * delta + omega * by_lambda);
    constant = 0.69314718055994530942 - 0.91893853320467274178 - std::log(omega);
  }
  struct Tail {
    double log_cdf, mills;  // log Phi(t) and phi(t) / Phi(t)
  };
  SUREFOOT_INLINE Tail tail(double t) const {
    double x = (t < 0 ? -t : t);
    x = x > 1e8 ? 1e8 : x;
    const double e = fast_erfcx(x * 0.70710678118654752440);
    const double half_square = 0.5 * x * x;
    const double g = fast_exp(half_square > 690.0 ? -690.0 : -half_square);
    const double upper = 1.0 - 0.5 * g * e;  // Phi(|t|)
    const double lower = 0.5 * e;            // Phi(-|t|) exp(t^2 / 2)
    const bool negative = t < 0;
    const double log_part = fast_log(negative ? lower : upper);
    const double mills = 0.39894228040143267794 * (negative ? 1.0 / lower : g / upper);
    return {negative ? log_part - half_square : log_part, mills};
  }
  SUREFOOT_INLINE double value(double eta, double y, double) const {
    const double z = (y - eta + offset) / omega;
    return constant - 0.5 * z * z + tail(lambda * z).log_cdf;
  }
  SUREFOOT_INLINE Terms terms(double eta, double y, double) const {
    const double z = (y - eta + offset) / omega;
    const Tail p = tail(lambda * z);
    const double by_z = -z + lambda * p.mills;
    const double by_omega = -(1.0 + by_z * z) / omega, by_offset = by_z / omega;
    const double curvature =
        (1.0 + lambda * lambda * p.mills * (p.mills + lambda * z)) / (omega * omega);
    return {constant - 0.5 * z * z + p.log_cdf,
            -by_z / omega,
            curvature,
            curvature,
            by_omega * omega / sigma + by_offset * offset / sigma,
            p.mills * z + by_omega * omega_by_lambda + by_offset * offset_by_lambda};
  }
};

}  // namespace surefoot
