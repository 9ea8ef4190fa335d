// Elements that go elsewhere than the map has them that all others follow: put to their places when the map's
// passes are done, a unit a thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"
#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"

namespace faro::cuda {

template <int kBytes>
struct PatchElements : PlainKernel<> {
  using Unit = device::Packet<kBytes>;

  const std::uint64_t* exceptions = nullptr;  // sources and targets by turns, in elements
  device::Division64 number;                  // of them
  device::Division64 units;                   // of an element
  std::uint64_t count = 0;                    // elements of an array
  std::uint64_t batch = 1;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;

  constexpr std::uint64_t threads() const { return number.divisor() * units.divisor() * batch; }
  constexpr std::uint64_t blocks() const { return blocks_of(threads()); }

  template <Block B>
  constexpr void operator()(B& block) const {
    std::uint64_t at = thread_of(block);
    if (at >= threads()) return;
    std::uint64_t exception = units.divide(at);  // `at` is the unit now
    const std::uint64_t array = number.divide(exception) * count;
    const std::uint64_t source = array + exceptions[2 * exception];
    const std::uint64_t target = array + exceptions[2 * exception + 1];
    reinterpret_cast<Unit*>(out)[target * units.divisor() + at] =
        reinterpret_cast<const Unit*>(in)[source * units.divisor() + at];
  }
};

}  // namespace faro::cuda
