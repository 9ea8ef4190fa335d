#include "plan/value_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "contains.hpp"
#include "faro/error.hpp"
#include "permutation/axis_map.hpp"
#include "permutation/coefficients.hpp"
#include "plan/cpu/cpu_solver.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
constexpr std::uint64_t kFewBytes = 65536;      // moved on one thread
constexpr std::uint64_t kSegmentBytes = 512;    // what memory likes to be read and written by
constexpr std::uint64_t kShortRun = 64;         // elements: calls for less take longer than the work
constexpr std::uint64_t kBoxBytes = 256 << 10;  // of a second-level cache, with all that a box takes
constexpr std::uint64_t kPieceBytes = 1 << 20;  // of an output that needs no boxes

constexpr std::int64_t ValueStrides::*kAllStrides[] = {&ValueStrides::in, &ValueStrides::out,
                                                       &ValueStrides::addend, &ValueStrides::scale,
                                                       &ValueStrides::offset};

std::vector<ValueAxis> axes_of(const Strided& view, const Arithmetic& of) {
  std::vector<ValueAxis> axes;
  for (std::size_t i = 0; i < view.extents.size(); ++i) {
    ValueAxis axis{.extent = view.extents[i],
                   .strides = {.in = view.in_strides[i], .out = view.out_strides[i]}};
    if (of.addend)
      axis.strides.addend = of.addend->strides.empty() ? view.out_strides[i] : of.addend->strides[i];
    axis.strides.scale = of.scale.axis == i ? 1 : 0;
    axis.strides.offset = of.offset.axis == i ? 1 : 0;
    axes.push_back(axis);
  }
  return axes;
}

// An axis that goes down in the output goes up instead, from its other end.
void turn_upwards(ValueAxis& axis, ValueStrides& first) {
  if (axis.strides.out >= 0) return;
  for (const auto stride : kAllStrides) {
    first.*stride += axis.strides.*stride * static_cast<std::int64_t>(axis.extent - 1);
    axis.strides.*stride = -(axis.strides.*stride);
  }
}

bool continues(const ValueAxis& outer, const ValueAxis& inner) {
  return !outer.whole && !inner.whole &&
         std::all_of(std::begin(kAllStrides), std::end(kAllStrides), [&](auto stride) {
           return outer.strides.*stride == inner.strides.*stride * static_cast<std::int64_t>(inner.extent);
         });
}

std::vector<ValueAxis> normal(std::vector<ValueAxis> axes, ValueStrides& first) {
  std::erase_if(axes, [](const ValueAxis& axis) { return axis.extent == 1; });
  for (ValueAxis& axis : axes) turn_upwards(axis, first);
  std::stable_sort(axes.begin(), axes.end(),
                   [](const ValueAxis& a, const ValueAxis& b) { return a.strides.out > b.strides.out; });
  std::vector<ValueAxis> merged;
  for (const ValueAxis& axis : axes) {
    if (!merged.empty() && continues(merged.back(), axis)) {
      merged.back() = {.extent = merged.back().extent * axis.extent, .strides = axis.strides};
    } else {
      merged.push_back(axis);
    }
  }
  return merged;
}

// How many of the last axes of a box lie together on one side.
std::size_t together(const ValuePlan& plan, std::int64_t ValueStrides::*stride) {
  std::uint64_t next = 1;
  std::size_t count = 0;
  for (std::size_t i = plan.axes.size(); i-- > 0; ++count) {
    if (plan.axes[i].strides.*stride != static_cast<std::int64_t>(next)) break;
    next *= plan.box[i];
    if (plan.box[i] != plan.axes[i].extent) return count + 1;
  }
  return count;
}

std::uint64_t product_of_last(const std::vector<std::uint64_t>& box, std::size_t axes) {
  return std::accumulate(box.end() - static_cast<std::ptrdiff_t>(axes), box.end(), std::uint64_t{1},
                         std::multiplies<>());
}

// Extents of a box that grows along the axes that are the fastest on a side.
class GrowingBox {
 public:
  explicit GrowingBox(const std::vector<ValueAxis>& axes) : axes_(axes) {
    for (const ValueAxis& axis : axes) extents_.push_back(axis.whole ? axis.extent : 1);
  }

