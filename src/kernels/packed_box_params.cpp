#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

#include "kernels/packed_box.hpp"
#include "rounding.hpp"

namespace faro::kernels {
namespace {

using faro::detail::AxisMap;
using faro::detail::StridedAxis;

constexpr std::uint32_t kMostLines = 1024;        // rows, and columns, of a box
constexpr std::uint64_t kMostElements = 1 << 19;  // of the output's run,
constexpr std::uint64_t kMostOfTable = 1 << 13;   // of which a table has so many
constexpr std::uint32_t kMostBoxBytes = 100 << 10;

// A side's runs: its axes in order, of which the first ones up to `last` are a run.
struct Side {
  std::vector<std::size_t> order = {};
  std::size_t last = 0;
  bool ended = false;

  std::size_t last_axis() const { return order[last]; }
  bool has(std::size_t axis) const {
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(last) + 1;
    return std::find(order.begin(), end, axis) != end;
  }
};

class Boxes {
 public:
  Boxes(const AxisMap& part, int q) : part_(part), parts_(part.axes.size(), 1), q_(q) {
    for (std::size_t k = 0; k < part.axes.size(); ++k) {
      out_.order.push_back(k);
      if (part.axes[k].in != 0) in_.order.push_back(k);
    }
    std::stable_sort(in_.order.begin(), in_.order.end(),
                     [&](std::size_t a, std::size_t b) { return step(a) < step(b); });
  }

  bool have_runs() const { return !in_.order.empty() && part_.axes.front().out == element_bits(); }

  // The shorter run becomes longer, as long as there is room.
  void grow() {
    while (!in_.ended || !out_.ended) {
      const bool input = out_.ended || (!in_.ended && span() < out_bits());
      const Boxes before = *this;
      Side& side = input ? in_ : out_;
      if (!grow(side, input) || !fits()) {
        *this = before;
        (input ? in_ : out_).ended = true;
      }
    }
    add_others();
    for (std::size_t k = 0; k < parts_.size(); ++k) {  // parts of the same length
      const std::uint64_t extent = part_.axes[k].extent;
      parts_[k] = faro::detail::ceil_div(extent, faro::detail::ceil_div(extent, parts_[k]));
    }
  }

  std::optional<PackedBoxParams> params() const;

 private:
  static std::uint32_t words_of(std::int64_t bits) {
    return static_cast<std::uint32_t>(faro::detail::ceil_div(static_cast<std::uint64_t>(bits), kWordBits));
  }
  std::int64_t element_bits() const { return std::int64_t{32} >> q_; }
  std::int64_t step(std::size_t axis) const { return std::abs(part_.axes[axis].in); }
  // Bits of the input's run, and of the output's.
  std::int64_t span() const {
    std::int64_t bits = element_bits();
    for (std::size_t i = 0; i <= in_.last; ++i)
      bits += static_cast<std::int64_t>(parts_[in_.order[i]] - 1) * step(in_.order[i]);
    return bits;
  }
  std::int64_t out_bits() const { return static_cast<std::int64_t>(elements()) * element_bits(); }
  std::uint64_t elements() const {
    std::uint64_t number = 1;
    for (std::size_t i = 0; i <= out_.last; ++i) number *= parts_[out_.order[i]];
    return number;
  }
  // Of the axes of a side's run that are not of the other's.
  std::uint64_t lines(const Side& side, const Side& other) const {
    std::uint64_t number = 1;
    for (std::size_t i = 0; i <= side.last; ++i) {
      if (!other.has(side.order[i])) number *= parts_[side.order[i]];
    }
    return number;
  }

