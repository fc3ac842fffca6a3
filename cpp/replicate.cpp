// Posterior predictive replicates: for each posterior draw one score of every (system, topic) cell,
// and from it only what risk needs, the sums of gains and of losses against the champion.
//
// Every random word is a pure function of (seed, draw, system, topic, attempt), so replicates are the
// same bytes for any number of threads, any chunking, and any subset of the systems.
//
// Beta variates are ratios of gamma variates (Marsaglia and Tsang 2000) at shape + 1, brought down to
// the shape by a factor U^(1/shape) that is kept as a logarithm, so that tiny shapes do not underflow.
// One Philox block makes one attempt at both gammas: two words give two normals (Box-Muller), the
// other two decide acceptance, and once accepted they are reused as the U of the factor: given
// u < h, u/h is again uniform. The arithmetic is single precision and runs in vector lanes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "clones.hpp"
#include "float_lanes.hpp"
#include "parallel.hpp"

namespace nb = nanobind;

namespace surefoot {
namespace {

constexpr int LANES = 16;
constexpr double PI = 3.14159265358979323846;
constexpr float TINY_SHAPE = 1e-30f;
// what a counter is for, in its second word; attempts at gamma variates count up from zero
constexpr std::uint32_t NORMALS = 0x80000000u, MORE_NORMALS = 0x80000001u, MASSES = 0x80000002u;

enum Family { GAUSSIAN = 0, STUDENT = 1, SKEW_NORMAL = 2, ZOIB = 3 };

struct Stream {
  std::uint32_t seed_low, seed_high, draw_low, draw_high;
  Stream(std::uint64_t seed, std::uint64_t draw)
      : seed_low(static_cast<std::uint32_t>(seed)),
        seed_high(static_cast<std::uint32_t>(seed >> 32)),
        draw_low(static_cast<std::uint32_t>(draw)),
        draw_high(static_cast<std::uint32_t>(draw >> 32)) {}
};

SUREFOOT_INLINE std::int64_t whole_lanes(std::int64_t n) { return (n + LANES - 1) / LANES * LANES; }

// Logarithm of the probability that Marsaglia and Tsang's candidate at normal x is accepted, for
// d = shape - 1/3 and y = x / sqrt(9 d): x^2/2 + d (1 - v + log v) with v = (1 + y)^3, which is
// 3 d (log(1 + y) - y + y^2/2 - y^3/3); near zero by its series, where the difference would cancel.
SUREFOOT_INLINE float log_acceptance(float d, float y) {
  const float t = 1.0f + y;
  const float direct = lane_log(t > 1e-6f ? t : 1e-6f) - y + y * y * (0.5f - y * (1.0f / 3.0f));
  float p = 1.0f / 11.0f;
  p = 1.0f / 10.0f - y * p;
  p = 1.0f / 9.0f - y * p;
  p = 1.0f / 8.0f - y * p;
  p = 1.0f / 7.0f - y * p;
  p = 1.0f / 6.0f - y * p;
  p = 1.0f / 5.0f - y * p;
  p = 1.0f / 4.0f - y * p;
  const float square = y * y;
  const float series = -square * square * p;
  const bool near = square < 0.04f;
  return 3.0f * d * (near ? series : direct);
}

// Standard normals, four a block: out has four rows of n (topics 4q..4q+3), cell[i] names a block.
SUREFOOT_CLONES void fill_normals(std::int64_t n, const std::uint32_t* cell, std::uint32_t purpose,
                                  Stream s, float* r0, float* r1, float* r2, float* r3) {
  for (std::int64_t i = 0; i < n; i += LANES) {
    for (int l = 0; l < LANES; ++l) {
      std::uint32_t w0 = cell[i + l], w1 = purpose, w2 = s.draw_low, w3 = s.draw_high;
      lane_philox(w0, w1, w2, w3, s.seed_low, s.seed_high);
      const float radius = std::sqrt(-2.0f * lane_log(lane_uniform(w0)));
      const float radius2 = std::sqrt(-2.0f * lane_log(lane_uniform(w2)));
      float a, b, c, d;
      lane_sincos_turn(w1, a, b);
      lane_sincos_turn(w3, c, d);
      r0[i + l] = radius * b;
      r1[i + l] = radius * a;
      r2[i + l] = radius2 * d;
      r3[i + l] = radius2 * c;
    }
  }
}

// One attempt at n beta variates; negative where the attempt was rejected.
SUREFOOT_CLONES void attempt_beta(std::int64_t n, const std::uint32_t* cell, std::uint32_t attempt,
                                  Stream s, const float* shape_a, const float* shape_b, float* out) {
  for (std::int64_t i = 0; i < n; i += LANES) {
    for (int l = 0; l < LANES; ++l) {
      std::uint32_t w0 = cell[i + l], w1 = attempt, w2 = s.draw_low, w3 = s.draw_high;
      lane_philox(w0, w1, w2, w3, s.seed_low, s.seed_high);
      const float radius = std::sqrt(-2.0f * lane_log(lane_uniform(w0)));
      float sine, cosine;
      lane_sincos_turn(w1, sine, cosine);
      const float a = shape_a[i + l], b = shape_b[i + l];
      const float da = a + 2.0f / 3.0f, db = b + 2.0f / 3.0f;  // shape + 1 - 1/3
      const float ya = radius * cosine / (3.0f * std::sqrt(da));
      const float yb = radius * sine / (3.0f * std::sqrt(db));
      // log of U for the step from shape + 1 to shape; not negative means rejected
      const float ua = lane_log(lane_uniform(w2)) - log_acceptance(da, ya);
      const float ub = lane_log(lane_uniform(w3)) - log_acceptance(db, yb);
      const float ta = 1.0f + ya, tb = 1.0f + yb;
      const float odds = (db * (tb * tb * tb)) / (da * (ta * ta * ta));
      const float x = 1.0f / (1.0f + odds * lane_exp(ub / b - ua / a));
      const bool accepted = (ua < 0.0f) & (ub < 0.0f) & (ta > 1e-6f) & (tb > 1e-6f);
      out[i + l] = accepted ? x : -1.0f;
    }
  }
}

// One attempt at n values of sqrt(nu / chi-square(nu)); negative where the attempt was rejected.
SUREFOOT_CLONES void attempt_student(std::int64_t n, const std::uint32_t* cell, std::uint32_t attempt,
                                     Stream s, float nu, float* out) {
  const float a = 0.5f * nu, d = a + 2.0f / 3.0f;
  const float scale = 1.0f / (3.0f * std::sqrt(d)), half = 0.5f / a;
  for (std::int64_t i = 0; i < n; i += LANES) {
    for (int l = 0; l < LANES; ++l) {
      std::uint32_t w0 = cell[i + l], w1 = attempt, w2 = s.draw_low, w3 = s.draw_high;
      lane_philox(w0, w1, w2, w3, s.seed_low, s.seed_high);
      const float radius = std::sqrt(-2.0f * lane_log(lane_uniform(w0)));
      float sine, cosine;
      lane_sincos_turn(w1, sine, cosine);
      const float y = radius * cosine * scale;
      const float u = lane_log(lane_uniform(w2)) - log_acceptance(d, y);
      const float t = 1.0f + y;
      const float safe = t > 1e-6f ? t : 1e-6f;
      const float x = std::sqrt(a / (d * (safe * safe * safe))) * lane_exp(-u * half);
      out[i + l] = (u < 0.0f) & (t > 1e-6f) ? x : -1.0f;
    }
  }
}

// Shapes of every cell from the two exponentials that make up exp(-eta).
SUREFOOT_CLONES void fill_shapes(std::int64_t topics, std::int64_t systems, const float* system,
                                 const float* topic, float phi, float* shape_a, float* shape_b) {
  for (std::int64_t j = 0; j < topics; ++j) {
    const float tj = topic[j];
    float* a = shape_a + j * systems;
    float* b = shape_b + j * systems;
    for (std::int64_t i = 0; i < systems; ++i) {
      const float e = system[i] * tj;
      const float mu = 1.0f / (1.0f + e);  // logistic(eta)
      const float fa = mu * phi, fb = mu * e * phi;
      a[i] = fa > TINY_SHAPE ? fa : TINY_SHAPE;
      b[i] = fb > TINY_SHAPE ? fb : TINY_SHAPE;
    }
  }
}

// Zeros and ones of the inflated beta: one word a cell, four cells a block.
SUREFOOT_CLONES void inflate(std::int64_t blocks, const std::uint32_t* cell, Stream s,
                             std::uint32_t below_one, std::uint32_t below_any, float* r0, float* r1,
                             float* r2, float* r3) {
  for (std::int64_t i = 0; i < blocks; i += LANES) {
    for (int l = 0; l < LANES; ++l) {
      std::uint32_t w0 = cell[i + l], w1 = MASSES, w2 = s.draw_low, w3 = s.draw_high;
      lane_philox(w0, w1, w2, w3, s.seed_low, s.seed_high);
      r0[i + l] = w0 < below_one ? 1.0f : (w0 < below_any ? 0.0f : r0[i + l]);
      r1[i + l] = w1 < below_one ? 1.0f : (w1 < below_any ? 0.0f : r1[i + l]);
      r2[i + l] = w2 < below_one ? 1.0f : (w2 < below_any ? 0.0f : r2[i + l]);
      r3[i + l] = w3 < below_one ? 1.0f : (w3 < below_any ? 0.0f : r3[i + l]);
    }
  }
}

SUREFOOT_CLONES void shift_and_scale(std::int64_t topics, std::int64_t systems, const float* system,
                                     const float* topic, float sigma, float* y) {
  for (std::int64_t j = 0; j < topics; ++j) {
    float* row = y + j * systems;
    for (std::int64_t i = 0; i < systems; ++i) row[i] = (system[i] + topic[j]) + sigma * row[i];
  }
}

// Gains, losses and their counts of each system against column `champion`.
SUREFOOT_CLONES void compare(std::int64_t topics, std::int64_t systems, std::int64_t champion,
                             const float* y, float* gain, float* loss, std::int32_t* wins,
                             std::int32_t* losses) {
  for (std::int64_t j = 0; j < topics; ++j) {
    const float* row = y + j * systems;
    const float reference = row[champion];
    for (std::int64_t i = 0; i < systems; ++i) {
      const float delta = row[i] - reference;
      gain[i] += delta > 0.0f ? delta : 0.0f;
      loss[i] += delta < 0.0f ? delta : 0.0f;
      wins[i] += delta > 0.0f;
      losses[i] += delta < 0.0f;
    }
  }
}

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The cells of one job and how to draw them; shared by all threads.
struct Plan {
  int family;
  std::int64_t draws, systems, topics, cells;  // systems: the selected ones
  std::int64_t all_systems, quads;
  const double* system;
  const double* topic;
  const double* parameter;
  std::int64_t parameters;
  const std::int64_t* selected;
  std::uint64_t seed, first_draw;
  std::vector<std::uint32_t> cell_id, block_id;

