// Blocks of a paged cache moved on a GPU (faro/permutation/paged_cache.hpp): all arrays in one launch.
//
//     target NHD, blocks of 4 tokens     piece   0 1 2 3 …      the pieces of a head, then heads, then tokens
//     target HND                         piece   0 1 2 3 …      the pieces of a head, then tokens, then heads
//
// A thread moves a few pieces of a head, 16 bytes or 8 numbers where both sides have them together, in the
// order in which the target's block has them, so that neighbouring threads write neighbouring addresses; it
// reads wherever the source has that token. Blocks of threads count some arrays, sequences and pieces of one
// sequence: what the tables say, two loads that depend on nothing and five divisions by numbers known before,
// holds for all arrays and is looked up once for up to kMostCacheArrays of them. Where a sequence has fewer
// than 2^31 pieces, and blocks as many bytes, as all but the largest have, they are divisions of 32 bits.
//
// An entry that is wrong is told of and not followed: its tokens stay as they are in the target.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "faro/number.hpp"
#include "kernels/row_entries.hpp"
#include "kernels/small_floats.hpp"

namespace faro::kernels {

/// An array on both sides, in a table on the device.
struct CachePair {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  float in_scale = 1;
  float out_scale = 1;
};

/// Arrays that a block of threads moves one after another.
inline constexpr std::uint64_t kMostCacheArrays = 8;

/// Where one side's pieces lie; strides are in bytes.
struct CacheSide {
  RowEntries table;           // of all sequences
  std::uint64_t columns = 0;  // of a sequence
  device::Division64 block_tokens;
  std::uint64_t block = 0;
  std::uint64_t token = 0;
  std::uint64_t head = 0;
  std::uint64_t part = 0;
  std::uint64_t piece = 0;

  template <typename Word>
  constexpr Word place(Word slot, Word of_head, Word of_piece, const device::Division<Word>& of_part) const {
    Word within = of_piece;
    const Word before = part == 0 ? 0 : of_part.divide(within);
    return slot * static_cast<Word>(token) + of_head * static_cast<Word>(head) +
           before * static_cast<Word>(part) + within * static_cast<Word>(piece);
  }
};

/// The divisions that each piece takes, of so many bits.
template <typename Word>
struct CacheDivisions {
  device::Division<Word> pieces;  // of a head
  device::Division<Word> inner;   // heads, or tokens of a block of the target, whichever lie nearer
  device::Division<Word> middle;  // the others
  device::Division<Word> from_tokens;
  device::Division<Word> from_part;  // pieces of a part of a head
  device::Division<Word> to_part;
};

/// What every way of moving a cache needs.
struct CacheShape {
  const CachePair* pairs = nullptr;
  std::uint64_t arrays = 0;
  std::uint64_t arrays_each = 1;  // of a block of threads
  device::Division64 sequences;
  device::Division64 chunks;  // blocks of threads of a sequence
  CacheDivisions<std::uint64_t> far;
  CacheDivisions<std::uint32_t> near;
  bool is_near = false;      // where these do
  bool heads_inside = true;  // inner counts heads
  std::uint64_t tokens = 0;  // of each sequence, at most
  RowEntries lengths;        // unless empty, of each; numbers from 0 to tokens
  CacheSide from;
  CacheSide to;
  RowFaults* table_faults = nullptr;   // out_of_range: of the source's table; twice: of the target's
  RowFaults* length_faults = nullptr;  // out_of_range
  std::uint64_t all_pieces = 0;        // pieces_of_sequence(), which the host works out

  /// Pieces of a sequence, whole blocks of the target.
  constexpr std::uint64_t pieces_of_sequence() const {
    const std::uint64_t bt = to.block_tokens.divisor();
    return (tokens + bt - 1) / bt * far.inner.divisor() * far.middle.divisor() * far.pieces.divisor();
  }
  constexpr std::uint64_t blocks() const {
    const std::uint64_t together = (arrays + arrays_each - 1) / arrays_each;
    return pieces_of_sequence() == 0 ? 0 : together * sequences.divisor() * chunks.divisor();
  }

