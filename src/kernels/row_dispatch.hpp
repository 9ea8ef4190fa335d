// Rows sent to their places on a GPU: every row is read once, and written wherever its items go.
//
//     two keys a row      places  3 0  -1 1  2 4       in  a b c       out  a b c a c
//
// A thread reads a vector of a row and writes it up to keys_per_row times (row_parts.hpp has which). Taking
// the same rows by their numbers reads each as often as it is written, mostly from memory: what is in the
// cache is gone before the next of its copies comes. Rows of the output that nothing goes to are filled with
// zeros by blocks of their own, where they are told of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/row_entries.hpp"
#include "kernels/row_parts.hpp"

namespace faro::kernels {

/// Vectors of kBytes, of which a row and both addresses are multiples.
template <int kBytes>
struct DispatchRows {
  using Vector = device::Packet<kBytes>;
  static constexpr std::uint32_t kThreads = 128;
  static constexpr int kMinBlocks = 8;
  static constexpr bool kFollows = true;      // rows are on their way before their places are known
  static constexpr std::uint32_t kAhead = 8;  // places of a row that are looked up at a time
  static constexpr std::uint64_t kFilledRows = kThreads;  // that a block looks at, a thread each
  /// Asked for besides what is used, so that few blocks run on a multiprocessor: the fewer rows are written
  /// at a time, the better memory follows. On an H200 0.157 ms by 16 blocks of them, and 0.140 by 5 to 11.
  static constexpr std::uint32_t kSharedBytes = 36 << 10;

  RowEntries places;  // keys_per_row of each row of the input
  RowEntries taken;   // of each row of the output: none where zeros are wanted. No entries: nowhere
  RowFaults* faults = nullptr;
  std::uint64_t keys_per_row = 1;
  RowParts<kThreads> parts;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  bool streams = false;  // no cache is to keep what is written

  constexpr std::uint64_t in_rows() const { return places.count / keys_per_row; }
  constexpr std::uint64_t sending_blocks() const { return parts.blocks(in_rows()); }
  constexpr std::uint64_t blocks() const {
    return sending_blocks() + (taken.count + kFilledRows - 1) / kFilledRows;
  }
  constexpr std::uint32_t shared_bytes() const {
    const std::uint32_t used = parts.rows_of_block() * kAhead * 8;
    return used < kSharedBytes ? kSharedBytes : used;
  }

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
    auto* const starts = reinterpret_cast<std::uint64_t*>(block.shared());  // of rows, in vectors
    const auto at = parts.place(block.index(), block.thread(), in_rows());
    Vector vector = {};
    if (at.there)
      vector = reinterpret_cast<const Vector*>(in)[(at.first_row + at.row) * parts.vectors() + at.vector];
    follow(block);
    auto* const to = reinterpret_cast<Vector*>(out);
    for (std::uint64_t key = 0; key < keys_per_row; key += kAhead) {
      if (key > 0) block.barrier();
      for (std::uint32_t e = block.thread(); e < parts.rows_of_block() * kAhead; e += kThreads)
        starts[e] = start_of(block, at.first_row + e / kAhead, key + e % kAhead);
      block.barrier();
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (!at.there) continue;
        const std::uint64_t start = starts[at.row * kAhead + k];
        if (start != kAbsentRow) put(block, to + start + at.vector, vector);
      }
    }
  }

  template <typename Block>
  constexpr void put(Block& block, Vector* to, const Vector& vector) const {
    if constexpr (requires { block.stream(to, vector); }) {
      if (streams) return block.stream(to, vector);
    }
    *to = vector;
  }

  template <typename Block>
  static constexpr void follow(Block& block) {
    if constexpr (requires { block.follow(); }) block.follow();
  }

  template <typename Block>
  constexpr std::uint64_t start_of(Block& block, std::uint64_t from, std::uint64_t key) const {
    if (from >= in_rows() || key >= keys_per_row) return kAbsentRow;
    const std::uint64_t item = from * keys_per_row + key;
    const std::uint64_t row = places.row(item);
    if (row == kWrongRow) note_fault(block, &faults->out_of_range, item);
    return is_row(row) ? row * parts.vectors() : kAbsentRow;
  }

  template <typename Block>
  constexpr void fill(Block& block, std::uint64_t first) const {
    follow(block);
    const std::uint64_t end = first + kFilledRows < taken.count ? first + kFilledRows : taken.count;
    constexpr std::uint32_t lanes = 32;
    auto* const absent = reinterpret_cast<std::uint32_t*>(block.shared());  // a bit a row
    const std::uint64_t own = first + block.thread();
    const std::uint32_t bits = block.ballot(own < end && taken.row(own) == kAbsentRow);
    if (block.thread() % lanes == 0) absent[block.thread() / lanes] = bits;
    block.barrier();
    for (std::uint32_t warp = 0; warp < kThreads / lanes; ++warp) {
      std::uint64_t row = first + std::uint64_t{warp} * lanes;
      for (std::uint32_t left = absent[warp]; left != 0; left >>= 1, ++row) {
        if ((left & 1) == 0) continue;
        auto* const to = reinterpret_cast<Vector*>(out) + row * parts.vectors();
        for (std::uint64_t v = block.thread(); v < parts.vectors(); v += kThreads) to[v] = Vector{};
      }
    }
  }
};

}  // namespace faro::kernels
