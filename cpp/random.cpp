// Counter-based random numbers, exposed so that tests can hold the generator to its published vectors.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "philox.hpp"

namespace nb = nanobind;

static nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>> philox_block(std::uint64_t seed,
                                                                     std::uint64_t stream,
                                                                     std::uint64_t index) {
  auto* out = new std::uint32_t[4];
  const auto words = surefoot::Philox(seed).block(stream, index);
  for (int i = 0; i < 4; ++i) out[i] = words[i];
  nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<std::uint32_t*>(p); });
  return nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>>(out, {4}, owner);
}

void bind_random(nb::module_& m) {
  m.def("philox_block", &philox_block, nb::arg("seed"), nb::arg("stream"), nb::arg("index"));
}
