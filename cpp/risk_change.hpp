// What a change of one query's effectiveness does to a risk-sensitive objective.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "clones.hpp"

namespace surefoot {

enum class Risk : int { kNone = 0, kSwap = 1, kScale = 2, kGeo = 3, kGeoExact = 4 };

struct RiskSpec {
  Risk kind = Risk::kNone;
  const double* excess = nullptr;  // M - M_b of each query (kSwap)
  const double* alpha = nullptr;   // the query's own alpha (kSwap), or its factor (kScale)
  // GeoRisk (Dincer et al. 2016): this model's row of the systems x topics matrix, column totals
  const double* value = nullptr;  // M of each query
  const double* column = nullptr; // T_j, this model included
  double row_total = 0, grand_total = 0, z_total = 0, geo_alpha = 0;
  std::int64_t topics = 0;
  // exact mode: topics sorted by x / e with running sums of x / sqrt(e) and sqrt(e)
  const double* ratio = nullptr;
  const double* sum_a = nullptr;
  const double* sum_b = nullptr;
  std::int64_t n_ratio = 0;
};

// f(M + d - M_b) - f(M - M_b), f(x) = x for gains and (1 + alpha) x for losses: errata ZRisk-5.
SUREFOOT_INLINE double swap_change(double excess, double alpha, double d) {
  return d + alpha * (std::min(excess + d, 0.0) - std::min(excess, 0.0));
}

// GeoRisk of one query's swap, times the number of topics (the plain differences are O(1/c)).
class GeoChange {
 public:
  explicit GeoChange(const RiskSpec& spec) : s_(spec) {
    c_ = static_cast<double>(s_.topics);
    u_ = s_.z_total / c_;
    phi_ = cumulative(u_);
    product_ = s_.row_total / c_ * phi_;
    root_ = std::sqrt(product_);
    if (s_.ratio) middle_ = std::lower_bound(s_.ratio, s_.ratio + s_.n_ratio, 1.0) - s_.ratio;
    // Phi(u + d) - Phi(u) = density * sum_k (-1)^(k-1) He_(k-1)(u) d^k / k!
    const double density = std::exp(-u_ * u_ / 2) * 0.39894228040143267794;
    double previous = 0, hermite = 1, factorial = 1, sign = 1;
    for (int k = 1; k <= kTerms; ++k) {
      factorial *= k;
      series_[k - 1] = density * sign * hermite / factorial;
      const double next = u_ * hermite - (k - 1) * previous;
      previous = hermite;
      hermite = next;
      sign = -sign;
    }
  }

  bool defined() const { return product_ > 0; }

  void query(std::int64_t q) {
    x_ = s_.value[q];
    t_ = s_.column[q];
    e_ = s_.grand_total > 0 ? s_.row_total * t_ / s_.grand_total : 0;
    z_ = weighted(standardised(x_, e_));
  }

  // change(d) / d for many changes; where d is 0 the value means nothing. One loop without a branch
  // for the changes that the series serves (and, exact, whose split does not move); the few others
  // are marked and done one by one.
  SUREFOOT_INLINE void rates(const double* d, std::int64_t n, double* rate) const {
    if (s_.kind == Risk::kGeo) {
      many<false>(d, n, rate);
    } else {
      many<true>(d, n, rate);
    }
  }

  double change(double d) const {
    return s_.kind == Risk::kGeo ? refresh(d) : exact(d);
  }

  // Slope at zero in the direction of `sign`.
  double slope(double sign) const {
    const double step = 1e-7 * sign;
    return change(step) / step;
  }

 private:
  static constexpr int kTerms = 8;
  static constexpr double kMark = -1e308;  // no rate is that low
  static constexpr double kSeries = 0.05;  // up to here the series is exact to rounding
  RiskSpec s_;
  double c_ = 1, u_ = 0, phi_ = 0.5, product_ = 0, root_ = 0, x_ = 0, t_ = 0, e_ = 0, z_ = 0;
  double series_[kTerms] = {};
  std::int64_t middle_ = 0;  // topics below rho = 1 (exact mode)

  static double cumulative(double u) { return 0.5 * std::erfc(-u * 0.70710678118654752440); }
  static double standardised(double x, double e) { return e > 0 ? (x - e) / std::sqrt(e) : 0; }
  double weighted(double z) const { return z < 0 ? (1 + s_.geo_alpha) * z : z; }

  double from_z(double d, double dz) const {
    const double du = dz / c_;
    double dphi = 0;
    if (std::abs(du) < kSeries) {
      for (int k = kTerms - 1; k >= 0; --k) dphi = (dphi + series_[k]) * du;
    } else {
      dphi = cumulative(u_ + du) - phi_;
    }
    const double change = (d * (phi_ + dphi) + s_.row_total * dphi) / c_;
    return c_ * change / (std::sqrt(std::max(product_ + change, 0.0)) + root_);
  }

