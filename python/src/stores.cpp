// Stores of arrays: what they hold, and from one to another.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <string>

#include "status.hpp"

namespace faro::python {
namespace {

// What a run tells as it goes: signals are looked after, and a function is called that may throw.
struct Watch {
  nb::object function;
  std::exception_ptr error = nullptr;

  static int progress(void* context, std::uint64_t done_bytes, std::uint64_t total_bytes) {
    auto& self = *static_cast<Watch*>(context);
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) return 1;
    try {
      if (!self.function.is_none()) self.function(done_bytes, total_bytes);
    } catch (...) {
      self.error = std::current_exception();
    }
    return self.error ? 1 : 0;
  }
};

// What run(watch, &json) gives, without the lock of the interpreter.
template <typename Run>
nb::str watched(nb::object progress, const Run& run) {
  Watch watch{.function = std::move(progress)};
  char* json = nullptr;
  faro_status status = FARO_OK;
  {
    const nb::gil_scoped_release released;
    status = run(&watch, &json);
  }
  if (PyErr_Occurred() != nullptr) nb::raise_python_error();
  if (watch.error) std::rethrow_exception(watch.error);
  check(status);
  return taken(json);
}

nb::str relayout(const std::string& in, const std::string& out, const std::string& options,
                 nb::object progress) {
  const char* const from = c_text(in);
  const char* const to = c_text(out);
  const char* const wanted = c_text(options);
  return watched(std::move(progress), [=](Watch* watch, char** json) {
    return faro_store_relayout(from, to, wanted, Watch::progress, watch, json);
  });
}

nb::str checkpoint(const std::string& rules, const std::string& in, const std::string& out,
                   const std::string& options, nb::object progress) {
  const char* const said = c_text(rules);
  const char* const from = c_text(in);
  const char* const to = c_text(out);
  const char* const wanted = c_text(options);
  return watched(std::move(progress), [=](Watch* watch, char** json) {
    return faro_checkpoint(said, from, to, wanted, Watch::progress, watch, json);
  });
}

}  // namespace

void bind_stores(nb::module_& module) {
  module.def("store_arrays", [](const std::string& path) {
    const char* const asked = c_text(path);
    return told([&](char** json) { return faro_store_arrays(asked, json); });
  });
  module.def("store_relayout", &relayout, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  module.def("checkpoint", &checkpoint, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace faro::python
