// Which of the hardware's counters stand beside which prediction.
#pragma once

#include <string>
#include <vector>

#include "faro/machine/access_counts.hpp"

namespace faro::bench::gpu_model {

/// How near the prediction must be.
enum class Criterion {
  equal,
  shown,  // for the reader; nothing is required
};

struct Counter {
  std::string title;   // of its column
  std::string metric;  // of Nsight Compute
  std::string less;    // a metric that is taken off it; may be empty
  Criterion criterion = Criterion::equal;
  double (*predicted)(const machine::AccessCounts&) = nullptr;
  std::string more = {};  // a metric that is added: of copies from global to shared memory past registers
  bool of_shared = false;
};

/// Requests and sectors of global memory; requests and wavefronts of shared memory as its instructions ask
/// for them (sass: counted by instruction); and wavefronts as the memory's pipe counts them. The pipe's are
/// more where data for global loads arrives at the same time and the banks are taken: it counts those turns
/// as conflicts, and less these there is one wavefront for each phase.
const std::vector<Counter>& counters();

/// What the profiler is asked for, each once.
std::vector<std::string> metrics();
/// Those of them that count in hardware alone: for the others the profiler runs kernels that it has changed.
std::vector<std::string> hardware_metrics();
/// Those of them that a profiler may not know; what it does not count is taken for 0.
std::vector<std::string> optional_metrics();

}  // namespace faro::bench::gpu_model
