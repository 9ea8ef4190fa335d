#include "engines/cpu/small_move.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/unit_copy.hpp"
#include "permutation/cyclic_axes.hpp"

namespace faro::cpu {
namespace {

using detail::StridedAxis;

// Axes of a view that are not taken yet, in units.
class LeftAxes {
 public:
  explicit LeftAxes(const std::vector<StridedAxis>& axes) : axes_(axes), left_((1U << axes.size()) - 1) {}

  bool any() const { return left_ != 0; }
  // The first of those with such a stride; nothing where there is none.
  std::optional<std::size_t> with(std::int64_t StridedAxis::*side, std::uint64_t stride) const {
    for (std::size_t a = 0; a < axes_.size(); ++a)
      if (is_left(a) && axes_[a].*side == static_cast<std::int64_t>(stride)) return a;
    return std::nullopt;
  }
  // The output's fastest; or, where that is short, the longest.
  std::size_t of_inner_loop() const {
    constexpr std::uint64_t kShort = 8;
    std::size_t found = axes_.size();
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      if (!is_left(a) || (found < axes_.size() && axes_[a].extent <= axes_[found].extent)) continue;
      found = a;
      if (axes_[a].extent >= kShort) break;
    }
    return found;
  }
  void take(std::size_t axis) { left_ &= ~(1U << axis); }

 private:
  bool is_left(std::size_t axis) const { return (left_ >> axis & 1U) != 0; }

  const std::vector<StridedAxis>& axes_;
  std::uint32_t left_;
};

// Few long rows, or columns, have registers of their own (channels.hpp).
bool suits_channels(std::uint64_t few, std::uint64_t many, std::uint64_t width) {
  constexpr std::uint64_t kFew = 8;
  constexpr std::uint64_t kLong = 128;
  constexpr std::uint64_t kFewBytes = 4;
  constexpr std::uint64_t kLongOfFewBytes = 32;
  return detail::transposes_in_registers(width) && few < kFew &&
         many * width >= (few * width <= kFewBytes ? kLongOfFewBytes : kLong);
}

}  // namespace

bool SmallMove::add(Kind kind, std::uint64_t extent, std::int64_t in, std::int64_t out) {
  if (extent == 1) return true;
  const std::size_t number = std::size_t{axes_of_[0]} + axes_of_[1] + axes_of_[2];
  std::uint64_t places = extent;
  for (std::size_t a = number - axes_of_[static_cast<std::size_t>(kind)]; a < number; ++a)
    places *= axis_[a].extent;
  const auto fits = [](std::int64_t stride) {
    return stride >= std::numeric_limits<std::int32_t>::min() &&
           stride <= std::numeric_limits<std::int32_t>::max();
  };
  const bool is_table = kind != Kind::nest;
  if (number == kMostAxes || !fits(in) || !fits(out) || extent > std::numeric_limits<std::uint32_t>::max() ||
      (is_table && places > kMostPlaces))
    return false;
  axis_[number] = {static_cast<std::uint32_t>(extent), static_cast<std::int32_t>(in),
                   static_cast<std::int32_t>(out)};
  ++axes_of_[static_cast<std::size_t>(kind)];
  return true;
}

ReadyMove::ReadyMove(const SmallMove& move)
    : unit_bytes_(move.unit_bytes_), turns_(move.axes_of_[0] + move.axes_of_[1] > 0) {
  const SmallMove::Axis* axis = move.axis_.data();
  for (int i = move.axes_of_[0]; i > 0; --i, ++axis) rows_.add(axis->extent, axis->in);
  for (int i = move.axes_of_[1]; i > 0; --i, ++axis) columns_.add(axis->extent, axis->out);
  for (int i = move.axes_of_[2]; i > 0; --i, ++axis) nest_.add(axis->extent, axis->in, axis->out);
}

void ReadyMove::run(const std::byte* in, std::byte* out, const NextArrays& next) const {
  if (!turns_) return copy_units(in, out, unit_bytes_, nest_);
  transpose_planes(unit_bytes_, {.data = in, .rows = rows_.data(), .count = rows_.count()},
                   {.data = out, .columns = columns_.data(), .count = columns_.count()}, nest_, next);
}

