#include "tell/launch_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/planners.hpp"

namespace faro::detail {
namespace {

constexpr int kRegisters = 65536;  // of a multiprocessor, from compute capability 5.0 on

double over_least(std::uint64_t count, std::uint64_t bytes, int unit_bytes) {
  if (count == 0) return 1;
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  const std::uint64_t least = (bytes + unit - 1) / unit;
  return static_cast<double>(count) / static_cast<double>(least);
}

}  // namespace

int min_blocks(const Launch& launch) { return launch.tile ? launch.tile->min_blocks : 1; }

int registers_max(const Launch& launch) {
  constexpr int step = 8;
  constexpr int most = 255;
  return std::min(most, kRegisters / (launch.threads * min_blocks(launch)) / step * step);
}

Accesses accesses_of(const PassCounts& counted, const Pass& pass, const Target& target) {
  const machine::MemoryGeometry geometry = geometry_of(target);
  Accesses result{counted};
  const machine::AccessCounts& c = result.counts;
  result.sectors_read = over_least(c.global_loads.sectors, pass.bytes_read, geometry.sector_bytes);
  result.sectors_written = over_least(c.global_stores.sectors, pass.bytes_written, geometry.sector_bytes);
  // Bytes that copies bring to shared memory asynchronously are not stored by it.
  result.wavefronts_stored =
      over_least(c.shared_stores.wavefronts, std::min(pass.bytes_read, c.shared_stores.bytes),
                 geometry.bank_row_bytes());
  result.wavefronts_loaded =
      over_least(c.shared_loads.wavefronts, std::min(pass.bytes_written, c.shared_loads.bytes),
                 geometry.bank_row_bytes());
  return result;
}

std::string least_text(double times) {
  return times == 1 ? "the least" : fmt::format("{:.3g} times the least", times);
}

std::string congestion_text(const machine::AccessCounts& counts) {
  const int stored = counts.shared_stores.max_congestion();
  const int loaded = counts.shared_loads.max_congestion();
  if (stored == loaded) return fmt::format("congestion {} in both phases", stored);
  return fmt::format("congestion {} writing and {} reading", stored, loaded);
}

}  // namespace faro::detail
