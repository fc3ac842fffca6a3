// Null distributions by rearrangement: sign flips of paired differences, permutations of the system
// labels within topics, and the exact null of Wilcoxon's signed-rank statistic.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "clones.hpp"
#include "gather_sums.hpp"
#include "parallel.hpp"
#include "philox_words.hpp"

namespace nb = nanobind;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector1 = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Output2 = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Rows of the table of x and -x for one rearrangement: bit k of the stream is the sign of topic k.
SUREFOOT_CLONES void draw_signs(std::uint64_t seed, std::uint64_t number, std::int64_t n,
                                std::uint32_t* rows) {
  std::uint32_t words[surefoot::kWordsAtOnce];
  const std::int64_t at_once = 32 * surefoot::kWordsAtOnce;
  for (std::int64_t begin = 0; begin < n; begin += at_once) {
    surefoot::philox_words(seed, number, static_cast<std::uint64_t>(begin / at_once), words);
    const std::int64_t end = std::min(n, begin + at_once);
    for (std::int64_t k = begin; k < end; ++k) {
      const std::uint32_t bit = (words[(k - begin) / 32] >> ((k - begin) % 32)) & 1u;
      rows[k] = static_cast<std::uint32_t>(k) + bit * static_cast<std::uint32_t>(n);
    }
  }
}

SUREFOOT_CLONES void sums_of(const surefoot::Row* block, const std::uint32_t* rows, std::int64_t n,
                             double* sums) {
  surefoot::gather_sums(block, rows, n, sums);
}

constexpr std::int64_t kFlipsAtOnce = 64;

// exceed[s] += how many of the flips have |sum_s| >= limit[s]; largest[b] = max_s |sum_s| scale[s].
// With `exact`, flip number b has the bits of b as its signs.
void sign_flips(Matrix x, Vector1 limit, Vector1 scale, std::uint64_t seed, std::int64_t first,
                std::int64_t count, bool exact, Counts exceed, Output largest, int threads) {
  const std::int64_t n_series = static_cast<std::int64_t>(x.shape(0));
  const std::int64_t n = static_cast<std::int64_t>(x.shape(1));
  if (n == 0) throw std::invalid_argument("sign_flips: no topics");
  const double* const values = x.data();
  const double* const limits = limit.data();
  const double* const scales = scale.data();
  std::int64_t* const exceed_out = exceed.data();
  double* const largest_out = largest.data();
  nb::gil_scoped_release release;
  const std::vector<surefoot::Row> table = surefoot::pack(values, n_series, n, true);
  const std::int64_t blocks = (n_series + surefoot::kWidth - 1) / surefoot::kWidth;
  const std::int64_t chunk = std::clamp<std::int64_t>((1 << 18) / n, 1, kFlipsAtOnce);
  std::mutex lock;
  surefoot::parallel_chunks(count, chunk, threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::uint32_t> rows(static_cast<std::size_t>(n * (end - begin)));
    std::vector<std::int64_t> exceeded(static_cast<std::size_t>(n_series), 0);
    for (std::int64_t b = begin; b < end; ++b) {
      std::uint32_t* const row = rows.data() + (b - begin) * n;
      const auto number = static_cast<std::uint64_t>(first + b);
      if (exact) {
        for (std::int64_t k = 0; k < n; ++k)
          row[k] = static_cast<std::uint32_t>(k + static_cast<std::int64_t>((number >> k) & 1u) * n);
      } else {
        draw_signs(seed, number, n, row);
      }
      largest_out[first + b] = 0.0;
    }
    for (std::int64_t block = 0; block < blocks; ++block) {
      const surefoot::Row* const data = table.data() + block * 2 * n;
      const std::int64_t from = block * surefoot::kWidth;
      const std::int64_t width = std::min<std::int64_t>(surefoot::kWidth, n_series - from);
      for (std::int64_t b = begin; b < end; ++b) {
        double sums[surefoot::kWidth];
        sums_of(data, rows.data() + (b - begin) * n, n, sums);
        double top = largest_out[first + b];
        for (std::int64_t s = 0; s < width; ++s) {
          const double size = std::fabs(sums[s]);
          exceeded[from + s] += size >= limits[from + s];
          top = std::max(top, size * scales[from + s]);
        }
        largest_out[first + b] = top;
      }
    }
    std::lock_guard<std::mutex> guard(lock);
    for (std::int64_t s = 0; s < n_series; ++s) exceed_out[s] += exceeded[s];
  });
}

