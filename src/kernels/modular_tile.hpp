// Multiplication modulo any number of elements on a GPU: the two matrices of an L
// (faro/permutation/modular.hpp), cut into tiles.
//
//     x = i + j c     rows of the input     j 1   3  4  5      columns to runs of the output
//     y = a i + j     are runs of i         j 0   0  1  2      are runs of j
//                                           i     0  1  2
//
// A block reads a tile's rows, and writes its columns, through shared memory. Where each row is read and each
// column written is looked up: a thread a line works it out once. A run begins and ends anywhere; so that no
// sector of the output is written by two blocks, one above the other, a column ends where a sector of its own
// does, a few elements lower than the tile, whose rows are read that far:
//
//     tiles of 8 rows, sectors of 4 elements      column 0   1 1 1 1 1 1 1 1 1 1|2 2 2 2 2 2 2 2|3 3 …
//     (two columns of four)                       column 1   1 1 1 1 1 1 1 1 1|2 2 2 2 2 2 2 2|3 3 3 …
//
// Negated multiplications count x and y modulo 2 N instead: y comes to a i + j (a c), which is a i + j or,
// for odd j, N more; an element is negated where one of the two is N or more, and not the other. For each
// time that x goes round, a x loses a N, an odd multiple of N.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/block_array.hpp"

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

/// A rectangle and its tiles. A tile is read row by row and written column by column.
struct ModularTiles {
  std::uint64_t columns = 0;  // along i
  std::uint64_t rows = 0;     // along j
  std::uint32_t tile_columns = 1;
  std::uint32_t tile_rows = 1;  // a multiple of the sector
  /// Elements that columns end at multiples of; 1: all end where their tile does. The first tile of a column
  /// has as many rows less, so that its columns, which begin anywhere, are no longer than others.
  std::uint32_t sector = 1;
  std::uint64_t first_x = 0;  // of i = j = 0, on the ring
  std::uint64_t first_y = 0;
  std::uint64_t shorter_x = 0;  // back by a sector's rows
  /// Tiles go in strips of a few columns of tiles, row by row: those that share sectors of the input, and
  /// those that share some of the output, run soon after each other.
  device::Division64 of_strip;  // tiles of a strip
  device::Division32 of_strip_row{1};
  device::Division32 of_last_row{1};  // of the last strip, which may be narrower
  std::uint64_t across = 0;           // tiles of a row
  device::Division32 of_row;          // tile_columns
  device::Division32 of_line;         // lanes of a column
  RingWalk x_down;                    // a tile of rows
  RingWalk y_along;                   // a tile of columns

  constexpr std::uint32_t shorter() const { return sector == 1 ? 0 : sector; }
  constexpr std::uint64_t down() const { return (rows + shorter() + tile_rows - 1) / tile_rows; }
  constexpr std::uint64_t count() const { return columns == 0 ? 0 : across * down(); }
  /// Rows that a tile reads.
  constexpr std::uint32_t most_rows() const { return tile_rows + sector - 1; }
  /// The tile's column, of the number of a tile in the order that they go, which becomes its row.
  constexpr std::uint64_t column_of(std::uint64_t& number) const {
    std::uint64_t in_strip = number;
    const std::uint64_t first = of_strip.divide(in_strip) * of_strip_row.divisor();
    const bool whole = across - first >= of_strip_row.divisor();
    auto column = static_cast<std::uint32_t>(in_strip);
    number = (whole ? of_strip_row : of_last_row).divide(column);
    return first + column;
  }
  /// The pitch of a row in shared memory, in elements: odd, so that columns lie in different banks.
  constexpr std::uint32_t pitch() const { return tile_columns | 1; }
};

/// What is negated: nothing, floating-point numbers, or integers below a modulus, of which 0 is two's
/// complement.
enum class ModularSign : std::int32_t { none, floating, integer };

