#include "plan/gpu/value_turns.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/value_arrays.hpp"
#include "plan/gpu/value_turn_price.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

using kernels::ValueBoxParams;

constexpr std::uint64_t kLeastVectorBytes = 8;
// Past that boxes do better: sooner where numbers become narrower, later where single bytes are gathered.
constexpr double kMostPrice = 1.1;
constexpr double kMostPriceOfNarrowed = 1.06;
constexpr double kMostPriceOfBytes = 1.33;
// Blocks in the input's order do worse than those in the output's at the same price.
constexpr double kOfInputsOrder = 0.015;
constexpr std::uint64_t kMostTiles = (std::uint64_t{1} << 31) - 1;

class ValueTurnMaker {
 public:
  ValueTurnMaker(const ValueStrides& first, const ValueBoxSides& sides) : first_(first), sides_(sides) {}

  std::optional<ValueTurns> make(const ValueAlignment& alignment) {
    if (!turns()) return std::nullopt;
    const std::uint64_t in =
        vector_of(&ValueStrides::in, a_, alignment.in / sides_.in_bytes, kValueVectorBytes / sides_.in_bytes);
    std::uint64_t out = vector_of(&ValueStrides::out, b_, alignment.out / sides_.out_bytes,
                                  kValueVectorBytes / std::max(sides_.out_bytes, sides_.addend_bytes));
    if (sides_.addend_bytes > 0)
      out = std::min(out, vector_of(&ValueStrides::addend, b_, alignment.addend / sides_.addend_bytes,
                                    kValueVectorBytes / sides_.addend_bytes));
    out = std::min(out, kernels::kTurnedVectors);
    if (in < 2 || out < 2 || in * sides_.in_bytes < kLeastVectorBytes ||
        out * sides_.out_bytes < kLeastVectorBytes)
      return std::nullopt;
    return make(in, out, most_price());
  }

  std::optional<ValueTurns> make_of_elements(std::uint64_t most_in, std::uint64_t most_out,
                                             double most_price) {
    if (!turns()) return std::nullopt;
    const std::uint64_t out = vector_of(&ValueStrides::out, b_, most_out, most_out);
    if (out * sides_.out_bytes < kLeastVectorBytes) return std::nullopt;
    return make(vector_of(&ValueStrides::in, a_, most_in, most_in), out, most_price);
  }

 private:
  std::optional<ValueTurns> make(std::uint64_t in, std::uint64_t out, double least) {
    // Of the orders whose digits reach so many bytes, the one that memory likes best.
    constexpr std::uint64_t kWarpRead[] = {32, 64, 128};
    constexpr std::uint64_t kWritten[] = {64, 128, 256};
    TurnPrice price(sides_, {.in_axis = a_, .out_axis = b_, .in_vector = in, .out_vector = out});
    inputs_ = slowest_last(&ValueStrides::in);
    outputs_ = slowest_last(&ValueStrides::out);
    std::vector<TurnDigit> best;
    for (const Rest rest : {Rest::by_output, Rest::by_input}) {
      const bool by_output = rest == Rest::by_output;
      if (!by_output && !may_go_by_input()) break;
      const double at_least = by_output ? 0 : kOfInputsOrder;
      std::vector<std::vector<TurnDigit>> priced;
      for (const std::uint64_t warp_read : kWarpRead) {
        for (const std::uint64_t written : kWritten) {
          if (least <= 1 + at_least) break;
          take_digits(in, out, warp_read, written, rest);
          if (std::find(priced.begin(), priced.end(), digits_) != priced.end()) continue;
          priced.push_back(digits_);
          const double next = price.of(digits_, by_output, least - at_least) + at_least;
          if (next >= least) continue;
          least = next;
          best = digits_;
        }
      }
    }
    digits_ = best;
    if (digits_.empty() || digits_.size() > kernels::kValueGridAxes) return std::nullopt;
    return made(in, out, least);
  }

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