// Up to this many systems a shuffle draws 16-bit halves of the words.
constexpr std::int64_t kHalfWordSystems = 256;

// One Fisher-Yates shuffle of n labels needs a target uniform on [0, i] for each i = 1..n-1. A
// shuffle with a rejected draw is drawn again as a whole, which keeps all its targets uniform.
class Shuffler {
 public:
  explicit Shuffler(std::int64_t n)
      : n_(n), bound_(static_cast<std::size_t>(n) + 2 * surefoot::kWordsAtOnce, 0),
        target_(bound_.size(), 0) {
    for (std::int64_t i = 1; i < n; ++i) {
      const auto size = static_cast<std::uint32_t>(i + 1);
      bound_[i] = n <= kHalfWordSystems ? 0x10000u % size : (0u - size) % size;
    }
  }

  const std::uint32_t* draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t* group) {
    while (n_ <= kHalfWordSystems ? halves(seed, stream, group, n_, bound_.data(), target_.data())
                                  : whole(seed, stream, group, n_, bound_.data(), target_.data())) {
    }
    return target_.data();
  }

 private:
  SUREFOOT_CLONES static std::uint32_t halves(std::uint64_t seed, std::uint64_t stream,
                                              std::uint64_t* group, std::int64_t n,
                                              const std::uint32_t* bound, std::uint32_t* target) {
    constexpr int kHalf = surefoot::kWordsAtOnce;
    std::uint32_t words[kHalf], rejected = 0;
    for (std::int64_t i = 1; i < n; i += 2 * kHalf) {
      surefoot::philox_words(seed, stream, (*group)++, words);
      for (int w = 0; w < kHalf; ++w) {
        const std::uint32_t product = (words[w] & 0xFFFFu) * static_cast<std::uint32_t>(i + w + 1);
        target[i + w] = product >> 16;
        rejected |= (product & 0xFFFFu) < bound[i + w];
      }
      for (int w = 0; w < kHalf; ++w) {
        const std::uint32_t product =
            (words[w] >> 16) * static_cast<std::uint32_t>(i + kHalf + w + 1);
        target[i + kHalf + w] = product >> 16;
        rejected |= (product & 0xFFFFu) < bound[i + kHalf + w];
      }
    }
    return rejected;
  }

  SUREFOOT_CLONES static std::uint32_t whole(std::uint64_t seed, std::uint64_t stream,
                                             std::uint64_t* group, std::int64_t n,
                                             const std::uint32_t* bound, std::uint32_t* target) {
    std::uint32_t words[surefoot::kWordsAtOnce], rejected = 0;
    for (std::int64_t i = 1; i < n; i += surefoot::kWordsAtOnce) {
      surefoot::philox_words(seed, stream, (*group)++, words);
      for (int w = 0; w < surefoot::kWordsAtOnce; ++w) {
        const std::uint64_t product = static_cast<std::uint64_t>(words[w]) *
                                      static_cast<std::uint64_t>(i + w + 1);
        target[i + w] = static_cast<std::uint32_t>(product >> 32);
        rejected |= static_cast<std::uint32_t>(product) < bound[i + w];
      }
    }
    return rejected;
  }

  std::int64_t n_;
  std::vector<std::uint32_t> bound_, target_;
};

// range[b]: largest minus smallest sum over topics of the relabelled systems; pair[b]: the absolute
// difference of the first two of them, whose distribution is that of any pair; square[b]: the sum
// of the squared deviations of the sums from their mean.
void permute_labels(Matrix scores, std::uint64_t seed, std::int64_t first, std::int64_t count,
                    Output range, Output pair, Output square, int threads) {
  const std::int64_t n_topics = static_cast<std::int64_t>(scores.shape(0));
  const std::int64_t n_systems = static_cast<std::int64_t>(scores.shape(1));
  const double* const values = scores.data();
  double* const range_out = range.data();
  double* const pair_out = pair.data();
  double* const square_out = square.data();
  nb::gil_scoped_release release;
  surefoot::parallel_chunks(count, 16, threads, [&](std::int64_t begin, std::int64_t end) {
    Shuffler shuffler(n_systems);
    std::vector<double> sums(static_cast<std::size_t>(n_systems));
    std::vector<double> left(static_cast<std::size_t>(n_systems));
    for (std::int64_t b = begin; b < end; ++b) {
      std::fill(sums.begin(), sums.end(), 0.0);
      std::uint64_t group = 0;
      for (std::int64_t j = 0; j < n_topics; ++j) {
        const std::uint32_t* const target =
            shuffler.draw(seed, static_cast<std::uint64_t>(first + b), &group);
        std::copy_n(values + j * n_systems, n_systems, left.data());
        for (std::int64_t i = n_systems - 1; i > 0; --i) {
          double& chosen = left[target[i]];
          sums[i] += chosen;
          chosen = left[i];
        }
        sums[0] += left[0];
      }
      const auto [low, high] = std::minmax_element(sums.begin(), sums.end());
      range_out[first + b] = *high - *low;
      pair_out[first + b] = n_systems > 1 ? std::fabs(sums[0] - sums[1]) : 0.0;
      double total = 0.0, square_sum = 0.0;
      for (const double s : sums) total += s;
      const double mean = total / static_cast<double>(n_systems);
      for (const double s : sums) square_sum += (s - mean) * (s - mean);
      square_out[first + b] = square_sum;
    }
  });
}

