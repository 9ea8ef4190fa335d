#include "tell/box_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "contains.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "rounding.hpp"
#include "size_text.hpp"

namespace faro::detail {
namespace {

// The output's slowest first, and how often the box fits each.
void add_axis(BoxFacts& facts, const BoxFacts::Axis& axis) {
  facts.axes.insert(facts.axes.begin(), axis);
  facts.boxes *= ceil_div(axis.extent, axis.box);
}

void set_rows(BoxFacts& facts) {
  facts.in_rows = facts.bytes() / std::max<std::uint64_t>(facts.in_run_bytes, 1);
  facts.out_rows = facts.bytes() / std::max<std::uint64_t>(facts.out_run_bytes, 1);
}

BoxFacts facts_of(const CpuAxes& made) {
  const layout::CacheBox& box = made.box;
  BoxFacts facts{.axes = {}, .unit_bytes = box.element_bytes};
  const std::vector<std::size_t> in = box.in_run();
  const std::vector<std::size_t> out = box.out_run();
  facts.in_run_bytes = box.element_bytes;
  facts.out_run_bytes = box.element_bytes;
  for (std::size_t k = 0; k < box.in_contiguous(); ++k) facts.in_run_bytes *= box.extent[in[k]];
  for (std::size_t k = 0; k < box.out_contiguous(); ++k) facts.out_run_bytes *= box.extent[out[k]];
  for (std::size_t a = 0; a < box.axes.size(); ++a) {
    add_axis(facts, {.extent = box.axes[a].extent,
                     .box = box.extent[a],
                     .in_bytes = box.axes[a].in,
                     .out_bytes = box.axes[a].out,
                     .in_run = contains(in, a),
                     .out_run = contains(out, a)});
  }
  if (made.move == AxesMove::groups) {
    std::uint64_t run = box.element_bytes;
    for (const std::size_t axis : turned_axes(box).rows) run *= box.extent[axis];
    facts.pitch_bytes = stage_pitch(run + kLineBytes);
  } else if (made.staged && made.move != AxesMove::lines && made.move != AxesMove::channels) {
    facts.pitch_bytes = stage_pitch(facts.out_run_bytes);
  }
  set_rows(facts);
  return facts;
}

BoxFacts facts_of(const layout::StridedBox& box) {
  const auto unit = static_cast<std::uint64_t>(box.unit_bytes);
  BoxFacts facts{.axes = {},
                 .unit_bytes = unit,
                 .in_run_bytes = box.in.contiguous * unit,
                 .out_run_bytes = box.out.contiguous * unit,
                 .in_shared_memory = true};
  for (std::size_t a = 0; a < box.axes.size(); ++a) {
    const auto bytes = static_cast<std::int64_t>(unit);
    add_axis(facts, {.extent = box.axes[a].extent,
                     .box = box.extent[a],
                     .in_bytes = box.axes[a].in * bytes,
                     .out_bytes = box.axes[a].out * bytes,
                     .in_run = contains(box.in.run, static_cast<int>(a)),
                     .out_run = contains(box.out.run, static_cast<int>(a))});
  }
  // Rows of the input lie there, the first step past a row.
  if (!box.in.rest.empty()) {
    const std::vector<layout::BoxPart> parts = box.parts_of(box.in.rest.front());
    if (!parts.empty())
      facts.pitch_bytes = std::uint64_t{parts.front().place} * static_cast<unsigned>(box.word_bytes());
  }
  set_rows(facts);
  return facts;
}

// Arrays that are moved whole: one stretch of each side.
BoxFacts facts_of(const kernels::AxesWholeParams& p, std::uint64_t unit_bytes) {
  BoxFacts facts{.axes = {},
                 .unit_bytes = unit_bytes,
                 .in_run_bytes = p.in_tile_bytes,
                 .out_run_bytes = p.tile_bytes,
                 .in_shared_memory = true};
  std::uint64_t out_step = unit_bytes;
  const auto add = [&](std::uint64_t extent, std::uint64_t of_box, std::int64_t in_step) {
    add_axis(facts, {.extent = extent,
                     .box = of_box,
                     .in_bytes = in_step,
                     .out_bytes = static_cast<std::int64_t>(out_step),
                     .in_run = true,
                     .out_run = true});
    out_step *= extent;
  };
  for (std::int32_t a = 0; a < p.axes; ++a) {
    const std::uint64_t extent = p.axis[a].extent.divisor();
    add(extent, extent, static_cast<std::int32_t>(p.axis[a].step));
  }
  add((p.out.end - p.out.begin) / p.array_bytes, p.tile_bytes / p.array_bytes, p.in_array_bytes);
  set_rows(facts);
  return facts;
}

std::string product_text(const BoxFacts& box, std::uint64_t BoxFacts::Axis::*extent) {
  std::string text;
  for (const BoxFacts::Axis& axis : box.axes)
    if (axis.box > 1) text += fmt::format("{}{}", text.empty() ? "" : " x ", axis.*extent);
  return text.empty() ? "1" : text;
}

}  // namespace

std::uint64_t BoxFacts::bytes() const {
  std::uint64_t bytes = unit_bytes;
  for (const Axis& axis : axes) bytes *= axis.box;
  return bytes;
}

std::optional<BoxFacts> box_facts(const Pass& pass) {
  if (pass.cpu != nullptr) {
    const auto* const axes = std::get_if<CpuAxes>(&pass.cpu->kernel);
    if (axes == nullptr || axes->box.is_of_long_elements()) return std::nullopt;
    return facts_of(*axes);
  }
  if (pass.gpu == nullptr) return std::nullopt;
  if (!pass.gpu->kernels.empty()) {
    const GpuKernel& first = pass.gpu->kernels.front();
    if (const auto* const whole = std::get_if<AxesWholeKernel>(&first.id)) {
      return facts_of(std::get<kernels::AxesWholeParams>(first.params),
                      static_cast<std::uint64_t>(whole->unit_bytes));
    }
  }
  if (pass.gpu->box == nullptr) return std::nullopt;
  return facts_of(*pass.gpu->box);
}

std::string box_text(const BoxFacts& box, const char* one, const char* many) {
  return fmt::format("{} of {} units of {}, {}; {}", product_text(box, &BoxFacts::Axis::box),
                     product_text(box, &BoxFacts::Axis::extent), size_text(box.unit_bytes),
                     size_text(box.bytes()), count_text(box.boxes) + " " + (box.boxes == 1 ? one : many));
}

std::string runs_text(const BoxFacts& box) {
  const auto rows = [](std::uint64_t count, std::uint64_t bytes) {
    return fmt::format("{} of {}", count_text(count, "run"), size_text(bytes));
  };
  std::string text = fmt::format("reads {}, writes {}", rows(box.in_rows, box.in_run_bytes),
                                 rows(box.out_rows, box.out_run_bytes));
  if (box.pitch_bytes != 0) {
    text += fmt::format("; pitch {} bytes in {}", box.pitch_bytes,
                        box.in_shared_memory ? "shared memory" : "the stage");
  }
  return text;
}

}  // namespace faro::detail
