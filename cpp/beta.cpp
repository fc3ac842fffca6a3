// Beta regression: value, gradient, curvature.
#include <nanobind/nanobind.h>

void bind_beta(nanobind::module_&) {}
