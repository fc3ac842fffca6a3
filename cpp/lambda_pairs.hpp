// LambdaMART gradients of one query: every pair with a document above the truncation level.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "clones.hpp"
#include "risk_change.hpp"
#include "swap_deltas.hpp"

namespace surefoot {

// kDouble is ours; the other two repeat a booster's own rounding so that trees agree exactly.
enum class Arithmetic : int { kDouble = 0, kLightGBM = 1, kXGBoost = 2 };
// kRiskFree scales a query by what its lambdas would sum to without risk, so that risk weights stay.
enum class Normalise : int { kOff = 0, kRiskFree = 1, kWeighted = 2 };

struct LambdaSpec {
  const std::int64_t* offset = nullptr;   // queries + 1
  const std::int32_t* order = nullptr;    // position -> document within its query
  const double* score = nullptr;
  const float* label = nullptr;
  const double* gain = nullptr;           // the measure's gain of each document
  const double* booster_gain = nullptr;   // null: weigh pairs by the measure itself
  const double* booster_inverse = nullptr;
  const double* discount = nullptr;
  const float* weight = nullptr;          // of each document, may be null
  const double* sigmoid_table = nullptr;  // kLightGBM
  std::int64_t table_size = 0, truncation = 0;
  double sigmoid = 1, hessian_scale = 1;
  Arithmetic arithmetic = Arithmetic::kDouble;
  Normalise normalise = Normalise::kOff;
  MeasureSpec measure;
  RiskSpec risk;
  float* gradient32 = nullptr;
  float* hessian32 = nullptr;
  double* gradient64 = nullptr;  // instead of the 32-bit outputs
  double* hessian64 = nullptr;
};

// exp(x) to 2 ulp for |x| <= 700, in a form that compilers vectorise.
SUREFOOT_INLINE double fast_exp(double x) {
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  x = std::min(std::max(x, -700.0), 700.0);
  const double shifted = x * 1.4426950408889634074 + kShift;
  const double n = shifted - kShift;
  const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  double p = 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  std::uint64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023) << 52;
  double scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

class QueryLambdas {
 public:
  explicit QueryLambdas(const LambdaSpec& spec) : s_(spec), geo_(spec.risk) {}

  SUREFOOT_INLINE void run(std::int64_t q) {
    load(q);
    if (n_ > 1) {
      const std::int64_t rows = std::min(n_ - 1, s_.truncation);
      for (std::int64_t i = 0; i < rows; ++i) {
        pair_weights(i, q);
        switch (s_.arithmetic) {
          case Arithmetic::kDouble: add_double(i); break;
          case Arithmetic::kLightGBM: add_lightgbm(i); break;
          case Arithmetic::kXGBoost: add_xgboost(i); break;
        }
      }
    }
    store(q);
  }

 private:
  const LambdaSpec& s_;
  GeoChange geo_;
  RankedQuery ranked_;
  std::int64_t n_ = 0;
  bool spread_ = false;  // best and worst score differ
  double sum_ = 0, sum_risk_free_ = 0, booster_inverse_ = 0;
  double slope_up_ = 1, slope_down_ = 1;
  bool narrow_ = true;   // exp(sigmoid s) of all documents fits in a double
  std::vector<double> score_, booster_gain_, delta_, base_, weight_, side_, gap_, lambda_, hessian_;
  std::vector<double> power_, curve_, free_;
  std::vector<float> lambda32_, hessian32_, label_, score32_, pull32_, curve32_;

