// LambdaMART gradients: rank, measure, and the pairs of every query in parallel.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "lambda_pairs.hpp"
#include "parallel.hpp"

namespace nb = nanobind;

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
constexpr std::int64_t kChunk = 16;

// A document's rank is the number of documents that beat it, and of equal ones before it: n^2
// comparisons, but eight at a time, four documents at once and without a branch to guess. Past this
// length sorting wins.
constexpr std::int64_t kCounted = 384;
constexpr int kLanes = 8;
typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double))));
typedef std::int64_t Counts __attribute__((vector_size(kLanes * sizeof(std::int64_t))));

// s[] goes on with what beats nobody, up to a multiple of eight; taken[] are n zeros.
SUREFOOT_INLINE void rank_by_counting(const double* s, std::int64_t n, std::int32_t* taken,
                                      std::int32_t* out) {
  constexpr int kRows = 4;  // four names rather than an array: compilers keep them in registers
  for (std::int64_t i = 0; i < n; i += kRows) {
    const double s0 = s[i], s1 = s[i + 1], s2 = s[i + 2], s3 = s[i + 3];
    Counts b0 = {}, b1 = {}, b2 = {}, b3 = {};  // minus the number that beat it: true is -1
    for (std::int64_t j = 0; j < n; j += kLanes) {
      Lanes other;
      std::memcpy(&other, s + j, sizeof other);
      b0 += other > s0;
      b1 += other > s1;
      b2 += other > s2;
      b3 += other > s3;
    }
    std::int64_t rank[kRows] = {};
    for (int lane = 0; lane < kLanes; ++lane) {
      rank[0] -= b0[lane];
      rank[1] -= b1[lane];
      rank[2] -= b2[lane];
      rank[3] -= b3[lane];
    }
    for (int r = 0; r < kRows && i + r < n; ++r) {
      out[rank[r] + taken[rank[r]]++] = static_cast<std::int32_t>(i + r);
    }
  }
}

SUREFOOT_CLONES void rank_some(const std::int64_t* at, const double* score, std::int32_t* out,
                               std::int64_t first, std::int64_t last) {
  std::vector<double> plain;
  std::vector<std::int32_t> taken;
  std::vector<std::pair<double, std::int32_t>> keys;
  for (std::int64_t q = first; q < last; ++q) {
    const std::int64_t n = at[q + 1] - at[q];
    const double* s = score + at[q];
    const auto size = static_cast<std::size_t>(n);
    if (n <= kCounted) {
      plain.assign((size + kLanes - 1) / kLanes * kLanes, -HUGE_VAL);
      // a score that is no number comes last; comparisons with it would give no order at all
      for (std::int64_t i = 0; i < n; ++i) plain[i] = s[i] == s[i] ? s[i] : -HUGE_VAL;
      taken.assign(size, 0);
      rank_by_counting(plain.data(), n, taken.data(), out + at[q]);
      continue;
    }
    keys.resize(size);
    for (std::int64_t i = 0; i < n; ++i) {
      keys[i] = {s[i] == s[i] ? -s[i] : HUGE_VAL, static_cast<std::int32_t>(i)};
    }
    std::sort(keys.begin(), keys.end());
    for (std::int64_t i = 0; i < n; ++i) out[at[q] + i] = keys[i].second;
  }
}

// order[] = documents of each query by score, best first; equal scores keep the file's order.
void rank_documents(Array<std::int64_t> offset, Array<double> score, Output<std::int32_t> order,
                    int threads, std::uintptr_t team) {
  const std::int64_t queries = static_cast<std::int64_t>(offset.size()) - 1;
  const auto* at = offset.data();
  const auto* s = score.data();
  auto* out = order.data();
  nb::gil_scoped_release release;
  surefoot::parallel_chunks(queries, kChunk, threads, [=](std::int64_t first, std::int64_t last) {
    rank_some(at, s, out, first, last);
  }, reinterpret_cast<surefoot::Team>(team));
}

