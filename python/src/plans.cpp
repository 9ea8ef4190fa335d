#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "forward.hpp"
#include "plan_handle.hpp"
#include "status.hpp"

namespace faro::python {
namespace {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

Options options_of(int engine, int threads, int device, bool in_place, std::uint64_t batch,
                   std::uint64_t repeats, bool measure) {
  Options options;
  options.value.engine = static_cast<faro_engine>(engine);
  options.value.threads = threads;
  options.value.device = device;
  options.value.in_place = in_place ? 1 : 0;
  options.value.batch = batch;
  options.value.repeats = repeats;
  options.value.measure = measure ? 1 : 0;
  return options;
}

void require_same_rank(const Shape& shape, const Strides& strides) {
  if (shape.size() == strides.size()) return;
  refuse("plan", std::to_string(strides.size()) + " strides",
         std::to_string(shape.size()) + ", as the shape has");
}

int rank_of(const Shape& shape) { return static_cast<int>(shape.size()); }

}  // namespace

std::uint64_t PlanHandle::out_bytes() const {
  std::uint64_t bytes = 0;
  check(faro_plan_out_bytes(plan.get(), &bytes));
  return bytes;
}

void PlanHandle::run(std::uintptr_t in, std::uintptr_t out, std::uintptr_t stream) const {
  const auto move = [&] {
    return faro_plan_run(plan.get(), reinterpret_cast<const void*>(in), reinterpret_cast<void*>(out),
                         reinterpret_cast<void*>(stream));
  };
  if (out_bytes() < kBytesWithLock) return check(move());
  do_unlocked(move);
}

std::uint64_t PlanHandle::workspace_bytes() const {
  std::uint64_t bytes = 0;
  check(faro_plan_workspace_bytes(plan.get(), &bytes));
  return bytes;
}

void PlanHandle::run_in_place(std::uintptr_t data, std::uintptr_t stream) const {
  do_unlocked([&] {
    return faro_plan_run_in_place(plan.get(), reinterpret_cast<void*>(data), reinterpret_cast<void*>(stream));
  });
}

void bind_plans(nb::module_& module) {
  nb::class_<Options>(module, "Options")
      .def_static("make", &options_of)
      .def("on_gpu", [](const Options& self) { return self.value.engine == FARO_CUDA; })
      .def("set_batch", [](Options& self, std::uint64_t batch) { self.value.batch = batch; });

  nb::class_<PlanHandle>(module, "Plan")
      .def("run", &PlanHandle::run)
      .def("run_in_workspace", runs_unlocked<PlanHandle>(faro_plan_run_in_workspace))
      .def("run_in_place", &PlanHandle::run_in_place)
      .def("out_bytes", &PlanHandle::out_bytes)
      .def("out_shape",
           [](const PlanHandle& self) {
             int rank = 0;
             std::array<std::uint64_t, 64> shape{};
             check(faro_plan_out_shape(self.plan.get(), &rank, shape.data()));
             return Shape(shape.begin(), shape.begin() + rank);
           })
      .def("facts",
           [](const PlanHandle& self) {
             int on_gpu = 0;
             int in_place = 0;
             check(faro_plan_facts(self.plan.get(), &on_gpu, &in_place));
             return std::pair(on_gpu != 0, in_place != 0);
           })
      .def("workspace_bytes", &PlanHandle::workspace_bytes)
      .def("predicted_us", gives<PlanHandle>(faro_plan_predicted_us))
      .def("inverse",
           [](const PlanHandle& self) {
             return made_unlocked<PlanHandle>(
                 [&](faro_plan** plan) { return faro_plan_inverse(self.plan.get(), plan); });
           })
      .def("explain", tells<PlanHandle>(faro_plan_explain))
      .def("explain_json", tells<PlanHandle>(faro_plan_explain_json))
      .def("svg", tells<PlanHandle>(faro_plan_svg))
      .def("save", [](const PlanHandle& self,
                      const std::string& path) { check(faro_plan_save(self.plan.get(), c_text(path))); })
      .def("to_bytes", [](const PlanHandle& self) {
        void* data = nullptr;
        std::uint64_t size = 0;
        check(faro_plan_to_bytes(self.plan.get(), &data, &size));
        const nb::bytes bytes(data, size);
        faro_free(data);
        return bytes;
      });

  module.def("plan_map", [](const MapHandle& map, std::uint64_t element_bytes, const Options& options) {
    return made_unlocked<PlanHandle>(
        [&](faro_plan** plan) { return faro_plan_map(map.map.get(), element_bytes, &options.value, plan); });
  });
  module.def(
      "plan_array",
      [](const std::string& text, const Shape& shape, const std::optional<Strides>& strides,
         std::uint64_t element_bytes, const Options& options) {
        if (strides) require_same_rank(shape, *strides);
        const char* const said = c_text(text);
        return made_unlocked<PlanHandle>([&](faro_plan** plan) {
          return faro_plan_array(said, rank_of(shape), shape.data(), strides ? strides->data() : nullptr,
                                 element_bytes, &options.value, plan);
        });
      },
      nb::arg("text"), nb::arg("shape"), nb::arg("strides").none(), nb::arg("element_bytes"),
      nb::arg("options"));
  module.def("plan_view", [](const Shape& extents, const Strides& in_strides, const Strides& out_strides,
                             std::int64_t in_corner, std::int64_t out_corner, std::uint64_t element_bytes,
                             const Options& options) {
    require_same_rank(extents, in_strides);
    require_same_rank(extents, out_strides);
    const faro_view view{.rank = rank_of(extents),
                         .extents = extents.data(),
                         .in_strides = in_strides.data(),
                         .out_strides = out_strides.data(),
                         .in_corner = in_corner,
                         .out_corner = out_corner};
    return made_unlocked<PlanHandle>(
        [&](faro_plan** plan) { return faro_plan_view(&view, element_bytes, &options.value, plan); });
  });
  module.def("plan_roll", [](const Shape& shape, const Strides& in_strides, const Strides& shifts,
                             std::uint64_t element_bytes, const Options& options) {
    require_same_rank(shape, in_strides);
    require_same_rank(shape, shifts);
    return made_unlocked<PlanHandle>([&](faro_plan** plan) {
      return faro_plan_roll(rank_of(shape), shape.data(), in_strides.data(), shifts.data(), element_bytes,
                            &options.value, plan);
    });
  });
  module.def("plan_from_bytes", [](const nb::bytes& bytes, const Options& options) {
    const void* const data = bytes.data();
    const std::uint64_t size = bytes.size();
    return made_unlocked<PlanHandle>(
        [&](faro_plan** plan) { return faro_plan_from_bytes(data, size, &options.value, plan); });
  });
  module.def("plan_load", [](const std::string& path, const Options& options) {
    const char* const named = c_text(path);
    return made_unlocked<PlanHandle>(
        [&](faro_plan** plan) { return faro_plan_load(named, &options.value, plan); });
  });
}

}  // namespace faro::python
