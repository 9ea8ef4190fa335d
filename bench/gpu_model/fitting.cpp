#include "bench/gpu_model/fitting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench/gpu_model/marker.hpp"
#include "bench/gpu_model/times.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::bench::gpu_model {
namespace {

// Each pass alone. Passes of a transposition or of orbits permute whatever is in the array.
std::string passes_alone(const Plan& plan, const cuda::StreamClock& clock, std::byte* in, std::byte* out) {
  const bool has_tables = std::any_of(plan.passes().begin(), plan.passes().end(),
                                      [](const Pass& pass) { return !pass.tables.empty(); });
  if (plan.passes().size() < 2 || has_tables) return {};
  const cuda::DeviceArray workspace(std::max<std::uint64_t>(1, plan.workspace_bytes()));
  std::string text;
  for (const Pass& pass : plan.passes()) {
    const cuda::LoadedPasses loaded(std::vector<Pass>{pass});
    text += fmt::format("\t{:.2f}", median_us(clock, [&](Stream stream) {
                          loaded.launch({.in = in, .out = out, .workspace = workspace.data()}, stream);
                        }));
  }
  return text;
}

std::string first_columns(const DrawnProblem& problem) {
  return fmt::format("{}\t{}\t{}\t{}", problem.family, problem.spec, problem.element_bytes, problem.bytes);
}

}  // namespace

std::string clock_table(const std::vector<DrawnProblem>& problems) {
  std::uint64_t most = 1;
  for (const DrawnProblem& problem : problems) most = std::max(most, problem.bytes);
  const cuda::DeviceArray in(most);
  const cuda::DeviceArray out(most);
  const cuda::StreamClock clock;
  keep_workspaces();
  std::string table = "family\tproblem\telement_bytes\tbytes\tmeasured_us\tmeasured_us of each pass alone\n";
  for (const DrawnProblem& problem : problems) {
    try {
      const ReadyProblem ready(problem, std::nullopt);
      const double us = median_us(clock, [&](Stream stream) { ready.run(in.data(), out.data(), stream); });
      const Plan* const plan = ready.plan();
      table += fmt::format("{}\t{:.2f}{}\n", first_columns(problem), us,
                           plan == nullptr ? "" : passes_alone(*plan, clock, in.data(), out.data()));
    } catch (const Error& error) {
      std::fprintf(stderr, "%s of %d bytes: %s\n", problem.spec.c_str(),
                   static_cast<int>(problem.element_bytes), error.what());
    }
  }
  return table;
}

std::string count_table(const std::vector<DrawnProblem>& problems, const Target& target) {
  std::string table = fmt::format("family\tproblem\telement_bytes\tbytes\tpass\t{}\n", kPassColumns);
  for (const DrawnProblem& problem : problems) {
    int number = 0;
    for (const std::string& line : counted_passes(problem, target)) {
      table += fmt::format("{}\t{}\t{}\n", first_columns(problem), number++, line);
    }
  }
  return table;
}

}  // namespace faro::bench::gpu_model
