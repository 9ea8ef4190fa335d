#include "plan/gpu/value_turns.hpp"

#include <algorithm>

#include "kernels/value_arrays.hpp"
#include "plan/gpu/tile_digits.hpp"
#include "plan/gpu/value_turn_price.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kLeastVectorBytes = 8;
// Past that boxes do better: sooner where numbers become narrower, later where single bytes are gathered.
constexpr double kMostPrice = 1.1;
constexpr double kMostPriceOfNarrowed = 1.06;
constexpr double kMostPriceOfBytes = 1.33;
// Blocks in the input's order do worse than those in the output's at the same price.
constexpr double kOfInputsOrder = 0.015;

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
    inputs_ = slowest_last(sides_.axes, &ValueStrides::in);
    outputs_ = slowest_last(sides_.axes, &ValueStrides::out);
    std::vector<TileDigit> best;
    for (const Rest rest : {Rest::by_output, Rest::by_input}) {
      const bool by_output = rest == Rest::by_output;
      if (!by_output && !may_go_by_input()) break;
      const double at_least = by_output ? 0 : kOfInputsOrder;
      std::vector<std::vector<TileDigit>> priced;
      for (const std::uint64_t warp_read : kWarpRead) {
        for (const std::uint64_t written : kWritten) {
          if (least <= 1 + at_least) break;
          const std::vector<TileDigit> digits = digits_of(in, out, warp_read, written, rest);
          if (std::find(priced.begin(), priced.end(), digits) != priced.end()) continue;
          priced.push_back(digits);
          const double next = price.of(digits, by_output, least - at_least) + at_least;
          if (next >= least) continue;
          least = next;
          best = digits;
        }
      }
    }
    if (best.empty() || best.size() > kernels::kValueGridAxes) return std::nullopt;
    return made(best, in, out, least);
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

  std::vector<TileDigit> digits_of(std::uint64_t in, std::uint64_t out, std::uint64_t warp_read,
                                   std::uint64_t written, Rest rest) const {
    constexpr std::uint64_t kRead = 256;
    TileDigits digits(sides_.axes);
    digits.keep(a_, in);
    digits.keep(b_, out);
    digits.take_run({a_}, sides_.in_bytes, warp_read);
    digits.take_run(sides_.out_order, sides_.out_bytes, written);
    digits.take_run(sides_.in_order, sides_.in_bytes, kRead);
    digits.take_rest(rest == Rest::by_output ? outputs_ : inputs_);
    return digits.digits();
  }

  ValueTurns made(const std::vector<TileDigit>& digits, std::uint64_t in, std::uint64_t out,
                  double price) const {
    ValueTurns turns{.in_vector = in,
                     .out_vector = out,
                     .price = price,
                     .params = params_of_tiles(sides_.axes, first_, digits),
                     .box = std::vector<std::uint64_t>(sides_.axes.size(), 1)};
    turns.box[a_] = in;
    turns.box[b_] = out;
    turns.params.row = place_of(strides(b_), 1);
    turns.params.column = place_of(strides(a_), 1);
    turns.blocks = ceil_div(turns.params.tiles, std::uint64_t{kernels::kValueThreads});
    return turns;
  }

  const ValueStrides& first_;
  const ValueBoxSides& sides_;
  std::size_t a_ = 0;                // the input's fastest axis
  std::size_t b_ = 0;                // the output's
  std::vector<std::size_t> inputs_;  // all axes, as the input has them, the fastest first
  std::vector<std::size_t> outputs_;
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
