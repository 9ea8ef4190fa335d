// Permutations of axes: one pass, by the kernels that axes_choice.hpp has chosen.
#include <variant>

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
          .threads = kernels::kBoxThreads,
          .shared_bytes = chosen.params.shared_bytes(),
          .carveout = Carveout::needed,
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
          .carveout = Carveout::needed,
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

GpuKernel of_view_rows(const kernels::ViewRowsChoice& chosen) {
  constexpr auto threads = std::uint64_t{kernels::kViewRowsThreads};
  return {.id = ViewRowsKernel{chosen.shape},
          .params = chosen.params,
          .blocks = ceil_div(chosen.params.vectors(), threads),
          .first_step = threads,
          .threads = kernels::kViewRowsThreads,
          .carveout = Carveout::needed,
          .in_alignment = chosen.alignment,
          .out_alignment = chosen.alignment};
}

GpuKernel of_elements(const AxesElements::Variant& chosen) {
  constexpr auto threads = std::uint64_t{kernels::kAxesElementsThreads};
  return {.id = AxesElementsKernel{static_cast<int>(chosen.unit_bytes)},
          .params = chosen.params,
          .blocks = ceil_div(chosen.params.vectors(), threads),
          .first_step = threads,
          .threads = kernels::kAxesElementsThreads,
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
  void operator()(const AxesBoxes& boxes) const {
    for (const AxesBoxes::Variant& variant : boxes.variants) pass.kernels.push_back(of_box(variant));
    pass.box = boxes.variants.front().box;
  }
  void operator()(const AxesLines& lines) const {
    for (const AxesLines::Variant& variant : lines.variants) pass.kernels.push_back(of_lines(variant));
  }
  void operator()(const AxesWhole& whole) const {
    for (const AxesWhole::Variant& variant : whole.variants) pass.kernels.push_back(of_whole(variant));
  }
  void operator()(const AxesElements& elements) const {
    for (const AxesElements::Variant& variant : elements.variants) {
      pass.kernels.push_back(of_elements(variant));
    }
  }
  void operator()(const AxesRows& rows) const {
    for (const AxesRows::Variant& variant : rows.variants) pass.kernels.push_back(of_rows(variant));
  }
};

std::vector<IndexCandidate> axes_candidates(const IndexWork& work) {
  const bool is_axes = std::holds_alternative<Axes>(work.problem.permutation);
  if (!is_axes && !std::holds_alternative<CyclicAxes>(work.problem.permutation)) return {};
  return {structured_candidate(work, IndexMethod::axes)};
}

std::string axes_words(const GpuPass& pass, const PassWork& /*work*/) {
  if (pass.part_bytes > 0) return "boxes of a part, whose axes are read forwards or backwards";
  return pass.kind == PassKind::copy ? "nothing moves, so bytes are read and written in order"
                                     : "tiles of the input become tiles of the output";
}

// Fitted to drawn shapes on an H200 and an H100 (docs/notes/prediction-experiments.md).
struct AxesFactors {
  CostFactors operator()(const AxesTurnedKernel& /*kernel*/) const {
    return {.bytes = 1.13, .load_sectors = 0.1, .store_sectors = 3.2, .parts = 2.9, .blocks = 5800};
  }
  CostFactors operator()(const AxesPlaneKernel& /*kernel*/) const {
    return {.bytes = 1.12, .load_lines = 0.144, .blocks = 4070};
  }
  CostFactors operator()(const AxesSkinnyKernel& /*kernel*/) const {
    return {.bytes = 1.09, .shared_requests = 2.7, .blocks = 9700};
  }
  CostFactors operator()(const AxesWholeKernel& /*kernel*/) const {
    return {.bytes = 1.04, .load_sectors = 0.2, .store_sectors = 0.2};
  }
  CostFactors operator()(const AxesLinesKernel& /*kernel*/) const {
    return {.bytes = 1.09, .store_lines = 0.62, .shared_requests = 5.4, .parts = 7.5, .blocks = 4360};
  }
  CostFactors operator()(const AxesBoxKernel& kernel) const {
    if (!kernel.shape.ragged) return {.bytes = 1.19, .shared_requests = 16.2};
    return {.bytes = 1.17, .store_lines = 0.2, .wavefronts = 0.95, .parts = 10.3, .blocks = 7000};
  }
  template <typename Other>
  CostFactors operator()(const Other& /*rows, which go as they lie*/) const {
    return {.bytes = 1.08, .load_lines = 0.034, .parts = 52};
  }
};

std::optional<double> axes_cost(const CountedPass& of) {
  return overlapped_us(of, std::visit(AxesFactors(), of.pass.gpu->kernels.front().id));
}

}  // namespace

std::vector<GpuPass> axes_passes(const PassWork& work) {
  if (const auto* const moved = std::get_if<CyclicAxes>(&work.form)) {
    std::vector<GpuPass> passes;
    for (const Strided& part : views_of(*moved, work.batch)) {
      passes.push_back(view_pass(normal_form(part), work.element_bytes));
      passes.back().part_bytes = element_count(part) * work.element_bytes;
    }
    return passes;
  }
  const AxesChoice choice = choose_axes(std::get<Axes>(work.form), work.element_bytes, work.batch, work.axes);
  GpuPass pass{.kind = PassKind::axes, .kernels = {}};
  std::visit(KernelsOf{pass}, choice.form);
  return {std::move(pass)};
}

GpuPass view_pass(const Strided& view, std::uint64_t element_bytes, const AxesVariant& variant) {
  GpuPass pass{.kind = PassKind::axes, .kernels = {}};
  const ViewChoice choice = choose_view(view, element_bytes, variant);
  pass.array_bytes = in_elements(view) * element_bytes;
  if (choice.elements) {
    KernelsOf{pass}(*choice.elements);
    return pass;
  }
  if (choice.whole) {
    KernelsOf{pass}(*choice.whole);
    return pass;
  }
  if (choice.rows) pass.kernels.push_back(of_view_rows(*choice.rows));
  KernelsOf{pass}(choice.boxes);
  if (choice.rows) pass.box = nullptr;  // not what is launched first
  return pass;
}

const GpuSolver kAxesSolver{
    .makes = [](PassKind kind) { return kind == PassKind::axes; },
    .is_method = [](IndexMethod method) { return method == IndexMethod::axes; },
    .candidates = axes_candidates,
    .form = [](const IndexWork& work, const IndexCandidate& /*candidate*/) -> IndexForm {
      if (std::holds_alternative<CyclicAxes>(work.problem.permutation)) return form_of<CyclicAxes>(work);
      return form_of<Axes>(work);
    },
    .has_form = [](const IndexForm& form) { return has_form<Axes>(form) || has_form<CyclicAxes>(form); },
    .passes = axes_passes,
    .words = axes_words,
    .cost = axes_cost};

}  // namespace faro::detail
