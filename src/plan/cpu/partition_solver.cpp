// Partitions: a pass for each level, and one that permutes every chunk within itself.
//
//     forwards     in -> … -> workspace -> out -> out      backwards   in -> … -> workspace -> out
//
// Forwards the last pass runs in place, since it holds a whole chunk before it writes; backwards the first
// has the input to leave alone. Where a thread cannot hold a chunk, elements are gathered one by one.
#include <fmt/format.h>

#include <algorithm>

#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

// Small arrays of a batch share a pass, as many as these bytes hold.
constexpr std::uint64_t kGroupBytes = std::uint64_t{8} << 20;

std::vector<CpuPass> partition_passes_on_cpu(const CpuWork& work) {
  const auto& shape = std::get<schedule::PartitionShape>(work.form);
  if (!fits_caches(std::min(shape.chunk_elements(), work.count), work.element_bytes)) {
    return {cpu_gather_by_schedule(work)};
  }
  const bool forwards = work.way == Way::forwards;
  const ChunkPart part = chunk_part(shape, work.element_bytes);
  std::vector<CpuPass> passes;
  passes.reserve(static_cast<std::size_t>(shape.levels()));
  for (int level = 0; level < shape.levels(); ++level) {
    passes.push_back(
        {.kind = forwards ? PassKind::spread : PassKind::collect,
         .kernel = CpuLevel{.shape = shape, .level = level, .way = work.way, .part = part},
         .tables = {{TableKind::places, level}, {TableKind::starts, level}, {TableKind::offsets, level}}});
  }
  passes.push_back({.kind = forwards ? PassKind::place : PassKind::pick,
                    .kernel = CpuChunks{.shape = shape, .way = work.way, .part = part},
                    .tables = {{TableKind::last}}});
  if (!forwards) std::reverse(passes.begin(), passes.end());
  const std::size_t in_turns = passes.size() - (forwards && passes.size() > 1 ? 1 : 0);
  PassBuffer source = PassBuffer::input;
  bool between = false;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const bool to_output = i >= in_turns || (in_turns - i) % 2 == 1;
    between = between || !to_output;
    passes[i].source = source;
    passes[i].target = to_output ? PassBuffer::output : PassBuffer::workspace;
    source = passes[i].target;
  }
  CpuRun run{.workspace = {.part_bytes = part.bytes}};
  if (between) {
    run.arrays_at_once = std::clamp<std::uint64_t>(kGroupBytes / work.array_bytes(), 1,
                                                   std::max<std::uint64_t>(1, work.batch));
    run.workspace.between_bytes = run.arrays_at_once * work.array_bytes();
  }
  for (CpuPass& pass : passes) pass.run = run;
  return passes;
}

std::string partition_words(const CpuPass& pass) {
  const auto* const level = std::get_if<CpuLevel>(&pass.kernel);
  if (level == nullptr) return "every chunk is permuted within itself";
  return level->way == Way::forwards
             ? "every chunk is sorted by bucket, and its runs are written after those of earlier chunks"
             : "every chunk reads its runs from their buckets and puts them in order";
}

std::string partition_loop(const CpuPass& pass) {
  if (const auto* const level = std::get_if<CpuLevel>(&pass.kernel)) {
    const bool forwards = level->way == Way::forwards;
    return fmt::format("chunks of {} {} {} buckets, {}", count_text(level->shape.chunk_elements(), "element"),
                       forwards ? "to" : "from", level->shape.buckets(level->level),
                       forwards ? "in whole lines" : "fetched ahead");
  }
  const auto& chunks = std::get<CpuChunks>(pass.kernel);
  return fmt::format("{} by places, chunks of {}", chunks.way == Way::forwards ? "scatter" : "gather",
                     count_text(chunks.shape.chunk_elements(), "element"));
}

}  // namespace

ChunkPart chunk_part(const schedule::PartitionShape& shape, std::uint64_t element_bytes) {
  std::uint32_t buckets = 0;
  for (int level = 0; level < shape.levels(); ++level) buckets = std::max(buckets, shape.buckets(level));
  ChunkPart made;
  made.stage_offset = whole_lines(std::min(shape.chunk_elements(), shape.count) * element_bytes + kLineBytes);
  made.slots_offset = made.stage_offset + whole_lines(stage_bytes(element_bytes));
  made.bytes = whole_pages(made.slots_offset + run_slots_bytes(buckets));
  return made;
}

const CpuSolver kCpuPartitionSolver{
    .passes = partition_passes_on_cpu,
    .makes = is_kernel<CpuLevel, CpuChunks>,
    .words = partition_words,
    .loop = partition_loop,
};

}  // namespace faro::detail
