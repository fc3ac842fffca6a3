// Ranking measures, one topic at a time. A measure sees gains in rank order; what a document without
// judgment is worth, and what a tie means, is settled before the formula runs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "parallel.hpp"

namespace nb = nanobind;

namespace {

using Index = std::int64_t;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using CodeArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Writable = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

enum class Ties { as_is, average, expected, best, worst };
enum class GainKind { linear, exponential, binary, table, thesis, judged };

// From a grade to a gain. A grade above `top` counts as `top`, a negative one as nothing.
struct Gain {
  GainKind kind;
  double top;    // the largest grade
  double scale;  // factor on linear and exponential gains
  double level;  // relevant = grade >= level
  const double* from;
  const double* to;
  Index pairs;

  double of(double grade) const {
    switch (kind) {
      case GainKind::linear:
        return grade > 0 ? std::min(grade, top) * scale : 0.0;
      case GainKind::exponential:
        return grade > 0 ? (std::exp2(std::min(grade, top)) - 1.0) * scale : 0.0;
      case GainKind::binary:
        return grade >= level ? 1.0 : 0.0;
      case GainKind::thesis:  // thesis Eq. 2.10, r = grade / top
        return grade > 0 ? (std::exp2(std::min(grade, top) / top) - 1.0) / 2.0 : 0.0;
      case GainKind::judged:
        return 1.0;
      case GainKind::table:
        break;
    }
    for (Index i = 0; i < pairs; ++i)
      if (from[i] == grade) return to[i];
    return grade > 0 ? std::min(grade, top) * scale : 0.0;
  }
};

struct Options {
  Ties ties;
  Gain gain;
  // by code: what a document is worth, one without judgment nothing or all it could be
  std::vector<double> low, high;
  bool letor;         // ranks 1 and 2 undiscounted (LETOR 3.0/4.0)
  bool discounted;    // CG has no discount
  Index at_least;     // Success and k-call
};

// Grades as codes of one byte or four, in rank order; code 0 is no judgment.
struct Codes {
  const std::uint8_t* narrow;
  const std::uint32_t* wide;  // null where codes are narrow
  std::uint32_t operator[](Index i) const { return wide != nullptr ? wide[i] : narrow[i]; }
  Codes from(Index i) const { return {narrow + i, wide != nullptr ? wide + i : nullptr}; }
  void look_up(const double* table, Index n, double* out) const {
    if (wide != nullptr) {
      for (Index i = 0; i < n; ++i) out[i] = table[wide[i]];
    } else {
      for (Index i = 0; i < n; ++i) out[i] = table[narrow[i]];
    }
  }
};

struct Topic {
  Codes codes;          // of the retrieved documents
  const double* levels; // grade of each code, NaN of the first
  const double* score;
  Index n;              // retrieved
  Index limit;          // ranks that count: min(retrieved, depth, cut-off)
  const double* judged; // all grades of the topic, descending
  Index n_judged;
  Index cutoff;         // as written after @, or the largest integer
  double parameter;     // p or T
};

struct Scratch {
  std::vector<double> gain, extra;
  const double* discount = nullptr;
  double* weight_out = nullptr;  // per-rank weights and gains, for tables of contributions
  double* gain_out = nullptr;
};

struct Outcome {
  double value = 0, upper = 0;
  double depth = 0, depth_upper = 0;  // expected viewing depths (INST)
};

Index group_end(const double* score, Index begin, Index n) {
  Index end = begin + 1;
  while (end < n && score[end] == score[begin]) ++end;
  return end;
}

// What ties mean for gains: their mean inside a tie group, or the kindest or unkindest order.
void settle_ties(double* g, const Topic& t, Ties ties) {
  if (ties == Ties::as_is) return;
  for (Index begin = 0; begin < t.limit;) {
    const Index end = group_end(t.score, begin, t.n);
    if (end - begin > 1) {
      if (ties == Ties::best) {
        std::sort(g + begin, g + end, std::greater<double>());
      } else if (ties == Ties::worst) {
        std::sort(g + begin, g + end);
      } else {
        double sum = 0;
        for (Index i = begin; i < end; ++i) sum += g[i];
        std::fill(g + begin, g + end, sum / static_cast<double>(end - begin));
      }
    }
    begin = end;
  }
}

// Gains in rank order by one of the tables of `Options`, which is settled BEFORE ties are.
const double* gains(const Topic& t, const std::vector<double>& worth, Ties ties, Scratch& s) {
  const Index n = ties == Ties::as_is ? t.limit : t.n;
  if (static_cast<Index>(s.gain.size()) < n) s.gain.resize(static_cast<std::size_t>(n));
  t.codes.look_up(worth.data(), n, s.gain.data());
  settle_ties(s.gain.data(), t, ties);
  return s.gain.data();
}

Index count_relevant(const Topic& t, double level) {
  Index n = 0;
  while (n < t.n_judged && t.judged[n] >= level) ++n;
  return n;
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// P(h of the `draws` first members are marked), `marked` among `size` in random order.
double hypergeometric(double size, double marked, double draws, double h) {
  if (h < std::max(0.0, draws + marked - size) || h > std::min(draws, marked)) return 0.0;
  return std::exp(log_choose(marked, h) + log_choose(size - marked, draws - h) -
                  log_choose(size, draws));
}

// An expectation over orders needs whole tie groups, also those that the last rank divides.
Topic whole(Topic t) {
  t.limit = t.n;
  return t;
}

bool random_order(Ties ties) { return ties == Ties::average || ties == Ties::expected; }

// Both passes of a utility measure: unjudged documents worth nothing, then worth everything.
template <class Formula>
Outcome two_passes(const Topic& t, const Options& o, Ties ties, Scratch& s, Formula formula) {
  Outcome out;
  out.value = formula(gains(t, o.low, ties, s));
  out.upper = formula(gains(t, o.high, ties, s));
  return out;
}

// -- set and rank measures over relevant documents ------------------------------------------------

Outcome precision(const Topic& t, const Options& o, Scratch& s) {
  const double k = static_cast<double>(t.cutoff);
  return two_passes(t, o, o.ties, s, [&](const double* g) {
    double sum = 0;
    for (Index i = 0; i < t.limit; ++i) sum += g[i];
    return sum / k;  // divided by k even for a shorter list (errata thesis-8)
  });
}

Outcome set_precision(const Topic& t, const Options& o, Scratch& s) {
  return two_passes(t, o, o.ties, s, [&](const double* g) {
    double sum = 0;
    for (Index i = 0; i < t.limit; ++i) sum += g[i];
    return t.limit > 0 ? sum / static_cast<double>(t.limit) : 0.0;
  });
}

Outcome counted(const Topic& t, const Options& o, Scratch& s) {
  const double* g = gains(t, o.low, o.ties, s);
  double sum = 0;
  for (Index i = 0; i < t.limit; ++i) sum += g[i];
  return {sum, sum};
}

Outcome recall(const Topic& t, const Options& o, Scratch& s) {
  const Index relevant = count_relevant(t, o.gain.level);
  Outcome out = counted(t, o, s);
  out.value = out.upper = relevant > 0 ? out.value / static_cast<double>(relevant) : 0.0;
  return out;
}

Outcome r_precision(const Topic& t, const Options& o, Scratch& s) {
  const Index relevant = count_relevant(t, o.gain.level);
  if (relevant == 0) return {};
  Topic cut = t;
  cut.limit = std::min(t.limit, relevant);
  Outcome out = counted(cut, o, s);
  out.value = out.upper = out.value / static_cast<double>(relevant);
  return out;
}

template <class GainAt>
double first_hit(Index limit, GainAt gain) {
  for (Index i = 0; i < limit; ++i)
    if (gain(i) > 0) return 1.0 / static_cast<double>(i + 1);
  return 0.0;
}

// Mean of 1/rank of the first relevant document over the orders of the tie group it is in.
double first_hit_expected(const double* g, const Topic& t) {
  for (Index begin = 0; begin < t.limit;) {
    const Index end = group_end(t.score, begin, t.n);
    const double size = static_cast<double>(end - begin);
    double relevant = 0;
    for (Index i = begin; i < end; ++i) relevant += g[i];
    if (relevant > 0) {
      double sum = 0, none_yet = 1;
      for (Index i = begin; i < std::min(end, t.limit); ++i) {
        const double left = size - static_cast<double>(i - begin);
        sum += none_yet * std::min(1.0, relevant / left) / static_cast<double>(i + 1);
        none_yet *= std::max(0.0, 1.0 - relevant / left);
      }
      return sum;
    }
    begin = end;
  }
  return 0.0;
}

Outcome reciprocal_rank(const Topic& t, const Options& o, Scratch& s) {
  if (o.ties == Ties::as_is) {  // the ranks behind the first hit are not looked at
    Outcome out;
    out.value = first_hit(t.limit, [&](Index i) { return o.low[t.codes[i]]; });
    out.upper = first_hit(t.limit, [&](Index i) { return o.high[t.codes[i]]; });
    return out;
  }
  const bool random = random_order(o.ties);
  return two_passes(random ? whole(t) : t, o, random ? Ties::as_is : o.ties, s, [&](const double* g) {
    return random ? first_hit_expected(g, t) : first_hit(t.limit, [&](Index i) { return g[i]; });
  });
}

// Thesis Eq. 2.16 with binary relevance (errata thesis-6).
double precision_sum(const double* g, const Topic& t) {
  double sum = 0, found = 0;
  for (Index i = 0; i < t.limit; ++i) {
    if (g[i] > 0) {
      found += 1;
      sum += found / static_cast<double>(i + 1);
    }
  }
  return sum;
}

// Mean over the orders of tied documents (McSherry & Najork 2008, section 3).
double precision_sum_expected(const double* g, const Topic& t) {
  double sum = 0, before = 0;
  for (Index begin = 0; begin < t.limit;) {
    const Index end = group_end(t.score, begin, t.n);
    const double size = static_cast<double>(end - begin);
    double relevant = 0;
    for (Index i = begin; i < end; ++i) relevant += g[i];
    if (relevant > 0) {
      const double others = size > 1 ? (relevant - 1) / (size - 1) : 0.0;
      for (Index i = begin; i < std::min(end, t.limit); ++i) {
        const double found = before + 1 + static_cast<double>(i - begin) * others;
        sum += relevant / size * found / static_cast<double>(i + 1);
      }
    }
    before += relevant;
    begin = end;
  }
  return sum;
}

Outcome average_precision(const Topic& t, const Options& o, Scratch& s) {
  const Index relevant = count_relevant(t, o.gain.level);
  if (relevant == 0) return {};
  const bool random = random_order(o.ties);
  const double* g = gains(random ? whole(t) : t, o.low, random ? Ties::as_is : o.ties, s);
  const double sum = random ? precision_sum_expected(g, t) : precision_sum(g, t);
  const double value = sum / static_cast<double>(relevant);
  return {value, value};
}

Outcome success(const Topic& t, const Options& o, Scratch& s) {
  const bool random = random_order(o.ties);
  const double wanted = static_cast<double>(o.at_least);
  return two_passes(random ? whole(t) : t, o, random ? Ties::as_is : o.ties, s, [&](const double* g) {
    if (!random) {
      double found = 0;
      for (Index i = 0; i < t.limit; ++i) found += g[i];
      return found >= wanted ? 1.0 : 0.0;
    }
    double found = 0;
    for (Index begin = 0; begin < t.limit;) {
      const Index end = group_end(t.score, begin, t.n);
      double relevant = 0;
      for (Index i = begin; i < end; ++i) relevant += g[i];
      if (end > t.limit) {  // the group that the cut-off divides
        const double size = static_cast<double>(end - begin);
        const double draws = static_cast<double>(t.limit - begin);
        double chance = 0;
        for (double h = std::max(0.0, wanted - found); h <= std::min(draws, relevant); h += 1)
          chance += hypergeometric(size, relevant, draws, h);
        return std::min(1.0, chance);
      }
      found += relevant;
      begin = end;
    }
    return found >= wanted ? 1.0 : 0.0;
  });
}

// trec_eval's bpref: a relevant document with no judged non-relevant one above counts fully; a
// negative grade takes no part (there it means "in the pool but not judged").
Outcome bpref(const Topic& t, const Options& o, Scratch& s) {
  const double level = o.gain.level;
  const double relevant = static_cast<double>(count_relevant(t, level));
  if (relevant == 0) return {};
  double nonrelevant = 0;
  for (Index i = static_cast<Index>(relevant); i < t.n_judged && t.judged[i] >= 0; ++i)
    nonrelevant += 1;
  const double bound = std::min(nonrelevant, relevant);
  const auto term = [&](double above) {
    return above > 0 ? 1.0 - std::min(above, relevant) / bound : 1.0;
  };
  const bool random = random_order(o.ties);
  const Index n = o.ties == Ties::as_is ? t.limit : t.n;
  if (static_cast<Index>(s.gain.size()) < n) s.gain.resize(static_cast<std::size_t>(n));
  double* kind = s.gain.data();  // 1 relevant, 0 judged and not relevant, 1/2 neither
  for (Index i = 0; i < n; ++i) {
    const double grade = t.levels[t.codes[i]];
    kind[i] = grade >= level ? 1.0 : (grade >= 0 ? 0.0 : 0.5);
  }
  double sum = 0, above = 0;
  if (!random) {
    settle_ties(kind, t, o.ties);
    for (Index i = 0; i < t.limit; ++i) {
      if (kind[i] == 1.0) sum += term(above);
      if (kind[i] == 0.0) above += 1;
    }
  } else {
    for (Index begin = 0; begin < t.limit;) {
      const Index end = group_end(t.score, begin, t.n);
      const double size = static_cast<double>(end - begin);
      double r = 0, q = 0;
      for (Index i = begin; i < end; ++i) {
        r += kind[i] == 1.0;
        q += kind[i] == 0.0;
      }
      if (r > 0 && end <= t.limit) {
        // the number of non-relevant ones before a relevant one is uniform on 0..q
        double mean = 0;
        for (double h = 0; h <= q; h += 1) mean += term(above + h);
        sum += r * mean / (q + 1);
      } else if (r > 0) {
        for (Index i = begin; i < t.limit; ++i) {
          const double draws = static_cast<double>(i - begin);
          for (double h = 0; h <= std::min(draws, q); h += 1)
            sum += r / size * hypergeometric(size - 1, q, draws, h) * term(above + h);
        }
      }
      above += q;
      begin = end;
    }
  }
  const double value = sum / relevant;
  return {value, value};
}

// The share of the first k documents that somebody judged.
Outcome judged(const Topic& t, const Options& o, Scratch& s) {
  Outcome out = counted(t, o, s);
  const Index shown = t.limit;
  out.value = out.upper = shown > 0 ? out.value / static_cast<double>(shown) : 0.0;
  return out;
}

// -- gains weighted by rank -------------------------------------------------------------------------

template <class Visit>
double weighted(const double* g, Index n, const double* discount, Visit visit) {
  double sum = 0;
  if (discount == nullptr) {
    for (Index i = 0; i < n; ++i) {
      sum += g[i];
      visit(i, 1.0);
    }
  } else {
    for (Index i = 0; i < n; ++i) {
      sum += g[i] * discount[i];
      visit(i, discount[i]);
    }
  }
  return sum;
}

// Rank-biased precision, Moffat & Zobel 2008; thesis Eqs. 2.6, 2.8.
template <class Visit>
double rank_biased(const double* g, Index n, double p, Visit visit) {
  double sum = 0, w = 1.0 - p;
  for (Index i = 0; i < n && w > 1e-25; ++i) {
    sum += w * g[i];
    visit(i, w);
    w *= p;
  }
  return sum;
}

// Expected reciprocal rank, Chapelle et al. 2009; thesis Eqs. 2.11, 2.12, read Π(1 − g).
template <class Visit>
double cascade(const double* g, Index n, Visit visit) {
  double sum = 0, still_looking = 1;
  for (Index i = 0; i < n && still_looking > 1e-25; ++i) {
    const double w = still_looking / static_cast<double>(i + 1);
    sum += w * g[i];
    visit(i, w);
    still_looking *= 1.0 - g[i];
  }
  return sum;
}

// ψ₁(x), by recurrence to x >= 12 and the asymptotic series.
double trigamma(double x) {
  double sum = 0;
  for (; x < 12; x += 1) sum += 1 / (x * x);
  const double y = 1 / (x * x);
  return sum + 1 / x + y / 2 +
         y / x * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * (5.0 / 66 - y * (691.0 / 2730))))));
}

