// The memory of a GPU as the phases of published kernels see it (faro/device/memory.hpp). Arrays are read
// once and written once: the caches are told to drop them first.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "faro/device/memory.hpp"

namespace faro::cuda::papers {

/// The type that CUDA moves in one instruction: 1, 2, 4, 8 or 16 bytes.
template <int bytes>
using Word =
    std::conditional_t<bytes == 1, unsigned char,
                       std::conditional_t<bytes == 2, unsigned short,
                                          std::conditional_t<bytes == 4, unsigned,
                                                             std::conditional_t<bytes == 8, uint2, uint4>>>>;

struct ArrayMemory {
  const std::byte* input;
  std::byte* output;
  std::byte* shared;

  template <int bytes>
  __device__ device::Packet<bytes> load_global(int /*buffer: only the input is read*/,
                                               std::uint64_t offset) const {
    return std::bit_cast<device::Packet<bytes>>(__ldcs(reinterpret_cast<const Word<bytes>*>(input + offset)));
  }
  template <int bytes>
  __device__ void store_global(int /*buffer: only the output is written*/, std::uint64_t offset,
                               const device::Packet<bytes>& packet) const {
    __stcs(reinterpret_cast<Word<bytes>*>(output + offset), std::bit_cast<Word<bytes>>(packet));
  }
  template <int bytes>
  __device__ device::Packet<bytes> load_shared(std::uint32_t address) const {
    return std::bit_cast<device::Packet<bytes>>(*reinterpret_cast<const Word<bytes>*>(shared + address));
  }
  template <int bytes>
  __device__ void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    *reinterpret_cast<Word<bytes>*>(shared + address) = std::bit_cast<Word<bytes>>(packet);
  }
};

}  // namespace faro::cuda::papers
