// Permutation tests.
#include <nanobind/nanobind.h>

void bind_permute(nanobind::module_&) {}
