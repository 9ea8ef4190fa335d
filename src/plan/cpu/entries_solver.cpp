// Gather and scatter by the index array: one pass, elements fetched some way ahead in arrays past the nearest
// caches.
#include <fmt/format.h>

#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kNearBytes = std::uint64_t{128} << 10;

CpuPass pass_by_entries(const CpuWork& work, CpuEntries entries) {
  entries.fetches_ahead = work.array_bytes() > kNearBytes;
  return {.kind = PassKind::indexed, .kernel = entries, .tables = {{TableKind::entries}}};
}

std::string entries_loop(const CpuPass& pass) {
  const auto& entries = std::get<CpuEntries>(pass.kernel);
  return fmt::format("{} by entries{}{}", entries.way == Way::forwards ? "scatter" : "gather",
                     entries.from_schedule ? " worked out from the schedule" : "",
                     entries.fetches_ahead ? ", elements fetched ahead" : "");
}

}  // namespace

CpuPass cpu_gather_by_schedule(const CpuWork& work) {
  return pass_by_entries(work, {.way = Way::backwards, .from_schedule = true});
}

const CpuSolver kCpuEntriesSolver{
    .passes = [](const CpuWork& work) -> std::vector<CpuPass> {
      return {pass_by_entries(work, {.way = work.way})};
    },
    .makes = is_kernel<CpuEntries>,
    .words = [](const CpuPass& pass) -> std::string {
      return std::get<CpuEntries>(pass.kernel).way == Way::forwards
                 ? "each element is sent to the place that its index says"
                 : "each element is fetched from the place that its index says";
    },
    .loop = entries_loop,
};

}  // namespace faro::detail
