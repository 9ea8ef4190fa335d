// Maps with formulas of their own: neither affine nor axes nor arithmetic, but computed, not stored.
//
//     hilbert(2, b)    a row-major square of 2^b x 2^b becomes Hilbert's order
//     healpix(k)       the pixels of a sphere, nested, become rings
//
//     hilbert(2, 2)    cells by row and column      healpix(1)   the first ring has one pixel of each of four
//                      0  3  4  5                                diamonds of 2 x 2, the last number of each
//                      1  2  7  6
//                     14 13  8  9                                0 to 13   1 to 5   2 to 4   3 to 0
//                     15 12 11 10
//
// Such a map has no algebra but its inverse: composed with others and raised to powers it becomes an index
// array, unless the two undo each other. A further one derives from detail::ComputedMap
// (src/permutation/computed_map.hpp), and everything that takes a Permutation takes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "faro/permutation/indexed.hpp"

namespace faro {

namespace detail {
class ComputedMap;
}

/// A formula and its direction. Value type: copies share the formula.
class Computed {
 public:
  /// For a scatter pi(x) is the formula's image of x, for a gather its preimage.
  Computed(std::shared_ptr<const detail::ComputedMap> map, Direction direction);

  std::uint64_t count() const;
  /// Requires: x < count() (unchecked).   Cost: of Hilbert's order a step for each bit of an index, of the
  /// sphere's pixels some tens of nanoseconds.
  std::uint64_t operator()(std::uint64_t x) const;
  Computed inverse() const { return {map_, opposite(direction_)}; }

  /// `hilbert(2, 13)`, `inverse(healpix(9))`.
  std::string text() const;
  Direction direction() const { return direction_; }
  const detail::ComputedMap& map() const { return *map_; }

  friend bool operator==(const Computed& a, const Computed& b);

 private:
  std::shared_ptr<const detail::ComputedMap> map_;
  Direction direction_ = Direction::scatter;
};

/// The same permutation, entry by entry, with its text for a label. Errors: ErrorCode::value past 2^40
/// elements, and for too little memory.   Cost: about a nanosecond an element.
Indexed as_index_array(const Computed& map);

}  // namespace faro
