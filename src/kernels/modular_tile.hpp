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

/// A place on a ring that threads take along: they go through a tile of elements in order, each from its own
/// on by as many as there are threads, and add where it would take a division to go anew.
///
///     a tile of 3 rows of 5, 4 threads     thread 1      . 1 . . .      4 elements are a row less 1:
///                                                        1 . . . 1      1 row down, and back by 5 + 1
///                                                        . . . 1 .      where a row ends, 1 row more
struct RingSteps {
  std::uint64_t step = 0;  // of all threads, on the ring
  std::uint64_t wrap = 0;  // besides, where a row of the tile ends
};

/// A rectangle and its tiles. A tile is read row by row and written column by column.
struct ModularTiles {
  std::uint64_t columns = 0;  // along i
  std::uint64_t rows = 0;     // along j
  std::uint32_t tile_columns = 1;
  std::uint32_t tile_rows = 1;
  std::uint64_t first_x = 0;  // of i = j = 0, on the ring
  std::uint64_t first_y = 0;
  /// Tiles go in strips of a few columns of tiles, row by row: those that share sectors of the input, and
  /// those that share some of the output, run soon after each other.
  device::Division64 of_strip;  // tiles of a strip
  device::Division32 of_strip_row{1};
  device::Division32 of_last_row{1};  // of the last strip, which may be narrower
  std::uint64_t across = 0;           // tiles of a row
  device::Division32 of_row;          // tile_columns
  device::Division32 of_column;
  RingWalk x_down;   // a tile of rows
  RingWalk y_along;  // a tile of columns
  RingSteps reading_x;
  RingSteps writing_x;
  RingSteps writing_y;

  constexpr std::uint64_t count() const {
    return columns == 0 ? 0 : across * ((rows + tile_rows - 1) / tile_rows);
  }
  /// The tile's column, of the number of a tile in the order that they go, which becomes its row.
  constexpr std::uint64_t column_of(std::uint64_t& number) const {
    std::uint64_t in_strip = number;
    const std::uint64_t first = of_strip.divide(in_strip) * of_strip_row.divisor();
    const bool whole = across - first >= of_strip_row.divisor();
    auto column = static_cast<std::uint32_t>(in_strip);
    number = (whole ? of_strip_row : of_last_row).divide(column);
    return first + column;
  }
  /// Of a row in shared memory, in elements: odd, so that columns lie in different banks.
  constexpr std::uint32_t pitch() const { return tile_columns | 1; }
};

enum class ModularSign : std::int32_t { none, floating, twos_complement, modulus };

/// `Place`: a word that holds twice the ring.
template <int kBytes, typename Place, bool kSigned = false>
struct MoveModularTiles {
  using Element = device::Packet<kBytes>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  /// Elements of a tile's sides, about: more narrow ones and fewer wide ones.
  static constexpr std::uint32_t kSide = kBytes <= 2 ? 128 : kBytes <= 8 ? 64 : 40;
  /// Of a thread on their way at a time.
  static constexpr std::uint32_t kAhead = kBytes == 16 ? 4 : 8;

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
  constexpr std::uint32_t shared_bytes() const {
    std::uint32_t most = 0;
    for (const ModularTiles& each : tiles) {
      const std::uint32_t elements = each.columns == 0 ? 0 : each.tile_rows * each.pitch();
      most = elements > most ? elements : most;
    }
    return kBytes * most;
  }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    std::uint64_t number = block.index();
    const std::uint64_t array = of_array.divide(number);
    const bool second = number >= tiles[0].count();
    if (second) number -= tiles[0].count();
    const ModularTiles& of = second ? tiles[1] : tiles[0];
    std::uint64_t down = number;
    const std::uint64_t along = of.column_of(down);
    const std::uint64_t first_i = along * of.tile_columns;
    const std::uint64_t first_j = down * of.tile_rows;
    const std::uint64_t columns_left = of.columns - first_i;
    const std::uint64_t rows_left = of.rows - first_j;
    const auto columns =
        static_cast<std::uint32_t>(columns_left < of.tile_columns ? columns_left : of.tile_columns);
    const auto rows = static_cast<std::uint32_t>(rows_left < of.tile_rows ? rows_left : of.tile_rows);
    const std::uint64_t x = on_ring(of.first_x + of.x_down.at(down, ring) + first_i);
    const std::uint64_t y = on_ring(of.first_y + of.y_along.at(along, ring) + first_j);
    const std::uint32_t pitch = of.pitch();
    auto* const stage = reinterpret_cast<Element*>(block.shared());
    const auto* const from = reinterpret_cast<const Element*>(in) + array * count;
    auto* const to = reinterpret_cast<Element*>(out) + array * count;

