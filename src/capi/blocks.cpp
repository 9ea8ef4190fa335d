// Scaled blocks, for C.
#include <cstddef>
#include <string>

#include "capi/plans.hpp"
#include "capi/status.hpp"
#include "capi/view_shapes.hpp"
#include "faro/block_scales.hpp"
#include "faro/error.hpp"
#include "faro/faro.h"

struct faro_block_plan {
  faro::ExecutableBlocks plan;
  std::int64_t wide_first_bytes = 0;  // from the address that a run is given to the lowest number
};

namespace faro::capi {
namespace {

constexpr const char* kPlanningBlocks = "plan blocks";

Number wide_number_in(faro_number number) {
  if (number == FARO_F32) return Number::f32;
  if (number == FARO_F16) return Number::f16;
  if (number == FARO_BF16) return Number::bf16;
  fail(ErrorCode::unsupported, kPlanningBlocks,
       "wide numbers of type " + std::to_string(static_cast<int>(number)), "FARO_F32, FARO_F16 or FARO_BF16");
}

faro_block_plan* new_block_plan(const faro_blocks& of, const PlanOptions& options) {
  require_zeros(of.reserved, kPlanningBlocks);
  if (of.format < FARO_MXFP8_E4M3 || of.format > FARO_NVFP4)
    fail(ErrorCode::value, kPlanningBlocks, "format " + std::to_string(static_cast<int>(of.format)),
         "FARO_MXFP8_E4M3 to FARO_NVFP4");
  BlockScaling scaling{.format = static_cast<BlockFormat>(of.format), .wide = wide_number_in(of.wide)};
  scaling.extents = given_shape(of.rank, of.extents);
  std::int64_t first = 0;
  if (of.strides != nullptr) {
    scaling.strides = given_strides(scaling.extents.size(), of.strides, "strides");
    first = lowest(scaling.extents, scaling.strides);
    scaling.first = static_cast<std::uint64_t>(-first);
  }
  scaling.axis = static_cast<std::size_t>(of.axis);
  scaling.rounding = of.ceil != 0 ? ScaleRounding::ceil : ScaleRounding::floor;
  scaling.layout = of.tiled != 0 ? ScaleLayout::tiled : ScaleLayout::strided;
  if (of.scale_strides != nullptr)
    scaling.scale_strides = given_strides(scaling.extents.size(), of.scale_strides, "scale_strides");
  if (of.global_scale != 0) scaling.global_scale = of.global_scale;
  return new faro_block_plan{.plan = plan_blocks(scaling, options),
                             .wide_first_bytes = first * static_cast<std::int64_t>(bytes_of(scaling.wide))};
}

template <typename Byte>
Byte* from_lowest(Byte* wide, const faro_block_plan& plan) {
  return wide == nullptr ? nullptr : wide + plan.wide_first_bytes;
}

}  // namespace
}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::require_argument;

faro_status faro_block_plan_make(const faro_blocks* blocks, const faro_options* options,
                                 faro_block_plan** plan) {
  return guarded([&] {
    require_argument("plan blocks", {{blocks, "blocks"}, {plan, "plan"}});
    *plan = faro::capi::new_block_plan(*blocks, faro::capi::plan_options(options));
  });
}

void faro_block_plan_destroy(faro_block_plan* plan) { delete plan; }

faro_status faro_block_plan_sizes(const faro_block_plan* plan, uint64_t* data_bytes, uint64_t* scale_bytes) {
  return guarded([&] {
    require_argument(plan, "measure", "plan");
    if (data_bytes != nullptr) *data_bytes = plan->plan.data_bytes();
    if (scale_bytes != nullptr) *scale_bytes = plan->plan.scale_bytes();
  });
}

faro_status faro_block_plan_quantize(const faro_block_plan* plan, const void* wide, void* data, void* scales,
                                     void* stream) {
  return guarded([&] {
    require_argument(plan, "quantize", "plan");
    const faro::capi::Endable endable(plan->plan.wide_count());
    plan->plan.quantize(faro::capi::from_lowest(static_cast<const std::byte*>(wide), *plan), data, scales,
                        faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_block_plan_dequantize(const faro_block_plan* plan, const void* data, const void* scales,
                                       void* wide, void* stream) {
  return guarded([&] {
    require_argument(plan, "dequantize", "plan");
    const faro::capi::Endable endable(plan->plan.wide_count());
    plan->plan.dequantize(data, scales, faro::capi::from_lowest(static_cast<std::byte*>(wide), *plan),
                          faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_block_plan_explain(const faro_block_plan* plan, char** text) {
  return guarded([&] {
    require_argument("explain", {{plan, "plan"}, {text, "text"}});
    *text = faro::capi::given_away(plan->plan.explain());
  });
}
