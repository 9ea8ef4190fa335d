// The short way of a call: array -> cached plan -> new array, without Python code.
//
//     faro.permute_dims(x, (1, 0))
//          |  x is a numpy.ndarray, or a tensor whose type has DLPack's functions (PyTorch)
//     key          operation, width, device, shape, strides, argument (plan_cache.hpp)
//          |  found in the cache: a plan and the result's shape; else Python plans, once
//     a new array  by NumPy's function, or the tensor's library's
//     run          on the library's current stream; on the host from 64 KiB on without the interpreter's lock
//
// Everything else (other libraries' arrays, strided results, tensors whose gradients are recorded) goes by
// Python's _run.py, which uses the same planners.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "array_memory.hpp"
#include "dlpack.hpp"
#include "numpy_arrays.hpp"
#include "plan_cache.hpp"
#include "plan_handle.hpp"
#include "pytorch.hpp"
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

// What lives as long as the module, which is never unloaded: nothing is destroyed after the interpreter.
struct Session {
  PlanCache<CachedPlan> cache;
  PlanCache<ChangedPlan> changed;
  PyObject* plan = nullptr;   // _run.py: plan(op, shape, strides, width, argument, device) -> (Plan, shape)
  PyObject* other = nullptr;  // _run.py: run(x, op, argument, out, stream)
};

Session& session() {
  static auto* const made = new Session;
  return *made;
}

// An array of any library as a key has it; strides in bytes.
struct Asked {
  int op;
  Py_ssize_t width;
  int device;  // its number; -1: the host
  int ndim;
  const Py_ssize_t* shape;
  const Py_ssize_t* strides;
};

// A cached plan; where there is none Python makes one.
std::shared_ptr<const CachedPlan> planned(const Asked& asked, nb::handle argument) {
  Session& s = session();
  thread_local Key key;
  key.assign({asked.op, asked.width, asked.device + 1, asked.ndim});
  key.insert(key.end(), asked.shape, asked.shape + asked.ndim);
  key.insert(key.end(), asked.strides, asked.strides + asked.ndim);
  append_argument(key, argument);
  if (auto found = s.cache.find(key)) return found;
  const Key kept = key;  // planning runs Python, which may come here again
  const nb::object device = asked.device < 0 ? nb::none() : nb::cast(asked.device);
  const nb::tuple made = nb::cast<nb::tuple>(nb::borrow(s.plan)(asked.op, tuple_of(asked.shape, asked.ndim),
                                                                tuple_of(asked.strides, asked.ndim),
                                                                asked.width, argument, device));
  auto entry = std::make_shared<CachedPlan>();
  entry->plan_object = made[0];
  entry->plan = &nb::cast<const PlanHandle&>(entry->plan_object);
  for (nb::handle extent : nb::cast<nb::tuple>(made[1]))
    entry->out_shape.push_back(nb::cast<Py_ssize_t>(extent));
  entry->out_bytes = static_cast<double>(entry->plan->out_bytes());
  // Work on a device is only queued.
  entry->holds_lock = asked.device >= 0 || entry->out_bytes < static_cast<double>(kBytesWithLock);
  if (asked.device >= 0) entry->workspace_bytes = entry->plan->workspace_bytes();
  entry->argument = nb::borrow(argument);
  s.cache.add(kept, entry);
  return entry;
}

void move(const PlanHandle& plan, bool holds_lock, const void* in, void* out, void* stream = nullptr) {
  const KnownMemory known;
  const auto run = [&] { return faro_plan_run(plan.plan.get(), in, out, stream); };
  if (holds_lock) return check(run());
  do_unlocked(run);
}

// --- NumPy

// The result; nothing where Python has to look at it.
nb::object run_ndarray(nb::handle array, int op, nb::handle argument, nb::handle out) {
  const HostArray in = host_array(array);
  const ElementType type = element_type(in.dtype);
  if (type.bytes <= 0) return {};
  const auto entry = planned({.op = op,
                              .width = type.bytes,
                              .device = -1,
                              .ndim = in.ndim,
                              .shape = in.shape,
                              .strides = in.strides},
                             argument);
  if (out.is_none()) {
    nb::object made =
        new_ndarray(entry->out_shape.data(), entry->out_shape.size(), in.dtype, entry->out_bytes);
    move(*entry->plan, entry->holds_lock, in.data, host_array(made).data);
    return made;
  }
  const HostArray to = host_array(out);
  const bool fits = to.writable && is_shape(entry->out_shape, to.ndim, to.shape) &&
                    is_dense(to, type.bytes) &&
                    (to.dtype == in.dtype || PyObject_RichCompareBool(to.dtype, in.dtype, Py_EQ) == 1);
  if (!fits) return {};  // strided, or refused there
  move(*entry->plan, entry->holds_lock, in.data, to.data);
  return nb::borrow(out);
}

