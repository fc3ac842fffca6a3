// Ranking measures over interned documents.
#include <nanobind/nanobind.h>

void bind_measures(nanobind::module_&) {}
