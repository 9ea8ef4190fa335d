// Partitions: a pass for each level, and one that permutes every chunk within itself.
//
//     forwards    spread ... spread, place         backwards    pick, collect ... collect
//
// Chunks that do not fit a block's shared memory are moved by kernels that do without, never in place.
#include <algorithm>

#include "kernels/partition_in_global.hpp"
#include "kernels/partition_level.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

using kernels::PartitionParams;

constexpr int kSmallChunkThreads = 512;
constexpr int kLargeChunkThreads = 1024;

IndexUnit unit_of(const PassWork& work) {
  const kernels::ElementUnits units = work.units();
  return {.unit_bytes = static_cast<int>(units.unit_bytes), .single = units.units == 1};
}

GpuPass level_pass(const PassWork& work, int level) {
  const kernels::ElementUnits units = work.units();
  const auto& shape = std::get<schedule::PartitionShape>(work.form);
  const PartitionParams params = kernels::make_level_params(shape, level, units);
  const std::uint64_t shared = kernels::chunk_shared_bytes(params, units.unit_bytes);
  GpuKernel kernel{.id = LevelKernel{unit_of(work), work.way, LevelKernel::kInGlobal},
                   .params = params,
                   .blocks = params.chunks,
                   .in_alignment = units.unit_bytes,
                   .out_alignment = units.unit_bytes};
  if (shared > work.shared_bytes) {
    kernel.blocks = kernels::in_global_blocks(params);
    kernel.threads = static_cast<int>(kernels::kInGlobalThreads);
  } else {
    const std::uint64_t run_units = std::uint64_t{params.chunk_elements} * units.units / params.buckets;
    int variant =
        work.level_variant.value_or(kernels::preferred_partition(run_units, units.unit_bytes, shared));
    // Elements of several units have one kernel for all but the last.
    if (units.units > 1 && variant != kernels::kLargeChunkPartition) variant = kernels::kManyUnitsPartition;
    std::get<LevelKernel>(kernel.id).variant = variant;
    kernel.threads = kernels::kCompiledPartitions[variant].threads();
    kernel.shared_bytes = shared;
  }
  return {.kind = work.way == Way::forwards ? PassKind::spread : PassKind::collect,
          .kernels = {kernel},
          .tables = {{TableKind::places, level}, {TableKind::starts, level}, {TableKind::offsets, level}},
          .blocks_of_one_array = true};
}

std::string partition_words(const GpuPass& pass, const PassWork& work) {
  if (pass.kind == PassKind::spread) {
    return "every chunk is sorted by bucket, and its runs are written after those of earlier chunks";
  }
  if (pass.kind == PassKind::collect) {
    return "every chunk reads its runs from their buckets and puts them in order";
  }
  return std::holds_alternative<MatrixForm>(work.form) ? "every row is permuted within itself"
                                                       : "every chunk is permuted within itself";
}

bool is_of_partition(PassKind kind) {
  return kind == PassKind::spread || kind == PassKind::collect || kind == PassKind::place ||
         kind == PassKind::pick;
}

// Chunks that need more than half of a multiprocessor's shared memory load nothing while they store. Fitted
// to drawn partitions and rows, columns and rows of an H100 and an H200
// (docs/notes/prediction-experiments.md); elements of several narrow units, whose accesses are many, are
// bound by instructions.
std::optional<double> partition_cost(const CountedPass& of) {
  constexpr std::uint64_t kHalf = std::uint64_t{114} << 10;  // of a multiprocessor's shared memory
  constexpr double kClocked = 0.19;
  const bool alone = of.pass.launch && of.pass.launch->shared_bytes > kHalf;
  const auto* const chunk = std::get_if<ChunkKernel>(&of.pass.gpu->kernels.front().id);
  if (chunk != nullptr && chunk->place == ChunkPlace::in_global)
    return overlapped_us(of, {.bytes = 1.016, .clocked = 0});
  const double bytes = alone ? 1.228 : 1.08;
  switch (of.pass.kind) {
    case PassKind::spread:
      return overlapped_us(of,
                           {.bytes = bytes, .store_sectors = 1.23, .requests = 6.51, .clocked = kClocked});
    case PassKind::collect:
      return overlapped_us(of, {.bytes = bytes, .load_sectors = 1.23, .requests = 6.51, .clocked = kClocked});
    default:
      return overlapped_us(of, {.bytes = bytes, .requests = alone ? 0.35 : 10.5, .clocked = kClocked});
  }
}

}  // namespace

GpuPass chunk_pass(const PassWork& work, std::uint64_t chunk_elements, TableKind places) {
  const kernels::ElementUnits units = work.units();
  const PartitionParams params =
      kernels::make_chunk_params(work.count, static_cast<std::uint32_t>(chunk_elements), units);
  // A short array that is alone in its chunk takes no more than it needs.
  const std::uint64_t shared = std::min(kernels::chunk_shared_bytes(params, units.unit_bytes),
                                        round_up(work.array_bytes(), kernels::kMovedBytes));
  const bool fits = shared <= work.shared_bytes;
  const bool large = shared > kernels::kLargeChunkBytes;
  GpuKernel kernel{.id = ChunkKernel{unit_of(work), work.way,
                                     !fits   ? ChunkPlace::in_global
                                     : large ? ChunkPlace::large
                                             : ChunkPlace::small},
                   .params = params,
                   .blocks = fits ? params.chunks : kernels::in_global_blocks(params),
                   .threads = !fits   ? static_cast<int>(kernels::kInGlobalThreads)
                              : large ? kLargeChunkThreads
                                      : kSmallChunkThreads,
                   .shared_bytes = fits ? shared : 0,
                   .in_alignment = units.unit_bytes,
                   .out_alignment = units.unit_bytes};
  return {.kind = work.way == Way::forwards ? PassKind::place : PassKind::pick,
          .kernels = {kernel},
          .tables = {{places}},
          .in_place = fits,
          .blocks_of_one_array = true};
}

std::vector<GpuPass> partition_passes(const PassWork& work) {
  const auto& shape = std::get<schedule::PartitionShape>(work.form);
  std::vector<GpuPass> passes;
  passes.reserve(static_cast<std::size_t>(shape.levels()) + 1);
  for (int level = 0; level < shape.levels(); ++level) passes.push_back(level_pass(work, level));
  passes.push_back(chunk_pass(work, shape.chunk_elements(), TableKind::last));
  if (work.way == Way::backwards) std::reverse(passes.begin(), passes.end());
  return passes;
}

const GpuSolver kPartitionSolver{
    .makes = is_of_partition, .passes = partition_passes, .words = partition_words, .cost = partition_cost};

}  // namespace faro::detail
