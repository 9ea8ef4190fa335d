// What an order of threads' tiles costs (plan/gpu/value_turns.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/gpu/tile_digits.hpp"
#include "plan/gpu/value_box_shape.hpp"

namespace faro::detail {

/// Vectors of a thread: numbers, along the axis that is its side's fastest.
struct TurnTile {
  std::size_t in_axis = 0;
  std::size_t out_axis = 0;
  std::uint64_t in_vector = 1;
  std::uint64_t out_vector = 1;
};

/// What blocks touch of memory by what they move, 1 where all that is touched is whole: lines that are read,
/// granules that are written, and the sectors of a warp's stores.
class TurnPrice {
 public:
  TurnPrice(const ValueBoxSides& sides, const TurnTile& tile);
  /// Or anything from `most` on, where it is not less. `by_output`: the next block writes what is left of a
  /// line, so that half of one is as good as whole.
  double of(const std::vector<TileDigit>& digits, bool by_output, double most);

 private:
  // Different units of memory, found by a table of those that came before.
  class Units {
   public:
    void clear();
    void add(std::int64_t unit);
    std::uint64_t count() const { return count_; }

   private:
    static constexpr std::size_t kSlots = 8192;  // twice what a block's vectors are at most
    std::vector<std::int64_t> units_ = std::vector<std::int64_t>(kSlots);
    std::vector<std::uint32_t> rounds_ = std::vector<std::uint32_t>(kSlots, 0);
    std::uint32_t round_ = 0;
    std::uint64_t count_ = 0;
  };

  // Where the tiles of a block begin, in bytes of a side.
  void begin_at(const std::vector<TileDigit>& digits, std::uint64_t first, std::uint64_t count,
                std::int64_t ValueStrides::*side, std::uint64_t bytes);
  // Bytes that are touched by those that are needed, of `count` vectors a tile, `step` bytes apart.
  double touched(std::uint64_t unit, std::uint64_t vector_bytes, std::int64_t step, std::uint64_t count);
  double touched_by_warps(std::uint64_t vector_bytes);

  const ValueBoxSides& sides_;
  TurnTile tile_;
  std::vector<std::int64_t> begins_;
  std::vector<std::uint64_t> at_;  // of a block's first tile, the digits
  std::vector<std::int64_t> steps_;
  Units units_;
};

}  // namespace faro::detail
