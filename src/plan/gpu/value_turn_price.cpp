#include "plan/gpu/value_turn_price.hpp"

#include <algorithm>

#include "kernels/value_arrays.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

// Shares of a side's bytes that each count has, of what blocks take longer by. Fitted to 13,710 orders of an
// H200, each half of the shapes held against the other (docs/notes/cuda-experiments.md).
constexpr double kOfLines = 0.1;
constexpr double kOfGranules = 0.3;
constexpr double kOfStores = 0.6;

constexpr std::uint64_t kLine = 128;
constexpr std::uint64_t kGranule = 64;
constexpr std::uint64_t kSector = 32;

}  // namespace

void TurnPrice::Units::clear() {
  ++round_;
  count_ = 0;
}

void TurnPrice::Units::add(std::int64_t unit) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
  constexpr int kHashShift = 64 - 13;
  static_assert(kSlots == std::size_t{1} << (64 - kHashShift));
  std::size_t slot = static_cast<std::uint64_t>(unit) * kGolden >> kHashShift;
  for (; rounds_[slot] == round_; slot = (slot + 1) % kSlots) {
    if (units_[slot] == unit) return;
  }
  rounds_[slot] = round_;
  units_[slot] = unit;
  ++count_;
}

TurnPrice::TurnPrice(const ValueBoxSides& sides, const TurnTile& tile) : sides_(sides), tile_(tile) {}

double TurnPrice::of(const std::vector<TileDigit>& digits, bool by_output, double most) {
  const std::uint64_t granule = by_output ? kGranule : kLine;
  const auto in_bytes = static_cast<double>(sides_.in_bytes);
  const auto out_bytes = static_cast<double>(sides_.out_bytes + sides_.addend_bytes);
  const std::uint64_t read = tile_.in_vector * sides_.in_bytes;
  const std::uint64_t written = tile_.out_vector * sides_.out_bytes;
  const auto step = [](std::int64_t numbers, std::uint64_t bytes) {
    return numbers * static_cast<std::int64_t>(bytes);
  };
  const std::int64_t row = step(sides_.axes[tile_.out_axis].strides.in, sides_.in_bytes);
  const std::int64_t column = step(sides_.axes[tile_.in_axis].strides.out, sides_.out_bytes);
  std::uint64_t tiles = 1;
  for (const TileDigit& digit : digits) tiles *= digit.extent;
  constexpr std::uint64_t kThreads = kernels::kValueThreads;
  // The first block alone may lie better than others.
  const std::uint64_t blocks[] = {0, ceil_div(tiles, kThreads) / 3};
  const double scale = 1 / ((kOfLines * in_bytes + (kOfGranules + kOfStores) * out_bytes) *
                            static_cast<double>(std::size(blocks)));
  double price = 1;
  for (const std::uint64_t block : blocks) {
    const std::uint64_t first = block * kThreads;
    const std::uint64_t count = std::min(kThreads, tiles - first);
    begin_at(digits, first, count, &ValueStrides::out, sides_.out_bytes);
    price += scale * out_bytes * kOfStores * (touched_by_warps(written) - 1);
    if (price >= most) break;
    price += scale * out_bytes * kOfGranules * (touched(granule, written, column, tile_.in_vector) - 1);
    if (price >= most) break;
    begin_at(digits, first, count, &ValueStrides::in, sides_.in_bytes);
    price += scale * in_bytes * kOfLines * (touched(kLine, read, row, tile_.out_vector) - 1);
    if (price >= most) break;
  }
  return price;
}

void TurnPrice::begin_at(const std::vector<TileDigit>& digits, std::uint64_t first, std::uint64_t count,
                         std::int64_t ValueStrides::*side, std::uint64_t bytes) {
  steps_.clear();
  at_.clear();
  std::int64_t begin = 0;
  for (const TileDigit& digit : digits) {
    steps_.push_back(sides_.axes[digit.axis].strides.*side * static_cast<std::int64_t>(digit.step * bytes));
    at_.push_back(first % digit.extent);
    begin += steps_.back() * static_cast<std::int64_t>(at_.back());
    first /= digit.extent;
  }
  begins_.clear();
  for (std::uint64_t i = 0; i < count; ++i) {
    begins_.push_back(begin);
    for (std::size_t d = 0; d < digits.size(); ++d) {
      begin += steps_[d];
      if (++at_[d] < digits[d].extent) break;
      begin -= steps_[d] * static_cast<std::int64_t>(digits[d].extent);
      at_[d] = 0;
    }
  }
}

double TurnPrice::touched(std::uint64_t unit, std::uint64_t vector_bytes, std::int64_t step,
                          std::uint64_t count) {
  // Vectors of a thread that are a line apart or more meet no other of its own.
  const std::uint64_t looked_at = stride_magnitude(step) >= kLine ? 1 : count;
  units_.clear();
  for (const std::int64_t begin : begins_) {
    for (std::uint64_t v = 0; v < looked_at; ++v) {
      // Units are powers of two.
      units_.add((begin + static_cast<std::int64_t>(v) * step) & ~static_cast<std::int64_t>(unit - 1));
    }
  }
  return static_cast<double>(units_.count() * unit) /
         static_cast<double>(begins_.size() * looked_at * vector_bytes);
}

double TurnPrice::touched_by_warps(std::uint64_t vector_bytes) {
  std::uint64_t sectors = 0;
  for (std::size_t first = 0; first < begins_.size(); first += kernels::kValueWarpLanes) {
    const std::size_t last = std::min<std::size_t>(first + kernels::kValueWarpLanes, begins_.size());
    units_.clear();
    for (std::size_t i = first; i < last; ++i)
      units_.add(begins_[i] & ~static_cast<std::int64_t>(kSector - 1));
    sectors += units_.count();
  }
  return static_cast<double>(sectors * kSector) / static_cast<double>(begins_.size() * vector_bytes);
}

}  // namespace faro::detail
