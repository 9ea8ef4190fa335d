// The library's failures as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "faro/faro.h"

namespace faro::python {

namespace nb = nanobind;

/// Takes the function that makes an exception: errors(status, message, operation, got, wanted, remedy).
void set_errors(nb::object errors);

/// Throws what the calling thread's last failure was, where `status` is one.
void check(faro_status status);

/// A fault of the caller that the library has not seen. Throws.
[[noreturn]] void refuse(const char* operation, const std::string& got, const std::string& wanted,
                         const std::string& remedy = {});

/// No memory for a new array of so many bytes. Throws, in place of an exception that a library has raised.
[[noreturn]] void refuse_memory(double bytes);

/// Does long work without the interpreter's lock: other Python threads run, and Ctrl-C ends what runs on the
/// CPU. `work` gives a status. Throws what Python raised meanwhile, or what went wrong.
template <typename Work>
void do_unlocked(const Work& work) {
  const auto keep_on = [](void*) {
    const nb::gil_scoped_acquire held;
    return PyErr_CheckSignals() == 0 ? 1 : 0;
  };
  faro_status status = FARO_OK;
  {
    const nb::gil_scoped_release released;
    faro_set_keep_on(keep_on, nullptr);
    status = work();
    faro_set_keep_on(nullptr, nullptr);
  }
  if (PyErr_Occurred() != nullptr) nb::raise_python_error();
  check(status);
}

/// A text for the library, which reads it to its first zero. Throws where there is one within: under the
/// interpreter's lock, so before it is released.
const char* c_text(const std::string& text);

/// A text of the library's, which is freed.
nb::str taken(char* text);

/// The text that a function of faro.h gives through its last argument.
template <typename Ask>
nb::str told(const Ask& ask) {
  char* text = nullptr;
  check(ask(&text));
  return taken(text);
}

}  // namespace faro::python
