// Dynamic programs of active evaluation.
#include <nanobind/nanobind.h>

void bind_active(nanobind::module_&) {}
