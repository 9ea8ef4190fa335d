// What is local already, in one pass: elements that move less than a window, and long runs.
#include "plan/cpu/cpu_pass.hpp"

namespace faro::detail {

std::vector<CpuPass> cpu_window_passes(const CpuWork& work) {
  CpuPass pass{.kind = PassKind::window,
               .kernel = CpuWindow{.way = work.way, .window = std::get<WindowForm>(work.form).window},
               .tables = {{TableKind::shifts}}};
  pass.run.workspace.part_bytes = whole_pages(stage_bytes(work.element_bytes));
  return {std::move(pass)};
}

std::vector<CpuPass> cpu_runs_passes(const CpuWork& work) {
  return {{.kind = PassKind::runs,
           .kernel = CpuRuns{.way = work.way, .runs = std::get<RunsForm>(work.form).runs},
           .tables = {{TableKind::run_sources}, {TableKind::run_targets}}}};
}

}  // namespace faro::detail
