// TREC text: judgments and runs, parsed in one pass and joined without a Python object per document.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "text_join.hpp"
#include "text_keep.hpp"
#include "text_parts.hpp"

namespace nb = nanobind;
using namespace surefoot::text;

namespace {

using Ints = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Out, class T>
nb::object to_numpy(Column<T>& column, std::size_t entries_each = 1) {
  const std::size_t size = column.size() / entries_each;
  T* data = column.release();
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return nb::cast(nb::ndarray<nb::numpy, Out, nb::ndim<1>>(reinterpret_cast<Out*>(data), {size}, owner));
}

Packed packed(const Bytes& block, const Ints& ends) {
  return {reinterpret_cast<const char*>(block.data()), ends.data()};
}

// The index with the arrays that it borrows.
struct OwnedIndex {
  Bytes topic_block, document_block;
  Ints topic_ends, offsets, document_ends;
  JudgedIndex index;
  OwnedIndex(Bytes topic_block, Ints topic_ends, Ints offsets, Bytes document_block, Ints document_ends, Floats grades)
      : topic_block(topic_block), document_block(document_block), topic_ends(topic_ends), offsets(offsets),
        document_ends(document_ends),
        index(packed(topic_block, topic_ends), static_cast<std::int64_t>(topic_ends.size()), offsets.data(),
              packed(document_block, document_ends), grades.data()) {}
};

template <class Reading>
void feed(Reading& self, nb::bytes data) {
  const char* text = data.c_str();
  const std::size_t size = data.size();
  nb::gil_scoped_release released;
  self.reader().feed(text, size);
}

template <class Reading>
std::int64_t feed_file(Reading& self, int file, std::int64_t offset, std::int64_t length) {
  nb::gil_scoped_release released;
  return self.reader().feed_file(file, offset, length);
}

template <class Reading>
void finish(Reading& self) {
  nb::gil_scoped_release released;
  self.finish();
}

void join_columns(RunJoiner& self, Bytes topic_block, Ints topic_ends, Ints offsets, Bytes document_block,
                  Ints document_ends, Floats scores, Floats ranks) {
  const Packed topics = packed(topic_block, topic_ends), documents = packed(document_block, document_ends);
  nb::gil_scoped_release released;
  for (std::size_t t = 0; t < topic_ends.size(); ++t) {
    const auto i = static_cast<std::int64_t>(t);
    self.add_topic(topics.at(i), documents, scores.data(), ranks.data(), offsets(t), offsets(t + 1));
  }
}

// The parts of one run, in the order of the judgments: offsets, codes of the grades, scores, which topics it
// has.
nb::tuple assemble(const std::vector<RunJoiner*>& parts, std::int64_t n_topics) {
  if (parts.size() > 1) {
    std::unordered_set<std::string_view> seen;
    for (const RunJoiner* part : parts) {
      for (const auto& entry : part->seen()) {
        if (!seen.insert(entry.first).second) throw ScatteredTopics{};
      }
    }
  }
  const auto n = static_cast<std::size_t>(n_topics);
  Column<std::int64_t> offsets;
  Column<std::uint8_t> in_run;
  std::int64_t* o = offsets.extend(n + 1);
  std::uint8_t* has = in_run.extend(n);
  std::fill(o, o + n + 1, 0);
  std::fill(has, has + n, std::uint8_t{0});
  bool ordered = parts.size() == 1;
  std::int64_t previous = -1;
  for (const RunJoiner* part : parts) {
    for (const Segment& s : part->segments) {
      o[s.topic + 1] = s.count;
      has[s.topic] = 1;
      ordered &= s.topic > previous;
      previous = s.topic;
    }
  }
  for (std::size_t t = 0; t < n; ++t) o[t + 1] += o[t];
  Column<std::uint8_t> code;
  Column<double> score;
  const std::size_t width = parts[0]->width();
  if (ordered) {
    code = std::move(parts[0]->code);
    score = std::move(parts[0]->score);
  } else {
    std::uint8_t* codes = code.extend(static_cast<std::size_t>(o[n]) * width);
    const bool scored = std::any_of(parts.begin(), parts.end(), [](RunJoiner* p) { return p->score.size() > 0; });
    double* scores = score.extend(scored ? static_cast<std::size_t>(o[n]) : 0);
    nb::gil_scoped_release released;
    for (RunJoiner* part : parts) {
      for (const Segment& s : part->segments) {
        if (s.count == 0) continue;
        const auto count = static_cast<std::size_t>(s.count), from = static_cast<std::size_t>(s.begin);
        std::memcpy(codes + static_cast<std::size_t>(o[s.topic]) * width, part->code.data() + from * width, count * width);
        if (scored) std::memcpy(scores + o[s.topic], part->score.data() + from, count * sizeof(double));
      }
      part->code = {};
      part->score = {};
    }
  }
  return nb::make_tuple(to_numpy<std::int64_t>(offsets),
                        width == 1 ? to_numpy<std::uint8_t>(code) : to_numpy<std::uint32_t>(code, 4),
                        to_numpy<double>(score), to_numpy<bool>(in_run));
}

// Grades of each topic, highest first.
nb::object sorted_grades(Ints offsets, Floats grades) {
  Column<double> sorted;
  double* out = sorted.extend(grades.size());
  {
    nb::gil_scoped_release released;
    std::copy(grades.data(), grades.data() + grades.size(), out);
    for (std::size_t t = 0; t + 1 < offsets.size(); ++t) {
      std::sort(out + offsets(t), out + offsets(t + 1), std::greater<double>());
    }
  }
  return to_numpy<double>(sorted);
}

// Entries of each topic in rank order, as row numbers.
nb::object rank_rows(Ints offsets, Bytes document_block, Ints document_ends, Floats scores, Floats ranks, int ties) {
  const Packed documents = packed(document_block, document_ends);
  Column<std::int64_t> rows;
  {
    nb::gil_scoped_release released;
    Ranker ranker;
    Column<Record> records;
    std::vector<double> topic_ranks;
    std::vector<std::uint32_t> order;
    for (std::size_t t = 0; t + 1 < offsets.size(); ++t) {
      const std::int64_t begin = offsets(t), end = offsets(t + 1);
      const char* base = documents.block + documents.begin_of(begin);
      records.clear();
      topic_ranks.clear();
      for (std::int64_t row = begin; row < end; ++row) {
        const std::string_view id = documents.at(row);
        records.push_back({scores(static_cast<std::size_t>(row)), 0, static_cast<std::uint32_t>(id.data() - base),
                           static_cast<std::uint32_t>(id.size())});
        topic_ranks.push_back(ranks(static_cast<std::size_t>(row)));
      }
      const bool reordered = ranker.rank(records, topic_ranks, base, static_cast<Ties>(ties), order);
      for (std::size_t i = 0; i < records.size(); ++i) {
        rows.push_back(begin + static_cast<std::int64_t>(reordered ? order[i] : i));
      }
    }
  }
  return to_numpy<std::int64_t>(rows);
}

template <int kFields>
void add_rows(Keeper<kFields>& self, Bytes topic_block, Ints topic_ends, Bytes document_block, Ints document_ends,
              Floats values, Floats ranks) {
  const Packed topics = packed(topic_block, topic_ends), documents = packed(document_block, document_ends);
  nb::gil_scoped_release released;
  for (std::size_t row = 0; row < values.size(); ++row) {
    const auto i = static_cast<std::int64_t>(row);
    self.add(topics.at(i), documents.at(i), values(row), ranks(row), i + 1);
  }
}

// topics as bytes, offsets, block, ends, values, ranks
template <int kFields>
nb::tuple kept(Keeper<kFields>& self) {
  nb::list topics;
  for (const std::string& topic : self.topics) topics.append(nb::bytes(topic.data(), topic.size()));
  self.topic_of_row = {};
  return nb::make_tuple(topics, to_numpy<std::int64_t>(self.offsets), to_numpy<std::uint8_t>(self.block),
                        to_numpy<std::int64_t>(self.ends), to_numpy<double>(self.values),
                        to_numpy<double>(self.ranks));
}

template <int kFields>
void bind_keeper(nb::module_& m, const char* name) {
  using K = Keeper<kFields>;
  nb::class_<K>(m, name)
      .def("__init__", [](K* self, int duplicates) { new (self) K(static_cast<Duplicates>(duplicates)); },
           nb::arg("duplicates"))
      .def("feed", &feed<K>)
      .def("feed_file", &feed_file<K>)
      .def("add_rows", &add_rows<kFields>)
      .def("finish", &finish<K>)
      .def("kept", &kept<kFields>)
      .def_prop_ro("lines", [](K& self) { return self.reader().lines(); })
      .def_prop_ro("rows", [](K& self) { return self.values.size(); })
      .def_prop_ro("tag", [](K& self) { return nb::bytes(self.tag.data(), self.tag.size()); })
      .def_ro("other_tags", &K::other_tags)
      .def_ro("dropped", &K::dropped)
      .def_prop_ro("scattered", &K::scattered);
}

}  // namespace

