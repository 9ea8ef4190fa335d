// Which of the hardware's counters stand beside which prediction.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "faro/machine/access_counts.hpp"

namespace faro::bench::gpu_model {

/// How near the prediction must be.
enum class Criterion {
  equal,
  within_a_hundredth,
  shown,  // for the reader; nothing is required
};

struct Counter {
  std::string title;   // of its column
  std::string metric;  // of Nsight Compute
  Criterion criterion = Criterion::equal;
  double (*predicted)(const machine::AccessCounts&) = nullptr;
};

/// Requests and sectors of global memory; requests and wavefronts of shared memory as its instructions ask
/// for them (sass: counted by instruction), the same wavefronts as the memory's pipe counts them, and
/// conflicts.
const std::vector<Counter>& counters();

/// "NAME,NAME,…", for ncu's --metrics.
std::string metric_list();

}  // namespace faro::bench::gpu_model