// Sum of position[i] * gain over each query's documents, best gain first.
void ideal_totals(Array<std::int64_t> offset, Array<double> gain, Array<double> position,
                  std::int64_t cutoff, Output<double> out) {
  std::vector<double> sorted;
  for (std::size_t q = 0; q + 1 < offset.size(); ++q) {
    sorted.assign(gain.data() + offset.data()[q], gain.data() + offset.data()[q + 1]);
    std::sort(sorted.begin(), sorted.end(), [](double a, double b) { return a > b; });
    const auto n = std::min<std::size_t>(sorted.size(), static_cast<std::size_t>(cutoff));
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += position.data()[i] * sorted[i];
    out.data()[q] = total;
  }
}

// LightGBM's table of 1 / (1 + exp(sigmoid x)) over [-25 / sigmoid, 25 / sigmoid].
void fill_sigmoid_table(double sigmoid, Output<double> table) {
  const double low = -50 / sigmoid / 2;
  const double factor = static_cast<double>(table.size()) / (-low - low);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double score = static_cast<double>(i) / factor + low;
    table.data()[i] = 1.0 / (1.0 + std::exp(score * sigmoid));
  }
}

surefoot::MeasureSpec measure_spec(int kind, std::int64_t cutoff, const Array<double>& position,
                                   const Array<double>& inverse, double expected_total) {
  surefoot::MeasureSpec spec;
  spec.kind = static_cast<surefoot::Measure>(kind);
  spec.cutoff = cutoff;
  spec.position = position.data();
  spec.inverse = inverse.data();
  spec.expected_total = expected_total;
  return spec;
}

void measure_queries(Array<std::int64_t> offset, Array<std::int32_t> order, Array<double> gain,
                     int kind, std::int64_t cutoff, Array<double> position, Array<double> inverse,
                     double expected_total, Output<double> out, int threads, std::uintptr_t team) {
  const auto spec = measure_spec(kind, cutoff, position, inverse, expected_total);
  const std::int64_t queries = static_cast<std::int64_t>(offset.size()) - 1;
  const auto* at = offset.data();
  const auto* rank = order.data();
  const auto* g = gain.data();
  auto* result = out.data();
  nb::gil_scoped_release release;
  surefoot::parallel_chunks(queries, kChunk, threads, [=](std::int64_t first, std::int64_t last) {
    surefoot::RankedQuery ranked;
    for (std::int64_t q = first; q < last; ++q) {
      const std::int64_t n = at[q + 1] - at[q];
      ranked.n = n;
      ranked.gain.resize(static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i) ranked.gain[i] = g[at[q] + rank[at[q] + i]];
      ranked.prepare(spec, q);
      result[q] = ranked.value();
    }
  }, reinterpret_cast<surefoot::Team>(team));
}

SUREFOOT_CLONES void some_queries(const surefoot::LambdaSpec& spec, std::int64_t first,
                                  std::int64_t last) {
  surefoot::QueryLambdas query(spec);
  for (std::int64_t q = first; q < last; ++q) query.run(q);
}

template <class T>
const T* maybe(const std::optional<Array<T>>& array) {
  return array ? array->data() : nullptr;
}

