// Rows sent to their places on a GPU: every row is read once, and written wherever its items go.
//
//     two keys a row      places  3 0  -1 1  2 4       in  a b c       out  a b c a c
//
// A thread reads a vector of a row and writes it up to keys_per_row times. Taking the same rows by their
// numbers reads each as often as it is written, mostly from memory: what is in the cache is gone before the
// next of its copies comes. Rows of the output that nothing goes to are filled with zeros by blocks of their
// own, where they are told of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/packet.hpp"
#include "kernels/row_entries.hpp"

namespace faro::kernels {

/// Vectors of kBytes, of which a row and both addresses are multiples.
template <int kBytes>
struct DispatchRows {
  using Vector = device::Packet<kBytes>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kAhead = 8;        // places on their way
  static constexpr std::uint64_t kFilledRows = 16;  // that a block looks at

  RowEntries places;  // keys_per_row of each row of the input
  RowEntries taken;   // of each row of the output: none where zeros are wanted. No entries: nowhere
  RowFaults* faults = nullptr;
  std::uint64_t keys_per_row = 1;
  device::Division64 vectors;  // of a row
  const std::byte* in = nullptr;
  std::byte* out = nullptr;

  constexpr std::uint64_t in_vectors() const { return places.count / keys_per_row * vectors.divisor(); }
  constexpr std::uint64_t sending_blocks() const { return (in_vectors() + kThreads - 1) / kThreads; }
  constexpr std::uint64_t blocks() const {
    return sending_blocks() + (taken.count + kFilledRows - 1) / kFilledRows;
  }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    if (block.index() < sending_blocks()) {
      send(block);
    } else {
      fill(block, (block.index() - sending_blocks()) * kFilledRows);
    }
  }

 private:
  template <typename Block>
  constexpr void send(Block& block) const {
    const std::uint64_t of_all = block.index() * kThreads + block.thread();
    if (of_all >= in_vectors()) return;
    std::uint64_t part = of_all;
    const std::uint64_t first = vectors.divide(part) * keys_per_row;
    const Vector vector = reinterpret_cast<const Vector*>(in)[of_all];
    auto* const to = reinterpret_cast<Vector*>(out);
    for (std::uint64_t at = 0; at < keys_per_row; at += kAhead) {
      std::uint64_t row[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k)
        row[k] = at + k < keys_per_row ? places.row(first + at + k) : kAbsentRow;
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (row[k] == kWrongRow) note_fault(block, &faults->out_of_range, first + at + k);
        if (is_row(row[k])) to[row[k] * vectors.divisor() + part] = vector;
      }
    }
  }

  template <typename Block>
  constexpr void fill(Block& block, std::uint64_t first) const {
    const std::uint64_t end = first + kFilledRows < taken.count ? first + kFilledRows : taken.count;
    for (std::uint64_t row = first; row < end; ++row) {
      if (taken.row(row) != kAbsentRow) continue;
      auto* const to = reinterpret_cast<Vector*>(out) + row * vectors.divisor();
      for (std::uint64_t v = block.thread(); v < vectors.divisor(); v += kThreads) to[v] = Vector{};
    }
  }
};

}  // namespace faro::kernels