  bool grow(Side& side, bool input) {
    std::size_t axis = side.last_axis();
    if (parts_[axis] == part_.axes[axis].extent) {
      if (side.last + 1 == side.order.size()) return false;
      axis = side.order[side.last + 1];
      // A run of the input may have gaps, which are loaded, too.
      if (input ? step(axis) > 2 * span() : part_.axes[axis].out != out_bits()) return false;
      ++side.last;
      if (parts_[axis] > 1) return true;
    } else if (input && side.last == 0 && step(axis) > 2 * element_bits()) {
      return false;
    }
    parts_[axis] = std::min(2 * parts_[axis], part_.axes[axis].extent);
    return true;
  }
  // Runs that are all of what lies there in one piece may be short: of a further axis a box has several of
  // them.
  void add_others() {
    const auto is_whole = [&](const Side& side) {
      return parts_[side.last_axis()] == part_.axes[side.last_axis()].extent;
    };
    if (!is_whole(in_) || !is_whole(out_) || params()->by_squares) return;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (in_.has(k) || out_.has(k)) continue;
      other_ = k;
      for (bool fitted = true; fitted && parts_[k] < part_.axes[k].extent;) {
        const std::uint64_t before = parts_[k];
        parts_[k] = std::min(2 * before, part_.axes[k].extent);
        fitted = fits();
        if (!fitted) parts_[k] = before;
      }
      if (parts_[k] > 1) return;
    }
    other_.reset();
  }
  std::uint64_t others() const { return other_ ? parts_[*other_] : 1; }
  bool fits() const {
    if (lines(out_, in_) * others() > kMostLines || lines(in_, out_) * others() > kMostLines ||
        elements() > kMostElements || span() > std::int64_t{kMostElements})
      return false;
    const auto made = params();
    return made && (made->by_squares || made->of_table.divisor() << q_ <= kMostOfTable) &&
           shared_bytes(*made) <= kMostBoxBytes;
  }
  std::uint32_t shared_bytes(const PackedBoxParams& made) const {
    const auto bytes = [&](auto kernel) {
      kernel.params = made;
      return kernel.shared_bytes();
    };
    return q_ == 3   ? bytes(MovePackedBox<3>())
           : q_ == 4 ? bytes(MovePackedBox<4>())
                     : bytes(MovePackedBox<5>());
  }

