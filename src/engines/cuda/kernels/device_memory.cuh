// The memory of a GPU, as the kernels' phases see it (faro/device/memory.hpp).
//
// Every element is read once and written once, so device memory is streamed: the caches are told to drop
// first what they took in. Two ways to say so:
//
//     GlobalMemory     ld.global.cs, st.global.cs; right for every access
//     SectorMemory     accesses of 4 to 16 bytes that pass the L1 cache by, with the L2 policy evict_first; 2 points
//                      of a copy's speed better where each warp access covers whole sectors, and ruinous
//                      where it does not, since half a sector is then evicted before its other half is
//                      written (docs/notes/cuda-experiments.md, cache policies); an output that is not
//                      aligned to sectors is therefore written with the policy evict_normal
//
// Shared memory is plain.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "faro/device/memory.hpp"

namespace faro::cuda {

/// The type that CUDA moves in one instruction.
template <int bytes>
struct Machine;
template <>
struct Machine<1> {
  using Word = unsigned char;
};
template <>
struct Machine<2> {
  using Word = unsigned short;
};
template <>
struct Machine<4> {
  using Word = unsigned int;
};
template <>
struct Machine<8> {
  using Word = uint2;
};
template <>
struct Machine<16> {
  using Word = uint4;
};

/// For kernels whose entries are `early`, which are launched while the kernel before still runs, before they
/// read or write: waits for it and for what it wrote, then lets the next one be launched. Not the other way
/// round: a kernel may so find in its first-level cache what the last but one has read there, but nothing
/// older.
__device__ inline void wait_for_kernel_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

struct GlobalMemory {
  const std::byte* input;
  std::byte* output;
  std::byte* shared;

  template <int bytes>
  __device__ device::Packet<bytes> load_global(int /*buffer: only the input is read*/,
                                               std::uint64_t offset) const {
    using Word = typename Machine<bytes>::Word;
    return std::bit_cast<device::Packet<bytes>>(__ldcs(reinterpret_cast<const Word*>(input + offset)));
  }
  template <int bytes>
  __device__ void store_global(int /*buffer: only the output is written*/, std::uint64_t offset,
                               const device::Packet<bytes>& packet) const {
    using Word = typename Machine<bytes>::Word;
    __stcs(reinterpret_cast<Word*>(output + offset), std::bit_cast<Word>(packet));
  }
  template <int bytes>
  __device__ device::Packet<bytes> load_shared(std::uint32_t address) const {
    using Word = typename Machine<bytes>::Word;
    return std::bit_cast<device::Packet<bytes>>(*reinterpret_cast<const Word*>(shared + address));
  }
  template <int bytes>
  __device__ void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    using Word = typename Machine<bytes>::Word;
    *reinterpret_cast<Word*>(shared + address) = std::bit_cast<Word>(packet);
  }
};

/// Requires: accesses of 4 to 16 bytes, whose warps cover whole sectors if the arrays are aligned to sectors.
struct SectorMemory : GlobalMemory {
  std::uint64_t load_policy;
  std::uint64_t store_policy;

  __device__ SectorMemory(const std::byte* in, std::byte* out, std::byte* tile)
      : GlobalMemory{in, out, tile} {
    constexpr std::uintptr_t sector_bytes = 32;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(load_policy));
    store_policy = load_policy;
    if (reinterpret_cast<std::uintptr_t>(out) % sector_bytes != 0) {
      asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(store_policy));
    }
  }

  template <int bytes>
  __device__ device::Packet<bytes> load_global(int /*buffer: only the input is read*/,
                                               std::uint64_t offset) const {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
    device::Packet<bytes> packet;
    if constexpr (bytes == 4) {
      asm volatile("ld.global.L1::no_allocate.L2::cache_hint.u32 %0, [%1], %2;"
                   : "=r"(packet.unit[0])
                   : "l"(input + offset), "l"(load_policy));
    } else if constexpr (bytes == 8) {
      asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
                   : "=r"(packet.unit[0]), "=r"(packet.unit[1])
                   : "l"(input + offset), "l"(load_policy));
    } else {
      asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                   : "=r"(packet.unit[0]), "=r"(packet.unit[1]), "=r"(packet.unit[2]), "=r"(packet.unit[3])
                   : "l"(input + offset), "l"(load_policy));
    }
    return packet;
  }
  template <int bytes>
  __device__ void store_global(int /*buffer: only the output is written*/, std::uint64_t offset,
                               const device::Packet<bytes>& packet) const {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
    if constexpr (bytes == 4) {
      asm volatile("st.global.L1::no_allocate.L2::cache_hint.u32 [%1], %0, %2;"
                   :
                   : "r"(packet.unit[0]), "l"(output + offset), "l"(store_policy)
                   : "memory");
    } else if constexpr (bytes == 8) {
      asm volatile("st.global.L1::no_allocate.L2::cache_hint.v2.u32 [%2], {%0, %1}, %3;"
                   :
                   : "r"(packet.unit[0]), "r"(packet.unit[1]), "l"(output + offset), "l"(store_policy)
                   : "memory");
    } else {
      asm volatile("st.global.L1::no_allocate.L2::cache_hint.v4.u32 [%4], {%0, %1, %2, %3}, %5;"
                   :
                   : "r"(packet.unit[0]), "r"(packet.unit[1]), "r"(packet.unit[2]), "r"(packet.unit[3]),
                     "l"(output + offset), "l"(store_policy)
                   : "memory");
    }
  }
};

/// What suits a kernel whose threads access `bytes` at a time, consecutive ones within a segment.
template <int bytes>
using StreamedMemory = std::conditional_t<bytes == 16, SectorMemory, GlobalMemory>;

}  // namespace faro::cuda
