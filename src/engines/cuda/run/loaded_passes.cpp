#include "engines/cuda/run/loaded_passes.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "engines/cuda/host/array_addresses.hpp"
#include "faro/error.hpp"

namespace faro::cuda {

using faro::detail::GpuPass;

LoadedPasses::LoadedPasses(const std::vector<Pass>& passes, const TablesOf& tables_of) {
  for (const Pass& pass : passes) {
    FARO_CHECK(pass.gpu != nullptr);
    passes_.emplace_back(pass.gpu, tables_of ? tables_of(*pass.gpu) : std::vector<const void*>());
  }
}

LoadedPasses::LoadedPasses(const std::vector<GpuPass>& passes, const TablesOf& tables_of,
                           const PassChange* change) {
  for (std::size_t i = 0; i < passes.size(); ++i) {
    auto tables = tables_of ? tables_of(passes[i]) : std::vector<const void*>();
    auto pass = std::make_shared<const GpuPass>(passes[i]);
    if (change != nullptr && i == (change->rounds_first ? 0 : passes.size() - 1)) {
      passes_.emplace_back(std::move(pass), std::move(tables), *change);
    } else {
      passes_.emplace_back(std::move(pass), std::move(tables));
    }
  }
}

std::uint64_t LoadedPasses::workspace_bytes() const {
  return passes_.empty() ? 0 : passes_.front().pass().workspace_bytes;
}

template <typename Take>
void LoadedPasses::for_each_launch(const RunArrays& arrays, std::uint64_t target_shift,
                                   const Take& take) const {
  auto* const workspace = static_cast<std::byte*>(arrays.workspace);
  const std::uint64_t all = passes_.front().pass().arrays;
  const std::uint64_t group = passes_.front().pass().arrays_at_once;
  for (std::uint64_t first = 0; first < all; first += group) {
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      const GpuPass& pass = passes_[i].pass();
      const std::uint64_t begin = pass.offset + first * pass.array_bytes;
      const bool between = arrays.between != nullptr && i + 1 < passes_.size();
      auto* const written = static_cast<std::byte*>(between ? arrays.between : arrays.out) + begin;
      auto* const read =
          static_cast<std::byte*>(arrays.between != nullptr ? arrays.between : arrays.out) + begin;
      const PassArrays at{.in = pass.source == PassBuffer::workspace ? workspace
                                : pass.source == PassBuffer::input
                                    ? static_cast<const std::byte*>(arrays.in) + begin
                                    : read,
                          .out = pass.target == PassBuffer::workspace ? workspace : written,
                          .workspace = workspace,
                          .count = std::min(group, all - first),
                          .target_shift = target_shift,
                          .added = arrays.added};
      take(passes_[i], at, LaunchWords{.pass = i, .passes = passes_.size(), .begun = first > 0 || i > 0});
    }
  }
}

void LoadedPasses::launch(const RunArrays& arrays, Stream stream, std::uint64_t target_shift) const {
  if (empty()) return;
  if (workspace_bytes() > 0) {
    FARO_CHECK(arrays.workspace != nullptr);
    require_aligned(address(arrays.workspace), kVector, {.what = "a workspace"});
  }
  for_each_launch(
      arrays, target_shift,
      [](const LoadedPass& pass, const PassArrays& at, const LaunchWords& /*words*/) { pass.check(at); });
  for_each_launch(arrays, target_shift,
                  [&](const LoadedPass& pass, const PassArrays& at, const LaunchWords& words) {
                    pass.launch(at, stream, words);
                  });
}

std::vector<KernelResources> LoadedPasses::resources() const {
  std::vector<KernelResources> all;
  all.reserve(passes_.size());
  for (const LoadedPass& pass : passes_) all.push_back(pass.resources());
  return all;
}

}  // namespace faro::cuda
