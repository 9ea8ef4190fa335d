// One number changed by the obvious steps, which sweeps with arithmetic are held to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "faro/arithmetic.hpp"

namespace faro {

/// Law: the CPU engine's results have the same bits, but those of a NaN.
class NumberOracle {
 public:
  explicit NumberOracle(const Arithmetic& arithmetic);

  /// `scale` and `offset`: which of their values. Any alignment. Requires: an addend where the arithmetic has
  /// one (unchecked).
  void change(const std::byte* in, const std::byte* addend, std::size_t scale, std::size_t offset,
              std::byte* out) const;

  /// Gives a NaN of the output's type, which may have many bits, those that stand for all.
  void settle(std::byte* number) const;

 private:
  Arithmetic arithmetic_;
  Number computed_;
};

}  // namespace faro
