// The command line of gpu_transpose_bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/gpu/page.hpp"
#include "bench/gpu_transpose/shapes.hpp"

namespace faro::bench::gpu {

/// What --help prints.
extern const char* const kTransposeUsage;

struct TransposeOptions : PageOptions {
  ShapeRequest shapes = {.bytes = std::uint64_t{4} << 30, .random = 200, .seed = 1};
  std::vector<std::string> groups = {};  // none: all
  bool in_place = true;
  bool out_of_place = true;
};

/// Errors: ErrorCode::usage, naming the option.
TransposeOptions parse_transpose_options(const CommandLine& line);

}  // namespace faro::bench::gpu
