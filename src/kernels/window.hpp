// Small displacements: everything moves less than a window, so a tile of output and its margins hold all that
// it needs.
//
//     forwards     out[i] = in[i + shift[i] - window]        window 2, tile of 4
//
//         input         . . m m | t t t t | m m . .          phase 1   tile and margins to shared memory
//         output            . . | t t t t | . .              phase 2   each element from where shift says
//
//     backwards    out[i + shift[i] - window] = in[i]
//
//         input         . . m m | t t t t | m m . .          phase 1   what leads into the tile, to its place
//         output            . . | t t t t | . .              phase 2   the tile, in order
//
// Margins are read twice, by neighbours at about the same time. A tile's size follows from that: margins of a
// quarter where shared memory allows (window_params.hpp). In phase 1 forwards the bytes keep their place
// within a vector of 16, so that they come as vectors whatever the alignment; threads with several elements
// of one unit store vectors of output, all others units.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

inline constexpr int kWindowThreads = 256;
inline constexpr int kShifts = 2;  // the buffer of shifts, std::uint16_t

struct WindowParams {
  ArrayBytes in;               // of all arrays
  std::uint64_t out_skew;      // where the output begins past an address that is aligned to 16
  std::uint64_t count;         // elements of an array
  device::Division64 tiles;    // of an array
  device::Division32 element;  // units
  std::uint32_t tile;          // elements, a multiple of 16
  std::uint32_t window;
  std::uint64_t first_block;
  std::uint64_t blocks;  // of all launches
  std::uint32_t shared_bytes;
};

/// A block's part of an array.
struct WindowTile {
  std::uint64_t array;  // elements before the array
  std::uint64_t begin;  // within the array
  std::uint64_t end;
  std::uint64_t low;  // with margins
  std::uint64_t high;
};

constexpr WindowTile window_tile(const WindowParams& p, std::uint64_t block) {
  std::uint64_t tile = p.first_block + block;
  const std::uint64_t array = p.tiles.divide(tile) * p.count;
  const std::uint64_t begin = tile * p.tile;
  const std::uint64_t end = p.count - begin < p.tile ? p.count : begin + p.tile;
  return {.array = array,
          .begin = begin,
          .end = end,
          .low = begin < p.window ? 0 : begin - p.window,
          .high = p.count - end < p.window ? p.count : end + p.window};
}

/// Loads that a thread has under way at a time: large tiles leave few threads a multiprocessor.
inline constexpr std::uint32_t kWindowUnroll = 4;

/// Phase 1 forwards: bytes of tile and margins, at their distance from the vector that holds the first.
template <int unit_bytes, device::Memory Memory>
constexpr void load_window(Memory& memory, const WindowParams& p, std::uint64_t block, std::uint32_t thread) {
  constexpr std::uint64_t stride = std::uint64_t{kWindowThreads} * kMovedBytes;
  constexpr std::uint32_t units = kMovedBytes / unit_bytes;
  const WindowTile t = window_tile(p, block);
  const std::uint64_t width = std::uint64_t{p.element.divisor()} * unit_bytes;
  const std::uint64_t begin = p.in.begin + (t.array + t.low) * width;
  const std::uint64_t end = p.in.begin + (t.array + t.high) * width;
  const std::uint64_t origin = begin - begin % kMovedBytes;
  const std::uint64_t last = (end - 1) - (end - 1) % kMovedBytes;
  const auto is_whole = [&](std::uint64_t at) { return at >= begin && at + kMovedBytes <= end; };
  // The vectors at both ends, where others' bytes share them.
  if (thread < 2 * units) {
    const std::uint64_t vector = thread < units ? origin : last;
    const std::uint64_t at = vector + std::uint64_t{thread % units} * unit_bytes;
    const bool twice = thread >= units && last == origin;
    if (!is_whole(vector) && !twice && at >= begin && at < end) {
      memory.template store_shared<unit_bytes>(static_cast<std::uint32_t>(at - origin),
                                               memory.template load_global<unit_bytes>(device::kInput, at));
    } else {
      idle_times(memory, 2);
    }
  } else {
    idle_times(memory, 2);
  }
  FARO_NO_UNROLL
  for (std::uint64_t first = origin + std::uint64_t{thread} * kMovedBytes; first < end;
       first += kWindowUnroll * stride) {
    device::Packet<16> vector[kWindowUnroll];
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kWindowUnroll; ++i) {
      if (is_whole(first + i * stride)) {
        vector[i] = memory.template load_global<16>(device::kInput, first + i * stride);
      } else {
        device::idle(memory);
      }
    }
    FARO_UNROLL
    for (std::uint32_t i = 0; i < kWindowUnroll; ++i) {
      if (is_whole(first + i * stride)) {
        memory.template store_shared<16>(static_cast<std::uint32_t>(first + i * stride - origin), vector[i]);
      } else {
        device::idle(memory);
      }
    }
  }
}

