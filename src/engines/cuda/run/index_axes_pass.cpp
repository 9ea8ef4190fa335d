// The pass of axes: rows that stay whole, transposes with long rows and lines, tiles for all else.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/run/index_one_pass.hpp"
#include "faro/error.hpp"
#include "kernels/axes_lines_params.hpp"
#include "kernels/axes_tile_params.hpp"
#include "kernels/partition_params.hpp"
#include "layout/axes_tile.hpp"

namespace faro::cuda {
namespace {

struct AxesTilePass : OnePass::State {
  struct Variant {
    kernels::AxesTileParams params;
    KernelEntry entry;
  };

  AxesTilePass(const layout::UnitAxes& units, std::uint64_t unit, const layout::UnitAxes& wide,
               std::uint64_t wide_unit)
      : State(unit), vectors(variant(wide, wide_unit, true)), single(variant(units, unit, false)) {}

  static Variant variant(const layout::UnitAxes& axes, std::uint64_t unit, bool with_vectors) {
    layout::AxesTileLimits limits;
    limits.threads = kernels::kAxesTileThreads;
    limits.vectors = with_vectors;
    const layout::AxesTile tile = layout::choose_axes_tile(axes, static_cast<int>(unit), limits);
    const kernels::AxesTileParams params = kernels::make_axes_tile_params(tile);
    const KernelEntry entry =
        axes_tile_kernel(static_cast<int>(unit), tile.in.vector_units, tile.out.vector_units);
    return {.params = params, .entry = loaded(entry, params.shared_bytes(), Carveout::needed)};
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

  using State::State;

  // Whether the axes are such transposes. Arrays that are not aligned to the wide unit take the narrow one.
  bool add(const layout::UnitAxes& axes, std::uint64_t unit, const AxesVariant& as) {
    for (const bool anywhere : {false, true}) {
      const auto width = static_cast<std::uint32_t>(unit);
      kernels::AxesLinesOptions options;
      if (anywhere) options.in_skew = unit < kVector ? width : 0;
      if (anywhere) options.out_skew = width;
      options.plane_shape = as.plane_shape;
      options.band = as.band;
      options.turned = as.turned;
      options.skinny = as.skinny;
      const auto choice = kernels::make_axes_lines(axes, static_cast<int>(unit), options);
      if (!choice) return false;
      const KernelEntry entry = choice->skinny   ? axes_skinny_kernel(*choice->skinny)
                                : choice->turned ? axes_turned_kernel(*choice->plane, choice->aligned)
                                : choice->plane  ? axes_plane_kernel(*choice->plane, choice->aligned)
                                                 : axes_lines_kernel(static_cast<int>(unit));
      Variant variant{.params = choice->params,
                      .entry = loaded(entry, choice->params.shared_bytes, Carveout::needed),
                      .unit_bytes = unit,
                      .anywhere = anywhere};
      variant.params.in = {.begin = 0, .end = axes.count() * unit};
      variant.params.out = variant.params.in;
      variants.push_back(variant);
    }
    return true;
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

// The same axes with units as wide as the fastest axis allows where it stays.
layout::UnitAxes widen(layout::UnitAxes axes, std::uint64_t& unit) {
  while (unit < kVector && !axes.shape.empty() &&
         axes.order.back() == static_cast<int>(axes.shape.size()) - 1 && axes.shape.back() % 2 == 0) {
    axes.shape.back() /= 2;
    unit *= 2;
    if (axes.shape.back() == 1) {
      axes.shape.pop_back();
      axes.order.pop_back();
    }
  }
  return axes;
}

// Whether tiles suit a transpose better: elements of 16 bytes have nothing to gain from whole vectors, and a
// side that is shorter than that of a plane's tile, but too long for a single stretch, would leave most of it
// empty.
bool tiles_suit(const layout::UnitAxes& axes, std::uint64_t unit) {
  constexpr std::uint64_t least = 16;
  constexpr std::uint64_t most = 126;
  const std::uint64_t columns = axes.shape.back();
  const std::uint64_t rows = axes.shape[static_cast<std::size_t>(axes.order.back())];
  const std::uint64_t shorter = std::min(rows, columns);
  return unit == kVector && shorter >= least && shorter <= most;
}

}  // namespace

OnePass make_axes_pass(const Axes& axes, std::uint64_t element_bytes, std::uint64_t batch,
                       const AxesVariant& variant) {
  if (axes.count() == 0 || batch == 0) return nothing(element_bytes);
  check_total(axes.count(), element_bytes, batch);
  const std::uint64_t unit = kernels::units_of_element(element_bytes).unit_bytes;
  const layout::UnitAxes units = layout::unit_axes(axes, element_bytes / unit, batch);
  std::uint64_t wide_unit = unit;
  const layout::UnitAxes wide = widen(units, wide_unit);
  if (units.shape.size() < 2) {
    return OnePass(std::make_shared<CopyPass>(unit, units.count() * unit));
  }
  if (!kernels::axes_rows_suit(wide, static_cast<int>(wide_unit))) {
    auto lines = std::make_shared<AxesLinesPass>(unit);
    const bool tiles = variant.tiles_only || (!variant.lines_only && tiles_suit(wide, wide_unit));
    if (!tiles && lines->add(wide, wide_unit, variant) &&
        (unit == wide_unit || lines->add(units, unit, variant))) {
      return OnePass(std::move(lines));
    }
    return OnePass(std::make_shared<AxesTilePass>(units, unit, wide, wide_unit));
  }
  auto pass = std::make_shared<MovedPass<kernels::AxesRowsParams>>(unit);
  const auto add = [&pass](const layout::UnitAxes& of, std::uint64_t width) {
    const int bytes = static_cast<int>(width);
    pass->variants.push_back({.params = kernels::make_axes_rows_params(of, bytes, 0, 0),
                              .entry = loaded(axes_rows_kernel(bytes), 0, Carveout::needed),
                              .unit_bytes = width});
  };
  if (wide_unit != unit) add(wide, wide_unit);
  add(units, unit);
  return OnePass(std::move(pass));
}

}  // namespace faro::cuda
