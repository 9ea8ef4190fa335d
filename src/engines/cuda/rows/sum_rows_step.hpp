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

#include "engines/cuda/kernels/device_block.hpp"
#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/row_entries.hpp"
#include "kernels/row_numbers.hpp"
#include "kernels/row_parts.hpp"

namespace faro::cuda {

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

/// kEach: numbers of a thread, whose vectors rows and addresses are multiples of.
template <typename Sum, int kEach>
struct SumRows : PlainKernel<> {
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

  constexpr std::uint64_t threads() const { return pairs.divisor() * vectors.divisor() * outer; }
  constexpr std::uint64_t blocks() const { return blocks_of(threads()); }

  template <Block B>
  constexpr void operator()(B& block) const {
    std::uint64_t part = thread_of(block);
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
      Vector vector[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) here[k] = pair + k < all && keys[pair + k] == key;
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (here[k]) vector[k] = vector_of(from, items[pair + k]);
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        FARO_UNROLL
        for (int e = 0; e < kEach; ++e) {
          if (here[k]) sum[e].add(vector[k].number[e]);
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
  constexpr Vector vector_of(std::uint64_t from, std::uint64_t item) const {
    if constexpr (kEach == 1) {
      if (in == nullptr) return {number_of_bits<Stored>(item)};
    }
    return Vector::load(in, from + item * vectors.divisor());
  }
};

/// out[t] = sum over j of weight[t k + j] in[places[t k + j]], in the order of j, each product rounded. A
/// thread has a vector of a row of the output; a block looks up the places and weights of its rows.
template <typename T, typename Real, int kEach>
struct CombineRows {
  using Vector = NumberVector<T, kEach>;
  static constexpr std::uint32_t kThreads = 128;
  static constexpr int kMinBlocks = sizeof(Real) == sizeof(float) ? 6 : 2;
  static constexpr std::uint32_t kAhead = sizeof(Real) == sizeof(float) ? 8 : 4;  // items on their way

  kernels::RowEntries places;
  kernels::RowFaults* faults = nullptr;
  std::uint64_t keys_per_row = 1;
  const float* weights = nullptr;  // null: all 1
  kernels::RowParts<kThreads> parts;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;

  constexpr std::uint64_t rows() const { return places.count / keys_per_row; }
  constexpr std::uint64_t blocks() const { return parts.blocks(rows()); }
  constexpr std::uint32_t shared_bytes() const { return parts.rows_of_block() * kAhead * (8 + 4); }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint32_t looked_up = parts.rows_of_block() * kAhead;
    auto* const starts = reinterpret_cast<std::uint64_t*>(block.shared());  // of rows, in vectors
    auto* const factors = reinterpret_cast<float*>(starts + looked_up);
    const auto at = parts.place(block.index(), block.thread(), rows());
    Real sum[kEach] = {};
    for (std::uint64_t key = 0; key < keys_per_row; key += kAhead) {
      if (key > 0) block.barrier();
      for (std::uint32_t e = block.thread(); e < looked_up; e += kThreads) {
        const std::uint64_t row = at.first_row + e / kAhead;
        starts[e] = start_of(block, row, key + e % kAhead);
        if (starts[e] != kernels::kAbsentRow)
          factors[e] = weights == nullptr ? 1 : weights[row * keys_per_row + key + e % kAhead];
      }
      block.barrier();
      if (!at.there) continue;
      std::uint64_t start[kAhead] = {};
      Vector vector[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        start[k] = starts[at.row * kAhead + k];
        if (start[k] != kernels::kAbsentRow) vector[k] = Vector::load(in, start[k] + at.vector);
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (start[k] == kernels::kAbsentRow) continue;
        const auto factor = static_cast<Real>(factors[at.row * kAhead + k]);
        FARO_UNROLL
        for (int e = 0; e < kEach; ++e) {
          const auto x = static_cast<Real>(kernels::widened(vector[k].number[e]));
          sum[e] += kernels::rounded_product(factor, x);
        }
      }
    }
    if (!at.there) return;
    Vector result = {};
    FARO_UNROLL
    for (int e = 0; e < kEach; ++e) kernels::round_to(sum[e], result.number[e]);
    result.store(out, (at.first_row + at.row) * parts.vectors() + at.vector);
  }

 private:
  template <Block B>
  constexpr std::uint64_t start_of(B& block, std::uint64_t to, std::uint64_t key) const {
    if (to >= rows() || key >= keys_per_row) return kernels::kAbsentRow;
    const std::uint64_t item = to * keys_per_row + key;
    const std::uint64_t row = places.row(item);
    if (row == kernels::kWrongRow) kernels::note_fault(block, &faults->out_of_range, item);
    return kernels::is_row(row) ? row * parts.vectors() : kernels::kAbsentRow;
  }
};

}  // namespace faro::cuda