  std::vector<std::size_t> slowest_last(std::int64_t ValueStrides::*side) const {
    std::vector<std::size_t> axes(sides_.axes.size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    std::stable_sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) {
      return stride_magnitude(strides(a).*side) < stride_magnitude(strides(b).*side);
    });
    return axes;
  }

  // Numbers that lie together along `axis` wherever a vector may begin.
  std::uint64_t vector_of(std::int64_t ValueStrides::*side, std::size_t axis, std::uint64_t aligned,
                          std::uint64_t most) const {
    std::uint64_t all = stride_magnitude(first_.*side) | sides_.axes[axis].extent | most |
                        std::max<std::uint64_t>(aligned, 1);
    for (std::size_t i = 0; i < sides_.axes.size(); ++i) {
      if (i != axis) all |= stride_magnitude(strides(i).*side);
    }
    return all & (~all + 1);
  }

  // The divisor that is nearest to `wanted` by their ratio; of two the less.
  static std::uint64_t divisor_near(std::uint64_t extent, double wanted) {
    constexpr std::uint64_t kMost = 4096;
    const std::uint64_t most = std::min(extent, kMost);
    std::uint64_t below = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, most);
    while (extent % below != 0) --below;
    // Whatever is further above is further away.
    for (std::uint64_t above = below + 1;
         above <= most && static_cast<double>(above) * static_cast<double>(below) < wanted * wanted;
         ++above) {
      if (extent % above == 0) return above;
    }
    return below;
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

  bool reads_more() const { return sides_.in_bytes > sides_.out_bytes + sides_.addend_bytes; }
  double most_price() const {
    if (sides_.out_bytes == 1) return kMostPriceOfBytes;
    return reads_more() ? kMostPriceOfNarrowed : kMostPrice;
  }

  // Where lines that are read twice weigh more than pages that are written for a longer time, and where
  // blocks do not go along the output's run last.
  bool may_go_by_input() const { return reads_more() && inputs_.back() != b_; }

  // The order of what no run has taken.
  enum class Rest { by_output, by_input };

  void take_digits(std::uint64_t in, std::uint64_t out, std::uint64_t warp_read, std::uint64_t written,
                   Rest rest) {
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
    for (const std::size_t axis : rest == Rest::by_output ? outputs_ : inputs_) take(axis, left_[axis]);
  }

  ValueTurns made(std::uint64_t in, std::uint64_t out, double price) const {
    ValueTurns turns{.in_vector = in, .out_vector = out, .price = price, .params = {}, .box = {}};
    turns.box.assign(sides_.axes.size(), 1);
    turns.box[a_] = in;
    turns.box[b_] = out;
    ValueBoxParams& p = turns.params;
    p.first = place_of(first_, 1);
    p.row = place_of(strides(b_), 1);
    p.column = place_of(strides(a_), 1);
    p.tiles = 1;
    for (const TurnDigit& digit : digits_) {
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

  const ValueStrides& first_;
  const ValueBoxSides& sides_;
  std::size_t a_ = 0;                // the input's fastest axis
  std::size_t b_ = 0;                // the output's
  std::vector<std::uint64_t> done_;  // indices of an axis that the digits so far, and a tile, have
  std::vector<std::uint64_t> left_;
  std::vector<std::size_t> inputs_;  // all axes, as the input has them, the fastest first
  std::vector<std::size_t> outputs_;
  std::vector<TurnDigit> digits_;
};

}  // namespace

std::optional<ValueTurns> make_value_turns(const ValuePlan& plan, const ValueBoxSides& sides,
                                           const ValueAlignment& alignment) {
  return ValueTurnMaker(plan.first, sides).make(alignment);
}

std::optional<ValueTurns> make_element_turns(const ValueBoxSides& sides, std::uint64_t most_in,
                                             std::uint64_t most_out, double most_price) {
  const ValueStrides first{};
  return ValueTurnMaker(first, sides).make_of_elements(most_in, most_out, most_price);
}

}  // namespace faro::detail
