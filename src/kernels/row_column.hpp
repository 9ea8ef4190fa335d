// The middle pass of rows, columns, rows (faro/schedule/row_column.hpp): every column of a matrix permuted, a
// strip of columns a block, through shared memory. The first pass and the last one are place and pick with a
// row as the chunk (kernels/partition.hpp).
//
//     rows x columns, a strip of 2        shared memory, strip rows       out
//     a b | . .                           c d                             c d | . .
//     c d | . .     --middle-->           a f        --in order-->        a f | . .
//     e f | . .                           e b                             e b | . .
//
// A strip is as wide as shared memory allows, up to a line of 128 bytes; a sector of 32 bytes is what memory
// moves anyway. Lists are those of the schedule: column c's element i goes to row list[c rows + i]. A block
// owns its strip, so the pass may run in place.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/partition.hpp"

namespace faro::kernels {

inline constexpr std::uint32_t kColumnsThreads = 1024;

struct ColumnsParams {
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t strip;   // columns of a block, elements
  std::uint32_t strips;  // of an array
  std::uint32_t units;   // of an element
};

/// The widest strip that shared memory holds, at least a sector wide; 0 where there is none.
constexpr std::uint32_t columns_strip(std::uint32_t rows, std::uint32_t columns, std::uint64_t element_bytes,
                                      std::uint64_t shared_bytes) {
  constexpr std::uint64_t line_bytes = 128;
  std::uint64_t strip = element_bytes >= line_bytes ? 1 : line_bytes / element_bytes;
  const std::uint64_t least = element_bytes >= kSectorBytes ? 1 : kSectorBytes / element_bytes;
  while (strip > least && strip * element_bytes * rows > shared_bytes) strip /= 2;
  if (strip < least) strip = least;
  if (strip > columns) strip = columns;
  return strip * element_bytes * rows <= shared_bytes ? static_cast<std::uint32_t>(strip) : 0;
}

namespace detail {

struct Strip {
  std::uint64_t array;   // first element of it
  std::uint32_t column;  // first
  std::uint32_t width;   // columns
};

constexpr Strip strip_of(const ColumnsParams& p, std::uint64_t block) {
  const std::uint64_t array = block / p.strips;
  const std::uint32_t column = static_cast<std::uint32_t>(block - array * p.strips) * p.strip;
  const std::uint32_t rest = p.columns - column;
  return {array * p.rows * p.columns, column, rest < p.strip ? rest : p.strip};
}

/// All units of the strip. Where `listed`, the shared side goes by the list, else in order; `into_shared`
/// loads.
template <int bytes, bool into_shared, bool listed, device::Memory Memory>
constexpr void move_strip(Memory& memory, const ColumnsParams& p, std::uint64_t block, std::uint32_t thread,
                          std::uint32_t threads) {
  constexpr std::uint32_t batch = 4;
  const Strip strip = strip_of(p, block);
  const std::uint32_t row_units = strip.width * p.units;
  const std::uint32_t all = p.rows * row_units;
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < all; first += batch * threads) {
    device::Packet<bytes> data[batch] = {};
    std::uint64_t global[batch] = {};
    std::uint32_t shared[batch] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < batch; ++k) {
      const std::uint32_t i = first + k * threads + thread;
      if (i >= all) {
        idle_times(memory, (listed ? 1 : 0) + (into_shared ? 1 : 0));
        continue;
      }
      const std::uint32_t row = i / row_units;
      const std::uint32_t in_row = i - row * row_units;
      shared[k] = i;
      if constexpr (listed) {
        const std::uint64_t column = strip.column + in_row / p.units;
        const std::uint32_t other =
            memory.template load_global<2>(kPlaces, 2 * (column * p.rows + row)).unit[0];
        shared[k] = other * row_units + in_row;
      }
      global[k] = (strip.array + std::uint64_t{row} * p.columns + strip.column) * p.units + in_row;
      if constexpr (into_shared) {
        data[k] = memory.template load_global<bytes>(device::kInput, global[k] * bytes);
      }
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < batch; ++k) {
      if (first + k * threads + thread >= all) {
        idle_times(memory, into_shared ? 1 : 2);
      } else if constexpr (into_shared) {
        memory.template store_shared<bytes>(shared[k] * bytes, data[k]);
      } else {
        const auto one = memory.template load_shared<bytes>(shared[k] * bytes);
        memory.template store_global<bytes>(device::kOutput, global[k] * bytes, one);
      }
    }
  }
}

}  // namespace detail

/// First phase. `forwards`: by the list, else in order. Requires: shared memory of rows x strip elements.
template <int bytes, bool forwards, device::Memory Memory>
constexpr void load_columns(Memory& memory, const ColumnsParams& p, std::uint64_t block, std::uint32_t thread,
                            std::uint32_t threads) {
  detail::move_strip<bytes, true, forwards>(memory, p, block, thread, threads);
}

/// Second phase: in order, or backwards by the list.
template <int bytes, bool forwards, device::Memory Memory>
constexpr void store_columns(Memory& memory, const ColumnsParams& p, std::uint64_t block,
                             std::uint32_t thread, std::uint32_t threads) {
  detail::move_strip<bytes, false, !forwards>(memory, p, block, thread, threads);
}

/// Without shared memory, a unit a thread: for strips that do not fit. Input and output differ.
template <int bytes, bool forwards, device::Memory Memory>
constexpr void move_columns_in_global(Memory& memory, const ColumnsParams& p, std::uint64_t block,
                                      std::uint32_t thread, std::uint32_t threads) {
  const std::uint64_t units = std::uint64_t{p.rows} * p.columns * p.units;
  const std::uint64_t blocks = (units + threads - 1) / threads;
  const std::uint64_t array = block / blocks;
  const std::uint64_t unit = (block - array * blocks) * threads + thread;
  if (unit >= units) return;
  const std::uint64_t element = unit / p.units;
  const std::uint64_t row = element / p.columns;
  const std::uint64_t column = element - row * p.columns;
  const std::uint32_t other = memory.template load_global<2>(kPlaces, 2 * (column * p.rows + row)).unit[0];
  const std::uint64_t base = array * units;
  const std::uint64_t here = base + unit;
  const std::uint64_t there = base + (other * std::uint64_t{p.columns} + column) * p.units + unit % p.units;
  const auto data = memory.template load_global<bytes>(device::kInput, (forwards ? here : there) * bytes);
  memory.template store_global<bytes>(device::kOutput, (forwards ? there : here) * bytes, data);
}

}  // namespace faro::kernels
