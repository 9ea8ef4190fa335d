#include "plan/gpu/value_turns.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/value_arrays.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

using kernels::ValueBoxParams;

constexpr std::uint64_t kLeastVectorBytes = 8;
// 1.1 where all is whole. Past that boxes do better, but later where they gather single bytes.
constexpr double kMostPrice = 1.25;
constexpr double kMostPriceOfBytes = 1.4;
constexpr std::uint64_t kMostTiles = (std::uint64_t{1} << 31) - 1;

class ValueTurnMaker {
 public:
  ValueTurnMaker(const ValuePlan& plan, const ValueBoxSides& sides, const ValueAlignment& alignment)
      : plan_(plan), sides_(sides), alignment_(alignment) {}

  std::optional<ValueTurns> make() {
    if (!turns()) return std::nullopt;
    const std::uint64_t in =
        vector_of(&ValueStrides::in, a_, sides_.in_bytes, alignment_.in, sides_.in_bytes);
    std::uint64_t out = vector_of(&ValueStrides::out, b_, sides_.out_bytes, alignment_.out,
                                  std::max(sides_.out_bytes, sides_.addend_bytes));
    if (sides_.addend_bytes > 0)
      out = std::min(out, vector_of(&ValueStrides::addend, b_, sides_.addend_bytes, alignment_.addend,
                                    sides_.addend_bytes));
    out = std::min(out, kernels::kTurnedVectors);
    if (in < 2 || out < 2 || in * sides_.in_bytes < kLeastVectorBytes ||
        out * sides_.out_bytes < kLeastVectorBytes)
      return std::nullopt;
    // Of the orders whose digits reach so many bytes, the one that memory likes best.
    constexpr std::uint64_t kWarpRead[] = {32, 64, 128};
    constexpr std::uint64_t kWritten[] = {64, 128, 256};
    std::vector<Digit> best;
    double least = 0;
    for (const std::uint64_t warp_read : kWarpRead) {
      for (const std::uint64_t written : kWritten) {
        take_digits(in, out, warp_read, written);
        const double price = price_of(in, out);
        if (!best.empty() && price >= least) continue;
        least = price;
        best = digits_;
      }
    }
    digits_ = best;
    if (digits_.size() > kernels::kValueGridAxes ||
        least > (sides_.out_bytes == 1 ? kMostPriceOfBytes : kMostPrice))
      return std::nullopt;
    return made(in, out);
  }

 private:
  struct Digit {
    std::size_t axis;
    std::uint64_t extent;
    std::uint64_t step;  // indices of the axis
  };

  const ValueStrides& strides(std::size_t axis) const { return sides_.axes[axis].strides; }

  bool turns() {
    // Numbers that become wider do as well in boxes.
    if (sides_.in_bytes < sides_.out_bytes) return false;
    if (sides_.in_order.empty() || sides_.out_order.empty()) return false;
    a_ = sides_.in_order.front();
    b_ = sides_.out_order.front();
    if (a_ == b_ || strides(a_).in != 1 || strides(b_).out != 1) return false;
    const auto one_for_all = [&](std::size_t axis) {
      return strides(axis).scale == 0 && strides(axis).offset == 0;
    };
    return one_for_all(a_) && one_for_all(b_) && (sides_.addend_bytes == 0 || strides(b_).addend == 1);
  }

  // Numbers that lie together along `axis` wherever a vector may begin.
  std::uint64_t vector_of(std::int64_t ValueStrides::*side, std::size_t axis, std::uint64_t bytes,
                          std::uint64_t alignment, std::uint64_t widest) const {
    std::uint64_t all = stride_magnitude(plan_.first.*side) | sides_.axes[axis].extent |
                        kValueVectorBytes / widest | std::max<std::uint64_t>(alignment / bytes, 1);
    for (std::size_t i = 0; i < sides_.axes.size(); ++i) {
      if (i != axis) all |= stride_magnitude(strides(i).*side);
    }
    return all & (~all + 1);
  }