  Plan(int family_, const Matrix& system_, const Matrix& topic_, const Matrix& parameter_,
       const Indices& selected_, std::uint64_t seed_, std::uint64_t first_draw_)
      : family(family_),
        draws(static_cast<std::int64_t>(system_.shape(0))),
        systems(static_cast<std::int64_t>(selected_.shape(0))),
        topics(static_cast<std::int64_t>(topic_.shape(1))),
        cells(systems * topics),
        all_systems(static_cast<std::int64_t>(system_.shape(1))),
        quads((topics + 3) / 4),
        system(system_.data()),
        topic(topic_.data()),
        parameter(parameter_.data()),
        parameters(static_cast<std::int64_t>(parameter_.shape(1))),
        selected(selected_.data()),
        seed(seed_),
        first_draw(first_draw_) {
    constexpr std::int64_t needed[] = {1, 2, 2, 3};
    if (family < GAUSSIAN || family > ZOIB) throw std::invalid_argument("unknown family");
    if (static_cast<std::int64_t>(topic_.shape(0)) != draws ||
        static_cast<std::int64_t>(parameter_.shape(0)) != draws || parameters != needed[family])
      throw std::invalid_argument("draws of systems, topics and parameters do not match");
    for (std::int64_t i = 0; i < systems; ++i)
      if (selected[i] < 0 || selected[i] >= all_systems)
        throw std::invalid_argument("system index out of range");
    // counters are named after the whole table, so that a subset draws the same numbers
    cell_id.assign(static_cast<std::size_t>(whole_lanes(cells)), 0);
    for (std::int64_t j = 0; j < topics; ++j)
      for (std::int64_t i = 0; i < systems; ++i)
        cell_id[j * systems + i] = static_cast<std::uint32_t>(selected[i] * topics + j);
    block_id.assign(static_cast<std::size_t>(quads * whole_lanes(systems)), 0);
    for (std::int64_t q = 0; q < quads; ++q)
      for (std::int64_t i = 0; i < systems; ++i)
        block_id[q * whole_lanes(systems) + i] = static_cast<std::uint32_t>(selected[i] * quads + q);
  }
};

// Buffers of one thread, and the replicate of one draw in `y` (topic-major).
class Replicator {
 public:
  explicit Replicator(const Plan& plan)
      : plan_(plan), system_(plan.systems), topic_(plan.topics) {
    const auto padded = static_cast<std::size_t>(whole_lanes(plan.cells));
    y_.assign(padded, 0.0f);
    spare_.assign(padded, 0.0f);
    if (plan.family == ZOIB) {
      shape_a_.assign(padded, 1.0f);
      shape_b_.assign(padded, 1.0f);
    }
    for (auto& row : rows_) row.assign(static_cast<std::size_t>(whole_lanes(plan.systems)), 0.0f);
  }