struct Inst {
  double score, sum_of_weights;
};

// INST, Moffat et al. 2015, Algorithm 1; the two tails are summed in closed form (errata INST-3), so
// that there is no limit(T). Weights are relative to W(1) = 1.
template <class Visit>
Inst adaptive(const double* g, Index n, double T, double tail_gain, Visit visit) {
  double remaining = T, w = 1, score = 0, sum = 0;
  for (Index i = 0; i < n; ++i) {
    remaining -= g[i];  // T_i
    score += g[i] * w;
    sum += w;
    visit(i, w);
    const double x = static_cast<double>(i + 1) + T + remaining;
    const double c = (x - 1) / x;  // Eq. 1, before squaring
    w *= c * c;
  }
  const double x = static_cast<double>(n) + T + remaining;  // n + a, a = 2T − R_n
  if (tail_gain == 0) {
    sum += w * x * x * trigamma(x);
  } else {
    const double c = (x - 1) / x;
    const double tail = w / (1 - c * c);  // T_i keeps falling by one a rank: geometric
    sum += tail;
    score += tail_gain * tail;
  }
  return {score / sum, sum};
}

constexpr auto ignore = [](Index, double) {};

Outcome cumulated_gain(const Topic& t, const Options& o, Scratch& s) {
  const double* discount = o.discounted ? s.discount : nullptr;
  return two_passes(t, o, o.ties, s,
                    [&](const double* g) { return weighted(g, t.limit, discount, ignore); });
}

