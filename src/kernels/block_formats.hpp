// The type that scales a block's numbers, of each format.
#pragma once

#include "faro/block_scales.hpp"
#include "kernels/block_scales.hpp"

namespace faro::kernels {

/// What call.operator()<Scaled>() returns of a format.
template <typename Call>
auto with_format(BlockFormat format, const Call& call) {
  switch (format) {
    case BlockFormat::mxfp8_e4m3:
      return call.template operator()<PowerScaled<Float8E4M3>>();
    case BlockFormat::mxfp8_e5m2:
      return call.template operator()<PowerScaled<Float8E5M2>>();
    case BlockFormat::mxfp4:
      return call.template operator()<PowerScaled<Float4E2M1>>();
    case BlockFormat::nvfp4:
      break;
  }
  return call.template operator()<TwiceScaled>();
}

}  // namespace faro::kernels
