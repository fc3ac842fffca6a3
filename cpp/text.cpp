// TREC text: judgments and runs, parsed in one pass.
#include <nanobind/nanobind.h>

void bind_text(nanobind::module_&) {}