Outcome normalised_gain(const Topic& t, const Options& o, Scratch& s) {
  const double* discount = o.discounted ? s.discount : nullptr;
  const double found = weighted(gains(t, o.low, o.ties, s), t.limit, discount, ignore);
  if (found == 0) return {};
  // ideal: all judged documents of the topic, cut at k (errata thesis-8)
  const Index n = t.n_judged;
  if (static_cast<Index>(s.extra.size()) < n) s.extra.resize(static_cast<std::size_t>(n));
  double* ideal = s.extra.data();
  Index positive = 0;
  for (Index i = 0; i < n; ++i) {
    const double gain = o.gain.of(t.judged[i]);
    if (gain > 0) ideal[positive++] = gain;
  }
  if (o.gain.kind == GainKind::table) std::sort(ideal, ideal + positive, std::greater<double>());
  const double best = weighted(ideal, std::min(positive, t.cutoff), discount, ignore);
  const double value = best > 0 ? found / best : 0.0;
  return {value, value};
}

Outcome rank_biased_precision(const Topic& t, const Options& o, Scratch& s) {
  Outcome out = two_passes(t, o, o.ties, s, [&](const double* g) {
    return rank_biased(g, t.limit, t.parameter, ignore);
  });
  // the user goes on beyond the last rank (thesis Eq. 2.9)
  out.upper += o.high[0] * std::pow(t.parameter, static_cast<double>(t.limit));
  return out;
}

