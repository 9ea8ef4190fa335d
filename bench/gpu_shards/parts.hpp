// Parts of arrays on a GPU: filled by a formula, and looked at by it. Host-only C++; the kernels are in
// parts.cu.
#pragma once

#include <cstdint>

#include "faro/stream.hpp"

#ifdef __CUDACC__
#define FARO_BENCH_BOTH __host__ __device__
#else
#define FARO_BENCH_BOTH
#endif

namespace faro::bench::gpu {

/// An index array of 2^bits entries without structure, which needs no table: the halves of an index are mixed
/// into each other by turns.
struct MixedIndex {
  int bits = 0;

  FARO_BENCH_BOTH std::uint64_t operator()(std::uint64_t x) const {
    const int half = bits / 2;
    std::uint64_t low = x & ((std::uint64_t{1} << half) - 1);
    std::uint64_t high = x >> half;
    for (unsigned turn = 0; turn < 4; turn += 2) {
      low ^= mixed(high, turn) & ((std::uint64_t{1} << half) - 1);
      high ^= mixed(low, turn + 1) & ((std::uint64_t{1} << (bits - half)) - 1);
    }
    return low | high << half;
  }

 private:
  FARO_BENCH_BOTH static std::uint64_t mixed(std::uint64_t x, unsigned turn) {
    x = (x + turn + 1) * 0x9e3779b97f4a7c15ULL;
    return (x ^ x >> 31) * 0xbf58476d1ce4e5b9ULL >> 17;
  }
};

/// Where the element comes from that belongs at an index of the output.
struct SourceOf {
  enum class Kind { affine, transposition, mixed };
  Kind kind = Kind::affine;  // by the map's inverse; of rows x columns; by `mixed` itself
  int bits = 0;
  std::uint64_t column[64] = {};
  std::uint64_t complement = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  MixedIndex mixed = {};
};

/// Queues part[i] = hash(first + i), 4-byte elements.
void fill_part(std::uint32_t* part, std::uint64_t count, std::uint64_t first, Stream stream);

/// Counts into `*wrong`, of the device and zero before, the elements with part[i] other than
/// hash(source(first + i)).
void count_wrong(const std::uint32_t* part, std::uint64_t count, std::uint64_t first, const SourceOf& source,
                 unsigned long long* wrong, Stream stream);

/// Which elements of an input a part of a distribution holds, in its order: along each axis runs of places,
/// and how far those are apart in the whole input.
struct PartPlaces {
  static constexpr int kMostAxes = 4;
  static constexpr int kMostRuns = 3;
  struct Runs {
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
    std::uint64_t count = 0;
    std::uint64_t stride = 0;
  };
  struct Axis {
    std::uint64_t extent = 1;  // of the part
    std::uint64_t weight = 0;  // elements of the whole input from one place to the next
    Runs runs[kMostRuns] = {};
  };
  int axes = 0;
  Axis axis[kMostAxes] = {};
  std::uint64_t first = 0;  // of a list of arrays: the elements before

  FARO_BENCH_BOTH std::uint64_t operator()(std::uint64_t i) const {
    std::uint64_t at = first;
    for (int a = axes; a-- > 0;) {
      std::uint64_t place = i % axis[a].extent;
      i /= axis[a].extent;
      for (const Runs& runs : axis[a].runs) {
        if (place >= runs.length * runs.count) {
          place -= runs.length * runs.count;
          continue;
        }
        at += (runs.begin + place / runs.length * runs.stride + place % runs.length) * axis[a].weight;
        break;
      }
    }
    return at;
  }
};

/// Queues part[i] = hash(places(i)), elements of 2, 4 or 8 bytes.
void fill_places(void* part, std::uint64_t count, int element_bytes, const PartPlaces& places, Stream stream);
/// Counts those that are others into `*wrong`, of the device.
void count_wrong_places(const void* part, std::uint64_t count, int element_bytes, const PartPlaces& places,
                        unsigned long long* wrong, Stream stream);

/// What a sorted array tells of itself and its input, all in one word of the device each, zero before:
/// elements that are less than the one before them, the sum, and the sum of their hashes. (Sums of both sides
/// that agree make a permutation of the input as good as certain.)
struct SortedCounts {
  unsigned long long descents = 0;
  unsigned long long sum = 0;
  unsigned long long hashes = 0;
};
void count_sorted(const std::uint32_t* part, std::uint64_t count, SortedCounts* counts, Stream stream);

}  // namespace faro::bench::gpu
