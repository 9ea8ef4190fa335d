// A pass in place on a GPU as launches: parameters and grid of each kernel that can run it.
//
//     pass of kind   launch for arrays aligned to 16 bytes      launch for arrays aligned to a unit
//     segments       pairs of vectors of 16 bytes               pairs of units
//     tile           Launch::tile                               Launch::unaligned_tile; none: no launch
//     direct         small arrays whole, an element at a time   the same
//
// Three read it, so they cannot disagree: the planner writes its grid into Pass::launch, the CUDA engine puts
// an address beside it, and the tests run it on the counting memory.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "faro/plan/plan.hpp"
#include "kernels/affine_params.hpp"
#include "kernels/in_place_tiles.hpp"

namespace faro::detail {

struct InPlaceLaunch {
  using Params = std::variant<kernels::AffineInPlaceParams, kernels::BlockedInPlaceParams,
                              kernels::AffineSwapParams, kernels::AffineSmallParams>;
  Params params;
  std::optional<kernels::CompiledTile> tile = {};  // of the first two
  std::uint64_t access_bytes = 1;  // that a thread accesses at a time; the array is aligned to as many
  std::uint64_t blocks = 0;
  int threads = 0;                 // a block
  int cluster_blocks = 1;          // consecutive blocks that wait for each other
  std::uint64_t shared_bytes = 0;  // a block
};

/// The widest accesses first; at least one. It reads of pass.launch the tiles and, for kind direct,
/// shared_bytes: what a block is to hold of small arrays, if it holds more than one. Requires: a pass in
/// place of units of 2^unit_bits bytes, with orbits and launch (checked). Errors: those of
/// kernels/affine_params.hpp.
std::vector<InPlaceLaunch> in_place_launches(const Pass& pass, int unit_bits);

}  // namespace faro::detail