// Mean of ERR over the orders of tied documents: the chance that nobody stops in a random i-subset of
// a group is an elementary symmetric mean of the (1 − g).
double cascade_expected(const double* g, const Topic& t, Scratch& s) {
  double sum = 0, reached = 1;
  for (Index begin = 0; begin < t.limit && reached > 1e-25;) {
    const Index end = group_end(t.score, begin, t.n);
    const Index seen = std::min(end, t.limit) - begin;
    auto& mean = s.extra;
    mean.assign(static_cast<std::size_t>(end - begin) + 1, 0.0);
    mean[0] = 1;
    for (Index m = 1; m <= end - begin; ++m) {
      const double x = 1.0 - g[begin + m - 1];
      for (Index i = std::min(m, seen); i >= 1; --i) {
        const double share = static_cast<double>(i) / static_cast<double>(m);
        mean[i] = (1 - share) * (i < m ? mean[i] : 0.0) + share * x * mean[i - 1];
      }
    }
    for (Index i = 1; i <= seen; ++i)
      sum += reached * (mean[i - 1] - mean[i]) / static_cast<double>(begin + i);
    if (end > t.limit) break;
    reached *= mean[static_cast<std::size_t>(end - begin)];
    begin = end;
  }
  return sum;
}

Outcome expected_reciprocal_rank(const Topic& t, const Options& o, Scratch& s) {
  if (o.ties == Ties::expected) {
    return two_passes(whole(t), o, Ties::as_is, s,
                      [&](const double* g) { return cascade_expected(g, t, s); });
  }
  return two_passes(t, o, o.ties, s, [&](const double* g) { return cascade(g, t.limit, ignore); });
}

