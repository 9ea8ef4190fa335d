// The ways of a partition: sizes of chunks and levels that a target likes, and what each moves and takes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "faro/error.hpp"
#include "plan/index_candidates.hpp"

namespace faro::detail {
namespace {

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

}  // namespace

std::vector<IndexCandidate> partition_candidates(const IndexWork& work) {
  std::vector<IndexCandidate> candidates;
  if (work.count() <= 1) return candidates;
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

}  // namespace faro::detail
