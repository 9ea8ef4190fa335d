#include "network/sizes.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "faro/error.hpp"

namespace faro::network::detail {
namespace {

// A tile in fast memory. On a GPU small ones win (bench/results/, networks): 2^12 elements, up to 32 KiB, so
// that several blocks share a multiprocessor and some compute while others wait; larger tiles save passes and
// lose more. On a CPU 256 KiB are a share of a core's second cache.
constexpr int kCudaTileBits = 12;
constexpr int kCudaTileBytesBits = 15;
constexpr int kCpuTileBytesBits = 18;

// What a pass over segments of 2^bytes_bits bytes costs, the longest being 1. Passes of networks compute as
// long as they wait for memory, so shorter segments cost less than they do a copy: measured on one H200 with
// sorts of 2^28 keys.
struct SegmentCost {
  int bytes_bits;
  double cost;
};
constexpr std::array<SegmentCost, 3> kSegmentCosts{{{8, 1.0}, {7, 1.04}, {6, 1.25}}};
void check(const Sizes& wanted, int n) {
  if (wanted.tile_bits < 0 || wanted.tile_bits > f2::kMaxDimension) {
    fail(ErrorCode::value, "plan network",
         std::string("tiles") + " of 2^" + std::to_string(wanted.tile_bits) + " elements",
         "2^1 to 2^" + std::to_string(f2::kMaxDimension), "0 leaves the size to the planner");
  }
  if (wanted.segment_bits < 0)
    fail(ErrorCode::value, "plan network",
         std::string("segments") + " of 2^" + std::to_string(wanted.segment_bits) + " elements",
         "2^1 or more", "0 leaves the size to the planner");
  if (wanted.tile_bits != 0 && wanted.tile_bits < n && wanted.segment_bits >= wanted.tile_bits) {
    fail(ErrorCode::value, "plan network",
         std::string("segments") + " of 2^" + std::to_string(wanted.segment_bits) + " elements",
         "less than a tile, which has 2^" + std::to_string(wanted.tile_bits) + " of the array's 2^" +
             std::to_string(n),
         "0 leaves the size to the planner");
  }
}

int default_tile_bits(const Sizes& wanted, std::uint64_t element_bytes, Engine engine) {
  const int width_bits = f2::trailing_bit(element_bytes);
  const int bits = engine == Engine::cuda ? std::min(kCudaTileBits, kCudaTileBytesBits - width_bits)
                                          : kCpuTileBytesBits - width_bits;
  return std::max({bits, wanted.segment_bits + 1, 1});
}

}  // namespace

Sizes choose_sizes(const Grouping& grouping, const Sizes& wanted, std::uint64_t element_bytes,
                   Engine engine) {
  const int n = grouping.bits;
  check(wanted, n);
  const int m =
      std::min(n, wanted.tile_bits > 0 ? wanted.tile_bits : default_tile_bits(wanted, element_bytes, engine));
  if (wanted.segment_bits > 0) return {.tile_bits = m, .segment_bits = std::min(n, wanted.segment_bits)};

  Grouping trial = grouping;
  trial.tile_bits = m;
  Sizes best{.tile_bits = m, .segment_bits = 0};
  double least = 0;
  for (const SegmentCost& segment : kSegmentCosts) {
    const int longest = m == n ? n : m - 1;
    trial.segment_bits = std::clamp(segment.bytes_bits - f2::trailing_bit(element_bytes), 0, longest);
    const double cost = segment.cost * static_cast<double>(fewest_passes(trial));
    if (least == 0 || cost < least) {
      least = cost;
      best.segment_bits = trial.segment_bits;
    }
  }
  return best;
}

}  // namespace faro::network::detail
