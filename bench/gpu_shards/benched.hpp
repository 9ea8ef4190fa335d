// The maps of gpu_shards_bench, and where each element of an output comes from.
#pragma once

#include <string>
#include <vector>

#include "bench/gpu_shards/parts.hpp"
#include "faro/shards.hpp"

namespace faro::bench::gpu {

struct Benched {
  std::string kind;  // the name by which it was asked for
  std::string name;  // with its sizes
  ShardProblem problem;
  SourceOf source = {};
  bool is_sort = false;
  int sorted_bits = 0;  // of the network
  /// Between distributions: an array, or a list of them, one after the other; `problem` is none then.
  std::vector<ShardProblem> arrays = {};
};

/// Of 4-byte elements, 2^log_bytes bytes on each rank, the ranks' bits on top; between distributions of given
/// sizes, less where log_bytes is below 33. Errors: ErrorCode::usage for an unknown name, and for ranks that
/// are no power of two where the map is one of bits or a mesh of two axes.
Benched make_benched(const std::string& name, int ranks, int log_bytes);

}  // namespace faro::bench::gpu
