// Transposing the elements of a few registers, for the target being compiled.
#if defined(FARO_REGISTER_TRANSPOSE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARO_REGISTER_TRANSPOSE_INL_HPP
#undef FARO_REGISTER_TRANSPOSE_INL_HPP
#else
#define FARO_REGISTER_TRANSPOSE_INL_HPP
#endif

#include <cstddef>

#include "hwy/highway.h"

#ifndef FARO_UNROLL_REGISTERS
// Loops over registers are unrolled, or the registers are memory.
#if defined(__clang__)
#define FARO_UNROLL_REGISTERS _Pragma("unroll")
#else
#define FARO_UNROLL_REGISTERS _Pragma("GCC unroll 16")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
// Interleaving the first half of the rows with the second, as often as the side has bits, is a transpose:
// each round moves one bit of the row's number into the lane's.
template <class D, std::size_t kSide>
HWY_INLINE void TransposeRegisters(D d, hwy::HWY_NAMESPACE::Vec<D> (&rows)[kSide]) {
  FARO_UNROLL_REGISTERS
  for (std::size_t side = kSide; side > 1; side /= 2) {
    hwy::HWY_NAMESPACE::Vec<D> mixed[kSide];
    FARO_UNROLL_REGISTERS
    for (std::size_t i = 0; i < kSide / 2; ++i) {
      mixed[2 * i] = hwy::HWY_NAMESPACE::InterleaveLower(d, rows[i], rows[i + kSide / 2]);
      mixed[2 * i + 1] = hwy::HWY_NAMESPACE::InterleaveUpper(d, rows[i], rows[i + kSide / 2]);
    }
    FARO_UNROLL_REGISTERS
    for (std::size_t i = 0; i < kSide; ++i) rows[i] = mixed[i];
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#endif  // FARO_REGISTER_TRANSPOSE_INL_HPP