    // Row by row, into shared memory.
    Walk read = walk(of.of_row, block.thread());
    Place read_x = place(x + read.along + read.across * x_step);
    while (read.across < of.tile_rows) {
      Element held[kAhead] = {};
      std::uint32_t slot[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        const bool there = read.along < columns && read.across < rows;
        slot[k] = there ? read.across * pitch + read.along : kNone;
        if (there) held[k] = from[in_array(read_x)];
        const bool wraps = read.advance();
        read_x = advanced(read_x, of.reading_x, wraps);
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (slot[k] != kNone) stage[slot[k]] = held[k];
      }
    }
    block.barrier();
    // Column by column, to where they go.
    const bool odd = first_j % 2 != 0;
    Walk write = walk(of.of_column, block.thread());
    Place write_y = place(y + write.across * y_step + write.along);
    Place write_x = kSigned ? place(x + write.across + write.along * x_step) : Place{0};
    while (write.across < of.tile_columns) {
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (write.along < rows && write.across < columns) {
          Element element = stage[write.along * pitch + write.across];
          Place at = write_y;
          if constexpr (kSigned) {
            if (y_jumps && odd != (write.along % 2 != 0)) at = added(at, static_cast<Place>(count));
            if ((at >= count) != (write_x >= count)) element = negated(element);
          }
          to[in_array(at)] = element;
        }
        const bool wraps = write.advance();
        write_y = advanced(write_y, of.writing_y, wraps);
        if constexpr (kSigned) write_x = advanced(write_x, of.writing_x, wraps);
      }
    }
  }

 private:
  constexpr std::uint64_t on_ring(std::uint64_t place) const {
    ring.divide(place);
    return place;
  }
  constexpr Place place(std::uint64_t at) const { return static_cast<Place>(on_ring(at)); }
  // A sum of two places, on the ring.
  constexpr Place added(Place a, Place b) const {
    const auto all = static_cast<Place>(ring.divisor());
    const Place sum = a + b;
    return sum >= all ? sum - all : sum;
  }
  constexpr Place advanced(Place at, const RingSteps& by, bool wraps) const {
    const Place next = added(at, static_cast<Place>(by.step));
    return wraps ? added(next, static_cast<Place>(by.wrap)) : next;
  }
  constexpr std::uint64_t in_array(Place at) const {
    if constexpr (!kSigned) return at;
    return at >= count ? at - count : at;
  }

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  // Where a thread is in a tile: `along` a line of it, and `across` the lines before.
  struct Walk {
    std::uint32_t along = 0;
    std::uint32_t across = 0;
    std::uint32_t along_step = 0;
    std::uint32_t across_step = 0;
    std::uint32_t line = 1;

    // Whether a line ended besides.
    constexpr bool advance() {
      along += along_step;
      across += across_step;
      if (along < line) return false;
      along -= line;
      ++across;
      return true;
    }
  };
  constexpr Walk walk(const device::Division32& line, std::uint32_t thread) const {
    Walk made;
    made.line = line.divisor();
    made.along = thread;
    made.across = line.divide(made.along);
    made.along_step = kThreads;
    made.across_step = line.divide(made.along_step);
    return made;
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
