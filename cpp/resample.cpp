// Bootstrap resampling.
#include <nanobind/nanobind.h>

void bind_resample(nanobind::module_&) {}
