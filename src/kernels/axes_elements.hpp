// Small arrays of axes, and small views: a thread moves some units one by one, and finds the first of them by
// dividing. While everything fits the second-level cache, short accesses cost less than what boxes need to
// begin: an array of 256 KiB takes as long as its launch.
//
//     axes(4 6; 1 0), 4 lanes along the output, of 3 units each
//
//     thread     0  1  2  3 | 4  5  6  7         of the output's fastest axis first
//     reads      0  6 12 18 | 3  9 15 21         first, and two units behind each
//     writes     0  1  2  3 |12 13 14 15
//
// Threads count along the output's fastest axes up to some lanes, then along the input's, so a warp's units
// share sectors on both sides. A thread's own units follow one another in the input, where its next read
// finds the first-level cache filled. The two axes of which lanes and threads have parts may end within one.
#pragma once

#include <cstdint>
#include <type_traits>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/axes_rows.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

inline constexpr int kAxesElementsThreads = 128;
inline constexpr int kElementsTogether = 4;   // axes whose parameters are fetched together; the first ones
inline constexpr int kMostElementsUnits = 8;  // of a thread

struct AxesElementsParams {
  struct Axis {
    device::Division32 extent;
    std::uint32_t row_step;  // of the two axes that may be cut
    std::uint32_t column_step;
    std::int64_t in_stride;  // bytes
    std::int64_t out_stride;
  };
  static constexpr int kMostParts = kMostAxes + 4;  // the two are up to five; an even number

  ArrayBytes in;           // that may be read
  std::uint64_t in_first;  // bytes
  std::uint64_t out_first;
  std::uint64_t count;      // of threads, fewer than 2^31
  std::uint32_t rows;       // the extent of the axis whose parts lanes have
  std::uint32_t columns;    // and of the one along which a thread's units are
  std::uint32_t units;      // of a thread
  std::uint32_t unit_step;  // along that axis
  std::int64_t in_step;     // the same in bytes
  std::int64_t out_step;
  Axis axis[kMostParts];  // in the order in which threads count; all beyond have an extent of 1
  std::int32_t axes;
  std::int32_t is_near;        // all strides, and what they add up to, fit 32 bits
  std::uint64_t first_vector;  // thread of this launch

  constexpr std::uint64_t vectors() const { return count; }
};
static_assert(sizeof(AxesElementsParams) <= 4096, "kernel parameters are at most 4 KiB");

/// Where the first unit of a thread is.
struct ElementsPlace {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  std::int64_t in = 0;  // bytes from the unit with all coordinates 0
  std::int64_t out = 0;
};

/// The place of thread `left`. Offset is a signed integer that holds all sums of strides.
template <typename Offset>
constexpr ElementsPlace elements_place(const AxesElementsParams& p, std::uint32_t left) {
  using Sum = std::make_unsigned_t<Offset>;
  ElementsPlace place;
  Sum in = 0;
  Sum out = 0;
  const auto take = [&](const AxesElementsParams::Axis& axis) {
    std::uint32_t digit = left;
    left = axis.extent.divide(digit);
    place.row += digit * axis.row_step;
    place.column += digit * axis.column_step;
    in += digit * static_cast<Sum>(axis.in_stride);
    out += digit * static_cast<Sum>(axis.out_stride);
  };
  FARO_UNROLL
  for (int a = 0; a < kElementsTogether; ++a) take(p.axis[a]);
  FARO_NO_UNROLL
  for (int a = kElementsTogether; a < p.axes; a += 2) {
    take(p.axis[a]);
    take(p.axis[a + 1]);
  }
  place.in = static_cast<Offset>(in);
  place.out = static_cast<Offset>(out);
  return place;
}

/// Words that hold so many narrow units in any case; 0 where words are no fewer than units.
constexpr int elements_words(int unit_bytes, int units) {
  constexpr int word = 4;
  if (unit_bytes >= word || units * unit_bytes % word != 0) return 0;
  const int words = units * unit_bytes / word + 1;
  return words < units ? words : 0;
}

