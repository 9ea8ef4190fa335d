// The short way of a call that changes numbers (calls.cpp): array -> kept plan -> new array, or an output,
// without Python code. The key of a plan tells the operation and what it is told, the keywords, and how every
// array lies: the input, what is added, the output, and indices.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "numpy_arrays.hpp"
#include "plan_cache.hpp"
#include "plan_handle.hpp"
#include "pytorch.hpp"
#include "short_calls.hpp"
#include "status.hpp"
#include "tensors.hpp"

namespace faro::python {
namespace {

// A plan that changes an array's numbers, for a new one.
struct ChangedPlan {
  nb::object plan_object;
  const ArithmeticHandle* plan = nullptr;
  Py_ssize_t in_offset = 0;  // in bytes
  std::vector<Py_ssize_t> out_shape;
  nb::object out_dtype;              // of NumPy
  decltype(Tensor::dtype) out_type;  // of a tensor
  bool holds_lock = true;            // while it runs
  nb::object kept;                   // what the key may tell by its address
};

// Never destroyed: the interpreter may be gone by then.
PlanCache<ChangedPlan>& kept_plans() {
  static auto* const made = new PlanCache<ChangedPlan>;
  return *made;
}

// What is asked for, as run_changed() has it.
struct ChangedCall {
  nb::handle array;
  nb::handle operation;
  nb::handle argument;
  nb::handle change;
  nb::handle out;
  nb::handle plan;
  nb::handle indices;  // of rows that are taken, or None
};

// Where an array of a call lies, and its type in the library that it is of; a null address of another kind.
struct ReadArray {
  const char* begin = nullptr;
  std::uint64_t bytes = 0;  // of a dense one
  nb::object dtype = nb::none();

