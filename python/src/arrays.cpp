// Arrays that Python code reads: by the buffer protocol, and DLPack's capsules.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "dlpack.hpp"
#include "plan_handle.hpp"
#include "status.hpp"

namespace faro::python {
namespace {

class BufferHandle {
 public:
  BufferHandle(nb::handle array, bool writable) {
    if (PyObject_GetBuffer(array.ptr(), &buffer_, PyBUF_STRIDES | (writable ? PyBUF_WRITABLE : 0)) != 0)
      nb::raise_python_error();
  }
  ~BufferHandle() { PyBuffer_Release(&buffer_); }
  BufferHandle(const BufferHandle&) = delete;
  BufferHandle& operator=(const BufferHandle&) = delete;

  const Py_buffer* operator->() const { return &buffer_; }

 private:
  Py_buffer buffer_{};
};

// (address, shape, strides in bytes, itemsize, read only); the handle keeps the buffer. What is dense may
// come without strides, whatever was asked for: those of ctypes do.
nb::tuple facts_of(const BufferHandle& buffer) {
  std::vector<Py_ssize_t> dense(static_cast<std::size_t>(buffer->ndim));
  Py_ssize_t bytes = buffer->itemsize;
  for (std::size_t axis = dense.size(); buffer->strides == nullptr && axis-- > 0;) {
    dense[axis] = bytes;
    bytes *= buffer->shape[axis];
  }
  const Py_ssize_t* const strides = buffer->strides != nullptr ? buffer->strides : dense.data();
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(buffer->buf), tuple_of(buffer->shape, buffer->ndim),
                        tuple_of(strides, buffer->ndim), buffer->itemsize, buffer->readonly != 0);
}

// (name, address, shape, strides in bytes, itemsize, whether it is an output), as Python has it.
using Laid = std::tuple<std::string, std::uintptr_t, std::vector<std::uint64_t>, std::vector<std::int64_t>,
                        std::uint64_t, bool>;

void check_disjoint(const std::string& operation, const std::vector<Laid>& arrays) {
  std::vector<faro_laid_array> laid;
  laid.reserve(arrays.size());
  for (const auto& [name, address, shape, strides, itemsize, is_output] : arrays) {
    laid.push_back({.name = name.c_str(),
                    .address = reinterpret_cast<const void*>(address),
                    .rank = static_cast<int>(shape.size()),
                    .extents = shape.data(),
                    .stride_bytes = strides.data(),
                    .element_bytes = itemsize,
                    .is_output = is_output ? 1 : 0});
  }
  check(faro_check_disjoint(operation.c_str(), laid.data(), laid.size()));
}

}  // namespace

void bind_arrays(nb::module_& module) {
  nb::class_<BufferHandle>(module, "Buffer")
      .def(nb::init<nb::handle, bool>(), nb::arg("array"), nb::arg("writable"))
      .def("facts", &facts_of);
  module.def("check_disjoint", &check_disjoint);
  module.def("dlpack_facts", &dlpack_facts);
  module.def("new_array", &new_array);
}

}  // namespace faro::python
