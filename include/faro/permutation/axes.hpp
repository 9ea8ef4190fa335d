// Permutations of the axes of an array of any shape: numpy's and cuTENSOR's transposes, row-major.
//
//     axes(2 3 4; 2 0 1)      in[i][j][k], extents 2 3 4      out[k][i][j], extents 4 2 3
//
// out.shape[a] = shape[order[a]], as `numpy.transpose(in, order)`. The normal form has no axes of extent 1
// and no two axes that stay neighbours: axes(2 3 4; 1 2 0) is axes(2 12; 1 0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace faro {

namespace detail {
struct AxisMap;  // the form that all axes have inside, with strides on both sides
}  // namespace detail

class Axes {
 public:
  /// Brings to normal form. Errors: ErrorCode::value where `order` is no permutation of the axes' numbers, an
  /// extent is 0 with others (a count of 0 is the empty shape {0}), or the count is past 2^40.
  Axes(const std::vector<std::uint64_t>& shape, const std::vector<int>& order);
  /// Requires: a permutation of a dense array that flips and rolls no axis.
  explicit Axes(const detail::AxisMap& map);

  const std::vector<std::uint64_t>& shape() const { return shape_; }  // of the input, slowest axis first
  const std::vector<int>& order() const { return order_; }            // of the output: the input's axes

  std::uint64_t count() const;
  bool is_identity() const { return order_.size() <= 1; }

  /// Where a step of one along each of the input's axes leads, in elements of the output.
  const std::vector<std::uint64_t>& target_strides() const { return target_strides_; }

  /// Requires: x < count() (unchecked).   Cost: a division an axis.
  std::uint64_t operator()(std::uint64_t x) const;

  Axes inverse() const;
  detail::AxisMap map() const;  // the input's axes, slowest first

  friend bool operator==(const Axes&, const Axes&) = default;

 private:
  std::vector<std::uint64_t> shape_;
  std::vector<int> order_;
  std::vector<std::uint64_t> target_strides_;  // follows from the two
};

/// Axes as a text names them, before any normal form: the shape that a permutation takes, and the one that it
/// gives. `order` is a permutation of the axes' numbers.
struct NamedAxes {
  std::vector<std::uint64_t> shape;  // of the input, slowest axis first
  std::vector<int> order;            // of the output: the input's axes

  std::vector<std::uint64_t> target_shape() const;
  NamedAxes inverse() const;
  /// These axes of what `before` gives. Requires: before.target_shape() == shape (unchecked).
  NamedAxes after(const NamedAxes& before) const;
  /// One axis as an outer and an inner one, of extent `inner`. Requires: that divides it (unchecked).
  NamedAxes split(std::size_t axis, std::uint64_t inner) const;
};

namespace maps {
/// The array of rows x columns, row-major, transposed: any sizes, 0 too. Where they are powers of two the
/// affine maps::transpose says the same and has better kernels; the text `transpose(rows, columns)` takes
/// whichever fits.
Axes transpose_any(std::uint64_t rows, std::uint64_t columns);
}  // namespace maps

// Cyclic shifts and reversals of any number of elements.
//
//     roll(5, 2)      in   a b c d e        flip(5)     in   a b c d e        flipped, then shifted:
//                     out  d e a b c                    out  e d c b a        pi(x) = (shift - x) mod count
//
// Where there are 2^n elements they are not affine over F2 (but for the plain reversal), hence a type of
// their own.

/// pi(x) = (shift + x) mod count, or (shift - x) mod count where reversed. Value type.
struct Cyclic {
  std::uint64_t count = 0;
  std::uint64_t shift = 0;  // below count, or 0
  bool reversed = false;

  /// Requires: x < count (unchecked).   Cost: two additions.
  constexpr std::uint64_t operator()(std::uint64_t x) const {
    if (reversed) return shift >= x ? shift - x : shift + (count - x);
    return x >= count - shift ? x - (count - shift) : x + shift;
  }

  constexpr Cyclic inverse() const {
    if (reversed) return *this;
    return {.count = count, .shift = shift == 0 ? 0 : count - shift, .reversed = false};
  }

  friend constexpr bool operator==(const Cyclic&, const Cyclic&) = default;
};

/// Axes that change places, each of them flipped or rolled: rotations by 90 degrees, flips and rolls of
/// single axes, the shift of a Fourier transform's middle to its begin (numpy's rot90, flip, roll and
/// fftshift).
///
///     axes(2 3; 1 0; 0 0; 1)     in   a b c      out  c f       the second axis flipped, then both changed:
///                                     d e f           b e       a quarter turn
///                                                     a d
///
/// out.shape[a] = shape[order[a]], and along it lies what moves[order[a]] makes of the input's axis. The
/// normal form has no axes of extent 1, and none that could be joined to its neighbour; of two elements an
/// axis is flipped or stays.
class CyclicAxes {
 public:
  /// Brings to normal form. `moves`: of each of the input's axes, as long as it. Errors: those of Axes;
  /// ErrorCode::value for another number of moves, or of other extents.
  CyclicAxes(const std::vector<std::uint64_t>& shape, const std::vector<int>& order,
             const std::vector<Cyclic>& moves);
  /// Requires: a permutation of a dense array.
  explicit CyclicAxes(const detail::AxisMap& map);

  const std::vector<std::uint64_t>& shape() const { return shape_; }  // of the input, slowest axis first
  const std::vector<int>& order() const { return order_; }            // of the output: the input's axes
  const std::vector<Cyclic>& moves() const { return moves_; }         // of the input's axes
  /// Where a step along each of the input's axes leads, but where it goes round; backwards of flipped ones.
  const std::vector<std::uint64_t>& target_strides() const { return target_strides_; }

  std::uint64_t count() const;
  /// Whether no axis is flipped or rolled: Axes say the same.
  bool is_axes() const;

  /// Requires: x < count() (unchecked).   Cost: a division an axis.
  std::uint64_t operator()(std::uint64_t x) const;

  CyclicAxes inverse() const;
  detail::AxisMap map() const;  // the input's axes, slowest first

  friend bool operator==(const CyclicAxes&, const CyclicAxes&) = default;

 private:
  std::vector<std::uint64_t> shape_;
  std::vector<int> order_;
  std::vector<Cyclic> moves_;
  std::vector<std::uint64_t> target_strides_;  // follows from the others
};

namespace maps {
/// The elements move `shift` places towards higher indices, and around (numpy.roll). Any shift, negative too.
/// Errors: ErrorCode::value for a count past 2^40.
Cyclic roll(std::uint64_t count, std::int64_t shift);
/// The array backwards (numpy.flip). Errors: as roll.
Cyclic flip(std::uint64_t count);
}  // namespace maps

}  // namespace faro
