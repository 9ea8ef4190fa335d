// Partitions: a pass for each level, and one that permutes every chunk within itself.
//
//     forwards    spread ... spread, place         backwards    pick, collect ... collect
//
// Chunks that do not fit a block's shared memory are moved by kernels that do without, never in place.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "faro/error.hpp"
#include "kernels/partition_in_global.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

using kernels::PartitionParams;

constexpr int kSmallChunkThreads = 512;
constexpr int kLargeChunkThreads = 1024;

// --- sizes

using schedule::PartitionShape;

constexpr std::uint64_t kRunBytesMin = 64;  // shorter runs waste what a memory access fetches
constexpr int kMostLevels = 4;
constexpr int kLeastCpuChunkBits = 8;
constexpr int kMostCpuChunkBits = 15;

int log2_ceil(std::uint64_t x) { return x <= 1 ? 0 : static_cast<int>(std::bit_width(x - 1)); }

// log2 of the elements of a chunk that the target likes best for elements of this width.
int preferred_chunk_bits(const Target& target, std::uint64_t element_bytes) {
  // 64 KiB: of shared memory, so that a multiprocessor holds three blocks; of a core's second cache, a part.
  constexpr int kChunkBytesBits = 16;
  const int bits = kChunkBytesBits - log2_ceil(element_bytes);
  return on_gpu(target) ? std::clamp(bits, 1, schedule::kMaxChunkBits)
                        : std::clamp(bits, kLeastCpuChunkBits, kMostCpuChunkBits);
}

// Bits that a level may take and its runs still be long enough.
int most_level_bits(const Target& target, int chunk_bits, std::uint64_t width) {
  const int most = on_gpu(target) ? 10 : 9;
  const int run_bits = log2_ceil((kRunBytesMin + width - 1) / width);
  return std::clamp(chunk_bits - run_bits, 1, most);
}

// --- candidates

std::optional<double> partition_us(const IndexWork& work, const PartitionShape& shape) {
  const bool forwards = work.direction() == Direction::scatter;
  const IndexKernel level = forwards ? IndexKernel::spread : IndexKernel::collect;
  auto sum = streaming_us(work, forwards ? IndexKernel::place : IndexKernel::pick, shape.chunk_bits);
  for (const int bits : shape.level_bits) {
    const auto us = streaming_us(work, level, shape.chunk_bits, std::max(0, shape.chunk_bits - bits));
    if (!sum || !us) return std::nullopt;
    *sum += *us;
  }
  return sum;
}

// A GPU takes arrays that need the workspace one after the other, each with launches of its own.
std::optional<double> partition_in_turns_us(const IndexWork& work, const PartitionShape& shape) {
  Problem one = work.problem;
  one.batch = 1;
  const IndexWork alone{.problem = one,
                        .target = work.target,
                        .recognition = work.recognition,
                        .calibration = work.calibration,
                        .repeats = work.repeats};
  return times(partition_us(alone, shape), static_cast<double>(work.problem.batch));
}

IndexCandidate partition_candidate(const IndexWork& work, const PartitionShape& shape) {
  const int levels = shape.levels();
  const std::uint64_t passes = 1 + static_cast<std::uint64_t>(levels);
  IndexCandidate made{.method = IndexMethod::partition,
                      .passes = 1 + levels,
                      .bytes_moved = passes * 2 * work.array_bytes() + shape.bytes(),
                      .schedule_bytes = shape.bytes(),
                      .curve_us = partition_us(work, shape),
                      .schedule_us = index_pass_us(work, IndexKernel::schedule, shape.chunk_bits)};
  made.shape = shape;
  made = with_workspace(work, std::move(made));
  if (made.workspace_bytes > 0 && on_gpu(work.target) && work.problem.batch > 1) {
    made.curve_us = partition_in_turns_us(work, shape);
  }
  return made;
}

// As few levels as there can be, and one more, whose runs are longer.
void add_partitions(const IndexWork& work, int chunk_bits, std::vector<IndexCandidate>& candidates) {
  const int rest = log2_ceil(work.count()) - chunk_bits;
  if (rest <= 0) {
    candidates.push_back(
        partition_candidate(work, {.count = work.count(), .chunk_bits = chunk_bits, .level_bits = {}}));
    return;
  }
  const int most = most_level_bits(work.target, chunk_bits, work.width());
  const int fewest = (rest + most - 1) / most;
  for (int levels = fewest; levels <= fewest + 1 && levels <= std::min(rest, kMostLevels); ++levels) {
    const int bits = (rest + levels - 1) / levels;
    PartitionShape shape{.count = work.count(),
                         .chunk_bits = chunk_bits,
                         .level_bits = schedule::even_levels(work.count(), chunk_bits, bits)};
    if (shape.levels() == levels) candidates.push_back(partition_candidate(work, shape));
  }
}

std::vector<IndexCandidate> partition_candidates(const IndexWork& work) {
  std::vector<IndexCandidate> candidates;
  if (!is_array(work) || work.count() <= 1) return candidates;
  const int preferred = preferred_chunk_bits(work.target, work.width());
  add_partitions(work, preferred, candidates);
  const std::uint64_t twice = work.width() << (preferred + 1);
  const bool fits = on_gpu(work.target)
                        ? preferred < schedule::kMaxChunkBits && twice <= work.target.chunk_bytes_max
                        : preferred < kMostCpuChunkBits;
  if (fits) add_partitions(work, preferred + 1, candidates);
  return candidates;
}

IndexCandidate asked_partition(const IndexWork& work, const IndexChoice& choice) {
  PartitionShape shape{
      .count = work.count(),
      .chunk_bits = choice.chunk_bits.value_or(preferred_chunk_bits(work.target, work.width())),
      .level_bits = choice.level_bits};
  const bool is_sole = shape.level_bits.empty() && work.count() <= std::uint64_t{1}
                                                                       << schedule::kMaxSoleChunkBits;
  const int most_chunk_bits = is_sole ? schedule::kMaxSoleChunkBits : schedule::kMaxChunkBits;
  if (shape.chunk_bits < 1 || shape.chunk_bits > most_chunk_bits) {
    fail(ErrorCode::value, "plan", fmt::format("chunks of 2^{} elements", shape.chunk_bits),
         fmt::format("chunks of 2^1 to 2^{}", most_chunk_bits));
  }
  const int rest = log2_ceil(work.count()) - shape.chunk_bits;
  if (shape.level_bits.empty() && rest > 0) {
    const int most = most_level_bits(work.target, shape.chunk_bits, work.width());
    shape.level_bits = schedule::even_levels(work.count(), shape.chunk_bits, most);
  }
  schedule::check_shape(shape);
  return partition_candidate(work, shape);
}

// --- passes

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
    .makes = is_of_partition,
    .is_method = [](IndexMethod method) { return method == IndexMethod::partition; },
    .candidates = partition_candidates,
    .asked = asked_partition,
    .form = [](const IndexWork& /*work*/, const IndexCandidate& candidate) -> IndexForm {
      return *candidate.shape;
    },
    .has_form = has_form<schedule::PartitionShape>,
    .passes = partition_passes,
    .words = partition_words,
    .cost = partition_cost};

}  // namespace faro::detail
