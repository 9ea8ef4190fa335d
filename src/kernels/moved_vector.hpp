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
// A vector that crosses from one piece to the next takes two such pairs, and its bytes below the crossing
// from the first. One of three pieces and more, or that the ends of the arrays cut, is put together unit by
// unit. Everything is in bytes, and counted from an address that is aligned to 16: an array that is not
// begins `skew` bytes later.
#pragma once

#include <cstdint>
#include <type_traits>

#include "faro/device/memory.hpp"

namespace faro::kernels {

inline constexpr int kMovedBytes = 16;

/// Bytes of a buffer that are the array's.
struct ArrayBytes {
  std::uint64_t begin = 0;  // where the array begins after an aligned address
  std::uint64_t end = 0;
};

/// Where output is read: its byte y at `at`, and `bytes` from there on in the same order, or, backwards, in
/// units that descend from there.
struct MovedPiece {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;  // at least a unit
};

/// Bytes `by` .. `by` + 15 of a and b, side by side. Requires: by < 16, a multiple of the unit (unchecked).
/// Cost: 16 instructions; of units of 4 bytes 11, of 8 bytes 4.
template <int unit_bytes = 1>
constexpr device::Packet<16> join(const device::Packet<16>& a, const device::Packet<16>& b,
                                  std::uint32_t by) {
  if constexpr (unit_bytes == 16) {
    return a;
  } else {
    std::uint32_t word[8];
    FARO_UNROLL
    for (int i = 0; i < 4; ++i) {
      word[i] = a.unit[i];
      word[4 + i] = b.unit[i];
    }
    FARO_UNROLL
    for (int i = 0; i < 6; ++i) word[i] = (by & 8) != 0 ? word[i + 2] : word[i];
    if constexpr (unit_bytes < 8) {
      FARO_UNROLL
      for (int i = 0; i < 5; ++i) word[i] = (by & 4) != 0 ? word[i + 1] : word[i];
    }
    if constexpr (unit_bytes < 4) {
      const std::uint32_t selector = 0x3210 + 0x1111 * (by & 3);
      FARO_UNROLL
      for (int i = 0; i < 4; ++i) word[i] = device::select_bytes(word[i], word[i + 1], selector);
    }
    return {word[0], word[1], word[2], word[3]};
  }
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

/// Bytes low .. high - 1 of a vector in as few pieces as their alignment allows, up to the widest that fits
/// and down again:
///
///     bytes 3 .. 13 of 16      3 | 4 .. 7 | 8 .. 11 | 12 .. 13
///
/// Calls move(width, at), `width` an integral_constant, for each of them, and sits_out() for each of the
/// most_pieces() that there might be and is not. Requires: low < high <= 16, multiples of the unit, not all
/// 16 bytes (unchecked).
template <int unit_bytes, typename Move, typename SitsOut>
constexpr void move_pieces(std::uint32_t low, std::uint32_t high, const Move& move, const SitsOut& sits_out) {
  const auto piece = [&](auto width, bool has) {
    if (!has) {
      sits_out();
      return;
    }
    move(width, low);
    low += static_cast<std::uint32_t>(width());
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
/// How often move_pieces() calls.
constexpr int most_pieces(int unit_bytes) {
  return unit_bytes == 1 ? 8 : unit_bytes == 2 ? 6 : unit_bytes == 4 ? 4 : 2;
}

/// The first `count` bytes of a, then those of b. Requires: count <= 16 (unchecked).
constexpr device::Packet<16> splice(const device::Packet<16>& a, const device::Packet<16>& b,
                                    std::uint32_t count) {
  device::Packet<16> result{};
  FARO_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t mine = count < 4 * i ? 0 : count - 4 * i;  // bytes of a in this word and after it
    const std::uint32_t mask = mine >= 4 ? ~std::uint32_t{0} : (std::uint32_t{1} << 8 * mine) - 1;
    result.unit[i] = (a.unit[i] & mask) | (b.unit[i] & ~mask);
  }
  return result;
}

/// The two vectors around 16 bytes of input.
struct VectorPair {
  std::uint64_t first = 0;
  std::uint32_t by = 0;

  constexpr VectorPair() = default;
  explicit constexpr VectorPair(std::uint64_t from)
      : first(from / kMovedBytes * kMovedBytes), by(static_cast<std::uint32_t>(from % kMovedBytes)) {}

  /// Whether both, or the one that is needed, are within the array.
  constexpr bool within(const ArrayBytes& in) const {
    const std::uint64_t bytes = by == 0 ? kMovedBytes : 2 * kMovedBytes;
    return first >= in.begin && first <= in.end && in.end - first >= bytes;
  }
};

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
  // A piece of 16 bytes has all of them in `in`, so that subtractions do not wrap where it counts.
  const bool one = piece.bytes >= kMovedBytes;
  const VectorPair pair(backwards ? piece.at - others : piece.at);
  VectorPair second;
  bool joins = whole && pair.within(in) && (one || !backwards);
  if (joins && !one) {
    const MovedPiece rest = piece_of(y + piece.bytes);
    joins = piece.bytes + rest.bytes >= kMovedBytes && rest.at >= piece.bytes;
    second = VectorPair(rest.at - piece.bytes);
    joins = joins && second.within(in);
  }

  device::converge(memory);
  if (joins) {
    device::Packet<16> vector = memory.template load_global<16>(device::kInput, pair.first);
    device::Packet<16> next{};
    device::Packet<16> other{};
    device::Packet<16> other_next{};
    if (pair.by != 0) {
      next = memory.template load_global<16>(device::kInput, pair.first + kMovedBytes);
    } else {
      device::idle(memory);
    }
    if (!one) {
      other = memory.template load_global<16>(device::kInput, second.first);
    } else {
      device::idle(memory);
    }
    if (!one && second.by != 0) {
      other_next = memory.template load_global<16>(device::kInput, second.first + kMovedBytes);
    } else {
      device::idle(memory);
    }
    vector = join<unit_bytes>(vector, next, pair.by);
    if constexpr (backwards) vector = reverse_units<unit_bytes>(vector);
    if (!one) {
      vector = splice(vector, join<unit_bytes>(other, other_next, second.by),
                      static_cast<std::uint32_t>(piece.bytes));
    }
    // The others' units.
    for (int k = 0; k < units; ++k) {
      device::converge(memory);
      idle_times(memory, units <= 4 ? 1 : 2);
    }
    if constexpr (units <= 4) idle_times(memory, units);
    memory.template store_global<16>(device::kOutput, y, vector);
    device::idle(memory);  // the others' store, which is another instruction
    return;
  }
  idle_times(memory, 4);
  if constexpr (units <= 4) {
    // Where each is read is known before the first has come.
    device::Packet<unit_bytes> unit[units];
    FARO_UNROLL
    for (int k = 0; k < units; ++k) {
      const std::uint64_t to = y + static_cast<std::uint64_t>(k * unit_bytes);
      const bool has = to >= out.begin && to < out.end;
      if (has && piece.bytes == 0) piece = piece_of(to);
      device::converge(memory);
      if (!has) {
        device::idle(memory);
        continue;
      }
      unit[k] = memory.template load_global<unit_bytes>(device::kInput, piece.at);
      piece.at = backwards ? piece.at - unit_bytes : piece.at + unit_bytes;
      piece.bytes -= unit_bytes;
    }
    device::Packet<16> vector{};
    FARO_UNROLL
    for (int k = 0; k < units; ++k) {
      const std::uint64_t to = y + static_cast<std::uint64_t>(k * unit_bytes);
      if (!whole && to >= out.begin && to < out.end) {
        memory.template store_global<unit_bytes>(device::kOutput, to, unit[k]);
      } else {
        device::idle(memory);
      }
      if (whole) device::insert(vector, k, unit[k]);
    }
    device::idle(memory);  // likewise
    if (whole) {
      memory.template store_global<16>(device::kOutput, y, vector);
    } else {
      device::idle(memory);
    }
  } else {
    UnitQueue queue;
    FARO_NO_UNROLL
    for (int k = 0; k < units; ++k) {
      const std::uint64_t to = y + static_cast<std::uint64_t>(k * unit_bytes);
      const bool has = to >= out.begin && to < out.end;
      if (has && piece.bytes == 0) piece = piece_of(to);
      device::converge(memory);
      if (!has) {
        idle_times(memory, 2);
        continue;
      }
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
    device::idle(memory);  // likewise
    if (whole) {
      memory.template store_global<16>(device::kOutput, y, queue.vector());
    } else {
      device::idle(memory);
    }
  }
}

}  // namespace faro::kernels
