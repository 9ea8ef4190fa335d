#include "plan/gpu/gpu_kernel.hpp"

#include <fmt/format.h>

#include "plan/kernel_text.hpp"

namespace faro::detail {
namespace {

std::string units_text(int unit_bytes) {
  return fmt::format("units of {} byte{}", unit_bytes, unit_bytes == 1 ? "" : "s");
}
std::string unit_text(const IndexUnit& unit) {
  return unit.single ? units_text(unit.unit_bytes) : "several " + units_text(unit.unit_bytes);
}
std::string plane_text(const kernels::AxesPlaneShape& shape) {
  return fmt::format("{}, rows of {} and lines of {} bytes", units_text(shape.unit_bytes), shape.row_bytes,
                     shape.line_bytes);
}
const char* way_text(Way way, const char* forwards, const char* backwards) {
  return way == Way::forwards ? forwards : backwards;
}

// Which of a transposition's kernels, by the type of its params.
struct SweepName {
  const char* operator()(const kernels::TransposeWholeParams& /*p*/) const { return "whole arrays"; }
  const char* operator()(const kernels::C2rRowsParams& /*p*/) const { return "rows"; }
  const char* operator()(const kernels::C2rStripsParams& /*p*/) const { return "strips of columns"; }
  const char* operator()(const kernels::C2rWindowsParams& /*p*/) const { return "windows of columns"; }
  const char* operator()(const kernels::C2rLongRowsParams& /*p*/) const { return "long rows"; }
  const char* operator()(const GpuHugeStep& /*p*/) const { return "rows by way of a copy"; }
};

struct KernelName {
  const KernelParams& params;

