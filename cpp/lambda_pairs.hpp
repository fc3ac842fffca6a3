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
  std::vector<double> score_, booster_gain_, delta_, base_, weight_, side_, gap_, lambda_, hessian_;
  std::vector<float> lambda32_, hessian32_, label_, score32_;

  SUREFOOT_INLINE void load(std::int64_t q) {
    const std::int64_t begin = s_.offset[q];
    n_ = s_.offset[q + 1] - begin;
    const auto size = static_cast<std::size_t>(n_);
    for (auto* buffer : {&score_, &booster_gain_, &delta_, &base_, &weight_, &side_, &gap_,
                         &lambda_, &hessian_, &ranked_.gain}) {
      if (buffer->size() < size) buffer->resize(size);
    }
    for (auto* buffer : {&lambda32_, &hessian32_, &label_, &score32_}) {
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
    for (std::int64_t j = i + 1; j < n; ++j) {
      side[j] = static_cast<double>(li > label[j]) - static_cast<double>(li < label[j]);
    }
    if (needs_delta()) ranked_.row(i, side, delta);
    if (s_.booster_gain) {
      const double gi = booster_gain_[i], di = s_.discount[i], inverse = booster_inverse_;
      const double* g = booster_gain_.data();
      const double* d = s_.discount;
      if (s_.arithmetic == Arithmetic::kXGBoost) {
        for (std::int64_t j = i + 1; j < n; ++j) {
          const double original = gi * di + g[j] * d[j];
          const double changed = g[j] * di + gi * d[j];
          base[j] = std::abs((original - changed) * inverse);
        }
      } else {
        for (std::int64_t j = i + 1; j < n; ++j) {
          base[j] = std::abs(gi - g[j]) * std::abs(di - d[j]) * inverse;
        }
      }
    } else {
      for (std::int64_t j = i + 1; j < n; ++j) base[j] = std::abs(delta[j]);
    }
    switch (s_.risk.kind) {
      case Risk::kNone:
        for (std::int64_t j = i + 1; j < n; ++j) weight[j] = base[j];
        break;
      case Risk::kScale: {
        const double factor = s_.risk.alpha[q];
        for (std::int64_t j = i + 1; j < n; ++j) weight[j] = base[j] * factor;
        break;
      }
      case Risk::kSwap:
        swap_weights(i, s_.risk.excess[q], s_.risk.alpha[q]);
        break;
      case Risk::kGeo:
      case Risk::kGeoExact:
        geo_weights(i);
        break;
    }
    if (s_.normalise != Normalise::kOff && spread_) {
      const double si = score_[i];
      const double* s = score_.data();
      const double floor = s_.arithmetic == Arithmetic::kLightGBM ? static_cast<double>(0.01f) : 0.01;
      if (s_.arithmetic == Arithmetic::kXGBoost) {
        for (std::int64_t j = i + 1; j < n; ++j) {
          weight[j] /= static_cast<double>(std::abs(score32_[i] - score32_[j])) + floor;
        }
      } else {
        double* gap = gap_.data();
        for (std::int64_t j = i + 1; j < n; ++j) {
          gap[j] = floor + std::abs(si - s[j]);
          weight[j] /= gap[j];
        }
        if (s_.risk.kind != Risk::kNone && s_.normalise == Normalise::kRiskFree) {
          for (std::int64_t j = i + 1; j < n; ++j) base[j] /= gap[j];
        }
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
      for (std::int64_t j = i + 1; j < n_; ++j) {
        weight[j] = std::abs(swap_change(excess, alpha, delta[j]));
      }
      return;
    }
    const double at_rest = excess < 0 ? 1.0 : 0.0, at_tie = excess == 0 ? 1.0 : 0.0;
    const double now = std::min(excess, 0.0);
    for (std::int64_t j = i + 1; j < n_; ++j) {
      const double d = delta[j];
      const double moved = (std::min(excess + d, 0.0) - now) / (d == 0 ? 1.0 : d);
      const double still = at_rest + at_tie * std::max(side[j], 0.0);
      weight[j] = base[j] * (1 + alpha * (d == 0 ? still : moved));
    }
  }

  SUREFOOT_INLINE void geo_weights(std::int64_t i) {
    const double* delta = delta_.data();
    const double* base = base_.data();
    const double* side = side_.data();
    double* weight = weight_.data();
    if (!geo_.defined()) {  // no effectiveness at all yet: GeoRisk has no slope, use the measure
      for (std::int64_t j = i + 1; j < n_; ++j) weight[j] = base[j];
      return;
    }
    for (std::int64_t j = i + 1; j < n_; ++j) {
      if (side[j] == 0) {
        weight[j] = 0;
      } else if (delta[j] == 0) {
        weight[j] = base[j] * std::max(side[j] < 0 ? slope_up_ : slope_down_, 0.0);
      } else {
        const double rate = geo_.change(delta[j]) / delta[j];
        weight[j] = base[j] * std::max(rate, 0.0);
      }
    }
    if (!s_.booster_gain) {
      for (std::int64_t j = i + 1; j < n_; ++j) {
        if (delta[j] == 0) weight[j] = 0;
      }
    }
  }

  SUREFOOT_INLINE void add_double(std::int64_t i) {
    constexpr int kLanes = 8;
    const double si = score_[i], sigmoid = s_.sigmoid, scale = s_.hessian_scale * sigmoid * sigmoid;
    const double* s = score_.data();
    const double* side = side_.data();
    const double* weight = weight_.data();
    const double* base = base_.data();
    double* lambda = lambda_.data();
    double* hessian = hessian_.data();
    double* p = gap_.data();
    for (std::int64_t j = i + 1; j < n_; ++j) {
      p[j] = 1 / (1 + fast_exp(sigmoid * side[j] * (si - s[j])));
    }
    double own[kLanes] = {}, own_hessian[kLanes] = {}, total[kLanes] = {}, free[kLanes] = {};
    std::int64_t j = i + 1;
    auto one = [&](std::int64_t at, int lane) {
      const double pull = sigmoid * p[at] * weight[at];
      const double curve = scale * p[at] * (1 - p[at]) * weight[at];
      lambda[at] += side[at] * pull;
      hessian[at] += curve;
      own[lane] -= side[at] * pull;
      own_hessian[lane] += curve;
      total[lane] += pull;
      free[lane] += sigmoid * p[at] * base[at];
    };
    for (; j + kLanes <= n_; j += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) one(j + lane, lane);
    }
    for (; j < n_; ++j) one(j, 0);
    for (int lane = 0; lane < kLanes; ++lane) {
      lambda[i] += own[lane];
      hessian[i] += own_hessian[lane];
      sum_ += 2 * total[lane];
      sum_risk_free_ += 2 * free[lane];
    }
  }

  // LightGBM's rank_objective.hpp: a table for the sigmoid, 32-bit sums in the order of the pairs.
  SUREFOOT_INLINE void add_lightgbm(std::int64_t i) {
    const double si = score_[i], sigmoid = s_.sigmoid;
    const double low = -50 / sigmoid / 2, high = -low;
    const double factor = static_cast<double>(s_.table_size) / (high - low);
    const double* s = score_.data();
    const double* table = s_.sigmoid_table;
    const std::int64_t last = s_.table_size - 1;
    float own = lambda32_[i], own_hessian = hessian32_[i];
    for (std::int64_t j = i + 1; j < n_; ++j) {
      if (side_[j] == 0) continue;
      const bool i_high = side_[j] > 0;
      const double difference = i_high ? si - s[j] : s[j] - si;
      const double p = difference <= low    ? table[0]
                       : difference >= high ? table[last]
                                            : table[static_cast<std::int64_t>((difference - low) * factor)];
      const double pull = p * (-sigmoid * weight_[j]);
      const double curve = p * (1 - p) * (sigmoid * sigmoid * weight_[j]);
      const float pull32 = static_cast<float>(pull), curve32 = static_cast<float>(curve);
      lambda32_[j] += i_high ? -pull32 : pull32;
      hessian32_[j] += curve32;
      own += i_high ? pull32 : -pull32;
      own_hessian += curve32;
      sum_ -= 2 * pull;
    }
    lambda32_[i] = own;
    hessian32_[i] = own_hessian;
  }

  // XGBoost's lambdarank_obj.h: a 32-bit sigmoid, the hessian doubled, 32-bit sums.
  SUREFOOT_INLINE void add_xgboost(std::int64_t i) {
    float own = lambda32_[i], own_hessian = hessian32_[i];
    for (std::int64_t j = i + 1; j < n_; ++j) {
      if (side_[j] == 0) continue;
      const bool i_high = side_[j] > 0;
      const float difference = i_high ? score32_[i] - score32_[j] : score32_[j] - score32_[i];
      const float denominator = std::exp(std::min(-difference, 88.7f)) + 1.0f + 1e-16f;
      const double p = 1.0f / denominator;
      const auto pull32 = static_cast<float>((p - 1.0) * weight_[j]);
      const auto curve32 = static_cast<float>(std::max(p * (1.0 - p), 1e-16) * weight_[j] * 2.0);
      lambda32_[j] += i_high ? -pull32 : pull32;
      hessian32_[j] += curve32;
      own += i_high ? pull32 : -pull32;
      own_hessian += curve32;
      sum_ += -2.0 * static_cast<double>(pull32);
    }
    lambda32_[i] = own;
    hessian32_[i] = own_hessian;
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
