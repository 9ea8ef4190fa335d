// A part of a vector of output, stored in as few pieces as its alignment allows.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
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
  move_pieces<unit_bytes>(
      low, high,
      [&](auto width, std::uint32_t byte) {
        constexpr int bytes = decltype(width)::value;
        device::Packet<bytes> packet{};
        if constexpr (bytes == 8) {
          packet = {word_at(byte), word_at(byte + 4)};
        } else {
          packet.unit[0] = static_cast<typename device::Packet<bytes>::Unit>(word_at(byte) >> 8 * (byte & 3));
        }
        memory.template store_global<bytes>(device::kOutput, at + byte, packet);
      },
      [&] { device::idle(memory); });
}

/// The accesses of store_part().
constexpr int store_part_steps(int unit_bytes) { return most_pieces(unit_bytes); }

}  // namespace faro::kernels
