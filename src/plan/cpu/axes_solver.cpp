// Permutations of axes, and strided views: one pass, box by box, or piece by piece where elements are long
// (layout/cache_box.hpp).
#include <fmt/format.h>

#include <algorithm>

#include "permutation/cyclic_axes.hpp"
#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

// Registers serve where both sides' runs begin with axes of their own.
AxesMove move_of(const layout::CacheBox& box) {
  if (box.is_of_long_elements()) return AxesMove::pieces;
  const std::vector<std::size_t> in = box.in_run();
  const std::vector<std::size_t> out = box.out_run();
  const auto has = [](const std::vector<std::size_t>& axes, std::size_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  const bool turns = transposes_in_registers(box.element_bytes) && box.in_contiguous() > 0 &&
                     box.out_contiguous() > 0 && !has(out, in.front()) && !has(in, out.front());
  return turns ? AxesMove::planes : AxesMove::table;
}

// A box as it is written: runs of the output one after another.
std::uint64_t stage_bytes_of(const layout::CacheBox& box) {
  const std::vector<std::size_t> run = box.out_run();
  std::uint64_t elements = 1;
  for (std::size_t k = 0; k < box.out_contiguous(); ++k) elements *= box.extent[run[k]];
  return whole_pages(stage_pitch(elements * box.element_bytes) * (box.elements() / elements));
}

// "64 x 65", slowest of the output first
std::string extents_text(const std::vector<std::uint64_t>& extents) {
  std::string text;
  for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
    if (*extent != 1) text += fmt::format("{}{}", text.empty() ? "" : " x ", *extent);
  }
  return text.empty() ? "1" : text;
}

std::string axes_loop(const CpuPass& pass) {
  const auto& axes = std::get<CpuAxes>(pass.kernel);
  if (axes.move == AxesMove::pieces) return "runs of " + size_text(axes.box.element_bytes);
  const std::string elements = axes.box.element_bytes == pass.element_bytes
                                   ? "elements"
                                   : size_text(axes.box.element_bytes) + " side by side";
  return fmt::format("boxes of {} {}, {}", extents_text(axes.box.extent), elements,
                     axes.move == AxesMove::planes ? "turned in registers" : "element by element");
}

// The axes of like arrays, slowest last, in elements.
std::vector<layout::StridedAxis> axes_of(const CpuWork& work) {
  return layout::strided_axes(layout::unit_axes(std::get<Axes>(work.form), 1, work.batch));
}

// A pass for each view, all with the workspace of the one that wants most.
std::vector<CpuPass> view_passes(const CpuWork& work) {
  std::vector<CpuPass> passes;
  std::uint64_t most = 0;
  for (const Strided& part : views_of(std::get<CyclicAxes>(work.form), work.batch)) {
    const Strided view = normal_form(part);
    std::vector<layout::StridedAxis> axes;
    for (std::size_t axis = 0; axis < view.extents.size(); ++axis)
      axes.push_back(
          {.extent = view.extents[axis], .in = view.in_strides[axis], .out = view.out_strides[axis]});
    CpuPass pass = cpu_strided_pass(layout::normal_axes(std::move(axes)), work.element_bytes,
                                    work.total_bytes() > work.streaming_bytes);
    pass.in_offset = view.in_offset * work.element_bytes;
    pass.out_offset = view.out_offset * work.element_bytes;
    pass.part_bytes = element_count(view) * work.element_bytes;
    most = std::max(most, pass.run.workspace.part_bytes);
    passes.push_back(std::move(pass));
  }
  for (CpuPass& pass : passes) pass.run.workspace.part_bytes = most;
  return passes;
}

}  // namespace

CpuPass cpu_strided_pass(const std::vector<layout::StridedAxis>& axes, std::uint64_t element_bytes,
                         bool past_caches) {
  CpuAxes made{.box = layout::choose_cache_box(axes, element_bytes)};
  made.move = move_of(made.box);
  made.staged = past_caches && made.move != AxesMove::pieces;
  CpuPass pass{.kind = PassKind::axes, .kernel = {}};
  pass.streamed = past_caches;
  if (made.staged) pass.run.workspace.part_bytes = stage_bytes_of(made.box);
  pass.kernel = std::move(made);
  return pass;
}

const CpuSolver kCpuAxesSolver{
    .has_form = [](const IndexForm& form) { return has_form<Axes>(form) || has_form<CyclicAxes>(form); },
    .passes = [](const CpuWork& work) -> std::vector<CpuPass> {
      if (has_form<CyclicAxes>(work.form)) return view_passes(work);
      return {cpu_strided_pass(axes_of(work), work.element_bytes, work.total_bytes() > work.streaming_bytes)};
    },
    .makes = is_kernel<CpuAxes>,
    .words = [](const CpuPass& pass) -> std::string {
      return std::get<CpuAxes>(pass.kernel).move == AxesMove::pieces
                 ? "long elements are copied in the order of the output"
                 : "boxes are read as they lie and written as the output lies";
    },
    .loop = axes_loop,
};

}  // namespace faro::detail
