// A box (layout/strided_box.hpp) as a pass of its own, to be launched beside others that move the same view.
#pragma once

#include <cstdint>

#include "kernels/axes_params.hpp"
#include "layout/strided_box.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::bench::gpu {

/// `params`: of the box, which a bench may have changed.
inline detail::GpuPass pass_of(const layout::StridedBox& box, const kernels::AxesBoxParams& params) {
  const auto unit = static_cast<std::uint64_t>(box.unit_bytes);
  const std::uint64_t alignment = box.ragged ? unit : std::uint64_t{16};
  detail::GpuPass pass{.kind = PassKind::axes, .kernels = {}};
  pass.kernels.push_back({.id = detail::AxesBoxKernel{kernels::box_shape(box), box.in.contiguous * unit,
                                                      box.out.contiguous * unit},
                          .params = params,
                          .blocks = params.tiles,
                          .first_step = 1,
                          .threads = kernels::box_shape(box).threads,
                          .shared_bytes = params.shared_bytes(),
                          .in_alignment = alignment,
                          .out_alignment = alignment});
  return pass;
}

}  // namespace faro::bench::gpu
