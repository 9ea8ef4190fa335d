// Arrays of other libraries, and the short way of a call: array -> cached plan -> new array.
//
//     faro.permute_dims(x, (1, 0))
//          |  x is a numpy.ndarray: its buffer, without any Python code
//     key          operation, element width, shape, strides, argument
//          |  found in the cache: a plan and the result's shape; else Python plans, once
//     numpy.empty  the result
//     run          from 64 KiB on without the interpreter's lock
//
// Everything else (other libraries' arrays, strided results) goes by Python's _run.py, which uses the same
// plans.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan_handle.hpp"
#include "status.hpp"

namespace faro::python {
namespace {

// --- buffers

class BufferHandle {
 public:
  BufferHandle(nb::handle array, bool writable) {
    if (PyObject_GetBuffer(array.ptr(), &buffer_, PyBUF_STRIDES | (writable ? PyBUF_WRITABLE : 0)) != 0)
      nb::raise_python_error();
  }
  ~BufferHandle() { PyBuffer_Release(&buffer_); }
  BufferHandle(const BufferHandle&) = delete;
  BufferHandle& operator=(const BufferHandle&) = delete;

  const Py_buffer& operator*() const { return buffer_; }
  const Py_buffer* operator->() const { return &buffer_; }

 private:
  Py_buffer buffer_{};
};

nb::tuple tuple_of(const Py_ssize_t* values, int count) {
  PyObject* const tuple = PyTuple_New(count);
  if (tuple == nullptr) nb::raise_python_error();
  for (int i = 0; i < count; ++i) PyTuple_SetItem(tuple, i, PyLong_FromSsize_t(values[i]));
  return nb::steal<nb::tuple>(tuple);
}

// (address, shape, strides in bytes, itemsize); the handle keeps the buffer.
nb::tuple facts_of(const BufferHandle& buffer) {
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(buffer->buf), tuple_of(buffer->shape, buffer->ndim),
                        tuple_of(buffer->strides, buffer->ndim), buffer->itemsize, buffer->readonly != 0);
}

// --- DLPack, as its header has it; nanobind has the tensor.

struct ManagedTensor {
  nb::dlpack::dltensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

struct VersionedTensor {
  std::uint32_t major;
  std::uint32_t minor;
  void* context;
  void (*deleter)(VersionedTensor*);
  std::uint64_t flags;
  nb::dlpack::dltensor tensor;
};

constexpr std::uint64_t kReadOnly = 1;

// What a capsule of DLPack says; it stays the capsule's: (address, shape, strides in bytes, itemsize, read
// only, device type, device, (code, bits, lanes)).
nb::tuple dlpack_facts(nb::handle capsule) {
  const nb::dlpack::dltensor* tensor = nullptr;
  bool read_only = false;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    const auto* const managed =
        static_cast<const VersionedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->major > 1)
      refuse("read an array", "DLPack of version " + std::to_string(managed->major), "version 1");
    tensor = &managed->tensor;
    read_only = (managed->flags & kReadOnly) != 0;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor") != 0) {
    tensor = &static_cast<const ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"))->tensor;
  } else {
    refuse("read an array", "a capsule that is no DLPack tensor", "what __dlpack__() gives");
  }
  const int bits = tensor->dtype.bits * tensor->dtype.lanes;
  if (bits % 8 != 0)
    refuse("read an array", "elements of " + std::to_string(bits) + " bits", "elements of whole bytes");
  const std::int64_t width = bits / 8;
  std::vector<Py_ssize_t> shape(tensor->shape, tensor->shape + tensor->ndim);
  std::vector<Py_ssize_t> strides(shape.size());
  std::int64_t dense = width;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = tensor->strides != nullptr ? tensor->strides[axis] * width : dense;
    dense *= shape[axis];
  }
  const auto address = reinterpret_cast<std::uintptr_t>(tensor->data) + tensor->byte_offset;
  return nb::make_tuple(address, tuple_of(shape.data(), tensor->ndim), tuple_of(strides.data(), tensor->ndim),
                        width, read_only, tensor->device.device_type, tensor->device.device_id,
                        nb::make_tuple(tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes));
}

