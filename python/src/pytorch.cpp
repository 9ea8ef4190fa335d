// PyTorch keeps what is active in a set of dispatch keys, one a thread. libc10 tells of it in nanoseconds;
// Python's functions that tell the same take 30 each, and are asked where libc10 is another one.
#include "pytorch.hpp"

#include <dlfcn.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

namespace faro::python {
namespace {

// A function of libraries that PyTorch has loaded; null: not found.
template <typename Function>
Function* loaded(const char* library, const char* name) {
  void* const found = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (found == nullptr) return nullptr;
  auto* const function = reinterpret_cast<Function*>(dlsym(found, name));
  dlclose(found);  // which stays: PyTorch is never unloaded
  return function;
}

using KeysIncluded = bool(std::uint64_t keys);
using FunctionMode = bool();

KeysIncluded* keys_included() {
  static auto* const found =
      loaded<KeysIncluded>("libc10.so", "_ZN3c104impl31tls_is_dispatch_keyset_includedENS_14DispatchKeySetE");
  return found;
}

FunctionMode* function_mode() {
  static auto* const found =
      loaded<FunctionMode>("libtorch_cpu.so", "_ZN2at4impl27torch_function_mode_enabledEv");
  return found;
}

PyObject* meet_torch = nullptr;

struct PyTorch {
  std::vector<std::uint64_t> keys;    // none: the questions are asked
  std::vector<nb::object> questions;  // functions that tell true, or a number, while something is active
  nb::dict forward_mode;              // of the module that keeps the level of forward-mode derivatives
  nb::str level = nb::str("_current_level");
  nb::object no_level = nb::int_(-1);
  nb::object is_active;  // whether that has to hear of a call
  nb::object written;    // raises the version counters of a tuple of tensors
  nb::str dtype = nb::str("dtype");
  nb::tuple bytes;  // the types of PyTorch that DLPack's integers of eight bits are
};

const PyTorch& pytorch() {
  static const PyTorch* const known = [] {
    const nb::tuple told = nb::cast<nb::tuple>(nb::borrow(meet_torch)());
    auto* const made = new PyTorch;
    made->keys = nb::cast<std::vector<std::uint64_t>>(told[0]);
    for (nb::handle question : nb::cast<nb::tuple>(told[1])) made->questions.push_back(nb::borrow(question));
    made->forward_mode = nb::cast<nb::dict>(told[2]);
    made->is_active = told[3];
    made->written = told[4];
    made->bytes = nb::cast<nb::tuple>(told[5]);
    return made;
  }();
  return *known;
}

bool has_forward_level(const PyTorch& torch) {
  PyObject* const level = PyDict_GetItemWithError(torch.forward_mode.ptr(), torch.level.ptr());
  return level != nullptr && level != torch.no_level.ptr() &&
         PyObject_RichCompareBool(level, torch.no_level.ptr(), Py_EQ) != 1;
}

bool may_be_active(const PyTorch& torch) {
  if (!torch.keys.empty()) {
    for (const std::uint64_t key : torch.keys) {
      if (keys_included()(key)) return true;
    }
    return function_mode()();
  }
  for (const nb::object& question : torch.questions) {
    const nb::object told = nb::steal(PyObject_CallNoArgs(question.ptr()));
    if (!told.is_valid()) nb::raise_python_error();
    if (PyObject_IsTrue(told.ptr()) == 1) return true;
  }
  return false;
}

}  // namespace

bool is_watched(const ExchangeType& type) {
  if (!type.has_gradients) return false;
  const PyTorch& torch = pytorch();
  if (has_forward_level(torch)) return true;
  return may_be_active(torch) && nb::cast<bool>(torch.is_active());
}

bool is_what_dlpack_says(nb::handle tensor, const Tensor& told) {
  constexpr int kUnsigned = 1;
  if (told.dtype.code > kUnsigned || told.dtype.bits != 8) return true;
  const PyTorch& torch = pytorch();
  const nb::object dtype = nb::steal(PyObject_GetAttr(tensor.ptr(), torch.dtype.ptr()));
  if (!dtype.is_valid()) nb::raise_python_error();
  return dtype.is(torch.bytes[told.dtype.code]);
}

void tell_written(const ExchangeType& type, const nb::tuple& tensors) {
  if (type.has_gradients) pytorch().written(tensors);
}

void set_meet_torch(nb::object meet) { meet_torch = meet.release().ptr(); }

void bind_pytorch(nb::module_& module) {
  // Whether each key is included, and whether functions have a mode; None where PyTorch's libraries
  // have no such functions.
  module.def("torch_tells", [](const std::vector<std::uint64_t>& keys) -> nb::object {
    if (keys_included() == nullptr || function_mode() == nullptr) return nb::none();
    nb::list told;
    for (const std::uint64_t key : keys) told.append(keys_included()(key));
    told.append(function_mode()());
    return told;
  });
}

}  // namespace faro::python