/// Phase 2 forwards, a unit at a time.
template <int unit_bytes, device::Memory Memory>
constexpr void store_window(Memory& memory, const WindowParams& p, std::uint64_t block,
                            std::uint32_t thread) {
  const WindowTile t = window_tile(p, block);
  const std::uint32_t element = p.element.divisor();
  const auto skew =
      static_cast<std::uint32_t>((p.in.begin + (t.array + t.low) * element * unit_bytes) % kMovedBytes);
  const auto units = static_cast<std::uint32_t>(t.end - t.begin) * element;
  const auto before = static_cast<std::uint32_t>(t.begin - t.low);
  const std::uint64_t out = p.out_skew + (t.array + t.begin) * element * unit_bytes;
  FARO_NO_UNROLL
  for (std::uint32_t unit = thread; unit < units; unit += kWindowThreads) {
    std::uint32_t within = unit;
    const std::uint32_t i = p.element.divide(within);
    const std::uint32_t shift = memory.template load_global<2>(kShifts, (t.begin + i) * 2).unit[0];
    const std::uint32_t from = (before + i + shift - p.window) * element + within;
    memory.template store_global<unit_bytes>(
        device::kOutput, out + std::uint64_t{unit} * unit_bytes,
        memory.template load_shared<unit_bytes>(skew + from * unit_bytes));
  }
}

/// The shifts of the 16 / unit_bytes elements from `i` on. Requires: i a multiple of their number.
template <int elements, device::Memory Memory>
constexpr void load_shifts(Memory& memory, std::uint64_t i, std::uint32_t (&shift)[elements]) {
  constexpr int packets = elements > 8 ? 2 : 1;
  constexpr int per_packet = elements / packets;
  FARO_UNROLL
  for (int p = 0; p < packets; ++p) {
    const auto packet =
        memory.template load_global<2 * per_packet>(kShifts, (i + static_cast<unsigned>(p * per_packet)) * 2);
    FARO_UNROLL
    for (int k = 0; k < per_packet; ++k) shift[p * per_packet + k] = unit_of<2>(packet, k).unit[0];
  }
}

/// Phase 2 forwards, vectors of elements. Requires: elements of one unit, arrays of whole vectors, an output
/// aligned to 16.
template <int unit_bytes, device::Memory Memory>
constexpr void store_window_vectors(Memory& memory, const WindowParams& p, std::uint64_t block,
                                    std::uint32_t thread) {
  constexpr int elements = kMovedBytes / unit_bytes;
  const WindowTile t = window_tile(p, block);
  const auto skew = static_cast<std::uint32_t>((p.in.begin + (t.array + t.low) * unit_bytes) % kMovedBytes);
  const auto size = static_cast<std::uint32_t>(t.end - t.begin);
  const auto before = static_cast<std::uint32_t>(t.begin - t.low);
  constexpr std::uint32_t stride = kWindowThreads * elements;
  constexpr std::uint32_t unroll = elements > 4 ? 1 : 2;
  FARO_NO_UNROLL
  for (std::uint32_t first = thread * elements; first < size; first += unroll * stride) {
    std::uint32_t shift[unroll][elements];
    FARO_UNROLL
    for (std::uint32_t u = 0; u < unroll; ++u) {
      if (first + u * stride < size) {
        const std::uint32_t i = first + u * stride;
        load_shifts<elements>(memory, t.begin + i, shift[u]);
      } else {
        idle_times(memory, elements > 8 ? 2 : 1);
      }
    }
    FARO_UNROLL
    for (std::uint32_t u = 0; u < unroll; ++u) {
      const std::uint32_t i = first + u * stride;
      if (i >= size) continue;
      device::Packet<16> vector{};
      FARO_UNROLL
      for (int k = 0; k < elements; ++k) {
        const std::uint32_t from = before + i + static_cast<std::uint32_t>(k) + shift[u][k] - p.window;
        device::insert(vector, k, memory.template load_shared<unit_bytes>(skew + from * unit_bytes));
      }
      memory.template store_global<16>(device::kOutput, p.out_skew + (t.array + t.begin + i) * unit_bytes,
                                       vector);
    }
  }
}