  std::string operator()(const CopyKernel& /*k*/) const { return "the driver's copy"; }
  std::string operator()(const AffineTileKernel& k) const { return kernel_text(k.tile); }
  std::string operator()(const SegmentsKernel& k) const {
    return fmt::format("{}-byte vectors", k.vector_bytes);
  }
  std::string operator()(const OrbitKernel& k) const { return kernel_text(k.tile); }
  std::string operator()(const SwapKernel& k) const {
    return fmt::format("pairs of {}-byte vectors", k.access_bytes);
  }
  std::string operator()(const SmallKernel& k) const {
    return fmt::format("whole arrays, {} bytes at a time", k.element_bytes);
  }
  std::string operator()(const SweepKernel& k) const {
    const auto& launch = std::get<GpuTransposeLaunch>(params);
    return fmt::format("{}{}, {}", std::visit(SweepName(), launch.params),
                       launch.in_vectors() ? " in vectors" : "", units_text(static_cast<int>(k.unit_bytes)));
  }
  std::string operator()(const ReversalKernel& k) const {
    return fmt::format("pairs of chunks, {}{}", k.as == kernels::MovedElements::several ? "several " : "",
                       units_text(k.unit_bytes));
  }
  std::string operator()(const CyclicWholeKernel& k) const {
    return fmt::format("whole arrays, {}{}", k.as == kernels::MovedElements::several ? "several " : "",
                       units_text(k.unit_bytes));
  }
  std::string operator()(const SquaresKernel& k) const {
    return fmt::format("pairs of tiles, {}{}", k.several_units ? "several " : "", units_text(k.unit_bytes));
  }
  std::string operator()(const AxesBoxKernel& k) const {
    return fmt::format("axes {}box, {}{}, runs of {} and {} bytes, {} units read and {} written at a time",
                       k.shape.ragged ? "ragged " : "", k.shape.triples > 1 ? "triples of " : "",
                       units_text(k.shape.unit_bytes), k.in_run_bytes, k.out_run_bytes, k.shape.in_vector,
                       k.shape.out_vector);
  }
  std::string operator()(const AxesWholeKernel& k) const {
    const auto& p = std::get<kernels::AxesWholeParams>(params);
    return fmt::format("axes whole, {}, {} arrays of {} bytes a block", units_text(k.unit_bytes),
                       p.tile_bytes / p.array_bytes, p.array_bytes);
  }
  std::string operator()(const AxesLinesKernel& k) const { return "axes lines, " + units_text(k.unit_bytes); }
  std::string operator()(const AxesPlaneKernel& k) const {
    return "axes plane, " + plane_text(k.shape) + (k.aligned ? ", rows at vectors" : "");
  }
  std::string operator()(const AxesTurnedKernel& k) const {
    return "axes turned, " + plane_text(k.shape) + (k.words ? ", rows at words" : "");
  }
  std::string operator()(const AxesSkinnyKernel& k) const {
    const char* const side = k.shape.by_rows ? "rows" : "columns";
    if (k.shape.few > 0) {
      return fmt::format("axes skinny, {}, {} {} at vectors", units_text(k.shape.unit_bytes), k.shape.few,
                         side);
    }
    return fmt::format("axes skinny, {}, few {}", units_text(k.shape.unit_bytes), side);
  }
  std::string operator()(const AxesRowsKernel& k) const { return "axes rows, " + units_text(k.unit_bytes); }
  std::string operator()(const AxesElementsKernel& k) const {
    return fmt::format("axes, one by one, {}{}", units_text(k.unit_bytes),
                       k.units > 1 ? fmt::format(", {} a thread", k.units) : std::string());
  }
  std::string operator()(const AxesRegistersKernel& k) const {
    return fmt::format("axes in registers, elements of {} bytes, {} x {} a thread", k.shape.element_bytes,
                       k.shape.in, k.shape.out);
  }
  std::string operator()(const ViewRowsKernel& k) const {
    return "view rows, " + fmt::format("{} bytes a time", k.shape.access_bytes) +
           (k.shape.reversed_bytes > 0 ? ", " + units_text(k.shape.reversed_bytes) + " reversed" : "");
  }
  std::string operator()(const CyclicKernel& k) const {
    return fmt::format("{}, {}{}", k.reversed ? "flip" : "roll", k.several_units ? "several " : "",
                       units_text(k.unit_bytes));
  }
  std::string operator()(const ModularKernel& k) const {
    const auto cover = l_shape(k.map);
    std::string text = "multiplication, " + units_text(static_cast<int>(k.element_bytes)) + ", matrices of ";
    for (std::size_t r = 0; r < cover.size() && cover.at(r).rows > 0; ++r)
      text += fmt::format("{}{} x {}", r == 0 ? "" : " and ", cover.at(r).columns, cover.at(r).rows);
    return text;
  }
  std::string operator()(const ComputedKernel& k) const {
    const kernels::ElementUnits element = kernels::units_of_element(k.element_bytes);
    const IndexUnit unit{.unit_bytes = static_cast<int>(element.unit_bytes), .single = element.units == 1};
    return fmt::format("parts of {}, {}", k.map.text(), unit_text(unit));
  }
  std::string operator()(const PatchKernel& k) const {
    return fmt::format("patch, {}",
                       units_text(static_cast<int>(kernels::units_of_element(k.element_bytes).unit_bytes)));
  }
  std::string operator()(const WindowKernel& k) const {
    return fmt::format("window {}, {}{}", k.backwards ? "backwards" : "forwards", units_text(k.unit_bytes),
                       k.direct    ? ", without shared memory"
                       : k.vectors ? ", written in vectors"
                                   : "");
  }
  std::string operator()(const RunsKernel& k) const { return "runs, " + units_text(k.unit_bytes); }
  std::string operator()(const DirectKernel& k) const {
    const char* const kind = k.kind == DirectKind::vectors ? "vectors"
                             : k.kind == DirectKind::units ? "several units a thread"
                                                           : "a unit a thread";
    return fmt::format("{}, {}, {}-bit indices, {}", way_text(k.way, "scatter", "gather"),
                       units_text(k.unit_bytes), 8 * k.index_bytes, kind);
  }
  std::string operator()(const LevelKernel& k) const {
    const std::string name = fmt::format("{}, {}", way_text(k.way, "spread", "collect"), unit_text(k.unit));
    if (k.variant == LevelKernel::kInGlobal) return name + ", without shared memory";
    return fmt::format("{}, {} lanes a run", name, 1 << kernels::kCompiledPartitions[k.variant].lane_bits);
  }
  std::string operator()(const ChunkKernel& k) const {
    return fmt::format("{}, {}{}", way_text(k.way, "place", "pick"), unit_text(k.unit),
                       k.place == ChunkPlace::in_global ? ", without shared memory" : "");
  }
  std::string operator()(const ColumnsKernel& k) const {
    return fmt::format("columns {}, {}{}", way_text(k.way, "forwards", "backwards"), units_text(k.unit_bytes),
                       k.in_global ? ", without shared memory" : "");
  }
};

}  // namespace

std::string to_text(const GpuKernel& kernel) {
  std::string text = std::visit(KernelName{kernel.params}, kernel.id);
  // A tile's own words count its threads.
  const bool counted = std::holds_alternative<AffineTileKernel>(kernel.id) ||
                       std::holds_alternative<OrbitKernel>(kernel.id) || kernel.threads == 0;
  return counted ? text : fmt::format("{}, {} threads", text, kernel.threads);
}

}  // namespace faro::detail