  template <typename Block>
  constexpr std::uint64_t length_of(Block& block, std::uint64_t sequence) const {
    if (lengths.count == 0) return tokens;
    const std::uint64_t length = lengths.row(sequence);
    if (is_row(length)) return length;
    note_fault(block, &length_faults->out_of_range, sequence);
    return 0;
  }

  /// Where a piece lies within its blocks, in bytes, and their entries.
  struct Place {
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    std::uint64_t from_entry = 0;
    std::uint64_t to_entry = 0;
    bool is_there = false;
  };
  constexpr Place place_of(std::uint64_t sequence, std::uint64_t length, std::uint64_t piece) const {
    if (piece >= all_pieces) return {};
    if (is_near) return place_by(near, sequence, length, static_cast<std::uint32_t>(piece));
    return place_by(far, sequence, length, piece);
  }

 private:
  template <typename Word>
  constexpr Place place_by(const CacheDivisions<Word>& by, std::uint64_t sequence, std::uint64_t length,
                           Word piece) const {
    Word of_head = piece;
    Word a = by.pieces.divide(of_head);
    Word b = by.inner.divide(a);
    const Word to_block = by.middle.divide(b);
    const Word head = heads_inside ? a : b;
    const Word slot = heads_inside ? b : a;
    const Word token = to_block * (heads_inside ? by.middle : by.inner).divisor() + slot;
    Word from_slot = token;
    const Word from_block = by.from_tokens.divide(from_slot);
    return {.in = from.place(from_slot, head, of_head, by.from_part),
            .out = to.place(slot, head, of_head, by.to_part),
            .from_entry = sequence * from.columns + from_block,
            .to_entry = sequence * to.columns + to_block,
            .is_there = token < length};
  }
};

/// The pieces of a thread in each of its arrays, by move(pair, in, out, moves), where the pieces lie in bytes
/// from the arrays' begins. All entries are on their way before the first is looked at.
template <std::uint32_t kThreads, std::uint32_t kEach, typename Block, typename Move>
constexpr void move_pieces(Block& block, const CacheShape& shape, const Move& move) {
  std::uint64_t chunk = block.index();
  std::uint64_t sequence = shape.chunks.divide(chunk);
  const std::uint64_t first = shape.sequences.divide(sequence) * shape.arrays_each;
  const std::uint64_t behind =
      first + shape.arrays_each < shape.arrays ? first + shape.arrays_each : shape.arrays;
  const std::uint64_t length = shape.length_of(block, sequence);
  CacheShape::Place place[kEach];
  FARO_UNROLL
  for (std::uint32_t k = 0; k < kEach; ++k)
    place[k] = shape.place_of(sequence, length, (chunk * kEach + k) * kThreads + block.thread());
  std::uint64_t read[kEach];
  std::uint64_t written[kEach];
  shape.from.table.load_rows_at(
      [&](std::uint32_t k) { return place[k].is_there ? place[k].from_entry : kAbsentRow; }, read);
  shape.to.table.load_rows_at(
      [&](std::uint32_t k) { return place[k].is_there ? place[k].to_entry : kAbsentRow; }, written);
  std::uint64_t in[kEach];
  std::uint64_t out[kEach];
  bool moves[kEach];
  FARO_UNROLL
  for (std::uint32_t k = 0; k < kEach; ++k) {
    if (read[k] == kWrongRow) note_fault(block, &shape.table_faults->out_of_range, place[k].from_entry);
    if (written[k] == kWrongRow) note_fault(block, &shape.table_faults->twice, place[k].to_entry);
    moves[k] = is_row(read[k]) && is_row(written[k]);
    in[k] = read[k] * shape.from.block + place[k].in;
    out[k] = written[k] * shape.to.block + place[k].out;
  }
  FARO_NO_UNROLL
  for (std::uint64_t array = first; array < behind; ++array) move(shape.pairs[array], in, out, moves);
}

/// Pieces of kBytes as they are.
template <int kBytes>
struct MoveCache {
  using Vector = device::Packet<kBytes>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kEach = 4;