// New memory of the host as an array without a library: (address, an object with __dlpack__ and a buffer).
nb::tuple new_array(const std::vector<std::size_t>& shape, int code, int bits, int lanes) {
  std::size_t bytes = static_cast<std::size_t>(bits) * static_cast<std::size_t>(lanes) / 8;
  for (const std::size_t extent : shape) bytes *= extent;
  constexpr std::size_t kAlignment = 64;
  void* const data =
      std::aligned_alloc(kAlignment, (std::max<std::size_t>(bytes, 1) + kAlignment - 1) & ~(kAlignment - 1));
  if (data == nullptr) throw std::bad_alloc();
  const nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
  const nb::dlpack::dtype dtype{.code = static_cast<std::uint8_t>(code),
                                .bits = static_cast<std::uint8_t>(bits),
                                .lanes = static_cast<std::uint16_t>(lanes)};
  const nb::ndarray<nb::array_api> array(data, shape.size(), shape.data(), owner, nullptr, dtype);
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(data), nb::cast(array));
}

// --- the cache of plans

using Key = std::vector<std::int64_t>;

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t hash = 0x9e3779b97f4a7c15U;
    for (const std::int64_t word : key) {
      hash = (hash ^ static_cast<std::uint64_t>(word)) * 0xff51afd7ed558ccdU;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

// Keeps what it names: an object's address is no other's while it is here.
struct Entry {
  nb::object plan_object;
  const PlanHandle* plan = nullptr;
  nb::object shape;  // of the result, a tuple
  std::vector<Py_ssize_t> extents;
  bool holds_lock = true;  // while it runs
  nb::object argument;
};

class PlanCache {
 public:
  std::shared_ptr<const Entry> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second;
  }

  void add(const Key& key, std::shared_ptr<const Entry> entry) {
    Entries dropped;  // destroyed without the lock: it may run Python
    {
      const std::lock_guard lock(mutex_);
      if (entries_.size() >= kMostPlans) dropped.swap(entries_);
      entries_.insert_or_assign(key, std::move(entry));
    }
  }

  void clear() {
    Entries dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(entries_);
  }

  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  static constexpr std::size_t kMostPlans = 1024;
  using Entries = std::unordered_map<Key, std::shared_ptr<const Entry>, KeyHash>;
  std::mutex mutex_;
  Entries entries_;
};

// What lives as long as the module, which is never unloaded: nothing is destroyed after the interpreter.
struct Session {
  PlanCache cache;
  PyObject* ndarray = nullptr;  // numpy's type, and numpy.empty; null until NumPy is loaded
  PyObject* empty = nullptr;
  PyObject* plan = nullptr;   // _run.py: plan(op, shape, strides, width, argument) -> (Plan, shape)
  PyObject* other = nullptr;  // _run.py: run(x, op, argument, out, stream)
  PyObject* dtype_name = nullptr;
  std::mutex dtype_mutex;
  std::vector<PyObject*> plain_dtypes;  // whose elements hold no references
};

Session& session() {
  static auto* const made = new Session;
  return *made;
}

// Words for what an argument is: whole numbers and None, tuples and lists of them, texts, and other objects
// by their address.
void append_argument(Key& key, nb::handle argument) {
  PyObject* const object = argument.ptr();
  if (object == Py_None) return key.push_back(0);
  if (PyLong_CheckExact(object)) {
    const long long value = PyLong_AsLongLong(object);
    if (value != -1 || PyErr_Occurred() == nullptr) {
      key.push_back(1);
      return key.push_back(value);
    }
    PyErr_Clear();  // past 64 bits: by its address, as other objects
    key.push_back(4);
    return key.push_back(reinterpret_cast<std::intptr_t>(object));
  }
  if (PyTuple_Check(object)) {
    const Py_ssize_t size = PyTuple_Size(object);
    key.push_back(2);
    key.push_back(size);
    for (Py_ssize_t i = 0; i < size; ++i) append_argument(key, PyTuple_GetItem(object, i));
    return;
  }
  if (PyUnicode_Check(object)) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) nb::raise_python_error();
    key.push_back(3);
    key.push_back(size);
    for (Py_ssize_t at = 0; at < size; at += 8) {
      std::int64_t word = 0;
      std::memcpy(&word, text + at, static_cast<std::size_t>(std::min<Py_ssize_t>(size - at, 8)));
      key.push_back(word);
    }
    return;
  }
  if (PyIndex_Check(object) != 0 && PyList_Check(object) == 0) {  // numpy's integers
    const nb::object value = nb::steal(PyNumber_Index(object));
    if (!value.is_valid()) nb::raise_python_error();
    return append_argument(key, value);
  }
  key.push_back(4);
  key.push_back(reinterpret_cast<std::intptr_t>(object));
}