/// `Place`: a word that holds twice the ring.
template <int kBytes, typename Place, bool kSigned = false>
struct MoveModularTiles {
  using Element = device::Packet<kBytes>;
  using PlaceWord = Place;
  static constexpr std::uint32_t kThreads = 256;
  /// Whether elements go to shared memory past registers, all of a tile's at a time, where the block's own
  /// functions copy_past_registers(block, to, from) and wait_for_copies(block) do so.
  static constexpr bool kCopied = kBytes >= 4;
  static constexpr int kMinBlocks = kCopied ? 6 : 4;
  /// Elements of a tile's sides, about: more narrow ones and fewer wide ones.
  static constexpr std::uint32_t kSide = kBytes <= 2 ? 128 : kBytes <= 8 ? 64 : 40;
  /// Elements of a thread that are on their way at a time.
  static constexpr std::uint32_t kAhead = kBytes == 16 ? 4 : 8;
  static constexpr std::uint32_t kSector = 32 / kBytes;  // elements

  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint64_t count = 1;        // of an array
  std::uint64_t batch = 1;        // arrays
  device::Division64 ring;        // count, or twice that of negated ones
  std::uint64_t x_step = 0;       // of j
  std::uint64_t y_step = 0;       // of i
  bool y_jumps = false;           // by count and one for each j, on a ring of twice the count
  std::uint32_t first_phase = 0;  // elements from a sector's begin to the output's
  ModularTiles tiles[2];
  device::Division64 of_array;  // tiles
  ModularSign sign = ModularSign::none;
  /// Array b has moduli[b mod of_moduli].
  static constexpr std::uint32_t kMostModuli = kSigned ? 64 : 1;
  std::uint64_t moduli[kMostModuli] = {};
  device::Division64 of_moduli{1};