Outcome inst(const Topic& t, const Options& o, Scratch& s) {
  const double T = t.parameter;
  const Inst low = adaptive(gains(t, o.low, o.ties, s), t.limit, T, 0.0, ignore);
  const Inst high = adaptive(gains(t, o.high, o.ties, s), t.limit, T, 1.0, ignore);
  return {low.score, high.score, low.sum_of_weights, high.sum_of_weights};  // E(W) = 1/W(1), Eq. 5
}

using Measure = Outcome (*)(const Topic&, const Options&, Scratch&);

const std::unordered_map<std::string, Measure> kMeasures = {
    {"precision", precision},
    {"set_precision", set_precision},
    {"counted", counted},
    {"recall", recall},
    {"r_precision", r_precision},
    {"reciprocal_rank", reciprocal_rank},
    {"average_precision", average_precision},
    {"success", success},
    {"bpref", bpref},
    {"judged", judged},
    {"cumulated_gain", cumulated_gain},
    {"normalised_gain", normalised_gain},
    {"rank_biased_precision", rank_biased_precision},
    {"expected_reciprocal_rank", expected_reciprocal_rank},
    {"inst", inst},
};

// Per-rank weight and gain, unjudged documents worth nothing.
Outcome contributions(const std::string& name, const Topic& t, const Options& o, Scratch& s) {
  const double* g = gains(t, o.low, o.ties, s);
  const auto keep = [&](Index i, double w) {
    s.weight_out[i] = w;
    s.gain_out[i] = g[i];
  };
  if (name == "rank_biased_precision") {
    rank_biased(g, t.limit, t.parameter, keep);
  } else if (name == "expected_reciprocal_rank") {
    cascade(g, t.limit, keep);
  } else if (name == "inst") {
    const double sum = adaptive(g, t.limit, t.parameter, 0.0, keep).sum_of_weights;
    for (Index i = 0; i < t.limit; ++i) s.weight_out[i] /= sum;
  } else if (name == "cumulated_gain") {
    weighted(g, t.limit, o.discounted ? s.discount : nullptr, keep);
  } else {
    throw std::invalid_argument("no contributions per rank for " + name);
  }
  return {};
}

