// What a block of a kernel in place holds: stretches of the one array, in shared memory while others take
// their places.
//
//     array           ...|. . a b|c d e f|g h . .|...       vectors of 4; a stretch begins and ends anywhere
//     shared memory       - - a b c d e f g h - -           every byte as far past a vector as in the array
//
// No block reads what is another's, so the first and the last vector of a stretch are read in pieces.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/moved_vector.hpp"
#include "kernels/stored_part.hpp"

namespace faro::kernels {

/// Bytes begin .. end - 1 of an array, counted from an address that is aligned to 16.
struct HeldBytes {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t place = 0;  // of the vector that `begin` is in, in shared memory

  constexpr std::uint64_t first_vector() const { return begin / kMovedBytes * kMovedBytes; }
  constexpr std::uint32_t vectors() const {
    return static_cast<std::uint32_t>((end - first_vector() + (kMovedBytes - 1)) / kMovedBytes);
  }
  /// The place of a byte.
  constexpr std::uint32_t place_of(std::uint64_t at) const {
    return place + static_cast<std::uint32_t>(at - first_vector());
  }
};

/// Bytes low .. high - 1 of the vector at `at` to shared memory, in pieces as wide as can be.
/// Requires: 0 <= low < high <= 16, multiples of the unit, not all 16 bytes (unchecked).
template <int unit_bytes, device::Memory Memory>
constexpr void hold_part(Memory& memory, std::uint64_t at, std::uint32_t place, std::uint32_t low,
                         std::uint32_t high) {
  move_pieces<unit_bytes>(
      low, high,
      [&](auto width, std::uint32_t byte) {
        constexpr int bytes = decltype(width)::value;
        memory.template store_shared<bytes>(place + byte,
                                            memory.template load_global<bytes>(device::kInput, at + byte));
      },
      [&] { idle_times(memory, 2); });
}

/// What of `held` is in its vector number `number`; nothing past the last.
struct HeldVector {
  std::uint64_t at = 0;
  std::uint32_t place = 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  constexpr HeldVector() = default;
  constexpr HeldVector(const HeldBytes& held, std::uint32_t number)
      : at(held.first_vector() + std::uint64_t{number} * kMovedBytes),
        place(held.place + number * kMovedBytes) {
    if (at >= held.end) return;
    low = at < held.begin ? static_cast<std::uint32_t>(held.begin - at) : 0;
    high = held.end - at < kMovedBytes ? static_cast<std::uint32_t>(held.end - at) : kMovedBytes;
  }
  constexpr bool whole() const { return high - low == kMovedBytes; }
  constexpr bool in_part() const { return high > low && !whole(); }
};

/// Those of some vectors of the calling thread that are whole to shared memory, all under way before the
/// first has come. The others are hold_end()'s.
template <int number, device::Memory Memory>
constexpr void hold_vectors(Memory& memory, const HeldVector (&vectors)[number]) {
  device::Packet<kMovedBytes> packet[number] = {};
  FARO_UNROLL
  for (int i = 0; i < number; ++i) {
    if (vectors[i].whole()) {
      packet[i] = memory.template load_global<kMovedBytes>(device::kInput, vectors[i].at);
    } else {
      device::idle(memory);
    }
  }
  FARO_UNROLL
  for (int i = 0; i < number; ++i) {
    if (vectors[i].whole()) {
      memory.template store_shared<kMovedBytes>(vectors[i].place, packet[i]);
    } else {
      device::idle(memory);
    }
  }
}

/// The first vector of a stretch where `end` is 0, the last where it is 1, if it is there in part; none where
/// `end` is more. Where lanes meet again is the caller's to say.
template <int unit_bytes, device::Memory Memory>
constexpr void hold_end(Memory& memory, const HeldBytes& held, std::uint32_t end) {
  if constexpr (unit_bytes < kMovedBytes) {
    const std::uint32_t last = held.vectors() - 1;
    if (end > 1 || (end == 1 && last == 0)) return;
    const HeldVector vector(held, end == 0 ? 0 : last);
    if (vector.in_part()) hold_part<unit_bytes>(memory, vector.at, vector.place, vector.low, vector.high);
  }
}

/// All of a stretch, by `threads` threads.
template <int unit_bytes, device::Memory Memory>
constexpr void hold(Memory& memory, const HeldBytes& held, std::uint32_t thread, std::uint32_t threads) {
  constexpr int at_a_time = 4;
  const std::uint32_t all = held.vectors();
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < all; first += at_a_time * threads) {
    HeldVector vectors[at_a_time];
    FARO_UNROLL
    for (int i = 0; i < at_a_time; ++i) {
      const std::uint32_t number = first + static_cast<std::uint32_t>(i) * threads + thread;
      vectors[i] = HeldVector(held, number);
    }
    hold_vectors(memory, vectors);
  }
  hold_end<unit_bytes>(memory, held, thread);
  device::converge(memory);
}

/// The memory of a kernel whose input is what is held: it is read in shared memory.
template <typename Memory>
struct HeldMemory {
  Memory* memory;
  HeldBytes held;

  template <int bytes>
  constexpr device::Packet<bytes> load_global(int /*buffer*/, std::uint64_t at) const {
    return memory->template load_shared<bytes>(held.place_of(at));
  }
  template <int bytes>
  constexpr void store_global(int buffer, std::uint64_t at, const device::Packet<bytes>& packet) const {
    memory->template store_global<bytes>(buffer, at, packet);
  }
  template <int bytes>
  constexpr device::Packet<bytes> load_shared(std::uint32_t address) const {
    return memory->template load_shared<bytes>(address);
  }
  template <int bytes>
  constexpr void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    memory->template store_shared<bytes>(address, packet);
  }
  constexpr void idle() const { device::idle(*memory); }
  constexpr void converge() const { device::converge(*memory); }
};

}  // namespace faro::kernels
