// Permutations of axes: one pass, by the kernels that axes_choice.hpp has chosen.
#include <algorithm>
#include <bit>
#include <variant>

#include "kernels/axes_ragged_box.hpp"
#include "permutation/cyclic_axes.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kVectorBytes = kernels::kMovedBytes;

GpuKernel of_box(const AxesBoxes::Variant& chosen) {
  return {.id = AxesBoxKernel{chosen.shape, chosen.in_run_bytes, chosen.out_run_bytes},
          .params = chosen.params,
          .blocks = chosen.params.tiles,
          .first_step = 1,
          .threads = chosen.shape.threads,
          .shared_bytes = chosen.params.shared_bytes(),
          .in_alignment = chosen.alignment,
          .out_alignment = chosen.alignment};
}

GpuKernel of_whole(const AxesWhole::Variant& chosen) {
  return {.id = AxesWholeKernel{static_cast<int>(chosen.unit_bytes)},
          .params = chosen.params,
          .blocks = chosen.params.tiles,
          .first_step = 1,
          .threads = kernels::kWholeThreads,
          .shared_bytes = chosen.params.shared_bytes(),
          .in_alignment = chosen.unit_bytes,
          .out_alignment = chosen.unit_bytes};
}

GpuKernel of_lines(const AxesLines::Variant& chosen) {
  const kernels::AxesLinesChoice& choice = chosen.choice;
  GpuKernel kernel{.id = AxesLinesKernel{static_cast<int>(chosen.unit_bytes)},
                   .params = choice.params,
                   .blocks = choice.params.tiles,
                   .first_step = 1,
                   .threads = kernels::kAxesLinesThreads,
                   .shared_bytes = choice.params.shared_bytes,
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

// A kernel whose threads move a vector each, or some units.
template <typename Params>
GpuKernel of_vectors(const KernelId& id, const Params& params, int threads, std::uint64_t in_alignment,
                     std::uint64_t out_alignment) {
  const auto step = static_cast<std::uint64_t>(threads);
  return {.id = id,
          .params = params,
          .blocks = ceil_div(params.vectors(), step),
          .first_step = step,
          .threads = threads,
          .in_alignment = in_alignment,
          .out_alignment = out_alignment};
}

GpuKernel of_rows(const AxesRows::Variant& chosen) {
  const AxesRowsKernel id{static_cast<int>(chosen.unit_bytes)};
  return of_vectors(id, chosen.params, kernels::kAxesRowsThreads, chosen.unit_bytes, chosen.unit_bytes);
}

GpuKernel of_view_rows(const kernels::ViewRowsChoice& chosen) {
  return of_vectors(ViewRowsKernel{chosen.shape}, chosen.params, kernels::kViewRowsThreads, chosen.alignment,
                    chosen.alignment);
}

GpuKernel of_elements(const AxesElements::Variant& chosen) {
  const AxesElementsKernel id{static_cast<int>(chosen.unit_bytes), static_cast<int>(chosen.params.units)};
  return of_vectors(id, chosen.params, kernels::kAxesElementsThreads, chosen.unit_bytes, chosen.unit_bytes);
}

GpuKernel of_registers(const AxesRegisters& chosen) {
  return of_vectors(AxesRegistersKernel{chosen.shape}, chosen.params, kernels::kAxesRegistersThreads,
                    static_cast<std::uint64_t>(chosen.shape.in_bytes()),
                    static_cast<std::uint64_t>(chosen.shape.out_bytes()));
}

struct KernelsOf {
  GpuPass& pass;

  void operator()(const AxesCopy& copy) const {
    pass.kind = PassKind::copy;
    pass.copy_bytes = copy.bytes;
  }
  void operator()(const AxesBoxes& boxes) const {
    add(boxes, of_box);
    pass.box = boxes.variants.front().box;
  }
  void operator()(const AxesLines& lines) const { add(lines, of_lines); }
  void operator()(const AxesWhole& whole) const { add(whole, of_whole); }
  void operator()(const AxesElements& elements) const { add(elements, of_elements); }
  void operator()(const AxesRows& rows) const { add(rows, of_rows); }

 private:
  template <typename Way, typename Variant>
  void add(const Way& way, GpuKernel (*of)(const Variant&)) const {
    for (const Variant& variant : way.variants) pass.kernels.push_back(of(variant));
  }
};

struct MovedInWords {
  static constexpr const char* kBoxes =
      "boxes go through shared memory, runs of the input in, runs of the output out";
  static constexpr const char* kPlanes =
      "planes go by tiles through shared memory, rows of the input in, lines of the output out";
  static constexpr const char* kTogether =
      "each thread moves what lies together on both sides, without shared memory";

  std::string operator()(const AxesBoxKernel& /*kernel*/) const { return kBoxes; }
  std::string operator()(const AxesPlaneKernel& /*kernel*/) const { return kPlanes; }
  std::string operator()(const AxesTurnedKernel& /*kernel*/) const { return kPlanes; }
  std::string operator()(const AxesLinesKernel& /*kernel*/) const { return kPlanes; }
  std::string operator()(const AxesSkinnyKernel& kernel) const {
    return std::string("stretches of few ") + (kernel.shape.by_rows ? "rows" : "columns") +
           " go through shared memory, rows of the input in, lines of the output out";
  }
  std::string operator()(const AxesWholeKernel& /*kernel*/) const {
    return "small arrays go through shared memory, some whole ones at a time";
  }
  template <typename Kernel>
  std::string operator()(const Kernel& /*kernel*/) const {
    return kTogether;
  }
};

std::string axes_words(const GpuPass& pass, const PassWork& /*work*/) { return axes_pass_words(pass); }

// Fitted to drawn shapes on an H200 and an H100 (docs/notes/prediction-experiments.md). Threads are as many
// as the registers of a multiprocessor are enough for.
struct AxesFactors {
  CostFactors operator()(const AxesTurnedKernel& /*kernel*/) const {
    return {.bytes = 1.123,
            .load_sectors = 0.077,
            .store_sectors = 3.27,
            .parts = 3.56,
            .blocks = 5380,
            .clocked = 0.17};
  }
  CostFactors operator()(const AxesPlaneKernel& /*kernel*/) const {
    return {.bytes = 1.05,
            .load_sectors = 0.069,
            .store_sectors = 0.434,
            .load_lines = 0.222,
            .shared_requests = 0.593,
            .parts = 8.18,
            .blocks = 3750,
            .clocked = 0.035};
  }
  // Pieces of few rows are short, so they share sectors with their neighbours, and their stretches lines.
  CostFactors operator()(const AxesSkinnyKernel& kernel) const {
    if (kernel.shape.few > 0) return {.bytes = 1.1};
    if (kernel.shape.by_rows && kernel.shape.unit_bytes <= 2) {
      return {.bytes = 1.035,
              .load_lines = 0.107,
              .store_lines = 5.64,
              .wavefronts = 0.848,
              .parts = 5.63,
              .blocks = 3070,
              .threads = 1024,
              .clocked = 0.11};
    }
    if (kernel.shape.by_rows) {
      return {.load_sectors = 0.649,
              .store_lines = 1.47,
              .shared_requests = 0.179,
              .wavefronts = 0.485,
              .parts = 7.32,
              .blocks = 5280,
              .threads = 1280,
              .clocked = 0.11};
    }
    return {.bytes = 1.03,
            .load_sectors = 0.972,
            .store_sectors = 0.137,
            .store_lines = 0.028,
            .shared_requests = 1.48,
            .wavefronts = 0.155,
            .parts = 1.77,
            .blocks = 3810,
            .threads = 1024,
            .clocked = 0.098};
  }
  // By 450 drawn shapes of an H200 alone.
  CostFactors operator()(const AxesRegistersKernel& kernel) const {
    static constexpr CostFactors of[] = {{.bytes = 1.2, .store_sectors = 1.69},
                                         {.bytes = 1.2, .store_sectors = 0.75},
                                         {.bytes = 1.135, .store_sectors = 0.33},
                                         {.bytes = 1.077, .store_sectors = 0.57}};
    return of[std::countr_zero(static_cast<unsigned>(kernel.shape.element_bytes))];
  }
  CostFactors operator()(const AxesWholeKernel& /*kernel*/) const {
    return {.bytes = 1.07, .shared_requests = 0.7, .wavefronts = 1.03, .clocked = 0.13};
  }
  // Whole vectors need no joining, and are bound by memory alone.
  CostFactors operator()(const AxesLinesKernel& kernel) const {
    if (kernel.unit_bytes == kernels::kMovedBytes)
      return {.bytes = 1.02, .store_lines = 0.594, .clocked = 0.1};
    return {.bytes = 1.16,
            .store_lines = 0.985,
            .shared_requests = 5.01,
            .wavefronts = 0.124,
            .parts = 6.88,
            .blocks = 3630,
            .clocked = 0.52};
  }
  CostFactors operator()(const AxesBoxKernel& kernel) const {
    const int unit = kernel.shape.unit_bytes;
    if (!kernel.shape.ragged) {
      if (unit <= 2) {
        return {.bytes = 1.1,
                .load_sectors = 0.788,
                .load_lines = 0.353,
                .shared_requests = 6.44,
                .blocks = 2840,
                .threads = unit == 1 ? 1024U : 1536U,
                .clocked = 0.23};
      }
      return {.bytes = 1.1,
              .load_sectors = 0.466,
              .store_sectors = 0.954,
              .load_lines = 0.161,
              .store_lines = 0.152,
              .shared_requests = 4.95,
              .wavefronts = 0.27,
              .parts = 10.6,
              .blocks = 2840,
              .threads = 1536,
              .clocked = 0.136};
    }
    if (kernel.shape.triples > 1) {
      if (unit == 1)
        return {.bytes = 1,
                .load_sectors = 1.75,
                .store_sectors = 1.46,
                .shared_requests = 1.48,
                .wavefronts = 0.182,
                .parts = 7.26,
                .blocks = 2200};
      return {.bytes = 1.04,
              .load_sectors = 0.763,
              .store_sectors = 0.556,
              .shared_requests = 2.06,
              .wavefronts = 0.157,
              .parts = 10.2,
              .blocks = 3670};
    }
    // A loop for each width, whose accesses hide differently.
    switch (unit) {
      case 1:
        return {.bytes = 1.13,
                .load_sectors = 0.427,
                .store_sectors = 2.34,
                .wavefronts = 0.915,
                .parts = 3.31,
                .threads = 1024,
                .clocked = 0.078};
      case 2:
        return {.bytes = 1.08,
                .load_sectors = 0.458,
                .load_lines = 0.203,
                .store_lines = 0.047,
                .shared_requests = 0.249,
                .wavefronts = 0.702,
                .parts = 9.15,
                .blocks = 3300,
                .threads = 1280,
                .clocked = 0.229};
      case 4:
        return {.bytes = 1.14,
                .store_sectors = 1.09,
                .store_lines = 0.021,
                .shared_requests = 1.22,
                .wavefronts = 0.429,
                .parts = 8.99,
                .blocks = 4960,
                .threads = 1536,
                .clocked = 0.112};
      default:
        return {.bytes = 1.17,
                .store_sectors = 1.44,
                .wavefronts = 0.245,
                .parts = 24.7,
                .blocks = 1300,
                .threads = 1536,
                .clocked = 0.183};
    }
  }
  template <typename Other>
  CostFactors operator()(const Other& /*rows, which go as they lie*/) const {
    return {.bytes = 1.08, .load_lines = 0.034, .parts = 52};
  }
};

// A ragged box lists where the units of its output's runs lie: a thread divides for each digit of an entry;
// of single bytes for two entries of four, where the run's fastest digit has as many. And its warps go round
// as often as they have vectors of runs to store. Of triples both are other loops.
double cycles_of_ragged(const kernels::AxesBoxParams& p, const kernels::BoxShape& shape, double blocks,
                        double resident) {
  const bool triples = shape.triples > 1;
  const double cycles_of_digit = !triples ? 4.57 : shape.unit_bytes == 1 ? 5.01 : 2.7;
  const double cycles_of_round = !triples ? 290 : shape.unit_bytes == 1 ? 657 : 411;
  constexpr std::uint32_t together = 4;
  const auto threads = static_cast<std::uint64_t>(shape.threads);
  const std::uint64_t warps = threads / kernels::kRaggedWarp;
  const std::uint32_t entries = kernels::ragged_list(shape.unit_bytes, shape.triples, p.out.units + p.halo);
  const bool in_rows = shape.unit_bytes == 1 && shape.triples == 1 && p.out.run_digits > 0 &&
                       p.out.run[0].extent.divisor() >= together;
  const std::uint64_t listed = ceil_div(std::uint64_t{in_rows ? entries / 2 : entries}, threads) * warps;
  const std::uint64_t pieces = ceil_div(p.out.rows, std::uint64_t{1} << p.near_bits) * p.pieces.divisor();
  const std::uint64_t rounds = ceil_div(pieces, warps) * p.stretch;
  return blocks * (cycles_of_digit * static_cast<double>(listed) * std::max(1, p.out.run_digits) +
                   cycles_of_round * static_cast<double>(rounds) / resident);
}

// Lines that end within a sector: a thread stores the units of such a vector one by one, in the first tile of
// a line and in the last.
double cycles_at_cuts(const kernels::AxesLinesParams& params, double unit_bytes, double cycles,
                      double blocks) {
  if (params.line_bytes % kernels::kLineSector == 0 && params.out_pitch % kernels::kLineSector == 0) return 0;
  const auto along = static_cast<double>(ceil_div(params.steps, std::uint64_t{params.tile_steps}));
  return cycles * kVectorBytes / unit_bytes * blocks * std::min(2.0, along) / along;
}

struct OwnCyclesOf {
  const CountedPass& of;
  const GpuKernel& kernel;

  OwnCycles operator()(const AxesBoxKernel& box) const {
    if (!box.shape.ragged) return {};
    const int unit = box.shape.unit_bytes;
    const double cycles_of_byte = box.shape.triples > 1 ? 0
                                  : unit == 1           ? 0.102
                                  : unit == 2           ? 0.032
                                  : unit == 4           ? 0.018
                                                        : 0.058;  // of a block
    return {.processors =
                cycles_of_byte * of.moved_bytes() / 2 / of.resident_blocks(AxesFactors()(box).threads) +
                cycles_of_ragged(std::get<kernels::AxesBoxParams>(kernel.params), box.shape, of.blocks(),
                                 of.resident_blocks(AxesFactors()(box).threads))};
  }
  // Rows, or lines, of a stretch that a block holds all of: the more there are, the shorter are their pieces.
  OwnCycles operator()(const AxesSkinnyKernel& skinny) const {
    if (skinny.shape.few > 0) return {};
    const bool narrow = skinny.shape.by_rows && skinny.shape.unit_bytes <= 2;
    const double cycles_of_row = narrow ? 34.9 : skinny.shape.by_rows ? 23.3 : 40.5;
    const double cycles_of_cut = narrow ? 463 : skinny.shape.by_rows ? 310 : 537;
    const auto& params = std::get<kernels::AxesLinesParams>(kernel.params);
    const double blocks = of.blocks() / of.resident_blocks(AxesFactors()(skinny).threads);
    const std::uint32_t rows =
        params.form == kernels::AxesLinesForm::few_rows ? params.rows : params.tile_columns;
    return {.processors = cycles_at_cuts(params, skinny.shape.unit_bytes, cycles_of_cut, blocks) +
                          cycles_of_row * rows * blocks};
  }
  OwnCycles operator()(const AxesLinesKernel& lines) const {
    const double resident = of.resident_blocks(AxesFactors()(lines).threads);
    return {.processors = cycles_at_cuts(std::get<kernels::AxesLinesParams>(kernel.params), lines.unit_bytes,
                                         225, of.blocks() / resident)};
  }
  template <typename Other>
  OwnCycles operator()(const Other& /*kernel*/) const {
    return {};
  }
};

std::optional<double> axes_cost(const CountedPass& of) {
  const GpuKernel& kernel = of.pass.gpu->kernels.front();
  return overlapped_us(of, std::visit(AxesFactors(), kernel.id),
                       std::visit(OwnCyclesOf{of, kernel}, kernel.id));
}

}  // namespace

std::vector<GpuPass> axes_passes(const PassWork& work) {
  if (const auto* const moved = std::get_if<CyclicAxes>(&work.form)) {
    std::vector<GpuPass> passes;
    for (AxisMap& part : unrolled_parts(*moved, work.batch)) {
      const std::uint64_t bytes = unit_count(part.axes) * work.element_bytes;
      passes.push_back(view_pass(normal_form(std::move(part)), work.element_bytes));
      passes.back().part_bytes = bytes;
    }
    return passes;
  }
  const AxesChoice choice = choose_axes(std::get<Axes>(work.form), work.element_bytes, work.batch, work.axes);
  GpuPass pass{.kind = PassKind::axes, .kernels = {}};
  if (choice.registers) pass.kernels.push_back(of_registers(*choice.registers));
  std::visit(KernelsOf{pass}, choice.form);
  if (choice.registers) pass.box = nullptr;  // not what is launched first
  return {std::move(pass)};
}

std::string axes_pass_words(const GpuPass& pass) {
  if (pass.kind == PassKind::copy) return "nothing moves, so bytes are read and written in order";
  FARO_CHECK(!pass.kernels.empty());
  const std::string words = std::visit(MovedInWords{}, pass.kernels.front().id);
  return pass.part_bytes > 0 ? "a part, whose axes are read forwards or backwards: " + words : words;
}

GpuPass view_pass(const AxisMap& view, std::uint64_t element_bytes, const AxesVariant& variant) {
  GpuPass pass{.kind = PassKind::axes, .kernels = {}};
  const ViewChoice choice = choose_view(view, element_bytes, variant);
  pass.array_bytes = in_elements(as_strided(view)) * element_bytes;
  if (choice.elements) {
    KernelsOf{pass}(*choice.elements);
    return pass;
  }
  if (choice.whole) {
    KernelsOf{pass}(*choice.whole);
    return pass;
  }
  if (choice.lines) {
    KernelsOf{pass}(*choice.lines);
    return pass;
  }
  if (choice.rows) pass.kernels.push_back(of_view_rows(*choice.rows));
  KernelsOf{pass}(choice.boxes);
  if (choice.rows) pass.box = nullptr;  // not what is launched first
  return pass;
}

const GpuSolver kAxesSolver{.makes = [](PassKind kind) { return kind == PassKind::axes; },
                            .passes = axes_passes,
                            .words = axes_words,
                            .cost = axes_cost};

struct QuickKernelOf {
  std::optional<GpuKernel> operator()(const std::monostate& /*none*/) const { return std::nullopt; }
  std::optional<GpuKernel> operator()(const AxesElements::Variant& chosen) const {
    return of_elements(chosen);
  }
  std::optional<GpuKernel> operator()(const kernels::ViewRowsChoice& chosen) const {
    return of_view_rows(chosen);
  }
  std::optional<GpuKernel> operator()(const AxesLines::Variant& chosen) const { return of_lines(chosen); }
};

std::optional<GpuKernel> quick_rows_kernel(const AxisMap& units, std::uintptr_t in, std::uintptr_t out) {
  return std::visit(QuickKernelOf(), choose_quick_rows(units, in, out));
}

std::optional<GpuKernel> quick_kernel(const AxisMap& units, std::uintptr_t in, std::uintptr_t out) {
  return std::visit(QuickKernelOf(), choose_quickly(units, in, out));
}

std::optional<GpuPass> searched_pass(const AxisMap& units) {
  std::vector<GpuPass> passes;
  const bool forwards = std::all_of(units.axes.begin(), units.axes.end(),
                                    [](const StridedAxis& axis) { return axis.in > 0 && axis.shift == 0; });
  if (forwards && whole(units)) {
    const Axes axes(units);
    passes = axes_passes({.count = axes.count(), .element_bytes = units.unit, .form = axes});
  } else {
    passes.push_back(view_pass(units, units.unit));
  }
  if (passes.size() != 1 || passes.front().kind != PassKind::axes) return std::nullopt;
  return std::move(passes.front());
}

}  // namespace faro::detail
