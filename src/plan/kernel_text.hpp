// A compiled kernel by its sizes, as explanations name it.
#pragma once

#include <string>

#include "faro/kernels/affine_tile_index.hpp"
#include "faro/problem/pass.hpp"

namespace faro::detail {

/// "tile 64 x 256 bytes, 16-byte vectors, 128 threads".
std::string kernel_text(const kernels::CompiledTile& kernel);
/// The same of any launched pass; without a tile "16-byte vectors, 256 threads".
std::string kernel_text(const Launch& launch);

}  // namespace faro::detail