struct Request {
  const std::string& name;
  Indices offsets;
  CodeArray codes;
  Doubles levels, score;
  Indices judged_offsets;
  Doubles judged;
  Index depth, cutoff;
  Options options;
  Doubles parameter;
  int threads;
};

template <class Body>
void each_topic(const Request& r, Body body) {
  const Index topics = static_cast<Index>(r.offsets.shape(0)) - 1;
  const Index* offsets = r.offsets.data();
  Index longest = 0;
  for (Index q = 0; q < topics; ++q) longest = std::max(longest, offsets[q + 1] - offsets[q]);
  for (Index q = 0; q < topics; ++q)
    longest = std::max(longest, r.judged_offsets.data()[q + 1] - r.judged_offsets.data()[q]);
  std::vector<double> discount;
  if (r.options.discounted) {
    discount.resize(static_cast<std::size_t>(longest));
    for (Index i = 0; i < longest; ++i) {
      const double rank = static_cast<double>(i + 1);
      // thesis Eq. 2.14; LETOR divides from rank 2 by log2 of the rank itself
      discount[i] = r.options.letor ? (i < 2 ? 1.0 : 1.0 / std::log2(rank)) : 1.0 / std::log2(rank + 1);
    }
  }
  const bool wide = r.codes.itemsize() == 4;
  const Codes codes = {static_cast<const std::uint8_t*>(r.codes.data()),
                       wide ? static_cast<const std::uint32_t*>(r.codes.data()) : nullptr};
  surefoot::parallel_chunks(topics, 32, r.threads, [&](Index begin, Index end) {
    Scratch scratch;
    scratch.discount = discount.data();
    for (Index q = begin; q < end; ++q) {
      Topic t;
      t.codes = codes.from(offsets[q]);
      t.levels = r.levels.data();
      t.score = r.score.data() + offsets[q];
      t.n = offsets[q + 1] - offsets[q];
      t.cutoff = r.cutoff;
      t.limit = std::min({t.n, r.depth, r.cutoff});
      t.judged = r.judged.data() + r.judged_offsets.data()[q];
      t.n_judged = r.judged_offsets.data()[q + 1] - r.judged_offsets.data()[q];
      t.parameter = r.parameter.data()[q];
      body(q, offsets[q], t, scratch);
    }
  });
}

