// NumPy's arrays, read and made without Python code: what a call of a small array costs is mostly this.
//
// NumPy's binary interface promises where an array keeps its address, shape and strides (ndarraytypes.h,
// unchanged since 1.0), and a table of functions. Neither needs NumPy to build against. set_numpy() reads an
// array that it is shown and compares; where anything differs, arrays of NumPy go the long way, by Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

namespace faro::python {

namespace nb = nanobind;

/// An array's memory on the host. Shape and strides are the array's own, strides in bytes.
struct HostArray {
  char* data = nullptr;
  int ndim = 0;
  const Py_ssize_t* shape = nullptr;
  const Py_ssize_t* strides = nullptr;
  PyObject* dtype = nullptr;
  bool writable = false;
};

/// What calls ask of an element type.
struct ElementType {
  PyObject* dtype = nullptr;  // kept for the life of the process
  Py_ssize_t bytes = 0;       // -1: references to objects, which Python refuses
  bool is_index = false;      // whole numbers of 4 or 8 bytes in this machine's order
  bool is_signed = false;
  int code = -1;  // as DLPack has integers, unsigned ones and floats in this machine's order; -1: others
};

/// Takes numpy.ndarray, the capsule of numpy's functions, and an array with what Python says of it: (address,
/// shape, strides, dtype). Returns whether arrays can be read directly.
bool set_numpy(nb::object ndarray, nb::handle functions, nb::handle shown, nb::tuple facts);

/// Whether it is an array that host_array() reads: exactly numpy.ndarray, no subclass.
bool is_ndarray(nb::handle array) noexcept;

/// Requires: is_ndarray(array). Valid while the array lives.
HostArray host_array(nb::handle array) noexcept;

ElementType element_type(PyObject* dtype);

/// numpy.empty(shape, dtype), in memory that is kept for it where it is large (array_memory.hpp). Throws what
/// NumPy raises. `bytes`: of such an array, where that is known.
nb::object new_ndarray(const Py_ssize_t* shape, std::size_t axes, PyObject* dtype, double bytes);
nb::object new_ndarray(const Py_ssize_t* shape, std::size_t axes, PyObject* dtype);

/// Whether rows follow one another without gaps. `item`: the stride of neighbours, in the strides' unit.
template <typename Array>
bool is_dense(const Array& array, std::int64_t item) noexcept {
  bool is_so = true;
  for (int axis = array.ndim; axis-- > 0;) {
    if (array.shape[axis] == 0) return true;
    is_so = is_so && (array.shape[axis] == 1 || array.strides[axis] == item);
    item *= array.shape[axis];
  }
  return is_so;
}

}  // namespace faro::python
