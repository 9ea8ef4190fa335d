#include "engines/cpu/plane_transpose.hpp"

#include "engines/cpu/element_width.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/plane_transpose.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

#ifndef FARO_TRANSPOSE_RUNS_PLAINLY
#define FARO_TRANSPOSE_RUNS_PLAINLY
namespace faro::cpu {

// Element by element, the input's rows one after another.
inline void TransposeRunsPlainly(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to) {
  with_width(element_bytes, [&](auto width) {
    const std::uint64_t bytes = width.bytes();
    for (std::uint64_t r = 0; r < from.count; ++r) {
      const std::byte* const row = from.data + from.rows[r];
      for (std::uint64_t c = 0; c < to.count; ++c)
        width.move(row + c * bytes, to.data + to.columns[c] + r * bytes);
    }
  });
}

}  // namespace faro::cpu
#endif  // FARO_TRANSPOSE_RUNS_PLAINLY

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

// Interleaving the first half of the rows with the second, as often as the side has bits, is a transpose:
// each round moves one bit of the row's number into the lane's.
template <class D, std::size_t kSide>
HWY_INLINE void TransposeRegisters(D d, hn::Vec<D> (&rows)[kSide]) {
  for (std::size_t side = kSide; side > 1; side /= 2) {
    hn::Vec<D> mixed[kSide];
    for (std::size_t i = 0; i < kSide / 2; ++i) {
      mixed[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + kSide / 2]);
      mixed[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + kSide / 2]);
    }
    for (std::size_t i = 0; i < kSide; ++i) rows[i] = mixed[i];
  }
}

template <typename Lane>
HWY_INLINE void TransposeSquare(const PlaneIn& from, const PlaneOut& to) {
  constexpr std::size_t kSide = 16 / sizeof(Lane);
  const hn::FixedTag<Lane, kSide> d;
  const hn::FixedTag<std::uint8_t, 16> bytes;
  hn::Vec<decltype(d)> rows[kSide];
  for (std::size_t i = 0; i < kSide; ++i) {
    rows[i] = hn::BitCast(
        d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from.data + i * from.stride_bytes)));
  }
  TransposeRegisters(d, rows);
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

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
void TransposeRuns(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to) {
  TransposeRunsPlainly(element_bytes, from, to);
}
#else

// As TransposeSquare, of a smaller side too: rows of 16, 8 or 4 bytes.
template <typename Lane, std::size_t kSide>
HWY_INLINE void TransposeRunSquare(const std::byte* from, const std::int64_t* rows, std::byte* to,
                                   const std::int64_t* columns) {
  const hn::FixedTag<Lane, kSide> d;
  const hn::FixedTag<std::uint8_t, kSide * sizeof(Lane)> bytes;
  hn::Vec<decltype(d)> lines[kSide];
  for (std::size_t i = 0; i < kSide; ++i) {
    lines[i] = hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from + rows[i])));
  }
  TransposeRegisters(d, lines);
  for (std::size_t i = 0; i < kSide; ++i) {
    hn::StoreU(hn::BitCast(bytes, lines[i]), bytes, reinterpret_cast<std::uint8_t*>(to + columns[i]));
  }
}

// Squares at the far ends overlap those before them. Requires: a square's side of rows and of columns.
template <typename Lane, std::size_t kSide>
void TransposeRunSquares(const PlaneRows& from, const PlaneColumns& to) {
  for (std::uint64_t r = 0; r < from.count; r += kSide) {
    const std::uint64_t row = r + kSide <= from.count ? r : from.count - kSide;
    for (std::uint64_t c = 0; c < to.count; c += kSide) {
      const std::uint64_t column = c + kSide <= to.count ? c : to.count - kSide;
      TransposeRunSquare<Lane, kSide>(from.data + column * sizeof(Lane), from.rows + row,
                                      to.data + row * sizeof(Lane), to.columns + column);
    }
  }
}

// The largest squares that fit.
template <typename Lane, std::size_t kSide = 16 / sizeof(Lane)>
void TransposeRunLanes(const PlaneRows& from, const PlaneColumns& to) {
  if (from.count >= kSide && to.count >= kSide) {
    TransposeRunSquares<Lane, kSide>(from, to);
  } else if constexpr (kSide > 2) {
    TransposeRunLanes<Lane, kSide / 2>(from, to);
  } else {
    TransposeRunsPlainly(sizeof(Lane), from, to);
  }
}

void TransposeRuns(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to) {
  switch (element_bytes) {
    case 1:
      return TransposeRunLanes<std::uint8_t>(from, to);
    case 2:
      return TransposeRunLanes<std::uint16_t>(from, to);
    case 4:
      return TransposeRunLanes<std::uint32_t>(from, to);
    case 8:
      return TransposeRunLanes<std::uint64_t>(from, to);
    default:
      return TransposeRunsPlainly(element_bytes, from, to);
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
HWY_EXPORT(TransposeRuns);

void transpose_runs(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to) {
  HWY_DYNAMIC_DISPATCH(TransposeRuns)(element_bytes, from, to);
}

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
