#include "status.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace faro::python {
namespace {

// Kept for the life of the process: the module is never unloaded.
PyObject* make_error = nullptr;

[[noreturn]] void raise(int status, const char* message, const char* operation, const char* got,
                        const char* wanted, const char* remedy) {
  nb::object exception =
      nb::borrow(make_error)(status, std::string(message).c_str(), operation, got, wanted, remedy);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  nb::raise_python_error();
}

}  // namespace

void set_errors(nb::object errors) { make_error = errors.release().ptr(); }

void check(faro_status status) {
  if (status == FARO_OK) return;
  // Copies: what follows may fail in its turn.
  const std::string message = faro_last_message();
  const std::string operation = faro_last_operation();
  const std::string got = faro_last_got();
  const std::string wanted = faro_last_wanted();
  const std::string remedy = faro_last_remedy();
  raise(status, message.c_str(), operation.c_str(), got.c_str(), wanted.c_str(), remedy.c_str());
}

void refuse(const char* operation, const std::string& got, const std::string& wanted,
            const std::string& remedy) {
  std::string message = std::string(operation) + ": got " + got + ", wanted " + wanted;
  if (!remedy.empty()) message += "; " + remedy;
  raise(FARO_VALUE, message.c_str(), operation, got.c_str(), wanted.c_str(), remedy.c_str());
}

void refuse_memory(double bytes) {
  PyErr_Clear();
  const std::string got =
      std::to_string(static_cast<std::uint64_t>(std::min(bytes, 0x1p63))) + " bytes of a new array";
  const std::string wanted = "no more than there is memory for";
  const std::string message = "make an array: got " + got + ", wanted " + wanted;
  raise(FARO_MEMORY, message.c_str(), "make an array", got.c_str(), wanted.c_str(), "");
}

const char* c_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) refuse("read a text", "a zero byte within it", "text");
  return text.c_str();
}

nb::str taken(char* text) {
  struct Freed {
    char* text;
    ~Freed() { faro_free(text); }
  } freed{text};
  // A path in a text may hold any bytes.
  PyObject* const made = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace");
  if (made == nullptr) nb::raise_python_error();
  return nb::steal<nb::str>(made);
}

}  // namespace faro::python