  // The divisor that is nearest to so many times; of two the less.
  static std::uint64_t divisor_near(std::uint64_t extent, double wanted) {
    constexpr std::uint64_t kMost = 4096;
    std::uint64_t best = 1;
    for (std::uint64_t d = 2; d <= std::min(extent, kMost); ++d) {
      if (extent % d != 0) continue;
      if (std::abs(std::log2(static_cast<double>(d) / wanted)) <
          std::abs(std::log2(static_cast<double>(best) / wanted)))
        best = d;
    }
    return best;
  }

  void take(std::size_t axis, std::uint64_t extent) {
    if (extent <= 1) return;
    digits_.push_back({.axis = axis, .extent = extent, .step = done_[axis]});
    done_[axis] *= extent;
    left_[axis] /= extent;
  }

  // Until what lies together along `order` has so many bytes.
  void take_run(const std::vector<std::size_t>& order, std::uint64_t bytes, std::uint64_t wanted) {
    std::uint64_t run = bytes;
    for (const std::size_t axis : order) {
      const std::uint64_t have = run * done_[axis];
      if (have < wanted)
        take(axis, divisor_near(left_[axis], static_cast<double>(wanted) / static_cast<double>(have)));
      run *= done_[axis];
      if (left_[axis] > 1 || run >= wanted) return;
    }
  }

  void take_digits(std::uint64_t in, std::uint64_t out, std::uint64_t warp_read, std::uint64_t written) {
    constexpr std::uint64_t kRead = 256;
    digits_.clear();
    left_.clear();
    done_.assign(sides_.axes.size(), 1);
    for (const ValueAxis& axis : sides_.axes) left_.push_back(axis.extent);
    done_[a_] = in;
    done_[b_] = out;
    left_[a_] /= in;
    left_[b_] /= out;
    take_run({a_}, sides_.in_bytes, warp_read);
    take_run(sides_.out_order, sides_.out_bytes, written);
    take_run(sides_.in_order, sides_.in_bytes, kRead);
    for (std::size_t axis = sides_.axes.size(); axis-- > 0;) take(axis, left_[axis]);
  }

  // What a block touches of memory by what it moves: lines that are read, granules that are written, and the
  // sectors of its warps' stores. Fitted to 3,132 orders of an H200, each half held against the other
  // (docs/notes/cuda-experiments.md).
  double price_of(std::uint64_t in, std::uint64_t out) const {
    constexpr double kOfLines = 0.3;
    constexpr double kOfGranules = 0.5;
    constexpr double kOfStores = 0.3;
    std::uint64_t tiles = 1;
    for (const Digit& digit : digits_) tiles *= digit.extent;
    const std::uint64_t blocks = ceil_div(tiles, std::uint64_t{kernels::kValueThreads});
    double price = 0;
    for (const std::uint64_t block : {std::uint64_t{0}, blocks / 3}) {
      const Touched read = touched(block, tiles, &ValueStrides::in, sides_.in_bytes, strides(b_).in, out);
      const Touched written =
          touched(block, tiles, &ValueStrides::out, sides_.out_bytes, strides(a_).out, in);
      const double vector_in = static_cast<double>(in * sides_.in_bytes);
      const double vector_out = static_cast<double>(out * sides_.out_bytes);
      price += kOfLines * read.lines / vector_in + kOfGranules * written.granules / vector_out +
               kOfStores * written.of_warps / vector_out;
    }
    return price / 2;
  }

  // Bytes a vector.
  struct Touched {
    double lines = 0;
    double granules = 0;
    double of_warps = 0;
  };

