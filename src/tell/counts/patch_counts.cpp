// What the pass of exceptions does to memory: a thread a unit, which reads where its element comes from and
// goes to, then moves it (engines/cuda/rows/patch_step.hpp).
#include <algorithm>
#include <vector>

#include "plan/gpu/gpu_pass.hpp"
#include "tell/counts/counting.hpp"

namespace faro::detail {
namespace {

// Accesses of a warp, as many bytes each.
class WarpAccess {
 public:
  WarpAccess(const machine::MemoryGeometry& geometry, std::uint64_t bytes)
      : geometry_(geometry), bytes_(bytes) {}

  void add(std::uint64_t address) { addresses_.push_back(address); }
  void count_to(machine::GlobalCounts& counts) {
    ++counts.requests;
    counts.bytes += addresses_.size() * bytes_;
    counts.sectors += distinct(geometry_.sector_bytes);
    counts.lines += distinct(geometry_.line_bytes);
    addresses_.clear();
  }

 private:
  std::uint64_t distinct(int unit_bytes) const {
    std::vector<std::uint64_t> units;
    for (const std::uint64_t address : addresses_)
      units.push_back(address / static_cast<std::uint64_t>(unit_bytes));
    std::sort(units.begin(), units.end());
    return static_cast<std::uint64_t>(std::unique(units.begin(), units.end()) - units.begin());
  }

  machine::MemoryGeometry geometry_;
  std::uint64_t bytes_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace

std::optional<machine::AccessCounts> count_patch(const Pass& pass, const machine::MemoryGeometry& geometry) {
  if (pass.gpu == nullptr || pass.gpu->kernels.empty()) return std::nullopt;
  const auto* const patch = std::get_if<PatchKernel>(&pass.gpu->kernels.front().id);
  if (patch == nullptr) return std::nullopt;
  const std::vector<Exception>& exceptions = *patch->exceptions;
  const std::uint64_t unit = kernels::units_of_element(patch->element_bytes).unit_bytes;
  const std::uint64_t units = patch->element_bytes / unit;
  const std::uint64_t threads = exceptions.size() * units * patch->batch;
  const auto warp = static_cast<std::uint64_t>(geometry.warp_size);
  constexpr std::uint64_t word = sizeof(std::uint64_t);
  machine::AccessCounts counts;
  WarpAccess sources(geometry, word);
  WarpAccess targets(geometry, word);
  WarpAccess loads(geometry, unit);
  WarpAccess stores(geometry, unit);
  for (std::uint64_t first = 0; first < threads; first += warp) {
    for (std::uint64_t thread = first; thread < std::min(threads, first + warp); ++thread) {
      const std::uint64_t number = thread / units % exceptions.size();
      const std::uint64_t array = thread / units / exceptions.size() * patch->count;
      sources.add(2 * number * word);
      targets.add((2 * number + 1) * word);
      loads.add(((array + exceptions[number].source) * units + thread % units) * unit);
      stores.add(((array + exceptions[number].target) * units + thread % units) * unit);
    }
    sources.count_to(counts.global_loads);
    targets.count_to(counts.global_loads);
    loads.count_to(counts.global_loads);
    stores.count_to(counts.global_stores);
  }
  return counts;
}

}  // namespace faro::detail
