// The phases of a launch of the transposition in place, as its kernel runs them: what the GPU has in
// src/engines/cuda/transpose_*.cu, for memories on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "plan/gpu_transpose.hpp"

namespace faro::test {

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

/// Calls take(phase, phase, ...), each of which is phase(memory, block, thread).
template <int bytes, typename Take>
void with_phases(const detail::GpuTransposeLaunch& launch, const Take& take) {
  using Block = std::uint64_t;
  using Thread = std::uint32_t;
  std::visit(
      [&](const auto& p) {
        using Params = std::decay_t<decltype(p)>;
        if constexpr (std::is_same_v<Params, kernels::TransposeWholeParams>) {
          take([&](auto& m, Block b, Thread t) { kernels::load_whole<bytes>(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::store_whole<bytes>(m, p, b, t); });
        } else if constexpr (std::is_same_v<Params, kernels::C2rRowsParams>) {
          take([&](auto& m, Block b, Thread t) { kernels::load_c2r_row<bytes>(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::store_c2r_row<bytes>(m, p, b, t); });
        } else if constexpr (std::is_same_v<Params, kernels::C2rStripsParams>) {
          take([&](auto& m, Block, Thread t) { kernels::list_c2r_columns(m, p, t); },
               [&](auto& m, Block b, Thread t) { kernels::load_c2r_strip<bytes>(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::store_c2r_strip<bytes>(m, p, b, t); });
        } else if constexpr (std::is_same_v<Params, kernels::C2rWindowsParams>) {
          take([&](auto& m, Block b, Thread t) { kernels::list_c2r_rows(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::load_c2r_window<bytes>(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::store_c2r_window<bytes>(m, p, b, t); });
        } else if constexpr (std::is_same_v<Params, kernels::C2rLongRowsParams>) {
          take([&](auto& m, Block b, Thread t) { kernels::list_c2r_segments(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::load_c2r_stretch<bytes>(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::store_c2r_stretch<bytes>(m, p, b, t); });
        } else if constexpr (std::is_same_v<Params, kernels::C2rVectorRowsParams>) {
          take([&](auto& m, Block b, Thread t) { kernels::load_c2r_vector_row<bytes>(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::store_c2r_vector_row<bytes>(m, p, b, t); });
        } else if constexpr (std::is_same_v<Params, kernels::C2rVectorStripsParams>) {
          take([&](auto& m, Block b, Thread t) { kernels::list_c2r_strip_in<bytes>(m, p, b, t); },
               [&](auto& m, Block, Thread t) { kernels::load_c2r_vector_strip<bytes>(m, p, t); },
               [&](auto& m, Block b, Thread t) { kernels::list_c2r_strip_out<bytes>(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::store_c2r_vector_strip<bytes>(m, p, b, t); });
        } else if constexpr (std::is_same_v<Params, kernels::C2rVectorWindowsParams>) {
          take([&](auto& m, Block b, Thread t) { kernels::list_c2r_window_in<bytes>(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::load_c2r_vector_window<bytes>(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::list_c2r_window_out<bytes>(m, p, b, t); },
               [&](auto& m, Block b, Thread t) { kernels::store_c2r_vector_window<bytes>(m, p, b, t); });
        } else if constexpr (std::is_same_v<Params, kernels::C2rVectorLongRowsParams>) {
          take([&](auto& m, Block b, Thread t) { kernels::list_c2r_vector_segments<bytes>(m, p, b, t); },
               [&](auto& m, Block, Thread t) { kernels::load_c2r_vector_stretch<bytes>(m, p, t); },
               [&](auto& m, Block, Thread t) { kernels::store_c2r_vector_stretch<bytes>(m, p, t); });
        } else if (p.gathers) {
          take([&](auto& m, Block b, Thread t) {
            kernels::move_c2r_huge_row<bytes, true>(m, p.params, b, t);
          });
        } else {
          take([&](auto& m, Block b, Thread t) {
            kernels::move_c2r_huge_row<bytes, false>(m, p.params, b, t);
          });
        }
      },
      launch.params);
}

/// Calls run(std::integral_constant<int, bytes>) for units of so many bytes.
template <typename Run>
void with_unit(std::uint64_t unit_bytes, const Run& run) {
  if (unit_bytes == 1) run(std::integral_constant<int, 1>());
  if (unit_bytes == 2) run(std::integral_constant<int, 2>());
  if (unit_bytes == 4) run(std::integral_constant<int, 4>());
  if (unit_bytes == 8) run(std::integral_constant<int, 8>());
  if (unit_bytes == 16) run(std::integral_constant<int, 16>());
}

/// A block to its end, phase by phase. `Memory` is a PhasesMemory that has the arrays, too.
template <typename Memory>
void run_block(std::uint64_t unit_bytes, const detail::GpuTransposeLaunch& launch, Memory& memory,
               std::uint64_t block) {
  memory.shared.assign(launch.shared_bytes, std::byte{0xee});
  const auto run = [&](const auto& phase) {
    for (std::uint32_t thread = 0; thread < launch.threads; ++thread) phase(memory, block, thread);
  };
  with_unit(unit_bytes, [&](auto unit) {
    with_phases<unit()>(launch, [&](const auto&... phases) { (run(phases), ...); });
  });
}

}  // namespace faro::test
