#include "packed/squares.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "packed/squares.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::packed {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The upper elements of rows[i] change places with the lower ones of rows[i + kDistance].
template <int kBits, int kDistance, class D>
HWY_INLINE void ExchangeRows(D d, hn::Vec<D> (&rows)[8 / kBits]) {
  constexpr int kShift = kBits * kDistance;
  constexpr int kMask = kShift == 4 ? 0x0f0f : kShift == 2 ? 0x3333 : 0x5555;
  const auto mask = hn::Set(d, std::uint16_t{kMask});
  for (int i = 0; i < 8 / kBits; ++i) {
    if ((i & kDistance) != 0) continue;
    const auto difference = hn::And(hn::Xor(hn::ShiftRight<kShift>(rows[i]), rows[i + kDistance]), mask);
    rows[i] = hn::Xor(rows[i], hn::ShiftLeft<kShift>(difference));
    rows[i + kDistance] = hn::Xor(rows[i + kDistance], difference);
  }
}

template <int kBits, class D>
HWY_INLINE void TransposeVectors(D d, hn::Vec<D> (&rows)[8 / kBits]) {
  if constexpr (kBits == 1) ExchangeRows<kBits, 4>(d, rows);
  if constexpr (kBits <= 2) ExchangeRows<kBits, 2>(d, rows);
  ExchangeRows<kBits, 1>(d, rows);
}

#if HWY_TARGET != HWY_SCALAR
// A vector at a time; gives the first byte that is left.
template <int kBits, class D>
HWY_INLINE std::uint64_t TransposeBytes(D d, const std::byte* const* rows, std::uint64_t bytes,
                                        std::byte* to) {
  constexpr int kRows = 8 / kBits;
  const hn::Repartition<std::uint8_t, D> d8;
  const std::uint64_t step = hn::Lanes(d8);
  std::uint64_t begin = 0;
  for (; begin + step <= bytes; begin += step) {
    hn::Vec<D> vectors[kRows];
    for (int i = 0; i < kRows; ++i) {
      vectors[i] = hn::BitCast(d, hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(rows[i] + begin)));
    }
    TransposeVectors<kBits>(d, vectors);
    for (int i = 0; i < kRows; ++i) {
      hn::StoreU(hn::BitCast(d8, vectors[i]), d8,
                 reinterpret_cast<std::uint8_t*>(to + static_cast<std::uint64_t>(i) * bytes + begin));
    }
  }
  return begin;
}
#endif

template <int kBits>
void TransposeRows(const std::byte* const* rows, std::uint64_t bytes, std::byte* to) {
  constexpr int kRows = 8 / kBits;
  std::uint64_t at = 0;
#if HWY_TARGET != HWY_SCALAR
  at = TransposeBytes<kBits>(hn::ScalableTag<std::uint16_t>(), rows, bytes, to);
#endif
  for (; at < bytes; ++at) {
    for (int j = 0; j < kRows; ++j) {
      unsigned byte = 0;
      for (int i = 0; i < kRows; ++i) {
        byte |= (static_cast<unsigned>(rows[i][at]) >> (kBits * j) & ((1U << kBits) - 1)) << (kBits * i);
      }
      to[static_cast<std::uint64_t>(j) * bytes + at] = static_cast<std::byte>(byte);
    }
  }
}

void TransposeSquaresOf(const std::byte* const* rows, std::uint64_t bytes, std::uint32_t element_bits,
                        std::byte* to) {
  if (element_bits == 4) TransposeRows<4>(rows, bytes, to);
  if (element_bits == 2) TransposeRows<2>(rows, bytes, to);
  if (element_bits == 1) TransposeRows<1>(rows, bytes, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::packed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::packed {

HWY_EXPORT(TransposeSquaresOf);

void transpose_squares(const std::byte* const* rows, std::uint64_t bytes, std::uint32_t element_bits,
                       std::byte* to) {
  HWY_DYNAMIC_DISPATCH(TransposeSquaresOf)(rows, bytes, element_bits, to);
}

}  // namespace faro::packed
#endif  // HWY_ONCE
