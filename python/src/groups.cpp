// Groups: many arrays at once, by plans that Python keeps.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

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
  return made;
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
  const ExchangeType type = exchange_type(Py_TYPE(array.ptr()));
  if (self.device < 0 || type.functions == nullptr || is_watched(type)) return false;
  check(faro_group_run(self.plan.get(), current_stream(*type.functions, self.device)));
  return true;
}

// The address of a plain tensor of such a shape, strides and width on that device; 0: of another.
std::uintptr_t address_of_plain(nb::handle array, const ExchangeType& type, int device,
                                const std::vector<Py_ssize_t>& shape, const std::vector<Py_ssize_t>& strides,
                                Py_ssize_t width) {
  if (Py_TYPE(array.ptr()) != type.type) return 0;
  Tensor tensor;
  if (type.functions->borrow(array.ptr(), &tensor) != 0) {
    PyErr_Clear();
    return 0;
  }
  bool fits = is_exchanged(tensor) && device_of(tensor) == device && width_of(tensor) == width &&
              is_shape(shape, tensor.ndim, tensor.shape);
  for (std::size_t axis = 0; fits && axis < strides.size(); ++axis)
    fits = shape[axis] <= 1 || tensor.strides[axis] * width == strides[axis];
  return fits && is_plain(array.ptr(), type, tensor) ? reinterpret_cast<std::uintptr_t>(address_of(tensor))
                                                     : 0;
}

// With other tensors of a GPU; false where Python has to look at them, and nothing was done.
bool run_tensors(const GroupHandle& self, const nb::list& ins, const nb::list& outs) {
  const std::size_t count = self.members.size();
  if (self.device < 0 || count == 0 || ins.size() != count || outs.size() != count) return false;
  const ExchangeType type = exchange_type(Py_TYPE(nb::handle(ins[0]).ptr()));
  if (type.functions == nullptr || is_watched(type)) return false;
  std::vector<std::uintptr_t> sources(count);
  std::vector<std::uintptr_t> targets(count);
  for (std::size_t i = 0; i < count; ++i) {
    const MemberShape& of = self.members[i];
    sources[i] = address_of_plain(ins[i], type, self.device, of.shape, of.strides, of.width);
    targets[i] = address_of_plain(outs[i], type, self.device, of.out_shape, of.out_strides, of.width);
    if (sources[i] == 0 || targets[i] == 0) return false;
  }
  {
    const KnownMemory known;
    check(faro_group_run_arrays(self.plan.get(), reinterpret_cast<const void* const*>(sources.data()),
                                reinterpret_cast<void* const*>(targets.data()),
                                current_stream(*type.functions, self.device)));
  }
  tell_written(type, nb::tuple(outs));
  return true;
}

}  // namespace

void bind_groups(nb::module_& module) {
  nb::class_<GroupHandle>(module, "Group")
      // Plans, addresses of inputs and outputs, and shapes, as many of each; a negative device is the host.
      .def_static("make", &make_group)
      .def("run_kept", &run_kept)
      .def("run_tensors", &run_tensors)
      .def("run",
           [](const GroupHandle& self, std::uintptr_t stream) {
             do_unlocked([&] { return faro_group_run(self.plan.get(), reinterpret_cast<void*>(stream)); });
           })
      .def("run_arrays",
           [](const GroupHandle& self, const std::vector<std::uintptr_t>& ins,
              const std::vector<std::uintptr_t>& outs,
              std::uintptr_t stream) { run_arrays(self, ins, outs, reinterpret_cast<void*>(stream)); })
      .def("run_table",
           [](const GroupHandle& self, std::uintptr_t addresses, std::uintptr_t stream) {
             check(faro_group_run_table(self.plan.get(), reinterpret_cast<const void* const*>(addresses),
                                        reinterpret_cast<void*>(stream)));
           })
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
      .def("explain", [](const GroupHandle& self) {
        return told([&](char** text) { return faro_group_explain(self.plan.get(), text); });
      });
}

}  // namespace faro::python
