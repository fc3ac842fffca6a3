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
        relevant_ = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          relevant_ += gain[i];
          count_[i + 1] = count_[i] + gain[i];
          sum_[i + 1] = sum_[i] + (i < k_ ? gain[i] / static_cast<double>(i + 1) : 0.0);
        }
        break;
      }
      case Measure::kErr: {
        count_.assign(size, 1);  // probability that the user reaches position i
        sum_.assign(size, 0);
        for (std::int64_t i = 0; i < n; ++i) {
          const double here = i < k_ ? gain[i] * count_[i] / static_cast<double>(i + 1) : 0.0;
          sum_[i + 1] = sum_[i] + here;
          count_[i + 1] = count_[i] * (1 - gain[i]);
        }
        break;
      }
      case Measure::kInst: {
        // Moffat et al. 2015, Eqs 1-3: C(i) = ((i + T + T_i - 1) / (i + T + T_i))^2, U the running
        // product; the all-zero tail closes as U(n+1) (n+a)^2 psi_1(n+a), a = 2T - R_n (002-3).
        count_.assign(size, 1);
        sum_.assign(size, 0);
        weight_.assign(size, 0);
        outstanding_.assign(size, spec.expected_total);
        for (std::int64_t i = 0; i < n; ++i) {
          outstanding_[i + 1] = outstanding_[i] - gain[i];
          sum_[i + 1] = sum_[i] + count_[i] * gain[i];
          weight_[i + 1] = weight_[i] + count_[i];
          count_[i + 1] = count_[i] * continuation(i, outstanding_[i + 1]);
        }
        const double a = static_cast<double>(n) + spec.expected_total + outstanding_[n];
        tail_ = count_[n] * a * a * trigamma(a);
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
        return sum_[n] / (weight_[n] + tail_);
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
  double inverse_ = 0, relevant_ = 0, tail_ = 0;
  std::vector<double> count_, sum_, weight_, outstanding_, level_;

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
    const double* count = count_.data();
    const double* sum = sum_.data();
    auto fill = [&](std::int64_t first, std::int64_t last, double counts) {
      SUREFOOT_DISTINCT
      for (std::int64_t j = first; j < last; ++j) {
        // relevant documents strictly between them each see one relevant document more, or one fewer
        const double between = sum[j] - sum_i;
        const double at_j = counts * count[j + 1] / static_cast<double>(j + 1);
        const double change = g[j] > own ? up + between - at_j : at_j - down - between;
        delta[j] = g[j] == own ? 0.0 : change * inverse;
      }
    };
    fill(i + 1, std::max(k_, i + 1), 1.0);
    fill(std::max(k_, i + 1), n, 0.0);
  }

  SUREFOOT_INLINE void err_row(std::int64_t i, const double* side, double* delta) const {
    const double ri = gain[i], stop_i = 1 - ri, reach_i = count_[i] / static_cast<double>(i + 1);
    if (stop_i <= 0) {
      std::fill(delta + i + 1, delta + n, 0.0);
      return;
    }
    const double inverse = 1 / stop_i, sum_i = sum_[i + 1];
    const double* g = gain.data();
    const double* count = count_.data();
    const double* sum = sum_.data();
    auto fill = [&](std::int64_t first, std::int64_t last, double counts) {
      SUREFOOT_DISTINCT
      for (std::int64_t j = first; j < last; ++j) {
        const double rj = g[j];
        const double factor = (1 - rj) * inverse;  // how much more of the list between is reached
        const double at_j = counts * count[j] / static_cast<double>(j + 1);
        const double change =
            (rj - ri) * reach_i + (sum[j] - sum_i) * (factor - 1) + at_j * (ri * factor - rj);
        delta[j] = side[j] == 0 ? 0.0 : change;
      }
    };
    fill(i + 1, std::max(k_, i + 1), 1.0);
    fill(std::max(k_, i + 1), n, 0.0);
  }

  // INST's weights all move with the swap. For one i and one gain value of the other document, the
  // new weights between them form a running product, so a row costs (distinct gains) x n.
  void inst_row(std::int64_t i, const double* side, double* delta) {
    const double gi = gain[i];
    const double before = value();
    for (std::int64_t j = i + 1; j < n; ++j) delta[j] = 0;
    level_.clear();
    for (std::int64_t first = i + 1; first < n; ++first) {
      if (side[first] == 0) continue;
      const double v = gain[first];
      bool seen = v == gi;
      for (const double done : level_) seen = seen || done == v;
      if (seen) continue;
      level_.push_back(v);
      const double shift = gi - v;  // the outstanding need after i is larger by this much
      double reach = count_[i];
      double top = sum_[i] + reach * v, bottom = weight_[i] + reach;
      reach *= continuation(i, outstanding_[i + 1] + shift);
      for (std::int64_t j = i + 1; j < n; ++j) {
        if (side[j] != 0 && gain[j] == v) {
          // beyond j the need is as before: all later weights scale by one ratio
          const double after = reach * continuation(j, outstanding_[j + 1]);
          const double ratio = count_[j + 1] > 1e-290 ? after / count_[j + 1] : 0;
          const double value_top = top + reach * gi + ratio * (sum_[n] - sum_[j + 1]);
          const double value_bottom =
              bottom + reach + ratio * (weight_[n] - weight_[j + 1] + tail_);
          delta[j] = value_top / value_bottom - before;
        }
        top += reach * gain[j];
        bottom += reach;
        reach *= continuation(j, outstanding_[j + 1] + shift);
      }
    }
  }
};

}  // namespace surefoot