void refuse_references(PyObject* dtype) {
  Session& s = session();
  {
    const std::lock_guard lock(s.dtype_mutex);
    if (std::find(s.plain_dtypes.begin(), s.plain_dtypes.end(), dtype) != s.plain_dtypes.end()) return;
  }
  if (nb::cast<bool>(nb::handle(dtype).attr("hasobject"))) {
    refuse("read an array", "elements that are references to objects", "elements of plain bytes",
           "moved as bytes they would be lost count of");
  }
  constexpr std::size_t kMostDtypes = 64;
  const std::lock_guard lock(s.dtype_mutex);
  if (s.plain_dtypes.size() < kMostDtypes) s.plain_dtypes.push_back(nb::borrow(dtype).release().ptr());
}

std::shared_ptr<const Entry> planned(const Key& key, const BufferHandle& in, int op, nb::handle argument) {
  Session& s = session();
  if (auto found = s.cache.find(key)) return found;
  const nb::tuple made = nb::cast<nb::tuple>(nb::borrow(s.plan)(
      op, tuple_of(in->shape, in->ndim), tuple_of(in->strides, in->ndim), in->itemsize, argument));
  auto entry = std::make_shared<Entry>();
  entry->plan_object = made[0];
  entry->plan = &nb::cast<const PlanHandle&>(entry->plan_object);
  entry->shape = made[1];
  for (nb::handle extent : nb::cast<nb::tuple>(entry->shape))
    entry->extents.push_back(nb::cast<Py_ssize_t>(extent));
  entry->holds_lock = entry->plan->out_bytes() < kBytesWithLock;
  entry->argument = nb::borrow(argument);
  s.cache.add(key, entry);
  return entry;
}

void move(const Entry& entry, const void* in, void* out) {
  const auto run = [&] { return faro_plan_run(entry.plan->plan.get(), in, out, nullptr); };
  if (entry.holds_lock) return check(run());
  faro_status status = FARO_OK;
  {
    nb::gil_scoped_release released;
    status = run();
  }
  check(status);
}

// Whether the result is the very array that the plan writes: its shape, width, and rows one after another.
bool is_dense(const Py_buffer& out) {
  Py_ssize_t dense = out.itemsize;
  for (int axis = out.ndim; axis-- > 0;) {
    if (out.shape[axis] == 0) return true;
    if (out.shape[axis] != 1 && out.strides[axis] != dense) return false;
    dense *= out.shape[axis];
  }
  return true;
}

bool has_shape(const Py_buffer& out, const Entry& entry) {
  return static_cast<std::size_t>(out.ndim) == entry.extents.size() &&
         std::equal(entry.extents.begin(), entry.extents.end(), out.shape);
}

nb::object run(nb::handle array, int op, nb::handle argument, nb::handle out, nb::handle stream) {
  Session& s = session();
  const bool is_ndarray =
      reinterpret_cast<PyObject*>(Py_TYPE(array.ptr())) == s.ndarray && s.ndarray != nullptr;
  const bool to_ndarray = out.is_none() || reinterpret_cast<PyObject*>(Py_TYPE(out.ptr())) == s.ndarray;
  if (!is_ndarray || !to_ndarray || !stream.is_none())
    return nb::borrow(s.other)(array, op, argument, out, stream);

  const nb::object dtype = nb::steal(PyObject_GetAttr(array.ptr(), s.dtype_name));
  if (!dtype.is_valid()) nb::raise_python_error();
  refuse_references(dtype.ptr());
  const BufferHandle in(array, false);
  thread_local Key key;
  key.assign({op, in->itemsize, in->ndim});
  key.insert(key.end(), in->shape, in->shape + in->ndim);
  key.insert(key.end(), in->strides, in->strides + in->ndim);
  append_argument(key, argument);
  // A copy: planning runs Python, which may come here again.
  std::shared_ptr<const Entry> entry = s.cache.find(key);
  if (!entry) entry = planned(Key(key), in, op, argument);

  if (out.is_none()) {
    nb::object made = nb::borrow(s.empty)(entry->shape, dtype);
    const BufferHandle to(made, true);
    move(*entry, in->buf, to->buf);
    return made;
  }
  {
    const nb::object out_dtype = nb::steal(PyObject_GetAttr(out.ptr(), s.dtype_name));
    const bool same_dtype =
        out_dtype.is_valid() && PyObject_RichCompareBool(out_dtype.ptr(), dtype.ptr(), Py_EQ) == 1;
    const BufferHandle to(out, false);
    if (same_dtype && to->readonly == 0 && has_shape(*to, *entry) && is_dense(*to)) {
      move(*entry, in->buf, to->buf);
      return nb::borrow(out);
    }
  }
  return nb::borrow(s.other)(array, op, argument, out, stream);  // strided, or refused there
}

