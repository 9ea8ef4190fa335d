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
//     after arrays of 15 units    | a . . . | b . . . | c . . . | d . . . | e ...      vector 0, as 4 arrays have 60
//
// So a thread works out the places of one vector's units, by a division an axis, and uses them for every
// vector that is some `period` of them on. Where a period has many arrays, as 8 of an odd number of 2-byte
// units, places are read from a list that the block makes: of one array's units, and a vector's more.
//
// Arrays of a view may lie apart in the input, have fewer elements there, or be read backwards: then a
// block's stretches are of different lengths, and the first unit of an array is not its lowest.
//
// Lanes read units that lie apart as the axes have it, and may meet in banks. Shared memory leaves out a
// sector, of single bytes a vector, after every 2^pad_bits bytes, where counting shows that fewer meet then;
// a period is a multiple of that, so the gaps cost nothing in the loop. A stretch lies there as far past a
// sector as in the input, so that the second-level cache is asked for each sector once
// (docs/notes/axes-experiments.md).
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
inline constexpr std::uint32_t kWholeSector = 32;
inline constexpr std::uint32_t kWholeEntryBytes = 2;                            // of the list of places
inline constexpr std::uint32_t kWholeEntries = kMovedBytes / kWholeEntryBytes;  // of a vector of it

/// Bytes that shared memory leaves out: single bytes take more instructions, and fewer meet by the vector.
constexpr std::uint32_t whole_pad(int unit_bytes) { return unit_bytes == 1 ? kMovedBytes : kWholeSector; }
/// Vectors of the list that a vector of so many units may need.
constexpr int whole_list_vectors(int units) { return units > 8 ? 3 : 2; }

struct AxesWholeParams {
  struct Axis {
    device::Division32 extent;
    std::uint32_t step;  // bytes of the input, modulo 2^32
  };
  ArrayBytes in;  // all arrays
  ArrayBytes out;
  std::uint64_t tiles;       // blocks
  std::uint64_t first_tile;  // of this launch
  std::uint32_t tile_bytes;  // of a block's arrays, in the output
  std::uint32_t in_tile_bytes;
  std::uint32_t array_bytes;     // in the output
  std::uint32_t in_array_bytes;  // from one to the next in the input
  std::uint32_t used_bytes;      // of these: what is after them lies between arrays
  std::uint32_t first;           // of an array in the input, where the output's first unit is
  std::uint32_t period;          // vectors of output after which places repeat
  std::uint32_t period_step;     // bytes of shared memory
  std::uint32_t pad_bits;
  device::Division32 array_span;  // in_array_bytes
  std::uint32_t vector_bytes;     // 16, not compiled in: ptxas 13.0 misplaces shared addresses that are sums
  device::Division32 array_units;
  std::uint32_t list_vectors;  // of the list of places; 0: places repeat
  std::uint32_t list;  // in shared memory, behind the stretch, which may begin and end within a sector
  std::int32_t axes;
  Axis axis[kMostAxes];  // of an array, the output's fastest first

  /// Where byte `at` of a stretch is in shared memory. `pad`: whole_pad() of the unit.
  constexpr std::uint32_t place(std::uint32_t at, std::uint32_t pad) const { return at + gaps(at) * pad; }
  constexpr std::uint32_t gaps(std::uint32_t at) const { return at >> pad_bits; }
  /// Whether the vector at byte `at` of a stretch is nothing but what lies between two arrays.
  constexpr bool is_between(std::int32_t at) const {
    if (used_bytes + kMovedBytes > in_array_bytes || at < 0) return false;
    auto past = static_cast<std::uint32_t>(at);
    array_span.divide(past);
    return past >= used_bytes && past + kMovedBytes <= in_array_bytes;
  }
  constexpr std::uint64_t shared_bytes() const { return list + list_vectors * kMovedBytes; }
};
static_assert(sizeof(AxesWholeParams) <= 4096, "kernel parameters are at most 4 KiB");

/// The stretches of a block.
struct WholeTile {
  std::uint64_t in = 0;  // its first byte
  std::uint64_t out = 0;
  std::uint32_t in_bytes = 0;
  std::uint32_t bytes = 0;