/// Phase 1 backwards: elements of tile and margins that lead into the tile, a unit at a time.
template <int unit_bytes, device::Memory Memory>
constexpr void place_window(Memory& memory, const WindowParams& p, std::uint64_t block,
                            std::uint32_t thread) {
  const WindowTile t = window_tile(p, block);
  const std::uint32_t element = p.element.divisor();
  const auto units = static_cast<std::uint32_t>(t.high - t.low) * element;
  const auto before = static_cast<std::uint32_t>(t.begin - t.low);
  const auto size = static_cast<std::uint32_t>(t.end - t.begin);
  FARO_NO_UNROLL
  for (std::uint32_t first = thread; first < units; first += kWindowUnroll * kWindowThreads) {
    std::uint32_t shift[kWindowUnroll];
    device::Packet<unit_bytes> moved[kWindowUnroll];
    FARO_UNROLL
    for (std::uint32_t u = 0; u < kWindowUnroll; ++u) {
      const std::uint32_t unit = first + u * kWindowThreads;
      if (unit >= units) {
        idle_times(memory, 2);
        continue;
      }
      const std::uint32_t i = p.element.quotient(unit);
      shift[u] = memory.template load_global<2>(kShifts, (t.low + i) * 2).unit[0];
      const std::uint64_t at = p.in.begin + ((t.array + t.low) * element + unit) * unit_bytes;
      moved[u] = memory.template load_global<unit_bytes>(device::kInput, at);
    }
    FARO_UNROLL
    for (std::uint32_t u = 0; u < kWindowUnroll; ++u) {
      std::uint32_t within = first + u * kWindowThreads;
      const bool is_unit = within < units;
      const std::uint32_t i = p.element.divide(within);
      // Wraps where it is before the tile.
      const std::uint32_t to = is_unit ? i + shift[u] - p.window - before : size;
      if (to < size) {
        memory.template store_shared<unit_bytes>((to * element + within) * unit_bytes, moved[u]);
      } else {
        device::idle(memory);
      }
    }
  }
}

/// Phase 2 backwards. `vectors`: requirements as for store_window_vectors.
template <int unit_bytes, bool vectors, device::Memory Memory>
constexpr void store_placed(Memory& memory, const WindowParams& p, std::uint64_t block,
                            std::uint32_t thread) {
  constexpr int bytes = vectors ? kMovedBytes : unit_bytes;
  const WindowTile t = window_tile(p, block);
  const std::uint32_t width = p.element.divisor() * unit_bytes;
  const auto size = static_cast<std::uint32_t>(t.end - t.begin) * width;
  const std::uint64_t out = p.out_skew + (t.array + t.begin) * width;
  FARO_NO_UNROLL
  for (std::uint32_t at = thread * bytes; at < size; at += kWindowThreads * bytes) {
    memory.template store_global<bytes>(device::kOutput, out + at, memory.template load_shared<bytes>(at));
  }
}

/// The whole kernel without shared memory, for windows that do not fit it: neighbours read or write near each
/// other, and the caches do what they can.
template <int unit_bytes, bool backwards, device::Memory Memory>
constexpr void move_window_directly(Memory& memory, const WindowParams& p, std::uint64_t block,
                                    std::uint32_t thread) {
  const WindowTile t = window_tile(p, block);
  const std::uint32_t element = p.element.divisor();
  const std::uint64_t array = t.array * element;
  const auto units = static_cast<std::uint32_t>(t.end - t.begin) * element;
  FARO_NO_UNROLL
  for (std::uint32_t unit = thread; unit < units; unit += kWindowThreads) {
    std::uint32_t within = unit;
    const std::uint64_t i = t.begin + p.element.divide(within);
    const std::uint32_t shift = memory.template load_global<2>(kShifts, i * 2).unit[0];
    const std::uint64_t here = array + i * element + within;
    const std::uint64_t there = array + (i + shift - p.window) * element + within;
    memory.template store_global<unit_bytes>(
        device::kOutput, p.out_skew + (backwards ? there : here) * unit_bytes,
        memory.template load_global<unit_bytes>(device::kInput,
                                                p.in.begin + (backwards ? here : there) * unit_bytes));
  }
}

}  // namespace faro::kernels
