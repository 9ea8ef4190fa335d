// A block of a transposition in place on memories of the CPU, phase by phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/gpu/sweep_phases.hpp"
#include "plan/gpu_transpose.hpp"

namespace faro::test {

using detail::by_unit_bytes;
using detail::with_phases;

/// Limits that make small shapes take the way of large ones.
inline detail::GpuTransposeLimits small_limits(std::uint64_t shared_bytes) {
  return {.shared_bytes = shared_bytes,
          .blocks_bytes = shared_bytes / 2,
          .whole_bytes = shared_bytes / 4,
          .strip_bytes = 16,
          .strip_bytes_min = 8,
          .panel_bytes_min = 16,
          .window_rows = 24,
          .batch_bytes = 256,
          .copied_bytes = 256};
}

/// No strip is wide enough and no segment long enough, so columns are moved by windows.
inline detail::GpuTransposeLimits limits_of_windows(std::uint64_t shared_bytes) {
  detail::GpuTransposeLimits limits = small_limits(shared_bytes);
  limits.blocks_bytes = 0;
  return limits;
}

/// Shared memory that checks its bounds.
struct PhasesMemory {
  std::vector<std::byte> shared = {};

  template <int bytes>
  device::Packet<bytes> load_shared(std::uint32_t address) {
    device::Packet<bytes> packet;
    std::memcpy(&packet, shared_at(address, bytes), bytes);
    return packet;
  }
  template <int bytes>
  void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) {
    std::memcpy(shared_at(address, bytes), &packet, bytes);
  }

 private:
  std::byte* shared_at(std::uint32_t address, std::uint64_t bytes) {
    if (address % bytes == 0 && address + bytes <= shared.size()) return &shared[address];
    throw std::logic_error("shared memory at " + std::to_string(address));
  }
};

/// Every launch of the series by itself, in order.
inline std::vector<detail::GpuTransposeLaunch> each_of(
    const std::vector<detail::GpuTransposeLaunch>& series) {
  std::vector<detail::GpuTransposeLaunch> all;
  detail::for_each_in_turn(
      series.size(), [&](std::size_t i) -> const detail::GpuTransposeLaunch& { return series[i]; },
      [&](std::size_t i, std::uint64_t number) { all.push_back(detail::in_series(series[i], number)); });
  return all;
}

/// A block to its end, phase by phase. `Memory` is a PhasesMemory that has the arrays, too.
template <typename Memory>
void run_block(std::uint64_t unit_bytes, const detail::GpuTransposeLaunch& launch, Memory& memory,
               std::uint64_t block) {
  memory.shared.assign(launch.shared_bytes, std::byte{0xee});
  const auto run = [&](const auto& phase) {
    for (std::uint32_t thread = 0; thread < launch.threads; ++thread) phase(memory, block, thread);
  };
  by_unit_bytes(unit_bytes, [&](auto unit) {
    with_phases<unit()>(launch, [&](const auto&... phases) { (run(phases), ...); });
  });
}

}  // namespace faro::test
