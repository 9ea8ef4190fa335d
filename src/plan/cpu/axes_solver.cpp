// Permutations of axes: one pass, box by box, or piece by piece where elements are long
// (layout/axes_box.hpp).
#include "plan/cpu/cpu_pass.hpp"

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

}  // namespace

std::vector<CpuPass> cpu_axes_passes(const CpuWork& work) {
  CpuAxes axes{.box = layout::choose_axes_box(std::get<Axes>(work.form), work.element_bytes)};
  axes.move = move_of(axes.box);
  CpuPass pass{.kind = PassKind::axes, .kernel = {}};
  pass.run.workspace.part_bytes = axes_thread_bytes(axes.box);
  pass.kernel = std::move(axes);
  return {std::move(pass)};
}

}  // namespace faro::detail
