// How kernels say that an array is no permutation, and keep those after them from working on it.
//
//     step     0      1      2      3
//     word     0      1      0      -        step 1 found something; steps 2 and 3 return at once
//
// Each step of a queue of kernels has a word of its own and looks at those before it, so that all threads of
// a kernel see the same however their blocks are timed.
#pragma once

#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"

namespace faro::cuda {

struct Fault {
  std::uint32_t* words = nullptr;  // zeros at first
  std::uint32_t step = 0;

  /// By an earlier step.
  constexpr bool raised() const {
    std::uint32_t any = 0;
    for (std::uint32_t s = 0; s < step; ++s) any |= words[s];
    return any != 0;
  }
  template <Block B>
  constexpr void raise(B& block) const {
    block.write(words + step, 1);
  }
};

}  // namespace faro::cuda
