#include "plan/gpu/value_boxes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "faro/error.hpp"
#include "layout/shared_geometry.hpp"
#include "plan/gpu/value_box_lanes.hpp"
#include "plan/gpu/value_box_shape.hpp"
#include "plan/gpu/value_turns.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

using kernels::ValueBoxParams;
using kernels::ValuePlace;
using kernels::ValueRow;
using kernels::ValueRowFactors;
using kernels::ValueSide;

constexpr std::uint64_t kMostColumns = 4;
constexpr std::uint64_t kLeastColumn = 256;   // numbers, for which columns are exchanged in registers
constexpr std::uint64_t kRunsOfBox = 8192;    // numbers that stay in registers
constexpr std::uint64_t kWideColumns = 2048;  // columns of 4 bytes: two vectors a thread
constexpr std::uint64_t kDirectBytes = 64;    // of a run that is the same on both sides
constexpr std::uint64_t kValueBankBytes = layout::kGeometry.bank_bytes;
constexpr std::uint64_t kMostValuePad = 32;
constexpr std::uint64_t kMostFewBoxes = (std::uint64_t{1} << 31) - 1;

// A digit of a run or of the rows.
struct ValueDigit {
  std::size_t axis = 0;
  std::uint64_t extent = 1;
};

std::uint64_t digits_count(const std::vector<ValueDigit>& digits) {
  std::uint64_t count = 1;
  for (const ValueDigit& digit : digits) count *= digit.extent;
  return count;
}

// Calls step(index along each digit) in order, the first fastest.
template <typename Step>
void for_each_index(const std::vector<ValueDigit>& digits, const Step& step) {
  std::vector<std::uint64_t> at(digits.size(), 0);
  const std::uint64_t count = digits_count(digits);
  for (std::uint64_t n = 0; n < count; ++n) {
    step(at);
    for (std::size_t d = 0; d < digits.size() && ++at[d] == digits[d].extent; ++d) at[d] = 0;
  }
}

// How boxes are copied to shared memory: not, by vectors that runs are multiples of, or by aligned ones.
enum class Copies { none, plain, aligned };

constexpr std::uint32_t kMostAlignedBytes = 48 << 10;  // of shared memory

class ValueBoxMaker {
 public:
  ValueBoxMaker(const ValuePlan& plan, const ValueAlignment& alignment, Copies copies)
      : plan_(plan), alignment_(alignment), axes_(plan.axes), copies_(copies) {
    if (axes_.empty()) axes_.push_back({.extent = 1, .strides = {.in = 1, .out = 1, .addend = 1}});
    if (axes_.size() > kernels::kValueGridAxes) {
      fail(ErrorCode::unsupported, "plan", std::to_string(axes_.size()) + " axes that do not merge",
           "at most " + std::to_string(kernels::kValueGridAxes) + " with arithmetic on a GPU");
    }
    const Arithmetic& of = plan.arithmetic;
    made_.copied = copies != Copies::none;
    made_.aligned = copies == Copies::aligned;
    made_.rounds_first =
        !made_.copied && out_bytes() < in_bytes() && !of.addend && !of.scale.axis && !of.offset.axis;
    held_bytes_ = made_.rounds_first ? out_bytes() : in_bytes();
  }

  /// None where a box cannot be copied as asked.
  std::optional<ValueBoxes> make() {
    std::vector<std::size_t> in_order = lying_together(axes_, &ValueStrides::in);
    std::vector<std::size_t> out_order = lying_together(axes_, &ValueStrides::out);
    if (plan_.arithmetic.addend) out_order.resize(followed_by_addend(out_order));
    find_blocks();
    std::vector<std::size_t> common;
    if (!block_axis_) common = columns(in_order, out_order);
    if (common.empty() && !block_axis_) common = common_run(in_order, out_order);
    made_.direct = !common.empty();
    if (made_.direct || block_axis_) made_.copied = made_.aligned = false;
    if (made_.direct) {
      made_.box =
          box_of_runs(axes_, common, made_.columns > 0 && out_bytes() >= 4 ? kWideColumns : kRunsOfBox);
    } else {
      const auto& addend = plan_.arithmetic.addend;
      const ValueBoxSides sides{.axes = axes_,
                                .in_order = in_order,
                                .out_order = out_order,
                                .in_bytes = in_bytes(),
                                .out_bytes = out_bytes(),
                                .addend_bytes = addend ? bytes_of(addend->number) : 0,
                                .held_bytes = held_bytes_,
                                .aligned = made_.aligned};
      if (copies_ == Copies::plain) {
        if (auto turns = make_value_turns(plan_, sides, alignment_)) return turned(*std::move(turns));
      }
      made_.box = made_.copied ? box_of_copies(sides) : box_of_sides(sides);
    }
    find_cuts();
    constexpr std::uint64_t kLine = 128;
    const std::uint64_t all = ~std::uint64_t{0};
    in_run_ = run_digits(made_.direct ? common : in_order, made_.copied ? kLine / in_bytes() : all);
    out_run_ = made_.direct ? in_run_ : run_digits(out_order, made_.copied ? kLine / out_bytes() : all);
    in_rows_ = row_digits(in_run_, true);
    out_rows_ = row_digits(out_run_, false);
    make_grid();
    choose_vectors();
    if (made_.copied && !can_copy()) return std::nullopt;
    if (made_.copied) {
      choose_copied_places();
      if (made_.aligned && made_.params.shared_bytes > kMostAlignedBytes) return std::nullopt;
    } else {
      choose_places();
    }
    make_tables();
    return std::move(made_);
  }