  bool meets(const ReadArray& other) const {
    return begin != nullptr && other.begin != nullptr && begin < other.begin + other.bytes &&
           other.begin < begin + bytes;
  }
};

// Where the numbers of a call lie.
struct ChangedPlaces {
  const char* in = nullptr;
  const char* addend = nullptr;
  const char* entries = nullptr;  // of rows
  char* out = nullptr;
};

template <typename Array>
std::uint64_t bytes_of(const Array& array, std::uint64_t item) {
  std::uint64_t bytes = item;
  for (int axis = 0; axis < array.ndim; ++axis) bytes *= static_cast<std::uint64_t>(array.shape[axis]);
  return bytes;
}

// Whether a keyword says all that it means by its kind and value; `dtype`: one of the array's library, of
// NumPy's each a class of its own, whose class is theirs alone.
bool is_simple(nb::handle value, nb::handle dtype) {
  PyObject* const object = value.ptr();
  const nb::handle kind = dtype.type().type();
  const bool is_dtype =
      value.type().is(dtype.type()) ||
      (kind.ptr() != reinterpret_cast<PyObject*>(&PyType_Type) && value.type().type().is(kind));
  return value.is_none() || PyBool_Check(object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
         PyUnicode_CheckExact(object) || PyType_Check(object) || is_dtype;
}

// Numbers of a keyword along an axis, a list or an array of the host's, are told by what they are; false
// where there are many, or others.
bool append_numbers(Key& key, nb::handle value, const ExchangeType* type) {
  constexpr Py_ssize_t kMostBytes = 4096;
  PyObject* const object = value.ptr();
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
    const Py_ssize_t size = PySequence_Size(object);
    if (size > kMostBytes / 8) return false;
    key.insert(key.end(), {6, size});
    for (Py_ssize_t i = 0; i < size; ++i) {
      const nb::object number = nb::steal(PySequence_GetItem(object, i));
      int beyond = 0;
      if (PyLong_CheckExact(number.ptr())) PyLong_AsLongLongAndOverflow(number.ptr(), &beyond);
      if (beyond != 0 || !(PyLong_CheckExact(number.ptr()) || PyFloat_CheckExact(number.ptr()))) return false;
      append_argument(key, number);
    }
    return true;
  }
  const auto append = [&](const auto& array, const char* data, Py_ssize_t item) {
    Py_ssize_t bytes = item;
    for (int axis = 0; axis < array.ndim; ++axis) bytes *= array.shape[axis];
    if (bytes > kMostBytes) return false;
    key.push_back(array.ndim);
    key.insert(key.end(), array.shape, array.shape + array.ndim);
    append_bytes(key, data, bytes);
    return true;
  };
  if (is_ndarray(value)) {
    const HostArray array = host_array(value);
    const ElementType element = element_type(array.dtype);
    if (element.bytes <= 0 || !is_dense(array, element.bytes)) return false;
    key.insert(key.end(), {7, reinterpret_cast<std::intptr_t>(element.dtype)});
    return append(array, array.data, element.bytes);
  }
  Tensor tensor;
  const bool reads = type != nullptr && Py_TYPE(object) == type->type && read_plainly(value, *type, tensor);
  if (!reads || device_of(tensor) >= 0 || !is_dense(tensor, 1)) return false;
  key.insert(key.end(), {8, tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes});
  return append(tensor, address_of(tensor), width_of(tensor));
}

// The plan for a call, and where its arrays lie; none where Python has to look. `read(array, key)` tells an
// array in the key; `found` is what a plan of Python says of the result's type. Where an output meets what is
// read, Python says what is wrong, or that nothing is.
template <typename Read, typename Found>
std::shared_ptr<const ChangedPlan> changed_plan(const ChangedCall& call, ChangedPlaces& places,
                                                const Read& read, const Found& found,
                                                const ExchangeType* type = nullptr) {
  thread_local Key key;
  key.clear();
  const ReadArray in = read(call.array, key);
  if (in.begin == nullptr) return nullptr;
  places.in = in.begin;
  append_argument(key, call.operation);
  append_argument(key, call.argument);
  nb::object addend_dtype = nb::none();
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(call.change.ptr(), &at, &name, &value) != 0;) {
    append_argument(key, name);
    if (value != Py_None && PyUnicode_CompareWithASCIIString(name, "add") == 0) {
      const ReadArray addend = read(value, key);
      if (addend.begin == nullptr) return nullptr;
      places.addend = addend.begin;
      addend_dtype = addend.dtype;
    } else if (is_simple(value, in.dtype)) {
      append_argument(key, value);
    } else if (!append_numbers(key, value, type)) {
      return nullptr;
    }
  }
  ReadArray out;
  if (!call.out.is_none()) {
    out = read(call.out, key);
    if (out.begin == nullptr) return nullptr;
    places.out = const_cast<char*>(out.begin);
  }
  ReadArray entries;
  if (!call.indices.is_none()) {
    entries = read(call.indices, key);
    if (entries.begin == nullptr) return nullptr;
    places.entries = entries.begin;
  }
  if (out.meets(in) || out.meets(entries)) return nullptr;
  if (auto kept = kept_plans().find(key)) return kept;
  const Key kept = key;  // planning runs Python, which may come here again
  const nb::object told = call.plan(call.array, call.out);
  if (told.is_none()) return nullptr;
  const nb::tuple facts = nb::cast<nb::tuple>(told);
  auto made = std::make_shared<ChangedPlan>();
  made->plan_object = facts[0];
  made->plan = &nb::cast<const ArithmeticHandle&>(made->plan_object);
  made->in_offset = nb::cast<Py_ssize_t>(facts[1]);
  made->out_shape = nb::cast<std::vector<Py_ssize_t>>(facts[2]);
  double bytes = found(*made, facts[3]);  // of an element of both
  for (const Py_ssize_t extent : made->out_shape) bytes *= static_cast<double>(extent);
  // What is put or added may be far more than what it is put into.
  made->holds_lock = std::max(bytes, static_cast<double>(in.bytes)) < static_cast<double>(kBytesWithLock);
  nb::dict values = nb::cast<nb::dict>(call.change.attr("copy")());
  if (values.contains("add")) values["add"] = nb::none();  // an array lives no longer than its caller has it
  made->kept = nb::make_tuple(call.argument, values, in.dtype, addend_dtype, out.dtype, entries.dtype);
  kept_plans().add(kept, made);
  return made;
}

void change(const ChangedPlan& entry, const ChangedPlaces& places, bool holds_lock, void* stream = nullptr) {
  const KnownMemory known;
  const auto run = [&] {
    if (places.entries != nullptr)
      return faro_arithmetic_plan_run_by(entry.plan->plan.get(), places.entries, places.in, places.addend,
                                         places.out, stream);
    return faro_arithmetic_plan_run(entry.plan->plan.get(), places.in + entry.in_offset, places.addend,
                                    places.out, stream);
  };
  if (holds_lock) return check(run());
  do_unlocked(run);
}

nb::object change_ndarray(const ChangedCall& call) {
  const auto read = [&](nb::handle array, Key& key) -> ReadArray {
    if (!is_ndarray(array)) return {};
    const HostArray told = host_array(array);
    if (array.is(call.out) && !told.writable) return {};
    if (array.is(call.indices)) {
      const ElementType entry = element_type(told.dtype);
      if (!entry.is_index || !is_dense(told, entry.bytes)) return {};
    }
    key.insert(key.end(), {told.ndim, reinterpret_cast<std::intptr_t>(told.dtype)});
    key.insert(key.end(), told.shape, told.shape + told.ndim);
    key.insert(key.end(), told.strides, told.strides + told.ndim);
    const auto item = static_cast<std::uint64_t>(element_type(told.dtype).bytes);
    return {told.data, bytes_of(told, item), nb::borrow(told.dtype)};
  };
  ChangedPlaces places;
  const auto entry = changed_plan(call, places, read, [&](ChangedPlan& made, nb::object dtype) {
    made.out_dtype = std::move(dtype);
    return static_cast<double>(element_type(host_array(call.array).dtype).bytes) +
           static_cast<double>(element_type(made.out_dtype.ptr()).bytes);
  });
  if (entry == nullptr) return nb::none();
  nb::object made = nb::borrow(call.out);
  if (made.is_none()) {
    made = new_ndarray(entry->out_shape.data(), entry->out_shape.size(), entry->out_dtype.ptr());
    places.out = host_array(made).data;
  }
  change(*entry, places, entry->holds_lock);
  return made;
}

// The same of a tensor, or of rows that are taken from one on a GPU. A plan of Python has an empty one of the
// result's type.
nb::object change_tensor(const ChangedCall& call, const ExchangeType& type) {
  Tensor in;
  if (is_watched(type)) return nb::none();
  const auto read = [&](nb::handle array, Key& key) -> ReadArray {
    Tensor told;
    if (Py_TYPE(array.ptr()) != type.type || !read_plainly(array, type, told)) return {};
    if (array.is(call.array)) in = told;
    if (array.is(call.indices) && (device_of(in) < 0 || !are_entries(told, in))) return {};
    const nb::object dtype = array.attr("dtype");
    key.insert(key.end(), {-1, told.ndim, device_of(told), reinterpret_cast<std::intptr_t>(dtype.ptr())});
    key.insert(key.end(), told.shape, told.shape + told.ndim);
    key.insert(key.end(), told.strides, told.strides + told.ndim);
    return {address_of(told), bytes_of(told, static_cast<std::uint64_t>(width_of(told))), dtype};
  };
  ChangedPlaces places;
  const auto entry = changed_plan(
      call, places, read,
      [&](ChangedPlan& made, nb::object empty) {
        Tensor like;
        if (type.functions->borrow(empty.ptr(), &like) != 0) nb::raise_python_error();
        made.out_type = like.dtype;
        return static_cast<double>(width_of(in) + width_of(like));
      },
      &type);
  if (entry == nullptr) return nb::none();
  const int device = device_of(in);
  const auto change_to = [&](void* out) {
    places.out = static_cast<char*>(out);
    change(*entry, places, device >= 0 || entry->holds_lock, current_stream(*type.functions, device));
  };
  if (!call.out.is_none()) {
    change_to(places.out);
    tell_written(type, nb::make_tuple(call.out));
    return nb::borrow(call.out);
  }
  Tensor like = in;
  like.dtype = entry->out_type;
  NewTensor made(*type.functions, like, entry->out_shape);
  change_to(made.data());
  return made.given_away();
}

// An array permuted, its numbers changed: a new array, or `out`. `argument`: what the operation is told
// besides; `indices`: of rows that are taken, of tensors on a GPU alone. `plan`, of Python: (array, out) ->
// (plan, offset of the input in bytes, shape, dtype), or None where Python has to look, as it has where this
// gives None.
nb::object run_changed(nb::handle array, nb::handle operation, nb::handle argument, nb::handle change,
                       nb::handle out, nb::handle plan, nb::handle indices) {
  const ChangedCall call{array, operation, argument, change, out, plan, indices};
  if (is_ndarray(array)) return change_ndarray(call);
  const ExchangeType type = exchange_type(Py_TYPE(array.ptr()));
  return type.functions != nullptr ? change_tensor(call, type) : nb::none();
}

}  // namespace

void clear_changed_plans() { kept_plans().clear(); }
std::size_t changed_plans() { return kept_plans().size(); }

void bind_changed_calls(nb::module_& module) {
  module.def("run_changed", &run_changed, nb::arg("array").none(), nb::arg("operation"),
             nb::arg("argument").none(), nb::arg("change"), nb::arg("out").none(), nb::arg("plan"),
             nb::arg("indices").none() = nb::none());
}

}  // namespace faro::python
