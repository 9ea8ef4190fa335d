#include "numpy_arrays.hpp"

#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "array_memory.hpp"
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
using NewFromDescr = PyObject* (*)(PyTypeObject*, PyObject*, int, const Py_ssize_t*, const Py_ssize_t*, void*,
                                   int, PyObject*);
constexpr std::size_t kNewFromDescr = 94;

// PyDataMem_Handler, and PyDataMem_SetHandler, number 304 of the table since NumPy 1.22: the former one, for
// the next.
struct MemoryHandler {
  char name[127] = "faro";
  std::uint8_t version = 1;
  void* context = nullptr;
  void* (*allocate)(void*, std::size_t) = nullptr;
  void* (*allocate_cleared)(void*, std::size_t, std::size_t) = nullptr;
  void* (*reallocate)(void*, void*, std::size_t) = nullptr;
  void (*release)(void*, void*, std::size_t) = nullptr;
};
using SetHandler = PyObject* (*)(PyObject*);
constexpr std::size_t kSetHandler = 304;

void* allocate_array(void*, std::size_t bytes) { return take_memory(bytes); }

void* allocate_cleared_array(void*, std::size_t count, std::size_t bytes) {
  if (bytes != 0 && count > PTRDIFF_MAX / bytes) return nullptr;
  void* const made = take_memory(count * bytes);
  if (made != nullptr) std::memset(made, 0, count * bytes);
  return made;
}

void* reallocate_array(void*, void* array, std::size_t bytes) {
  const std::size_t before = array == nullptr ? 0 : memory_behind(array);
  if (array != nullptr && bytes <= before) return array;
  void* const made = take_memory(bytes);
  if (made == nullptr) return nullptr;
  if (array != nullptr) std::memcpy(made, array, before);
  give_memory(array);
  return made;
}

void release_array(void*, void* array, std::size_t) { give_memory(array); }

struct NumPy {
  PyTypeObject* ndarray = nullptr;  // null: not loaded, or not as it should be
  NewFromDescr make = nullptr;
  SetHandler set_handler = nullptr;  // null: large arrays have NumPy's memory, too
  PyObject* handler = nullptr;
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
  if (nb::cast<bool>(type.attr("hasobject"))) return {.dtype = dtype, .bytes = -1};
  const auto kind = nb::cast<std::string>(type.attr("kind"));
  ElementType made{.dtype = dtype, .bytes = nb::cast<Py_ssize_t>(type.attr("itemsize"))};
  made.is_signed = kind == "i";
  if (nb::cast<bool>(type.attr("isnative")))
    made.code = kind == "i" ? 0 : kind == "u" ? 1 : kind == "f" ? 2 : -1;
  made.is_index = (made.code == 0 || made.code == 1) && (made.bytes == 4 || made.bytes == 8);
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
  const bool is_as_told =
      reinterpret_cast<std::uintptr_t>(array.data) == nb::cast<std::uintptr_t>(facts[0]) &&
      is_tuple_of(facts[1], array.shape, array.ndim) && is_tuple_of(facts[2], array.strides, array.ndim) &&
      array.dtype == facts[3].ptr() && (array.flags & kWritable) != 0;
  if (!is_as_told) return false;
  np.make = reinterpret_cast<NewFromDescr>(table[kNewFromDescr]);
  static MemoryHandler handler{.allocate = allocate_array,
                               .allocate_cleared = allocate_cleared_array,
                               .reallocate = reallocate_array,
                               .release = release_array};
  np.handler = PyCapsule_New(&handler, "mem_handler", nullptr);
  if (np.handler != nullptr) np.set_handler = reinterpret_cast<SetHandler>(table[kSetHandler]);
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
  auto bytes = static_cast<double>(element_type(dtype).bytes);
  for (std::size_t axis = 0; axis < axes; ++axis) bytes *= static_cast<double>(shape[axis]);
  return new_ndarray(shape, axes, dtype, bytes);
}

nb::object new_ndarray(const Py_ssize_t* shape, std::size_t axes, PyObject* dtype, double bytes) {
  const NumPy& np = numpy();
  const auto make = [&] {
    Py_INCREF(dtype);
    return np.make(np.ndarray, dtype, static_cast<int>(axes), shape, nullptr, nullptr, 0, nullptr);
  };
  PyObject* made = nullptr;
  if (np.set_handler == nullptr || bytes < static_cast<double>(kLeastKeptBytes)) {
    made = make();
  } else {
    const nb::object before = nb::steal(np.set_handler(np.handler));
    if (!before.is_valid()) nb::raise_python_error();
    made = make();
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);  // of a failure: what follows must not see it
    const nb::object ours = nb::steal(np.set_handler(before.ptr()));
    PyErr_Restore(type, value, trace);
  }
  if (made != nullptr) return nb::steal(made);
  // NumPy says ValueError of sizes that no memory has.
  constexpr double kMostBytes = 0x1p63;
  if (PyErr_ExceptionMatches(PyExc_MemoryError) != 0 || bytes >= kMostBytes) refuse_memory(bytes);
  nb::raise_python_error();
}

}  // namespace faro::python