  AxisMap part_;
  std::vector<std::uint64_t> parts_;  // of each axis, in a box
  int q_;
  Side in_ = {};
  Side out_ = {};
  std::optional<std::size_t> other_ = {};  // an axis of neither's runs
};

bool add(PackedBoxDigits& digits, std::uint64_t extent, std::int64_t far, std::int64_t near) {
  if (digits.count == kMostBoxDigits) return false;
  digits.digits[digits.count++] = {
      .extent = device::Division32(static_cast<std::uint32_t>(extent)), .far = far, .near = near};
  return true;
}

std::optional<PackedBoxParams> Boxes::params() const {
  AxisMap map = part_;
  PackedBoxParams made;
  const std::uint64_t others = this->others();
  made.row_count = static_cast<std::uint32_t>(lines(out_, in_) * others);
  made.column_count = static_cast<std::uint32_t>(lines(in_, out_) * others);
  const std::size_t in_last = in_.last_axis();
  const std::size_t out_last = out_.last_axis();
  made.elements_of_last = static_cast<std::uint32_t>(elements() / parts_[out_last]);
  made.span = element_bits();
  made.by_squares = true;
  bool has_room = true;
  for (std::size_t i = 0; i <= in_.last; ++i) {
    const std::size_t k = in_.order[i];
    const bool of_both = out_.has(k);
    made.by_squares = made.by_squares && !of_both && step(k) == made.span;
    if (k != in_last) made.span += static_cast<std::int64_t>(parts_[k] - 1) * step(k);
    if (of_both) continue;
    if (map.axes[k].in < 0) faro::detail::flip(map, k);
    has_room = has_room && add(made.columns, parts_[k], map.axes[k].out, map.axes[k].in);
  }
  std::int64_t rows = 1;
  for (std::size_t i = 0; i <= out_.last; ++i) {
    const std::size_t k = out_.order[i];
    const StridedAxis& axis = map.axes[k];
    const auto extent = static_cast<std::int64_t>(parts_[k]);
    const bool of_both = in_.has(k);
    has_room = has_room && add(made.elements, parts_[k], of_both ? 0 : rows, of_both ? axis.in : 0);
    if (!of_both) {
      has_room = has_room && add(made.rows, parts_[k], axis.in, 0);
      rows *= extent;
    } else if (axis.in < 0) {
      if (k == in_last)
        made.turned_near = -axis.in;
      else
        made.first_near -= (extent - 1) * axis.in;
    }
  }
  const std::uint32_t side = 1U << q_;
  made.words_across = words_of(span());
  made.words_down = words_of(out_bits());
  constexpr std::uint32_t kBanks = 32;
  const auto in_bank = [](std::uint32_t least, std::uint32_t bank) {
    return least + (bank - least) % kBanks;
  };
  // Lanes that are words of one run apart read so many words of few rows.
  const auto of_lanes = static_cast<std::uint32_t>(kBanks / rows + 1);
  made.row_pitch =
      rows > 1 && rows < kBanks ? in_bank(made.words_across, of_lanes | 1) : made.words_across | 1;
  made.column_pitch = made.words_down | 1;
  made.group_pitch = side * made.row_pitch;
  if (made.by_squares) made.group_pitch = in_bank(made.group_pitch, made.words_across);
  made.strip_pitch = in_bank(side * made.column_pitch, (kBanks + made.words_across - 1) / made.words_across);
  if (other_) {
    const StridedAxis& axis = map.axes[*other_];
    has_room = has_room && add(made.rows, others, axis.in, 0) &&
               add(made.columns, others, axis.out, rows * made.row_pitch * std::int64_t{kWordBits});
  }
  std::vector<std::size_t> order = {in_last};
  const auto number_of = [&](std::size_t axis) {  // among the axes as they will be
    const auto found = std::find(order.begin(), order.end(), axis);
    const auto number = found - order.begin();
    if (found == order.end()) order.push_back(axis);
    return static_cast<std::int32_t>(number);
  };
  made.out_last = number_of(out_last);
  if (other_) {
    made.row_last = made.column_last = number_of(*other_);
  } else {
    if (!in_.has(out_last)) made.row_last = made.out_last;
    if (!out_.has(in_last)) made.column_last = made.in_last;
  }
  const std::size_t rows_last = other_ ? *other_ : out_last;
  const std::size_t columns_last = other_ ? *other_ : in_last;
  if (made.row_last >= 0) made.rows_of_last = made.row_count / static_cast<std::uint32_t>(parts_[rows_last]);
  if (made.column_last >= 0)
    made.columns_of_last = made.column_count / static_cast<std::uint32_t>(parts_[columns_last]);
  for (std::size_t k = 0; k < map.axes.size(); ++k) number_of(k);
  if (!has_room || order.size() > static_cast<std::size_t>(kMostBoxAxes)) return std::nullopt;
  constexpr std::uint64_t kMostBoxes = (std::uint64_t{1} << 31) - 1;
  for (const std::size_t k : order) {
    const StridedAxis& axis = map.axes[k];
    const std::uint64_t boxes = faro::detail::ceil_div(axis.extent, parts_[k]);
    if (boxes > kMostBoxes / made.number) return std::nullopt;
    made.number *= boxes;
    if (in_.has(k) && axis.in < 0) made.backwards |= std::uint64_t{1} << made.count;
    made.axes[made.count++] = {.extent = axis.extent,
                               .part = static_cast<std::uint32_t>(parts_[k]),
                               .boxes = device::Division32(static_cast<std::uint32_t>(boxes)),
                               .in = axis.in,
                               .out = axis.out};
  }
  made.in_first = map.in_first;
  made.out_first = map.out_first;
  made.span_of_last = step(in_last);
  // After so many of the last axis the output's run goes on at a word.
  const std::uint32_t period = side / std::gcd(side, made.elements_of_last);
  const std::uint32_t words = made.elements_of_last * period / side;
  made.of_table = device::Division32(std::min(words, made.words_down));
  made.table_step =
      std::int64_t{period} * (in_.has(out_last) ? map.axes[out_last].in
                                                : rows / static_cast<std::int64_t>(parts_[out_last]) *
                                                      made.row_pitch * static_cast<std::int64_t>(kWordBits));
  made.of_row = device::Division32(made.words_across);
  made.of_column = device::Division32(made.words_down + 1);
  made.of_down = device::Division32(made.words_down);
  made.of_word = device::Division32(made.column_count / static_cast<std::uint32_t>(others));
  return made;
}

bool lie_at_whole_elements(const AxisMap& part, std::int64_t bits) {
  return part.in_first % bits == 0 && part.out_first % bits == 0 &&
         std::all_of(part.axes.begin(), part.axes.end(),
                     [&](const StridedAxis& axis) { return axis.in % bits == 0 && axis.out % bits == 0; });
}

}  // namespace

std::optional<PackedBox> make_packed_box(const AxisMap& part, std::uint32_t element_bits, bool turned) {
  constexpr std::uint64_t kFewBits = 1 << 12;
  if (part.axes.empty() || faro::detail::unit_count(part.axes) < kFewBits / element_bits) return std::nullopt;
  const bool whole = can_turn(element_bits) && lie_at_whole_elements(part, element_bits);
  AxisMap map = part;
  if (!whole) {
    turned = turned && can_turn(element_bits);
    map.axes.insert(map.axes.begin(), {.extent = element_bits, .in = turned ? -1 : 1, .out = 1});
    if (turned) map.in_first += element_bits - 1;
  }
  PackedBox made;
  made.q = !whole || element_bits == 1 ? 5 : element_bits == 2 ? 4 : 3;
  Boxes boxes(map, made.q);
  if (!boxes.have_runs()) return std::nullopt;
  boxes.grow();
  const auto params = boxes.params();
  if (!params) return std::nullopt;
  made.params = *params;
  return made;
}

}  // namespace faro::kernels
