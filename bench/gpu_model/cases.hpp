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
  /// Nothing is required of wavefronts where lanes go their own ways: how often a search takes a turn is the
  /// compiler's choice.
  bool shared_is_shown = false;
};

/// All that are listed, in an order that never changes. Errors: ErrorCode::device without a GPU.
std::vector<Case> make_cases();

/// Fills `predicted` by `predict`, on all of the host's threads.
void predict_all(std::vector<Case>& cases);

}  // namespace faro::bench::gpu_model
