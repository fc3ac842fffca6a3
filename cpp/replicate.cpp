// Posterior predictive replicate draws.
#include <nanobind/nanobind.h>

void bind_replicate(nanobind::module_&) {}