Options options_of(const Doubles& levels, int ties, int gain_kind, double top, double scale, double level,
                   double full, const Doubles& from, const Doubles& to, bool discounted, bool letor,
                   Index at_least) {
  Options o;
  o.ties = static_cast<Ties>(ties);
  o.gain = {static_cast<GainKind>(gain_kind), top, scale, level, from.data(), to.data(),
            static_cast<Index>(from.shape(0))};
  for (std::size_t i = 0; i < levels.shape(0); ++i) {
    const double grade = levels.data()[i];
    o.low.push_back(std::isnan(grade) ? 0.0 : o.gain.of(grade));
    o.high.push_back(std::isnan(grade) ? full : o.gain.of(grade));
  }
  o.discounted = discounted;
  o.letor = letor;
  o.at_least = at_least;
  return o;
}

void measure_topics(const std::string& name, Indices offsets, CodeArray codes, Doubles levels, Doubles score,
                    Indices judged_offsets, Doubles judged, int ties, Index depth, Index cutoff,
                    int gain_kind, double top, double scale, double level, double full,
                    Doubles from, Doubles to, bool discounted, bool letor, Index at_least,
                    Doubles parameter, int threads, Table out) {
  const auto found = kMeasures.find(name);
  if (found == kMeasures.end()) throw std::invalid_argument("no kernel named " + name);
  const Request r{name, offsets, codes, levels, score, judged_offsets, judged, depth, cutoff,
                  options_of(levels, ties, gain_kind, top, scale, level, full, from, to, discounted, letor, at_least),
                  parameter, threads};
  double* table = out.data();
  nb::gil_scoped_release release;
  each_topic(r, [&](Index q, Index, const Topic& t, Scratch& s) {
    const Outcome o = found->second(t, r.options, s);
    table[4 * q] = o.value;
    table[4 * q + 1] = o.upper;
    table[4 * q + 2] = o.depth;
    table[4 * q + 3] = o.depth_upper;
  });
}

void contributions_by_rank(const std::string& name, Indices offsets, CodeArray codes, Doubles levels, Doubles score,
                           Indices judged_offsets, Doubles judged, int ties, Index depth,
                           Index cutoff, int gain_kind, double top, double scale, double level,
                           double full, Doubles from, Doubles to, bool discounted, bool letor,
                           Index at_least, Doubles parameter, int threads, Writable weight,
                           Writable gain) {
  const Request r{name, offsets, codes, levels, score, judged_offsets, judged, depth, cutoff,
                  options_of(levels, ties, gain_kind, top, scale, level, full, from, to, discounted, letor, at_least),
                  parameter, threads};
  nb::gil_scoped_release release;
  each_topic(r, [&](Index, Index start, const Topic& t, Scratch& s) {
    s.weight_out = weight.data() + start;
    s.gain_out = gain.data() + start;
    contributions(name, t, r.options, s);
  });
}

// W, C and L of INST's user model over `gain` followed by a tail (Moffat et al. 2015, Eqs. 1-4).
void inst_user(Doubles gain, double T, double tail_gain, Writable w, Writable c, Writable l) {
  const Index n = static_cast<Index>(gain.shape(0));
  double* weight = w.data();
  const auto keep = [&](Index i, double x) { weight[i] = x; };
  const double sum = adaptive(gain.data(), n, T, tail_gain, keep).sum_of_weights;
  double remaining = T;
  for (Index i = 0; i < n; ++i) {
    remaining -= gain.data()[i];
    const double x = static_cast<double>(i + 1) + T + remaining;
    c.data()[i] = (x - 1) / x * ((x - 1) / x);
    l.data()[i] = weight[i] * (1 - c.data()[i]);
    weight[i] /= sum;
  }
}

}  // namespace

void bind_measures(nb::module_& m) {
  m.def("measure_topics", &measure_topics);
  m.def("contributions_by_rank", &contributions_by_rank);
  m.def("inst_user", &inst_user);
}
