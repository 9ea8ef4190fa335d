// One block stands for all: every address is the XOR of a part of the block and a part of the thread, and a
// shift by XOR maps sectors to sectors and banks to banks one to one. The rows of a tile are rotated by sums,
// not XORs, but by the thread's part alone: shared addresses of those rungs do not depend on the block.
#include <cstdint>
#include <cstring>

#include "emit/kernel_plan.hpp"
#include "faro/device/memory.hpp"
#include "faro/error.hpp"
#include "faro/machine/counting_memory.hpp"

namespace faro::emit {
namespace {

using machine::CountingMemory;

// A kernel plan's phases over the abstract memory: what its text does, access by access and in the same
// order.

Place place_of(const KernelPlan& plan, std::uint64_t block, std::uint32_t thread, int iteration) {
  return {.block = block,
          .thread = thread & f2::low_mask(plan.thread_bits),
          .warp = thread >> plan.thread_bits,
          .iteration = static_cast<f2::Word>(iteration),
          .component = 0};
}

/// Element k of the result is element k ^ `by`.
template <int element_bytes, int vector_bytes>
device::Packet<vector_bytes> exchange(const device::Packet<vector_bytes>& vector, std::uint32_t by) {
  device::Packet<vector_bytes> result;
  constexpr std::size_t bytes = element_bytes;
  for (std::size_t k = 0; k < vector_bytes / bytes; ++k) {
    std::memcpy(reinterpret_cast<std::byte*>(&result) + k * bytes,
                reinterpret_cast<const std::byte*>(&vector) + (k ^ by) * bytes, bytes);
  }
  return result;
}

/// The naive rung, whole.
template <int element_bytes, device::Memory Memory>
void move_element(Memory& memory, const KernelPlan& plan, std::uint64_t block, std::uint32_t thread) {
  const Place place = place_of(plan, block, thread, 0);
  const auto element =
      memory.template load_global<element_bytes>(device::kInput, plan.source(place) * element_bytes);
  memory.template store_global<element_bytes>(device::kOutput, plan.target(place) * element_bytes, element);
}

template <int element_bytes, int vector_bytes, device::Memory Memory>
void load_phase(Memory& memory, const KernelPlan& plan, std::uint64_t block, std::uint32_t thread) {
  std::vector<device::Packet<vector_bytes>> vectors;
  for (int i = 0; i < plan.iterations(); ++i) {
    const f2::Word element = plan.source(place_of(plan, block, thread, i));
    vectors.push_back(memory.template load_global<vector_bytes>(device::kInput, element * element_bytes));
  }
  for (int i = 0; i < plan.iterations(); ++i) {
    const auto address = static_cast<std::uint32_t>(plan.stored(place_of(plan, block, thread, i)));
    const auto by = static_cast<std::uint32_t>(address & f2::low_mask(plan.vector_bits));
    memory.template store_shared<vector_bytes>(
        (plan.turn(address) ^ by) * element_bytes,
        exchange<element_bytes>(vectors[static_cast<std::size_t>(i)], by));
  }
}

template <int element_bytes, int vector_bytes, device::Memory Memory>
void store_phase(Memory& memory, const KernelPlan& plan, std::uint64_t block, std::uint32_t thread) {
  for (int i = 0; i < plan.iterations(); ++i) {
    device::Packet<vector_bytes> vector{};
    Place place = place_of(plan, block, thread, i);
    const f2::Word target = plan.target(place);
    for (int k = 0; k < plan.element_count(); ++k) {
      place.component = static_cast<f2::Word>(k);
      const std::uint32_t address = plan.turn(static_cast<std::uint32_t>(plan.loaded(place)));
      device::insert(vector, k, memory.template load_shared<element_bytes>(address * element_bytes));
    }
    memory.template store_global<vector_bytes>(device::kOutput, target * element_bytes, vector);
  }
}

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
