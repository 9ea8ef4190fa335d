// Groups: many arrays at once, by plans that Python keeps.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "forward.hpp"
#include "numpy_arrays.hpp"
#include "plan_handle.hpp"
#include "status.hpp"
#include "tensors.hpp"

namespace faro::python {
namespace {

// What the arrays of a member are, strides in bytes, 0 along axes of one element.
struct MemberShape {
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
  Py_ssize_t width = 0;
  std::vector<Py_ssize_t> out_shape;
  std::vector<Py_ssize_t> out_strides;
};
using ShapeTuple = std::tuple<std::vector<Py_ssize_t>, std::vector<Py_ssize_t>, Py_ssize_t,
                              std::vector<Py_ssize_t>, std::vector<Py_ssize_t>>;

// The group, and the plans that it uses.
struct GroupHandle {
  std::unique_ptr<faro_group, Destroyer<faro_group_destroy>> plan;
  nb::object plans;
  std::vector<MemberShape> members;
  int device = -1;  // the host
  bool holds_lock = false;
};

GroupHandle make_group(const nb::list& plans, const std::vector<std::uintptr_t>& ins,
                       const std::vector<std::uintptr_t>& outs, const std::vector<ShapeTuple>& shapes,
                       int device, int threads) {
  if (plans.size() != ins.size() || plans.size() != outs.size() || plans.size() != shapes.size())
    throw nb::value_error("two addresses and a shape for each plan");
  std::vector<faro_group_member> members(ins.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    members[i].plan = nb::cast<const PlanHandle&>(plans[i]).plan.get();
    members[i].in = reinterpret_cast<const void*>(ins[i]);
    members[i].out = reinterpret_cast<void*>(outs[i]);
  }
  faro_options options{};
  options.engine = device < 0 ? FARO_CPU : FARO_CUDA;
  options.device = device + 1;
  options.threads = threads;
  auto made = made_unlocked<GroupHandle>(
      [&](faro_group** group) { return faro_group_create(members.data(), members.size(), &options, group); });
  made.plans = plans;
  made.device = device;
  for (const auto& [shape, strides, width, out_shape, out_strides] : shapes)
    made.members.push_back({shape, strides, width, out_shape, out_strides});
  std::uint64_t moved = 0;
  check(faro_group_facts(made.plan.get(), nullptr, nullptr, &moved, nullptr));
  made.holds_lock = device >= 0 || moved / 2 < kBytesWithLock;
  return made;
}

// Work on a device is only queued; short work on the host lets nobody else run.
template <typename Work>
void do_work(const GroupHandle& self, const Work& work) {
  if (self.holds_lock) return check(work());
  do_unlocked(work);
}

void run_arrays(const GroupHandle& self, const std::vector<std::uintptr_t>& ins,
                const std::vector<std::uintptr_t>& outs, void* stream) {
  do_unlocked([&] {
    return faro_group_run_arrays(self.plan.get(), reinterpret_cast<const void* const*>(ins.data()),
                                 reinterpret_cast<void* const*>(outs.data()), stream);
  });
}

// On the current stream of the library of its arrays, one of which is given; false where Python has to look.
bool run_kept(const GroupHandle& self, nb::handle array) {
  void* stream = nullptr;
  if (self.device >= 0) {
    const ExchangeType type = exchange_type(Py_TYPE(array.ptr()));
    if (type.functions == nullptr || is_watched(type)) return false;
    stream = current_stream(*type.functions, self.device);
  }
  do_work(self, [&] { return faro_group_run(self.plan.get(), stream); });
  return true;
}

// One side of a member, and whether an array lies so; `item`: a stride of neighbours.
struct Side {
  const std::vector<Py_ssize_t>& shape;
  const std::vector<Py_ssize_t>& strides;  // in bytes
  Py_ssize_t width;
  bool is_written;

  template <typename Array>
  bool fits(const Array& array, std::int64_t item) const {
    if (!is_shape(shape, array.ndim, array.shape)) return false;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] > 1 && array.strides[axis] * width != strides[axis] * item) return false;
    return true;
  }
};

// The address of a plain array as the member's, a tensor of that type or, where that is none, of NumPy; null:
// of another. One without elements may have any address.
void* address_of_plain(nb::handle array, const ExchangeType& type, int device, const Side& side) {
  if (type.functions == nullptr) {
    if (!is_ndarray(array)) return nullptr;
    const HostArray found = host_array(array);
    const bool fits = element_type(found.dtype).bytes == side.width && side.fits(found, side.width) &&
                      (found.writable || !side.is_written);
    return fits ? found.data : nullptr;
  }
  if (Py_TYPE(array.ptr()) != type.type) return nullptr;
  Tensor tensor;
  if (type.functions->borrow(array.ptr(), &tensor) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  const bool fits = is_exchanged(tensor) && device_of(tensor) == device && width_of(tensor) == side.width &&
                    side.fits(tensor, 1) && is_plain(array.ptr(), type, tensor);
  return fits ? address_of(tensor) : nullptr;
}

// With other plain arrays; false where Python has to look at them, and nothing was done.
bool run_plain(const GroupHandle& self, const nb::list& ins, const nb::list& outs) {
  const std::size_t count = self.members.size();
  if (count == 0 || ins.size() != count || outs.size() != count) return false;
  const nb::handle first = ins[0];
  ExchangeType type{};
  if (self.device >= 0 || !is_ndarray(first)) {
    type = exchange_type(Py_TYPE(first.ptr()));
    if (type.functions == nullptr || is_watched(type)) return false;
  }
  std::vector<const void*> sources(count);
  std::vector<void*> targets(count);
  for (std::size_t i = 0; i < count; ++i) {
    const MemberShape& of = self.members[i];
    sources[i] = address_of_plain(ins[i], type, self.device, {of.shape, of.strides, of.width, false});
    targets[i] = address_of_plain(outs[i], type, self.device, {of.out_shape, of.out_strides, of.width, true});
    if (sources[i] == nullptr || targets[i] == nullptr) return false;
  }
  void* const stream = self.device < 0 ? nullptr : current_stream(*type.functions, self.device);
  do_work(self, [&] {
    const KnownMemory known;
    return faro_group_run_arrays(self.plan.get(), sources.data(), targets.data(), stream);
  });
  if (type.functions != nullptr) tell_written(type, nb::tuple(outs));
  return true;
}

}  // namespace

void bind_groups(nb::module_& module) {
  nb::class_<GroupHandle>(module, "Group")
      // Plans, addresses of inputs and outputs, and shapes, as many of each; a negative device is the host.
      .def_static("make", &make_group)
      .def("run_kept", &run_kept)
      .def("run_plain", &run_plain)
      .def("run", runs_unlocked<GroupHandle>(faro_group_run))
      .def("run_arrays",
           [](const GroupHandle& self, const std::vector<std::uintptr_t>& ins,
              const std::vector<std::uintptr_t>& outs,
              std::uintptr_t stream) { run_arrays(self, ins, outs, reinterpret_cast<void*>(stream)); })
      .def("run_table", runs<GroupHandle>(faro_group_run_table))
      // (members, launches, bytes moved, whether it is on a GPU)
      .def("facts",
           [](const GroupHandle& self) {
             std::uint64_t members = 0;
             std::uint64_t launches = 0;
             std::uint64_t bytes = 0;
             int on_gpu = 0;
             check(faro_group_facts(self.plan.get(), &members, &launches, &bytes, &on_gpu));
             return std::make_tuple(members, launches, bytes, on_gpu != 0);
           })
      .def("explain", tells<GroupHandle>(faro_group_explain));
}

}  // namespace faro::python
