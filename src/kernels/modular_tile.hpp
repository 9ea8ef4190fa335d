// Multiplication modulo any number of elements on a GPU: the two matrices of an L
// (faro/permutation/modular.hpp), cut into tiles.
//
//     x = i + j c     rows of the input     j 1   3  4  5      columns to runs of the output
//     y = a i + j     are runs of i         j 0   0  1  2      are runs of j
//                                           i     0  1  2
//
// A block reads a tile's rows, and writes its columns, through shared memory. A run is wherever it is, so it
// shares its first and last sector with other runs, whose blocks come soon before or after: they meet in the
// cache.
//
// Negated multiplications count x and y modulo 2 N instead: y comes to a i + j (a c), which is a i + j or,
// for odd j, N more; an element is negated where one of the two is N or more, and not the other. For each
// time that x goes round, a x loses a N, an odd multiple of N.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/packet.hpp"

namespace faro::kernels {

/// A place that moves by steps on a ring: start + tile step, of up to 2^40 tiles and places.
struct RingWalk {
  std::uint64_t step = 0;
  std::uint64_t far_step = 0;  // 2^20 steps, on the ring

  static constexpr int kNearBits = 20;
  constexpr std::uint64_t at(std::uint64_t steps, const device::Division64& ring) const {
    std::uint64_t far = (steps >> kNearBits) * far_step;
    ring.divide(far);
    std::uint64_t place = far + (steps & ((std::uint64_t{1} << kNearBits) - 1)) * step;
    ring.divide(place);
    return place;
  }
};

/// A rectangle and its tiles.
struct ModularTiles {
  std::uint64_t columns = 0;  // along i
  std::uint64_t rows = 0;     // along j
  std::uint32_t tile_columns = 1;
  std::uint32_t tile_rows = 1;
  std::uint64_t first_x = 0;  // of i = j = 0, on the ring
  std::uint64_t first_y = 0;
  device::Division64 across;  // tiles
  device::Division32 of_row;  // tile_columns
  device::Division32 of_column;
  RingWalk x_down;   // a tile of rows
  RingWalk y_along;  // a tile of columns

  constexpr std::uint64_t count() const {
    return columns == 0 ? 0 : across.divisor() * ((rows + tile_rows - 1) / tile_rows);
  }
};

enum class ModularSign : std::int32_t { none, floating, twos_complement, modulus };

template <int kBytes, bool kSigned = false>
struct MoveModularTiles {
  using Element = device::Packet<kBytes>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  /// Elements of a tile: 64 x 64, more narrow ones and fewer wide ones.
  static constexpr std::uint32_t kSide = kBytes <= 2 ? 128 : kBytes <= 8 ? 64 : 32;
  static constexpr std::uint32_t kTile = kSide * kSide;

  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint64_t count = 1;   // of an array
  std::uint64_t batch = 1;   // arrays
  device::Division64 ring;   // count, or twice that of negated ones
  std::uint64_t x_step = 0;  // of j
  std::uint64_t y_step = 0;  // of i
  bool y_jumps = false;      // by count and one for each j, on a ring of twice the count
  ModularTiles tiles[2];
  device::Division64 of_array;  // tiles
  ModularSign sign = ModularSign::none;
  std::uint64_t modulus = 0;

  constexpr std::uint64_t blocks() const { return batch * of_array.divisor(); }
  constexpr std::uint32_t shared_bytes() const { return kBytes * (kTile + kTile / 2); }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    std::uint64_t number = block.index();
    const std::uint64_t array = of_array.divide(number);
    const bool second = number >= tiles[0].count();
    if (second) number -= tiles[0].count();
    const ModularTiles& of = second ? tiles[1] : tiles[0];
    const std::uint64_t down = of.across.divide(number);
    const std::uint64_t first_i = number * of.tile_columns;
    const std::uint64_t first_j = down * of.tile_rows;
    const std::uint64_t columns_left = of.columns - first_i;
    const std::uint64_t rows_left = of.rows - first_j;
    const auto columns =
        static_cast<std::uint32_t>(columns_left < of.tile_columns ? columns_left : of.tile_columns);
    const auto rows = static_cast<std::uint32_t>(rows_left < of.tile_rows ? rows_left : of.tile_rows);
    const std::uint64_t x = on_ring(of.first_x + of.x_down.at(down, ring) + first_i);
    const std::uint64_t y = on_ring(of.first_y + of.y_along.at(number, ring) + stepped_y(first_j));
    const std::uint32_t pitch = of.tile_columns | 1;
    auto* const stage = reinterpret_cast<Element*>(block.shared());
    const auto* const from = reinterpret_cast<const Element*>(in) + array * count;
    auto* const to = reinterpret_cast<Element*>(out) + array * count;

    for (std::uint32_t e = block.thread(); e < of.tile_rows * of.tile_columns; e += kThreads) {
      std::uint32_t i = e;
      const std::uint32_t j = of.of_row.divide(i);
      if (i >= columns || j >= rows) continue;
      stage[j * pitch + i] = from[in_array(on_ring(x + i + j * x_step))];
    }
    block.barrier();
    for (std::uint32_t e = block.thread(); e < of.tile_rows * of.tile_columns; e += kThreads) {
      std::uint32_t j = e;
      const std::uint32_t i = of.of_column.divide(j);
      if (i >= columns || j >= rows) continue;
      const std::uint64_t place = on_ring(y + i * y_step + stepped_y(j));
      Element element = stage[j * pitch + i];
      if constexpr (kSigned) {
        const std::uint64_t origin = on_ring(x + i + j * x_step);
        if ((place >= count) != (origin >= count)) element = negated(element);
      }
      to[in_array(place)] = element;
    }
  }

 private:
  constexpr std::uint64_t on_ring(std::uint64_t place) const {
    ring.divide(place);
    return place;
  }
  constexpr std::uint64_t in_array(std::uint64_t place) const {
    if constexpr (!kSigned) return place;
    return place >= count ? place - count : place;
  }
  // How far j steps lead, on the ring.
  constexpr std::uint64_t stepped_y(std::uint64_t j) const {
    if constexpr (!kSigned) return j;
    return j + (y_jumps && j % 2 != 0 ? count : 0);
  }
  constexpr Element negated(Element element) const {
    std::uint64_t word = 0;
    for (int u = 0; u < Element::kUnits; ++u)
      word |= std::uint64_t{element.unit[u]} << (8 * Element::kUnitBytes * u % 64);
    constexpr int kBits = kBytes < 8 ? 8 * kBytes : 64;
    if (sign == ModularSign::floating) {
      word ^= std::uint64_t{1} << (kBits - 1);
    } else if (sign == ModularSign::twos_complement) {
      word = 0 - word;
    } else {
      word = word == 0 ? 0 : modulus - word;
    }
    for (int u = 0; u < Element::kUnits; ++u)
      element.unit[u] = static_cast<typename Element::Unit>(word >> (8 * Element::kUnitBytes * u % 64));
    return element;
  }
};

}  // namespace faro::kernels
