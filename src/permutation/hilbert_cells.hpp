// Hilbert's curve through a cube of d axes of 2^b elements, in Skilling's form.
//
// The curve goes down level by level. At a level the cube is cut into 2^d cells; the curve visits them in
// Gray code order, and in each runs through the same curve with its axes exchanged and flipped:
//
//     cells of a level, d = 2          within them
//     0 3                              0: axes exchanged       3: exchanged and both flipped
//     1 2                              1, 2: as it is
//
// So the number of an element is read off its coordinates' bits from the top, a digit of d bits a level, by a
// machine whose state says where each axis went and whether it is flipped.
// Source: J. Skilling, Programming the Hilbert curve, AIP Conference Proceedings 707 (2004).
//
// A state exchanges and flips axes, at every level alike, and may go backwards; so a part of the curve in any
// state is that of the first state with its axes exchanged and flipped, from the one end or the other. Usable
// in device code.
#pragma once

#include <cstdint>

namespace faro::detail {

/// Cells and digits have d bits; the bit of axis 0 is the highest, as it is in a row-major index. At first
/// axis i stands at place i.
class HilbertState {
 public:
  /// The digit of a cell; then the state is that within the cell.
  constexpr std::uint64_t enter_cell(int d, std::uint64_t cell) {
    std::uint64_t turned = 0;
    for (int i = 0; i < d; ++i) turned = turned << 1 | ((cell >> (d - 1 - axis(i)) ^ flips_ >> i) & 1);
    std::uint64_t digit = 0;
    bool sum = false;
    for (int i = 0; i < d; ++i) {
      sum ^= (turned >> (d - 1 - i) & 1) != 0;
      digit = digit << 1 | static_cast<std::uint64_t>(sum ^ backwards_);
    }
    turn(d, turned);
    backwards_ ^= sum;
    return digit;
  }

  /// The cell of a digit; likewise.
  constexpr std::uint64_t enter_digit(int d, std::uint64_t digit) {
    const std::uint64_t sums = digit ^ (backwards_ ? (std::uint64_t{1} << d) - 1 : 0);
    const std::uint64_t turned = sums ^ sums >> 1;
    std::uint64_t cell = 0;
    for (int i = 0; i < d; ++i) cell |= ((turned >> (d - 1 - i) ^ flips_ >> i) & 1) << (d - 1 - axis(i));
    turn(d, turned);
    backwards_ ^= (sums & 1) != 0;
    return cell;
  }

  /// The axis that stands at place i, of at most 32.
  constexpr int axis(int i) const {
    const std::uint64_t low = (i < kOfWord ? axes_ : more_axes_) >> (4 * (i % kOfWord)) & 15;
    return static_cast<int>(low | std::uint64_t{high_axes_ >> i & 1} << 4);
  }
  /// Bit i: whether what stands at place i is flipped.
  constexpr std::uint64_t flips() const { return flips_; }
  /// Whether digits are complemented.
  constexpr bool backwards() const { return backwards_; }

  friend constexpr bool operator==(const HilbertState&, const HilbertState&) = default;

 private:
  static constexpr int kOfWord = 16;

  // Within a cell the first axis is flipped for each 1, and changes places with the axis of each 0.
  constexpr void turn(int d, std::uint64_t turned) {
    for (int i = 0; i < d; ++i) {
      if ((turned >> (d - 1 - i) & 1) != 0) {
        flips_ ^= 1;
        continue;
      }
      const auto differ = static_cast<std::uint64_t>(axis(0) ^ axis(i));
      axes_ ^= differ & 15;
      (i < kOfWord ? axes_ : more_axes_) ^= (differ & 15) << (4 * (i % kOfWord));
      if (differ >> 4 != 0) high_axes_ ^= 1U | 1U << i;
      const std::uint64_t flipped = (flips_ ^ flips_ >> i) & 1;
      if (i > 0) flips_ ^= flipped | flipped << i;
    }
  }

  // The axis of each place: four bits of it, sixteen to a word, and the fifth.
  std::uint64_t axes_ = 0xfedcba9876543210;
  std::uint64_t more_axes_ = 0xfedcba9876543210;
  std::uint32_t high_axes_ = 0xffff0000;
  bool backwards_ = false;
  std::uint64_t flips_ = 0;
};

struct HilbertCube {
  int d = 2;
  int b = 1;

  /// Bit `level` of each coordinate of a row-major index, axis 0 first.
  constexpr std::uint64_t cell_of(std::uint64_t x, int level) const {
    std::uint64_t cell = 0;
    for (int a = d - 1; a >= 0; --a) cell = cell << 1 | (x >> (a * b + level) & 1);
    return cell;
  }
  /// Where a cell of that level begins.
  constexpr std::uint64_t place_of(std::uint64_t cell, int level) const {
    std::uint64_t x = 0;
    for (int a = 0; a < d; ++a) x |= (cell >> a & 1) << (a * b + level);
    return x;
  }
  constexpr std::uint64_t digit_of(std::uint64_t y, int level) const {
    return y >> (level * d) & ((std::uint64_t{1} << d) - 1);
  }

  /// Where the number-th cell begins after so many levels, with `below` more within it; `state` becomes that
  /// within it.
  struct Levels {
    int levels = 0;
    int below = 0;
  };
  template <typename State>
  constexpr std::uint64_t go_down(std::uint64_t number, Levels by, State& state) const {
    std::uint64_t place = 0;
    for (int level = by.levels - 1; level >= 0; --level)
      place |= place_of(state.enter_digit(d, digit_of(number, level)), level + by.below);
    return place;
  }
};

}  // namespace faro::detail