  constexpr std::uint64_t blocks() const { return batch * of_array.divisor(); }
  constexpr std::uint32_t shared_bytes() const {
    std::uint32_t most = 0;
    for (const ModularTiles& each : tiles) {
      if (each.columns == 0) continue;
      const std::uint32_t bytes = lines_bytes(each) + kBytes * each.most_rows() * each.pitch();
      most = bytes > most ? bytes : most;
    }
    return most;
  }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    move(block, BlockArray<const Element>{reinterpret_cast<const Element*>(in)},
         BlockArray<Element>{reinterpret_cast<Element*>(out)});
  }
  /// The same from any array to any other.
  template <typename Block, typename From, typename To>
  constexpr void move(Block& block, const From& from, const To& to) const {
    const Work work = work_of(block.index());
    const auto columns = BlockArray<Column>{reinterpret_cast<Column*>(block.shared())};
    const auto rows = BlockArray<Place>{reinterpret_cast<Place*>(block.shared() + rows_begin(*work.tiles))};
    const auto stage =
        BlockArray<Element>{reinterpret_cast<Element*>(block.shared() + lines_bytes(*work.tiles))};
    list(work, block.thread(), rows, columns);
    block.barrier();
    const From those = from.from(work.array * count);
    if constexpr (kCopied && requires {
                    wait_for_copies(block);
                    those.data;
                  }) {
      copy(work, block.thread(), rows, [&](std::uint32_t slot, std::uint64_t at) {
        copy_past_registers(block, stage.data + slot, those.data + at);
      });
      wait_for_copies(block);
    } else {
      read(work, block.thread(), rows, stage, those);
    }
    block.barrier();
    write(work, block.thread(), rows, columns, stage, to.from(work.array * count));
  }

  // The kernel's parts, between which a block waits for all its threads.

  struct Tile {
    std::uint32_t columns = 0;
    std::uint32_t rows = 0;       // that columns have, and as many more as they end lower
    std::uint32_t read_rows = 0;  // of shared memory
    bool first = false;           // of a column
    bool last = false;
    bool odd = false;     // its first j
    std::uint64_t x = 0;  // of its first element, on the ring
    std::uint64_t y = 0;
  };
  // Where a column's lanes write: lane l has row l + row, from `begin` on and before `end`.
  struct Column {
    Place lane_0 = 0;
    std::int32_t row = 0;
    std::uint16_t begin = 0;
    std::uint16_t end = 0;
  };
  /// What a block does.
  struct Work {
    const ModularTiles* tiles = nullptr;
    Tile tile;
    std::uint64_t array = 0;
    std::uint64_t modulus = 0;
  };
  constexpr Work work_of(std::uint64_t block) const {
    std::uint64_t number = block;
    Work work;
    work.array = of_array.divide(number);
    const bool second = number >= tiles[0].count();
    if (second) number -= tiles[0].count();
    work.tiles = second ? &tiles[1] : &tiles[0];
    work.tile = tile_of(*work.tiles, number);
    if constexpr (kSigned) {
      std::uint64_t which = work.array;
      of_moduli.divide(which);
      work.modulus = moduli[which];
    }
    return work;
  }
  /// Shared memory: columns, rows, and the tile itself.
  static constexpr std::uint32_t rows_begin(const ModularTiles& of) {
    return static_cast<std::uint32_t>(of.tile_columns * sizeof(Column));
  }
  static constexpr std::uint32_t lines_bytes(const ModularTiles& of) {
    constexpr std::uint32_t kAligned = 16;
    const auto bytes =
        static_cast<std::uint32_t>(of.tile_columns * sizeof(Column) + of.most_rows() * sizeof(Place));
    return (bytes + kAligned - 1) / kAligned * kAligned;
  }

  /// Where each line is.
  template <typename Rows, typename Columns>
  constexpr void list(const Work& work, std::uint32_t thread, const Rows& rows,
                      const Columns& columns) const {
    for (std::uint32_t line = thread; line < work.tile.read_rows; line += kThreads)
      rows.put(line, place(work.tile.x + line * x_step));
    for (std::uint32_t line = thread; line < work.tile.columns; line += kThreads)
      columns.put(line, column_of(*work.tiles, work.tile, work.array, line));
  }

  /// Row by row, into shared memory.
  template <typename Rows, typename Stage, typename From>
  constexpr void read(const Work& work, std::uint32_t thread, const Rows& rows, const Stage& stage,
                      const From& from) const {
    const Tile& tile = work.tile;
    const std::uint32_t pitch = work.tiles->pitch();
    Walk walk = walk_along(work.tiles->of_row, thread);
    while (walk.across < tile.read_rows) {
      decltype(fetched(from, 0)) held[kAhead] = {};
      std::uint32_t slot[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        const bool there = walk.along < tile.columns && walk.across < tile.read_rows;
        slot[k] = there ? walk.across * pitch + walk.along : kNone;
        if (there) {
          held[k] = fetched(from, in_array(added(rows.get(walk.across), walk.along)));
        } else {
          rows.skip();
          from.skip();
        }
        walk.advance();
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (slot[k] != kNone) {
          stage.put(slot[k], made_of(from, held[k]));
        } else {
          stage.skip();
        }
      }
    }
  }

  /// The same by copy(slot, element of the input).
  template <typename Rows, typename Copy>
  constexpr void copy(const Work& work, std::uint32_t thread, const Rows& rows, const Copy& copy_one) const {
    const Tile& tile = work.tile;
    const std::uint32_t pitch = work.tiles->pitch();
    Walk walk = walk_along(work.tiles->of_row, thread);
    while (walk.across < tile.read_rows) {
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead / 2; ++k) {
        if (walk.along < tile.columns && walk.across < tile.read_rows) {
          copy_one(walk.across * pitch + walk.along, in_array(added(rows.get(walk.across), walk.along)));
        } else {
          rows.skip();
          rows.skip();
        }
        walk.advance();
      }
    }
  }

  /// Column by column, to where they go.
  template <typename Rows, typename Columns, typename Stage, typename To>
  constexpr void write(const Work& work, std::uint32_t thread, const Rows& rows, const Columns& columns,
                       const Stage& stage, const To& to) const {
    const Tile& tile = work.tile;
    const std::uint32_t pitch = work.tiles->pitch();
    Walk walk = walk_along(work.tiles->of_line, thread);
    while (walk.across < tile.columns) {
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (walk.across < tile.columns) {
          const Column column = columns.get(walk.across);
          if (walk.along >= column.begin && walk.along < column.end) {
            const std::uint32_t row = walk.along + static_cast<std::uint32_t>(column.row);
            Element element = stage.get(row * pitch + walk.across);
            Place at = added(column.lane_0, walk.along);
            if constexpr (kSigned) {
              if (y_jumps && tile.odd != (row % 2 != 0)) at = added(at, static_cast<Place>(count));
              const Place x = added(rows.get(row), walk.across);
              if ((at >= count) != (x >= count)) element = negated(element, work.modulus);
            }
            to.put(in_array(at), element);
          } else {
            stage.skip();
            if constexpr (kSigned) rows.skip();
            to.skip();
          }
        } else {
          columns.skip();
          stage.skip();
          if constexpr (kSigned) rows.skip();
          to.skip();
        }
        walk.advance();
      }
    }
  }

 private:
  constexpr Tile tile_of(const ModularTiles& of, std::uint64_t number) const {
    std::uint64_t down = number;
    const std::uint64_t along = of.column_of(down);
    Tile tile;
    tile.first = down == 0;
    const std::uint64_t first_i = along * of.tile_columns;
    const std::uint64_t first_j = tile.first ? 0 : down * of.tile_rows - of.shorter();
    const std::uint64_t columns_left = of.columns - first_i;
    const std::uint64_t rows_left = of.rows - first_j;
    const std::uint32_t rows = tile.first ? of.tile_rows - of.shorter() : of.tile_rows;
    tile.columns =
        columns_left < of.tile_columns ? static_cast<std::uint32_t>(columns_left) : of.tile_columns;
    tile.last = rows_left <= rows;
    tile.rows = tile.last ? static_cast<std::uint32_t>(rows_left) : rows;
    const std::uint64_t read = tile.rows + (tile.last ? 0 : of.sector - 1);
    tile.read_rows = static_cast<std::uint32_t>(read < rows_left ? read : rows_left);
    tile.odd = first_j % 2 != 0;
    tile.x = on_ring(of.first_x + of.x_down.at(down, ring) + (tile.first ? 0 : of.shorter_x) + first_i);
    tile.y = on_ring(of.first_y + of.y_along.at(along, ring) + first_j);
    return tile;
  }

  constexpr Column column_of(const ModularTiles& of, const Tile& tile, std::uint64_t array,
                             std::uint32_t line) const {
    const Place y = place(tile.y + line * y_step);
    const std::uint64_t at = in_array(y);
    const auto within = [&](std::uint64_t element) {
      return static_cast<std::uint32_t>((first_phase + array * count + element) & (of.sector - 1));
    };
    const std::uint32_t phase = within(at);
    const std::uint32_t to_sector = phase == 0 ? 0 : of.sector - phase;
    Column column;
    column.row = static_cast<std::int32_t>(to_sector);
    if (tile.first) {
      column.row = -static_cast<std::int32_t>(phase);
      column.begin = static_cast<std::uint16_t>(phase);
    }
    std::uint32_t rows = tile.rows;
    if (!tile.last) {
      const std::uint64_t below = at + tile.rows;
      const std::uint32_t phase_below = within(below >= count ? below - count : below);
      rows += phase_below == 0 ? 0 : of.sector - phase_below;
      rows = rows < tile.read_rows ? rows : tile.read_rows;
    }
    const std::int32_t end = static_cast<std::int32_t>(rows) - column.row;
    column.end = static_cast<std::uint16_t>(end < 0 ? 0 : end);
    column.lane_0 = place(y + ring.divisor() + static_cast<std::uint64_t>(std::int64_t{column.row}));
    return column;
  }

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

    constexpr void advance() {
      along += along_step;
      across += across_step;
      if (along < line) return;
      along -= line;
      ++across;
    }
  };
  constexpr Walk walk_along(const device::Division32& line, std::uint32_t thread) const {
    Walk made;
    made.line = line.divisor();
    made.along = thread;
    made.across = line.divide(made.along);
    made.along_step = kThreads;
    made.across_step = line.divide(made.along_step);
    return made;
  }
  constexpr Element negated(Element element, std::uint64_t modulus) const {
    std::uint64_t word = 0;
    for (int u = 0; u < Element::kUnits; ++u)
      word |= std::uint64_t{element.unit[u]} << (8 * Element::kUnitBytes * u % 64);
    constexpr int kBits = kBytes < 8 ? 8 * kBytes : 64;
    if (sign == ModularSign::floating) {
      word ^= std::uint64_t{1} << (kBits - 1);
    } else {
      word = word == 0 ? 0 : modulus - word;
    }
    for (int u = 0; u < Element::kUnits; ++u)
      element.unit[u] = static_cast<typename Element::Unit>(word >> (8 * Element::kUnitBytes * u % 64));
    return element;
  }
};

}  // namespace faro::kernels
