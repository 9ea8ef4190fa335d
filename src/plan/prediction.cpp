#include "plan/prediction.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "kernels/affine_blocked_params.hpp"
#include "kernels/affine_segments_params.hpp"
#include "kernels/affine_tile_params.hpp"
#include "machine/counting_memory.hpp"
#include "plan/gpu/counting.hpp"
#include "plan/planners.hpp"

namespace faro {
namespace {

using kernels::CompiledTile;
using kernels::kCompiledTiles;
using machine::AccessCounts;
using machine::CountingMemory;

constexpr const char* kOperation = "predict the memory accesses of a pass";

CountingMemory memory_of(const Plan& plan, const Pass& pass) {
  CountingMemory memory({.shared_bytes = static_cast<std::size_t>(pass.launch->shared_bytes),
                         .geometry = detail::geometry_of(plan.target())});
  memory.add_virtual_input(pass.bytes_read);
  memory.add_virtual_output(pass.bytes_written);
  return memory;
}

// --- tiles

using RunTile = void (*)(CountingMemory&, const Pass&);

// Block 0 of a pass, by the compiled kernel of this index.
template <std::size_t index>
void run_tile(CountingMemory& memory, const Pass& pass) {
  constexpr CompiledTile kernel = kCompiledTiles[index];
  constexpr kernels::AffineTileShape shape = kernel.shape;
  const CountingMemory::Launch launch{.blocks = 1, .threads = static_cast<std::uint32_t>(shape.threads())};
  const auto run = [&](const auto& params) {
    memory.run(
        launch,
        [&](auto& m, auto block, auto thread) { kernels::load_tile<shape>(m, params, block, thread); },
        [&](auto& m, auto block, auto thread) { kernels::store_tile<shape>(m, params, block, thread); });
  };
  if constexpr (kernel.blocked) {
    run(kernels::make_affine_blocked_params(pass.tile, shape, pass.arrays, memory.geometry()));
  } else {
    run(kernels::make_affine_tile_params(pass.tile, shape, pass.arrays, *pass.placement));
  }
}

constexpr auto kRunTile = []<std::size_t... index>(std::index_sequence<index...>) {
  return std::array<RunTile, sizeof...(index)>{run_tile<index>...};
}
(std::make_index_sequence<kernels::kCompiledTileCount>{});

RunTile find_kernel(const CompiledTile& kernel) {
  for (std::size_t i = 0; i < kRunTile.size(); ++i) {
    if (kCompiledTiles[i].shape == kernel.shape && kCompiledTiles[i].blocked == kernel.blocked) {
      return kRunTile.at(i);
    }
  }
  fail(ErrorCode::unsupported, kOperation, "a target with a tile kernel that is not compiled",
       "one of kernels::kCompiledTiles");
}

AccessCounts predict_tiles(const Plan& plan, const Pass& pass) {
  const RunTile run = find_kernel(*pass.launch->tile);
  CountingMemory memory = memory_of(plan, pass);
  run(memory, pass);
  AccessCounts counts = memory.counts();
  counts *= pass.launch->blocks;
  return counts;
}

// --- vectors

template <int bytes>
AccessCounts run_vectors(CountingMemory memory, const kernels::AffineSegmentsParams& params,
                         std::uint64_t block) {
  memory.run({.blocks = 1, .threads = kernels::kSegmentsThreads, .first_block = block},
             [&](auto& m, auto b, auto thread) { kernels::move_vector<bytes>(m, params, b, thread); });
  return memory.counts();
}

AccessCounts run_vectors(const Plan& plan, const Pass& pass, const kernels::AffineSegmentsParams& params,
                         std::uint64_t block) {
  CountingMemory memory = memory_of(plan, pass);
  switch (pass.launch->vector_bytes) {
    case 1:
      return run_vectors<1>(std::move(memory), params, block);
    case 2:
      return run_vectors<2>(std::move(memory), params, block);
    case 4:
      return run_vectors<4>(std::move(memory), params, block);
    case 8:
      return run_vectors<8>(std::move(memory), params, block);
    default:
      return run_vectors<16>(std::move(memory), params, block);
  }
}

AccessCounts predict_vectors(const Plan& plan, const Pass& pass) {
  const int vector_bits = detail::log2_floor(static_cast<std::uint64_t>(pass.launch->vector_bytes)) -
                          detail::log2_floor(plan.unit_bytes());
  const auto params = kernels::make_affine_segments_params(pass.map, vector_bits, pass.arrays);
  AccessCounts counts;
  const std::uint64_t full_blocks = params.vectors / kernels::kSegmentsThreads;
  if (full_blocks > 0) {
    counts = run_vectors(plan, pass, params, 0);
    counts *= full_blocks;
  }
  if (full_blocks < params.blocks()) counts += run_vectors(plan, pass, params, full_blocks);
  return counts;
}

// --- blocks that are not alike

std::optional<PassCounts> count_others(const Plan& plan, const Pass& pass) {
  if (!pass.gpu || !pass.launch || pass.arrays == 0) return std::nullopt;
  detail::CountedArrays arrays{.arrays = pass.arrays, .array_bytes = pass.bytes_read / pass.arrays};
  // A pass between others may take arrays one after another.
  const bool in_turns =
      pass.kind == PassKind::axes && pass.launch->blocks != pass.gpu->kernels.front().blocks;
  if (in_turns) arrays.arrays = 1;
  auto counted = detail::count_blocks(*pass.gpu, arrays, detail::geometry_of(plan.target()));
  if (!counted) return std::nullopt;
  if (in_turns) counted->counts *= pass.arrays;
  return PassCounts{.counts = std::move(counted->counts),
                    .counted = detail::to_text(*counted) + (in_turns ? ", of one array" : "")};
}

// --- time

const TransferRate& rate_of(const Calibration& calibration, const Plan& plan, const Pass& pass) {
  if (pass.kind == PassKind::copy) return calibration.copy;
  if (pass.kind != PassKind::tile) return calibration.vectors;
  return calibration.tiles.at(static_cast<std::size_t>(detail::log2_floor(plan.unit_bytes())));
}

}  // namespace

machine::AccessCounts predict(const Plan& plan, std::size_t pass) {
  const Pass& of = plan.passes().at(pass);
  if (!of.launch) {
    fail(ErrorCode::unsupported, kOperation,
         "a pass of kind " + std::string(name(of.kind)) + " on " + name(plan.target().engine),
         "a pass that is launched on a GPU");
  }
  if (plan.problem().placement == Placement::in_place) {
    fail(ErrorCode::unsupported, kOperation, "a pass in place", "a pass out of place",
         "it reads and writes every segment once");
  }
  return of.launch->tile ? predict_tiles(plan, of) : predict_vectors(plan, of);
}

std::optional<PassCounts> count_accesses(const Plan& plan, std::size_t pass) {
  const Pass& of = plan.passes().at(pass);
  if (!of.launch) return std::nullopt;
  const bool alike = of.kind <= PassKind::direct && plan.problem().placement == Placement::out_of_place;
  if (!alike) return count_others(plan, of);
  return PassCounts{.counts = predict(plan, pass), .counted = "one block, which stands for all"};
}

std::string rates_of(const Plan& plan) {
  if (const IndexPlan* const index = plan.index_plan()) return index->calibration().source;
  return plan.target().calibration ? plan.target().calibration->source : "";
}

std::optional<double> predict_us(const Plan& plan, std::size_t pass) {
  if (plan.passes().at(pass).kind > PassKind::direct) return plan.passes()[pass].predicted_us;
  const bool is_counted =
      plan.passes().at(pass).launch.has_value() && plan.problem().placement != Placement::in_place;
  return predict_us(plan, pass, is_counted ? predict(plan, pass) : AccessCounts{});
}

std::optional<double> predict_us(const Plan& plan, std::size_t pass, const AccessCounts& counts) {
  const std::optional<Calibration>& calibration = plan.target().calibration;
  const Pass& of = plan.passes().at(pass);
  if (of.kind > PassKind::direct) return of.predicted_us;
  if (!calibration) return std::nullopt;
  const TransferRate& rate = rate_of(*calibration, plan, of);
  if (rate.gb_per_s <= 0) return std::nullopt;
  // In place whole segments are read and written once, and that is all that is known.
  if (!of.launch || plan.problem().placement == Placement::in_place)
    return rate.microseconds(static_cast<double>(of.bytes_read + of.bytes_written));

  const auto sector_bytes = static_cast<std::uint64_t>(detail::geometry_of(plan.target()).sector_bytes);
  const double device_us = rate.microseconds(
      static_cast<double>((counts.global_loads.sectors + counts.global_stores.sectors) * sector_bytes));
  const double wavefronts =
      static_cast<double>(counts.shared_loads.wavefronts + counts.shared_stores.wavefronts);
  if (calibration->shared_wavefronts_per_us <= 0) return device_us;
  return std::max(device_us, wavefronts / calibration->shared_wavefronts_per_us);
}

}  // namespace faro
