// The extension `faro._faro`: addresses and whole numbers go in, for the package alone.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

#include "faro_processor.hpp"
#include "plan_handle.hpp"
#include "pytorch.hpp"
#include "status.hpp"

NB_MODULE(_faro, module) {
  namespace nb = nanobind;
  if (!faro::processor_suffices()) {
    const std::string lacking = std::string("faro was built for processors with ") + faro::kInstructionSet +
                                ", which this one lacks; with `-C cmake.define.FARO_CPU_TARGETS=ALL`, `pip "
                                "install` builds it for every "
                                "processor";
    throw nb::import_error(lacking.c_str());
  }
  // Plans, sessions and cached objects live as long as the process.
  nb::set_leak_warnings(false);
  module.def("set_errors", &faro::python::set_errors);
  module.def("version", [] { return std::string(faro_version()); });
  module.def("cuda_status", [] {
    int available = 0;
    char* reason = nullptr;
    faro::python::check(faro_cuda_status(&available, &reason));
    return nb::make_tuple(available != 0, faro::python::taken(reason));
  });
  module.def("cuda_device_of", [](std::uintptr_t address) {
    return faro_cuda_device_of(reinterpret_cast<const void*>(address));
  });
  faro::python::bind_maps(module);
  faro::python::bind_plans(module);
  faro::python::bind_rows(module);
  faro::python::bind_shards(module);
  faro::python::bind_stores(module);
  faro::python::bind_packed(module);
  faro::python::bind_arrays(module);
  faro::python::bind_arithmetic(module);
  faro::python::bind_blocks(module);
  faro::python::bind_caches(module);
  faro::python::bind_groups(module);
  faro::python::bind_families(module);
  faro::python::bind_calls(module);
  faro::python::bind_pytorch(module);
  faro::python::bind_xla(module);
}