  constexpr WholeTile(const AxesWholeParams& p, std::uint64_t block) {
    const std::uint64_t tile = p.first_tile + block;
    in = p.in.begin + tile * p.in_tile_bytes;
    out = p.out.begin + tile * p.tile_bytes;
    in_bytes = least(p.in.end - in, p.in_tile_bytes);
    bytes = least(p.out.end - out, p.tile_bytes);
  }
  static constexpr std::uint32_t least(std::uint64_t left, std::uint32_t whole) {
    return left < whole ? static_cast<std::uint32_t>(left) : whole;
  }
  constexpr std::uint32_t in_skew() const { return static_cast<std::uint32_t>(in % kWholeSector); }
  constexpr std::uint32_t out_skew() const { return static_cast<std::uint32_t>(out % kMovedBytes); }
};

/// Where numbers that axes from `axis` on make up are in the stretch, in bytes: units of the output, where it
/// is 0. The last quotient is an array's number.
template <int count>
constexpr void find_sources(const AxesWholeParams& p, std::int32_t axis, std::uint32_t (&number)[count],
                            std::uint32_t (&at)[count]) {
  FARO_UNROLL
  for (int k = 0; k < count; ++k) at[k] = p.first;
  FARO_NO_UNROLL
  for (std::int32_t a = axis; a < p.axes; ++a) {
    const AxesWholeParams::Axis of = p.axis[a];
    FARO_UNROLL
    for (int k = 0; k < count; ++k) {
      std::uint32_t digit = number[k];
      number[k] = of.extent.divide(digit);
      at[k] += digit * of.step;
    }
  }
  FARO_UNROLL
  for (int k = 0; k < count; ++k) at[k] += number[k] * p.in_array_bytes;
}

/// Where `units` neighbouring units of the output, from number `first` of the stretch on, are in it.
template <int units>
struct WholeSources {
  std::uint32_t at[units] = {};

  constexpr WholeSources(const AxesWholeParams& p, std::uint32_t first) {
    if (units > 2 && p.axis[0].extent.divisor() >= units) {
      // The fastest axis ends once among them at most.
      std::uint32_t digit = first;
      const std::uint32_t row = p.axis[0].extent.divide(digit);
      const std::uint32_t step = p.axis[0].step;
      const std::uint32_t left = p.axis[0].extent.divisor() - digit;
      std::uint32_t rows[2] = {row, row + 1};
      std::uint32_t begin[2];
      find_sources(p, 1, rows, begin);
      const std::uint32_t own = begin[0] + digit * step;
      const std::uint32_t next = begin[1] - left * step;
      FARO_UNROLL
      for (std::uint32_t k = 0; k < units; ++k) at[k] = (k < left ? own : next) + k * step;
      return;
    }
    std::uint32_t number[units];
    FARO_UNROLL
    for (int k = 0; k < units; ++k) number[k] = first + static_cast<std::uint32_t>(k);
    find_sources(p, 0, number, at);
  }
};