// --- numbers that are changed

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

// Where the numbers of a call lie.
struct ChangedPlaces {
  const char* in = nullptr;
  const char* addend = nullptr;
  const char* entries = nullptr;  // of rows
  char* out = nullptr;
};

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

// The plan for a call, and where its arrays lie; none where Python has to look. `read(array, key)` tells an
// array in the key: (address, dtype), or a null address for another kind of array; `found` is what a plan of
// Python says of the result's type.
template <typename Read, typename Found>
std::shared_ptr<const ChangedPlan> changed_plan(const ChangedCall& call, ChangedPlaces& places,
                                                const Read& read, const Found& found) {
  thread_local Key key;
  key.clear();
  const auto in = read(call.array, key);
  if (in.first == nullptr) return nullptr;
  places.in = in.first;
  append_argument(key, call.operation);
  append_argument(key, call.argument);
  nb::object addend_dtype = nb::none();
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(call.change.ptr(), &at, &name, &value) != 0;) {
    append_argument(key, name);
    if (value != Py_None && PyUnicode_CompareWithASCIIString(name, "add") == 0) {
      const auto addend = read(value, key);
      if (addend.first == nullptr) return nullptr;
      places.addend = addend.first;
      addend_dtype = addend.second;
    } else if (is_simple(value, in.second)) {
      append_argument(key, value);
    } else {
      return nullptr;
    }
  }
  nb::object out_dtype = nb::none();
  if (!call.out.is_none()) {
    const auto out = read(call.out, key);
    if (out.first == nullptr) return nullptr;
    places.out = const_cast<char*>(out.first);
    out_dtype = out.second;
  }
  if (!call.indices.is_none()) {
    places.entries = read(call.indices, key).first;
    if (places.entries == nullptr) return nullptr;
  }
  if (auto kept = session().changed.find(key)) return kept;
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
  made->holds_lock = bytes < static_cast<double>(kBytesWithLock);
  nb::dict values = nb::cast<nb::dict>(call.change.attr("copy")());
  if (values.contains("add")) values["add"] = nb::none();  // an array lives no longer than its caller has it
  made->kept = nb::make_tuple(call.argument, values, in.second, addend_dtype, out_dtype);
  session().changed.add(kept, made);
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
  if (!call.indices.is_none()) return nb::none();
  const auto read = [&](nb::handle array, Key& key) -> std::pair<const char*, nb::object> {
    if (!is_ndarray(array)) return {};
    const HostArray told = host_array(array);
    if (array.is(call.out) && !told.writable) return {};
    key.insert(key.end(), {told.ndim, reinterpret_cast<std::intptr_t>(told.dtype)});
    key.insert(key.end(), told.shape, told.shape + told.ndim);
    key.insert(key.end(), told.strides, told.strides + told.ndim);
    return {told.data, nb::borrow(told.dtype)};
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

// --- tensors with DLPack's functions

// On a tensor's device: a workspace is memory of its library, which keeps some and knows what is queued on
// its stream. Memory of the driver's would be mapped anew for every run.
struct TensorRun {
  const PlanHandle& plan;
  bool holds_lock;
  std::uint64_t workspace_bytes;
  const void* in;
  void* out;
};

NewTensor workspace_beside(const ExchangeFunctions& functions, const Tensor& in, std::uint64_t bytes) {
  constexpr int kUnsigned = 1;
  Tensor like = in;
  like.dtype = {.code = kUnsigned, .bits = 8, .lanes = 1};
  return {functions, like, {static_cast<Py_ssize_t>(bytes)}};
}

void move_tensor(const ExchangeFunctions& functions, const Tensor& in, const TensorRun& run) {
  void* const stream = current_stream(functions, device_of(in));
  if (run.workspace_bytes == 0) return move(run.plan, run.holds_lock, run.in, run.out, stream);
  const NewTensor workspace = workspace_beside(functions, in, run.workspace_bytes);
  const KnownMemory known;
  check(faro_plan_run_in_workspace(run.plan.plan.get(), run.in, run.out, workspace.data(),
                                   run.workspace_bytes, stream));
}

// Whether it is told plainly what the tensor holds.
bool read_plainly(nb::handle tensor, const ExchangeType& type, Tensor& told) {
  if (type.functions->borrow(tensor.ptr(), &told) == 0)
    return is_exchanged(told) && is_plain(tensor.ptr(), type, told);
  PyErr_Clear();
  return false;
}

// The result; nothing where Python has to look at it.
nb::object run_tensor(nb::handle array, const ExchangeType& type, int op, nb::handle argument,
                      nb::handle out) {
  Tensor in;
  if (!read_plainly(array, type, in) || is_watched(type)) return {};
  const Py_ssize_t width = in.dtype.bits * in.dtype.lanes / 8;
  constexpr int kMostAxes = 64;
  if (in.ndim > kMostAxes) return {};
  Py_ssize_t strides[kMostAxes];
  for (int axis = 0; axis < in.ndim; ++axis) strides[axis] = in.strides[axis] * width;
  const auto entry = planned({.op = op,
                              .width = width,
                              .device = device_of(in),
                              .ndim = in.ndim,
                              .shape = in.shape,
                              .strides = strides},
                             argument);
  const auto move_to = [&](void* to) {
    move_tensor(*type.functions, in,
                {.plan = *entry->plan,
                 .holds_lock = entry->holds_lock,
                 .workspace_bytes = entry->workspace_bytes,
                 .in = address_of(in),
                 .out = to});
  };
  if (out.is_none()) {
    NewTensor made(*type.functions, in, entry->out_shape);
    move_to(made.data());
    return made.given_away();
  }
  Tensor to;
  if (Py_TYPE(out.ptr()) != type.type) return {};
  if (type.functions->borrow(out.ptr(), &to) != 0) nb::raise_python_error();
  const bool fits = is_exchanged(to) && is_plain(out.ptr(), type, to) && is_like(in, to) &&
                    is_shape(entry->out_shape, to.ndim, to.shape) && is_dense(to, 1);
  if (!fits) return {};
  move_to(address_of(to));
  tell_written(type, nb::make_tuple(out));
  return nb::borrow(out);
}

// Whether a tensor is of entries for rows of another, which lies beside it.
bool are_entries(const Tensor& entries, const Tensor& numbered) {
  constexpr int kUnsigned = 1;
  const int bits = entries.dtype.bits * entries.dtype.lanes;
  return entries.dtype.code <= kUnsigned && (bits == 32 || bits == 64) && is_exchanged(entries) &&
         is_dense(numbered, 1) && is_dense(entries, 1) &&
         numbered.device.device_type == entries.device.device_type &&
         numbered.device.device_id == entries.device.device_id;
}

// The same of a tensor, or of rows that are taken from one on a GPU. A plan of Python has an empty one of the
// result's type.
nb::object change_tensor(const ChangedCall& call, const ExchangeType& type) {
  Tensor in;
  if (is_watched(type)) return nb::none();
  const auto read = [&](nb::handle array, Key& key) -> std::pair<const char*, nb::object> {
    Tensor told;
    if (Py_TYPE(array.ptr()) != type.type || !read_plainly(array, type, told)) return {};
    if (array.is(call.array)) in = told;
    if (array.is(call.indices) && (device_of(in) < 0 || !are_entries(told, in))) return {};
    const nb::object dtype = array.attr("dtype");
    key.insert(key.end(), {-1, told.ndim, device_of(told), reinterpret_cast<std::intptr_t>(dtype.ptr())});
    key.insert(key.end(), told.shape, told.shape + told.ndim);
    key.insert(key.end(), told.strides, told.strides + told.ndim);
    return {address_of(told), dtype};
  };
  ChangedPlaces places;
  const auto entry = changed_plan(call, places, read, [&](ChangedPlan& made, nb::object empty) {
    Tensor like;
    if (type.functions->borrow(empty.ptr(), &like) != 0) nb::raise_python_error();
    made.out_type = like.dtype;
    return static_cast<double>(width_of(in) + width_of(like));
  });
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

// --- the functions

// An array permuted, its numbers changed: a new array, or `out`. `argument`: what the operation is told
// besides; `indices`: of rows of a tensor on a GPU. `plan`, of Python: (array, out) -> (plan, offset of the
// input in bytes, shape, dtype), or None where Python has to look, as it has where this gives None.
nb::object run_changed(nb::handle array, nb::handle operation, nb::handle argument, nb::handle change,
                       nb::handle out, nb::handle plan, nb::handle indices) {
  const ChangedCall call{array, operation, argument, change, out, plan, indices};
  if (is_ndarray(array)) return change_ndarray(call);
  const ExchangeType type = exchange_type(Py_TYPE(array.ptr()));
  return type.functions != nullptr ? change_tensor(call, type) : nb::none();
}

nb::object run_short(nb::handle array, int op, nb::handle argument, nb::handle out) {
  if (is_ndarray(array)) {
    return out.is_none() || is_ndarray(out) ? run_ndarray(array, op, argument, out) : nb::object();
  }
  const ExchangeType type = exchange_type(Py_TYPE(array.ptr()));
  return type.functions != nullptr ? run_tensor(array, type, op, argument, out) : nb::object();
}

// The array itself where its elements are dense, else a dense one by `op`, a copy; None where Python has to
// look.
nb::object dense(nb::handle array, int op) {
  nb::object made;
  if (is_ndarray(array)) {
    const HostArray in = host_array(array);
    const Py_ssize_t bytes = element_type(in.dtype).bytes;
    made =
        bytes > 0 && is_dense(in, bytes) ? nb::borrow(array) : run_ndarray(array, op, nb::none(), nb::none());
  } else if (const ExchangeType type = exchange_type(Py_TYPE(array.ptr())); type.functions != nullptr) {
    Tensor in;
    if (!read_plainly(array, type, in) || is_watched(type)) return nb::none();
    made = is_dense(in, 1) ? nb::borrow(array) : run_tensor(array, type, op, nb::none(), nb::none());
  }
  return made.is_valid() ? made : nb::none();
}

nb::object run(nb::handle array, int op, nb::handle argument, nb::handle out, nb::handle stream) {
  nb::object made;
  if (stream.is_none()) made = run_short(array, op, argument, out);
  if (made.is_valid()) return made;
  return nb::borrow(session().other)(array, op, argument, out, stream);
}

// A plan with the shapes of its arrays, to be called.
struct Call {
  nb::object plan_object;
  const PlanHandle* plan;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> out_shape;
  Py_ssize_t width;
  int device;  // -1: the host
  bool holds_lock;
  std::uint64_t workspace_bytes;  // of a GPU
};

Call make_call(nb::object plan, std::vector<Py_ssize_t> shape, std::vector<Py_ssize_t> out_shape,
               Py_ssize_t width, int device) {
  const PlanHandle& handle = nb::cast<const PlanHandle&>(plan);
  const bool holds_lock = device >= 0 || handle.out_bytes() < kBytesWithLock;
  return {.plan_object = std::move(plan),
          .plan = &handle,
          .shape = std::move(shape),
          .out_shape = std::move(out_shape),
          .width = width,
          .device = device,
          .holds_lock = holds_lock,
          .workspace_bytes = device >= 0 ? handle.workspace_bytes() : 0};
}

// The result for a dense array; None where Python has to look at it.
nb::object call(const Call& self, nb::handle array) {
  if (is_ndarray(array)) {
    const HostArray in = host_array(array);
    const bool fits = self.device < 0 && element_type(in.dtype).bytes == self.width &&
                      is_shape(self.shape, in.ndim, in.shape) && is_dense(in, self.width);
    if (!fits) return nb::none();
    nb::object made = new_ndarray(self.out_shape.data(), self.out_shape.size(), in.dtype);
    move(*self.plan, self.holds_lock, in.data, host_array(made).data);
    return made;
  }
  const ExchangeType type = exchange_type(Py_TYPE(array.ptr()));
  if (type.functions == nullptr) return nb::none();
  Tensor in;
  if (type.functions->borrow(array.ptr(), &in) != 0) {
    PyErr_Clear();
    return nb::none();
  }
  const bool fits = is_exchanged(in) && is_plain(array.ptr(), type, in) && (device_of(in)) == self.device &&
                    in.dtype.bits * in.dtype.lanes / 8 == self.width &&
                    is_shape(self.shape, in.ndim, in.shape) && is_dense(in, 1) && !is_watched(type);
  if (!fits) return nb::none();
  NewTensor made(*type.functions, in, self.out_shape);
  move_tensor(*type.functions, in,
              {.plan = *self.plan,
               .holds_lock = self.holds_lock,
               .workspace_bytes = self.workspace_bytes,
               .in = address_of(in),
               .out = made.data()});
  return made.given_away();
}

// --- rows: take() of a dense array by a dense array of indices, both of NumPy or both tensors of one type

// What moves: `outer` arrays of `rows` rows become as many of `count`.
struct TakenShape {
  Py_ssize_t outer = 1;
  Py_ssize_t rows = 1;
  Py_ssize_t row = 1;  // elements
  Py_ssize_t count = 1;
  std::vector<Py_ssize_t> shape;  // of the result
};

// False where Python has to look at it: another axis, or nothing to move.
bool shape_taken(TakenShape& taken, int ndim, const Py_ssize_t* shape, int entry_ndim,
                 const Py_ssize_t* entry_shape, nb::handle axis) {
  Py_ssize_t total = 1;
  for (int a = 0; a < ndim; ++a) total *= shape[a];
  for (int a = 0; a < entry_ndim; ++a) taken.count *= entry_shape[a];
  if (total == 0 || taken.count == 0) return false;
  int chosen = -1;
  taken.rows = total;
  if (!axis.is_none()) {
    if (!PyLong_CheckExact(axis.ptr())) return false;
    int beyond = 0;
    const long asked = PyLong_AsLongAndOverflow(axis.ptr(), &beyond);
    if (beyond != 0 || asked < -ndim || asked >= ndim) return false;
    chosen = static_cast<int>(asked < 0 ? asked + ndim : asked);
    for (int a = 0; a < chosen; ++a) taken.outer *= shape[a];
    for (int a = chosen + 1; a < ndim; ++a) taken.row *= shape[a];
    taken.rows = shape[chosen];
    taken.shape.assign(shape, shape + chosen);
  }
  taken.shape.insert(taken.shape.end(), entry_shape, entry_shape + entry_ndim);
  if (chosen >= 0) taken.shape.insert(taken.shape.end(), shape + chosen + 1, shape + ndim);
  return true;
}

struct EntryType {
  int bytes;
  bool is_signed;
};

faro_rows rows_of(const TakenShape& taken, const void* entries, EntryType type, Py_ssize_t width) {
  return {.entries = entries,
          .count = static_cast<std::uint64_t>(taken.count),
          .entry_bytes = type.bytes,
          .is_signed = type.is_signed ? 1 : 0,
          .rows = static_cast<std::uint64_t>(taken.rows),
          .outer = static_cast<std::uint64_t>(taken.outer),
          .row_bytes = static_cast<std::uint64_t>(taken.row * width),
          .threads = 0};
}

// `fresh`: nobody sees the output where it fails.
void take_on_host(const faro_rows& rows, const void* in, void* out, bool fresh = true) {
  const KnownMemory known;
  const auto take = [&] { return (fresh ? faro_take_new : faro_take)(&rows, nullptr, 0, in, out); };
  if (rows.outer * rows.count * rows.row_bytes < kBytesWithLock) return check(take());
  do_unlocked(take);
}

// A move of rows, and what is added, where it adds.
struct RowMotion {
  enum Kind { take, put, add } kind = take;
  faro_number number = FARO_F32;
};

struct RowPlan {
  std::shared_ptr<const faro_row_plan> plan;
  std::uint64_t workspace_bytes = 0;
};

// A plan for any entries and arrays of these sizes. It lives on the device, so that making one waits.
RowPlan planned_rows(const faro_rows& rows, int device, RowMotion motion) {
  static std::mutex mutex;
  static auto* const kept = new std::unordered_map<Key, RowPlan, KeyHash>;
  constexpr std::size_t kMostPlans = 256;
  thread_local Key key;
  key.assign({device, rows.entry_bytes, rows.is_signed, motion.kind, motion.number});
  for (const std::uint64_t size : {rows.count, rows.rows, rows.outer, rows.row_bytes})
    key.push_back(static_cast<std::int64_t>(size));
  {
    const std::lock_guard lock(mutex);
    const auto found = kept->find(key);
    if (found != kept->end()) return found->second;
  }
  faro_options options{};
  options.engine = FARO_CUDA;
  options.device = device + 1;
  faro_row_plan* plan = nullptr;
  if (motion.kind == RowMotion::take) {
    check(faro_row_plan_take(&rows, nullptr, 0, &options, &plan));
  } else if (motion.kind == RowMotion::put) {
    check(faro_row_plan_put(&rows, &options, &plan));
  } else {
    check(faro_row_plan_add(&rows, motion.number, FARO_SUMS_USUAL, &options, &plan));
  }
  RowPlan made{.plan = {plan, RowPlanDeleter{}}};
  check(faro_row_plan_workspace_bytes(plan, &made.workspace_bytes));
  const std::lock_guard lock(mutex);
  if (kept->size() >= kMostPlans) kept->clear();
  return kept->insert_or_assign(key, std::move(made)).first->second;
}

nb::object take_ndarray(nb::handle array, nb::handle indices, nb::handle axis) {
  const HostArray in = host_array(array);
  const HostArray entries = host_array(indices);
  const ElementType type = element_type(in.dtype);
  const ElementType entry_type = element_type(entries.dtype);
  TakenShape taken;
  const bool fits = entry_type.is_index && type.bytes > 0 && is_dense(in, type.bytes) &&
                    is_dense(entries, entry_type.bytes) &&
                    shape_taken(taken, in.ndim, in.shape, entries.ndim, entries.shape, axis);
  if (!fits) return nb::none();
  nb::object made = new_ndarray(taken.shape.data(), taken.shape.size(), in.dtype);
  const EntryType entry{.bytes = static_cast<int>(entry_type.bytes), .is_signed = entry_type.is_signed};
  take_on_host(rows_of(taken, entries.data, entry, type.bytes), in.data, host_array(made).data);
  return made;
}

void write_on_host(const faro_rows& rows, RowMotion motion, const void* in, void* out) {
  const KnownMemory known;
  const auto write = [&] {
    if (motion.kind == RowMotion::put) return faro_put(&rows, in, out);
    return faro_add(&rows, motion.number, FARO_SUMS_USUAL, in, out);
  };
  if (rows.outer * rows.count * rows.row_bytes < kBytesWithLock) return check(write());
  do_unlocked(write);
}

// The rows of `in` to where they belong; `fresh`: nobody sees the output where it fails.
void move_rows(const ExchangeFunctions& functions, const Tensor& in, const faro_rows& rows, char* out,
               RowMotion motion, bool fresh = false) {
  const int device = device_of(in);
  const char* const from = address_of(in);
  if (device >= 0) {
    const RowPlan of = planned_rows(rows, device, motion);
    void* const stream = current_stream(functions, device);
    const KnownMemory known;
    if (of.workspace_bytes == 0)
      return check(faro_row_plan_run(of.plan.get(), rows.entries, from, out, stream));
    const NewTensor workspace = workspace_beside(functions, in, of.workspace_bytes);
    return check(faro_row_plan_run_in_workspace(of.plan.get(), rows.entries, from, out, workspace.data(),
                                                of.workspace_bytes, stream));
  }
  if (motion.kind == RowMotion::take) return take_on_host(rows, from, out, fresh);
  write_on_host(rows, motion, from, out);
}

// Whether dense tensors share no memory.
bool is_beside(const Tensor& a, const Tensor& b) {
  const auto end = [](const Tensor& tensor) {
    Py_ssize_t bytes = width_of(tensor);
    for (int axis = 0; axis < tensor.ndim; ++axis) bytes *= tensor.shape[axis];
    return address_of(tensor) + bytes;
  };
  return end(a) <= address_of(b) || end(b) <= address_of(a);
}

// Indices of rows of a tensor, both of one type.
struct Indexed {
  TakenShape taken;
  faro_rows rows;
};

// False where Python has to look at it.
bool read_indices(Indexed& read, const Tensor& numbered, const Tensor& entries, nb::handle axis) {
  constexpr int kUnsigned = 1;
  const bool fits = are_entries(entries, numbered) &&
                    shape_taken(read.taken, numbered.ndim, numbered.shape, entries.ndim, entries.shape, axis);
  if (!fits) return false;
  const EntryType entry{.bytes = entries.dtype.bits * entries.dtype.lanes / 8,
                        .is_signed = entries.dtype.code != kUnsigned};
  read.rows = rows_of(read.taken, address_of(entries), entry, width_of(numbered));
  return true;
}

nb::object take_tensor(nb::handle array, nb::handle indices, nb::handle axis, nb::handle out,
                       const ExchangeType& type) {
  Tensor in;
  Tensor entries;
  Indexed read;
  if (!read_plainly(array, type, in) || !read_plainly(indices, type, entries) || is_watched(type) ||
      !read_indices(read, in, entries, axis))
    return nb::none();
  if (out.is_none()) {
    NewTensor made(*type.functions, in, read.taken.shape);
    move_rows(*type.functions, in, read.rows, made.data(), {}, true);
    return made.given_away();
  }
  Tensor to;
  const bool is_output = read_plainly(out, type, to) && is_like(in, to) &&
                         is_shape(read.taken.shape, to.ndim, to.shape) && is_dense(to, 1) &&
                         is_beside(in, to) && is_beside(entries, to);
  if (!is_output) return nb::none();
  move_rows(*type.functions, in, read.rows, address_of(to), {});
  tell_written(type, nb::make_tuple(out));
  return nb::borrow(out);
}

// The type of numbers that are summed, as DLPack has it; false for others.
bool is_summed(int code, Py_ssize_t bits, faro_number& number) {
  constexpr int kInteger = 0;
  constexpr int kUnsigned = 1;
  constexpr int kFloat = 2;
  constexpr int kBrain = 4;
  const struct {
    int code;
    int bits;
    faro_number number;
  } known[] = {{kInteger, 8, FARO_I8},    {kInteger, 16, FARO_I16},  {kInteger, 32, FARO_I32},
               {kInteger, 64, FARO_I64},  {kUnsigned, 8, FARO_U8},   {kUnsigned, 16, FARO_U16},
               {kUnsigned, 32, FARO_U32}, {kUnsigned, 64, FARO_U64}, {kFloat, 16, FARO_F16},
               {kFloat, 32, FARO_F32},    {kFloat, 64, FARO_F64},    {kBrain, 16, FARO_BF16}};
  for (const auto& each : known) {
    if (code != each.code || bits != each.bits) continue;
    number = each.number;
    return true;
  }
  return false;
}

char* end_of(const HostArray& dense, Py_ssize_t item) {
  for (int axis = 0; axis < dense.ndim; ++axis) item *= dense.shape[axis];
  return dense.data + item;
}

// put() and add_at() of dense arrays of NumPy; the output, or None where Python has to look at it.
nb::object write_ndarray(nb::handle out, nb::handle indices, nb::handle values, nb::handle axis, bool adds) {
  const HostArray to = host_array(out);
  const HostArray entries = host_array(indices);
  const HostArray in = host_array(values);
  const ElementType type = element_type(to.dtype);
  const ElementType entry_type = element_type(entries.dtype);
  TakenShape taken;
  RowMotion motion{.kind = adds ? RowMotion::add : RowMotion::put};
  const bool fits =
      to.writable && type.bytes > 0 && in.dtype == to.dtype && entry_type.is_index && entries.ndim == 1 &&
      is_dense(to, type.bytes) && is_dense(in, type.bytes) && is_dense(entries, entry_type.bytes) &&
      shape_taken(taken, to.ndim, to.shape, entries.ndim, entries.shape, axis) &&
      is_shape(taken.shape, in.ndim, in.shape) &&
      (end_of(to, type.bytes) <= in.data || end_of(in, type.bytes) <= to.data) &&
      (end_of(to, type.bytes) <= entries.data || end_of(entries, entry_type.bytes) <= to.data) &&
      (!adds || is_summed(type.code, 8 * type.bytes, motion.number));
  if (!fits) return nb::none();
  const EntryType entry{.bytes = static_cast<int>(entry_type.bytes), .is_signed = entry_type.is_signed};
  write_on_host(rows_of(taken, entries.data, entry, type.bytes), motion, in.data, to.data);
  return nb::borrow(out);
}

// The same of dense arrays of one type.
nb::object write_rows(nb::handle out, nb::handle indices, nb::handle values, nb::handle axis, bool adds) {
  PyTypeObject* const library = Py_TYPE(out.ptr());
  if (library != Py_TYPE(indices.ptr()) || library != Py_TYPE(values.ptr()) || axis.is_none())
    return nb::none();
  if (is_ndarray(out)) return write_ndarray(out, indices, values, axis, adds);
  const ExchangeType type = exchange_type(library);
  if (type.functions == nullptr) return nb::none();
  Tensor to;
  Tensor entries;
  Tensor in;
  Indexed read;
  RowMotion motion{.kind = adds ? RowMotion::add : RowMotion::put};
  const bool fits =
      read_plainly(out, type, to) && read_plainly(indices, type, entries) && read_plainly(values, type, in) &&
      !is_watched(type) && entries.ndim == 1 && is_like(in, to) && read_indices(read, to, entries, axis) &&
      is_shape(read.taken.shape, in.ndim, in.shape) && is_dense(in, 1) && is_beside(in, to) &&
      is_beside(entries, to) &&
      (!adds || is_summed(to.dtype.code, to.dtype.lanes == 1 ? to.dtype.bits : 0, motion.number));
  if (!fits) return nb::none();
  move_rows(*type.functions, in, read.rows, address_of(to), motion);
  tell_written(type, nb::make_tuple(out));
  return nb::borrow(out);
}

// None where Python has to look at it.
nb::object take(nb::handle array, nb::handle indices, nb::handle axis, nb::handle out) {
  if (is_ndarray(array)) {
    return is_ndarray(indices) && out.is_none() ? take_ndarray(array, indices, axis) : nb::none();
  }
  PyTypeObject* const library = Py_TYPE(array.ptr());
  if (library != Py_TYPE(indices.ptr()) || (!out.is_none() && library != Py_TYPE(out.ptr())))
    return nb::none();
  const ExchangeType type = exchange_type(library);
  return type.functions != nullptr ? take_tensor(array, indices, axis, out, type) : nb::none();
}

}  // namespace

void bind_calls(nb::module_& module) {
  static_cast<void>(session());
  module.def("run", &run, nb::arg("array").none(), nb::arg("op"), nb::arg("argument").none(),
             nb::arg("out").none(), nb::arg("stream").none());
  module.def("dense", &dense, nb::arg("array").none(), nb::arg("op"));
  module.def("run_changed", &run_changed, nb::arg("array").none(), nb::arg("operation"),
             nb::arg("argument").none(), nb::arg("change"), nb::arg("out").none(), nb::arg("plan"),
             nb::arg("indices").none() = nb::none());
  module.def("take_short", &take, nb::arg("array").none(), nb::arg("indices").none(), nb::arg("axis").none(),
             nb::arg("out").none() = nb::none());
  module.def("write_short", &write_rows, nb::arg("out").none(), nb::arg("indices").none(),
             nb::arg("values").none(), nb::arg("axis").none(), nb::arg("adds"));
  nb::class_<Call>(module, "Call").def_static("make", &make_call);
  module.def("call", &call, nb::arg("call"), nb::arg("array").none());
  module.def("set_python_side", [](nb::object plan, nb::object other, nb::object meet) {
    session().plan = plan.release().ptr();
    session().other = other.release().ptr();
    set_meet_torch(std::move(meet));
  });
  module.def("set_numpy", &set_numpy);
  module.def("new_ndarray", [](const std::vector<Py_ssize_t>& shape, nb::handle dtype) {
    return new_ndarray(shape.data(), shape.size(), dtype.ptr());
  });
  module.def("keep_memory", &keep_memory);
  module.def("kept_memory", &kept_memory);
  module.def("clear_plans", [] {
    session().cache.clear();
    session().changed.clear();
  });
  module.def("cached_plans", [] { return session().cache.size() + session().changed.size(); });
}

}  // namespace faro::python
