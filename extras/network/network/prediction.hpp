// What a network's passes do to a GPU's memories: the proof that each is coalesced and free of bank
// conflicts.
//
// As for plans of permutations (tell/prediction.hpp) nothing is modelled: the addresses of every access of
// one block go through the counting memory, and the counts are multiplied by the number of blocks, which are
// all alike because addresses are XORs of the block's and the thread's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faro/machine/access_counts.hpp"
#include "faro/network/plan.hpp"
#include "faro/problem/target.hpp"

namespace faro::network {

/// The counts of one launch on a GPU, arrays aligned to 128 bytes.
struct LaunchCounts {
  std::size_t pass = 0;    // of the plan
  std::size_t groups = 0;  // rounds between shared memory and registers
  std::size_t layers = 0;
  machine::AccessCounts counts;  // of the arrays
  /// Loads of the kernel's tables, besides; nothing where it is not known how many (table_loads.hpp).
  std::optional<machine::GlobalCounts> tables;
  std::uint64_t blocks = 0;  // of all arrays
  int threads = 0;           // a block
  std::uint64_t shared_bytes = 0;
};

/// In the order of launches. Errors: ErrorCode::unsupported where a GPU cannot run the plan: elements past 16
/// bytes, tiles that no block can hold.   Cost: one block of every launch on the CPU, some milliseconds each.
std::vector<LaunchCounts> predict(const Plan& plan);

/// Microseconds that a launch will take by these rates: device memory, and beside it the instructions of its
/// visits to registers. It holds for arrays from kPredictableBytes on.
double predict_us(const Plan& plan, const LaunchCounts& launch, const Calibration& rates);

/// Lines for each launch: its kernel, what it reads and writes, how often each sector is touched, the
/// congestion of shared memory, and its time where rates are known.
std::string explain(const Plan& plan, const std::vector<LaunchCounts>& launches,
                    const std::optional<Calibration>& rates);

/// "tiles of 2^12 elements in blocks of 256 threads, 16 elements in registers"
std::string kernel_text(const Plan& plan);

}  // namespace faro::network
