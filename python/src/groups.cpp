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

namespace faro::python {
namespace {

// The group, and the plans that it uses.
struct GroupHandle {
  std::unique_ptr<faro_group, Destroyer<faro_group_destroy>> plan;
  nb::object plans;
};

}  // namespace

void bind_groups(nb::module_& module) {
  nb::class_<GroupHandle>(module, "Group")
      // Plans and addresses of inputs and outputs, as many of each; a negative device is the host.
      .def_static("make",
                  [](const nb::list& plans, const std::vector<std::uintptr_t>& ins,
                     const std::vector<std::uintptr_t>& outs, int device, int threads) {
                    if (plans.size() != ins.size() || plans.size() != outs.size())
                      throw nb::value_error("one address for each plan");
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
                    auto made = made_unlocked<GroupHandle>([&](faro_group** group) {
                      return faro_group_create(members.data(), members.size(), &options, group);
                    });
                    made.plans = plans;
                    return made;
                  })
      .def("run",
           [](const GroupHandle& self, std::uintptr_t stream) {
             do_unlocked([&] { return faro_group_run(self.plan.get(), reinterpret_cast<void*>(stream)); });
           })
      .def("run_arrays",
           [](const GroupHandle& self, const std::vector<std::uintptr_t>& ins,
              const std::vector<std::uintptr_t>& outs, std::uintptr_t stream) {
             do_unlocked([&] {
               return faro_group_run_arrays(self.plan.get(), reinterpret_cast<const void* const*>(ins.data()),
                                            reinterpret_cast<void* const*>(outs.data()),
                                            reinterpret_cast<void*>(stream));
             });
           })
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