  CacheShape shape;

  constexpr std::uint64_t blocks() const { return shape.blocks(); }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    move_pieces<kThreads, kEach>(block, shape,
                                 [](const CachePair& pair, const std::uint64_t(&in)[kEach],
                                    const std::uint64_t(&out)[kEach], const bool(&moves)[kEach]) {
                                   Vector vector[kEach] = {};
                                   FARO_UNROLL
                                   for (std::uint32_t k = 0; k < kEach; ++k) {
                                     if (moves[k])
                                       vector[k] = *reinterpret_cast<const Vector*>(pair.in + in[k]);
                                   }
                                   FARO_UNROLL
                                   for (std::uint32_t k = 0; k < kEach; ++k) {
                                     if (moves[k]) *reinterpret_cast<Vector*>(pair.out + out[k]) = vector[k];
                                   }
                                 });
  }
};

namespace detail {

/// The bits of number j of so many packets of 32-bit words or of one narrower unit.
template <typename T>
using NumberBits = std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                      std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>;

template <int kNumbers, typename T>
inline constexpr int kPacketBytes = kNumbers * sizeof(T) < 16 ? kNumbers* static_cast<int>(sizeof(T)) : 16;

template <typename T>
constexpr float widened_number(NumberBits<T> bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(bits);
  } else {
    return to_float(T{bits});
  }
}

template <typename T>
constexpr NumberBits<T> narrowed_number(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(x);
  } else {
    return rounded_to<T>(x, sizeof(T) == 1 ? Overflow::saturate : Overflow::as_type).bits;
  }
}

template <typename T, int kNumbers>
constexpr void load_numbers(const std::byte* at, float (&x)[kNumbers]) {
  constexpr int kBytes = kPacketBytes<kNumbers, T>;
  using Vector = device::Packet<kBytes>;
  constexpr int kOfVector = kBytes / static_cast<int>(sizeof(T));
  constexpr int kOfUnit = Vector::kUnitBytes / static_cast<int>(sizeof(T));
  FARO_UNROLL
  for (int v = 0; v < kNumbers / kOfVector; ++v) {
    const Vector vector = reinterpret_cast<const Vector*>(at)[v];
    FARO_UNROLL
    for (int j = 0; j < kOfVector; ++j) {
      const auto bits = vector.unit[j / kOfUnit] >> (8 * static_cast<int>(sizeof(T)) * (j % kOfUnit));
      x[v * kOfVector + j] = widened_number<T>(static_cast<NumberBits<T>>(bits));
    }
  }
}

template <typename T, int kNumbers>
constexpr void store_numbers(std::byte* at, const float (&x)[kNumbers]) {
  constexpr int kBytes = kPacketBytes<kNumbers, T>;
  using Vector = device::Packet<kBytes>;
  constexpr int kOfVector = kBytes / static_cast<int>(sizeof(T));
  constexpr int kOfUnit = Vector::kUnitBytes / static_cast<int>(sizeof(T));
  FARO_UNROLL
  for (int v = 0; v < kNumbers / kOfVector; ++v) {
    Vector vector = {};
    FARO_UNROLL
    for (int j = 0; j < kOfVector; ++j) {
      const std::uint32_t bits = narrowed_number<T>(x[v * kOfVector + j]);
      auto& unit = vector.unit[j / kOfUnit];
      unit = static_cast<typename Vector::Unit>(unit |
                                                bits << (8 * static_cast<int>(sizeof(T)) * (j % kOfUnit)));
    }
    reinterpret_cast<Vector*>(at)[v] = vector;
  }
}

/// Divides by one number above 0, to the bit as division does: by its reciprocal and two corrections, each of
/// what the quotient leaves, as a GPU itself divides, but the reciprocal is made once and nothing branches.
/// What is so small or large that a correction might be rounded goes by division.
/// Source: Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990.
class Divisor {
 public:
  explicit constexpr Divisor(float by) : by_(by), reciprocal_(1 / by), is_usual_(is_within(by, kOfDivisor)) {}

