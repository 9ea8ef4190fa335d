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
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "array_memory.hpp"
#include "dlpack.hpp"
#include "numpy_arrays.hpp"
#include "plan_cache.hpp"
#include "plan_handle.hpp"
#include "pytorch.hpp"
#include "short_calls.hpp"
#include "status.hpp"
#include "tensors.hpp"

namespace faro::python {
namespace {

// What lives as long as the module, which is never unloaded: nothing is destroyed after the interpreter.
struct Session {
  PlanCache<CachedPlan> cache;
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

void move_tensor(const ExchangeFunctions& functions, const Tensor& in, const TensorRun& run) {
  void* const stream = current_stream(functions, device_of(in));
  if (run.workspace_bytes == 0) return move(run.plan, run.holds_lock, run.in, run.out, stream);
  const NewTensor workspace = workspace_beside(functions, in, run.workspace_bytes);
  const KnownMemory known;
  check(faro_plan_run_in_workspace(run.plan.plan.get(), run.in, run.out, workspace.data(),
                                   run.workspace_bytes, stream));
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

// --- the functions

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

}  // namespace

void bind_calls(nb::module_& module) {
  static_cast<void>(session());
  module.def("run", &run, nb::arg("array").none(), nb::arg("op"), nb::arg("argument").none(),
             nb::arg("out").none(), nb::arg("stream").none());
  module.def("dense", &dense, nb::arg("array").none(), nb::arg("op"));
  bind_changed_calls(module);
  bind_row_calls(module);
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
    clear_changed_plans();
  });
  module.def("cached_plans", [] { return session().cache.size() + changed_plans(); });
}

}  // namespace faro::python