 private:
  std::uint64_t in_bytes() const { return bytes_of(plan_.arithmetic.from); }
  std::uint64_t out_bytes() const { return bytes_of(plan_.arithmetic.to); }

  // The axis of a block's numbers, whose scale is one.
  void find_blocks() {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i].whole && axes_[i].strides.scale == 0) block_axis_ = i;
    }
  }

  // The first axes of both sides, where they are long.
  std::vector<std::size_t> common_run(const std::vector<std::size_t>& in_order,
                                      const std::vector<std::size_t>& out_order) const {
    std::vector<std::size_t> common;
    std::uint64_t run = 1;
    for (std::size_t i = 0; i < std::min(in_order.size(), out_order.size()); ++i) {
      if (in_order[i] != out_order[i] || axes_[in_order[i]].strides.in < 0) break;
      common.push_back(in_order[i]);
      run *= axes_[in_order[i]].extent;
    }
    const bool is_long = run * std::min(in_bytes(), out_bytes()) >= kDirectBytes || run == plan_.count;
    return is_long ? common : std::vector<std::size_t>{};
  }

  // The long axis beside an axis of few indices that is the fastest of one side; the latter is taken out of
  // the axes, for each thread goes along it.
  std::vector<std::size_t> columns(const std::vector<std::size_t>& in_order,
                                   const std::vector<std::size_t>& out_order) {
    if (in_order.empty() || out_order.empty() || in_order[0] == out_order[0]) return {};
    const auto few = [&](std::size_t axis) { return axes_[axis].extent <= kMostColumns; };
    const bool from = few(in_order[0]);
    if (!from && !few(out_order[0])) return {};
    const auto& order = from ? in_order : out_order;
    const std::size_t column = order[0];
    const std::size_t along = (from ? out_order : in_order)[0];
    const auto& strides = axes_[along].strides;
    const bool follows =
        order.size() > 1 && order[1] == along && axes_[column].strides.in > 0 && strides.in > 0;
    if (!follows || axes_[along].extent < kLeastColumn || strides.scale != 0 || strides.offset != 0)
      return {};
    const ValueAxis taken = axes_[column];
    // The addend's tuples or columns lie as the output's.
    if (plan_.arithmetic.addend &&
        (strides.addend != strides.out || taken.strides.addend != taken.strides.out))
      return {};
    made_.columns = static_cast<int>(taken.extent);
    made_.interleaved = from ? kernels::Interleaved::input : kernels::Interleaved::output;
    made_.params.column = place_of(taken.strides, 1);
    axes_.erase(axes_.begin() + static_cast<std::ptrdiff_t>(column));
    return {along > column ? along - 1 : along};
  }

  // How many of the first axes of a run the addend's runs have, too.
  std::size_t followed_by_addend(const std::vector<std::size_t>& order) const {
    const auto other = std::find_if(order.begin(), order.end(), [&](std::size_t i) {
      return axes_[i].strides.addend != axes_[i].strides.out;
    });
    return static_cast<std::size_t>(other - order.begin());
  }

  bool is_cut(std::size_t axis) const { return axes_[axis].extent % made_.box[axis] != 0; }

  void find_cuts() {
    cut_of_.assign(axes_.size(), kernels::kUncut);
    int cuts = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (!is_cut(i)) continue;
      FARO_CHECK(cuts < 2);
      made_.params.cut[cuts] = {.extent = axes_[i].extent, .box = static_cast<std::uint32_t>(made_.box[i])};
      cut_of_[i] = cuts++;
    }
  }

  int cuts_beside(const std::vector<ValueDigit>& digits) const {
    int cuts = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const bool inside =
          std::any_of(digits.begin(), digits.end(), [&](const ValueDigit& d) { return d.axis == i; });
      cuts += !inside && is_cut(i) ? 1 : 0;
    }
    return cuts;
  }

  ValueBoxes turned(ValueTurns of) {
    made_.turned = true;
    made_.copied = made_.aligned = false;
    made_.in_vector = static_cast<int>(of.in_vector);
    made_.out_vector = static_cast<int>(of.out_vector);
    made_.params = of.params;
    made_.box = std::move(of.box);
    made_.boxes = of.blocks;
    return std::move(made_);
  }

  // Up to `wanted` numbers, where further axes can be rows: one of rows is cut at most.
  std::vector<ValueDigit> run_digits(const std::vector<std::size_t>& order, std::uint64_t wanted) const {
    std::vector<ValueDigit> digits;
    for (const std::size_t i : order) {
      if (digits_count(digits) >= wanted && cuts_beside(digits) < 2) break;
      if (made_.box[i] > 1) digits.push_back({i, made_.box[i]});
      if (made_.box[i] < axes_[i].extent) break;
    }
    return digits;
  }

  // What a run leaves of the box: in the order of the other side, the axis that is cut last.
  std::vector<ValueDigit> row_digits(const std::vector<ValueDigit>& run, bool of_input) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const bool in_run =
          std::any_of(run.begin(), run.end(), [&](const ValueDigit& d) { return d.axis == i; });
      if (!in_run && made_.box[i] > 1) order.push_back(i);
    }
    // The fastest of the other side first: those are neighbours in shared memory, or in the input.
    const auto side = of_input || made_.direct ? &ValueStrides::out : &ValueStrides::in;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const bool a_cut = is_cut(a);
      const bool b_cut = is_cut(b);
      if (a_cut != b_cut) return b_cut;
      return stride_magnitude(axes_[a].strides.*side) < stride_magnitude(axes_[b].strides.*side);
    });
    std::vector<ValueDigit> digits;
    digits.reserve(order.size());
    for (const std::size_t i : order) digits.push_back({i, made_.box[i]});
    return digits;
  }

  bool runs_down(std::size_t axis) const { return axes_[axis].strides.in < 0; }

  void make_grid() {
    ValueBoxParams& p = made_.params;
    const ValueStrides& first = plan_.first;
    p.first = place_of(first, 1);
    made_.boxes = 1;
    for (std::size_t i = axes_.size(); i-- > 0;) {
      const std::uint64_t count = ceil_div(axes_[i].extent, made_.box[i]);
      made_.boxes *= count;
      if (count == 1) continue;
      p.grid[p.grid_axes++] = {
          .boxes = device::Division64(count),
          .few_boxes = device::Division32(static_cast<std::uint32_t>(std::min(count, kMostFewBoxes))),
          .step = place_of(axes_[i].strides, static_cast<std::int64_t>(made_.box[i])),
          .cut = cut_of_[i]};
    }
    p.few = made_.boxes <= kMostFewBoxes ? 1 : 0;
    // Runs of the input are read upwards.
    for (const ValueDigit& digit : in_run_) {
      if (runs_down(digit.axis))
        p.first.in += axes_[digit.axis].strides.in * static_cast<std::int64_t>(digit.extent - 1);
    }
    p.in = side_of(in_run_, in_rows_);
    p.out = side_of(out_run_, out_rows_);
    p.in_begin = first.in;
    p.in_end = first.in + 1;
    for (const ValueAxis& axis : axes_) {
      const std::int64_t reach = axis.strides.in * static_cast<std::int64_t>(axis.extent - 1);
      (reach < 0 ? p.in_begin : p.in_end) += reach;
    }
    if (p.in.run_cut != kernels::kUncut && runs_down(in_run_.back().axis))
      p.missing_in = -axes_[in_run_.back().axis].strides.in;
  }

  ValueSide side_of(const std::vector<ValueDigit>& run, const std::vector<ValueDigit>& rows) const {
    ValueSide side;
    side.run = static_cast<std::uint32_t>(digits_count(run));
    side.rows = static_cast<std::uint32_t>(digits_count(rows));
    // Axes that are cut are the last of a run or of the rows.
    const auto cut = [&](const std::vector<ValueDigit>& digits, std::int32_t& which, std::uint32_t& step) {
      std::uint64_t before = 1;
      for (std::size_t d = 0; d < digits.size(); ++d) {
        if (cut_of_[digits[d].axis] != kernels::kUncut) {
          FARO_CHECK(d + 1 == digits.size());
          which = cut_of_[digits[d].axis];
          step = static_cast<std::uint32_t>(before);
        }
        before *= digits[d].extent;
      }
    };
    cut(run, side.run_cut, side.run_step);
    cut(rows, side.rows_cut, side.rows_step);
    return side;
  }

  // The largest power of two, of numbers, that divides where runs of a side begin and how long they are; of
  // runs that both sides have, whose ends go number by number, that are as long.
  std::uint64_t multiple_of(const std::vector<ValueDigit>& run, const std::vector<ValueDigit>& rows,
                            std::int64_t ValuePlace::*place, std::int64_t ValueStrides::*stride,
                            const ValueSide& side) const {
    const ValueBoxParams& p = made_.params;
    const bool has_ends = made_.direct && made_.columns == 0;
    std::uint64_t all =
        stride_magnitude(p.first.*place) | (has_ends ? std::bit_floor(std::uint64_t{side.run}) : side.run);
    for (std::int32_t a = 0; a < p.grid_axes; ++a) all |= stride_magnitude(p.grid[a].step.*place);
    for (const ValueDigit& digit : rows) all |= stride_magnitude(axes_[digit.axis].strides.*stride);
    const bool together = (made_.interleaved == kernels::Interleaved::input) == (place == &ValuePlace::in);
    if (made_.columns > 0 && !together) all |= stride_magnitude(p.column.*place);
    if (side.run_cut != kernels::kUncut && !has_ends) {
      const auto& cut = p.cut[side.run_cut];
      all |= cut.extent % cut.box * side.run_step;
      if (place == &ValuePlace::in) all |= stride_magnitude(p.missing_in) * (cut.box - cut.extent % cut.box);
    }
    // Runs of one number, or of one that repeats, lie anywhere.
    if (run.empty()) return 1;
    return all & (~all + 1);
  }

  void choose_vectors() {
    const auto vector = [](std::uint64_t multiple, std::uint64_t bytes, std::uint64_t alignment) {
      return std::min({multiple, std::max<std::uint64_t>(kValueVectorBytes / bytes, 1),
                       std::max<std::uint64_t>(alignment / bytes, 1)});
    };
    const ValueBoxParams& p = made_.params;
    std::uint64_t in = vector(multiple_of(in_run_, in_rows_, &ValuePlace::in, &ValueStrides::in, p.in),
                              in_bytes(), alignment_.in);
    const std::uint64_t out_multiple =
        multiple_of(out_run_, out_rows_, &ValuePlace::out, &ValueStrides::out, p.out);
    std::uint64_t out = vector(out_multiple, out_bytes(), alignment_.out);
    made_.params.out_sectors = out_multiple * out_bytes() % layout::kGeometry.sector_bytes == 0 ? 1 : 0;
    if (plan_.arithmetic.addend) {
      const std::uint64_t bytes = bytes_of(plan_.arithmetic.addend->number);
      out = std::min(
          out, vector(multiple_of(out_run_, out_rows_, &ValuePlace::addend, &ValueStrides::addend, p.out),
                      bytes, alignment_.addend));
    }
    if (made_.direct) in = out = std::min(in, out);
    if (made_.aligned) in = kValueVectorBytes / in_bytes();
    made_.in_vector = static_cast<int>(in);
    made_.out_vector = static_cast<int>(out);
  }

  // Copies have 4, 8 or 16 bytes; aligned ones are of runs of some vectors.
  bool can_copy() const {
    constexpr std::uint64_t kLeast = 4;
    const bool is_run = made_.in_vector > 1 && alignment_.in >= in_bytes() &&
                        made_.params.in.run * in_bytes() >= 2 * kValueVectorBytes;
    return static_cast<std::uint64_t>(made_.in_vector) * in_bytes() >= kLeast && (!made_.aligned || is_run) &&
           (!plan_.arithmetic.addend ||
            static_cast<std::uint64_t>(made_.out_vector) * bytes_of(plan_.arithmetic.addend->number) >=
                kLeast);
  }

  // --- places in shared memory

  // Steps along the box's axes: a run lies as it is, rows `pitch` apart, or in groups.
  std::vector<std::uint64_t> steps_along(const std::vector<ValueDigit>& run,
                                         const std::vector<ValueDigit>& rows, std::uint64_t pitch,
                                         bool in_groups) const {
    std::vector<std::uint64_t> steps(axes_.size(), 0);
    std::uint64_t step = 1;
    for (const ValueDigit& digit : run) {
      steps[digit.axis] = step;
      step *= digit.extent;
    }
    step = pitch;
    for (const ValueDigit& digit : rows) {
      // Rows are as far from vectors in shared memory as in the input.
      if (in_groups && made_.aligned) {
        const auto apart = static_cast<std::uint64_t>(axes_[digit.axis].strides.in) - step;
        step += apart % static_cast<std::uint64_t>(made_.in_vector);
      }
      steps[digit.axis] = step;
      step *= digit.extent;
      if (in_groups && digit.axis == rows.front().axis) step += group_of(digit.extent - 1);
    }
    return steps;
  }
  std::vector<std::uint64_t> steps_of(std::uint64_t pitch) const {
    return steps_along(out_run_, out_rows_, pitch, false);
  }

  std::vector<std::uint64_t> places_of(const std::vector<ValueDigit>& digits,
                                       const std::vector<std::uint64_t>& steps, bool may_run_down) const {
    std::vector<std::uint64_t> places;
    for_each_index(digits, [&](const std::vector<std::uint64_t>& at) {
      std::uint64_t place = 0;
      for (std::size_t d = 0; d < digits.size(); ++d)
        place += place_along(digits[d], at[d], steps, may_run_down);
      places.push_back(place);
    });
    return places;
  }
  std::uint64_t place_along(const ValueDigit& digit, std::uint64_t index,
                            const std::vector<std::uint64_t>& steps, bool may_run_down) const {
    const bool down = may_run_down && is_read_down(digit.axis);
    const std::uint64_t at = down ? digit.extent - 1 - index : index;
    return at * steps[digit.axis] + (is_grouped(digit.axis) ? group_of(at) : 0);
  }
  bool is_read_down(std::size_t axis) const {
    return runs_down(axis) && std::any_of(in_run_.begin(), in_run_.end(),
                                          [&](const ValueDigit& digit) { return digit.axis == axis; });
  }
  // Of copied boxes: whether groups of an axis's rows are a little further apart.
  bool is_grouped(std::size_t axis) const {
    return made_.copied && !in_rows_.empty() && in_rows_.front().axis == axis;
  }

  LaneSpread spread_of(const std::vector<std::uint64_t>& run, const std::vector<std::uint64_t>& rows,
                       std::uint64_t vector, std::uint64_t bytes) const {
    return best_spread({.run = run,
                        .rows = rows,
                        .vector = vector,
                        .bytes = bytes,
                        .held_bytes = held_bytes_,
                        .whole = !made_.aligned || made_.params.out_sectors != 0});
  }

  void choose_places() {
    ValueBoxParams& p = made_.params;
    const std::uint64_t in_vector = static_cast<std::uint64_t>(made_.in_vector);
    const std::uint64_t out_vector = static_cast<std::uint64_t>(made_.out_vector);
    if (made_.direct) {
      // Whole warps along a run as far as there is one.
      const std::uint64_t slots = std::max<std::uint64_t>(p.out.run / out_vector, 1);
      p.out.lanes_log2 =
          std::min<std::uint32_t>(5, static_cast<std::uint32_t>(std::bit_width(std::bit_ceil(slots)) - 1));
      p.out.warps_log2 = warps_along(slots, p.out.lanes_log2);
      steps_ = steps_of(0);
      return;
    }
    const std::uint64_t run = p.out.run;
    double best = 0;
    std::uint64_t best_pitch = 0;
    for (std::uint64_t pad = 0; pad < kMostValuePad; ++pad) {
      if (pad > 0 && p.out.rows == 1) break;
      if ((run + pad) * held_bytes_ % std::min(kValueBankBytes, out_vector * held_bytes_) != 0)
        continue;  // words are read
      const std::uint64_t numbers = (run + pad) * p.out.rows;
      if (pad > 0 && numbers * held_bytes_ > kValueHeldBytes + kValueHeldBytes / 4) break;
      const std::vector<std::uint64_t> steps = steps_of(run + pad);
      const LaneSpread in = spread_of(places_of(in_run_, steps, true), places_of(in_rows_, steps, false),
                                      in_vector, in_bytes());
      const LaneSpread out = spread_of(places_of(out_run_, steps, false), places_of(out_rows_, steps, false),
                                       out_vector, out_bytes());
      const double cost = in.cost + out.cost;
      if (best_pitch > 0 && cost >= best - 1e-9) continue;
      best = cost;
      best_pitch = run + pad;
      p.in.lanes_log2 = in.lanes_log2;
      p.out.lanes_log2 = out.lanes_log2;
      made_.load_wavefronts = in.wavefronts;
      made_.store_wavefronts = out.wavefronts;
    }
    p.in.warps_log2 = warps_along(std::max<std::uint64_t>(p.in.run / in_vector, 1), p.in.lanes_log2);
    p.out.warps_log2 = warps_along(std::max<std::uint64_t>(run / out_vector, 1), p.out.lanes_log2);
    steps_ = steps_of(best_pitch);
    p.shared_bytes = static_cast<std::uint32_t>(best_pitch * p.out.rows * held_bytes_);
    if (p.missing_in != 0) p.missing_place = static_cast<std::uint32_t>(steps_[in_run_.back().axis]);
  }

  std::vector<std::uint64_t> copied_steps(std::uint64_t pitch) const {
    return steps_along(in_run_, in_rows_, pitch, true);
  }
  // How much further apart the groups of rows before one are.
  std::uint64_t group_of(std::uint64_t row) const {
    return row / static_cast<std::uint64_t>(made_.out_vector) * made_.params.group_place;
  }

  void choose_copied_places() {
    ValueBoxParams& p = made_.params;
    const auto in_vector = static_cast<std::uint64_t>(made_.in_vector);
    const auto out_vector = static_cast<std::uint64_t>(made_.out_vector);
    constexpr std::uint64_t kMostCopiedPad = 8;  // vectors
    // Aligned vectors of a run reach beyond both of its ends.
    const std::uint64_t ends = made_.aligned ? 2 * (in_vector - 1) : 0;
    const std::uint64_t slots = (p.in.run + ends) / in_vector;
    p.in.lanes_log2 = copied_lanes(slots, p.in.rows, in_vector * in_bytes());
    p.in.warps_log2 = warps_along(std::max<std::uint64_t>(slots, 1), p.in.lanes_log2);
    LaneSpread best;
    std::uint64_t best_pitch = 0;
    std::uint64_t best_group = 0;
    const std::uint64_t vector = std::max<std::uint64_t>(kValueVectorBytes / in_bytes(), in_vector);
    const std::uint64_t run = round_up(std::uint64_t{p.in.run}, vector) + (made_.aligned ? vector : 0);
    for (std::uint64_t group = 0; group <= vector; group += vector) {
      for (std::uint64_t pad = 0; pad < kMostCopiedPad && (best_pitch == 0 || best.cost > 1); ++pad) {
        p.group_place = static_cast<std::uint32_t>(group);
        const std::uint64_t pitch = run + pad * vector;
        if (pad > 0 &&
            (pitch * p.in.rows * in_bytes() > kValueHeldBytes + kValueHeldBytes / 4 || p.in.rows == 1))
          break;
        const std::vector<std::uint64_t> steps = copied_steps(pitch);
        const LaneSpread spread = spread_of(places_of(out_run_, steps, true),
                                            places_of(out_rows_, steps, true), out_vector, out_bytes());
        if (best_pitch > 0 && spread.cost >= best.cost - 1e-9) continue;
        best = spread;
        best_pitch = pitch;
        best_group = group;
      }
    }
    p.group_place = static_cast<std::uint32_t>(best_group);
    p.out.lanes_log2 = best.lanes_log2;
    p.out.warps_log2 = warps_along(std::max<std::uint64_t>(p.out.run / out_vector, 1), p.out.lanes_log2);
    made_.load_wavefronts = 1;
    made_.store_wavefronts = best.wavefronts;
    steps_ = copied_steps(best_pitch);
    std::uint64_t numbers = best_pitch;
    for (const ValueDigit& digit : in_rows_) numbers += place_along(digit, digit.extent - 1, steps_, false);
    if (made_.aligned) numbers += 2 * in_vector;
    p.shared_bytes = static_cast<std::uint32_t>(numbers * in_bytes());
    if (plan_.arithmetic.addend) {
      p.others_at = static_cast<std::uint32_t>(round_up(std::uint64_t{p.shared_bytes}, kValueVectorBytes));
      p.shared_bytes = p.others_at + static_cast<std::uint32_t>(std::uint64_t{p.out.run} * p.out.rows *
                                                                bytes_of(plan_.arithmetic.addend->number));
    }
    if (p.missing_in != 0) p.missing_place = static_cast<std::uint32_t>(steps_[in_run_.back().axis]);
  }

  // --- tables

  struct Row {
    ValueStrides at;
    std::uint64_t place = 0;

    ValueRow of(std::int64_t ValueStrides::*side) const {
      return {.at = at.*side, .place = static_cast<std::uint32_t>(place), .unused = 0};
    }
    ValueRowFactors factors() const {
      return {.addend = at.addend,
              .scale = static_cast<std::int32_t>(at.scale),
              .offset = static_cast<std::int32_t>(at.offset)};
    }
  };

  Row row_at(const std::vector<ValueDigit>& digits, const std::vector<std::uint64_t>& index) const {
    Row row;
    for (std::size_t d = 0; d < digits.size(); ++d) {
      const ValueStrides& s = axes_[digits[d].axis].strides;
      const auto times = static_cast<std::int64_t>(index[d]);
      row.at.in += times * s.in;
      row.at.out += times * s.out;
      row.at.addend += times * s.addend;
      row.at.scale += times * s.scale;
      row.at.offset += times * s.offset;
      row.place += place_along(digits[d], index[d], steps_, made_.copied);
    }
    return row;
  }

  kernels::ValueOrder order_of(const std::vector<ValueDigit>& rows, std::int64_t ValueStrides::*stride,
                               ValueSide& side) const {
    if (rows.size() > 1) return kernels::ValueOrder::by_table;
    const bool steps = rows.empty() || !made_.copied || &side == &made_.params.in ||
                       !(is_read_down(rows.front().axis) || is_grouped(rows.front().axis));
    if (!steps) return kernels::ValueOrder::by_table;
    for (const ValueDigit& digit : rows) {
      side.row_at = axes_[digit.axis].strides.*stride;
      side.row_place = static_cast<std::uint32_t>(steps_[digit.axis]);
    }
    return kernels::ValueOrder::by_steps;
  }

  void make_tables() {
    ValueBoxParams& p = made_.params;
    made_.loads = order_of(in_rows_, &ValueStrides::in, p.in);
    made_.stores = order_of(out_rows_, &ValueStrides::out, p.out);
    const std::uint64_t slots = p.in.run / static_cast<std::uint64_t>(made_.in_vector);
    const std::uint64_t slot_steps = slots >> (p.in.lanes_log2 + p.in.warps_log2);
    const std::uint64_t row_steps =
        p.in.rows * (std::uint64_t{1} << (p.in.lanes_log2 + p.in.warps_log2)) / kernels::kValueThreads;
    if (slot_steps > row_steps && !made_.copied) made_.loads = kernels::ValueOrder::along_runs;
    for_each_index(out_rows_, [&](const auto& at) {
      const Row row = row_at(out_rows_, at);
      made_.out_rows.push_back(row.of(&ValueStrides::out));
      made_.row_factors.push_back(row.factors());
    });
    for_each_index(in_rows_, [&](const auto& at) {
      made_.in_rows.push_back(row_at(in_rows_, at).of(&ValueStrides::in));
    });
    for_each_index(out_run_, [&](const auto& at) {
      const ValueRowFactors factors = row_at(out_run_, at).factors();
      made_.scales_of_run.push_back(factors.scale);
      made_.offsets_of_run.push_back(factors.offset);
    });
    const auto varies = [](const std::vector<std::int32_t>& of_run) {
      return std::any_of(of_run.begin(), of_run.end(), [](std::int32_t index) { return index != 0; });
    };
    const std::uint64_t factor_bytes = bytes_of(computed_in(plan_.arithmetic));
    p.factors_at =
        static_cast<std::uint32_t>(round_up(p.shared_bytes, std::max(factor_bytes, kValueVectorBytes)));
    p.shared_bytes = p.factors_at;
    if (varies(made_.scales_of_run)) {
      p.factors_vary |= 1;
      p.shared_bytes += static_cast<std::uint32_t>(p.out.run * factor_bytes);
    }
    if (varies(made_.offsets_of_run)) {
      p.factors_vary |= 2;
      p.shared_bytes += static_cast<std::uint32_t>(p.out.run * factor_bytes);
    }
    const Arithmetic& of = plan_.arithmetic;
    if (of.scale.axis || of.offset.axis) made_.factors = kernels::ValueFactorsOf::rows;
    if (p.factors_vary != 0) made_.factors = kernels::ValueFactorsOf::runs;
    if (block_axis_) make_blocks();
    if (made_.direct) return;
    for (const std::uint64_t place : places_of(made_.copied ? out_run_ : in_run_, steps_, true)) {
      FARO_CHECK(place <= 0xffff);
      made_.places.push_back(static_cast<std::uint16_t>(place));
    }
  }

  // --- blocks that share a scale

  struct PartOfBlocks {
    std::vector<std::uint16_t> numbers;  // of a block, for each row or each of a run
    std::vector<bool> leads;             // whether it is the first of a block
  };

  // What a row, or a place in a run, adds to the number of a block; `step` is one's along the first digit.
  PartOfBlocks part_of_blocks(const std::vector<ValueDigit>& digits, std::uint64_t& step) const {
    const std::uint64_t first = step;
    PartOfBlocks part;
    for_each_index(digits, [&](const std::vector<std::uint64_t>& at) {
      std::uint64_t number = 0;
      bool leads = true;
      step = first;
      for (std::size_t d = 0; d < digits.size(); ++d) {
        if (digits[d].axis == *block_axis_) {
          leads = at[d] == 0;
          continue;
        }
        number += at[d] * step;
        step *= digits[d].extent;
      }
      part.numbers.push_back(static_cast<std::uint16_t>(number));
      part.leads.push_back(leads);
    });
    return part;
  }

  // Neighbours are read by up to four, from a multiple of as many on.
  kernels::BlocksOfVector blocks_of_vector(const std::vector<std::uint16_t>& rows,
                                           const std::vector<std::uint16_t>& runs) const {
    const auto vector = static_cast<std::size_t>(made_.out_vector);
    const std::size_t read = std::min<std::size_t>(vector, 4);
    bool one = true;
    bool neighbours = std::all_of(rows.begin(), rows.end(), [&](auto row) { return row % read == 0; });
    for (std::size_t u = 0; u < runs.size(); ++u) {
      const std::size_t first = u / vector * vector;
      one &= runs[u] == runs[first];
      neighbours &= runs[first] % read == 0 && runs[u] == runs[first] + (u - first);
    }
    return one          ? kernels::BlocksOfVector::one
           : neighbours ? kernels::BlocksOfVector::neighbours
                        : kernels::BlocksOfVector::any;
  }

  void make_blocks() {
    ValueBoxParams& p = made_.params;
    std::uint64_t count = 1;
    const PartOfBlocks runs = part_of_blocks(out_run_, count);
    const PartOfBlocks rows = part_of_blocks(out_rows_, count);
    made_.blocks.resize(count);
    made_.row_blocks = rows.numbers;
    made_.run_blocks = runs.numbers;
    made_.block_step = static_cast<std::uint32_t>(steps_[*block_axis_]);
    for (std::uint32_t r = 0; r < rows.numbers.size(); ++r) {
      for (std::uint32_t u = 0; rows.leads[r] && u < runs.numbers.size(); ++u) {
        if (!runs.leads[u]) continue;
        made_.blocks[std::size_t{rows.numbers[r]} + runs.numbers[u]] = {
            .place = made_.out_rows[r].place + u,
            .row = r,
            .of_run = u,
            .scale = made_.row_factors[r].scale + made_.scales_of_run[u]};
      }
    }
    made_.blocks_of_vector = blocks_of_vector(rows.numbers, runs.numbers);
    p.factors_vary = 0;
    p.shared_bytes = p.factors_at + static_cast<std::uint32_t>(count * sizeof(float));
  }

  const ValuePlan& plan_;
  const ValueAlignment& alignment_;
  std::vector<ValueAxis> axes_;
  Copies copies_;
  std::optional<std::size_t> block_axis_ = {};
  std::uint64_t held_bytes_ = 4;
  ValueBoxes made_;
  std::vector<std::int32_t> cut_of_;
  std::vector<ValueDigit> in_run_;
  std::vector<ValueDigit> out_run_;
  std::vector<ValueDigit> in_rows_;
  std::vector<ValueDigit> out_rows_;
  std::vector<std::uint64_t> steps_;
};

}  // namespace