  // Until what lies together on this side has `wanted` elements, or the box has `most`.
  void grow(std::int64_t ValueStrides::*stride, std::uint64_t wanted, std::uint64_t most) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i].strides.*stride != 0) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(axes_[a].strides.*stride) < std::abs(axes_[b].strides.*stride);
    });
    std::uint64_t run = 1;
    for (const std::size_t i : order) {
      if (run >= wanted) return;
      const std::uint64_t room = std::max<std::uint64_t>(most / (count() / extents_[i]), 1);
      const std::uint64_t take = std::min({axes_[i].extent, room, ceil_div(wanted, run)});
      // In equal parts, so that no box is much smaller than others.
      const std::uint64_t parts = ceil_div(axes_[i].extent, std::max(take, extents_[i]));
      extents_[i] = std::max(extents_[i], ceil_div(axes_[i].extent, parts));
      run *= extents_[i];
      if (extents_[i] < axes_[i].extent) return;
    }
  }

  std::uint64_t count() const {
    return std::accumulate(extents_.begin(), extents_.end(), std::uint64_t{1}, std::multiplies<>());
  }
  const std::vector<std::uint64_t>& extents() const { return extents_; }

 private:
  const std::vector<ValueAxis>& axes_;
  std::vector<std::uint64_t> extents_;
};

std::vector<std::uint64_t> whole(const std::vector<ValueAxis>& axes) {
  std::vector<std::uint64_t> extents;
  extents.reserve(axes.size());
  for (const ValueAxis& axis : axes) extents.push_back(axis.extent);
  return extents;
}

// How many of the last axes of a box lie together on all sides.
std::size_t direct_axes(const ValuePlan& plan) {
  const std::size_t axes = std::min(together(plan, &ValueStrides::in), together(plan, &ValueStrides::out));
  return plan.arithmetic.addend ? std::min(axes, together(plan, &ValueStrides::addend)) : axes;
}

// Pieces of the work, along a side's fastest axes.
void choose_pieces(ValuePlan& plan, std::int64_t ValueStrides::*side) {
  GrowingBox box(plan.axes);
  box.grow(side, plan.count, std::max(kPieceBytes / bytes_of(plan.arithmetic.to), kShortRun));
  plan.box = box.extents();
  plan.run_axes = direct_axes(plan);
}

void choose_box(ValuePlan& plan) {
  const Arithmetic& of = plan.arithmetic;
  // Where everything lies together along rows, as long as they are: no boxes.
  plan.box = whole(plan.axes);
  if (plan.count <= 1 || product_of_last(plan.box, direct_axes(plan)) >= std::min(kShortRun, plan.count)) {
    choose_pieces(plan, &ValueStrides::out);
    plan.in_direct = plan.out_direct = plan.addend_direct = true;
    return;
  }
  std::uint64_t widths = bytes_of(of.from);
  if (of.addend) widths += bytes_of(of.addend->number);
  const std::uint64_t most = std::max(kBoxBytes / widths, kShortRun);
  GrowingBox box(plan.axes);
  box.grow(&ValueStrides::in, kSegmentBytes / bytes_of(of.from), most);
  box.grow(&ValueStrides::out, kSegmentBytes / bytes_of(of.to), most);
  for (std::uint64_t longer = 2; box.count() * 2 <= most && longer <= most; longer *= 2) {
    box.grow(&ValueStrides::out, longer * kSegmentBytes / bytes_of(of.to), most);
    box.grow(&ValueStrides::in, longer * kSegmentBytes / bytes_of(of.from), most);
  }
  plan.box = box.extents();
  plan.run_axes = together(plan, &ValueStrides::out);
  plan.out_direct = plan.run_axes > 0;
  if (!plan.out_direct) plan.run_axes = plan.axes.size();
  plan.in_direct = together(plan, &ValueStrides::in) >= plan.run_axes;
  plan.addend_direct = together(plan, &ValueStrides::addend) >= plan.run_axes;
}

void check_size(const Strided& view, const Arithmetic& of) {
  const std::uint64_t in = in_elements(view);
  const std::uint64_t out = out_elements(view);
  if (in > kMostBytes / bytes_of(of.from) || out > kMostBytes / bytes_of(of.to)) {
    fail(ErrorCode::value, "plan", fmt::format("{} of {} and {}", to_text(view), name(of.from), name(of.to)),
         "arrays of at most 2^62 bytes");
  }
}

// Whether runs of boxes are whole lines of the output where numbers become narrower.
bool writes_whole_lines(const layout::CacheBox& box, const Arithmetic& of) {
  const std::uint64_t line = kLineBytes * bytes_of(of.from) / bytes_of(of.to);
  const TurnedAxes turned = turned_axes(box);
  std::uint64_t run_bytes = box.element_bytes;
  for (const std::size_t axis : turned.rows) run_bytes *= box.extent[axis];
  bool lines = run_bytes % line == 0;
  for (std::size_t axis = 0; axis < box.axes.size(); ++axis) {
    const bool is_across = box.axes[axis].extent > 1 && !contains(turned.rows, axis);
    lines = lines && (!is_across || static_cast<std::uint64_t>(box.axes[axis].out) % line == 0);
  }
  return lines;
}

