// One vector of output, 16 bytes, brought together from wherever its bytes are.
//
// Kernels whose output comes in long pieces of input (a roll, rows that change places, runs) differ in one
// function only: where byte y of the output is read, and how many bytes follow it there. A thread takes an
// aligned vector of output. What it reads is seldom aligned, so it reads the two vectors around it and joins
// them in registers; its neighbour reads one of the two again, from the first-level cache:
//
//     output              | y .. y + 15   |
//     input        |  v0  : = = = = | = = :  v1     |        at = 3 past a vector: 13 bytes of v0, 3 of v1
//
// A vector that crosses from one piece to the next, or that the ends of the arrays cut, is put together unit
// by unit. Everything is in bytes, and counted from an address that is aligned to 16: an array that is not
// begins `skew` bytes later.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "faro/device/packet.hpp"

namespace faro::kernels {

inline constexpr int kMovedBytes = 16;

/// Bytes of a buffer that are the array's.
struct ArrayBytes {
  std::uint64_t begin = 0;  // the skew, below 16
  std::uint64_t end = 0;
};

/// Where output is read: its byte y at `at`, and `bytes` from there on in the same order, or, backwards, in
/// units that descend from there.
struct MovedPiece {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;  // at least a unit
};

/// Bytes `by` .. `by` + 15 of a and b, side by side. Requires: by < 16 (unchecked).   Cost: 16 instructions.
constexpr device::Packet<16> join(const device::Packet<16>& a, const device::Packet<16>& b,
                                  std::uint32_t by) {
  std::uint32_t word[8];
  FARO_UNROLL
  for (int i = 0; i < 4; ++i) {
    word[i] = a.unit[i];
    word[4 + i] = b.unit[i];
  }
  FARO_UNROLL
  for (int i = 0; i < 6; ++i) word[i] = (by & 8) != 0 ? word[i + 2] : word[i];
  FARO_UNROLL
  for (int i = 0; i < 5; ++i) word[i] = (by & 4) != 0 ? word[i + 1] : word[i];
  const std::uint32_t selector = 0x3210 + 0x1111 * (by & 3);
  device::Packet<16> result{};
  FARO_UNROLL
  for (int i = 0; i < 4; ++i) result.unit[i] = device::select_bytes(word[i], word[i + 1], selector);
  return result;
}

/// The units of a vector in the opposite order.
template <int unit_bytes>
constexpr device::Packet<16> reverse_units(const device::Packet<16>& vector) {
  device::Packet<16> result = vector;
  if constexpr (unit_bytes == 8) {
    result = {vector.unit[2], vector.unit[3], vector.unit[0], vector.unit[1]};
  } else if constexpr (unit_bytes < 8) {
    constexpr std::uint32_t selector = unit_bytes == 4 ? 0x3210 : unit_bytes == 2 ? 0x1032 : 0x0123;
    FARO_UNROLL
    for (int i = 0; i < 4; ++i) {
      result.unit[i] = device::select_bytes(vector.unit[3 - i], vector.unit[3 - i], selector);
    }
  }
  return result;
}

/// Sixteen bytes that are filled from the highest down, each unit pushing the former ones towards byte 0: no
/// register is indexed, so the loop over units need not be unrolled.
struct UnitQueue {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  template <int unit_bytes>
  constexpr void push(const device::Packet<unit_bytes>& unit) {
    if constexpr (unit_bytes == 16) {
      low = std::uint64_t{unit.unit[1]} << 32 | unit.unit[0];
      high = std::uint64_t{unit.unit[3]} << 32 | unit.unit[2];
    } else if constexpr (unit_bytes == 8) {
      low = high;
      high = std::uint64_t{unit.unit[1]} << 32 | unit.unit[0];
    } else {
      constexpr int bits = 8 * unit_bytes;
      low = low >> bits | high << (64 - bits);
      high = high >> bits | std::uint64_t{unit.unit[0]} << (64 - bits);
    }
  }
  constexpr device::Packet<16> vector() const {
    return {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
            static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
  }
};

/// Unit `index` of a vector: what device::insert() put there.
template <int unit_bytes, int bytes>
constexpr device::Packet<unit_bytes> unit_of(const device::Packet<bytes>& vector, int index) {
  constexpr int word_bytes = device::Packet<bytes>::kUnitBytes;
  device::Packet<unit_bytes> unit{};
  if constexpr (unit_bytes >= word_bytes) {
    constexpr int words = unit_bytes / word_bytes;
    FARO_UNROLL
    for (int w = 0; w < words; ++w) unit.unit[w] = vector.unit[index * words + w];
  } else {
    constexpr int units = word_bytes / unit_bytes;
    const int shift = 8 * unit_bytes * (index % units);
    using Word = typename device::Packet<unit_bytes>::Unit;
    unit.unit[0] = static_cast<Word>(vector.unit[index / units] >> shift);
  }
  return unit;
}

/// The calling lane sits out so many accesses.
template <typename Memory>
constexpr void idle_times(Memory& memory, int times) {
  for (int i = 0; i < times; ++i) device::idle(memory);
}

/// Moves the output's bytes y .. y + 15, those of them that are the array's; all of them once.
/// `piece_of(y)` gives the MovedPiece of an output's byte that begins a unit.
/// Requires: y aligned to 16, every array's begin and end and all pieces to the unit; pieces within `in` (all
/// unchecked).
template <int unit_bytes, bool backwards, device::Memory Memory, typename PieceOf>
constexpr void move_output_vector(Memory& memory, const ArrayBytes& in, const ArrayBytes& out,
                                  std::uint64_t y, const PieceOf& piece_of) {
  constexpr int units = kMovedBytes / unit_bytes;
  constexpr std::uint64_t others = kMovedBytes - unit_bytes;  // bytes of a vector but its first unit
  const bool whole = y >= out.begin && y + kMovedBytes <= out.end;
  MovedPiece piece{};
  if (y >= out.begin) piece = piece_of(y);
  // The vectors that are read lie around byte `from` of the input. A piece of 16 bytes has them all in `in`,
  // so that `from` does not wrap where it counts.
  const std::uint64_t from = backwards ? piece.at - others : piece.at;
  const auto by = static_cast<std::uint32_t>(from % kMovedBytes);
  const std::uint64_t first = from - by;
  const std::uint64_t last = by == 0 ? first : first + kMovedBytes;

  if (whole && piece.bytes >= kMovedBytes && first >= in.begin && last + kMovedBytes <= in.end) {
    device::Packet<16> vector = memory.template load_global<16>(device::kInput, first);
    device::Packet<16> next{};
    if (by != 0) {
      next = memory.template load_global<16>(device::kInput, last);
    } else {
      device::idle(memory);
    }
    vector = join(vector, next, by);
    if constexpr (backwards) vector = reverse_units<unit_bytes>(vector);
    idle_times(memory, 2 * units);
    memory.template store_global<16>(device::kOutput, y, vector);
    return;
  }
  idle_times(memory, 2);
  UnitQueue queue;
  FARO_NO_UNROLL
  for (int k = 0; k < units; ++k) {
    const std::uint64_t to = y + static_cast<std::uint64_t>(k * unit_bytes);
    if (to < out.begin || to >= out.end) {
      idle_times(memory, 2);
      continue;
    }
    if (piece.bytes == 0) piece = piece_of(to);
    const auto unit = memory.template load_global<unit_bytes>(device::kInput, piece.at);
    piece.at = backwards ? piece.at - unit_bytes : piece.at + unit_bytes;
    piece.bytes -= unit_bytes;
    if (whole) {
      queue.template push<unit_bytes>(unit);
      device::idle(memory);
    } else {
      memory.template store_global<unit_bytes>(device::kOutput, to, unit);
    }
  }
  if (whole) memory.template store_global<16>(device::kOutput, y, queue.vector());
}

}  // namespace faro::kernels
