// Small arrays of a batch, each permuted by itself: a block moves whole ones, several at a time.
//
//     axes(1000 5 3; 0 2 1)      1000 arrays of 15 units, which lie at the same places in input and output
//
//     input     a0 a1 a2 ... a14 | b0 b1 ... b14 | ...         15 and 15 units, one stretch
//     output    a0 a3 a6 a9 a12 a1 ... a14 | b0 b3 ...         the same stretch
//
// Rows and columns are no whole vectors, but the stretch of a block's arrays is: it goes to shared memory as
// it lies, by vectors that begin where the input's do, and is written by vectors that begin where the
// output's do. Units change places on the way out. Where a vector of output reads its units repeats:
//
//     vectors of 4 units    | 0  | 1  | 2  | 3  ...  | 14 | 15 | 16 | 17 ...     vector 15 reads 60 units
//     after arrays of 15 units    | a . . . | b . . . | c . . . | d . . . | e ...      vector 0, as 4 arrays
//     have 60
//
// So a thread works out the places of one vector's units, by a division an axis, and uses them for every
// vector that is some `period` of them on. Only arrays too large for that are worked out vector by vector.
//
// Lanes read units that lie apart as the axes have it, and may meet in banks. Shared memory leaves out 16
// bytes after every 2^pad_bits, where counting shows that fewer meet then; a period is a multiple of that, so
// the gaps cost nothing in the loop.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/axes_box.hpp"
#include "kernels/axes_rows.hpp"
#include "kernels/moved_vector.hpp"
#include "kernels/stored_part.hpp"

namespace faro::kernels {

inline constexpr int kWholeThreads = 256;
inline constexpr std::uint32_t kWholeUnpadded = 31;  // pad_bits of no gaps at all

struct AxesWholeParams {
  struct Axis {
    device::Division32 extent;
    std::uint32_t step;  // bytes of the input
  };
  ArrayBytes in;  // all arrays
  ArrayBytes out;
  std::uint64_t tiles;       // blocks
  std::uint64_t first_tile;  // of this launch
  std::uint32_t tile_bytes;  // of a block's arrays
  std::uint32_t array_bytes;
  std::uint32_t period;       // vectors of output after which places repeat
  std::uint32_t period_step;  // bytes of shared memory
  std::uint32_t pad_bits;
  std::uint32_t vector_bytes;  // 16, not compiled in: ptxas 13.0 misplaces shared addresses that are sums
  std::int32_t axes;
  Axis axis[kMostAxes];  // of an array, the output's fastest first

  /// Where byte `at` of a stretch is in shared memory.
  constexpr std::uint32_t place(std::uint32_t at) const { return at + gaps(at) * kMovedBytes; }
  constexpr std::uint32_t gaps(std::uint32_t at) const { return at >> pad_bits; }
  /// A stretch may begin and end within a vector.
  constexpr std::uint64_t shared_bytes() const { return place(tile_bytes + 2 * kMovedBytes); }
};
static_assert(sizeof(AxesWholeParams) <= 4096, "kernel parameters are at most 4 KiB");

/// The stretch of a block.
struct WholeTile {
  std::uint64_t in = 0;  // its first byte
  std::uint64_t out = 0;
  std::uint32_t bytes = 0;

  constexpr WholeTile(const AxesWholeParams& p, std::uint64_t block) {
    const std::uint64_t first = (p.first_tile + block) * p.tile_bytes;
    const std::uint64_t left = p.in.end - p.in.begin - first;
    in = p.in.begin + first;
    out = p.out.begin + first;
    bytes = left < p.tile_bytes ? static_cast<std::uint32_t>(left) : p.tile_bytes;
  }
  constexpr std::uint32_t in_skew() const { return static_cast<std::uint32_t>(in % kMovedBytes); }
  constexpr std::uint32_t out_skew() const { return static_cast<std::uint32_t>(out % kMovedBytes); }
};

/// Where `units` neighbouring units of the output, from byte `first` of the stretch on, are in shared memory.
template <int unit_bytes, int units>
struct WholePlaces {
  std::uint32_t at[units] = {};

