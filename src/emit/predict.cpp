// One block stands for all: every address is the XOR of a part of the block and a part of the thread, and a
// shift by XOR maps sectors to sectors and banks to banks one to one. The rows of a tile are rotated by sums,
// not XORs, but by the thread's part alone: shared addresses of those rungs do not depend on the block.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emit/kernel_plan.hpp"
#include "faro/device/memory.hpp"
#include "faro/error.hpp"
#include "faro/machine/counting_memory.hpp"
#include "unit_bytes.hpp"

namespace faro::emit {
namespace {

using machine::CountingMemory;

constexpr int kAddend = device::kOutput + 1;

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

/// Numbers of another width, at element `target`: their places alone.
template <device::Memory Memory>
void change_numbers(Memory& memory, const KernelPlan& plan, f2::Word target) {
  if (plan.addend_bytes != 0) {
    detail::by_unit_bytes(static_cast<std::uint64_t>(plan.addend_bytes), [&](auto bytes) {
      for (f2::Word k = 0; k < static_cast<f2::Word>(plan.element_count()); ++k)
        static_cast<void>(memory.template load_global<bytes()>(kAddend, (target + k) * bytes()));
    });
  }
  detail::by_unit_bytes(static_cast<std::uint64_t>(plan.result_vector_bytes()), [&](auto bytes) {
    memory.template store_global<bytes()>(device::kOutput, target * static_cast<f2::Word>(plan.result_bytes),
                                          {});
  });
}

bool changes_numbers(const KernelPlan& plan) {
  return plan.result_bytes != plan.element_bytes || plan.addend_bytes != 0;
}

/// The naive rung, whole.
template <int element_bytes, device::Memory Memory>
void move_element(Memory& memory, const KernelPlan& plan, std::uint64_t block, std::uint32_t thread) {
  const Place place = place_of(plan, block, thread, 0);
  const auto element =
      memory.template load_global<element_bytes>(device::kInput, plan.source(place) * element_bytes);
  if (changes_numbers(plan)) return change_numbers(memory, plan, plan.target(place));
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
    if (changes_numbers(plan)) {
      change_numbers(memory, plan, target);
    } else {
      memory.template store_global<vector_bytes>(device::kOutput, target * element_bytes, vector);
    }
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
  detail::by_unit_bytes(static_cast<std::uint64_t>(plan.vector_bytes()), [&](auto bytes) {
    if constexpr (bytes() >= element_bytes) run_blocks<element_bytes, bytes()>(memory, plan, blocks);
  });
}

}  // namespace

void run(CountingMemory& memory, const KernelPlan& plan, std::uint64_t blocks) {
  detail::by_unit_bytes(static_cast<std::uint64_t>(plan.element_bytes),
                        [&](auto bytes) { run_vectors<bytes()>(memory, plan, blocks); });
}

machine::AccessCounts predict(const KernelPlan& plan) {
  CountingMemory memory({.shared_bytes = static_cast<std::size_t>(plan.shared_bytes()), .geometry = {}});
  const auto bytes = [&](int width) { return static_cast<std::uint64_t>(width) << plan.map.bits(); };
  memory.add_virtual_input(bytes(plan.element_bytes));
  memory.add_virtual_output(bytes(plan.result_bytes));
  if (plan.addend_bytes != 0) memory.add_virtual_input(bytes(plan.addend_bytes));
  run(memory, plan, 1);
  machine::AccessCounts counts = memory.counts();
  counts *= std::uint64_t{1} << plan.block_bits;
  return counts;
}

}  // namespace faro::emit
