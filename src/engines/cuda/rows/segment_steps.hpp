// Segments of any lengths taken on a device: their lengths, where they begin in the output, then they
// themselves.
//
//     offsets  0 2 2 5          of the input's segments      from 2 0 2
//     lengths  3 2 3 .          SizeSegments                 in   a b | | c d e
//     begins   0 3 5 8          summed up                    out  c d e a b c d e
//
// A warp has a stretch of the output, whatever the lengths: it looks up which segment that begins in, and
// goes on to those that follow.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"
#include "faro/device/memory.hpp"
#include "kernels/row_entries.hpp"

namespace faro::cuda {

/// What says which segments are taken.
struct TakenSegments {
  kernels::RowEntries from;     // numbers of segments; absent ones are empty
  kernels::RowEntries offsets;  // one more than segments
  std::uint64_t in_elements = 0;

  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool wrong = false;
  };
  constexpr Range range(std::uint64_t i) const {
    const std::uint64_t segment = from.row(i);
    if (segment == kernels::kAbsentRow) return {};
    if (segment == kernels::kWrongRow) return {.wrong = true};
    const std::uint64_t begin = offsets.entry(segment);
    const std::uint64_t end = offsets.entry(segment + 1);
    if (begin > end || end > in_elements) return {.wrong = true};
    return {.begin = begin, .end = end};
  }
};

/// How long each is, and 0 behind the last.
struct SizeSegments : PlainKernel<> {
  TakenSegments taken;
  kernels::RowFaults* faults = nullptr;
  std::uint64_t* sizes = nullptr;  // [from.count + 1]

  constexpr std::uint64_t blocks() const { return blocks_of(taken.from.count + 1); }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t i = thread_of(block);
    if (i > taken.from.count) return;
    std::uint64_t size = 0;
    if (i < taken.from.count) {
      const TakenSegments::Range range = taken.range(i);
      if (range.wrong) kernels::note_fault(block, &faults->out_of_range, i);
      size = range.end - range.begin;
    }
    sizes[i] = size;
  }
};

/// kBytes: a unit, of which elements and addresses are multiples.
template <int kBytes>
struct CopySegments : PlainKernel<4> {
  using Unit = device::Packet<kBytes>;
  static constexpr std::uint64_t kStretch = 2048 / kBytes;  // units of a warp
  static constexpr std::uint32_t kAhead = 4;

  TakenSegments taken;
  kernels::RowFaults* faults = nullptr;
  const std::uint64_t* begins = nullptr;  // [from.count + 1]
  std::uint64_t units = 1;                // of an element
  std::uint64_t out_units = 0;            // that there is room for
  std::int64_t* offsets = nullptr;        // [from.count + 1], unless null: the begins
  const std::byte* in = nullptr;
  std::byte* out = nullptr;

  static constexpr std::uint64_t kWarps = kThreads / kWarpLanes;
  constexpr std::uint64_t blocks() const {
    const std::uint64_t moving = (out_units + kStretch * kWarps - 1) / (kStretch * kWarps);
    const std::uint64_t telling = blocks_of(taken.from.count + 1);
    return moving > telling ? moving : telling;
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t thread = thread_of(block);
    if (offsets != nullptr && thread <= taken.from.count)
      offsets[thread] = static_cast<std::int64_t>(begins[thread]);
    const std::uint64_t there = begins[taken.from.count] * units;
    if (thread == 0 && there > out_units)
      kernels::note_fault(block, &faults->twice, begins[taken.from.count]);
    const std::uint64_t all = there < out_units ? there : out_units;
    const std::uint64_t first = (block.index() * kWarps + block.thread() / kWarpLanes) * kStretch;
    if (first >= all) return;
    const std::uint64_t last = first + kStretch < all ? first + kStretch : all;
    std::uint64_t segment = segment_at(first);
    for (std::uint64_t at = first; at < last;) {
      const std::uint64_t begin = begins[segment] * units;
      const std::uint64_t next = begins[segment + 1] * units;
      if (next <= at) {  // empty ones
        segment = segment_at(at);
        continue;
      }
      const std::uint64_t end = next < last ? next : last;
      const std::uint64_t from = taken.range(segment).begin * units + (at - begin);
      copy(block, from, at, end - at);
      at = end;
      ++segment;
    }
  }

 private:
  // The one that an element of the output is of: the last that begins at or before it.
  constexpr std::uint64_t segment_at(std::uint64_t unit) const {
    std::uint64_t low = 0;                  // begins at or before it
    std::uint64_t high = taken.from.count;  // begins behind it
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (begins[middle] * units <= unit ? low : high) = middle;
    }
    return low;
  }

  template <Block B>
  constexpr void copy(B& block, std::uint64_t from, std::uint64_t to, std::uint64_t number) const {
    const auto* const source = reinterpret_cast<const Unit*>(in) + from;
    auto* const target = reinterpret_cast<Unit*>(out) + to;
    for (std::uint64_t u = lane_of(block); u < number; u += std::uint64_t{kAhead} * kWarpLanes) {
      Unit held[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (u + std::uint64_t{k} * kWarpLanes < number) held[k] = source[u + std::uint64_t{k} * kWarpLanes];
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (u + std::uint64_t{k} * kWarpLanes < number) target[u + std::uint64_t{k} * kWarpLanes] = held[k];
      }
    }
  }
};

}  // namespace faro::cuda
