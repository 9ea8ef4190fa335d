// Elements taken, and numbers added, by entries that were sorted for good. Beside the elements there is
// nothing to look at but words of 32 bits, one an element or one a row:
//
//     keys   0 0 2 3 3 3       TakeSorted      out[i] = in[keys[i]], all but in order on both sides
//     begins 0 2 2 3 6         SumSegments     out[r] += values[begins[r]], then the next, to begins[r + 1]
//
// Where what is taken is then permuted by a partition, its first pass takes as well (TakeChunks): a chunk of
// sorted entries needs a stretch of the input, from which a block writes each element where it belongs in the
// chunk. Offsets within a stretch are 16 bits, instead of keys of 32:
//
//     keys    0 0 2 3 | 3 3 4 7       begins 0, 3      last 2 0 3 1 | …      offsets 2 0 3 0 | …
//
// Entries are not checked again: they were when they were sorted. BeginKeys (route_many_steps.hpp) says where
// those of a row begin.
#pragma once

#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"
#include "engines/cuda/rows/sum_rows_step.hpp"
#include "faro/device/memory.hpp"
#include "kernels/partition.hpp"

namespace faro::cuda {

// Elements and their sorted keys, of which each thread has some that lie a block apart.
struct SortedMove : PlainKernel<4> {
  static constexpr std::uint32_t kEach = 8;
  static constexpr std::uint64_t kOfBlock = std::uint64_t{kThreads} * kEach;

  const std::uint32_t* keys = nullptr;
  std::uint64_t count = 0;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;

  constexpr std::uint64_t blocks() const { return (count + kOfBlock - 1) / kOfBlock; }
};

template <int kBytes>
struct TakeSorted : SortedMove {
  using Element = device::Packet<kBytes>;

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t first = block.index() * kOfBlock + block.thread();
    const std::uint32_t* const key = keys + first;
    const auto* const from = reinterpret_cast<const Element*>(in);
    auto* const to = reinterpret_cast<Element*>(out) + first;
    const std::uint64_t left = first < count ? count - first : 0;
    Element element[kEach] = {};
    std::uint32_t row[kEach] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (std::uint64_t{k} * kThreads < left) row[k] = key[std::uint64_t{k} * kThreads];
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (std::uint64_t{k} * kThreads < left) element[k] = from[row[k]];
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (std::uint64_t{k} * kThreads < left) to[std::uint64_t{k} * kThreads] = element[k];
    }
  }
};

/// Elements that are in the order of where they go, put there: out[keys[i]] = in[i].
template <int kBytes>
struct PutSorted : SortedMove {
  using Element = device::Packet<kBytes>;

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t first = block.index() * kOfBlock + block.thread();
    const auto* const from = reinterpret_cast<const Element*>(in);
    auto* const to = reinterpret_cast<Element*>(out);
    Element element[kEach] = {};
    std::uint32_t row[kEach] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t i = first + std::uint64_t{k} * kThreads;
      if (i < count) row[k] = keys[i];
      if (i < count) element[k] = from[i];
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (first + std::uint64_t{k} * kThreads < count) to[row[k]] = element[k];
    }
  }
};

/// Among sorted entries, the least position of one that is named before, by items[i]; kNoFault at first.
struct FindTwice : PlainKernel<> {
  const std::uint32_t* keys = nullptr;
  const std::uint32_t* items = nullptr;
  std::uint64_t count = 0;
  kernels::RowFaults* faults = nullptr;

  constexpr std::uint64_t blocks() const { return blocks_of(count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t i = thread_of(block);
    if (i > 0 && i < count && keys[i] == keys[i - 1])
      kernels::note_fault(block, &faults->twice, std::uint64_t{items[i]});
  }
};

/// Where the stretch of each chunk of sorted entries begins, at a vector of 16 bytes, and how long it is.
struct FindStretches : PlainKernel<> {
  const std::uint32_t* keys = nullptr;
  std::uint64_t count = 0;
  std::uint32_t chunk = 1;          // entries
  std::uint32_t of_vector = 1;      // elements
  std::uint32_t* begins = nullptr;  // [chunks]
  std::uint32_t* lengths = nullptr;
  std::uint64_t* longest = nullptr;  // 0 at first

  constexpr std::uint64_t chunks() const { return (count + chunk - 1) / chunk; }
  constexpr std::uint64_t blocks() const { return blocks_of(chunks()); }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t c = thread_of(block);
    if (c >= chunks()) return;
    const std::uint64_t end = (c + 1) * chunk < count ? (c + 1) * chunk : count;
    const std::uint32_t begin = keys[c * chunk] / of_vector * of_vector;
    begins[c] = begin;
    lengths[c] = keys[end - 1] - begin + 1;
    block.atomic_max(longest, std::uint64_t{lengths[c]});
  }
};

