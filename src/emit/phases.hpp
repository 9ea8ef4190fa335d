// A kernel plan's phases over the abstract memory: what its text does, access by access and in the same
// order.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "emit/kernel_plan.hpp"
#include "faro/device/memory.hpp"

namespace faro::emit {

inline Place place_of(const KernelPlan& plan, std::uint64_t block, std::uint32_t thread, int iteration) {
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

}  // namespace faro::emit