void ReadyMove::Table::add(std::uint64_t extent, std::int64_t stride) {
  // None waits for a place that was just stored: those of one axis are counted, others come from those
  // before.
  std::int64_t place = 0;
  if (count_ == 1) {
    for (std::uint64_t at = 1; at < extent; ++at) places_[at] = place += stride;
  } else {
    for (std::uint64_t digit = 1; digit < extent; ++digit) {
      place += stride;
      for (std::uint64_t at = 0; at < count_; ++at) places_[digit * count_ + at] = places_[at] + place;
    }
  }
  count_ *= extent;
}

// Rows go on along the output's run and columns along the input's, as far as tables have room; an axis that
// is of both is of the columns where these do not fill a register, else of the rows.
std::optional<SmallMove> small_move(const std::vector<StridedAxis>& axes, std::uint64_t element_bytes) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{32} << 10;
  constexpr std::uint64_t kRegister = 16;
  if (axes.size() > SmallMove::kMostAxes) return std::nullopt;
  std::uint64_t bytes = element_bytes;
  for (const StridedAxis& axis : axes) {
    if (axis.in < 0 || axis.extent == 0 || axis.extent > kMostBytes) return std::nullopt;
    bytes *= axis.extent;
  }
  if (bytes > kMostBytes) return std::nullopt;
  LeftAxes left(axes);
  const bool lies_together = !axes.empty() && axes.front().in == 1 && axes.front().out == 1;
  const std::uint64_t unit = lies_together ? axes.front().extent : 1;  // elements
  if (lies_together) left.take(0);
  const std::uint64_t width = unit * element_bytes;
  SmallMove move(width);
  bool fits = true;
  using Kind = SmallMove::Kind;
  const auto add = [&](Kind kind, std::size_t a) {
    left.take(a);
    fits = fits && move.add(kind, axes[a].extent, axes[a].in * static_cast<std::int64_t>(element_bytes),
                            axes[a].out * static_cast<std::int64_t>(element_bytes));
  };
  const auto row = left.with(&StridedAxis::out, unit);
  const auto column = left.with(&StridedAxis::in, unit);
  if (detail::is_turned_width(width) && row && column && *row != *column) {
    std::uint64_t rows = axes[*row].extent;
    std::uint64_t columns = axes[*column].extent;
    if (rows > SmallMove::kMostPlaces || columns > SmallMove::kMostPlaces ||
        suits_channels(std::min(rows, columns), std::max(rows, columns), width))
      return std::nullopt;
    left.take(*row);
    left.take(*column);
    const auto shared = left.with(&StridedAxis::out, unit * rows);
    const auto of_columns = left.with(&StridedAxis::in, unit * columns);
    const bool grows = of_columns && columns * axes[*of_columns].extent <= SmallMove::kMostPlaces &&
                       (of_columns != shared || (columns * width < kRegister && rows * width >= kRegister));
    if (grows) {
      left.take(*of_columns);
      columns *= axes[*of_columns].extent;
    }
    add(Kind::rows, *row);
    for (auto a = left.with(&StridedAxis::out, unit * rows);
         a && rows * axes[*a].extent <= SmallMove::kMostPlaces;
         a = left.with(&StridedAxis::out, unit * rows)) {
      add(Kind::rows, *a);
      rows *= axes[*a].extent;
    }
    add(Kind::columns, *column);
    if (grows) add(Kind::columns, *of_columns);
  }
  while (left.any()) add(Kind::nest, left.of_inner_loop());
  return fits ? std::optional(move) : std::nullopt;
}

std::optional<SmallMove> small_move(const Problem& problem) {
  const bool is_axes = problem.view || std::holds_alternative<Axes>(problem.permutation);
  if (!is_axes || problem.placement == Placement::in_place) return std::nullopt;
  auto parts = problem.view ? std::vector{detail::axis_map(*problem.view)}
                            : detail::unrolled_parts(problem.permutation, problem.batch);
  if (parts.size() != 1) return std::nullopt;
  const detail::AxisMap normal = detail::normal_form(std::move(parts.front()));
  if (normal.in_first != 0 || normal.out_first != 0) return std::nullopt;
  return small_move(normal.axes, problem.element_bytes);
}

}  // namespace faro::cpu
