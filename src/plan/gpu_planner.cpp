// The planner for GPUs: the first of the target's compiled tile kernels that can carry out the map, or none
// where none is needed.
//
//     copy       the identity: the driver's own copy
//     direct     so little data that a launch is all it costs; or too little to fill a tile
//     segments   whole segments of at least Target::vector_bytes change places
//     tile       otherwise
//
// Small arrays of a batch are taken 2^f at a time so that they fill the tile; that is f index bits that the
// map leaves alone. What is left of the batch is less than a tile's worth and moved by one small launch more.
// The kernels without a tile take any number of arrays of any size, so they fold nothing and leave nothing.
#include <algorithm>
#include <optional>

#include "kernels/affine_params.hpp"
#include "plan/planners.hpp"

namespace faro::detail {
namespace {

using kernels::CompiledTile;
using kernels::kMaxVectorBytes;

// --- passes without a tile

Launch launch_of_vectors(const Pass& pass, int vector_bytes) {
  const std::uint64_t block_bytes = static_cast<std::uint64_t>(vector_bytes) << kernels::kSegmentsThreadBits;
  return {.vector_bytes = vector_bytes,
          .blocks = (pass.bytes_read + block_bytes - 1) / block_bytes,
          .threads = kernels::kSegmentsThreads};
}

Pass direct_pass(const Work& work) {
  const int unit_bytes = 1 << work.unit_bits;
  Pass pass = make_pass(PassKind::direct, work.map, work.unit_bits, work.arrays,
                        static_cast<std::uint64_t>(unit_bytes));
  pass.launch = launch_of_vectors(pass, unit_bytes);
  return pass;
}

Pass segments_pass(const Work& work, int whole) {
  Pass pass = make_pass(PassKind::segments, work.map, work.unit_bits, work.arrays,
                        std::uint64_t{1} << (whole + work.unit_bits));
  pass.tile = layout::make_tile(work.map, {.segment_bits = whole});
  pass.launch = launch_of_vectors(pass, kMaxVectorBytes);
  return pass;
}

// --- tiles

// Arrays that are taken as one so that they fill the kernel's tile; none if the batch is too small.
std::optional<int> batch_bits_to_fold(const Work& work, const CompiledTile& kernel) {
  const int bits = std::max(0, kernel.shape.tile_bits() - work.map.bits());
  if (bits > log2_floor(work.arrays)) return std::nullopt;
  return bits;
}

struct Choice {
  CompiledTile kernel;
  int folded_batch_bits = 0;
  Affine map;  // folded
  layout::Tile tile;
};

std::optional<Choice> try_kernel(const Work& work, const CompiledTile& kernel, const Target& target) {
  const kernels::AffineTileShape& shape = kernel.shape;
  if (shape.width_bits != work.unit_bits) return std::nullopt;
  const std::optional<int> folded = batch_bits_to_fold(work, kernel);
  if (!folded || work.map.rank_gamma(shape.segment_bits) > shape.row_bits) return std::nullopt;
  Choice choice{.kernel = kernel,
                .folded_batch_bits = *folded,
                .map = direct_sum(work.map, Affine(*folded)),
                .tile = {}};
  choice.tile = make_compiled_tile(choice.map, kernel);
  const bool fits = kernel.blocked ? kernels::fits_blocked(choice.tile, shape, geometry_of(target))
                                   : kernels::fits(choice.tile, shape);
  if (!fits) return std::nullopt;
  return choice;
}

// A tile that was asked for and passed over would be a surprise.
Choice take_kernel(const Work& work, const Target& target) {
  if (std::optional<Choice> choice = try_kernel(work, *target.tile, target)) return *std::move(choice);
  fail(ErrorCode::unsupported, "plan", "a tile kernel that cannot carry out this map",
       "one of this element width that holds the map's tile", "leave the choice to the planner");
}

std::optional<Choice> choose_kernel(const Work& work, const Target& target) {
  if (target.tile) return take_kernel(work, target);
  const bool small = work.array_bytes() <= target.small_bytes_max / work.arrays;
  std::optional<Choice> best;
  for (const CompiledTile& kernel : target.tiles) {
    const bool smaller =
        best && kernel.shape.vector_bits > 0 && kernel.shape.tile_bytes() < best->kernel.shape.tile_bytes();
    if (best && !(small && smaller)) continue;
    if (std::optional<Choice> choice = try_kernel(work, kernel, target)) best = std::move(choice);
  }
  return best;
}

// For the arrays as they are folded already.
std::optional<CompiledTile> unaligned_kernel(const Choice& choice, int unit_bits, const Target& target) {
  const Work one{.map = choice.map, .unit_bits = unit_bits};
  for (const CompiledTile& kernel : target.tiles) {
    if (kernel.shape.vector_bits == 0 && try_kernel(one, kernel, target)) return kernel;
  }
  return std::nullopt;
}

Pass tile_pass(const Work& work, const Choice& choice, const Target& target) {
  const kernels::AffineTileShape& shape = choice.kernel.shape;
  Pass pass = make_pass(PassKind::tile, choice.map, work.unit_bits, work.arrays >> choice.folded_batch_bits,
                        std::uint64_t{1} << (shape.segment_bits + work.unit_bits));
  pass.tile = choice.tile;
  pass.placement = choice.kernel.blocked ? kernels::make_blocked_layout(pass.tile, shape, geometry_of(target))
                                         : kernels::make_tile_layout(pass.tile, shape, geometry_of(target));
  pass.launch = Launch{.tile = choice.kernel,
                       .unaligned_tile = unaligned_kernel(choice, work.unit_bits, target),
                       .vector_bytes = shape.vector_bytes(),
                       .blocks = pass.arrays << pass.tile.block_bits(),
                       .threads = shape.threads(),
                       .shared_bytes = static_cast<std::uint64_t>(shape.tile_bytes())};
  return pass;
}

}  // namespace

layout::Tile make_compiled_tile(const Affine& map, const CompiledTile& kernel) {
  // Blocks that run at the same time write next to each other: docs/notes/cuda-experiments.md, the order of
  // the blocks.
  return layout::make_tile(map, {.segment_bits = kernel.shape.segment_bits,
                                 .min_row_bits = kernel.shape.row_bits,
                                 .order = layout::BlockOrder::target});
}

Planned plan_for_gpu(const Work& work, const Target& target) {
  require_units(work, kernels::kSegmentsThreadBits);
  if (work.array_bytes() <= target.direct_bytes_max / work.arrays) return {.passes = {direct_pass(work)}};
  const int whole = whole_segment_bits(work);
  if (std::uint64_t{1} << (whole + work.unit_bits) >= target.vector_bytes) {
    return {.passes = {segments_pass(work, whole)}};
  }
  const std::optional<Choice> choice = choose_kernel(work, target);
  if (!choice) return {.passes = {direct_pass(work)}};

  Planned planned{.passes = {tile_pass(work, *choice, target)},
                  .folded_batch_bits = choice->folded_batch_bits};
  const std::uint64_t rest = work.arrays - (planned.passes.front().arrays << planned.folded_batch_bits);
  if (rest != 0) {
    planned.passes.push_back(direct_pass({.map = work.map, .unit_bits = work.unit_bits, .arrays = rest}));
    planned.passes.back().offset = (work.arrays - rest) * work.array_bytes();
  }
  return planned;
}

}  // namespace faro::detail
