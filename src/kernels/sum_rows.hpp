// Rows that are added up, when they are in the order of where they go.
//
//     keys    0 0 2 2 2 5        a thread where a key begins: out[0] += in[i0], then in[i1], …
//     items   i0 i1 i2 …         in that order, which is the input's
//
// A thread has a vector of numbers of one row of the output, or one number, and adds to it what comes, a few
// rows of the input on their way at a time. Each sum is kept and rounded as the CPU engine does it
// (kernels/row_numbers.hpp), so it has the same bits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/number_lanes.hpp"
#include "kernels/row_numbers.hpp"
#include "kernels/value_factors.hpp"

namespace faro::kernels {

/// Numbers of 32 or 64 bits.
struct PairWords {
  const void* words = nullptr;
  std::int32_t wide = 0;

  constexpr std::uint64_t operator[](std::uint64_t i) const {
    return wide != 0 ? static_cast<const std::uint64_t*>(words)[i]
                     : static_cast<const std::uint32_t*>(words)[i];
  }
};

/// Some numbers that are moved as one packet.
template <typename T, int kNumber>
struct NumberVector {
  using Packet = device::Packet<static_cast<int>(sizeof(T)) * kNumber>;
  T number[kNumber];

  static constexpr NumberVector load(const std::byte* from, std::uint64_t i) {
    return std::bit_cast<NumberVector>(reinterpret_cast<const Packet*>(from)[i]);
  }
  constexpr void store(std::byte* to, std::uint64_t i) const {
    reinterpret_cast<Packet*>(to)[i] = std::bit_cast<Packet>(*this);
  }
};

/// A number whose bits are the lowest ones.
template <typename Stored>
constexpr Stored number_of_bits(std::uint64_t bits) {
  if constexpr (sizeof(Stored) == 8) return std::bit_cast<Stored>(bits);
  if constexpr (sizeof(Stored) == 4) return std::bit_cast<Stored>(static_cast<std::uint32_t>(bits));
  if constexpr (sizeof(Stored) == 2) return std::bit_cast<Stored>(static_cast<std::uint16_t>(bits));
  if constexpr (sizeof(Stored) == 1) return std::bit_cast<Stored>(static_cast<std::uint8_t>(bits));
}

/// Rows of the input as they are: what is fetched of them, a vector of so many numbers, and what is added of
/// that to a vector of the output. Apart, so that all that a thread fetches is on its way at once.
template <typename Stored, int kEach>
struct PlainRows {
  using Vector = NumberVector<Stored, kEach>;
  static constexpr Vector fetch(const std::byte* in, std::uint64_t from) { return Vector::load(in, from); }
  constexpr const Vector& made(const Vector& fetched, std::uint64_t /*to*/) const { return fetched; }
};

/// What changed rows need besides, of every program.
struct RowFactors {
  PlacedFactors factors;
};
/// Rows whose numbers are changed, and rounded to those that are added. Factors are those of a place of the
/// output, so of a row.
template <typename Program, typename Stored, int kEach, bool kAlongAxes>
struct ChangedRows : RowFactors {
  static_assert(sizeof(typename Program::To) == sizeof(Stored));
  using Fetched = Lanes<typename Program::From, kEach>;
  using Vector = NumberVector<Stored, kEach>;
  static constexpr Fetched fetch(const std::byte* in, std::uint64_t from) {
    return reinterpret_cast<const Fetched*>(in)[from];
  }
  constexpr Vector made(const Fetched& fetched, std::uint64_t to) const {
    PlacedProgram<Program, kAlongAxes> program(factors, to * kEach);
    Vector made = {};
    FARO_UNROLL
    for (int e = 0; e < kEach; ++e)
      made.number[e] = std::bit_cast<Stored>(program.changed(fetched.get(e), {}));
    return made;
  }
};

/// kEach: numbers of a thread, whose vectors rows and addresses are multiples of.
template <typename Sum, int kEach, typename Rows = PlainRows<typename Sum::Stored, kEach>>
struct SumRows {
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 1;
  using Stored = typename Sum::Stored;
  using Vector = NumberVector<Stored, kEach>;
  static constexpr std::uint32_t kAhead = 4;  // rows on their way

  PairWords keys;
  PairWords items;
  const std::uint64_t* present = nullptr;  // pairs that there are; null: all
  device::Division64 pairs;                // at most
  device::Division64 vectors;              // of a row
  std::uint64_t outer = 1;
  std::uint64_t in_rows = 0;
  std::uint64_t out_rows = 0;
  const std::byte* in = nullptr;  // null: the items are the numbers themselves
  std::byte* out = nullptr;
  Rows rows = {};

  constexpr std::uint64_t threads() const { return pairs.divisor() * vectors.divisor() * outer; }
  constexpr std::uint64_t blocks() const { return (threads() + kThreads - 1) / kThreads; }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    std::uint64_t part = block.index() * kThreads + block.thread();
    if (part >= threads()) return;
    std::uint64_t pair = vectors.divide(part);
    const std::uint64_t array = outer == 1 ? 0 : pairs.divide(pair);
    const std::uint64_t all = present == nullptr ? pairs.divisor() : *present;
    if (pair >= all) return;
    const std::uint64_t key = keys[pair];
    if (pair > 0 && keys[pair - 1] == key) return;
    const std::uint64_t from = array * in_rows * vectors.divisor() + part;
    const std::uint64_t to = (array * out_rows + key) * vectors.divisor() + part;
    Sum sum[kEach] = {};
    const Vector before = Vector::load(out, to);
    FARO_UNROLL
    for (int e = 0; e < kEach; ++e) sum[e].start(before.number[e]);
    bool more = true;
    for (; more; pair += kAhead) {
      bool here[kAhead] = {};
      decltype(Rows::fetch(in, 0)) fetched[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) here[k] = pair + k < all && keys[pair + k] == key;
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (here[k]) fetched[k] = fetch(from, items[pair + k]);
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        const Vector vector = rows.made(fetched[k], to);
        FARO_UNROLL
        for (int e = 0; e < kEach; ++e) {
          if (here[k]) sum[e].add(vector.number[e]);
        }
      }
      more = here[kAhead - 1];
    }
    Vector result = {};
    FARO_UNROLL
    for (int e = 0; e < kEach; ++e) result.number[e] = sum[e].result();
    result.store(out, to);
  }

 private:
  constexpr auto fetch(std::uint64_t from, std::uint64_t item) const {
    if constexpr (kEach == 1 && std::is_same_v<Rows, PlainRows<Stored, 1>>) {
      if (in == nullptr) return Vector{number_of_bits<Stored>(item)};
    }
    return Rows::fetch(in, from + item * vectors.divisor());
  }
};

}  // namespace faro::kernels
