// Permutations of axes: one pass, box by box, or piece by piece where elements are long
// (layout/axes_box.hpp).
#include <fmt/format.h>

#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kRegisterBytes = 16;

// Registers serve where both sides' innermost axes have as many elements as one holds.
AxesMove move_of(const layout::AxesBox& box) {
  if (box.is_of_long_elements()) return AxesMove::pieces;
  if (box.shape.size() < 2 || !transposes_in_registers(box.element_bytes)) return AxesMove::table;
  const std::uint64_t in = box.extent.back() * box.element_bytes;
  const std::uint64_t out = box.extent[static_cast<std::size_t>(box.order.back())] * box.element_bytes;
  return in >= kRegisterBytes && out >= kRegisterBytes ? AxesMove::planes : AxesMove::table;
}

std::vector<CpuPass> axes_passes_on_cpu(const CpuWork& work) {
  CpuAxes axes{.box = layout::choose_axes_box(std::get<Axes>(work.form), work.element_bytes)};
  axes.move = move_of(axes.box);
  CpuPass pass{.kind = PassKind::axes, .kernel = {}};
  pass.run.workspace.part_bytes = axes_thread_bytes(axes.box);
  pass.kernel = std::move(axes);
  return {std::move(pass)};
}

// "64 x 65"
std::string extents_text(const std::vector<std::uint64_t>& extents) {
  std::string text;
  for (const std::uint64_t extent : extents) {
    if (extent != 1) text += fmt::format("{}{}", text.empty() ? "" : " x ", extent);
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
                     axes.move == AxesMove::planes ? "turned in registers" : "by a table of places");
}

}  // namespace

const CpuSolver kCpuAxesSolver{
    .has_form = has_form<Axes>,
    .passes = axes_passes_on_cpu,
    .makes = is_kernel<CpuAxes>,
    .words = [](const CpuPass& pass) -> std::string {
      return std::get<CpuAxes>(pass.kernel).move == AxesMove::pieces
                 ? "long elements are copied in the order of the output"
                 : "boxes are read as they lie and written as the output lies";
    },
    .loop = axes_loop,
};

}  // namespace faro::detail