// The axis along which a factor differs, as the output has it; nullopt: none. Axes that have no such one are
// all of the output, which lies together.
struct FactorAxis {
  bool fits = true;
  std::optional<std::size_t> axis;
};
FactorAxis factor_axis(const ValuePlan& plan, const Coefficient& of, std::int64_t ValueStrides::*stride) {
  FactorAxis found;
  std::int64_t together = 1;
  bool dense = plan.first.out == 0 && plan.first.*stride == 0;
  for (std::size_t i = plan.axes.size(); i-- > 0;) {
    const ValueAxis& axis = plan.axes[i];
    dense = dense && axis.strides.out == together;
    together *= static_cast<std::int64_t>(axis.extent);
    if (axis.strides.*stride == 0) continue;
    found.fits = !found.axis && axis.strides.*stride == 1 && axis.extent == of.values.size();
    if (!found.fits) return found;
    found.axis = i;
  }
  found.fits = dense || !found.axis;
  return found;
}

// Null where plain numbers are not turned on their way past the caches, those that are turned in squares are
// not changed in registers, or what they become depends on more than where they are written.
std::shared_ptr<const CpuPass> turned_pass(const ValuePlan& plan, const Target& target) {
  const Arithmetic& of = plan.arithmetic;
  if (plan.count * bytes_of(of.from) <= target.streaming_bytes) return nullptr;
  AxisMap map{.in_first = plan.first.in, .out_first = plan.first.out};
  for (const ValueAxis& axis : plan.axes) {
    const ValueStrides& strides = axis.strides;
    if (of.addend && strides.addend != strides.out) return nullptr;
    map.axes.push_back({.extent = axis.extent, .in = strides.in, .out = strides.out});
  }
  if (of.addend && plan.first.addend != plan.first.out) return nullptr;
  const FactorAxis scale = factor_axis(plan, of.scale, &ValueStrides::scale);
  const FactorAxis offset = factor_axis(plan, of.offset, &ValueStrides::offset);
  if (!scale.fits || !offset.fits) return nullptr;
  const Pass pass = cpu_pass_of(normal_form(std::move(map)), bytes_of(of.from), target);
  const auto& axes = std::get<CpuAxes>(pass.cpu->kernel);
  FARO_CHECK(pass.cpu->out_offset == static_cast<std::uint64_t>(plan.first.out) * bytes_of(of.from));
  if (axes.move == AxesMove::channels) return pass.cpu;
  if (axes.move != AxesMove::groups || !stays_in_registers(of) || scale.axis || offset.axis) return nullptr;
  if (bytes_of(of.to) < bytes_of(of.from) && !writes_whole_lines(axes.box, of)) return nullptr;
  return pass.cpu;
}

void order_by_input(ValuePlan& plan) {
  std::stable_sort(plan.axes.begin(), plan.axes.end(),
                   [](const ValueAxis& a, const ValueAxis& b) { return a.strides.in > b.strides.in; });
}

// Rows that go past the caches, one after another as the input has them: reads that go on are the faster,
// streamed stores may go anywhere.
ValuePlan rows_by_input(ValuePlan plan) {
  const bool upwards = std::all_of(plan.axes.begin(), plan.axes.end(),
                                   [](const ValueAxis& axis) { return axis.strides.in > 0; });
  if (!plan.streamed || plan.arithmetic.addend || !upwards) return plan;
  ValuePlan made = plan;
  order_by_input(made);
  choose_pieces(made, &ValueStrides::in);
  return made.run_axes == plan.run_axes ? made : plan;
}

ValuePlan converted_as_read(ValuePlan plan, const Target& target) {
  const Arithmetic& of = plan.arithmetic;
  if (of.addend || bytes_of(of.to) >= bytes_of(of.from)) return plan;
  ValuePlan turned = plan;
  std::vector<std::size_t> order(plan.axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return plan.axes[a].strides.in > plan.axes[b].strides.in;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    turned.axes[i] = plan.axes[order[i]];
    turned.box[i] = plan.box[order[i]];
  }
  turned.run_axes = together(turned, &ValueStrides::in);
  if (turned.run_count() * bytes_of(of.from) < kSegmentBytes / 2) return plan;
  turned.in_direct = true;
  turned.out_direct = false;
  turned.streamed = plan.written_bytes() > target.streaming_bytes;
  return turned;
}

}  // namespace

ValuePlan on_cpu(ValuePlan plan, const Target& target) {
  if (plan.count == 0) return plan;
  if (plan.in_direct && plan.out_direct) return rows_by_input(std::move(plan));
  if (plan.in_direct) return plan;
  plan.turned = turned_pass(plan, target);
  if (plan.turned == nullptr) return converted_as_read(std::move(plan), target);
  plan.streamed = true;
  plan.threads = plan.turned->threads;
  return plan;
}

