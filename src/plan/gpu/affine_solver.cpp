// Affine maps: the kernels of a pass that plan/gpu_planner.cpp or plan/gpu_in_place_planner.cpp has chosen,
// for aligned arrays and for others.
#include <algorithm>
#include <bit>

#include "faro/error.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "plan/in_place_launches.hpp"
#include "plan/planners.hpp"

namespace faro::detail {
namespace {

GpuKernel of_tile(const Pass& pass, const layout::Tile& tile, const kernels::CompiledTile& compiled) {
  const auto alignment = static_cast<std::uint64_t>(compiled.shape.vector_bytes());
  GpuKernel kernel{.id = AffineTileKernel{compiled},
                   .params = {},
                   .blocks = pass.arrays << tile.block_bits(),
                   .threads = compiled.shape.threads(),
                   .shared_bytes = static_cast<std::uint64_t>(compiled.shape.tile_bytes()),
                   .carveout = Carveout::shared,
                   .in_alignment = alignment,
                   .out_alignment = alignment};
  if (compiled.blocked) {
    kernel.params = kernels::make_affine_blocked_params(tile, compiled.shape, pass.arrays);
  } else {
    kernel.params = kernels::make_affine_tile_params(tile, compiled.shape, pass.arrays);
  }
  return kernel;
}

GpuKernel of_segments(const Pass& pass, int unit_bits, int vector_bits) {
  const auto params = kernels::make_affine_segments_params(pass.map, vector_bits, pass.arrays);
  const std::uint64_t vector_bytes = std::uint64_t{1} << (unit_bits + vector_bits);
  return {.id = SegmentsKernel{vector_bytes},
          .params = params,
          .blocks = params.blocks(),
          .threads = kernels::kSegmentsThreads,
          .in_alignment = vector_bytes,
          .out_alignment = vector_bytes};
}

KernelId id_of(const InPlaceLaunch& launch) {
  if (launch.tile) return OrbitKernel{*launch.tile};
  if (std::holds_alternative<kernels::AffineSwapParams>(launch.params))
    return SwapKernel{launch.access_bytes};
  FARO_CHECK(std::holds_alternative<kernels::AffineSmallParams>(launch.params));
  return SmallKernel{launch.access_bytes};
}

GpuPass orbits_pass(const Pass& pass, int unit_bits) {
  GpuPass made{.kind = pass.kind,
               .kernels = {},
               .source = PassBuffer::data,
               .target = PassBuffer::data,
               .in_place = true,
               .offset = pass.offset};
  for (const InPlaceLaunch& launch : in_place_launches(pass, unit_bits)) {
    made.kernels.push_back(
        {.id = id_of(launch),
         .params = std::visit([](const auto& p) { return KernelParams(p); }, launch.params),
         .blocks = launch.blocks,
         .threads = launch.threads,
         .shared_bytes = launch.shared_bytes,
         .cluster_blocks = launch.cluster_blocks,
         .carveout = Carveout::shared,
         .in_alignment = launch.access_bytes,
         .out_alignment = launch.access_bytes});
  }
  return made;
}

const TransferRate& rate_of(const Calibration& calibration, const Pass& pass) {
  if (pass.kind == PassKind::copy) return calibration.copy;
  if (pass.kind != PassKind::tile) return calibration.vectors;
  const int unit_bits = std::countr_zero(pass.bytes_read / pass.arrays) - pass.map.bits();
  return calibration.tiles.at(static_cast<std::size_t>(unit_bits));
}

// In place whole segments are read and written once; pairs of vectors that stay are passed over for a part.
std::optional<double> orbits_cost(const CountedPass& of) {
  constexpr double kMoved = 1.085;
  constexpr double kPassedOver = 0.218;
  constexpr double kBytesPerUs = 1e3;  // of a gigabyte a second
  if (of.counts.global_loads.requests == 0) return cost_us(of, {.bytes = kMoved});
  const double stays = std::max(0.0, of.moved_bytes() - of.sector_bytes());
  auto us = cost_us(of, {.bytes = kMoved});
  if (us) *us -= (kMoved - kPassedOver) * stays / (of.rates->copy.gb_per_s * kBytesPerUs);
  return us;
}

// Device memory or shared memory, whichever takes longer: a line through measured sizes
// (faro/problem/target.hpp).
std::optional<double> affine_cost(const CountedPass& of) {
  const std::optional<Calibration>& calibration = of.rates;
  if (!calibration) return std::nullopt;
  if (of.pass.orbits) return orbits_cost(of);
  const TransferRate& rate = rate_of(*calibration, of.pass);
  if (rate.gb_per_s <= 0) return std::nullopt;
  const bool is_counted = of.counts.global_loads.requests > 0;
  const double device_us = rate.microseconds(is_counted ? of.sector_bytes() : of.moved_bytes());
  if (calibration->shared_wavefronts_per_us <= 0) return device_us;
  return std::max(device_us, of.wavefronts() / calibration->shared_wavefronts_per_us);
}

}  // namespace

GpuPass affine_pass(const Pass& pass, int unit_bits) {
  if (pass.orbits) return orbits_pass(pass, unit_bits);
  GpuPass made{.kind = pass.kind, .kernels = {}, .copy_bytes = pass.bytes_read, .offset = pass.offset};
  if (pass.kind == PassKind::copy) return made;
  FARO_CHECK(pass.launch.has_value());
  const Launch& launch = *pass.launch;
  const int vector_bits = std::countr_zero(static_cast<unsigned>(launch.vector_bytes)) - unit_bits;
  made.kernels.push_back(launch.tile ? of_tile(pass, pass.tile, *launch.tile)
                                     : of_segments(pass, unit_bits, vector_bits));
  FARO_CHECK(made.kernels.front().blocks == launch.blocks);
  if (vector_bits == 0) return made;
  const auto& unaligned = launch.unaligned_tile;
  made.kernels.push_back(unaligned ? of_tile(pass, make_compiled_tile(pass.map, *unaligned), *unaligned)
                                   : of_segments(pass, unit_bits, 0));
  return made;
}

const GpuSolver kAffineSolver{.makes = [](PassKind kind) { return kind <= PassKind::direct; },
                              .cost = affine_cost};

}  // namespace faro::detail
