// One block stands for all: every address is the XOR of a part of the block and a part of the thread, and a
// shift by XOR maps sectors to sectors and banks to banks one to one. The rows of a tile are turned by sums,
// not XORs, but by the thread's part alone: shared addresses of those rungs do not depend on the block.
#include "emit/phases.hpp"
#include "faro/error.hpp"
#include "machine/counting_memory.hpp"

namespace faro::emit {
namespace {

using machine::CountingMemory;

template <int element_bytes, int vector_bytes>
void run_blocks(CountingMemory& memory, const KernelPlan& plan, std::uint64_t blocks) {
  const CountingMemory::Launch launch{
      .blocks = blocks, .threads = static_cast<std::uint32_t>(plan.threads()), .first_block = 0};
  if (!plan.has_tile) {
    memory.run(launch, [&](auto& m, auto block, auto thread) {
      move_element<element_bytes>(m, plan, block, thread);
    });
    return;
  }
  memory.run(
      launch,
      [&](auto& m, auto block, auto thread) {
        load_phase<element_bytes, vector_bytes>(m, plan, block, thread);
      },
      [&](auto& m, auto block, auto thread) {
        store_phase<element_bytes, vector_bytes>(m, plan, block, thread);
      });
}

template <int element_bytes>
void run_vectors(CountingMemory& memory, const KernelPlan& plan, std::uint64_t blocks) {
  switch (plan.vector_bytes() / element_bytes) {
    case 1:
      return run_blocks<element_bytes, element_bytes>(memory, plan, blocks);
    case 2:
      if constexpr (element_bytes <= 8)
        return run_blocks<element_bytes, 2 * element_bytes>(memory, plan, blocks);
      break;
    case 4:
      if constexpr (element_bytes <= 4)
        return run_blocks<element_bytes, 4 * element_bytes>(memory, plan, blocks);
      break;
    case 8:
      if constexpr (element_bytes <= 2)
        return run_blocks<element_bytes, 8 * element_bytes>(memory, plan, blocks);
      break;
    default:
      if constexpr (element_bytes == 1)
        return run_blocks<element_bytes, 16 * element_bytes>(memory, plan, blocks);
      break;
  }
  FARO_CHECK(plan.vector_bytes() <= 16);
}

}  // namespace

void run(CountingMemory& memory, const KernelPlan& plan, std::uint64_t blocks) {
  switch (plan.element_bytes) {
    case 1:
      return run_vectors<1>(memory, plan, blocks);
    case 2:
      return run_vectors<2>(memory, plan, blocks);
    case 4:
      return run_vectors<4>(memory, plan, blocks);
    case 8:
      return run_vectors<8>(memory, plan, blocks);
    default:
      return run_vectors<16>(memory, plan, blocks);
  }
}

machine::AccessCounts predict(const KernelPlan& plan) {
  CountingMemory memory({.shared_bytes = static_cast<std::size_t>(plan.shared_bytes()), .geometry = {}});
  const std::uint64_t bytes = static_cast<std::uint64_t>(plan.element_bytes) << plan.map.bits();
  memory.add_virtual_input(bytes);
  memory.add_virtual_output(bytes);
  run(memory, plan, 1);
  machine::AccessCounts counts = memory.counts();
  counts *= std::uint64_t{1} << plan.block_bits;
  return counts;
}

}  // namespace faro::emit