bool is_tuple_of(nb::handle tuple, const Py_ssize_t* values, int count) {
  if (PyTuple_Size(tuple.ptr()) != count) return false;
  for (int i = 0; i < count; ++i) {
    if (PyLong_AsSsize_t(PyTuple_GetItem(tuple.ptr(), i)) != values[i]) return false;
  }
  return true;
}

// A plan's call on a dense array of NumPy: the result, or None where Python has to look at it.
nb::object run_plan(const PlanHandle& plan, nb::handle shape, nb::handle out_shape, Py_ssize_t itemsize,
                    nb::handle array) {
  Session& s = session();
  if (reinterpret_cast<PyObject*>(Py_TYPE(array.ptr())) != s.ndarray || s.ndarray == nullptr)
    return nb::none();
  const nb::object dtype = nb::steal(PyObject_GetAttr(array.ptr(), s.dtype_name));
  if (!dtype.is_valid()) nb::raise_python_error();
  refuse_references(dtype.ptr());
  const BufferHandle in(array, false);
  if (in->itemsize != itemsize || !is_tuple_of(shape, in->shape, in->ndim) || !is_dense(*in))
    return nb::none();
  nb::object made = nb::borrow(s.empty)(out_shape, dtype);
  const BufferHandle to(made, true);
  plan.run(reinterpret_cast<std::uintptr_t>(in->buf), reinterpret_cast<std::uintptr_t>(to->buf), 0);
  return made;
}

}  // namespace

void bind_arrays(nb::module_& module) {
  session().dtype_name = PyUnicode_InternFromString("dtype");

  nb::class_<BufferHandle>(module, "Buffer")
      .def(nb::init<nb::handle, bool>(), nb::arg("array"), nb::arg("writable"))
      .def("facts", &facts_of);
  module.def("dlpack_facts", &dlpack_facts);
  module.def("new_array", &new_array);
  module.def("run", &run, nb::arg("array").none(), nb::arg("op"), nb::arg("argument").none(),
             nb::arg("out").none(), nb::arg("stream").none());
  module.def("run_plan", &run_plan);
  module.def("set_python_side", [](nb::object plan, nb::object other) {
    session().plan = plan.release().ptr();
    session().other = other.release().ptr();
  });
  module.def("set_numpy", [](nb::object ndarray, nb::object empty) {
    session().ndarray = ndarray.release().ptr();
    session().empty = empty.release().ptr();
  });
  module.def("clear_plans", [] { session().cache.clear(); });
  module.def("cached_plans", [] { return session().cache.size(); });
}

}  // namespace faro::python

NB_MODULE(_faro, module) {
  namespace nb = nanobind;
  // Plans, sessions and cached objects live as long as the process.
  nb::set_leak_warnings(false);
  module.def("set_errors", &faro::python::set_errors);
  module.def("version", [] { return std::string(faro_version()); });
  module.def("cuda_status", [] {
    int available = 0;
    char* reason = nullptr;
    faro::python::check(faro_cuda_status(&available, &reason));
    return nb::make_tuple(available != 0, faro::python::taken(reason));
  });
  faro::python::bind_maps(module);
  faro::python::bind_plans(module);
  faro::python::bind_rows(module);
  faro::python::bind_arrays(module);
}
