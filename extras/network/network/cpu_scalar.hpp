// A layer of a tile without registers: elementwise functions, users' operators pair by pair, twiddles that
// are no products, machines without vectors.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "faro/network/plan.hpp"

namespace faro::network::cpu {

/// exp(-2 pi i p / 2^k) for many p: the product of one entry for every 12 bits of p.
class TwiddleTable {
 public:
  /// For k up to `bits`. Cost: 2^12 entries of 16 bytes for every 12 bits.
  explicit TwiddleTable(int bits);

  /// Requires: 0 <= k <= bits, p < 2^k (unchecked).
  std::complex<double> at(std::uint64_t p, int k) const;

 private:
  static constexpr int kDigitBits = 12;
  int bits_;
  std::vector<std::vector<std::complex<double>>> digits_;  // least significant first
};

/// Applies `layer` to the 2^place_bits elements of tile `block`. Bits of a place at and above the tile's
/// count equal tiles one after another. `host` is what a user's operator does here (host_function), null for
/// others. Errors: those of `host`.
void run_scalar(const LocalLayer& layer, const HostFunction* host, const ElementType& element,
                const TwiddleTable& twiddles, f2::Word block, int place_bits, std::byte* buffer);

}  // namespace faro::network::cpu
