// The factors of numbers whose places in the output are known one by one, as tiles of affine maps
// (value_tile.hpp) and rows (row_values.hpp) know them; boxes of a view know more (value_arrays.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

#include "faro/device/division.hpp"
#include "kernels/number_program.hpp"
#include "kernels/value_arrays.hpp"

namespace faro::kernels {

/// One factor, or those along an axis of the output.
struct PlacedFactor {
  ValueFactor one;
  const void* table = nullptr;  // the axis's, or null
  device::Division64 inner;     // numbers of the output from one index along the axis to the next
  device::Division64 extent;    // of the axis
};

struct PlacedFactors {
  PlacedFactor scale;
  PlacedFactor offset;
  ValueFactor beta;
};

namespace detail {

/// Of numbers that follow one another in the output.
template <typename Computed, bool kAlongAxes>
class FactorWalk {
 public:
  constexpr FactorWalk(const PlacedFactor& of, std::uint64_t number) : of_(of) {
    if constexpr (kAlongAxes) {
      if (of.table == nullptr) return;
      index_ = of.inner.divide(number);
      within_ = number;
      static_cast<void>(of.extent.divide(index_));
    }
  }
  constexpr Computed next() {
    if constexpr (kAlongAxes) {
      if (of_.table != nullptr) {
        const Computed factor = static_cast<const Computed*>(of_.table)[index_];
        if (++within_ == of_.inner.divisor()) {
          within_ = 0;
          if (++index_ == of_.extent.divisor()) index_ = 0;
        }
        return factor;
      }
    }
    return *reinterpret_cast<const Computed*>(of_.one.bytes);
  }

 private:
  const PlacedFactor& of_;
  std::uint64_t index_ = 0;
  std::uint64_t within_ = 0;
};

}  // namespace detail

/// A program on numbers that follow one another in the output, from `number` on. `kAlongAxes`: factors may
/// differ along an axis.
template <typename Program, bool kAlongAxes>
class PlacedProgram {
  using Computed = typename Program::Computed;

 public:
  constexpr PlacedProgram(const PlacedFactors& of, std::uint64_t number)
      : scale_(of.scale, number), offset_(of.offset, number), beta_(of.beta) {}

  constexpr typename Program::To changed(typename Program::From number,
                                         [[maybe_unused]] typename Program::Addend other) {
    Computed x = Program::widened(number);
    if constexpr (Program::kHasScale) x = product(x, scale_.next());
    if constexpr (Program::kHasOffset) x = sum(x, offset_.next());
    if constexpr (Program::kHasAddend)
      x = sum(x, product(Program::widened_addend(other), *reinterpret_cast<const Computed*>(beta_.bytes)));
    return Program::rounded(x);
  }

 private:
  detail::FactorWalk<Computed, kAlongAxes && Program::kHasScale> scale_;
  detail::FactorWalk<Computed, kAlongAxes && Program::kHasOffset> offset_;
  const ValueFactor& beta_;
};

}  // namespace faro::kernels
