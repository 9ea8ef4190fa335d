// A packet is what one thread moves in one instruction: 1, 2, 4, 8 or 16 bytes, aligned to their size, held
// in machine registers.
//
//     Packet<1>  u8   Packet<2>  u16   Packet<4>  u32   Packet<8>  u32 u32   Packet<16>  u32 u32 u32 u32
//
// A packet of more than four bytes is an array of 32-bit *units*, the registers of a GPU thread. Usable in
// device code.
#pragma once

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

}  // namespace faro::device
