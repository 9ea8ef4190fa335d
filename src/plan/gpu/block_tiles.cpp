#include "plan/gpu/block_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/value_arrays.hpp"
#include "plan/gpu/tile_digits.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kHeldBytes = 256;   // of wide numbers, in a thread's registers
constexpr std::uint64_t kAlongBytes = 128;  // the same where nothing is turned

class BlockTileMaker {
 public:
  BlockTileMaker(const BlockPlan& plan, bool back, const ValueAlignment& alignment)
      : scaling_(plan.scaling),
        back_(back),
        values_(back ? plan.undone() : plan.values),
        axes_(values_.axes) {
    wide_ = {.strides = back ? &ValueStrides::out : &ValueStrides::in,
             .bytes = bytes_of(scaling_.wide),
             .alignment = back ? alignment.out : alignment.in};
    data_ = {.strides = back ? &ValueStrides::in : &ValueStrides::out,
             .bytes = 1,
             .alignment = back ? alignment.in : alignment.out};
    join_pairs();
  }

  std::optional<BlockTiles> make() {
    if (!find_axes()) return std::nullopt;
    const std::uint64_t block = block_of(scaling_.format);
    part_ = back_ && wide_.along ? kValueVectorBytes / wide_.bytes : block;
    if (across_) {
      vector_ = std::max<std::uint64_t>((along_both() ? kAlongBytes : kHeldBytes) / (block * wide_.bytes), 1);
      if (back_ && wide_.along) vector_ = along_both() ? 4 : kValueVectorBytes;
      const std::uint64_t wanted = vector_;
      while (vector_ > 0 && (axes_[*across_].extent % vector_ != 0 || !fits(wide_) || !fits(data_)))
        vector_ /= 2;
      // Of less boxes make more.
      if (vector_ == 0 || (!along_both() && vector_ * 2 < wanted)) return std::nullopt;
    }
    if (!fits(wide_) || !fits(data_)) return std::nullopt;
    const TileDigits digits = digits_of_tiles();
    if (digits.digits().size() > kernels::kValueGridAxes) return std::nullopt;
    BlockTiles tiles{.part = static_cast<int>(part_),
                     .vector = static_cast<int>(vector_),
                     .wide_along = wide_.along,
                     .data_along = data_.along,
                     .params = params_of_tiles(axes_, values_.first, digits.digits())};
    tiles.params.column = place_of(axes_[within_].strides, 1);
    if (across_) {
      const std::uint64_t step = along_both() ? axes_[*across_].extent / vector_ : 1;
      tiles.params.row = place_of(axes_[*across_].strides, static_cast<std::int64_t>(step));
    }
    tiles.blocks = ceil_div(tiles.params.tiles, std::uint64_t{kernels::kValueThreads});
    return tiles;
  }

 private:
  struct Side {
    std::int64_t ValueStrides::*strides = nullptr;
    std::uint64_t bytes = 1;
    std::uint64_t alignment = 1;
    bool along = false;  // numbers of a block lie together
  };
  bool along_both() const { return wide_.along && data_.along; }
  std::int64_t stride(std::size_t axis, const Side& side) const { return axes_[axis].strides.*side.strides; }

  // Two numbers of a byte are an axis of their own, which tiles need not keep apart: they have even vectors.
  void join_pairs() {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (!axes_[i].whole || axes_[i].strides.scale == 0) continue;
      const ValueStrides s = axes_[i].strides;
      const auto outer = std::find_if(axes_.begin(), axes_.end(), [&](const ValueAxis& axis) {
        return axis.strides.in == 2 * s.in && axis.strides.out == 2 * s.out &&
               axis.strides.scale == 2 * s.scale;
      });
      if (outer == axes_.end()) return;
      outer->strides = s;
      outer->extent *= 2;
      axes_.erase(axes_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

  std::optional<std::size_t> fastest_beside_blocks(const Side& side) const {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (i != within_ && stride(i, side) == 1) return i;
    }
    return std::nullopt;
  }

  bool find_axes() {
    const auto within = std::find_if(axes_.begin(), axes_.end(), [](const ValueAxis& axis) {
      return axis.whole && axis.strides.scale == 0;
    });
    if (within == axes_.end()) return false;
    within_ = static_cast<std::size_t>(within - axes_.begin());
    wide_.along = stride(within_, wide_) == 1;
    data_.along = stride(within_, data_) == 1;
    if (along_both()) {
      // The axis of blocks, or whatever is next in the data.
      for (const std::size_t axis : slowest_last(axes_, data_.strides)) {
        if (across_ || axis == within_ || axes_[axis].extent == 1) continue;
        across_ = axis;
      }
      return true;
    }
    across_ = fastest_beside_blocks(wide_.along ? data_ : wide_);
    return across_ && (wide_.along || data_.along || stride(*across_, data_) == 1);
  }

  // Whether vectors of a side begin where they can be moved at once.
  bool fits(const Side& side) const {
    const bool packed = &side == &data_ && bits_of(scaling_.format) == 4;
    const std::uint64_t run = side.along ? part_ : vector_;
    // Two numbers of 4 bits are a byte, a magnitude is compared in a word.
    if (packed && run % 2 != 0) return false;
    if (&side == &wide_ && !back_ && run * side.bytes < sizeof(std::uint32_t)) return false;
    const std::uint64_t most = packed ? 2 * kValueVectorBytes : kValueVectorBytes / side.bytes;
    const std::uint64_t together = std::min(run, most);
    if (together * side.bytes > side.alignment) return false;
    const std::size_t along = side.along ? within_ : *across_;
    std::uint64_t all = stride_magnitude(values_.first.*side.strides) | run;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (i != along && axes_[i].extent > 1) all |= stride_magnitude(stride(i, side));
    }
    return all % together == 0;
  }

  TileDigits digits_of_tiles() const {
    constexpr std::uint64_t kLine = 128;
    constexpr double kAcross = 4;
    TileDigits digits(axes_);
    digits.keep(within_, part_);
    if (along_both()) {
      if (across_) digits.keep_far(*across_, vector_);
    } else {
      digits.keep(*across_, vector_);
    }
    if (wide_.along != data_.along) {
      const Side& together = wide_.along ? wide_ : data_;
      const std::vector<std::size_t> order = lying_together(axes_, together.strides);
      const std::uint64_t line = wide_.along ? 2 * kLine : kLine * 8 / bits_of(scaling_.format);
      digits.take_near(*across_, kAcross);
      digits.take_run(order, together.bytes, line);
      digits.take_near(*across_, kernels::kValueThreads / kAcross / kAcross);
    }
    digits.take_rest(slowest_last(axes_, &ValueStrides::out));
    return digits;
  }

  const BlockScaling& scaling_;
  bool back_;
  ValuePlan values_;
  std::vector<ValueAxis> axes_;
  Side wide_;
  Side data_;
  std::size_t within_ = 0;             // the axis of a block's numbers
  std::optional<std::size_t> across_;  // the axis of a thread's blocks
  std::uint64_t part_ = 1;
  std::uint64_t vector_ = 1;
};

}  // namespace

std::optional<BlockTiles> make_block_tiles(const BlockPlan& plan, bool back,
                                           const ValueAlignment& alignment) {
  return BlockTileMaker(plan, back, alignment).make();
}

std::string BlockTiles::explain() const {
  return fmt::format("tiles           {} of {} x {}\n  between       in registers, {} blocks of a thread\n",
                     params.tiles, vector, part, vector);
}

}  // namespace faro::detail
