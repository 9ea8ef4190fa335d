// A block of threads, as kernels whose lanes talk to each other see it.
//
//     block.barrier()                     all threads of the block have come here
//     block.ballot(condition)             one bit a lane of the warp
//     lanes_with<8>(block, value, lanes)  those of my warp's lanes that hold my value
//     exclusive_sums(block, values, n)    3 1 4 1  -->  0 3 4 8, by all threads
//
// The same source runs on a GPU, where each call is an instruction or two (device_block.cuh), and in tests,
// where threads are coroutines of the host that wait for each other (tests/support/block_emulator.hpp). A
// kernel is a value: its arguments, the sizes of its launch, and operator()(block), which one thread runs.
// Pointers are plain.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "faro/device/memory.hpp"

namespace faro::cuda {

inline constexpr std::uint32_t kWarpLanes = 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffff;

template <typename B>
concept Block = requires(B block, std::uint32_t word, std::uint32_t* words, std::uint64_t wide,
                         std::uint64_t* wides) {
  { block.index() } -> std::same_as<std::uint64_t>;   // of the block in its grid
  { block.blocks() } -> std::same_as<std::uint64_t>;  // of the grid
  { block.thread() } -> std::same_as<std::uint32_t>;
  { block.shared() } -> std::same_as<std::byte*>;  // aligned to 16
  block.barrier();
  block.warp_barrier();
  { block.ballot(true) } -> std::same_as<std::uint32_t>;  // all lanes of the warp take part, here and below
  {
    block.shuffle_up(word, word)
    } -> std::same_as<std::uint32_t>;                            // of the lane so many below; else one's own
  { block.shuffle(word, word) } -> std::same_as<std::uint32_t>;  // of that lane, the same for all
  { block.count_ones(word) } -> std::same_as<std::uint32_t>;
  { block.atomic_or(words, word) } -> std::same_as<std::uint32_t>;  // what was there
  block.atomic_and(words, word);
  { block.fetch_add(words, word) } -> std::same_as<std::uint32_t>;  // likewise
  block.atomic_add(words, word);
  block.atomic_add(wides, wide);
  block.atomic_min(wides, wide);
  block.atomic_max(wides, wide);
  { block.read(words) } -> std::same_as<std::uint32_t>;  // now, whatever a cache of this thread says
  { block.read(wides) } -> std::same_as<std::uint64_t>;
  block.write(words, word);
};

template <Block B>
constexpr std::uint32_t lane_of(B& block) {
  return block.thread() % kWarpLanes;
}

/// Those of `lanes`, the same for all lanes of the warp, that hold the calling lane's value, which has kBits
/// bits. Lanes that are not among them call it, too, and learn nothing.   Cost: kBits ballots.
template <int kBits, Block B>
constexpr std::uint32_t lanes_with(B& block, std::uint32_t value, std::uint32_t lanes) {
  if constexpr (requires { block.match(value, lanes); }) {
    return block.match(value, lanes);
  } else {
    FARO_UNROLL
    for (int bit = 0; bit < kBits; ++bit) {
      if constexpr (requires { block.lanes_alike(value, value); }) {
        lanes &= block.lanes_alike(value, std::uint32_t{1} << bit);
        continue;
      }
      const bool mine = (value >> bit & 1) != 0;
      const std::uint32_t ones = block.ballot(mine);
      lanes &= mine ? ones : ~ones;
    }
    return lanes;
  }
}

/// What kernels have in common whose blocks hold nothing in shared memory. kResident: how many blocks a
/// multiprocessor has room for, for which the compiler limits registers.
template <int kResident = 1>
struct PlainKernel {
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = kResident;

  static constexpr std::uint64_t blocks_of(std::uint64_t threads) {
    return (threads + kThreads - 1) / kThreads;
  }
  template <Block B>
  static constexpr std::uint64_t thread_of(B& block) {  // among those of the grid
    return block.index() * kThreads + block.thread();
  }
  constexpr std::uint32_t shared_bytes() const { return 0; }
};

/// Words of shared memory that exclusive_sums() wants for itself.
inline constexpr std::uint32_t kScanScratchWords = kWarpLanes;

/// Replaces each of n values of shared memory by the sum of those before it, below 2^32. Begins and ends with
/// a barrier. Requires: kThreads threads, whole warps and at most 32 of them.
template <std::uint32_t kThreads, Block B, typename Word>
constexpr void exclusive_sums(B& block, Word* values, std::uint32_t n, std::uint32_t* scratch) {
  const std::uint32_t each = (n + kThreads - 1) / kThreads;
  const std::uint32_t begin = block.thread() * each;
  const std::uint32_t end = begin + each < n ? begin + each : n;
  block.barrier();
  std::uint32_t own = 0;
  for (std::uint32_t i = begin; i < end; ++i) own += static_cast<std::uint32_t>(values[i]);
  std::uint32_t upto = own;  // of the warp's lanes up to this one
  for (std::uint32_t step = 1; step < kWarpLanes; step *= 2) {
    const std::uint32_t below = block.shuffle_up(upto, step);
    if (lane_of(block) >= step) upto += below;
  }
  const std::uint32_t warp = block.thread() / kWarpLanes;
  if (lane_of(block) == kWarpLanes - 1) scratch[warp] = upto;
  block.barrier();
  std::uint32_t sum = upto - own;
  for (std::uint32_t w = 0; w < warp; ++w) sum += scratch[w];
  for (std::uint32_t i = begin; i < end; ++i) {
    const auto value = static_cast<std::uint32_t>(values[i]);
    values[i] = sum;
    sum += value;
  }
  block.barrier();
}

}  // namespace faro::cuda
