// transpose_plane(): squares in registers, and what is left at the far ends element by element.
#include "engines/cpu/element_width.hpp"
#include "engines/cpu/plane_transpose.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/plane_squares.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "engines/cpu/register_transpose-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Squares of as many elements as a register holds; how many rows and columns were done that way.
struct Done {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
Done TransposeSquares(std::uint64_t /*element_bytes*/, const PlaneIn& /*from*/, std::uint64_t /*rows*/,
                      std::uint64_t /*columns*/, const PlaneOut& /*to*/) {
  return {};
}
#else

template <typename Lane>
HWY_INLINE void TransposeSquare(const PlaneIn& from, const PlaneOut& to) {
  constexpr std::size_t kSide = 16 / sizeof(Lane);
  const hn::FixedTag<Lane, kSide> d;
  const hn::FixedTag<std::uint8_t, 16> bytes;
  hn::Vec<decltype(d)> rows[kSide];
  FARO_UNROLL_REGISTERS
  for (std::size_t i = 0; i < kSide; ++i) {
    rows[i] = hn::BitCast(
        d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from.data + i * from.stride_bytes)));
  }
  TransposeRegisters(d, rows);
  FARO_UNROLL_REGISTERS
  for (std::size_t i = 0; i < kSide; ++i) {
    hn::StoreU(hn::BitCast(bytes, rows[i]), bytes,
               reinterpret_cast<std::uint8_t*>(to.data + i * to.stride_bytes));
  }
}

template <typename Lane>
Done TransposeLanes(const PlaneIn& from, std::uint64_t rows, std::uint64_t columns, const PlaneOut& to) {
  constexpr std::uint64_t kSide = 16 / sizeof(Lane);
  const Done done{.rows = rows / kSide * kSide, .columns = columns / kSide * kSide};
  for (std::uint64_t c = 0; c < done.columns; c += kSide) {
    for (std::uint64_t r = 0; r < done.rows; r += kSide) {
      TransposeSquare<Lane>({from.data + r * from.stride_bytes + c * sizeof(Lane), from.stride_bytes},
                            {to.data + c * to.stride_bytes + r * sizeof(Lane), to.stride_bytes});
    }
  }
  return done;
}

Done TransposeSquares(std::uint64_t element_bytes, const PlaneIn& from, std::uint64_t rows,
                      std::uint64_t columns, const PlaneOut& to) {
  switch (element_bytes) {
    case 1:
      return TransposeLanes<std::uint8_t>(from, rows, columns, to);
    case 2:
      return TransposeLanes<std::uint16_t>(from, rows, columns, to);
    case 4:
      return TransposeLanes<std::uint32_t>(from, rows, columns, to);
    case 8:
      return TransposeLanes<std::uint64_t>(from, rows, columns, to);
    default:
      return {};
  }
}
#endif

void TransposeInRegisters(std::uint64_t element_bytes, const PlaneIn& from, std::uint64_t rows,
                          std::uint64_t columns, const PlaneOut& to, std::uint64_t* done_rows,
                          std::uint64_t* done_columns) {
  const Done done = TransposeSquares(element_bytes, from, rows, columns, to);
  *done_rows = done.rows;
  *done_columns = done.columns;
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(TransposeInRegisters);

void transpose_plane(std::uint64_t element_bytes, const PlaneIn& from, std::uint64_t rows,
                     std::uint64_t columns, const PlaneOut& to) {
  std::uint64_t done_rows = 0;
  std::uint64_t done_columns = 0;
  HWY_DYNAMIC_DISPATCH(TransposeInRegisters)
  (element_bytes, from, rows, columns, to, &done_rows, &done_columns);
  with_width(element_bytes, [&](auto width) {
    const std::uint64_t bytes = width.bytes();
    for (std::uint64_t c = 0; c < columns; ++c) {
      for (std::uint64_t r = c < done_columns ? done_rows : 0; r < rows; ++r) {
        width.move(from.data + r * from.stride_bytes + c * bytes, to.data + c * to.stride_bytes + r * bytes);
      }
    }
  });
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
