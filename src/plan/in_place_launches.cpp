#include "plan/in_place_launches.hpp"

#include <bit>

#include "faro/error.hpp"

namespace faro::detail {
namespace {

using kernels::CompiledTile;

InPlaceLaunch launch_tile(const Pass& pass, const CompiledTile& compiled) {
  InPlaceLaunch launch{.params = {},
                       .tile = compiled,
                       .access_bytes = static_cast<std::uint64_t>(compiled.shape.vector_bytes())};
  const auto use = [&](const auto& params) {
    const kernels::OrbitLaunch grid = kernels::orbit_launch(compiled.shape, params.orbits);
    launch.params = params;
    launch.blocks = grid.blocks;
    launch.threads = grid.threads;
    launch.cluster_blocks = grid.cluster_blocks;
    launch.shared_bytes = grid.shared_bytes;
  };
  FARO_CHECK(pass.orbits->orbit_tiles <= 2 || !kernels::is_clustered(compiled.shape));
  if (compiled.blocked) {
    use(kernels::make_blocked_in_place_params(*pass.orbits, compiled.shape, pass.arrays));
  } else {
    use(kernels::make_affine_in_place_params(*pass.orbits, compiled.shape, pass.arrays));
  }
  return launch;
}

InPlaceLaunch launch_swaps(const Pass& pass, int unit_bits, int vector_bits) {
  const kernels::AffineSwapParams params =
      kernels::make_affine_swap_params(*pass.orbits, pass.map, unit_bits, vector_bits, pass.arrays);
  return {.params = params,
          .tile = {},
          .access_bytes = std::uint64_t{1} << (unit_bits + vector_bits),
          .blocks = params.blocks(),
          .threads = kernels::kSwapThreads};
}

InPlaceLaunch launch_small(const Pass& pass, int unit_bits) {
  const int block_bits = std::countr_zero(pass.launch->shared_bytes) - unit_bits;
  const kernels::AffineSmallParams params =
      kernels::make_affine_small_params(pass.map, unit_bits, block_bits, pass.arrays);
  return {.params = params,
          .tile = {},
          .access_bytes = std::uint64_t{1} << unit_bits,
          .blocks = params.blocks(),
          .threads = kernels::kSmallThreads,
          .cluster_blocks = 1,
          .shared_bytes = params.shared_bytes()};
}

}  // namespace

std::vector<InPlaceLaunch> in_place_launches(const Pass& pass, int unit_bits) {
  FARO_CHECK(pass.launch.has_value() && pass.orbits.has_value());
  std::vector<InPlaceLaunch> launches;
  if (pass.kind == PassKind::direct) {
    launches.push_back(launch_small(pass, unit_bits));
  } else if (pass.kind == PassKind::segments) {
    const int vector_bits = std::countr_zero(static_cast<unsigned>(kernels::kMaxVectorBytes)) - unit_bits;
    launches.push_back(launch_swaps(pass, unit_bits, vector_bits));
    if (vector_bits > 0) launches.push_back(launch_swaps(pass, unit_bits, 0));
  } else {
    FARO_CHECK(pass.kind == PassKind::tile && pass.launch->tile.has_value());
    launches.push_back(launch_tile(pass, *pass.launch->tile));
    const auto& unaligned = pass.launch->unaligned_tile;
    if (unaligned && !(unaligned == pass.launch->tile)) launches.push_back(launch_tile(pass, *unaligned));
  }
  return launches;
}

}  // namespace faro::detail
