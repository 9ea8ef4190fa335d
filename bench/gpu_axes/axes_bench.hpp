// What the tables of gpu_axes_bench share: options, and ways to move the same axes otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/gpu/page.hpp"
#include "bench/gpu/turn_clock.hpp"
#include "faro/faro.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::bench::gpu {

struct AxesOptions : PageOptions {
  std::vector<std::string> suites = {};  // none: all
  std::string only = {};
  std::string view = {};
  std::vector<std::uint64_t> widths = {1, 2, 4, 8, 16};
  int drawn = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> as = {};
  bool cutensor = false;
};

/// "boxes+small": all of them at once. Errors: ErrorCode::value for another word.
detail::AxesVariant variant_of(const std::string& words);

/// A cell of each of `--as`.
template <typename TextOf>
std::string repeated(const AxesOptions& options, const TextOf& text_of) {
  std::string all;
  for (const std::string& as : options.as) all += text_of(as);
  return all;
}

/// Of a plan's first pass.
std::string kernel_of(const Plan& plan);

/// Elements of the output that the oracle has elsewhere. Errors: ErrorCode::verification where there are any,
/// with `as` before them.
void require_none_elsewhere(std::uint64_t wrong, const std::string& as = "");

/// Tables of their own. Return how many shapes failed.
int measure_views(const AxesOptions& options, Page& page);
int measure_small(const AxesOptions& options, Page& page);

}  // namespace faro::bench::gpu
