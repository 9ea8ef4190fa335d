// The passes of partition schedules one by one, with every compiled kernel.
#include <fmt/format.h>

#include <memory>

#include "bench/gpu_index/baselines.hpp"
#include "bench/gpu_index/race.hpp"
#include "engines/cuda_index.hpp"
#include "gpu/scheduled_passes.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;
using cuda::DeviceIndexSchedule;
using testing::ScheduledPasses;

std::string kernel_name(int variant) {
  const kernels::CompiledPartition& compiled = kernels::kCompiledPartitions[variant];
  return fmt::format("{} threads, {} lanes", compiled.threads(), 1 << compiled.lane_bits);
}

std::string pass_name(std::size_t pass, std::size_t levels, bool forwards) {
  if (forwards) return pass < levels ? fmt::format("spread {}", pass) : "place";
  return pass == 0 ? "pick" : fmt::format("collect {}", levels - pass);
}

}  // namespace

std::string kernels_table(const KernelsRequest& request, double budget_ms) {
  const std::uint64_t count = std::uint64_t{1} << request.count_bits;
  const std::uint64_t bytes = count * request.element_bytes;
  const Indexed indexed = cuda::random_on_device(count, 1);
  IndexCandidate candidate;
  candidate.method = IndexMethod::partition;
  candidate.shape = schedule::PartitionShape{count, request.chunk_bits, request.level_bits};
  DeviceIndexSchedule schedule = cuda::make_device_schedule(candidate, indexed, {});
  const DeviceArray in(bytes);
  const DeviceArray out(bytes);
  const DeviceArray workspace(bytes);
  fill(in.data(), bytes);

  std::string table;
  for (const bool forwards : {true, false}) {
    schedule.applied = forwards ? Direction::scatter : Direction::gather;
    std::vector<std::unique_ptr<const ScheduledPasses>> programs;
    std::vector<Contestant> contestants;
    for (int variant = 0; variant < kernels::kCompiledPartitionCount; ++variant) {
      programs.push_back(
          std::make_unique<const ScheduledPasses>(schedule, testing::IndexArrays{request.element_bytes, 1},
                                                  testing::ScheduledOptions{false, variant}));
    }
    const std::size_t levels = request.level_bits.size();
    for (std::size_t variant = 0; variant < programs.size(); ++variant) {
      const ScheduledPasses& program = *programs[variant];
      program.launch(in.data(), out.data(), workspace.data(), {});
      const Indices indices{indexed.device_entries(), indexed.index_type().bytes, count,
                            request.element_bytes};
      const std::uint64_t wrong = misplaced(indices, !forwards, in.data(), out.data());
      const std::string name = kernel_name(static_cast<int>(variant));
      if (wrong > 0) return fmt::format("{}: {} elements are wrong\n", name, wrong);
      for (std::size_t pass = 0; pass < program.size(); ++pass) {
        const std::string of_pass = pass_name(pass, levels, forwards);
        const bool last = of_pass == "place" || of_pass == "pick";
        if (last && variant > 0) continue;
        contestants.push_back({of_pass + " | " + (last ? "" : name), [&, pass](Stream stream) {
                                 program.launch_pass(pass, in.data(), out.data(), stream);
                               }});
      }
      contestants.push_back({"all passes | " + name, [&](Stream stream) {
                               program.launch(in.data(), out.data(), workspace.data(), stream);
                             }});
    }
    contestants.push_back(
        {"cudaMemcpy | ", [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); }});
    const std::vector<Timing> timings = race(contestants, budget_ms);
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      table += fmt::format("| {} | {:.4f} | {:.4f} | {:.2f} |\n", contestants[i].name, timings[i].median_ms,
                           timings[i].mad_ms, timings[i].median_ms / timings.back().median_ms);
    }
  }
  return table;
}

}  // namespace faro::bench::gpu
