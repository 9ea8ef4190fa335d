// Elements taken, and numbers added, by entries that were sorted for good. Beside the elements there is
// nothing to look at but words of 32 bits, one an element or one a row:
//
//     keys   0 0 2 3 3 3       TakeSorted      out[i] = in[keys[i]], all but in order on both sides
//     begins 0 2 2 3 6         SumSegments     out[r] += values[begins[r]], then the next, to begins[r + 1]
//
// Entries are not checked again: they were when they were sorted. BeginKeys (route_many_steps.hpp) says where
// those of a row begin.
#pragma once

#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"
#include "engines/cuda/rows/sum_rows_step.hpp"
#include "faro/device/packet.hpp"

namespace faro::cuda {

template <int kBytes>
struct TakeSorted {
  using Element = device::Packet<kBytes>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kEach = 8;  // of a thread, a block apart

  const std::uint32_t* keys = nullptr;
  std::uint64_t count = 0;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;

  constexpr std::uint64_t blocks() const { return (count + kOfBlock - 1) / kOfBlock; }
  constexpr std::uint32_t shared_bytes() const { return 0; }

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

 private:
  static constexpr std::uint64_t kOfBlock = std::uint64_t{kThreads} * kEach;
};

/// A thread has a few rows, a block apart, so that enough of them is on its way.
template <typename Sum>
struct SumSegments {
  using Stored = typename Sum::Stored;
  using Vector = NumberVector<Stored, 1>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kEach = 4;
  static constexpr std::uint32_t kAhead = 2;  // numbers of each row on their way
  static constexpr std::uint64_t kOfBlock = std::uint64_t{kThreads} * kEach;

  const std::uint32_t* begins = nullptr;
  std::uint64_t rows = 0;
  const std::byte* values = nullptr;
  std::byte* out = nullptr;

  constexpr std::uint64_t blocks() const { return (rows + kOfBlock - 1) / kOfBlock; }
  constexpr std::uint32_t shared_bytes() const { return 0; }

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

}  // namespace faro::cuda
