// What one swap does to a ranking measure: the signed change of M when the documents at positions
// i < j trade places, for one i and every j. Linear memory; every case is checked against a full
// recomputation in the tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "clones.hpp"

namespace surefoot {

enum class Measure : int { kAdditive = 0, kAveragePrecision = 1, kErr = 2, kInst = 3 };

struct MeasureSpec {
  Measure kind = Measure::kAdditive;
  std::int64_t cutoff = 0;             // positions that count; 0 = all
  const double* position = nullptr;    // additive: weight of each position, 0 beyond the cut-off
  const double* inverse = nullptr;     // additive: 1 / ideal of each query (1 for RBP)
  double expected_total = 0;           // INST: T
};

// Psi_1(x) = sum_{k>=0} (x + k)^-2: recurrence up to x >= 12, then the asymptotic series.
inline double trigamma(double x) {
  double sum = 0;
  while (x < 12) {
    sum += 1 / (x * x);
    x += 1;
  }
  const double y = 1 / (x * x);
  return sum + 1 / x + y / 2 +
         y / x * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * 5 / 66))));
}

// One query in its current order. gain[] is the measure's own gain by position.
class RankedQuery {
 public:
  std::int64_t n = 0;
  std::vector<double> gain;

  void prepare(const MeasureSpec& spec, std::int64_t query) {
    spec_ = &spec;
    k_ = spec.cutoff > 0 ? std::min(spec.cutoff, n) : n;
    const std::size_t size = static_cast<std::size_t>(n) + 1;
    switch (spec.kind) {
      case Measure::kAdditive:
        inverse_ = spec.inverse[query];
        break;
      case Measure::kAveragePrecision: {
        count_.assign(size, 0);
        sum_.assign(size, 0);
        here_.resize(size);
        relevant_ = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          relevant_ += gain[i];
          count_[i + 1] = count_[i] + gain[i];
          sum_[i + 1] = sum_[i] + (i < k_ ? gain[i] / static_cast<double>(i + 1) : 0.0);
          here_[i] = i < k_ ? count_[i + 1] / static_cast<double>(i + 1) : 0.0;
        }
        break;
      }
      case Measure::kErr: {
        count_.assign(size, 1);  // probability that the user reaches position i
        here_.resize(size);      // the same over the rank, 0 beyond the cut-off
        sum_.assign(size, 0);
        for (std::int64_t i = 0; i < n; ++i) {
          here_[i] = i < k_ ? count_[i] / static_cast<double>(i + 1) : 0.0;
          sum_[i + 1] = sum_[i] + gain[i] * here_[i];
          count_[i + 1] = count_[i] * (1 - gain[i]);
        }
        break;
      }
      case Measure::kInst: {
        // Moffat et al. 2015, Eqs 1-3: C(i) = ((i + T + T_i - 1) / (i + T + T_i))^2, U the running
        // product; the all-zero tail closes as U(n+1) (n+a)^2 psi_1(n+a), a = 2T - R_n (errata INST-3).
        count_.assign(size, 1);
        sum_.assign(size, 0);
        weight_.assign(size, 0);
        outstanding_.assign(size, spec.expected_total);
        next_.resize(size);  // continuation at i over the weight after it
        kind_.resize(size);
        level_.clear();
        for (std::int64_t i = 0; i < n; ++i) {
          outstanding_[i + 1] = outstanding_[i] - gain[i];
          sum_[i + 1] = sum_[i] + count_[i] * gain[i];
          weight_[i + 1] = weight_[i] + count_[i];
          const double on = continuation(i, outstanding_[i + 1]);
          count_[i + 1] = count_[i] * on;
          next_[i] = count_[i + 1] > 1e-290 ? on / count_[i + 1] : 0;
          std::size_t l = 0;
          while (l < level_.size() && level_[l] != gain[i]) ++l;
          if (l == level_.size()) level_.push_back(gain[i]);
          kind_[i] = static_cast<std::int32_t>(l);
        }
        const double a = static_cast<double>(n) + spec.expected_total + outstanding_[n];
        tail_ = count_[n] * a * a * trigamma(a);
        value_ = sum_[n] / (weight_[n] + tail_);
        break;
      }
    }
  }

  double value() const {
    switch (spec_->kind) {
      case Measure::kAdditive: {
        double total = 0;
        for (std::int64_t i = 0; i < k_; ++i) total += gain[i] * spec_->position[i];
        return total * inverse_;
      }
      case Measure::kAveragePrecision:
        return relevant_ > 0 ? average_precision() / relevant_ : 0;
      case Measure::kErr:
        return sum_[n];
      case Measure::kInst:
        return value_;
    }
    return 0;
  }

  // Below the cut-off no swap changes anything.
  bool sees(std::int64_t i) const { return spec_->kind == Measure::kInst || i < k_; }

  // delta[j] for every j > i; zero where the labels are equal (side[j] == 0).
  SUREFOOT_INLINE void row(std::int64_t i, const double* side, double* delta) {
    switch (spec_->kind) {
      case Measure::kAdditive: {
        const double gi = gain[i], wi = spec_->position[i], inverse = inverse_;
        const double* g = gain.data();
        const double* w = spec_->position;
        SUREFOOT_DISTINCT
        for (std::int64_t j = i + 1; j < n; ++j) delta[j] = (g[j] - gi) * (wi - w[j]) * inverse;
        break;
      }
      case Measure::kAveragePrecision:
        average_precision_row(i, delta);
        break;
      case Measure::kErr:
        err_row(i, side, delta);
        break;
      case Measure::kInst:
        inst_row(i, side, delta);
        break;
    }
  }

 private:
  const MeasureSpec* spec_ = nullptr;
  std::int64_t k_ = 0;
  double inverse_ = 0, relevant_ = 0, tail_ = 0, value_ = 0;
  std::vector<double> count_, sum_, weight_, outstanding_, here_, level_, next_;
  std::vector<std::int32_t> kind_;  // INST: which of the query's gains a document has

  double continuation(std::int64_t i, double outstanding) const {
    const double a = static_cast<double>(i + 1) + spec_->expected_total + outstanding;
    const double ratio = (a - 1) / a;
    return ratio * ratio;
  }

  double average_precision() const {
    double total = 0;
    for (std::int64_t i = 0; i < k_; ++i) {
      if (gain[i] > 0) total += count_[i + 1] / static_cast<double>(i + 1);
    }
    return total;
  }

  SUREFOOT_INLINE void average_precision_row(std::int64_t i, double* delta) const {
    const double inverse = relevant_ > 0 ? 1 / relevant_ : 0;
    const double own = gain[i], at_i = 1 / static_cast<double>(i + 1);
    const double up = (count_[i] + 1) * at_i, down = count_[i + 1] * at_i, sum_i = sum_[i + 1];
    const double* g = gain.data();
    const double* here = here_.data();
    const double* sum = sum_.data();
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n; ++j) {
      // relevant documents strictly between them each see one relevant document more, or one fewer
      const double between = sum[j] - sum_i, at_j = here[j];
      const double change = g[j] > own ? up + between - at_j : at_j - down - between;
      delta[j] = g[j] == own ? 0.0 : change * inverse;
    }
  }

  SUREFOOT_INLINE void err_row(std::int64_t i, const double* side, double* delta) const {
    const double ri = gain[i], stop_i = 1 - ri, reach_i = count_[i] / static_cast<double>(i + 1);
    if (stop_i <= 0) {
      std::fill(delta + i + 1, delta + n, 0.0);
      return;
    }
    const double inverse = 1 / stop_i, sum_i = sum_[i + 1];
    const double* g = gain.data();
    const double* here = here_.data();
    const double* sum = sum_.data();
    SUREFOOT_DISTINCT
    for (std::int64_t j = i + 1; j < n; ++j) {
      const double rj = g[j];
      const double factor = (1 - rj) * inverse;  // how much more of the list between is reached
      const double change =
          (rj - ri) * reach_i + (sum[j] - sum_i) * (factor - 1) + here[j] * (ri * factor - rj);
      delta[j] = side[j] == 0 ? 0.0 : change;
    }
  }

  // INST's weights all move with the swap. For one i and one gain of the other document, the new
  // weights between them form a running product; eight gains run side by side, so a row costs
  // (distinct gains / 8) x n.
  SUREFOOT_INLINE void inst_row(std::int64_t i, const double* side, double* delta) {
    constexpr std::int64_t kLanes = 8;
    typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double))));
    const double gi = gain[i], before = value_, total = sum_[n], mass = weight_[n] + tail_;
    const auto levels = static_cast<std::int64_t>(level_.size());
    std::fill(delta + i + 1, delta + n, 0.0);
    for (std::int64_t first = 0; first < levels; first += kLanes) {
      Lanes gains = {};
      for (std::int64_t l = 0; l < kLanes; ++l) gains[l] = level_[std::min(first + l, levels - 1)];
      const Lanes shift = gi - gains;  // the outstanding need after i is larger by this much
      Lanes reach = count_[i] - 0 * gains, top = sum_[i] + reach * gains, bottom = weight_[i] + reach;
      auto advance = [&](std::int64_t j) {
        const Lanes a = (static_cast<double>(j + 1) + spec_->expected_total + outstanding_[j + 1]) + shift;
        const Lanes ratio = (a - 1) / a;
        reach *= ratio * ratio;
      };
      advance(i);
      for (std::int64_t j = i + 1; j < n; ++j) {
        const std::int64_t lane = kind_[j] - first;
        if (side[j] != 0 && lane >= 0 && lane < kLanes) {
          // beyond j the need is as before: all later weights scale by one ratio
          const double here = reach[lane];
          const double ratio = here * next_[j];
          const double value_top = top[lane] + here * gi + ratio * (total - sum_[j + 1]);
          const double value_bottom = bottom[lane] + here + ratio * (mass - weight_[j + 1]);
          delta[j] = value_top / value_bottom - before;
        }
        top += reach * gain[j];
        bottom += reach;
        advance(j);
      }
    }
  }
};

}  // namespace surefoot
