// The phases of a launch of a transposition in place, for memories on the CPU, and which mover it takes, for
// the GPU too.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "plan/gpu_transpose.hpp"

namespace faro::detail {

/// Calls run(std::integral_constant<int, bytes>) for units of so many bytes.
template <typename Run>
void with_unit(std::uint64_t unit_bytes, const Run& run) {
  if (unit_bytes == 1) run(std::integral_constant<int, 1>());
  if (unit_bytes == 2) run(std::integral_constant<int, 2>());
  if (unit_bytes == 4) run(std::integral_constant<int, 4>());
  if (unit_bytes == 8) run(std::integral_constant<int, 8>());
  if (unit_bytes == 16) run(std::integral_constant<int, 16>());
}

/// Calls run(Mover()) for a launch with units of `bytes` bytes.
template <int bytes, typename Run>
void with_mover(const GpuTransposeLaunch& launch, const Run& run) {
  if constexpr (bytes < kernels::kC2rVectorBytes) {
    if (launch.in_vectors()) return run(kernels::InVectors<bytes>());
  }
  run(kernels::InUnits<bytes>());
}

/// Calls take(phase, phase, ...), each of which is phase(memory, block, thread).
template <int bytes, typename Take>
void with_phases(const GpuTransposeLaunch& launch, const Take& take) {
  with_mover<bytes>(launch, [&]<typename Mover>(Mover /*m*/) {
    std::visit(
        [&]<typename Params>(const Params& p) {
          if constexpr (!std::is_same_v<Params, GpuHugeStep>) {
            kernels::with_phases<Mover>(p, take);
          } else if (p.gathers) {
            take([&](auto& m, std::uint64_t b, std::uint32_t t) {
              kernels::move_c2r_huge_row<bytes, true>(m, p.params, b, t);
            });
          } else {
            take([&](auto& m, std::uint64_t b, std::uint32_t t) {
              kernels::move_c2r_huge_row<bytes, false>(m, p.params, b, t);
            });
          }
        },
        launch.params);
  });
}

}  // namespace faro::detail
