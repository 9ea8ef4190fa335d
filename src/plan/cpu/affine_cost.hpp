// What an affine pass takes on a CPU: by measured curves of the engine's own tiles.
//
// Four things tell tiles from one another, beside the width of their units and the array's size:
//
//     exchanged    bits of an element's place in a line of 64 bytes that come from elsewhere: what registers
//                  have to exchange
//     crowding     how far the tile's lines share sets of a cache, in the source and in the target: rows that
//                  lie whole powers of two apart
//     streamed     whether lines are written past the caches; if not,
//     apart        how many of the tiles that follow one another lie side by side on one side only: lines that
//                  a cache fetches beside those that it was asked for are then used late, or never
//
//     bit_reversal(24), 4 bytes     all 4 bits exchanged, rows 2 MiB apart on both sides, tiles apart
//     random_bmmc(24, 1)            all 4 bits exchanged, rows side by side, tiles apart
//     transpose(4, 2^22)            2 bits exchanged, rows of the source 2^24 bytes apart, tiles side by side
//
// `faro tune` measures a tile of every width, exchange and crowding (none, source, target, both), by one
// thread; what lies between is taken from these in proportion.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "faro/problem/pass.hpp"
#include "faro/problem/target.hpp"

namespace faro::detail {

/// For tile curves, IndexCurve::run_bits: which sides are crowded; more by kApart where tiles are apart.
enum class Crowded : std::uint8_t { none, source, target, both };
constexpr int kApart = 4;

struct CpuTileFacts {
  int exchanged = 0;
  double source_crowding = 0;  // 0: every line in another set; 1: all in one
  double target_crowding = 0;
  double apart = 0;  // 0: what follows lies beside on both sides; 1: always on one only
};
CpuTileFacts tile_facts_on_cpu(const Pass& pass, std::uint64_t unit_bytes);

/// A pass of kinds tile and segments, out of place.
struct AffineWork {
  const Pass& pass;
  std::uint64_t unit_bytes = 1;
  bool streamed = false;
};

/// Microseconds by one thread; nothing without curves of that kind.
std::optional<double> affine_thread_us(const IndexCalibration& curves, const AffineWork& work);

/// By so many: no less than a copy of as many bytes takes them.
std::optional<double> affine_us(const IndexCalibration& curves, const AffineWork& work, int threads);

/// Up to arrays of how many bytes long segments are written through the caches as fast as past them; nothing
/// where the curves do not tell.
std::optional<std::uint64_t> cached_bytes_by(const IndexCalibration& curves);

/// A tile that `faro tune` measures.
struct TileSample {
  int unit_bits = 2;
  int exchanged = 1;  // at most all bits of a place in a line
  Crowded crowded = Crowded::none;
  int tile_bits = 12;  // log2 of the most bytes of a tile
  bool apart = false;
};

/// A map of 2^bits units with such tiles: the lowest index bits change places with others, near or far; those
/// between stay, or are reversed where tiles are apart.
/// Nothing where the array is too small for it.
std::optional<Affine> tile_sample(int bits, const TileSample& sample);

}  // namespace faro::detail
