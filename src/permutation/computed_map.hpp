// What a computed map is made of: images and preimages, and tiles that are moved without either.
//
// A tile is a run of consecutive elements of one side, the ordered one; on the other its elements lie in runs
// as well, which a buffer gathers. Within the tile places follow from a small table, the same for all tiles
// or one of a few, by leaves:
//
//     ordered side    | leaf 0 | leaf 1 | ...                       consecutive
//     buffer            element k of a leaf lies at leaf.at + order[k]
//     other side      run 0 ...  run 1 ...                          at run.place, from run.at of the buffer
//
// So a pass costs a look-up in the first-level cache an element, and both sides are read and written in runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "permutation/healpix_pixels.hpp"
#include "permutation/hilbert_cells.hpp"

namespace faro::detail {

enum class ComputedSide : std::uint8_t { input, output };
constexpr ComputedSide opposite(ComputedSide side) {
  return side == ComputedSide::input ? ComputedSide::output : ComputedSide::input;
}

/// Consecutive elements of the side that is not ordered.
struct ComputedRun {
  std::uint64_t place = 0;     // of the first, in the array
  std::uint64_t elements = 0;  // may be 0
  std::uint32_t at = 0;        // of the first, in the buffer
};

struct ComputedLeaf {
  std::uint32_t at = 0;     // added to what the order says
  std::uint32_t order = 0;  // its number
};

class ComputedTiles {
 public:
  struct Sizes {
    std::uint64_t tile = 1;    // elements of a tile, which are consecutive on the ordered side
    std::uint64_t leaf = 1;    // of a leaf
    std::uint64_t buffer = 1;  // places of the buffer; at most 2^16
    std::uint64_t runs = 1;    // the most of a tile
  };

  ComputedTiles() = default;
  ComputedTiles(const ComputedTiles&) = delete;
  ComputedTiles& operator=(const ComputedTiles&) = delete;
  virtual ~ComputedTiles() = default;

  const Sizes& sizes() const { return sizes_; }
  std::uint64_t leaves() const { return sizes_.tile / sizes_.leaf; }  // of a tile
  /// Places of a leaf's elements in the buffer, beyond ComputedLeaf::at.
  const std::uint16_t* order(std::uint32_t number) const { return orders_.data() + number * sizes_.leaf; }

  /// Fills all leaves and some runs. Returns how many runs.
  /// Requires: room for sizes().runs and leaves() (unchecked).   Cost: no allocation.
  virtual std::size_t tile(std::uint64_t number, std::span<ComputedRun> runs,
                           std::span<ComputedLeaf> leaves) const = 0;

 protected:
  Sizes sizes_;
  std::vector<std::uint16_t> orders_;
};

/// What kernels compute places by (kernels/computed_launch.hpp).
using ComputedFormula = std::variant<HilbertCube, HealpixSphere>;

class ComputedMap {
 public:
  ComputedMap() = default;
  ComputedMap(const ComputedMap&) = delete;
  ComputedMap& operator=(const ComputedMap&) = delete;
  virtual ~ComputedMap() = default;

  virtual std::uint64_t count() const = 0;
  virtual std::uint64_t image(std::uint64_t x) const = 0;
  virtual std::uint64_t preimage(std::uint64_t y) const = 0;
  /// Reads back as this map. Two maps of one text are equal.
  virtual std::string text() const = 0;

  virtual ComputedFormula formula() const = 0;
  /// The side of this map that its tiles are consecutive on.
  virtual ComputedSide ordered_side() const = 0;
  /// Tiles whose buffer has at most so many places; null where there are none, and elements are computed one
  /// by one.   Cost: microseconds, and memory of a table, some ten kilobytes.
  virtual std::unique_ptr<const ComputedTiles> tiles(std::uint64_t most_places) const = 0;
};

}  // namespace faro::detail