/// Places within chunks become offsets within their stretches.
struct OffsetPlaces : PlainKernel<> {
  static constexpr std::uint32_t kEach = 4;

  const std::uint32_t* keys = nullptr;
  std::uint64_t count = 0;
  std::uint32_t chunk = 1;
  const std::uint32_t* begins = nullptr;
  std::uint16_t* places = nullptr;  // [count]: out[i] of a chunk is its element places[i]

  constexpr std::uint64_t blocks() const { return (count + kOfBlock - 1) / kOfBlock; }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t i = block.index() * kOfBlock + std::uint64_t{k} * kThreads + block.thread();
      if (i >= count) return;
      const std::uint64_t c = i / chunk;
      places[i] = static_cast<std::uint16_t>(keys[c * chunk + places[i]] - begins[c]);
    }
  }

 private:
  static constexpr std::uint64_t kOfBlock = std::uint64_t{kThreads} * kEach;
};

/// Vectors of 16 bytes where the arrays are aligned to them, else elements.
template <int kBytes>
struct TakeChunks {
  using Element = device::Packet<kBytes>;
  using Vector = device::Packet<16>;
  using Offsets = device::Packet<2 * (16 / kBytes)>;
  static constexpr std::uint32_t kThreads = 512;
  static constexpr int kMinBlocks = 2;
  static constexpr std::uint32_t kOfVector = 16 / kBytes;
  static constexpr std::uint32_t kAhead = 4;  // vectors of a thread on their way
  /// Longer stretches leave a multiprocessor too few blocks.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{75} << 10;

  std::uint64_t count = 0;     // of what is taken
  std::uint64_t in_count = 0;  // elements of the input
  std::uint32_t chunk = 1;     // a multiple of a vector's elements
  std::uint32_t longest = 1;   // of all stretches
  const std::uint32_t* begins = nullptr;
  const std::uint32_t* lengths = nullptr;
  const std::uint16_t* offsets = nullptr;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;

  constexpr std::uint64_t blocks() const { return (count + chunk - 1) / chunk; }
  constexpr std::uint32_t shared_bytes() const { return (longest + kOfVector - 1) / kOfVector * 16; }

  template <Block B>
  constexpr void operator()(B& block) const {
    auto* const stretch = reinterpret_cast<Element*>(block.shared());
    load(block, stretch);
    block.barrier();
    store(block, stretch);
  }

 private:
  static constexpr bool is_aligned(const std::byte* array) {
    return reinterpret_cast<std::uintptr_t>(array) % 16 == 0;
  }

  template <Block B>
  constexpr void load(B& block, Element* stretch) const {
    const std::uint64_t begin = begins[block.index()];
    const std::uint32_t length = lengths[block.index()];
    // The last vector may reach past the input.
    const std::uint64_t left = in_count - begin;
    const std::uint32_t wanted = (length + kOfVector - 1) / kOfVector;
    const bool fits = wanted * std::uint64_t{kOfVector} <= left;
    const std::uint32_t whole = !is_aligned(in) ? 0 : fits ? wanted : wanted - 1;
    const auto* const from = reinterpret_cast<const Vector*>(in) + begin / kOfVector;
    auto* const to = reinterpret_cast<Vector*>(block.shared());
    for (std::uint32_t first = block.thread(); first < whole; first += kAhead * kThreads) {
      Vector held[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (first + k * kThreads < whole) held[k] = from[first + k * kThreads];
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (first + k * kThreads < whole) to[first + k * kThreads] = held[k];
      }
    }
    for (std::uint32_t e = whole * kOfVector + block.thread(); e < length; e += kThreads)
      stretch[e] = reinterpret_cast<const Element*>(in)[begin + e];
  }

  template <Block B>
  constexpr void store(B& block, const Element* stretch) const {
    const std::uint64_t first = block.index() * chunk;
    const std::uint64_t left = count - first;
    const auto elements = static_cast<std::uint32_t>(left < chunk ? left : chunk);
    const std::uint32_t vectors = is_aligned(out) ? elements / kOfVector : 0;
    const auto* const from = reinterpret_cast<const Offsets*>(offsets + first);
    auto* const to = reinterpret_cast<Vector*>(out + first * kBytes);
    for (std::uint32_t v = block.thread(); v < vectors; v += kAhead * kThreads) {
      Offsets offset[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (v + k * kThreads < vectors) offset[k] = from[v + k * kThreads];
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (v + k * kThreads >= vectors) continue;
        Vector vector = {};
        FARO_UNROLL
        for (std::uint32_t e = 0; e < kOfVector; ++e)
          device::insert(vector, static_cast<int>(e),
                         stretch[kernels::detail::extract<2>(offset[k], static_cast<int>(e)).unit[0]]);
        to[v + k * kThreads] = vector;
      }
    }
    for (std::uint32_t e = vectors * kOfVector + block.thread(); e < elements; e += kThreads)
      reinterpret_cast<Element*>(out)[first + e] = stretch[offsets[first + e]];
  }
};