  // By the vectors of a block's threads, each `count`, `step` numbers apart.
  Touched touched(std::uint64_t block, std::uint64_t tiles, std::int64_t ValueStrides::*side,
                  std::uint64_t bytes, std::int64_t step, std::uint64_t count) const {
    constexpr std::uint64_t kLine = 128;
    constexpr std::uint64_t kGranule = 64;
    constexpr std::uint64_t kSector = 32;
    const std::uint64_t first = block * kernels::kValueThreads;
    const std::uint64_t last = std::min<std::uint64_t>(first + kernels::kValueThreads, tiles);
    // Vectors of a thread that are a line apart or more meet no other of its own.
    const std::uint64_t looked_at = stride_magnitude(step) * bytes >= kLine ? 1 : count;
    std::vector<std::int64_t> at;
    std::vector<std::int64_t> of_store;  // where each thread's first vector begins
    for (std::uint64_t tile = first; tile < last; ++tile) {
      std::uint64_t number = tile;
      std::int64_t begin = 0;
      for (const Digit& digit : digits_) {
        begin += static_cast<std::int64_t>(number % digit.extent * digit.step) * strides(digit.axis).*side;
        number /= digit.extent;
      }
      of_store.push_back(begin * static_cast<std::int64_t>(bytes));
      for (std::uint64_t v = 0; v < looked_at; ++v)
        at.push_back((begin + static_cast<std::int64_t>(v) * step) * static_cast<std::int64_t>(bytes));
    }
    const auto distinct = [](auto begin, auto end, std::uint64_t unit) {
      std::vector<std::int64_t> units;
      for (auto i = begin; i != end; ++i) units.push_back(floor_div(*i, static_cast<std::int64_t>(unit)));
      std::sort(units.begin(), units.end());
      return static_cast<double>((std::unique(units.begin(), units.end()) - units.begin())) *
             static_cast<double>(unit);
    };
    double of_warps = 0;
    for (auto i = of_store.begin(); i != of_store.end();) {
      const auto end = i + std::min<std::ptrdiff_t>(kernels::kValueWarpLanes, of_store.end() - i);
      of_warps += distinct(i, end, kSector);
      i = end;
    }
    const auto vectors = static_cast<double>(at.size());
    return {.lines = distinct(at.begin(), at.end(), kLine) / vectors,
            .granules = distinct(at.begin(), at.end(), kGranule) / vectors,
            .of_warps = of_warps / static_cast<double>(of_store.size())};
  }
  static std::int64_t floor_div(std::int64_t x, std::int64_t by) { return (x - (x % by + by) % by) / by; }

  ValueTurns made(std::uint64_t in, std::uint64_t out) const {
    ValueTurns turns{.in_vector = in, .out_vector = out, .params = {}, .box = {}};
    turns.box.assign(sides_.axes.size(), 1);
    turns.box[a_] = in;
    turns.box[b_] = out;
    ValueBoxParams& p = turns.params;
    p.first = place_of(plan_.first, 1);
    p.row = place_of(strides(b_), 1);
    p.column = place_of(strides(a_), 1);
    p.tiles = 1;
    for (const Digit& digit : digits_) {
      p.tiles *= digit.extent;
      p.grid[p.grid_axes++] = {
          .boxes = device::Division64(digit.extent),
          .few_boxes = device::Division32(static_cast<std::uint32_t>(std::min(digit.extent, kMostTiles))),
          .step = place_of(strides(digit.axis), static_cast<std::int64_t>(digit.step))};
    }
    p.few = p.tiles <= kMostTiles ? 1 : 0;
    turns.blocks = ceil_div(p.tiles, std::uint64_t{kernels::kValueThreads});
    return turns;
  }

  const ValuePlan& plan_;
  const ValueBoxSides& sides_;
  const ValueAlignment& alignment_;
  std::size_t a_ = 0;                // the input's fastest axis
  std::size_t b_ = 0;                // the output's
  std::vector<std::uint64_t> done_;  // indices of an axis that the digits so far, and a tile, have
  std::vector<std::uint64_t> left_;
  std::vector<Digit> digits_;
};

}  // namespace

std::optional<ValueTurns> make_value_turns(const ValuePlan& plan, const ValueBoxSides& sides,
                                           const ValueAlignment& alignment) {
  return ValueTurnMaker(plan, sides, alignment).make();
}

}  // namespace faro::detail