  SUREFOOT_INLINE void load(std::int64_t q) {
    const std::int64_t begin = s_.offset[q];
    n_ = s_.offset[q + 1] - begin;
    const auto size = static_cast<std::size_t>(n_);
    for (auto* buffer : {&score_, &booster_gain_, &delta_, &base_, &weight_, &side_, &gap_,
                         &lambda_, &hessian_, &power_, &curve_, &free_, &ranked_.gain}) {
      if (buffer->size() < size) buffer->resize(size);
    }
    for (auto* buffer : {&lambda32_, &hessian32_, &label_, &score32_, &pull32_, &curve32_}) {
      if (buffer->size() < size) buffer->resize(size);
    }
    std::fill_n(lambda_.begin(), size, 0.0);
    std::fill_n(hessian_.begin(), size, 0.0);
    std::fill_n(lambda32_.begin(), size, 0.0f);
    std::fill_n(hessian32_.begin(), size, 0.0f);
    const std::int32_t* order = s_.order + begin;
    for (std::int64_t i = 0; i < n_; ++i) {
      const std::int64_t row = begin + order[i];
      score_[i] = s_.score[row];
      label_[i] = s_.label[row];
      ranked_.gain[i] = s_.gain[row];
      if (s_.booster_gain) booster_gain_[i] = s_.booster_gain[row];
    }
    if (s_.arithmetic == Arithmetic::kXGBoost) {
      for (std::int64_t i = 0; i < n_; ++i) score32_[i] = static_cast<float>(score_[i]);
    }
    spread_ = n_ > 0 && score_[0] != score_[n_ - 1];
    if (s_.arithmetic == Arithmetic::kDouble && n_ > 0) {
      const double top = score_[0], sigmoid = s_.sigmoid;
      narrow_ = sigmoid * (top - score_[n_ - 1]) < 300;
      const double* s = score_.data();
      double* power = power_.data();
      if (narrow_) {
        for (std::int64_t i = 0; i < n_; ++i) power[i] = fast_exp(sigmoid * (s[i] - top));
      }
    }
    sum_ = sum_risk_free_ = 0;
    booster_inverse_ = s_.booster_inverse ? s_.booster_inverse[q] : 0;
    ranked_.n = n_;
    if (needs_delta()) ranked_.prepare(s_.measure, q);
    if (is_geo() && geo_.defined()) {
      geo_.query(q);
      slope_up_ = geo_.slope(1);
      slope_down_ = geo_.slope(-1);
    }
  }

  bool is_geo() const { return s_.risk.kind == Risk::kGeo || s_.risk.kind == Risk::kGeoExact; }
  bool needs_delta() const {
    return s_.booster_gain == nullptr || s_.risk.kind == Risk::kSwap || is_geo();
  }

  // weight_[j] = |change of the objective|, base_[j] = the same without risk.
  SUREFOOT_INLINE void pair_weights(std::int64_t i, std::int64_t q) {
    const std::int64_t n = n_;
    const float li = label_[i];
    const float* label = label_.data();
    double* side = side_.data();
    double* base = base_.data();
    double* weight = weight_.data();
    double* delta = delta_.data();
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n; ++j) {
      side[j] = static_cast<double>(li > label[j]) - static_cast<double>(li < label[j]);
    }
    const bool seen = needs_delta() && ranked_.sees(i);
    if (seen) ranked_.row(i, side, delta);
    if (s_.booster_gain) {
      const double gi = booster_gain_[i], di = s_.discount[i], inverse = booster_inverse_;
      const double* g = booster_gain_.data();
      const double* d = s_.discount;
      if (s_.arithmetic == Arithmetic::kXGBoost) {
        SUREFOOT_DISTINCT
        for (std::int64_t j = i + 1; j < n; ++j) {
          const double original = gi * di + g[j] * d[j];
          const double changed = g[j] * di + gi * d[j];
          base[j] = std::abs((original - changed) * inverse);
        }
      } else {
        SUREFOOT_DISTINCT
        for (std::int64_t j = i + 1; j < n; ++j) {
          base[j] = std::abs(gi - g[j]) * std::abs(di - d[j]) * inverse;
        }
      }
    } else if (seen) {
      SUREFOOT_DISTINCT
      for (std::int64_t j = i + 1; j < n; ++j) base[j] = std::abs(delta[j]);
    } else {
      std::fill(base + i + 1, base + n, 0.0);
    }
    switch (s_.risk.kind) {
      case Risk::kNone:
        SUREFOOT_DISTINCT
        for (std::int64_t j = i + 1; j < n; ++j) weight[j] = base[j];
        break;
      case Risk::kScale: {
        const double factor = s_.risk.alpha[q];
        SUREFOOT_DISTINCT
        for (std::int64_t j = i + 1; j < n; ++j) weight[j] = base[j] * factor;
        break;
      }
      case Risk::kSwap:
        if (seen) {
          swap_weights(i, s_.risk.excess[q], s_.risk.alpha[q]);
        } else {
          unseen_swap_weights(i, s_.risk.excess[q], s_.risk.alpha[q]);
        }
        break;
      case Risk::kGeo:
      case Risk::kGeoExact:
        if (seen) {
          geo_weights(i);
        } else {
          unseen_geo_weights(i);
        }
        break;
    }
    if (s_.normalise != Normalise::kOff && spread_) {
      const double si = score_[i];
      const double* s = score_.data();
      if (s_.arithmetic == Arithmetic::kXGBoost) {
        SUREFOOT_DISTINCT
        for (std::int64_t j = i + 1; j < n; ++j) {
          weight[j] /= static_cast<double>(std::abs(score32_[i] - score32_[j])) + 0.01;
        }
      } else if (s_.arithmetic == Arithmetic::kLightGBM) {
        const auto floor = static_cast<double>(0.01f);
        SUREFOOT_DISTINCT
        for (std::int64_t j = i + 1; j < n; ++j) weight[j] /= floor + std::abs(si - s[j]);
      }
    }
  }

