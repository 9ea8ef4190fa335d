// Numbers that lie together, as a thread of a GPU moves them.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "faro/device/memory.hpp"

namespace faro::kernels {

namespace detail {

/// What no thread of the launch writes before it is read: on a GPU by a load that goes ahead of stores.
template <int bytes>
constexpr device::Packet<bytes> load_ahead(const device::Packet<bytes>* from) {
#if defined(__CUDA_ARCH__)
  if constexpr (bytes == 16)
    return std::bit_cast<device::Packet<16>>(__ldg(reinterpret_cast<const uint4*>(from)));
  if constexpr (bytes == 8)
    return std::bit_cast<device::Packet<8>>(__ldg(reinterpret_cast<const uint2*>(from)));
  if constexpr (bytes < 8) return {__ldg(from->unit)};
#else
  return *from;
#endif
}

}  // namespace detail

/// Numbers that lie together, moved at once: up to 16 bytes, in the registers of a GPU thread. They stay
/// packed there until each is used, where an array of bytes would take a register for each.
template <typename T, int kCount>
class Lanes {
  static constexpr int kBytes = static_cast<int>(sizeof(T));
  static constexpr int kPacket = kBytes * kCount < 16 ? kBytes * kCount : 16;
  using Moved = device::Packet<kPacket>;
  static constexpr int kUnit = Moved::kUnitBytes;
  struct Words {
    std::uint32_t word[kBytes < 4 ? 1 : kBytes / 4];
  };
  using Bits = std::conditional_t<kBytes == 1, std::uint8_t, std::uint16_t>;

 public:
  constexpr T get(int i) const {
    if constexpr (kBytes >= 4) {
      Words words{};
      FARO_UNROLL
      for (int w = 0; w < kBytes / 4; ++w) words.word[w] = unit(i * kBytes + 4 * w);
      return std::bit_cast<T>(words);
    } else {
      return std::bit_cast<T>(static_cast<Bits>(unit(i * kBytes) >> 8 * (i * kBytes % kUnit)));
    }
  }
  static constexpr Lanes ahead(const void* from) {
    Lanes made;
    constexpr int kPackets = kBytes * kCount / kPacket;
    FARO_UNROLL
    for (int i = 0; i < kPackets; ++i)
      made.packet_[i] = detail::load_ahead(static_cast<const Moved*>(from) + i);
    return made;
  }
  /// As they are packed.
  constexpr std::uint32_t word(int i) const {
    static_assert(kUnit == 4);
    return unit(4 * i);
  }
  /// Once for each.
  constexpr void put(int i, T x) {
    if constexpr (kBytes >= 4) {
      const auto words = std::bit_cast<Words>(x);
      FARO_UNROLL
      for (int w = 0; w < kBytes / 4; ++w) unit(i * kBytes + 4 * w) = words.word[w];
    } else {
      using Unit = typename Moved::Unit;
      Unit& of = unit(i * kBytes);
      of = static_cast<Unit>(of | static_cast<std::uint32_t>(std::bit_cast<Bits>(x))
                                      << 8 * (i * kBytes % kUnit));
    }
  }

 private:
  constexpr typename Moved::Unit unit(int byte) const {
    return packet_[byte / kPacket].unit[byte % kPacket / kUnit];
  }
  constexpr typename Moved::Unit& unit(int byte) {
    return packet_[byte / kPacket].unit[byte % kPacket / kUnit];
  }

  Moved packet_[kBytes * kCount / kPacket] = {};
};

}  // namespace faro::kernels
