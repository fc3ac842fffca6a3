// The SVMlight / LETOR reader behind surefoot.io.svmlight.
#include "svmlight.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace nb = nanobind;

namespace {

template <class T>
nb::ndarray<nb::numpy, T> owned(std::vector<T>&& from, std::vector<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(from));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

// (features, labels, query ids, first rows, document names), or (line, message) of the first error.
nb::tuple read_svmlight(nb::bytes text) {
  surefoot::SvmlightTable table;
  std::vector<float> dense;
  std::int64_t bad_line = 0;
  std::string message;
  {
    nb::gil_scoped_release release;
    try {
      table = surefoot::parse_svmlight(text.c_str(), text.size());
      const auto rows = table.label.size();
      const auto width = static_cast<std::size_t>(table.width);
      dense.assign(rows * width, 0.0f);
      for (std::size_t r = 0; r < rows; ++r) {
        float* out = dense.data() + r * width;
        for (std::int64_t c = table.start[r]; c < table.start[r + 1]; ++c) {
          out[table.column[static_cast<std::size_t>(c)]] = table.value[static_cast<std::size_t>(c)];
        }
      }
    } catch (const surefoot::SvmlightError& error) {
      bad_line = error.line;
      message = error.what();
    }
  }
  if (bad_line > 0) return nb::make_tuple(bad_line, message);
  const std::size_t rows = table.label.size(), width = static_cast<std::size_t>(table.width);
  const std::size_t queries = table.first.size();
  return nb::make_tuple(owned(std::move(dense), {rows, width}),
                        owned(std::move(table.label), {rows}), std::move(table.ids),
                        owned(std::move(table.first), {queries}), std::move(table.document));
}

}  // namespace

void bind_svmlight(nb::module_& m) { m.def("read_svmlight", &read_svmlight, nb::arg("text")); }