Arithmetic of_whole_output(const ValuePlan& plan) {
  Arithmetic of = plan.arithmetic;
  of.scale.axis = factor_axis(plan, of.scale, &ValueStrides::scale).axis;
  of.offset.axis = factor_axis(plan, of.offset, &ValueStrides::offset).axis;
  of.shape = whole(plan.axes);
  return of;
}

bool stays_in_registers(const Arithmetic& of) {
  const auto is_narrow = [](Number number) { return number == Number::f16 || number == Number::bf16; };
  const bool turns_signs = of.function == Function::identity || of.function == Function::negate;
  const bool is_plain = !of.in_swapped && !of.out_swapped && !(of.saturated && is_narrow(of.to)) &&
                        computed_in(of) == (is_narrow(of.to) ? Number::f32 : of.to);
  if (is_complex(of.from)) {
    return is_plain && of.from == of.to && (turns_signs || of.function == Function::conjugate) &&
           is_only(of.scale, 1) && is_only(of.offset, 0) && !of.addend;
  }
  const bool from =
      of.from == of.to ||
      (of.to != Number::f64 && (of.from == Number::f32 || of.from == Number::u8 || is_narrow(of.from)));
  const bool to = of.to == Number::f32 || of.to == Number::f64 || is_narrow(of.to);
  return is_plain && from && to && turns_signs &&
         (!of.addend || (of.addend->number == of.to && !of.addend->swapped));
}

std::uint64_t ValuePlan::run_count() const { return product_of_last(box, run_axes); }
std::uint64_t ValuePlan::box_count() const { return product_of_last(box, box.size()); }
std::uint64_t ValuePlan::read_bytes() const {
  const std::uint64_t addend = arithmetic.addend ? bytes_of(arithmetic.addend->number) : 0;
  return count * (bytes_of(arithmetic.from) + addend);
}
std::uint64_t ValuePlan::written_bytes() const { return count * bytes_of(arithmetic.to); }

ValuePlan make_value_plan(const std::vector<ValueAxis>& axes, const ValueStrides& first,
                          const Arithmetic& arithmetic, const Target& target) {
  ValuePlan plan{.arithmetic = arithmetic, .first = first, .count = 1};
  for (const ValueAxis& axis : axes) plan.count *= axis.extent;
  if (plan.count == 0) return plan;
  plan.axes = normal(axes, plan.first);
  choose_box(plan);
  plan.streamed = plan.out_direct && plan.written_bytes() > target.streaming_bytes &&
                  plan.run_count() * bytes_of(arithmetic.to) >= kSegmentBytes / 2;
  plan.threads = plan.read_bytes() + plan.written_bytes() < 2 * kFewBytes ? 1 : target.threads;
  return plan;
}

ValuePlan make_value_plan(const Strided& view, const Arithmetic& arithmetic, const Target& target) {
  check(view);
  check(arithmetic, view.extents);
  check_size(view, arithmetic);
  ValueStrides first{.in = static_cast<std::int64_t>(view.in_offset),
                     .out = static_cast<std::int64_t>(view.out_offset)};
  first.addend = first.out;
  if (arithmetic.addend && !arithmetic.addend->strides.empty())
    first.addend = static_cast<std::int64_t>(arithmetic.addend->first);
  return make_value_plan(axes_of(view, arithmetic), first, arithmetic, target);
}

std::string told_arithmetic(const Arithmetic& arithmetic, std::uint64_t numbers, std::uint64_t read_bytes,
                            std::uint64_t written_bytes) {
  return fmt::format("arithmetic      {}\nnumbers         {}: {} bytes read, {} bytes written\n",
                     to_text(arithmetic), numbers, read_bytes, written_bytes);
}

std::string ValuePlan::explain() const {
  std::string text = told_arithmetic(arithmetic, count, read_bytes(), written_bytes());
  if (count == 0) return text;
  if (turned != nullptr)
    return text +
           fmt::format("loop            {}; changed as they are written\n", kCpuAxesSolver.loop(*turned));
  const auto where = [](bool direct) { return direct ? "where they lie" : "by way of a box in the cache"; };
  text += fmt::format("boxes           {} in runs of {}\n", fmt::join(box, " x "), run_count());
  text += fmt::format("  read          {}\n  written       {}{}\n", where(in_direct), where(out_direct),
                      streamed ? ", past the caches" : "");
  if (arithmetic.addend) text += fmt::format("  added         {}\n", where(addend_direct));
  return text;
}

}  // namespace faro::detail
