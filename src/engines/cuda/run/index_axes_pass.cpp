// The pass of axes: the kernels of plan/gpu/axes_choice.hpp's choice, loaded and launched.
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/run/index_one_pass.hpp"
#include "plan/gpu/axes_choice.hpp"

namespace faro::cuda {
namespace {

struct AxesTilePass : OnePass::State {
  struct Variant {
    kernels::AxesTileParams params;
    KernelEntry entry;
  };

  AxesTilePass(const faro::detail::AxesTiles& tiles, std::uint64_t unit)
      : State(unit), vectors(variant(tiles.vectors)), single(variant(tiles.single)) {}

  static Variant variant(const faro::detail::AxesTiles::Variant& chosen) {
    const KernelEntry entry = axes_tile_kernel(static_cast<int>(chosen.unit_bytes), chosen.in_vector_units,
                                               chosen.out_vector_units);
    return {.params = chosen.params, .entry = loaded(entry, chosen.params.shared_bytes(), Carveout::needed)};
  }

  void launch(const void* in, void* out, Stream stream) const override {
    const Variant& chosen = aligned(in, out, kVector) ? vectors : single;
    kernels::AxesTileParams params = chosen.params;
    launch_blocks(chosen.entry, params, params.first_tile, params.tiles, 1, stream, in, out);
  }
  std::vector<KernelEntry> entries() const override { return {vectors.entry}; }

  Variant vectors;
  Variant single;
};

// Transposes: a kernel for arrays that begin at sectors, and others for arrays that do not.
struct AxesLinesPass : OnePass::State {
  struct Variant {
    kernels::AxesLinesParams params;
    KernelEntry entry;
    std::uint64_t unit_bytes = 1;
    bool anywhere = false;
  };

  AxesLinesPass(const faro::detail::AxesLines& lines, std::uint64_t unit) : State(unit) {
    for (const faro::detail::AxesLines::Variant& chosen : lines.variants) {
      const kernels::AxesLinesChoice& choice = chosen.choice;
      const KernelEntry entry = choice.skinny   ? axes_skinny_kernel(*choice.skinny)
                                : choice.turned ? axes_turned_kernel(*choice.plane, choice.aligned)
                                : choice.plane  ? axes_plane_kernel(*choice.plane, choice.aligned)
                                                : axes_lines_kernel(static_cast<int>(chosen.unit_bytes));
      variants.push_back({.params = choice.params,
                          .entry = loaded(entry, choice.params.shared_bytes, Carveout::needed),
                          .unit_bytes = chosen.unit_bytes,
                          .anywhere = chosen.anywhere});
    }
  }

  void launch(const void* in, void* out, Stream stream) const override {
    const Address from = split(in);
    const Address to = split(out, kernels::kLineSector);
    for (const Variant& variant : variants) {
      if (variant.anywhere ? !aligned(in, out, variant.unit_bytes) : from.skew != 0 || to.skew != 0) continue;
      kernels::AxesLinesParams params = variant.params;
      place(params, from.skew, to.skew);
      launch_blocks(variant.entry, params, params.first_tile, params.tiles, 1, stream, from.base, to.base);
      return;
    }
  }
  std::vector<KernelEntry> entries() const override { return {variants.front().entry}; }

  std::vector<Variant> variants;
};

OnePass rows_pass(const faro::detail::AxesRows& rows, std::uint64_t unit) {
  auto pass = std::make_shared<MovedPass<kernels::AxesRowsParams>>(unit);
  for (const faro::detail::AxesRows::Variant& chosen : rows.variants) {
    const KernelEntry entry = axes_rows_kernel(static_cast<int>(chosen.unit_bytes));
    pass->variants.push_back({.params = chosen.params,
                              .entry = loaded(entry, 0, Carveout::needed),
                              .unit_bytes = chosen.unit_bytes});
  }
  return OnePass(std::move(pass));
}

}  // namespace

OnePass make_axes_pass(const Axes& axes, std::uint64_t element_bytes, std::uint64_t batch,
                       const AxesVariant& variant) {
  const faro::detail::AxesChoice choice = faro::detail::choose_axes(axes, element_bytes, batch, variant);
  const std::uint64_t unit = choice.unit_bytes;
  if (const auto* copy = std::get_if<faro::detail::AxesCopy>(&choice.form)) {
    return OnePass(std::make_shared<CopyPass>(unit, copy->bytes));
  }
  if (const auto* tiles = std::get_if<faro::detail::AxesTiles>(&choice.form)) {
    return OnePass(std::make_shared<AxesTilePass>(*tiles, unit));
  }
  if (const auto* lines = std::get_if<faro::detail::AxesLines>(&choice.form)) {
    return OnePass(std::make_shared<AxesLinesPass>(*lines, unit));
  }
  return rows_pass(std::get<faro::detail::AxesRows>(choice.form), unit);
}

}  // namespace faro::cuda
