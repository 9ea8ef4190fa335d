// Which tile of a view is a thread's: its number in digits, the first of which are neighbours in memory
// (kernels/value_turned.hpp, kernels/quantize_tile.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/gpu/value_box_shape.hpp"

namespace faro::detail {

/// A digit of a thread's number, the least first: indices of an axis, `step` apart.
struct TileDigit {
  std::size_t axis;
  std::uint64_t extent;
  std::uint64_t step;
  bool operator==(const TileDigit&) const = default;
};

/// Takes digits from axes until nothing is left.
class TileDigits {
 public:
  explicit TileDigits(const std::vector<ValueAxis>& axes);

  /// The tile has so many neighbours along an axis: they are of no digit.
  void keep(std::size_t axis, std::uint64_t extent);
  /// The same, but those that are as far apart as can be.
  void keep_far(std::size_t axis, std::uint64_t extent) { left_[axis] /= extent; }
  void take(std::size_t axis, std::uint64_t extent);
  /// A divisor of what is left of the axis, near to `wanted`.
  void take_near(std::size_t axis, double wanted);
  /// Until what lies together along `order`, of numbers of so many bytes, has `wanted`.
  void take_run(const std::vector<std::size_t>& order, std::uint64_t bytes, std::uint64_t wanted);
  void take_rest(const std::vector<std::size_t>& order);

  const std::vector<TileDigit>& digits() const { return digits_; }

 private:
  std::vector<std::uint64_t> done_;  // indices of an axis that the digits so far, and a tile, have
  std::vector<std::uint64_t> left_;
  std::vector<TileDigit> digits_;
};

/// All axes as a side has them, the fastest first.
std::vector<std::size_t> slowest_last(const std::vector<ValueAxis>& axes, std::int64_t ValueStrides::*side);

/// The grid of tiles, and where the first begins. Requires: at most kernels::kValueGridAxes digits.
kernels::ValueBoxParams params_of_tiles(const std::vector<ValueAxis>& axes, const ValueStrides& first,
                                        const std::vector<TileDigit>& digits);

}  // namespace faro::detail
