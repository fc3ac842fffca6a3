// The one compiled module: each kernel family binds itself here.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_random(nb::module_&);
void bind_text(nb::module_&);
void bind_measures(nb::module_&);
void bind_resample(nb::module_&);
void bind_permute(nb::module_&);
void bind_lambdas(nb::module_&);
void bind_svmlight(nb::module_&);
void bind_beta(nb::module_&);
void bind_laplace(nb::module_&);
void bind_replicate(nb::module_&);
void bind_active(nb::module_&);
void bind_overlays(nb::module_&);

NB_MODULE(_kernels, m) {
  m.doc() = "Compiled kernels of Surefoot: arrays in, arrays out.";
  bind_random(m);
  bind_text(m);
  bind_measures(m);
  bind_resample(m);
  bind_permute(m);
  bind_lambdas(m);
  bind_svmlight(m);
  bind_beta(m);
  bind_laplace(m);
  bind_replicate(m);
  bind_active(m);
  bind_overlays(m);
}