/// Reads `count` units that follow one another by words, each once, where all of them are the array's own;
/// else nothing, and gives false.
template <int unit_bytes, int most_units, device::Memory Memory>
constexpr bool read_element_words(Memory& memory, const ArrayBytes& in, std::uint64_t from,
                                  std::uint32_t count, device::Packet<unit_bytes> (&unit)[most_units]) {
  constexpr int words = elements_words(unit_bytes, most_units);
  constexpr std::uint64_t word = 4;
  const std::uint64_t first = from / word * word;
  const std::uint64_t end = from + count * std::uint64_t{unit_bytes};
  if (first < in.begin || (end + (word - 1)) / word * word > in.end) return false;
  device::Packet<4> read[words] = {};
  FARO_UNROLL
  for (int w = 0; w < words; ++w) {
    const std::uint64_t at = first + static_cast<std::uint64_t>(w) * word;
    if (at < end) {
      read[w] = memory.template load_global<4>(device::kInput, at);
    } else {
      device::idle(memory);
    }
  }
  const auto shift = static_cast<std::uint32_t>(8 * (from - first));
  FARO_UNROLL
  for (int u = 0; u < most_units; ++u) {
    const int w = u * unit_bytes / 4;
    const std::uint64_t both = std::uint64_t{read[w + 1].unit[0]} << 32 | read[w].unit[0];
    using Unit = typename device::Packet<unit_bytes>::Unit;
    unit[u].unit[0] =
        static_cast<Unit>(static_cast<std::uint32_t>(both >> shift) >> (8 * (u * unit_bytes % 4)));
  }
  return true;
}

/// The whole kernel. Requires: thread < kAxesElementsThreads, p.units <= most_units; threads past the last
/// are left out.
template <int unit_bytes, int most_units, device::Memory Memory>
constexpr void move_axes_elements(Memory& memory, const AxesElementsParams& p, std::uint64_t block,
                                  std::uint32_t thread) {
  const std::uint64_t number = p.first_vector + block * kAxesElementsThreads + thread;
  if (number >= p.count) return;
  const ElementsPlace at = p.is_near != 0
                               ? elements_place<std::int32_t>(p, static_cast<std::uint32_t>(number))
                               : elements_place<std::int64_t>(p, static_cast<std::uint32_t>(number));
  if (at.row >= p.rows) return;
  if constexpr (requires { memory.begin_reading(); }) memory.begin_reading();
  const std::uint32_t column = at.column;
  const std::uint64_t from = p.in_first + static_cast<std::uint64_t>(at.in);
  const std::uint64_t to = p.out_first + static_cast<std::uint64_t>(at.out);
  const auto is_there = [&](std::uint32_t u) { return u < p.units && column + u * p.unit_step < p.columns; };
  device::Packet<unit_bytes> unit[most_units];
  bool is_read = false;
  if constexpr (elements_words(unit_bytes, most_units) > 0) {
    if (p.in_step == unit_bytes) {
      const std::uint32_t left_there = p.columns - column;
      is_read = read_element_words(memory, p.in, from, left_there < p.units ? left_there : p.units, unit);
    }
    device::converge(memory);
  }
  if (!is_read) {
    FARO_UNROLL
    for (std::uint32_t u = 0; u < most_units; ++u) {
      if (is_there(u)) {
        unit[u] = memory.template load_global<unit_bytes>(device::kInput,
                                                          from + u * static_cast<std::uint64_t>(p.in_step));
      } else {
        device::idle(memory);
      }
    }
  }
  device::converge(memory);
  FARO_UNROLL
  for (std::uint32_t u = 0; u < most_units; ++u) {
    if (is_there(u)) {
      memory.template store_global<unit_bytes>(device::kOutput,
                                               to + u * static_cast<std::uint64_t>(p.out_step), unit[u]);
    } else {
      device::idle(memory);
    }
  }
}

/// How many units of so many bytes a thread may have: 32 bytes of them.
constexpr int most_elements_units(int unit_bytes) {
  constexpr int bytes = 32;
  return unit_bytes * kMostElementsUnits > bytes ? bytes / unit_bytes : kMostElementsUnits;
}

/// Calls use(std::integral_constant<int, n>()) for the n of 1, 2, 4 and 8 that so many units are compiled
/// for, and gives what it gives. Requires: units <= most_elements_units(unit_bytes).
template <int unit_bytes, typename Use>
constexpr auto by_elements_units(int units, const Use& use) {
  constexpr int most = most_elements_units(unit_bytes);
  if (units <= 1) return use(std::integral_constant<int, 1>());
  if (units <= 2 || most == 2) return use(std::integral_constant<int, 2>());
  if (units <= 4 || most == 4) return use(std::integral_constant<int, 4>());
  return use(std::integral_constant<int, most>());
}

}  // namespace faro::kernels
