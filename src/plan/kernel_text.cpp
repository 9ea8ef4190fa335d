#include "plan/kernel_text.hpp"

#include <fmt/format.h>

namespace faro::detail {

std::string kernel_text(const kernels::CompiledTile& kernel) {
  const kernels::AffineTileShape& shape = kernel.shape;
  return fmt::format("tile {} x {} bytes, {}-byte vectors, {} threads", 1 << shape.row_bits,
                     1 << (shape.segment_bits + shape.width_bits), shape.vector_bytes(), shape.threads());
}

std::string kernel_text(const Launch& launch) {
  if (!launch.kernel.empty()) return launch.kernel;
  if (launch.tile) return kernel_text(*launch.tile);
  return fmt::format("{}-byte vectors, {} threads", launch.vector_bytes, launch.threads);
}

}  // namespace faro::detail
