// Transposing a small matrix that lies in the first-level cache, by registers of 16 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/cpu/transpose_workers.hpp"

namespace faro::cpu {

/// A matrix in memory: its rows are `stride_bytes` apart, its elements side by side.
struct PlaneIn {
  const std::byte* data = nullptr;
  std::uint64_t stride_bytes = 0;
};
struct PlaneOut {
  std::byte* data = nullptr;
  std::uint64_t stride_bytes = 0;
};

using faro::detail::transposes_in_registers;

/// to[c][r] = from[r][c].   Any alignment.
void transpose_plane(std::uint64_t element_bytes, const PlaneIn& from, std::uint64_t rows,
                     std::uint64_t columns, const PlaneOut& to);

}  // namespace faro::cpu
