// Gather and scatter by the index array: one pass, elements fetched some way ahead in arrays past the nearest
// caches.
#include "plan/cpu/cpu_pass.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kNearBytes = std::uint64_t{128} << 10;

CpuPass pass_by_entries(const CpuWork& work, CpuEntries entries) {
  entries.fetches_ahead = work.array_bytes() > kNearBytes;
  return {.kind = PassKind::indexed, .kernel = entries, .tables = {{TableKind::entries}}};
}

}  // namespace

std::vector<CpuPass> cpu_entries_passes(const CpuWork& work) {
  return {pass_by_entries(work, {.way = work.way})};
}

CpuPass cpu_gather_by_schedule(const CpuWork& work) {
  return pass_by_entries(work, {.way = Way::backwards, .from_schedule = true});
}

}  // namespace faro::detail
