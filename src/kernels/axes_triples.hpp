// Elements of three units in ragged boxes: 3 or 6 bytes that begin anywhere in shared memory, and are put
// together to vectors of the output in registers, words at a time.
//
//     vector of the output     | c a a a b b b c c c d d d e e e | f     begins within an element: past = 2
//     parts of 6 elements      |---|-----|-----|-----|-----|-----|-      of 6 bytes, of 4
//     an element               w w a a | a w w w                         two words, shifted together
//
// Unit by unit a vector of bytes takes 16 reads of shared memory and as many of the list of places; so it
// takes 12 and 6, and of halves 8 and 4 instead of as many as before, without conflicts of single bytes.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

inline constexpr int kTripleUnits = 3;

/// Elements that a vector of the output has parts of, at most, wherever it begins.
template <int unit_bytes>
inline constexpr int kTriplesOfVector = unit_bytes == 1 ? 6 : 4;

/// An element from its first byte on; the bytes above are others'.
struct Triple {
  std::uint32_t low = 0;
  std::uint32_t high = 0;  // of 6 bytes, the last two
};

constexpr std::uint32_t shifted_words(std::uint32_t low, std::uint32_t high, std::uint32_t bits) {
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> bits);
}

/// The accesses of load_triple().
inline constexpr int kTripleLoads = 2;

/// The element that begins at byte `at` of shared memory.
template <int unit_bytes, device::Memory Memory>
constexpr Triple load_triple(Memory& memory, std::uint32_t at) {
  static_assert(unit_bytes == 1 || unit_bytes == 2);
  constexpr std::uint32_t word = 4;
  const std::uint32_t past = at % word;
  const std::uint32_t low = memory.template load_shared<4>(at - past).unit[0];
  std::uint32_t high = 0;
  if (unit_bytes == 2 || past > 1) {
    high = memory.template load_shared<4>(at - past + word).unit[0];
  } else {
    device::idle(memory);
  }
  return {.low = shifted_words(low, high, 8 * past), .high = high >> 8 * past};
}

/// The vector that begins `past` units after the first of some elements that follow one another. Requires:
/// past < 3.
template <int unit_bytes>
constexpr device::Packet<kMovedBytes> vector_of_triples(const Triple (&of)[kTriplesOfVector<unit_bytes>],
                                                        std::uint32_t past) {
  constexpr std::uint32_t words = kMovedBytes / 4;
  std::uint32_t together[words + 1];
  if constexpr (unit_bytes == 1) {
    together[0] = device::select_bytes(of[0].low, of[1].low, 0x4210);
    together[1] = device::select_bytes(of[1].low, of[2].low, 0x5421);
    together[2] = device::select_bytes(of[2].low, of[3].low, 0x6542);
    together[3] = device::select_bytes(of[4].low, of[5].low, 0x4210);
    together[4] = of[5].low >> 8;
  } else {
    const std::uint32_t all[] = {of[0].low, device::select_bytes(of[0].high, of[1].low, 0x5410),
                                 device::select_bytes(of[1].low, of[1].high, 0x5432), of[2].low,
                                 device::select_bytes(of[2].high, of[3].low, 0x5410)};
    FARO_UNROLL
    for (std::uint32_t w = 0; w <= words; ++w) {
      together[w] = past < 2 ? all[w] : w < words ? all[w + 1] : 0;
    }
  }
  const std::uint32_t bits = unit_bytes == 1 ? 8 * past : 16 * (past % 2);
  device::Packet<kMovedBytes> vector{};
  FARO_UNROLL
  for (std::uint32_t w = 0; w < words; ++w) {
    vector.unit[w] = shifted_words(together[w], together[w + 1], bits);
  }
  return vector;
}

}  // namespace faro::kernels
