#include "tell/counts/counting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "faro/machine/counting_memory.hpp"

namespace faro::detail {
namespace {

using machine::CountingMemory;

constexpr std::uint64_t kParts = 256;
constexpr std::uint64_t kFewBlocks = 264;           // all of them are counted
constexpr std::uint64_t kFewSwappingBlocks = 4096;  // as those that hold nothing in shared memory

// Blocks that are launched one after another: of a group of arrays, of a kernel, which may be a series of
// launches in turns with those after it.
struct Stretch {
  const GpuKernel* kernel = nullptr;
  std::uint64_t blocks = 0;      // of a launch
  std::uint64_t arrays = 1;      // whose memory it is
  std::uint64_t first_byte = 0;  // of those, in the batch
  std::uint64_t repeats = 1;
  std::size_t turns = 1;
};

// A stretch is one of `groups` equal ones, but for where their arrays begin.
struct BlockSpace {
  std::vector<Stretch> stretches;  // of a group
  std::uint64_t group_blocks = 0;
  std::uint64_t groups = 1;
  std::uint64_t group_bytes = 0;
};

// How blocks are counted.
struct Counting {
  const CountedArrays& arrays;
  const machine::MemoryGeometry& geometry;
  const PassTables& tables;
  CountedBlocks which = CountedBlocks::sampled;
};

void run_block(const Stretch& stretch, const Counting& how, std::uint64_t block,
               machine::AccessCounts& counts, std::uint64_t weight) {
  const GpuKernel& kernel = *stretch.kernel;
  const auto together = static_cast<std::size_t>(kernel.cluster_blocks);
  CountingMemory memory(
      {.shared_bytes = static_cast<std::size_t>(kernel.shared_bytes) * together, .geometry = how.geometry});
  run_phases(
      kernel, memory,
      {.block = block, .bytes = stretch.arrays * how.arrays.array_bytes, .first_byte = stretch.first_byte},
      how.tables);
  machine::AccessCounts of_block = memory.counts();
  of_block *= weight;
  counts += of_block;
}

// Blocks that wait for each other are run as one.
std::uint64_t units_of(const GpuKernel& kernel, std::uint64_t blocks) {
  return blocks / static_cast<std::uint64_t>(kernel.cluster_blocks);
}

BlockSpace space_of(const GpuPass& pass, const CountedArrays& arrays) {
  BlockSpace space;
  if (pass.launched == Kernels::first_aligned) {
    const GpuKernel& kernel = pass.kernels.front();
    const std::uint64_t blocks = kernel.blocks * (pass.blocks_of_one_array ? arrays.arrays : 1);
    space.stretches = {{.kernel = &kernel, .blocks = units_of(kernel, blocks), .arrays = arrays.arrays}};
    space.group_blocks = space.stretches.front().blocks;
    return space;
  }
  const std::uint64_t together = std::min(pass.arrays_at_once, arrays.arrays);
  for (const GpuKernel& kernel : pass.kernels) {
    const std::uint64_t blocks = kernel.blocks * (pass.blocks_of_one_array ? together : 1);
    space.stretches.push_back({.kernel = &kernel, .blocks = blocks, .arrays = together});
    if (const auto* const series = std::get_if<GpuTransposeLaunch>(&kernel.params)) {
      space.stretches.back().repeats = series->repeats;
      space.stretches.back().turns = series->turns;
    }
    space.group_blocks += blocks * space.stretches.back().repeats;
  }
  space.groups = arrays.arrays / together;
  space.group_bytes = together * arrays.array_bytes;
  return space;
}

void run_block(const BlockSpace& space, const Counting& how, std::uint64_t block,
               machine::AccessCounts& counts, std::uint64_t weight) {
  const std::uint64_t group = block / space.group_blocks;
  std::uint64_t left = block % space.group_blocks;
  for (std::size_t i = 0; i < space.stretches.size(); i += space.stretches[i].turns) {
    const Stretch& leader = space.stretches[i];
    std::uint64_t of_turn = 0;
    for (std::size_t j = i; j < i + leader.turns; ++j) of_turn += space.stretches[j].blocks;
    if (left >= of_turn * leader.repeats) {
      left -= of_turn * leader.repeats;
      continue;
    }
    const std::uint64_t number = left / of_turn;
    left %= of_turn;
    std::size_t j = i;
    for (; left >= space.stretches[j].blocks; ++j) left -= space.stretches[j].blocks;
    Stretch stretch = space.stretches[j];
    GpuKernel kernel = *stretch.kernel;
    if (auto* const series = std::get_if<GpuTransposeLaunch>(&kernel.params)) {
      *series = in_series(*series, number);
    }
    stretch.kernel = &kernel;
    stretch.first_byte = group * space.group_bytes;
    return run_block(stretch, how, left, counts, weight);
  }
}

bool is_countable(const GpuPass& pass, const PassTables& tables) {
  return tables.read != nullptr || pass.kind == PassKind::axes || pass.kind == PassKind::cyclic ||
         pass.kind == PassKind::modular || pass.kind == PassKind::computed || pass.kind == PassKind::sweep ||
         (pass.in_place && pass.source == PassBuffer::data);
}

Counted count_space(const BlockSpace& space, const Counting& how) {
  const std::uint64_t blocks = space.group_blocks * space.groups;
  Counted counted{.counts = {}, .blocks = blocks, .of = blocks};
  const bool swaps = std::holds_alternative<SwapKernel>(space.stretches.front().kernel->id);
  if (how.which == CountedBlocks::all || blocks <= (swaps ? kFewSwappingBlocks : kFewBlocks)) {
    for (std::uint64_t b = 0; b < blocks; ++b) run_block(space, how, b, counted.counts, 1);
    return counted;
  }
  counted.blocks = kParts + 2;
  run_block(space, how, 0, counted.counts, 1);
  run_block(space, how, blocks - 1, counted.counts, 1);
  std::mt19937_64 random(1);
  const std::uint64_t between = blocks - 2;
  const std::uint64_t part = between / kParts;
  const std::uint64_t longer = between % kParts;  // parts of one block more
  std::uint64_t begin = 1;
  for (std::uint64_t i = 0; i < kParts; ++i) {
    const std::uint64_t length = part + (i < longer ? 1 : 0);
    run_block(space, how, begin + random() % length, counted.counts, length);
    begin += length;
  }
  return counted;
}

// What is known of a sample: every byte is stored once. Blocks at the ends store less than others, so counts
// are scaled to it.
void scale_to_bytes(machine::AccessCounts& counts, std::uint64_t bytes) {
  if (counts.global_stores.bytes == 0) return;
  const double ratio = static_cast<double>(bytes) / static_cast<double>(counts.global_stores.bytes);
  const auto scale = [ratio](std::uint64_t& count) {
    count = static_cast<std::uint64_t>(std::llround(ratio * static_cast<double>(count)));
  };
  for (machine::GlobalCounts* side : {&counts.global_loads, &counts.global_stores}) {
    for (std::uint64_t* count : {&side->requests, &side->bytes, &side->sectors, &side->lines}) scale(*count);
  }
  for (machine::SharedCounts* side : {&counts.shared_loads, &counts.shared_stores}) {
    for (std::uint64_t* count : {&side->requests, &side->bytes, &side->phases, &side->wavefronts})
      scale(*count);
    for (std::uint64_t& count : side->phases_by_congestion) scale(count);
  }
  counts.global_stores.bytes = bytes;
}

}  // namespace

std::string to_text(const Counted& counted) {
  if (counted.all()) return counted.of == 1 ? "the block" : fmt::format("all {} blocks", counted.of);
  return fmt::format("{} of {} blocks: the first, the last and one of each of {} parts between",
                     counted.blocks, counted.of, kParts);
}

std::optional<Counted> count_blocks(const GpuPass& pass, const CountedArrays& arrays,
                                    const machine::MemoryGeometry& geometry, const PassTables& tables,
                                    CountedBlocks which) {
  if (pass.kernels.empty() || arrays.arrays == 0 || !is_countable(pass, tables)) return std::nullopt;
  const BlockSpace space = space_of(pass, arrays);
  Counted counted = count_space(space, {arrays, geometry, tables, which});
  const bool all_stored = !std::holds_alternative<SwapKernel>(pass.kernels.front().id) &&
                          !std::holds_alternative<ReversalKernel>(pass.kernels.front().id);
  if (!counted.all() && all_stored) {
    const std::uint64_t in_groups = space.groups * space.stretches.front().arrays;
    scale_to_bytes(counted.counts, in_groups * arrays.written.value_or(arrays.array_bytes));
  }
  // Arrays that are left over from the groups are counted as the others are, a part of a group.
  const std::uint64_t together =
      pass.launched == Kernels::first_aligned ? arrays.arrays : pass.arrays_at_once;
  const std::uint64_t rest = arrays.arrays - space.groups * std::min(together, arrays.arrays);
  if (rest > 0) {
    CountedArrays tail{.arrays = rest, .array_bytes = arrays.array_bytes};
    GpuPass of_rest = pass;
    of_rest.arrays_at_once = rest;
    const Counted more = count_space(space_of(of_rest, tail), {tail, geometry, tables, which});
    counted.counts += more.counts;
    counted.blocks += more.blocks;
    counted.of += more.of;
  }
  return counted;
}

}  // namespace faro::detail