  const float* draw(std::int64_t index) {
    const Plan& p = plan_;
    const Stream stream(p.seed, p.first_draw + static_cast<std::uint64_t>(index));
    const double* system = p.system + index * p.all_systems;
    const double* topic = p.topic + index * p.topics;
    const double* parameter = p.parameter + index * p.parameters;
    if (p.family == ZOIB) {
      // exp(-eta) = exp(-system) exp(-topic); beyond +-40 a beta mean is 0 or 1 in any precision
      for (std::int64_t i = 0; i < p.systems; ++i)
        system_[i] = static_cast<float>(std::exp(-bounded(system[p.selected[i]])));
      for (std::int64_t j = 0; j < p.topics; ++j)
        topic_[j] = static_cast<float>(std::exp(-bounded(topic[j])));
      fill_shapes(p.topics, p.systems, system_.data(), topic_.data(),
                  static_cast<float>(parameter[0]), shape_a_.data(), shape_b_.data());
      attempt_beta(whole_lanes(p.cells), p.cell_id.data(), 0, stream, shape_a_.data(),
                   shape_b_.data(), y_.data());
      retry_beta(stream);
      place_masses(stream, parameter[1], parameter[2]);
      return y_.data();
    }
    for (std::int64_t i = 0; i < p.systems; ++i)
      system_[i] = static_cast<float>(system[p.selected[i]]);
    for (std::int64_t j = 0; j < p.topics; ++j) topic_[j] = static_cast<float>(topic[j]);
    normals(stream, NORMALS, y_.data());
    auto sigma = static_cast<float>(parameter[0]);
    if (p.family == STUDENT) {
      const auto nu = static_cast<float>(parameter[1]);
      attempt_student(whole_lanes(p.cells), p.cell_id.data(), 0, stream, nu, spare_.data());
      retry_student(stream, nu);
      for (std::int64_t k = 0; k < p.cells; ++k) y_[k] *= spare_[k];
    } else if (p.family == SKEW_NORMAL) {
      normals(stream, MORE_NORMALS, spare_.data());
      // Azzalini: delta |z0| + sqrt(1 - delta^2) z1; here with mean 0 and standard deviation 1,
      // thesis Algorithm 4.2 lines 6-8
      const double lambda = parameter[1];
      const double delta = lambda / std::sqrt(1.0 + lambda * lambda);
      const double omega = 1.0 / std::sqrt(1.0 - 2.0 * delta * delta / PI);
      const auto shift = static_cast<float>(-omega * delta * std::sqrt(2.0 / PI));
      const auto one_sided = static_cast<float>(omega * delta);
      const auto symmetric = static_cast<float>(omega * std::sqrt(1.0 - delta * delta));
      for (std::int64_t k = 0; k < p.cells; ++k)
        y_[k] = shift + one_sided * std::fabs(spare_[k]) + symmetric * y_[k];
    }
    shift_and_scale(p.topics, p.systems, system_.data(), topic_.data(), sigma, y_.data());
    return y_.data();
  }

