// The memory that a kernel's phases are written against.
//
// A kernel is a list of *phases*. Within a phase threads do not see each other's shared stores; between two
// phases there is a barrier, and a thread carries nothing in registers from one phase to the next. A phase is
// a function
//
//     phase(memory, parameters, block, thread)
//
// whose only effects are the four calls below, each one instruction of the warp: lanes of one warp make the
// same calls in the same order (a lane may stop early), which is what lets a machine that runs them one after
// another put the warp's accesses together again. So the same source is
//
//     on a GPU                 DirectMemory, or an engine's own with its cache hints: plain loads and stores
//     in tests and `explain`   machine::CountingMemory: checked, counted, on the CPU
//
// A lane that has no part in an access that other lanes of its warp make calls idle() in its place: a real
// machine masks the lane off and needs no call, one that counts the accesses of lanes does. Where lanes go
// their own ways for a while, converge() tells such a machine where they meet again.
//
// Addresses are byte offsets, aligned to the packet: into a numbered buffer of the launch, or into the
// block's shared memory. No CUDA header is needed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "faro/require_cxx20.hpp"

// FARO_UNROLL before a loop with a constant bound: the CUDA compiler must unroll it, so that arrays indexed
// by the loop's counter live in registers. Other compilers are left to their own judgement. The language has
// no such request.
#if defined(__CUDACC__)
#define FARO_UNROLL _Pragma("unroll")
#define FARO_NO_UNROLL _Pragma("unroll 1")
#else
#define FARO_UNROLL
#define FARO_NO_UNROLL
#endif

namespace faro::device {

// A packet is what one thread moves in one instruction: 1, 2, 4, 8 or 16 bytes, aligned to their size, held
// in machine registers.
//
//     Packet<1>  u8   Packet<2>  u16   Packet<4>  u32   Packet<8>  u32 u32   Packet<16>  u32 u32 u32 u32
//
// A packet of more than four bytes is an array of 32-bit *units*, the registers of a GPU thread. Usable in
// device code.

template <int bytes>
struct alignas(bytes) Packet {
  static_assert(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16);
  using Unit = std::conditional_t<bytes == 1, std::uint8_t,
                                  std::conditional_t<bytes == 2, std::uint16_t, std::uint32_t>>;
  static constexpr int kUnitBytes = static_cast<int>(sizeof(Unit));
  static constexpr int kUnits = bytes / kUnitBytes;

  Unit unit[kUnits];
};

/// Four bytes out of the eight of a (bytes 0-3) and b (bytes 4-7): byte k of the result is the one that
/// hexadecimal digit k of `selector`, 0 .. 7, names. One instruction on a GPU.
constexpr std::uint32_t select_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(a, b, selector);
#else
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned from = selector >> 4 * k & 7;
    result |= static_cast<std::uint32_t>(bytes >> 8 * from & 0xff) << 8 * k;
  }
  return result;
#endif
}

/// The bits of a where the mask has ones, else those of b. One instruction on a GPU, where the compiler makes
/// two of a mask that it knows.
constexpr std::uint32_t select_bits(std::uint32_t a, std::uint32_t b, std::uint32_t mask) {
#if defined(__CUDA_ARCH__)
  std::uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, 0xe4;" : "=r"(result) : "r"(a), "r"(b), "r"(mask));
  return result;
#else
  return (a & mask) | (b & ~mask);
#endif
}

/// Places `piece` at bytes piece_bytes * index .. of a packet that is zero there.
template <int packet_bytes, int piece_bytes>
constexpr void insert(Packet<packet_bytes>& packet, int index, const Packet<piece_bytes>& piece) {
  static_assert(piece_bytes <= packet_bytes);
  using Unit = typename Packet<packet_bytes>::Unit;
  constexpr int unit_bytes = Packet<packet_bytes>::kUnitBytes;
  if constexpr (piece_bytes >= unit_bytes) {
    constexpr int units = piece_bytes / unit_bytes;
    FARO_UNROLL
    for (int u = 0; u < units; ++u) packet.unit[index * units + u] = piece.unit[u];
  } else {
    constexpr int pieces = unit_bytes / piece_bytes;
    const unsigned shift = 8U * static_cast<unsigned>(piece_bytes * (index % pieces));
    Unit& unit = packet.unit[index / pieces];
    unit = static_cast<Unit>(unit | static_cast<std::uint32_t>(piece.unit[0]) << shift);
  }
}

/// Moves unit u to u ^ mask, by exchanges that `mask` switches on or off: no register is indexed at run time.
/// `lowest_bit`: bits of the mask below it are known to be zero.   Cost: kUnits selects a bit of the mask.
template <int lowest_bit, int bytes>
constexpr void exchange_units(Packet<bytes>& packet, std::uint32_t mask) {
  FARO_UNROLL
  for (int stride = 1 << lowest_bit; stride < Packet<bytes>::kUnits; stride *= 2) {
    const bool exchange = (mask & static_cast<std::uint32_t>(stride)) != 0;
    FARO_UNROLL
    for (int u = 0; u < Packet<bytes>::kUnits; ++u) {
      if ((u & stride) != 0) continue;
      const auto low = packet.unit[u];
      const auto high = packet.unit[u + stride];
      packet.unit[u] = exchange ? high : low;
      packet.unit[u + stride] = exchange ? low : high;
    }
  }
}

inline constexpr int kInput = 0;  // buffer numbers of a kernel that reads one array and writes another
inline constexpr int kOutput = 1;

template <typename M>
concept Memory = requires(M memory, int buffer, std::uint64_t offset, std::uint32_t address,
                          Packet<4> packet) {
  { memory.template load_global<4>(buffer, offset) } -> std::same_as<Packet<4>>;
  { memory.template store_global<4>(buffer, offset, packet) } -> std::same_as<void>;
  { memory.template load_shared<4>(address) } -> std::same_as<Packet<4>>;
  { memory.template store_shared<4>(address, packet) } -> std::same_as<void>;
};

/// The calling lane sits out the warp's current access.
template <typename M>
constexpr void idle(M& memory) {
  if constexpr (requires { memory.idle(); }) memory.idle();
}

/// The lanes of a warp meet: those that made fewer calls since they last met wait for the others. A lane that
/// is done is not waited for.
template <typename M>
constexpr void converge(M& memory) {
  if constexpr (requires { memory.converge(); }) memory.converge();
}

/// Real memory, nothing checked. Requires: buffers and `shared` aligned to the widest packet used
/// (unchecked).
struct DirectMemory {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* shared = nullptr;

  template <int bytes>
  constexpr Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    const std::byte* base = buffer == kInput ? input : output;
    return *reinterpret_cast<const Packet<bytes>*>(base + offset);
  }
  template <int bytes>
  constexpr void store_global(int /*buffer: only the output is written*/, std::uint64_t offset,
                              const Packet<bytes>& packet) const {
    *reinterpret_cast<Packet<bytes>*>(output + offset) = packet;
  }
  template <int bytes>
  constexpr Packet<bytes> load_shared(std::uint32_t address) const {
    return *reinterpret_cast<const Packet<bytes>*>(shared + address);
  }
  template <int bytes>
  constexpr void store_shared(std::uint32_t address, const Packet<bytes>& packet) const {
    *reinterpret_cast<Packet<bytes>*>(shared + address) = packet;
  }
};

}  // namespace faro::device
