// From counts to time: what a short measurement of a GPU gives, and how a pass's counted sectors and
// wavefronts become microseconds.
//
//     microseconds = the longer of    fixed + bytes of all sectors / rate      of device memory
//                                     wavefronts / rate                        of shared memory
//
// A pass that moves whole sectors without bank conflicts takes what device memory takes, so one line through
// two sizes says it all; a kernel whose shared memory collides crosses over to the second term. Rates differ
// a little between kernels (a tile's rows are scattered, a copy's are not), hence one rate for each kind.
//
// Example: an H200 moves 2 x 4 GiB through its 4-byte tiles at 4,000 GB/s: 2.15 ms.
//
// It holds where arrays are much larger than the device's cache, from 256 MiB on; smaller ones are faster
// than it says.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace faro {

/// Time of moving bytes: a line.
struct TransferRate {
  double fixed_us = 0;  // whatever the size: filling and draining the device
  double gb_per_s = 0;  // 1e9 bytes a second, read and written; 0: not known

  double microseconds(double bytes) const { return fixed_us + bytes / (gb_per_s * 1e3); }
};

/// Predicted times hold for arrays from this size on.
inline constexpr std::uint64_t kPredictableBytes = std::uint64_t{256} << 20;

struct Calibration {
  static constexpr int kWidths = 5;  // units of 1, 2, 4, 8 and 16 bytes

  std::string source;                       // whose rates, in words: "NVIDIA H200, measured just now"
  TransferRate copy;                        // the driver's copy
  TransferRate vectors;                     // passes of kind segments and direct
  std::array<TransferRate, kWidths> tiles;  // passes of kind tile, by log2 of the unit's bytes
  double shared_wavefronts_per_us = 0;      // of all multiprocessors together; 0: not known

  /// The line through two measurements. Requires: large.bytes > small.bytes (unchecked).
  struct Sample {
    double bytes = 0;
    double microseconds = 0;
  };
  static TransferRate line(const Sample& small, const Sample& large) {
    const double slope = (large.microseconds - small.microseconds) / (large.bytes - small.bytes);
    const double fixed = small.microseconds - slope * small.bytes;
    // Noise may turn the line down; then it goes through the origin and the large sample.
    if (slope <= 0 || fixed < 0) return {.fixed_us = 0, .gb_per_s = large.bytes / large.microseconds / 1e3};
    return {.fixed_us = fixed, .gb_per_s = 1e-3 / slope};
  }
};

}  // namespace faro