 private:
  static double bounded(double x) { return std::min(40.0, std::max(-40.0, x)); }

  void normals(Stream stream, std::uint32_t purpose, float* out) {
    const std::int64_t n = plan_.systems, padded = whole_lanes(n);
    for (std::int64_t q = 0; q < plan_.quads; ++q) {
      fill_normals(padded, plan_.block_id.data() + q * padded, purpose, stream, rows_[0].data(),
                   rows_[1].data(), rows_[2].data(), rows_[3].data());
      for (std::int64_t r = 0; r < std::min<std::int64_t>(4, plan_.topics - 4 * q); ++r)
        std::copy_n(rows_[r].data(), n, out + (4 * q + r) * n);
    }
  }

  // Rejected cells, about one in fifteen, are gathered and tried again until none is left.
  template <class Attempt>
  void retry(float* values, Attempt&& attempt) {
    redo_.clear();
    for (std::int64_t k = 0; k < plan_.cells; ++k)
      if (values[k] < 0.0f) redo_.push_back(static_cast<std::uint32_t>(k));
    for (std::uint32_t count = 1; !redo_.empty(); ++count) {
      const auto n = static_cast<std::int64_t>(redo_.size());
      const auto padded = static_cast<std::size_t>(whole_lanes(n));
      redo_cell_.assign(padded, 0);
      redo_value_.resize(padded);
      for (std::int64_t k = 0; k < n; ++k) redo_cell_[k] = plan_.cell_id[redo_[k]];
      attempt(static_cast<std::int64_t>(padded), n, count);
      std::size_t left = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        const std::uint32_t cell = redo_[k];
        if (redo_value_[k] < 0.0f)
          redo_[left++] = cell;
        else
          values[cell] = redo_value_[k];
      }
      redo_.resize(left);
    }
  }

