#include "numpy_arrays.hpp"

#include <mutex>
#include <string>
#include <vector>

#include "status.hpp"

namespace faro::python {
namespace {

// As NumPy's ndarraytypes.h has it.
struct NumPyArray {
  PyObject_HEAD char* data;
  int ndim;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* dtype;
  int flags;
};
constexpr int kWritable = 0x0400;

// PyArray_NewFromDescr, number 94 of the table; it takes the reference to the type.
using NewFromDescr = PyObject* (*)(PyTypeObject*, PyObject*, int, const Py_ssize_t*, const Py_ssize_t*, void*, int,
                                   PyObject*);
constexpr std::size_t kNewFromDescr = 94;

struct NumPy {
  PyTypeObject* ndarray = nullptr;  // null: not loaded, or not as it should be
  NewFromDescr make = nullptr;
  std::mutex mutex;
  std::vector<ElementType> types;  // with a reference to each
};

NumPy& numpy() {
  static auto* const made = new NumPy;  // never destroyed: the interpreter may be gone by then
  return *made;
}

const NumPyArray& fields_of(nb::handle array) { return *reinterpret_cast<const NumPyArray*>(array.ptr()); }

bool is_tuple_of(nb::handle tuple, const Py_ssize_t* values, int count) {
  if (!PyTuple_Check(tuple.ptr()) || PyTuple_Size(tuple.ptr()) != count) return false;
  for (int i = 0; i < count; ++i) {
    if (PyLong_AsSsize_t(PyTuple_GetItem(tuple.ptr(), i)) != values[i]) return false;
  }
  return true;
}

ElementType asked(PyObject* dtype) {
  const nb::handle type(dtype);
  if (nb::cast<bool>(type.attr("hasobject"))) {
    refuse("read an array", "elements that are references to objects", "elements of plain bytes",
           "moved as bytes they would be lost count of");
  }
  const auto kind = nb::cast<std::string>(type.attr("kind"));
  ElementType made{.dtype = dtype, .bytes = nb::cast<Py_ssize_t>(type.attr("itemsize"))};
  made.is_signed = kind == "i";
  made.is_index = (kind == "i" || kind == "u") && (made.bytes == 4 || made.bytes == 8) &&
                  nb::cast<bool>(type.attr("isnative"));
  return made;
}

}  // namespace

bool set_numpy(nb::object ndarray, nb::handle functions, nb::handle shown, nb::tuple facts) {
  NumPy& np = numpy();
  auto* const table = static_cast<void**>(PyCapsule_GetPointer(functions.ptr(), nullptr));
  if (table == nullptr) {
    PyErr_Clear();
    return false;
  }
  const NumPyArray& array = fields_of(shown);
  const bool is_as_told = reinterpret_cast<std::uintptr_t>(array.data) == nb::cast<std::uintptr_t>(facts[0]) &&
                          is_tuple_of(facts[1], array.shape, array.ndim) &&
                          is_tuple_of(facts[2], array.strides, array.ndim) && array.dtype == facts[3].ptr() &&
                          (array.flags & kWritable) != 0;
  if (!is_as_told) return false;
  np.make = reinterpret_cast<NewFromDescr>(table[kNewFromDescr]);
  np.ndarray = reinterpret_cast<PyTypeObject*>(ndarray.release().ptr());
  return true;
}

bool is_ndarray(nb::handle array) noexcept {
  const NumPy& np = numpy();
  return np.ndarray != nullptr && Py_TYPE(array.ptr()) == np.ndarray;
}

HostArray host_array(nb::handle array) noexcept {
  const NumPyArray& fields = fields_of(array);
  return {.data = fields.data,
          .ndim = fields.ndim,
          .shape = fields.shape,
          .strides = fields.strides,
          .dtype = fields.dtype,
          .writable = (fields.flags & kWritable) != 0};
}

ElementType element_type(PyObject* dtype) {
  thread_local ElementType last;
  if (last.dtype == dtype) return last;
  NumPy& np = numpy();
  {
    const std::lock_guard lock(np.mutex);
    for (const ElementType& known : np.types) {
      if (known.dtype == dtype) return last = known;
    }
  }
  const ElementType made = asked(dtype);
  constexpr std::size_t kMostTypes = 64;  // others are asked each time
  const std::lock_guard lock(np.mutex);
  if (np.types.size() < kMostTypes) {
    np.types.push_back(made);
    Py_INCREF(dtype);
    last = made;
  }
  return made;
}

nb::object new_ndarray(const Py_ssize_t* shape, std::size_t axes, PyObject* dtype) {
  const NumPy& np = numpy();
  Py_INCREF(dtype);
  PyObject* const made =
      np.make(np.ndarray, dtype, static_cast<int>(axes), shape, nullptr, nullptr, 0, nullptr);
  if (made == nullptr) nb::raise_python_error();
  return nb::steal(made);
}

bool is_dense(const HostArray& array, Py_ssize_t itemsize) noexcept {
  Py_ssize_t dense = itemsize;
  bool is_so = true;
  for (int axis = array.ndim; axis-- > 0;) {
    if (array.shape[axis] == 0) return true;
    is_so = is_so && (array.shape[axis] == 1 || array.strides[axis] == dense);
    dense *= array.shape[axis];
  }
  return is_so;
}

}  // namespace faro::python