  template <int kNumbers>
  constexpr void divide(float (&x)[kNumbers]) const {
    bool are_usual = is_usual_;
    FARO_UNROLL
    for (int j = 0; j < kNumbers; ++j) are_usual = are_usual && (x[j] == 0 || is_within(x[j], kOfNumber));
    if (!are_usual) {
      FARO_UNROLL
      for (int j = 0; j < kNumbers; ++j) x[j] /= by_;
      return;
    }
    FARO_UNROLL
    for (int j = 0; j < kNumbers; ++j) {
      float quotient = x[j] * reciprocal_;
      FARO_UNROLL
      for (int step = 0; step < 2; ++step)
        quotient = std::fma(std::fma(-quotient, by_, x[j]), reciprocal_, quotient);
      x[j] = x[j] == 0 ? x[j] : quotient;
    }
  }

 private:
  static constexpr int kOfNumber = 80;  // exponents, from below 0 to above
  static constexpr int kOfDivisor = 40;

  static constexpr bool is_within(float x, int exponent) {
    const std::uint32_t least = magnitude_bits(power_of_two(-exponent));
    return magnitude_bits(x) - least < magnitude_bits(power_of_two(exponent)) - least;
  }

  float by_;
  float reciprocal_;
  bool is_usual_;
};

/// call.operator()<Stored>() of the type of C++ that a cache's numbers are stored as.
template <typename Call>
constexpr void with_cache_number(Number number, const Call& call) {
  switch (number) {
    case Number::f16:
      return call.template operator()<Half>();
    case Number::bf16:
      return call.template operator()<BrainHalf>();
    case Number::f8_e4m3fn:
      return call.template operator()<Float8E4M3>();
    case Number::f8_e5m2:
      return call.template operator()<Float8E5M2>();
    case Number::f8_e4m3fnuz:
      return call.template operator()<Float8E4M3Fnuz>();
    case Number::f8_e5m2fnuz:
      return call.template operator()<Float8E5M2Fnuz>();
    default:
      return call.template operator()<float>();
  }
}

}  // namespace detail

/// Pieces of kNumbers that are converted; 1: at any strides. The types are the same for all threads, so that
/// one kernel has them all.
template <int kNumbers>
struct ConvertCache {
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kEach = kNumbers == 1 ? 4 : 2;

  CacheShape shape;
  Number in_number = Number::f32;
  Number out_number = Number::f32;

  constexpr std::uint64_t blocks() const { return shape.blocks(); }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    move_pieces<kThreads, kEach>(block, shape,
                                 [&](const CachePair& pair, const std::uint64_t(&in)[kEach],
                                     const std::uint64_t(&out)[kEach], const bool(&moves)[kEach]) {
                                   float x[kEach][kNumbers] = {};
                                   detail::with_cache_number(in_number, [&]<typename Stored>() {
                                     FARO_UNROLL
                                     for (std::uint32_t k = 0; k < kEach; ++k) {
                                       if (moves[k])
                                         detail::load_numbers<Stored, kNumbers>(pair.in + in[k], x[k]);
                                     }
                                   });
                                   if (pair.in_scale != 1 || pair.out_scale != 1) {
                                     FARO_UNROLL
                                     for (std::uint32_t k = 0; k < kEach; ++k) {
                                       FARO_UNROLL
                                       for (int j = 0; j < kNumbers; ++j) x[k][j] *= pair.in_scale;
                                     }
                                     const detail::Divisor by(pair.out_scale);
                                     FARO_UNROLL
                                     for (std::uint32_t k = 0; k < kEach; ++k) by.divide(x[k]);
                                   }
                                   detail::with_cache_number(out_number, [&]<typename Stored>() {
                                     FARO_UNROLL
                                     for (std::uint32_t k = 0; k < kEach; ++k) {
                                       if (moves[k])
                                         detail::store_numbers<Stored, kNumbers>(pair.out + out[k], x[k]);
                                     }
                                   });
                                 });
  }
};

}  // namespace faro::kernels