/// And in shared memory.
template <int units, int unit_bytes>
struct WholePlaces : WholeSources<units> {
  constexpr WholePlaces(const AxesWholeParams& p, std::uint32_t first, std::uint32_t in_skew)
      : WholeSources<units>(p, first) {
    FARO_UNROLL
    for (int k = 0; k < units; ++k) this->at[k] = p.place(this->at[k] + in_skew, whole_pad(unit_bytes));
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

/// The list of places, in units.
template <int unit_bytes, device::Memory Memory>
constexpr void list_whole_places(Memory& memory, const AxesWholeParams& p, std::uint32_t thread) {
  FARO_NO_UNROLL
  for (std::uint32_t j = thread; j < p.list_vectors * kWholeEntries; j += kWholeThreads) {
    const std::uint32_t at = WholeSources<1>(p, j).at[0];
    memory.template store_shared<kWholeEntryBytes>(p.list + j * kWholeEntryBytes,
                                                   {static_cast<std::uint16_t>(at / unit_bytes)});
  }
}

/// Phase 1: the stretch to shared memory, as far past a sector as in the input. Requires: block < tiles -
/// first_tile, thread < kWholeThreads.
template <int unit_bytes, device::Memory Memory>
constexpr void load_axes_whole(Memory& memory, const AxesWholeParams& p, std::uint64_t block,
                               std::uint32_t thread) {
  constexpr bool copies = box_copies<Memory>;
  const WholeTile tile(p, block);
  const std::uint64_t first = tile.in - tile.in_skew();
  const std::uint32_t vectors = (tile.in_skew() + tile.in_bytes + (kMovedBytes - 1)) / kMovedBytes;
  FARO_NO_UNROLL
  for (std::uint32_t v = thread + tile.in_skew() / kMovedBytes; v < vectors; v += kWholeThreads) {
    const std::uint64_t at = first + std::uint64_t{v} * kMovedBytes;
    const std::uint32_t place =
        (v + p.gaps(v * kMovedBytes) * (whole_pad(unit_bytes) / kMovedBytes)) * p.vector_bytes;
    if constexpr (unit_bytes > 1) {  // bytes are bound by their instructions
      if (p.is_between(static_cast<std::int32_t>(v * kMovedBytes - tile.in_skew()))) {
        idle_times(memory, unit_bytes < kMovedBytes ? 2 + 2 * kMovedBytes / unit_bytes : 2);
        continue;
      }
    }
    // Neighbours' units come along; only what is outside of all arrays is left out.
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
  device::converge(memory);
  list_whole_places<unit_bytes>(memory, p, thread);
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
      const WholePlaces<1, unit_bytes> places(p, static_cast<std::uint32_t>(at) / unit_bytes, tile.in_skew());
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

/// Vectors of output, by the list of places.
template <int unit_bytes, device::Memory Memory>
constexpr void store_whole_by_list(Memory& memory, const AxesWholeParams& p, const WholeTile& tile,
                                   std::uint32_t thread) {
  constexpr int units = kMovedBytes / unit_bytes;
  constexpr int vectors_listed = whole_list_vectors(units);
  const std::uint32_t vectors = (tile.out_skew() + tile.bytes + (kMovedBytes - 1)) / kMovedBytes;
  FARO_NO_UNROLL
  for (std::uint32_t v = thread; v < vectors; v += kWholeThreads) {
    const auto at = static_cast<std::int32_t>(v * kMovedBytes - tile.out_skew());
    if (at < 0 || at + kMovedBytes > static_cast<std::int32_t>(tile.bytes)) {
      idle_times(memory, vectors_listed);
      store_whole_end<unit_bytes>(memory, p, tile, at);
      continue;
    }
    std::uint32_t unit = static_cast<std::uint32_t>(at) / unit_bytes;  // of its array
    const std::uint32_t before = p.array_units.divide(unit) * p.in_array_bytes + tile.in_skew();
    device::Packet<kMovedBytes> listed[vectors_listed];
    FARO_UNROLL
    for (int i = 0; i < vectors_listed; ++i) {
      const std::uint32_t number = unit / kWholeEntries + static_cast<std::uint32_t>(i);
      listed[i] = memory.template load_shared<kMovedBytes>(p.list + number * kMovedBytes);
    }
    const std::uint32_t past = unit % kWholeEntries * kWholeEntryBytes;
    FARO_UNROLL
    for (int i = 0; i + 1 < vectors_listed; ++i) {
      listed[i] = join<static_cast<int>(kWholeEntryBytes)>(listed[i], listed[i + 1], past);
    }
    device::Packet<kMovedBytes> moved{};
    FARO_UNROLL
    for (int k = 0; k < units; ++k) {
      const std::uint32_t pair = listed[k / 8].unit[k % 8 / 2];
      const std::uint32_t entry = k % 2 == 0 ? pair & 0xffff : pair >> 16;
      device::insert(moved, k,
                     memory.template load_shared<unit_bytes>(
                         p.place(before + entry * unit_bytes, whole_pad(unit_bytes))));
    }
    memory.template store_global<kMovedBytes>(device::kOutput, tile.out + static_cast<std::uint32_t>(at),
                                              moved);
    idle_times(memory, store_part_steps(unit_bytes));
  }
}

/// Phase 2: vectors of output, put together from shared memory.
template <int unit_bytes, device::Memory Memory>
constexpr void store_axes_whole(Memory& memory, const AxesWholeParams& p, std::uint64_t block,
                                std::uint32_t thread) {
  constexpr int units = kMovedBytes / unit_bytes;
  const WholeTile tile(p, block);
  if constexpr (unit_bytes < kMovedBytes) {
    if (p.list_vectors > 0) return store_whole_by_list<unit_bytes>(memory, p, tile, thread);
  }
  const std::uint32_t vectors = (tile.out_skew() + tile.bytes + (kMovedBytes - 1)) / kMovedBytes;
  const std::uint32_t slots = vectors < p.period ? vectors : p.period;
  FARO_NO_UNROLL
  for (std::uint32_t slot = thread; slot < slots; slot += kWholeThreads) {
    // The first vector may begin before the stretch: its places are those of one period later.
    auto at = static_cast<std::int32_t>(slot * kMovedBytes - tile.out_skew());
    const bool before = at < 0;
    const std::uint32_t first = static_cast<std::uint32_t>(at) + (before ? p.period * kMovedBytes : 0);
    WholePlaces<units, unit_bytes> places(p, first / unit_bytes, tile.in_skew());
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