// Columns of the answer of signed_rank.
enum { kPlus, kMinus, kUsed, kTies, kExact, kColumns };

// P(W <= w) under random signs, by counting over doubled ranks (ties give halves): errata thesis-13
// compares with "at most", as the published tables do.
double tail_of_signed_ranks(const std::vector<std::int64_t>& doubled, std::int64_t twice_w) {
  std::vector<double> ways(static_cast<std::size_t>(twice_w) + 1, 0.0);
  ways[0] = 1.0;
  for (const std::int64_t r : doubled) {
    for (std::int64_t s = twice_w; s >= r; --s) ways[s] += ways[s - r];
    for (double& w : ways) w *= 0.5;
  }
  double total = 0.0;
  for (const double w : ways) total += w;
  return total;
}

// Rank sums of the non-zero differences of each row, average ranks for ties; NaN cells are skipped.
void signed_rank(Matrix x, std::int64_t exact_limit, Output2 out, int threads) {
  const std::int64_t n_series = static_cast<std::int64_t>(x.shape(0));
  const std::int64_t n = static_cast<std::int64_t>(x.shape(1));
  const double* const values = x.data();
  double* const to = out.data();
  nb::gil_scoped_release release;
  surefoot::parallel_chunks(n_series, 8, threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::pair<double, bool>> sizes;
    std::vector<std::int64_t> doubled;
    for (std::int64_t s = begin; s < end; ++s) {
      sizes.clear();
      doubled.clear();
      for (std::int64_t k = 0; k < n; ++k) {
        const double v = values[s * n + k];
        if (std::isnan(v) || v == 0.0) continue;
        sizes.emplace_back(std::fabs(v), v > 0.0);
      }
      std::sort(sizes.begin(), sizes.end());
      std::int64_t twice_plus = 0, twice_minus = 0;
      double ties = 0.0;
      const auto used = static_cast<std::int64_t>(sizes.size());
      for (std::int64_t i = 0; i < used;) {
        std::int64_t j = i;
        while (j < used && sizes[j].first == sizes[i].first) ++j;
        const std::int64_t twice_rank = i + j + 1;  // mean of ranks i+1..j, doubled
        for (std::int64_t k = i; k < j; ++k) {
          (sizes[k].second ? twice_plus : twice_minus) += twice_rank;
          doubled.push_back(twice_rank);
        }
        const double t = static_cast<double>(j - i);
        ties += t * t * t - t;
        i = j;
      }
      double* const row = to + s * kColumns;
      row[kPlus] = 0.5 * static_cast<double>(twice_plus);
      row[kMinus] = 0.5 * static_cast<double>(twice_minus);
      row[kUsed] = static_cast<double>(used);
      row[kTies] = ties;
      row[kExact] = std::numeric_limits<double>::quiet_NaN();
      if (used > 0 && used <= exact_limit)
        row[kExact] = std::min(
            1.0, 2.0 * tail_of_signed_ranks(doubled, std::min(twice_plus, twice_minus)));
    }
  });
}

}  // namespace

void bind_permute(nb::module_& m) {
  m.def("sign_flips", &sign_flips, nb::arg("x"), nb::arg("limit"), nb::arg("scale"),
        nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("exact"), nb::arg("exceed"),
        nb::arg("largest"), nb::arg("threads"));
  m.def("permute_labels", &permute_labels, nb::arg("scores"), nb::arg("seed"), nb::arg("first"),
        nb::arg("count"), nb::arg("range"), nb::arg("pair"), nb::arg("square"), nb::arg("threads"));
  m.def("signed_rank", &signed_rank, nb::arg("x"), nb::arg("exact_limit"), nb::arg("out"),
        nb::arg("threads"));
}
