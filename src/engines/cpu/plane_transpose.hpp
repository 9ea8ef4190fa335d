// Transposing a small matrix that lies in the first-level cache, by registers of 16 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

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

/// Elements of this width are transposed in registers; others, one by one.
constexpr bool transposes_in_registers(std::uint64_t element_bytes) {
  return element_bytes == 1 || element_bytes == 2 || element_bytes == 4 || element_bytes == 8;
}

/// to[c][r] = from[r][c].   Any alignment.
void transpose_plane(std::uint64_t element_bytes, const PlaneIn& from, std::uint64_t rows,
                     std::uint64_t columns, const PlaneOut& to);

}  // namespace faro::cpu
