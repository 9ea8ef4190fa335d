// Numbers of many arrays that are changed while they are moved, in one launch: boxes of value_box.hpp and
// value_registers.hpp, for blocks that look up which array they are of.
//
//     shared memory    | what the array's kernel is, with its addresses | what it keeps there itself ... |
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/group_table.hpp"
#include "kernels/value_arrays.hpp"

namespace faro::kernels {

/// What a launch is given, the same for all types.
struct GroupValues {
  GroupTable table;
  const std::byte* params = nullptr;  // ValueArrays without addresses, whose tables are the device's
  const GroupBlock* blocks = nullptr;

  static constexpr std::uint32_t kKeptBytes = (sizeof(ValueArrays) + 15) / 16 * 16;
};

/// A block among those of one array, with what is left of shared memory.
template <typename Block>
struct BlockOfArray {
  Block& block;
  std::uint64_t number;
  std::byte* memory;

  constexpr std::uint64_t index() const { return number; }
  constexpr std::uint32_t thread() const { return block.thread(); }
  constexpr std::byte* shared() const { return memory; }
  constexpr void barrier() const { block.barrier(); }
};

/// `Kernel`: a kernel of ValueArrays, with nothing of its own.
template <typename Kernel>
struct MoveGroupValues : GroupValues {
  static constexpr std::uint32_t kThreads = Kernel::kThreads;
  static constexpr int kMinBlocks = Kernel::kMinBlocks;
  static_assert(sizeof(Kernel) == sizeof(ValueArrays));

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const GroupBlock of = blocks[block.index()];
    const auto* const from = &group_params<std::uint32_t>(params, of);
    auto* const kept = reinterpret_cast<std::uint32_t*>(block.shared());
    for (std::uint32_t i = block.thread(); i < sizeof(ValueArrays) / sizeof(std::uint32_t); i += kThreads)
      kept[i] = from[i];
    block.barrier();
    auto* const arrays = reinterpret_cast<Kernel*>(block.shared());
    if (block.thread() == 0) {
      arrays->in = table.in(of);
      arrays->out = table.out(of);
    }
    block.barrier();
    BlockOfArray<Block> own{block, of.block, block.shared() + kKeptBytes};
    (*arrays)(own);
  }
};

}  // namespace faro::kernels
