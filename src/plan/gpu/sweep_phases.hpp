// The phases of a launch of a transposition in place, as its kernel runs them: what the GPU has in
// src/engines/cuda/kernels/transpose_*.cu, for memories on the CPU.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "plan/gpu_transpose.hpp"

namespace faro::detail {

/// Calls take(phase, phase, ...), each of which is phase(memory, block, thread).
template <int bytes, typename Take>
void with_phases(const GpuTransposeLaunch& launch, const Take& take) {
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

}  // namespace faro::detail