ValueBoxes make_value_boxes(const ValuePlan& plan, const ValueAlignment& alignment) {
  FARO_CHECK(plan.count > 0);
  constexpr std::uint64_t kNarrowBytes = 4;  // of a vector, which aligned ones are better than
  auto plain = ValueBoxMaker(plan, alignment, Copies::plain).make();
  const std::uint64_t bytes = bytes_of(plan.arithmetic.from);
  const bool is_narrow =
      !plain || (plain->copied && static_cast<std::uint64_t>(plain->in_vector) * bytes <= kNarrowBytes);
  if (is_narrow) {
    if (auto aligned = ValueBoxMaker(plan, alignment, Copies::aligned).make()) return *std::move(aligned);
  }
  if (plain) return *std::move(plain);
  return ValueBoxMaker(plan, alignment, Copies::none).make().value();
}

std::string ValueBoxes::explain() const {
  if (turned) {
    return fmt::format(
        "tiles           {} of {}\n  between       in registers, {} vectors of {} turned to {} of {}\n",
        params.tiles, fmt::join(box, " x "), out_vector, in_vector, in_vector, out_vector);
  }
  std::string text = fmt::format("boxes           {} of {}\n", boxes, fmt::join(box, " x "));
  text += fmt::format("  read          {} runs of {} by vectors of {}\n",
                      direct ? params.out.rows : params.in.rows, params.in.run, in_vector);
  text += fmt::format("  written       {} runs of {} by vectors of {}\n", params.out.rows, params.out.run,
                      out_vector);
  if (columns > 0) return text + fmt::format("  between       {} columns in registers\n", columns);
  if (direct) return text + "  between       in registers\n";
  return text + fmt::format("  between       {} bytes of shared memory, {:.1f} and {:.1f} wavefronts\n",
                            params.shared_bytes, load_wavefronts, store_wavefronts);
}

}  // namespace faro::detail
