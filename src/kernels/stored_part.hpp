// A part of a vector of output, stored in as few pieces as its alignment allows.
//
//     bytes 3 .. 13 of 16      3 | 4 .. 7 | 8 .. 11 | 12 .. 13        1, 4, 4 and 2 bytes: up to the widest
//                                                                     piece that fits, then down again
#pragma once

#include <cstdint>
#include <type_traits>

#include "faro/device/memory.hpp"
#include "faro/device/packet.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

/// Bytes low .. high - 1 of a vector of output, in pieces as wide as can be. Requires: 0 <= low < high <= 16,
/// multiples of the unit, not all 16 bytes (unchecked).
template <int unit_bytes, device::Memory Memory>
constexpr void store_part(Memory& memory, std::uint64_t at, const device::Packet<16>& vector,
                          std::uint32_t low, std::uint32_t high) {
  const auto word_at = [&](std::uint32_t byte) {
    const std::uint32_t even = (byte & 8) != 0 ? vector.unit[2] : vector.unit[0];
    const std::uint32_t odd = (byte & 8) != 0 ? vector.unit[3] : vector.unit[1];
    return (byte & 4) != 0 ? odd : even;
  };
  const auto piece = [&](auto width, bool stored) {
    constexpr int bytes = decltype(width)::value;
    if (!stored) {
      device::idle(memory);
      return;
    }
    device::Packet<bytes> packet{};
    if constexpr (bytes == 8) {
      packet = {word_at(low), word_at(low + 4)};
    } else {
      packet.unit[0] = static_cast<typename device::Packet<bytes>::Unit>(word_at(low) >> 8 * (low & 3));
    }
    memory.template store_global<bytes>(device::kOutput, at + low, packet);
    low += bytes;
  };
  const auto up = [&](auto width) {
    constexpr std::uint32_t bytes = decltype(width)::value;
    if constexpr (bytes >= unit_bytes) piece(width, (low & bytes) != 0 && low + bytes <= high);
  };
  const auto down = [&](auto width) {
    constexpr std::uint32_t bytes = decltype(width)::value;
    if constexpr (bytes >= unit_bytes) piece(width, high - low >= bytes);
  };
  up(std::integral_constant<int, 1>());
  up(std::integral_constant<int, 2>());
  up(std::integral_constant<int, 4>());
  up(std::integral_constant<int, 8>());
  down(std::integral_constant<int, 8>());
  down(std::integral_constant<int, 4>());
  down(std::integral_constant<int, 2>());
  down(std::integral_constant<int, 1>());
}

/// The accesses of store_part().
constexpr int store_part_steps(int unit_bytes) {
  return unit_bytes == 1 ? 8 : unit_bytes == 2 ? 6 : unit_bytes == 4 ? 4 : 2;
}

}  // namespace faro::kernels
