// Scaled blocks.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "forward.hpp"
#include "plan_handle.hpp"
#include "status.hpp"

namespace faro::python {
namespace {

using BlockHandle = Handle<faro_block_plan, faro_block_plan_destroy>;

}  // namespace

void bind_blocks(nb::module_& module) {
  nb::class_<BlockHandle>(module, "Blocks")
      .def("quantize", runs_unlocked<BlockHandle>(faro_block_plan_quantize))
      .def("dequantize", runs_unlocked<BlockHandle>(faro_block_plan_dequantize))
      .def("explain", tells<BlockHandle>(faro_block_plan_explain));
  // A faro_block_format, a faro_number, extents of the data, strides of the wide array; those of scales, none
  // in tiles.
  module.def(
      "plan_blocks",
      [](int format, int wide, const std::vector<std::uint64_t>& extents,
         const std::vector<std::int64_t>& strides, int axis,
         const std::optional<std::vector<std::int64_t>>& scale_strides, bool ceil, double global_scale,
         const Options& options) {
        if (strides.size() != extents.size() || (scale_strides && scale_strides->size() != extents.size()))
          throw nb::value_error("one stride for each extent");
        faro_blocks blocks{};
        blocks.format = static_cast<faro_block_format>(format);
        blocks.wide = static_cast<faro_number>(wide);
        blocks.rank = static_cast<int>(extents.size());
        blocks.axis = axis;
        blocks.extents = extents.data();
        blocks.strides = strides.data();
        blocks.ceil = ceil ? 1 : 0;
        blocks.tiled = scale_strides ? 0 : 1;
        blocks.scale_strides = scale_strides ? scale_strides->data() : nullptr;
        blocks.global_scale = global_scale;
        return made_unlocked<BlockHandle>(
            [&](faro_block_plan** plan) { return faro_block_plan_make(&blocks, &options.value, plan); });
      },
      nb::arg("format"), nb::arg("wide"), nb::arg("extents"), nb::arg("strides"), nb::arg("axis"),
      nb::arg("scale_strides").none(), nb::arg("ceil"), nb::arg("global_scale"), nb::arg("options"));
}

}  // namespace faro::python