  // Only this topic's z is renewed (the paper's speed-up; the default: errata ZRisk-3).
  double refresh(double d) const {
    const double e = (s_.row_total + d) * (t_ + d) / (s_.grand_total + d);
    return from_z(d, weighted(standardised(x_ + d, e)) - z_);
  }

  template <bool kExact>
  SUREFOOT_INLINE void many(const double* d, std::int64_t n, double* rate) const {
    const double worse = 1 + s_.geo_alpha, per_topic = 1 / c_, row = s_.row_total;
    const double grand = s_.grand_total, x = x_, t = t_, z_now = z_, phi = phi_, e_now = e_;
    const double product_now = product_, root_now = root_;
    const double root_e = std::sqrt(e_now > 0 ? e_now : 1.0), known = e_now > 0 ? 1.0 : 0.0;
    double series[kTerms];
    std::copy(series_, series_ + kTerms, series);
    // exact: the other topics' z as a / sqrt(rho) - b sqrt(rho), while rho stays between two ratios
    double sum_a = 0, sum_b = 0, low = 0, high = 0;
    if (kExact) {
      sum_a = s_.sum_a[s_.n_ratio] + s_.geo_alpha * s_.sum_a[middle_];
      sum_b = s_.sum_b[s_.n_ratio] + s_.geo_alpha * s_.sum_b[middle_];
      low = middle_ > 0 ? s_.ratio[middle_ - 1] : -1;
      high = middle_ < s_.n_ratio ? s_.ratio[middle_] : HUGE_VAL;
    }
    const double z_total = s_.z_total, to_rho = grand / row;
    SUREFOOT_DISTINCT
    for (std::int64_t j = 0; j < n; ++j) {
      const double step = d[j] == 0 ? 1e-300 : d[j];
      const double share = (row + step) / (grand + step);
      const double e = share * (t + step);
      const double root = std::sqrt(e > 0 ? e : 1.0);
      const double z = e > 0 ? (x + step - e) / root : 0.0;
      double dz = (z < 0 ? worse * z : z) - z_now;
      double plain = 1;
      if (kExact) {
        const double rho = share * to_rho, root_rho = std::sqrt(rho), inverse = 1 / root_rho;
        const double own = known * (x - e_now * rho) * inverse / root_e;
        const double others = sum_a * inverse - sum_b * root_rho - (own < 0 ? worse * own : own);
        dz += others + z_now - z_total;
        plain = rho > low ? plain : 0;
        plain = rho <= high ? plain : 0;
      }
      const double du = dz * per_topic;
      plain = std::abs(du) < kSeries ? plain : 0;
      double dphi = 0;
      for (int k = kTerms - 1; k >= 0; --k) dphi = (dphi + series[k]) * du;
      const double scaled = step * (phi + dphi) + row * dphi;
      const double product = product_now + scaled * per_topic;
      const double found = scaled / ((std::sqrt(product > 0 ? product : 0.0) + root_now) * step);
      rate[j] = plain > 0 ? found : kMark;
    }
    std::int64_t marked = 0;
    for (std::int64_t j = 0; j < n; ++j) marked += rate[j] == kMark;
    if (marked == 0) return;
    for (std::int64_t j = 0; j < n; ++j) {
      if (rate[j] == kMark) rate[j] = d[j] == 0 ? 0.0 : change(d[j]) / d[j];
    }
  }

  // Every expectation moves by one factor rho, so the sum over the other topics is two prefix sums
  // split where x / e crosses rho.
  double exact(double d) const {
    const double rho = (s_.row_total + d) * s_.grand_total / (s_.row_total * (s_.grand_total + d));
    // one swap moves rho by O(1 / c): the split lies a step or two from where it was
    std::int64_t below = middle_;
    while (below < s_.n_ratio && s_.ratio[below] < rho) ++below;
    while (below > 0 && s_.ratio[below - 1] >= rho) --below;
    const double a = s_.sum_a[s_.n_ratio] + s_.geo_alpha * s_.sum_a[below];
    const double b = s_.sum_b[s_.n_ratio] + s_.geo_alpha * s_.sum_b[below];
    const double root = std::sqrt(rho);
    double z = a / root - b * root;
    if (e_ > 0) z -= weighted(standardised(x_, e_ * rho));
    const double e = (s_.row_total + d) * (t_ + d) / (s_.grand_total + d);
    z += weighted(standardised(x_ + d, e));
    return from_z(d, z - s_.z_total);
  }
};

}  // namespace surefoot
