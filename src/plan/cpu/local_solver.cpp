// What is local already, in one pass: elements that move less than a window, and long runs.
#include <fmt/format.h>

#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

std::vector<CpuPass> window_passes_on_cpu(const CpuWork& work) {
  CpuPass pass{.kind = PassKind::window,
               .kernel = CpuWindow{.way = work.way, .window = std::get<WindowForm>(work.form).window},
               .tables = {{TableKind::shifts}}};
  pass.run.workspace.part_bytes = whole_pages(stage_bytes(work.element_bytes));
  return {std::move(pass)};
}

std::string window_loop(const CpuPass& pass) {
  const auto& window = std::get<CpuWindow>(pass.kernel);
  return fmt::format("{} within {} places", window.way == Way::forwards ? "gather" : "scatter",
                     window.window);
}

std::vector<CpuPass> runs_passes_on_cpu(const CpuWork& work) {
  return {{.kind = PassKind::runs,
           .kernel = CpuRuns{.way = work.way, .runs = std::get<RunsForm>(work.form).runs},
           .tables = {{TableKind::run_sources}, {TableKind::run_targets}}}};
}

std::string runs_loop(const CpuPass& pass) {
  const auto& runs = std::get<CpuRuns>(pass.kernel);
  return fmt::format("{} copied in the order of the {}", count_text(runs.runs, "run"),
                     runs.way == Way::forwards ? "input" : "output");
}

}  // namespace

const CpuSolver kCpuWindowSolver{
    .passes = window_passes_on_cpu,
    .makes = is_kernel<CpuWindow>,
    .words = [](const CpuPass& /*pass*/) -> std::string {
      return "elements change places within what the caches hold";
    },
    .loop = window_loop,
};

const CpuSolver kCpuRunsSolver{
    .passes = runs_passes_on_cpu,
    .makes = is_kernel<CpuRuns>,
    .words = [](const CpuPass& /*pass*/) -> std::string { return "runs are copied one after another"; },
    .loop = runs_loop,
};

}  // namespace faro::detail
