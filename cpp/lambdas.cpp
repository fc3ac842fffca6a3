// LambdaMART gradients.
#include <nanobind/nanobind.h>

void bind_lambdas(nanobind::module_&) {}