  constexpr WholePlaces(const AxesWholeParams& p, std::uint32_t first, std::uint32_t in_skew) {
    std::uint32_t rest[units];
    FARO_UNROLL
    for (int k = 0; k < units; ++k) {
      rest[k] = first / unit_bytes + static_cast<std::uint32_t>(k);
      at[k] = in_skew;
    }
    FARO_NO_UNROLL
    for (std::int32_t a = 0; a < p.axes; ++a) {
      const AxesWholeParams::Axis axis = p.axis[a];
      FARO_UNROLL
      for (int k = 0; k < units; ++k) {
        std::uint32_t digit = rest[k];
        rest[k] = axis.extent.divide(digit);
        at[k] += digit * axis.step;
      }
    }
    FARO_UNROLL
    for (int k = 0; k < units; ++k) at[k] = p.place(at[k] + rest[k] * p.array_bytes);
  }
};

/// A vector of the input that is the arrays' in part.
template <int unit_bytes, device::Memory Memory>
constexpr void copy_whole_end(Memory& memory, const AxesWholeParams& p, std::uint64_t at,
                              std::uint32_t place) {
  FARO_NO_UNROLL
  for (std::uint32_t k = 0; k < kMovedBytes; k += unit_bytes) {
    if (at + k < p.in.begin || at + k >= p.in.end) {
      idle_times(memory, 2);
      continue;
    }
    memory.template store_shared<unit_bytes>(place + k,
                                             memory.template load_global<unit_bytes>(device::kInput, at + k));
  }
}

/// Phase 1: the stretch to shared memory, as far past a vector as in the input. Requires: block < tiles -
/// first_tile, thread < kWholeThreads.
template <int unit_bytes, device::Memory Memory>
constexpr void load_axes_whole(Memory& memory, const AxesWholeParams& p, std::uint64_t block,
                               std::uint32_t thread) {
  constexpr bool copies = box_copies<Memory>;
  const WholeTile tile(p, block);
  const std::uint64_t first = tile.in - tile.in_skew();
  const std::uint32_t vectors = (tile.in_skew() + tile.bytes + (kMovedBytes - 1)) / kMovedBytes;
  FARO_NO_UNROLL
  for (std::uint32_t v = thread; v < vectors; v += kWholeThreads) {
    const std::uint64_t at = first + std::uint64_t{v} * kMovedBytes;
    const std::uint32_t place = (v + p.gaps(v * kMovedBytes)) * p.vector_bytes;
    // Neighbours' units come along; only what is no array's is left out.
    const bool whole = at >= p.in.begin && at + kMovedBytes <= p.in.end;
    if (whole) {
      if constexpr (copies) {
        memory.template copy_to_shared<kMovedBytes>(input_cursor(memory, at), place);
      } else {
        memory.template store_shared<kMovedBytes>(
            place, memory.template load_global<kMovedBytes>(device::kInput, at));
      }
    } else {
      idle_times(memory, 2);
    }
    if constexpr (unit_bytes < kMovedBytes) {
      if (whole) {
        idle_times(memory, 2 * kMovedBytes / unit_bytes);
      } else {
        copy_whole_end<unit_bytes>(memory, p, at, place);
      }
    }
  }
}

/// A vector of output that is the block's in part: bytes low .. high - 1 of that at `first` of the stretch.
template <int unit_bytes, device::Memory Memory>
constexpr void store_whole_end(Memory& memory, const AxesWholeParams& p, const WholeTile& tile,
                               std::int32_t first) {
  const auto bytes = static_cast<std::int32_t>(tile.bytes);
  device::Packet<kMovedBytes> moved{};
  UnitQueue queue;
  FARO_NO_UNROLL
  for (std::int32_t at = first; at < first + kMovedBytes; at += unit_bytes) {
    device::Packet<unit_bytes> unit{};
    if (at >= 0 && at < bytes) {
      const WholePlaces<unit_bytes, 1> places(p, static_cast<std::uint32_t>(at), tile.in_skew());
      unit = memory.template load_shared<unit_bytes>(places.at[0]);
    } else {
      device::idle(memory);
    }
    queue.template push<unit_bytes>(unit);
  }
  moved = queue.vector();
  const std::int32_t low = first < 0 ? -first : 0;
  const std::int32_t high = bytes - first < kMovedBytes ? bytes - first : kMovedBytes;
  const std::uint64_t to = tile.out + static_cast<std::uint64_t>(std::int64_t{first});
  device::idle(memory);  // the others' store
  store_part<unit_bytes>(memory, to, moved, static_cast<std::uint32_t>(low),
                         static_cast<std::uint32_t>(high));
}

/// Phase 2: vectors of output, put together from shared memory.
template <int unit_bytes, device::Memory Memory>
constexpr void store_axes_whole(Memory& memory, const AxesWholeParams& p, std::uint64_t block,
                                std::uint32_t thread) {
  constexpr int units = kMovedBytes / unit_bytes;
  const WholeTile tile(p, block);
  const std::uint32_t vectors = (tile.out_skew() + tile.bytes + (kMovedBytes - 1)) / kMovedBytes;
  const std::uint32_t slots = vectors < p.period ? vectors : p.period;
  FARO_NO_UNROLL
  for (std::uint32_t slot = thread; slot < slots; slot += kWholeThreads) {
    // The first vector may begin before the stretch: its places are those of one period later.
    auto at = static_cast<std::int32_t>(slot * kMovedBytes - tile.out_skew());
    const bool before = at < 0;
    const std::uint32_t first = static_cast<std::uint32_t>(at) + (before ? p.period * kMovedBytes : 0);
    WholePlaces<unit_bytes, units> places(p, first, tile.in_skew());
    std::uint32_t moved_on = before ? 0 - p.period_step : 0;
    FARO_NO_UNROLL
    for (std::uint32_t v = slot; v < vectors; v += p.period) {
      const bool whole = at >= 0 && at + kMovedBytes <= static_cast<std::int32_t>(tile.bytes);
      if (whole) {
        device::Packet<kMovedBytes> moved{};
        FARO_UNROLL
        for (int k = 0; k < units; ++k) {
          device::insert(moved, k, memory.template load_shared<unit_bytes>(places.at[k] + moved_on));
        }
        memory.template store_global<kMovedBytes>(
            device::kOutput, tile.out + static_cast<std::uint64_t>(std::int64_t{at}), moved);
        if constexpr (unit_bytes < kMovedBytes) idle_times(memory, store_part_steps(unit_bytes));
      } else if constexpr (unit_bytes < kMovedBytes) {
        store_whole_end<unit_bytes>(memory, p, tile, at);
      }
      at += static_cast<std::int32_t>(p.period * kMovedBytes);
      moved_on += p.period_step;
    }
    device::converge(memory);
  }
}

}  // namespace faro::kernels