  void retry_beta(Stream stream) {
    retry(y_.data(), [&](std::int64_t padded, std::int64_t n, std::uint32_t count) {
      redo_a_.assign(static_cast<std::size_t>(padded), 1.0f);
      redo_b_.assign(static_cast<std::size_t>(padded), 1.0f);
      for (std::int64_t k = 0; k < n; ++k) {
        redo_a_[k] = shape_a_[redo_[k]];
        redo_b_[k] = shape_b_[redo_[k]];
      }
      attempt_beta(padded, redo_cell_.data(), count, stream, redo_a_.data(), redo_b_.data(),
                   redo_value_.data());
    });
  }

  void retry_student(Stream stream, float nu) {
    retry(spare_.data(), [&](std::int64_t padded, std::int64_t, std::uint32_t count) {
      attempt_student(padded, redo_cell_.data(), count, stream, nu, redo_value_.data());
    });
  }

  void place_masses(Stream stream, double zoi, double coi) {
    if (!(zoi > 0.0)) return;
    const auto threshold = [](double probability) {
      return static_cast<std::uint32_t>(std::min(4294967295.0, std::max(0.0, probability * 0x1p32)));
    };
    const std::int64_t n = plan_.systems, padded = whole_lanes(n);
    for (std::int64_t q = 0; q < plan_.quads; ++q) {
      const std::int64_t rows = std::min<std::int64_t>(4, plan_.topics - 4 * q);
      for (std::int64_t r = 0; r < rows; ++r)
        std::copy_n(y_.data() + (4 * q + r) * n, n, rows_[r].data());
      // thesis Eq. 5.3 with the masses of errata thesis-41: one with zoi coi, zero with zoi (1 - coi)
      inflate(padded, plan_.block_id.data() + q * padded, stream, threshold(zoi * coi),
              threshold(zoi), rows_[0].data(), rows_[1].data(), rows_[2].data(), rows_[3].data());
      for (std::int64_t r = 0; r < rows; ++r)
        std::copy_n(rows_[r].data(), n, y_.data() + (4 * q + r) * n);
    }
  }