void lambda_gradients(
    Array<std::int64_t> offset, Array<std::int32_t> order, Array<double> score, Array<float> label,
    Array<double> gain, int measure, std::int64_t cutoff, Array<double> position,
    Array<double> inverse, double expected_total, std::optional<Array<double>> booster_gain,
    std::optional<Array<double>> booster_inverse, std::optional<Array<double>> discount,
    std::optional<Array<float>> weight, std::optional<Array<double>> sigmoid_table,
    std::int64_t truncation, double sigmoid, double hessian_scale, int arithmetic, int normalise,
    int risk, std::optional<Array<double>> excess, std::optional<Array<double>> alpha,
    std::optional<Array<double>> value, std::optional<Array<double>> column, double row_total,
    double grand_total, double z_total, double geo_alpha, std::int64_t topics,
    std::optional<Array<double>> ratio, std::optional<Array<double>> sum_a,
    std::optional<Array<double>> sum_b, std::optional<Output<float>> gradient32,
    std::optional<Output<float>> hessian32, std::optional<Output<double>> gradient64,
    std::optional<Output<double>> hessian64, int threads, std::uintptr_t team) {
  surefoot::LambdaSpec spec;
  spec.offset = offset.data();
  spec.order = order.data();
  spec.score = score.data();
  spec.label = label.data();
  spec.gain = gain.data();
  spec.measure = measure_spec(measure, cutoff, position, inverse, expected_total);
  spec.booster_gain = maybe(booster_gain);
  spec.booster_inverse = maybe(booster_inverse);
  spec.discount = maybe(discount);
  spec.weight = maybe(weight);
  spec.sigmoid_table = maybe(sigmoid_table);
  spec.table_size = sigmoid_table ? static_cast<std::int64_t>(sigmoid_table->size()) : 0;
  spec.truncation = truncation;
  spec.sigmoid = sigmoid;
  spec.hessian_scale = hessian_scale;
  spec.arithmetic = static_cast<surefoot::Arithmetic>(arithmetic);
  spec.normalise = static_cast<surefoot::Normalise>(normalise);
  spec.risk.kind = static_cast<surefoot::Risk>(risk);
  spec.risk.excess = maybe(excess);
  spec.risk.alpha = maybe(alpha);
  spec.risk.value = maybe(value);
  spec.risk.column = maybe(column);
  spec.risk.row_total = row_total;
  spec.risk.grand_total = grand_total;
  spec.risk.z_total = z_total;
  spec.risk.geo_alpha = geo_alpha;
  spec.risk.topics = topics;
  spec.risk.ratio = maybe(ratio);
  spec.risk.sum_a = maybe(sum_a);
  spec.risk.sum_b = maybe(sum_b);
  spec.risk.n_ratio = ratio ? static_cast<std::int64_t>(ratio->size()) : 0;
  spec.gradient32 = gradient32 ? gradient32->data() : nullptr;
  spec.hessian32 = hessian32 ? hessian32->data() : nullptr;
  spec.gradient64 = gradient64 ? gradient64->data() : nullptr;
  spec.hessian64 = hessian64 ? hessian64->data() : nullptr;
  const std::int64_t queries = static_cast<std::int64_t>(offset.size()) - 1;
  nb::gil_scoped_release release;
  surefoot::parallel_chunks(queries, kChunk, threads, [&](std::int64_t first, std::int64_t last) {
    some_queries(spec, first, last);
  }, reinterpret_cast<surefoot::Team>(team));
}

}  // namespace

void bind_lambdas(nb::module_& m) {
  m.def("rank_documents", &rank_documents, nb::arg("offset"), nb::arg("score"), nb::arg("order"),
        nb::arg("threads"), nb::arg("team") = 0);
  m.def("ideal_totals", &ideal_totals, nb::arg("offset"), nb::arg("gain"), nb::arg("position"),
        nb::arg("cutoff"), nb::arg("out"));
  m.def("fill_sigmoid_table", &fill_sigmoid_table, nb::arg("sigmoid"), nb::arg("table"));
  m.def("measure_queries", &measure_queries, nb::arg("offset"), nb::arg("order"), nb::arg("gain"),
        nb::arg("kind"), nb::arg("cutoff"), nb::arg("position"), nb::arg("inverse"),
        nb::arg("expected_total"), nb::arg("out"), nb::arg("threads"),
        nb::arg("team") = 0);
  m.def("lambda_gradients", &lambda_gradients, nb::arg("offset"), nb::arg("order"),
        nb::arg("score"), nb::arg("label"), nb::arg("gain"), nb::arg("measure"), nb::arg("cutoff"),
        nb::arg("position"), nb::arg("inverse"), nb::arg("expected_total"),
        nb::arg("booster_gain").none(), nb::arg("booster_inverse").none(),
        nb::arg("discount").none(), nb::arg("weight").none(), nb::arg("sigmoid_table").none(),
        nb::arg("truncation"), nb::arg("sigmoid"), nb::arg("hessian_scale"), nb::arg("arithmetic"),
        nb::arg("normalise"), nb::arg("risk"), nb::arg("excess").none(), nb::arg("alpha").none(),
        nb::arg("value").none(), nb::arg("column").none(), nb::arg("row_total"),
        nb::arg("grand_total"), nb::arg("z_total"), nb::arg("geo_alpha"), nb::arg("topics"),
        nb::arg("ratio").none(), nb::arg("sum_a").none(), nb::arg("sum_b").none(),
        nb::arg("gradient32").none(), nb::arg("hessian32").none(), nb::arg("gradient64").none(),
        nb::arg("hessian64").none(), nb::arg("threads"), nb::arg("team") = 0);
}