void bind_text(nb::module_& m) {
  // never released: exceptions outlive the module
  static PyObject* const text_error = PyErr_NewException("surefoot._kernels.TextError", PyExc_ValueError, nullptr);
  static PyObject* const scattered = PyErr_NewException("surefoot._kernels.ScatteredTopics", PyExc_Exception, nullptr);
  m.attr("TextError") = nb::borrow(text_error);
  m.attr("ScatteredTopics") = nb::borrow(scattered);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const TextError& e) {
      nb::tuple arguments = nb::make_tuple(static_cast<int>(e.fault), e.line, nb::bytes(e.text.data(), e.text.size()),
                                           nb::bytes(e.whole.data(), e.whole.size()), e.count);
      PyErr_SetObject(text_error, arguments.ptr());
    } catch (const ScatteredTopics&) {
      PyErr_SetNone(scattered);
    }
  });

  nb::class_<OwnedIndex>(m, "JudgedIndex")
      .def(nb::init<Bytes, Ints, Ints, Bytes, Ints, Floats>())
      .def_prop_ro("levels", [](const OwnedIndex& self) {
        const std::vector<double>& levels = self.index.grade_codes().levels();
        Column<double> copy;
        std::copy(levels.begin(), levels.end(), copy.extend(levels.size()));
        return to_numpy<double>(copy);
      });

  nb::class_<RunJoiner>(m, "RunJoiner")
      .def("__init__",
           [](RunJoiner* self, const OwnedIndex& judged, int ties, std::int64_t depth, int duplicates, bool scores) {
             new (self) RunJoiner(judged.index, static_cast<Ties>(ties), depth, static_cast<Duplicates>(duplicates),
                                  scores);
           },
           nb::arg("judged"), nb::arg("ties"), nb::arg("depth"), nb::arg("duplicates"), nb::arg("scores"),
           nb::keep_alive<1, 2>())
      .def("expect", &RunJoiner::expect)
      .def("feed", &feed<RunJoiner>)
      .def("feed_file", &feed_file<RunJoiner>)
      .def("join_columns", &join_columns)
      .def("finish", &finish<RunJoiner>)
      .def_prop_ro("lines", [](RunJoiner& self) { return self.reader().lines(); })
      .def_ro("rows", &RunJoiner::rows)
      .def_ro("extra_topics", &RunJoiner::extra_topics)
      .def_prop_ro("tag", [](RunJoiner& self) { return nb::bytes(self.tag.data(), self.tag.size()); });

  bind_keeper<kRunFields>(m, "RunKeeper");
  bind_keeper<kQrelsFields>(m, "QrelsKeeper");

  m.def("assemble", &assemble, nb::arg("parts"), nb::arg("n_topics"));
  m.def("sorted_grades", &sorted_grades, nb::arg("offsets"), nb::arg("grades"));
  m.def("rank_rows", &rank_rows, nb::arg("offsets"), nb::arg("document_block"), nb::arg("document_ends"),
        nb::arg("scores"), nb::arg("ranks"), nb::arg("ties"));
  m.def("next_topic", &next_topic, nb::arg("file"), nb::arg("offset"), nb::arg("size"),
        nb::call_guard<nb::gil_scoped_release>());
  m.def("lines_before", &lines_before, nb::arg("file"), nb::arg("offset"),
        nb::call_guard<nb::gil_scoped_release>());
}
