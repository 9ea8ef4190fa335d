// The phases of a launch of a transposition in place, for memories on the CPU, and which mover it takes, for
// the GPU too.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "plan/gpu_transpose.hpp"
#include "unit_bytes.hpp"

namespace faro::detail {

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
