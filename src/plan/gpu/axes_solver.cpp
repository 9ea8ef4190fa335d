// Permutations of axes: one pass, by the kernels that axes_choice.hpp has chosen.
#include <variant>

#include "plan/gpu/gpu_pass.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kVectorBytes = kernels::kMovedBytes;

GpuKernel of_tiles(const AxesTiles::Variant& chosen, std::uint64_t alignment) {
  return {.id = AxesTileKernel{static_cast<int>(chosen.unit_bytes), chosen.in_vector_units,
                               chosen.out_vector_units},
          .params = chosen.params,
          .blocks = chosen.params.tiles,
          .first_step = 1,
          .threads = kernels::kAxesTileThreads,
          .shared_bytes = chosen.params.shared_bytes(),
          .carveout = Carveout::needed,
          .in_alignment = alignment,
          .out_alignment = alignment};
}

GpuKernel of_lines(const AxesLines::Variant& chosen) {
  const kernels::AxesLinesChoice& choice = chosen.choice;
  GpuKernel kernel{.id = AxesLinesKernel{static_cast<int>(chosen.unit_bytes)},
                   .params = choice.params,
                   .blocks = choice.params.tiles,
                   .first_step = 1,
                   .threads = kernels::kAxesLinesThreads,
                   .shared_bytes = choice.params.shared_bytes,
                   .carveout = Carveout::needed,
                   .in_alignment = chosen.anywhere ? chosen.unit_bytes : kVectorBytes,
                   .out_alignment = chosen.anywhere ? chosen.unit_bytes : kernels::kLineSector};
  if (choice.skinny) {
    kernel.id = AxesSkinnyKernel{*choice.skinny};
    kernel.threads = kernels::kAxesSkinnyThreads;
  } else if (choice.plane) {
    kernel.threads = choice.plane->threads;
    kernel.id = choice.turned ? KernelId(AxesTurnedKernel{*choice.plane, choice.aligned})
                              : KernelId(AxesPlaneKernel{*choice.plane, choice.aligned});
  }
  return kernel;
}

GpuKernel of_rows(const AxesRows::Variant& chosen) {
  constexpr auto threads = std::uint64_t{kernels::kAxesRowsThreads};
  return {.id = AxesRowsKernel{static_cast<int>(chosen.unit_bytes)},
          .params = chosen.params,
          .blocks = ceil_div(chosen.params.vectors(), threads),
          .first_step = threads,
          .threads = kernels::kAxesRowsThreads,
          .carveout = Carveout::needed,
          .in_alignment = chosen.unit_bytes,
          .out_alignment = chosen.unit_bytes};
}

struct KernelsOf {
  GpuPass& pass;

  void operator()(const AxesCopy& copy) const {
    pass.kind = PassKind::copy;
    pass.copy_bytes = copy.bytes;
  }
  void operator()(const AxesTiles& tiles) const {
    pass.kernels = {of_tiles(tiles.vectors, kVectorBytes), of_tiles(tiles.single, tiles.single.unit_bytes)};
  }
  void operator()(const AxesLines& lines) const {
    for (const AxesLines::Variant& variant : lines.variants) pass.kernels.push_back(of_lines(variant));
  }
  void operator()(const AxesRows& rows) const {
    for (const AxesRows::Variant& variant : rows.variants) pass.kernels.push_back(of_rows(variant));
  }
};

}  // namespace

std::vector<GpuPass> axes_passes(const PassWork& work) {
  const AxesChoice choice = choose_axes(std::get<Axes>(work.form), work.element_bytes, work.batch, work.axes);
  GpuPass pass{.kind = PassKind::axes, .kernels = {}};
  std::visit(KernelsOf{pass}, choice.form);
  return {std::move(pass)};
}

}  // namespace faro::detail