  const Plan& plan_;
  std::vector<float> system_, topic_, y_, spare_, shape_a_, shape_b_, rows_[4];
  std::vector<std::uint32_t> redo_, redo_cell_;
  std::vector<float> redo_a_, redo_b_, redo_value_;
};

constexpr std::int64_t CHUNK = 64;  // draws that a thread takes at a time

template <class T>
nb::ndarray<nb::numpy, T> owned(std::vector<T>* data, std::initializer_list<std::size_t> shape) {
  nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(data->data(), shape, owner);
}

// Column 0 of `selected` is the champion; the others are challengers.
nb::tuple replicate_sums(int family, Matrix system, Matrix topic, Matrix parameter, Indices selected,
                         std::uint64_t seed, std::uint64_t first_draw, int threads) {
  const Plan plan(family, system, topic, parameter, selected, seed, first_draw);
  if (plan.systems < 1) throw std::invalid_argument("select at least the champion");
  const std::int64_t challengers = plan.systems - 1;
  const auto size = static_cast<std::size_t>(plan.draws * challengers);
  auto* gains = new std::vector<double>(size);
  auto* losses = new std::vector<double>(size);
  auto* wins = new std::vector<std::int32_t>(size);
  auto* worse = new std::vector<std::int32_t>(size);
  {
    nb::gil_scoped_release release;
    parallel_chunks(plan.draws, CHUNK, threads, [&](std::int64_t begin, std::int64_t end) {
      Replicator replicator(plan);
      const auto width = static_cast<std::size_t>(plan.systems);
      std::vector<float> gain(width), loss(width);
      std::vector<std::int32_t> won(width), lost(width);
      for (std::int64_t s = begin; s < end; ++s) {
        const float* y = replicator.draw(s);
        std::fill(gain.begin(), gain.end(), 0.0f);
        std::fill(loss.begin(), loss.end(), 0.0f);
        std::fill(won.begin(), won.end(), 0);
        std::fill(lost.begin(), lost.end(), 0);
        compare(plan.topics, plan.systems, 0, y, gain.data(), loss.data(), won.data(), lost.data());
        for (std::int64_t i = 0; i < challengers; ++i) {
          const std::int64_t k = s * challengers + i;
          (*gains)[k] = gain[i + 1];
          (*losses)[k] = loss[i + 1];
          (*wins)[k] = won[i + 1];
          (*worse)[k] = lost[i + 1];
        }
      }
    });
  }
  const auto n = static_cast<std::size_t>(plan.draws), c = static_cast<std::size_t>(challengers);
  return nb::make_tuple(owned(gains, {n, c}), owned(losses, {n, c}), owned(wins, {n, c}),
                        owned(worse, {n, c}));
}

nb::ndarray<nb::numpy, float> replicate_scores(int family, Matrix system, Matrix topic,
                                               Matrix parameter, Indices selected,
                                               std::uint64_t seed, std::uint64_t first_draw,
                                               int threads) {
  const Plan plan(family, system, topic, parameter, selected, seed, first_draw);
  auto* out = new std::vector<float>(static_cast<std::size_t>(plan.draws * plan.cells));
  {
    nb::gil_scoped_release release;
    parallel_chunks(plan.draws, CHUNK, threads, [&](std::int64_t begin, std::int64_t end) {
      Replicator replicator(plan);
      for (std::int64_t s = begin; s < end; ++s) {
        const float* y = replicator.draw(s);
        float* to = out->data() + s * plan.cells;
        for (std::int64_t i = 0; i < plan.systems; ++i)
          for (std::int64_t j = 0; j < plan.topics; ++j)
            to[i * plan.topics + j] = y[j * plan.systems + i];
      }
    });
  }
  return owned(out, {static_cast<std::size_t>(plan.draws), static_cast<std::size_t>(plan.systems),
                     static_cast<std::size_t>(plan.topics)});
}

}  // namespace
}  // namespace surefoot

void bind_replicate(nb::module_& m) {
  m.def("replicate_sums", &surefoot::replicate_sums, nb::arg("family"), nb::arg("system"),
        nb::arg("topic"), nb::arg("parameter"), nb::arg("selected"), nb::arg("seed"),
        nb::arg("first_draw"), nb::arg("threads"));
  m.def("replicate_scores", &surefoot::replicate_scores, nb::arg("family"), nb::arg("system"),
        nb::arg("topic"), nb::arg("parameter"), nb::arg("selected"), nb::arg("seed"),
        nb::arg("first_draw"), nb::arg("threads"));
}