  // The change of f over the change of the measure, times the pair's own weight; where the measure
  // does not see the swap (both below the cut-off) the slope of f takes its place.
  SUREFOOT_INLINE void swap_weights(std::int64_t i, double excess, double alpha) {
    const double* delta = delta_.data();
    const double* base = base_.data();
    const double* side = side_.data();
    double* weight = weight_.data();
    if (!s_.booster_gain) {
      SUREFOOT_DISTINCT
      for (std::int64_t j = i + 1; j < n_; ++j) {
        weight[j] = std::abs(swap_change(excess, alpha, delta[j]));
      }
      return;
    }
    const double at_rest = excess < 0 ? 1.0 : 0.0, at_tie = excess == 0 ? 1.0 : 0.0;
    const double now = std::min(excess, 0.0);
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n_; ++j) {
      const double d = delta[j];
      const double moved = (std::min(excess + d, 0.0) - now) / (d == 0 ? 1.0 : d);
      const double still = at_rest + at_tie * std::max(side[j], 0.0);
      weight[j] = base[j] * (1 + alpha * (d == 0 ? still : moved));
    }
  }

  SUREFOOT_INLINE void unseen_swap_weights(std::int64_t i, double excess, double alpha) {
    const double* base = base_.data();
    const double* side = side_.data();
    double* weight = weight_.data();
    const double at_rest = excess < 0 ? 1 + alpha : 1.0, at_tie = excess == 0 ? alpha : 0.0;
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n_; ++j) {
      weight[j] = base[j] * (at_rest + at_tie * std::max(side[j], 0.0));
    }
  }

  SUREFOOT_INLINE void geo_weights(std::int64_t i) {
    const double* delta = delta_.data();
    const double* base = base_.data();
    const double* side = side_.data();
    double* weight = weight_.data();
    if (!geo_.defined()) {  // no effectiveness at all yet: GeoRisk has no slope, use the measure
      std::copy(base + i + 1, base + n_, weight + i + 1);
      return;
    }
    double* rate = gap_.data();
    geo_.rates(delta + i + 1, n_ - i - 1, rate + i + 1);
    const double up = s_.booster_gain ? slope_up_ : 0, down = s_.booster_gain ? slope_down_ : 0;
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n_; ++j) {
      const double still = side[j] < 0 ? up : down, here = rate[j], whole = base[j];
      const double found = delta[j] == 0 ? still : here;
      weight[j] = side[j] == 0 || found < 0 ? 0.0 : whole * found;
    }
  }

  SUREFOOT_INLINE void unseen_geo_weights(std::int64_t i) {
    const double* base = base_.data();
    const double* side = side_.data();
    double* weight = weight_.data();
    const bool defined = geo_.defined();
    const double up = defined ? std::max(slope_up_, 0.0) : 1.0;
    const double down = defined ? std::max(slope_down_, 0.0) : 1.0;
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n_; ++j) {
      const double whole = base[j] * (side[j] < 0 ? up : down);
      weight[j] = side[j] == 0 ? 0.0 : whole;
    }
  }

  // Lambdas of row i from its pair weights. Scores become exp(sigmoid s) once per document, so that a
  // pair costs one division: p = E_other / (E_i + E_j), shared with the distance in score.
  SUREFOOT_INLINE void add_double(std::int64_t i) {
    const std::int64_t n = n_;
    const double si = score_[i], sigmoid = s_.sigmoid, scale = s_.hessian_scale * sigmoid * sigmoid;
    const double* s = score_.data();
    const double* side = side_.data();
    const double* weight = weight_.data();
    const double* base = base_.data();
    double* lambda = lambda_.data();
    double* hessian = hessian_.data();
    double* pull = gap_.data();
    double* curve = curve_.data();
    double* free = free_.data();
    const bool apart = s_.normalise != Normalise::kOff && spread_;
    const double floor = apart ? 0.01 : 1.0, slope = apart ? 1.0 : 0.0;
    if (narrow_) {
      const double* power = power_.data();
      const double own = power[i];
      SUREFOOT_DISTINCT
      for (std::int64_t j = i + 1; j < n; ++j) {
        const double gap = floor + slope * std::abs(si - s[j]);
        const double sum = own + power[j];
        const double inverse = 1 / (sum * gap);
        const double other = power[j];
        const double p = (side[j] > 0 ? other : own) * gap * inverse;
        const double per_gap = sigmoid * p * sum * inverse;
        pull[j] = per_gap * weight[j];
        free[j] = per_gap * base[j];
        curve[j] = scale * p * (1 - p) * weight[j] * sum * inverse;
      }
    } else {
      SUREFOOT_DISTINCT
      for (std::int64_t j = i + 1; j < n; ++j) {
        const double gap = floor + slope * std::abs(si - s[j]);
        const double p = 1 / (1 + fast_exp(sigmoid * side[j] * (si - s[j])));
        pull[j] = sigmoid * p * weight[j] / gap;
        free[j] = sigmoid * p * base[j] / gap;
        curve[j] = scale * p * (1 - p) * weight[j] / gap;
      }
    }
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n; ++j) {
      lambda[j] += side[j] * pull[j];
      hessian[j] += curve[j];
    }
    sum_ += 2 * lane_sum(pull, i + 1, n);
    sum_risk_free_ += 2 * lane_sum(free, i + 1, n);
    hessian[i] += lane_sum(curve, i + 1, n);
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n; ++j) pull[j] *= side[j];
    lambda[i] -= lane_sum(pull, i + 1, n);
  }

  // Eight running sums, added up at the end: one order of additions on every machine.
  static SUREFOOT_INLINE double lane_sum(const double* v, std::int64_t begin, std::int64_t end) {
    constexpr int kLanes = 8;
    typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double))));
    Lanes sum = {};
    std::int64_t j = begin;
    for (; j + kLanes <= end; j += kLanes) {
      Lanes next;
      std::memcpy(&next, v + j, sizeof next);
      sum += next;
    }
    double total = 0;
    for (; j < end; ++j) total += v[j];
    for (int lane = 0; lane < kLanes; ++lane) total += sum[lane];
    return total;
  }

  // LightGBM's rank_objective.hpp: a table for the sigmoid, 32-bit sums in the order of the pairs.
  // Pairs of equal labels join with zeros, which change no sum and leave nothing to guess.
  SUREFOOT_INLINE void add_lightgbm(std::int64_t i) {
    const std::int64_t n = n_;
    const double si = score_[i], sigmoid = s_.sigmoid;
    const double low = -50 / sigmoid / 2, high = -low;
    const double factor = static_cast<double>(s_.table_size) / (high - low);
    const double* s = score_.data();
    const double* side = side_.data();
    const double* weight = weight_.data();
    const double* table = s_.sigmoid_table;
    const auto last = static_cast<double>(s_.table_size - 1);
    float* lambda = lambda32_.data();
    float* hessian = hessian32_.data();
    double* pull = gap_.data();
    float* pull32 = pull32_.data();
    float* curve32 = curve32_.data();
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n; ++j) {
      const double apart = si - s[j];
      const double difference = side[j] > 0 ? apart : -apart;
      const double cell = std::min(std::max((difference - low) * factor, 0.0), last);
      const double p = table[static_cast<std::int32_t>(cell)];
      const double kept = weight[j];
      const double w = side[j] == 0 ? 0.0 : kept;
      pull[j] = p * (-sigmoid * w);
      const auto here = static_cast<float>(pull[j]);
      pull32[j] = side[j] > 0 ? here : -here;
      curve32[j] = static_cast<float>(p * (1 - p) * (sigmoid * sigmoid * w));
    }
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n; ++j) {
      lambda[j] -= pull32[j];
      hessian[j] += curve32[j];
    }
    float own = lambda[i], own_hessian = hessian[i];
    double sum = sum_;
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n; ++j) {
      own += pull32[j];
      own_hessian += curve32[j];
      sum -= 2 * pull[j];
    }
    lambda[i] = own;
    hessian[i] = own_hessian;
    sum_ = sum;
  }

  // XGBoost's lambdarank_obj.h: a 32-bit sigmoid, the hessian doubled, 32-bit sums.
  SUREFOOT_INLINE void add_xgboost(std::int64_t i) {
    const std::int64_t n = n_;
    const float si = score32_[i];
    const float* s = score32_.data();
    const double* side = side_.data();
    const double* weight = weight_.data();
    float* lambda = lambda32_.data();
    float* hessian = hessian32_.data();
    float* pull32 = pull32_.data();
    float* curve32 = curve32_.data();
    double* pull = gap_.data();
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n; ++j) {
      const float apart = si - s[j];
      const float fall = side[j] > 0 ? -apart : apart;
      pull32[j] = fall < 88.7f ? fall : 88.7f;
    }
    // the C library's own expf, as XGBoost calls it; pairs of equal labels do without
    for (std::int64_t j = i + 1; j < n; ++j) {
      if (side[j] != 0) pull32[j] = std::exp(pull32[j]);
    }
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n; ++j) {
      const float denominator = pull32[j] + 1.0f + 1e-16f;
      const double p = 1.0f / denominator, kept = weight[j];
      const double w = side[j] == 0 ? 0.0 : kept;
      const auto here = static_cast<float>((p - 1.0) * w);
      const double spread = p * (1.0 - p);
      curve32[j] = static_cast<float>((spread > 1e-16 ? spread : 1e-16) * w * 2.0);
      pull32[j] = side[j] > 0 ? here : -here;
      pull[j] = static_cast<double>(here);
    }
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n; ++j) {
      lambda[j] -= pull32[j];
      hessian[j] += curve32[j];
    }
    float own = lambda[i], own_hessian = hessian[i];
    double sum = sum_;
    for (std::int64_t j = i + 1; j < n; ++j) {
      own += pull32[j];
      own_hessian += curve32[j];
      sum += -2.0 * pull[j];
    }
    lambda[i] = own;
    hessian[i] = own_hessian;
    sum_ = sum;
  }

  SUREFOOT_INLINE void store(std::int64_t q) {
    const std::int64_t begin = s_.offset[q];
    const std::int32_t* order = s_.order + begin;
    const double sum = s_.normalise == Normalise::kRiskFree && s_.risk.kind != Risk::kNone
                           ? sum_risk_free_
                           : sum_;
    const bool scaled = s_.normalise != Normalise::kOff && sum > 0;
    const double factor = scaled ? std::log2(1 + sum) / sum : 1;
    if (s_.arithmetic == Arithmetic::kDouble) {
      for (std::int64_t i = 0; i < n_; ++i) {
        const std::int64_t row = begin + order[i];
        const double weight = s_.weight ? s_.weight[row] : 1.0;
        const double g = lambda_[i] * factor * weight, h = hessian_[i] * factor * weight;
        if (s_.gradient64) {
          s_.gradient64[row] = g;
          s_.hessian64[row] = h;
        } else {
          s_.gradient32[row] = static_cast<float>(g);
          s_.hessian32[row] = static_cast<float>(h);
        }
      }
      return;
    }
    const auto factor32 = static_cast<float>(factor);
    const bool whole = s_.arithmetic == Arithmetic::kLightGBM;
    for (std::int64_t i = 0; i < n_; ++i) {
      const std::int64_t row = begin + order[i];
      float g = lambda32_[i], h = hessian32_[i];
      if (scaled) {
        g = whole ? static_cast<float>(g * factor) : g * factor32;
        h = whole ? static_cast<float>(h * factor) : h * factor32;
      }
      if (s_.weight) {
        g *= s_.weight[row];
        h *= s_.weight[row];
      }
      s_.gradient32[row] = g;
      s_.hessian32[row] = h;
    }
  }
};

}  // namespace surefoot