/// A thread has a few rows, a block apart, so that enough of them is on its way.
template <typename Sum>
struct SumSegments : PlainKernel<4> {
  using Stored = typename Sum::Stored;
  using Vector = NumberVector<Stored, 1>;
  static constexpr std::uint32_t kEach = 4;
  static constexpr std::uint32_t kAhead = 2;  // numbers of each row on their way
  static constexpr std::uint64_t kOfBlock = std::uint64_t{kThreads} * kEach;

  const std::uint32_t* begins = nullptr;
  std::uint64_t rows = 0;
  const std::byte* values = nullptr;
  std::byte* out = nullptr;

  constexpr std::uint64_t blocks() const { return (rows + kOfBlock - 1) / kOfBlock; }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t first = block.index() * kOfBlock + block.thread();
    std::uint32_t at[kEach] = {};
    std::uint32_t end[kEach] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t row = first + std::uint64_t{k} * kThreads;
      if (row >= rows) continue;
      at[k] = begins[row];
      end[k] = begins[row + 1];
    }
    Vector before[kEach] = {};
    Vector value[kEach][kAhead] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (at[k] < end[k]) before[k] = Vector::load(out, first + std::uint64_t{k} * kThreads);
      load(at[k], end[k], value[k]);
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (at[k] >= end[k]) continue;
      Sum sum = {};
      sum.start(before[k].number[0]);
      for (;;) {
        FARO_UNROLL
        for (std::uint32_t v = 0; v < kAhead; ++v) {
          if (v < end[k] - at[k]) sum.add(value[k][v].number[0]);
        }
        if (end[k] - at[k] <= kAhead) break;
        at[k] += kAhead;
        load(at[k], end[k], value[k]);
      }
      const Vector result{sum.result()};
      result.store(out, first + std::uint64_t{k} * kThreads);
    }
  }

 private:
  constexpr void load(std::uint32_t at, std::uint32_t end, Vector (&value)[kAhead]) const {
    FARO_UNROLL
    for (std::uint32_t v = 0; v < kAhead; ++v) {
      if (v < end - at) value[v] = Vector::load(values, std::uint64_t{at} + v);
    }
  }
};

/// The same of rows that many numbers go to: a block has as many rows as threads, and reads their numbers,
/// which lie side by side, in order through shared memory.
template <typename Sum>
struct SumLongSegments {
  using Stored = typename Sum::Stored;
  using Vector = NumberVector<Stored, 1>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kPiece = 4096;  // numbers at a time
  static constexpr std::uint32_t kAhead = 8;
  /// Numbers of a row on the mean, from which on this is faster.
  static constexpr std::uint64_t kLeastLength = 8;

  const std::uint32_t* begins = nullptr;
  std::uint64_t rows = 0;
  const std::byte* values = nullptr;
  std::byte* out = nullptr;

  constexpr std::uint64_t blocks() const { return (rows + kThreads - 1) / kThreads; }
  constexpr std::uint32_t shared_bytes() const { return kPiece * sizeof(Stored); }

  template <Block B>
  constexpr void operator()(B& block) const {
    auto* const piece = reinterpret_cast<Vector*>(block.shared());
    const std::uint64_t first_row = block.index() * kThreads;
    const std::uint64_t row = first_row + block.thread();
    const std::uint32_t last = begins[first_row + kThreads < rows ? first_row + kThreads : rows];
    const std::uint32_t begin = row < rows ? begins[row] : last;
    const std::uint32_t end = row < rows ? begins[row + 1] : last;
    Sum sum = {};
    if (begin < end) sum.start(Vector::load(out, row).number[0]);
    for (std::uint64_t at = begins[first_row]; at < last; at += kPiece) {
      const auto length = static_cast<std::uint32_t>(last - at < kPiece ? last - at : kPiece);
      for (std::uint32_t i = block.thread(); i < length; i += kAhead * kThreads) {
        Vector held[kAhead] = {};
        FARO_UNROLL
        for (std::uint32_t k = 0; k < kAhead; ++k) {
          if (i + k * kThreads < length) held[k] = Vector::load(values, at + i + std::uint64_t{k} * kThreads);
        }
        FARO_UNROLL
        for (std::uint32_t k = 0; k < kAhead; ++k) {
          if (i + k * kThreads < length) piece[i + k * kThreads] = held[k];
        }
      }
      block.barrier();
      const auto from = static_cast<std::uint32_t>(begin > at ? begin - at : 0);
      const std::uint64_t to = end > at ? end - at : 0;
      for (std::uint32_t i = from; i < (to < length ? to : length); ++i) sum.add(piece[i].number[0]);
      block.barrier();
    }
    if (begin >= end) return;
    const Vector result{sum.result()};
    result.store(out, row);
  }
};

}  // namespace faro::cuda
