// What is profiled: every kernel of the CUDA engine, with what it is predicted to do. Some are listed,
//
//     tile        every compiled tile x bit reversal, transpose, random BPC, random BMMC
//     segments    whole segments in another order
//     direct      one thread an element, every width: what is left of batches, and small arrays
//     naive       the floor of the benchmarks
//     transpose   RAW, RAS and RAP in shared memory, every order, 4 and 8 bytes
//
// and problems of every family are drawn (drawn.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "faro/machine/access_counts.hpp"

namespace faro::bench::gpu_model {

/// Bytes of the arrays that every case runs on.
inline constexpr std::uint64_t kArrayBytes = std::uint64_t{16} << 20;

/// What the prediction of shared memory is held to.
enum class SharedCheck {
  all,    // requests, phases and wavefronts
  shown,  // nothing, an estimate: the compiler narrows, joins or leaves out loads of what threads share, and
          // how often a loop takes a turn, whose lanes go their own ways, depends on where they meet
};

struct Case {
  std::string family = "affine tile";
  std::string kernel;
  std::string spec;  // the map, or the transpose
  std::uint64_t element_bytes = 0;
  machine::AccessCounts predicted;
  /// Launches its kernels, and waits for them. Requires: two arrays of kArrayBytes of the device's memory.
  std::function<void(const std::byte* in, std::byte* out)> launch;
  /// Makes ready what `launch` needs, which is not counted: a schedule, a module. May be empty.
  std::function<void()> prepare = {};
  /// Where that takes long, gives `predicted`. May be empty.
  std::function<machine::AccessCounts()> predict = {};
  /// What is required of shared memory, beside requests and sectors of device memory, which have to be equal.
  SharedCheck shared = SharedCheck::all;
};

/// All that are listed, in an order that never changes. Errors: ErrorCode::device without a GPU.
std::vector<Case> make_cases();

/// Fills `predicted` by `predict`, on all of the host's threads.
void predict_all(std::vector<Case>& cases);

}  // namespace faro::bench::gpu_model
