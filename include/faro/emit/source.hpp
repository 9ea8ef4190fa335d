// What an emitted permutation is: its text, and each of its kernels with its launch and what it costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/emit/options.hpp"
#include "faro/machine/access_counts.hpp"
#include "faro/permutation/affine.hpp"

namespace faro::emit {

/// One extern "C" __global__ function of the text: void NAME(const T* in, T* out), on a grid of one
/// dimension.
struct Kernel {
  std::string name;          // Options::name; of two kernels NAME_first (in to workspace) and NAME_second
  Affine map;                // of elements
  std::uint64_t blocks = 0;  // gridDim.x, at most 2^31 - 1
  int threads_x = 0;         // blockDim
  int threads_y = 1;
  std::uint64_t shared_bytes = 0;          // a block, static and dynamic
  std::uint64_t dynamic_shared_bytes = 0;  // to be passed at launch; only above 48 KiB
  machine::AccessCounts predicted;         // of the whole launch, arrays aligned to 128 bytes
};

struct Source {
  std::string text;
  std::vector<Kernel> kernels;  // in the order in which they run; none for Language::cpp
  std::string element;
  std::uint64_t element_bytes = 0;
  std::uint64_t result_bytes = 0;     // of an element of `out`, which differs where numbers are changed
  std::uint64_t vector_bytes = 0;     // what `in`, `out` and the workspace have to be aligned to
  std::uint64_t workspace_bytes = 0;  // of two kernels: the array's size, else 0
};

}  // namespace faro::emit
