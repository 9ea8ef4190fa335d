// Runs of bits that begin anywhere: brought to the beginning of a byte, and put back.
//
//     in memory, low bits first    byte 0: c b a -     byte 1: - - e d         a .. e from bit 2 of 8 (two bits each)
//     as loaded                    byte 0: d c b a     byte 1: - - - e         the same order, from bit 0
//
// A byte of the result is made of two neighbours by shifts, which compilers do for a register of bytes at a
// time. Of bits next to a run that share a byte with it, none is changed, even where another thread is
// writing them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/packed.hpp"

namespace faro::packed {

constexpr std::uint64_t kBitsOfByte = 8;

constexpr std::uint64_t bytes_of_bits(std::uint64_t bits) { return (bits + kBitsOfByte - 1) / kBitsOfByte; }

/// Writes bytes_of_bits(bits) bytes; those of the last that are not the run's are anything.
void load_run(const std::byte* from, std::uint64_t first_bit, std::uint64_t bits, BitOrder order,
              std::byte* to);

/// The other way. `streamed`: whole lines go past the caches.
void store_run(const std::byte* from, std::uint64_t bits, BitOrder order, std::byte* to,
               std::uint64_t first_bit, bool streamed);

/// The same of a run at bit `from_bit`, whose place in its byte is that of first_bit in its own (unchecked).
void store_placed_run(const std::byte* from, std::uint64_t from_bit, std::uint64_t bits, BitOrder order,
                      std::byte* to, std::uint64_t first_bit, bool streamed);

/// A run brought to bit `at`, of a buffer that nobody else writes: the bits before it stay, those after it in
/// its last byte are anything.
void append_run(const std::byte* from, std::uint64_t first_bit, std::uint64_t bits, BitOrder order,
                std::byte* to, std::uint64_t at);

/// Clears the bits of a run.
void clear_run(std::byte* to, std::uint64_t first_bit, std::uint64_t bits, BitOrder order);

/// Bits first_bit .. first_bit + bits - 1 as a number whose low bits are an element of 1, 2 or 4 bits.
inline unsigned element_at(const std::byte* array, std::uint64_t first_bit, std::uint32_t bits,
                           BitOrder order) {
  const auto byte = static_cast<unsigned>(array[first_bit / kBitsOfByte]);
  const auto in_byte = static_cast<unsigned>(first_bit % kBitsOfByte);
  const unsigned shift = order == BitOrder::low_first ? in_byte : 8 - bits - in_byte;
  return byte >> shift & ((1U << bits) - 1);
}

}  // namespace faro::packed
