// Planes of single units, long both ways: axes_lines.hpp with sizes that are constants.
//
//     shared memory, 4-byte units          a row is 256 bytes, 16 vectors; every fourth row exchanges its
//     row 0   v0 v1 v2 v3 v4 ...           vectors by one more bit, so that
//     row 4   v1 v0 v3 v2 v5 ...             - a row's vectors are stored without conflict
//     row 8   v2 v3 v0 v1 v6 ...             - 8 lanes that read a column at rows 0, 4, 8, ... meet in
//     row 12  v3 v2 v1 v0 v7 ...               different banks, and so do 4 such groups in 4 columns
//
// A warp writes 128 bytes of each of four lines, whose columns differ in which word of a vector they are in:
// 32 banks, wherever the lines are cut.
#pragma once

#include <cstdint>

#include "kernels/axes_lines.hpp"

namespace faro::kernels {

struct AxesPlaneShape {
  int unit_bytes = 4;
  int row_bytes = 256;   // of a tile: of an input's row, a power of two from 128 on
  int line_bytes = 256;  // of an output's line, likewise
  int threads = 288;

  constexpr int columns() const { return row_bytes / unit_bytes; }
  constexpr int steps() const { return line_bytes / unit_bytes; }
  friend constexpr bool operator==(const AxesPlaneShape&, const AxesPlaneShape&) = default;
};

/// The planes that are compiled, for units of every width, the usual one of each first, narrower ones for
/// shorter rows and lines after it. A tile has up to an eighth more rows than its lines have units, for the
/// halo, and so a block has 9 warps.
inline constexpr AxesPlaneShape kAxesPlaneShapes[] = {
    {.unit_bytes = 1, .row_bytes = 128, .line_bytes = 128, .threads = 288},
    {.unit_bytes = 2, .row_bytes = 128, .line_bytes = 256, .threads = 288},
    {.unit_bytes = 4, .row_bytes = 256, .line_bytes = 256, .threads = 288},
    {.unit_bytes = 4, .row_bytes = 128, .line_bytes = 256, .threads = 288},
    {.unit_bytes = 8, .row_bytes = 256, .line_bytes = 512, .threads = 288},
    {.unit_bytes = 8, .row_bytes = 256, .line_bytes = 256, .threads = 288},
    {.unit_bytes = 16, .row_bytes = 512, .line_bytes = 512, .threads = 288},
    {.unit_bytes = 16, .row_bytes = 256, .line_bytes = 512, .threads = 288},
    {.unit_bytes = 16, .row_bytes = 256, .line_bytes = 256, .threads = 288},
};

/// The vectors of rows: a thread has one of every so many rows.
template <AxesPlaneShape shape>
struct PlaneSlots {
  static constexpr std::uint32_t kSlots = static_cast<std::uint32_t>(shape.row_bytes / kMovedBytes);
  static constexpr std::uint32_t kRows = static_cast<std::uint32_t>(shape.threads) / kSlots;
  static_assert(kRows * kSlots == static_cast<std::uint32_t>(shape.threads));

  static constexpr RowSlot at(std::uint32_t thread, std::uint32_t i) {
    return {.row = thread / kSlots + i * kRows, .byte = thread % kSlots * kMovedBytes};
  }
};

template <AxesPlaneShape shape>
struct PlaneLayout {
  static constexpr auto kRow = static_cast<std::uint32_t>(shape.row_bytes);
  static constexpr auto kUnits = static_cast<std::uint32_t>(kMovedBytes / shape.unit_bytes);

  /// What a row's vectors are exchanged by, in bytes.
  static constexpr std::uint32_t exchange(std::uint32_t group) { return (group & 7) * kMovedBytes; }
  static constexpr std::uint32_t place(std::uint32_t row, std::uint32_t byte) {
    return row * kRow + (byte ^ exchange(row / kUnits));
  }
  template <typename Memory>
  static constexpr void store(Memory& memory, std::uint32_t address, const device::Packet<16>& vector) {
    memory.template store_shared<16>(place(address / kRow, address % kRow), vector);
  }
};

/// Phase 1. `aligned`: rows of the input begin at vectors. Requires: thread < shape.threads.
template <AxesPlaneShape shape, bool aligned, device::Memory Memory>
constexpr void load_axes_plane(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                               std::uint32_t thread) {
  load_lines_rows<shape.unit_bytes, aligned>(memory, p, tile, static_cast<std::uint32_t>(shape.row_bytes),
                                             PlaneSlots<shape>(), PlaneLayout<shape>(), thread);
}

/// Phase 2: a warp writes four lines, 128 bytes at a time.
template <AxesPlaneShape shape, device::Memory Memory>
constexpr void store_axes_plane(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                std::uint32_t thread) {
  using Layout = PlaneLayout<shape>;
  constexpr int unit_bytes = shape.unit_bytes;
  constexpr std::uint32_t units = Layout::kUnits;
  constexpr std::uint32_t lanes = 8;                                   // of a line
  constexpr std::uint32_t quad = 4;                                    // lines of a warp
  constexpr std::uint32_t step = unit_bytes < 4 ? 4 / unit_bytes : 1;  // from column to column of them
  constexpr std::uint32_t part = lanes * kMovedBytes;
  constexpr std::uint32_t quads = static_cast<std::uint32_t>(shape.columns()) / quad;
  constexpr std::uint32_t warps = static_cast<std::uint32_t>(shape.threads) / (lanes * quad);
  const std::uint32_t lane = thread % (lanes * quad);
  FARO_NO_UNROLL
  for (std::uint32_t visit = thread / (lanes * quad); visit < quads; visit += warps) {
    const std::uint32_t line = visit / step * (quad * step) + visit % step + lane / lanes * step;
    const std::uint32_t column = line * unit_bytes;
    FARO_UNROLL
    for (std::uint32_t first = 0; first < static_cast<std::uint32_t>(shape.line_bytes); first += part) {
      const LineVector v = line_vector(p, tile, line, first + lane % lanes * kMovedBytes);
      if (v.whole) {
        const std::uint32_t row = static_cast<std::uint32_t>(v.within + tile.before) / unit_bytes;
        const std::uint32_t before =
            units - row % units;  // of the vector's units: in the first group of rows
        const std::uint32_t base = row * Layout::kRow;
        const std::uint32_t low = base + (column ^ Layout::exchange(row / units));
        const std::uint32_t high = base + (column ^ Layout::exchange(row / units + 1));
        device::Packet<16> vector{};
        FARO_UNROLL
        for (std::uint32_t k = 0; k < units; ++k) {
          const std::uint32_t place = (k < before ? low : high) + k * Layout::kRow;
          device::insert(vector, static_cast<int>(k), memory.template load_shared<unit_bytes>(place));
        }
        memory.template store_global<16>(device::kOutput, v.at, vector);
        idle_times(memory, 2 * units);
        continue;
      }
      idle_times(memory, units + 1);
      store_cut_vector<unit_bytes>(
          memory, tile, v, [&](std::uint32_t byte) { return Layout::place(byte / unit_bytes, column); });
    }
  }
}

}  // namespace faro::kernels
