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

/// A matrix whose rows begin anywhere, and its transpose likewise: rows[r] bytes from `data`.
struct PlaneRows {
  const std::byte* data = nullptr;
  const std::int64_t* rows = nullptr;
  std::uint64_t count = 0;
};
struct PlaneColumns {
  std::byte* data = nullptr;
  const std::int64_t* columns = nullptr;
  std::uint64_t count = 0;
};

using faro::detail::transposes_in_registers;

/// to[c][r] = from[r][c].   Any alignment.
void transpose_plane(std::uint64_t element_bytes, const PlaneIn& from, std::uint64_t rows,
                     std::uint64_t columns, const PlaneOut& to);

/// The same of rows and columns that begin anywhere.
void transpose_runs(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to);

}  // namespace faro::cpu
