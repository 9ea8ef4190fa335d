// Sizes of the kernels for small displacements, chosen on the host.
//
//     window 100, 4 bytes     tile 4096, margins 200: 5% are read twice
//     window 2000, 4 bytes    tile 16384, margins 4000: 24%
//     window 8191, 4 bytes    margins larger than any tile that fits beside them: left to the caches
#pragma once

#include <cstdint>

#include "kernels/window.hpp"

namespace faro::kernels {

struct WindowShape {
  std::uint64_t count = 0;
  std::uint64_t batch = 1;
  std::uint32_t window = 0;
  std::uint32_t unit_bytes = 4;
  std::uint32_t element_units = 1;
  bool backwards = false;
};

/// Whether a block's shared memory holds a tile that is larger than its margins.
bool window_fits(const WindowShape& shape);

/// For what window_fits(), else for move_window_directly(). The skews are the arrays' own and 0 here.
/// Requires: count, batch > 0 (checked). Errors: ErrorCode::unsupported past 2^62 bytes.
WindowParams make_window_params(const WindowShape& shape);

/// Whether whole vectors can be written: elements of one unit, arrays of whole vectors. (The output must be
/// aligned to 16 as well.)
bool window_has_vectors(const WindowShape& shape);

}  // namespace faro::kernels
