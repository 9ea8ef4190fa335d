// Rows that are combined: each of the output is the sum of some of the input's, weighted. Those that are
// added up are in kernels/sum_rows.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"
#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/row_entries.hpp"
#include "kernels/row_numbers.hpp"
#include "kernels/row_parts.hpp"
#include "kernels/sum_rows.hpp"

namespace faro::cuda {

using kernels::number_of_bits;
using kernels::NumberVector;
using kernels::PairWords;
using kernels::SumRows;

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
