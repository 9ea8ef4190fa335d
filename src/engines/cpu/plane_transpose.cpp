#include "engines/cpu/plane_transpose.hpp"

#include <algorithm>
#include <cstring>

#include "engines/cpu/element_width.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/plane_transpose.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "engines/cpu/register_transpose-inl.hpp"
#include "engines/cpu/streamed_lines-inl.hpp"
#include "engines/cpu/strided_nest-inl.hpp"
#include "engines/cpu/values/changed_runs-inl.hpp"
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

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
void TransposePlanes(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to,
                     const StridedNest& planes, const NextArrays& /*next*/) {
  ForEachPlace(planes, 0, [&](std::int64_t a, std::int64_t b) {
    TransposeRunsPlainly(element_bytes, {from.data + a, from.rows, from.count},
                         {to.data + b, to.columns, to.count});
  });
}
void TransposeRunsMeanwhile(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to,
                            Traffic& /*traffic*/) {
  TransposeRunsPlainly(element_bytes, from, to);
}
void StartRuns(RunTraffic& /*traffic*/) {}
void FinishRuns(RunTraffic& traffic) {
  if (traffic.changed.program != nullptr) return WriteChangedRuns(traffic, ~std::uint64_t{0});
  for (; traffic.next < traffic.count; ++traffic.next) {
    const RunTraffic::Run run = traffic.run(traffic.next);
    std::memcpy(run.to, run.from, traffic.bytes);
  }
}
#else

// What is done between squares of `lines` lines: as many of the next arrays are fetched, or a part of the
// traffic is done. Without traffic what is written are lines of the output anywhere in memory, so that
// columns are written in stretches.
struct FetchNext {
  static constexpr bool kByColumns = true;
  NextArrays next;
  std::uint64_t at = 0;
  HWY_INLINE void Pass(std::uint64_t lines) {
    for (; lines > 0 && at < next.bytes; --lines, at += kLineBytes) {
      __builtin_prefetch(next.in + at);
      __builtin_prefetch(next.out + at, 1);
    }
  }
};

// Begins with the next run: its bytes up to a line's beginning.
HWY_INLINE bool NextRun(RunTraffic& traffic) {
  if (traffic.next == traffic.count) return false;
  traffic.at = traffic.run(traffic.next++);
  const std::uint64_t past = (0 - reinterpret_cast<std::uintptr_t>(traffic.at.to)) % kLineBytes;
  const std::uint64_t head = past < traffic.bytes ? past : traffic.bytes;
  traffic.left = traffic.bytes - head;
  if (head != 0) {
    std::memcpy(traffic.at.to, traffic.at.from, head);
    traffic.at.from += head;
    traffic.at.to += head;
  }
  return true;
}

// Short runs are not left in the middle: loops that are all of the same length are foreseen.
constexpr std::uint64_t kShortRun = 1024;
HWY_INLINE void WriteShortRuns(RunTraffic& traffic, std::uint64_t lines) {
  const RunTraffic::Run base = traffic.base;
  const std::int64_t* const from_places = traffic.from_places;
  const std::int64_t* const to_places = traffic.to_places;
  const std::uint64_t count = traffic.count;
  const std::uint64_t bytes = traffic.bytes;
  const auto each = static_cast<std::int64_t>((bytes + kLineBytes - 1) / kLineBytes);
  constexpr std::uint64_t kMost = 1 << 20;
  std::int64_t due = traffic.due + static_cast<std::int64_t>(std::min(lines, kMost));
  std::uint64_t next = traffic.next;
  for (; due > 0 && next < count; due -= each, ++next) {
    const std::byte* const from = base.from + from_places[next];
    std::byte* const to = base.to + to_places[next];
    const std::uint64_t past = (0 - reinterpret_cast<std::uintptr_t>(to)) % kLineBytes;
    const std::uint64_t head = std::min(past, bytes);
    const std::uint64_t whole = (bytes - head) / kLineBytes;
    const std::uint64_t done = head + whole * kLineBytes;
    StreamWholeLines(from + head, to + head, whole * kLineBytes);
    if (head != 0) std::memcpy(to, from, head);
    if (done != bytes) std::memcpy(to + done, from + done, bytes - done);
  }
  traffic.due = due;
  traffic.next = next;
}

HWY_INLINE void WriteLines(RunTraffic& traffic, std::uint64_t lines) {
  if (traffic.changed.program != nullptr) return WriteChangedRuns(traffic, lines);
  if (traffic.bytes <= kShortRun) return WriteShortRuns(traffic, lines);
  for (;;) {
    const std::uint64_t count = std::min(lines, traffic.left / kLineBytes);
    const std::uint64_t bytes = count * kLineBytes;
    StreamWholeLines(traffic.at.from, traffic.at.to, bytes);
    traffic.at = {traffic.at.from + bytes, traffic.at.to + bytes};
    traffic.left -= bytes;
    lines -= count;
    if (traffic.left >= kLineBytes) return;
    if (traffic.left != 0) std::memcpy(traffic.at.to, traffic.at.from, traffic.left);
    traffic.left = 0;
    if (!NextRun(traffic)) return;
  }
}

struct WithTraffic {
  static constexpr bool kByColumns = false;
  Traffic& traffic;
  HWY_INLINE void Pass(std::uint64_t lines) {
    WriteLines(traffic.runs, lines);
    traffic.rows.fetch(lines);
  }
};

// As TransposeSquare, of a smaller side too: rows of 16, 8 or 4 bytes.
template <typename Lane, std::size_t kSide>
HWY_INLINE void TransposeRunSquare(const std::byte* from, const std::int64_t* rows, std::byte* to,
                                   const std::int64_t* columns) {
  const hn::FixedTag<Lane, kSide> d;
  const hn::FixedTag<std::uint8_t, kSide * sizeof(Lane)> bytes;
  hn::Vec<decltype(d)> lines[kSide];
  FARO_UNROLL_REGISTERS
  for (std::size_t i = 0; i < kSide; ++i) {
    lines[i] = hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from + rows[i])));
  }
  TransposeRegisters(d, lines);
  FARO_UNROLL_REGISTERS
  for (std::size_t i = 0; i < kSide; ++i) {
    hn::StoreU(hn::BitCast(bytes, lines[i]), bytes, reinterpret_cast<std::uint8_t*>(to + columns[i]));
  }
}

constexpr std::size_t kManyRows = 16;
// Calls turn(row, column) for rectangles that cover rows x columns, from row `first` on; those at the far
// ends overlap those before them. Each is of about kLines lines. Row by row, or column by column in strips
// whose lines the first-level cache holds. Requires: a rectangle's rows and columns.
template <std::size_t kRows, std::size_t kColumns, std::size_t kLines, class Between, typename Turn>
HWY_INLINE void CoverRuns(std::uint64_t rows, std::uint64_t columns, Between& between, const Turn& turn,
                          std::uint64_t first = 0) {
  constexpr std::uint64_t kStrip = !Between::kByColumns ? kRows : kRows < kManyRows ? 64 : 256;
  static_assert(kStrip % kRows == 0);
  for (std::uint64_t strip = first; strip < rows; strip += kStrip) {
    const std::uint64_t end = std::min(rows, strip + kStrip);
    for (std::uint64_t c = 0; c < columns; c += kColumns) {
      const std::uint64_t column = c + kColumns <= columns ? c : columns - kColumns;
      for (std::uint64_t r = strip; r < end; r += kRows) {
        turn(r + kRows <= rows ? r : rows - kRows, column);
        between.Pass(kLines);
      }
    }
  }
}

// The same of rectangles of a few lines, less than what is done between them is worth: 16 rows of a line or
// two at a time where columns are whole lines.
template <std::size_t kElement, std::size_t kRows, std::size_t kColumns, class Between, typename Turn>
HWY_INLINE void CoverRunsInPieces(std::uint64_t rows, std::uint64_t columns, Between& between,
                                  const Turn& turn) {
  static_assert(kManyRows % kRows == 0);
  constexpr std::size_t kManyColumns = kLineBytes / kElement;
  std::uint64_t done = 0;
  if (!Between::kByColumns && columns % kManyColumns == 0) {
    done = rows / kManyRows * kManyRows;
    const auto many = [&](std::uint64_t row, std::uint64_t column) {
      for (std::size_t r = 0; r < kManyRows; r += kRows)
        for (std::size_t c = 0; c < kManyColumns; c += kColumns) turn(row + r, column + c);
    };
    CoverRuns<kManyRows, kManyColumns, kManyRows>(done, columns, between, many);
  }
  CoverRuns<kRows, kColumns, kRows * kColumns * kElement / kLineBytes>(rows, columns, between, turn, done);
}

template <typename Lane, std::size_t kSide, class Between>
void TransposeRunSquares(const PlaneRows& from, const PlaneColumns& to, Between& between) {
  CoverRuns<kSide, kSide, 1>(from.count, to.count, between, [&](std::uint64_t row, std::uint64_t column) {
    TransposeRunSquare<Lane, kSide>(from.data + column * sizeof(Lane), from.rows + row,
                                    to.data + row * sizeof(Lane), to.columns + column);
  });
}

// The largest squares that fit.
template <typename Lane, std::size_t kSide, class Between>
void TransposeRunLanes(const PlaneRows& from, const PlaneColumns& to, Between& between) {
  if (from.count >= kSide && to.count >= kSide) {
    TransposeRunSquares<Lane, kSide>(from, to, between);
  } else if constexpr (kSide > 2) {
    TransposeRunLanes<Lane, kSide / 2>(from, to, between);
  } else {
    TransposeRunsPlainly(sizeof(Lane), from, to);
    between.Pass(from.count * to.count * sizeof(Lane) / kLineBytes);
  }
}

#if HWY_TARGET <= HWY_AVX2
// --- registers of several blocks of 16 bytes

#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t kBlocks = 4;
#else
constexpr std::size_t kBlocks = 2;
#endif

// Loads blocks of rows `apart` from one another, the first of them in the lowest block.
template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const std::byte* from, const std::int64_t* rows, std::size_t apart) {
  const hn::Half<D> half;
  const auto block = [&](std::size_t b) {
    return hn::LoadU(hn::FixedTag<hn::TFromD<D>, 16 / sizeof(hn::TFromD<D>)>(),
                     reinterpret_cast<const hn::TFromD<D>*>(from + rows[b * apart]));
  };
#if HWY_TARGET <= HWY_AVX3
  return hn::Combine(d, hn::Combine(half, block(3), block(2)), hn::Combine(half, block(1), block(0)));
#else
  static_cast<void>(half);
  return hn::Combine(d, block(1), block(0));
#endif
}

// 16 bytes of a row in each block, those of rows kSide apart in one register: what is transposed within
// blocks is whole registers of the columns. Elements of 16 bytes need no transposing. kGroups such side by
// side, whose rows are found once: a stored byte may alias what says where they are.
template <typename Lane, std::size_t kSide, std::size_t kGroups>
HWY_INLINE void TransposeBlocks(const std::byte* from, const std::int64_t* rows, std::byte* to,
                                const std::int64_t* columns) {
  const hn::FixedTag<Lane, kBlocks * 16 / sizeof(Lane)> d;
  std::int64_t row[kGroups == 1 ? 1 : kBlocks * kSide];
  if constexpr (kGroups > 1) {
    FARO_UNROLL_REGISTERS
    for (std::size_t i = 0; i < kBlocks * kSide; ++i) row[i] = rows[i];
  }
  const std::int64_t* const places = kGroups == 1 ? rows : row;
  FARO_UNROLL_REGISTERS
  for (std::size_t g = 0; g < kGroups; ++g) {
    hn::Vec<decltype(d)> lines[kSide];
    FARO_UNROLL_REGISTERS
    for (std::size_t i = 0; i < kSide; ++i) lines[i] = LoadBlocks(d, from + g * 16, places + i, kSide);
    if constexpr (kSide > 1) TransposeRegisters(d, lines);
    FARO_UNROLL_REGISTERS
    for (std::size_t i = 0; i < kSide; ++i) {
      hn::StoreU(lines[i], d, reinterpret_cast<Lane*>(to + columns[g * kSide + i]));
    }
  }
}

// Rows by columns of `kElement` bytes each.
template <typename Lane, std::size_t kElement, std::size_t kGroups, class Between>
HWY_INLINE void TransposeRunGroups(const PlaneRows& from, const PlaneColumns& to, Between& between) {
  constexpr std::size_t kSide = 16 / kElement;
  constexpr std::size_t kRows = kBlocks * kSide;
  constexpr std::size_t kColumns = kGroups * kSide;
  constexpr std::size_t kLines = kRows * kColumns * kElement / kLineBytes;
  constexpr std::size_t kFewLines = 4;
  const auto turn = [&](std::uint64_t row, std::uint64_t column) {
    TransposeBlocks<Lane, kSide, kGroups>(from.data + column * kElement, from.rows + row,
                                          to.data + row * kElement, to.columns + column);
  };
  if constexpr (kLines <= kFewLines && kRows <= kManyRows) {
    CoverRunsInPieces<kElement, kRows, kColumns>(from.count, to.count, between, turn);
  } else {
    CoverRuns<kRows, kColumns, kLines>(from.count, to.count, between, turn);
  }
}

// A line of each row at a time where there is one, of wide elements.
template <typename Lane, std::size_t kElement, class Between>
HWY_INLINE void TransposeRunBlocks(const PlaneRows& from, const PlaneColumns& to, Between& between) {
  constexpr std::size_t kWideElement = 8;
  constexpr std::size_t kGroups = kLineBytes / 16;
  if constexpr (kElement >= kWideElement && !(kBlocks == 4 && Between::kByColumns)) {
    if (to.count * kElement >= kLineBytes)
      return TransposeRunGroups<Lane, kElement, kGroups>(from, to, between);
  }
  TransposeRunGroups<Lane, kElement, 1>(from, to, between);
}

#if HWY_TARGET <= HWY_AVX3
// Block b of each of four registers, in their order, is to[b].
template <class V>
HWY_INLINE void TransposeFourBlocks(const V (&from)[4], V (&to)[4]) {
  constexpr int kEven = 0x88;  // blocks 0 and 2 of both
  constexpr int kOdd = 0xdd;
  const auto even = [](V a, V b) { return V{_mm512_shuffle_i32x4(a.raw, b.raw, kEven)}; };
  const auto odd = [](V a, V b) { return V{_mm512_shuffle_i32x4(a.raw, b.raw, kOdd)}; };
  const V even01 = even(from[0], from[1]);
  const V odd01 = odd(from[0], from[1]);
  const V even23 = even(from[2], from[3]);
  const V odd23 = odd(from[2], from[3]);
  to[0] = even(even01, even23);
  to[1] = even(odd01, odd23);
  to[2] = odd(even01, even23);
  to[3] = odd(odd01, odd23);
}

// A square whose rows and columns are a line each: within blocks of 16 bytes, then blocks. Each line is read
// and written once.
template <std::size_t kElement>
HWY_INLINE void TransposeLines(const std::byte* from, const std::int64_t* rows, std::byte* to,
                               const std::int64_t* columns) {
  constexpr std::size_t kInBlock = 16 / kElement;
  const hn::FixedTag<std::uint32_t, 16> d;
  const hn::FixedTag<std::uint64_t, 8> pairs;
  using V = hn::Vec<decltype(d)>;
  V four[kInBlock][4];  // of rows kInBlock g and on: column kInBlock b + k of them in block b of [k][g]
  FARO_UNROLL_REGISTERS
  for (std::size_t g = 0; g < 4; ++g) {
    V line[kInBlock];
    FARO_UNROLL_REGISTERS
    for (std::size_t i = 0; i < kInBlock; ++i)
      line[i] = hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(from + rows[kInBlock * g + i]));
    if constexpr (kElement == 4) {
      const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, line[0], line[1]));
      const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, line[2], line[3]));
      const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, line[0], line[1]));
      const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, line[2], line[3]));
      four[0][g] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
      four[1][g] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
      four[2][g] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
      four[3][g] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
    } else if constexpr (kElement == 8) {
      const auto even = hn::BitCast(pairs, line[0]);
      const auto odd = hn::BitCast(pairs, line[1]);
      four[0][g] = hn::BitCast(d, hn::InterleaveLower(pairs, even, odd));
      four[1][g] = hn::BitCast(d, hn::InterleaveUpper(pairs, even, odd));
    } else {
      four[0][g] = line[0];
    }
  }
  FARO_UNROLL_REGISTERS
  for (std::size_t k = 0; k < kInBlock; ++k) {
    V column[4];
    TransposeFourBlocks(four[k], column);
    FARO_UNROLL_REGISTERS
    for (std::size_t b = 0; b < 4; ++b)
      hn::StoreU(column[b], d, reinterpret_cast<std::uint32_t*>(to + columns[kInBlock * b + k]));
  }
}

// Requires: a square's rows and columns.
template <std::size_t kElement, class Between>
HWY_INLINE void TransposeRunLines(const PlaneRows& from, const PlaneColumns& to, Between& between) {
  constexpr std::size_t kSide = kLineBytes / kElement;
  CoverRunsInPieces<kElement, kSide, kSide>(
      from.count, to.count, between, [&](std::uint64_t row, std::uint64_t column) {
        TransposeLines<kElement>(from.data + column * kElement, from.rows + row, to.data + row * kElement,
                                 to.columns + column);
      });
}
#endif
#endif

// Whether places follow one another, so many bytes each, and where they all are known by the ends.
HWY_INLINE bool Follow(const std::int64_t* places, std::uint64_t count, std::uint64_t bytes) {
  const auto step = static_cast<std::int64_t>(bytes);
  if (count < 2 || places[1] - places[0] != step) return false;
  for (std::uint64_t i = 2; i < count; ++i)
    if (places[i] - places[i - 1] != step) return false;
  return true;
}

#if HWY_TARGET <= HWY_AVX2
// Rows of fewer than 16 bytes that follow one another: 16 bytes of each are loaded, the rest of them the next
// rows', as far as there are such. How many rows were done.
template <typename Lane>
std::uint64_t TransposeShortRows(const PlaneRows& from, const PlaneColumns& to) {
  constexpr std::size_t kSide = 16 / sizeof(Lane);
  constexpr std::size_t kRows = kBlocks * kSide;
  const std::uint64_t row_bytes = to.count * sizeof(Lane);
  const std::uint64_t beyond = (16 - row_bytes + row_bytes - 1) / row_bytes;  // rows that a load reaches into
  const hn::FixedTag<Lane, kRows> d;
  std::uint64_t row = 0;
  for (; row + kRows + beyond <= from.count; row += kRows) {
    hn::Vec<decltype(d)> lines[kSide];
    FARO_UNROLL_REGISTERS
    for (std::size_t i = 0; i < kSide; ++i) lines[i] = LoadBlocks(d, from.data, from.rows + row + i, kSide);
    TransposeRegisters(d, lines);
    FARO_UNROLL_REGISTERS
    for (std::size_t i = 0; i < kSide; ++i) {
      if (i < to.count)
        hn::StoreU(lines[i], d, reinterpret_cast<Lane*>(to.data + to.columns[i] + row * sizeof(Lane)));
    }
  }
  return row;
}
#endif

// Columns of fewer than 16 bytes that follow one another: 16 bytes are stored for each, the rest of them to
// be overwritten by the next columns. How many columns were done.
template <typename Lane>
std::uint64_t TransposeShortColumns(const PlaneRows& from, const PlaneColumns& to) {
  constexpr std::size_t kSide = 16 / sizeof(Lane);
  const std::uint64_t column_bytes = from.count * sizeof(Lane);
  std::int64_t rows[kSide];
  for (std::size_t i = 0; i < kSide; ++i) rows[i] = from.rows[std::min<std::uint64_t>(i, from.count - 1)];
  const std::uint64_t beyond = (16 - column_bytes + column_bytes - 1) / column_bytes;
  std::uint64_t column = 0;
  for (; column + kSide + beyond <= to.count; column += kSide) {
    TransposeRunSquare<Lane, kSide>(from.data + column * sizeof(Lane), rows, to.data, to.columns + column);
  }
  return column;
}

// Which sides of a plane are short and follow one another, the same for all planes of a nest.
struct ShortRuns {
  bool rows = false;
  bool columns = false;
};
HWY_INLINE ShortRuns ShortRunsOf(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to) {
  constexpr std::uint64_t kBlockBytes = 16;
  const std::uint64_t row = to.count * element_bytes;
  const std::uint64_t column = from.count * element_bytes;
  return {.rows = HWY_TARGET <= HWY_AVX2 && row < kBlockBytes && Follow(from.rows, from.count, row),
          .columns = column < kBlockBytes && Follow(to.columns, to.count, column)};
}

// The short rows and columns of a plane that need no small squares; true where there are any.
template <typename Lane, class Between>
bool TransposeShortRuns(const PlaneRows& from, const PlaneColumns& to, Between& between,
                        const ShortRuns& are_short) {
  constexpr std::size_t kSide = 16 / sizeof(Lane);
  std::uint64_t rows = 0;
#if HWY_TARGET <= HWY_AVX2
  if (are_short.rows) rows = TransposeShortRows<Lane>(from, to);
#endif
  const std::uint64_t columns = rows != 0 || !are_short.columns ? 0 : TransposeShortColumns<Lane>(from, to);
  if (rows == 0 && columns == 0) return false;
  between.Pass((rows * to.count + columns * from.count) * sizeof(Lane) / kLineBytes);
  if (rows < from.count) {
    const PlaneRows rest{
        .data = from.data + columns * sizeof(Lane), .rows = from.rows + rows, .count = from.count - rows};
    const PlaneColumns to_rest{
        .data = to.data + rows * sizeof(Lane), .columns = to.columns + columns, .count = to.count - columns};
    TransposeRunLanes<Lane, kSide>(rest, to_rest, between);
  }
  return true;
}

template <typename Lane, std::size_t kElement, class Between>
HWY_INLINE void TransposeRunsOf(const PlaneRows& from, const PlaneColumns& to, Between& between,
                                const ShortRuns& are_short) {
#if HWY_TARGET <= HWY_AVX3
  // Wide elements are written as columns have them: lines of the input that are cut cost less than stores
  // that are.
  if constexpr (kElement == 4 || (kElement > 4 && !Between::kByColumns)) {
    constexpr std::size_t kSide = kLineBytes / kElement;
    if (from.count >= kSide && to.count >= kSide) return TransposeRunLines<kElement>(from, to, between);
  }
#endif
#if HWY_TARGET <= HWY_AVX2
  constexpr std::size_t kColumns = 16 / kElement;
  if (from.count >= kBlocks * kColumns && to.count >= kColumns)
    return TransposeRunBlocks<Lane, kElement>(from, to, between);
#endif
  if constexpr (kElement == sizeof(Lane)) {
    if (TransposeShortRuns<Lane>(from, to, between, are_short)) return;
    TransposeRunLanes<Lane, 16 / sizeof(Lane)>(from, to, between);
  } else {
    TransposeRunsPlainly(kElement, from, to);
    between.Pass(from.count * to.count * kElement / kLineBytes);
  }
}

// The same by itself: compilers do not keep all registers of a loop that is a part of others.
template <typename Lane, std::size_t kElement, class Between>
HWY_NOINLINE void TransposeLargePlane(const PlaneRows& from, const PlaneColumns& to, Between& between,
                                      const ShortRuns& are_short) {
  TransposeRunsOf<Lane, kElement>(from, to, between, are_short);
}

// Planes of one shape.
template <typename Lane, std::size_t kElement, class Between>
void TransposeNest(const PlaneRows& from, const PlaneColumns& to, const StridedNest& planes,
                   Between& between) {
  constexpr std::uint64_t kLargePlane = 2048;
  const ShortRuns are_short = ShortRunsOf(kElement, from, to);
  const bool are_large = from.count * to.count * kElement >= kLargePlane;
  ForEachPlace(planes, 0, [&](std::int64_t a, std::int64_t b) {
    const PlaneRows rows{from.data + a, from.rows, from.count};
    const PlaneColumns columns{to.data + b, to.columns, to.count};
    if (are_large) return TransposeLargePlane<Lane, kElement>(rows, columns, between, are_short);
    TransposeRunsOf<Lane, kElement>(rows, columns, between, are_short);
  });
}

template <class Between>
void TransposeRunsBetween(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to,
                          const StridedNest& planes, Between& between) {
  switch (element_bytes) {
    case 1:
      return TransposeNest<std::uint8_t, 1>(from, to, planes, between);
    case 2:
      return TransposeNest<std::uint16_t, 2>(from, to, planes, between);
    case 4:
      return TransposeNest<std::uint32_t, 4>(from, to, planes, between);
    case 8:
      return TransposeNest<std::uint64_t, 8>(from, to, planes, between);
    default:  // of 16; others are transposed element by element
      return TransposeNest<std::uint64_t, 16>(from, to, planes, between);
  }
}

void TransposePlanes(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to,
                     const StridedNest& planes, const NextArrays& next) {
  FetchNext fetched{.next = next};
  TransposeRunsBetween(element_bytes, from, to, planes, fetched);
}

void TransposeRunsMeanwhile(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to,
                            Traffic& traffic) {
  WithTraffic meanwhile{traffic};
  TransposeRunsBetween(element_bytes, from, to, StridedNest(), meanwhile);
}

void StartRuns(RunTraffic& traffic) {
  traffic.due = 0;
  if (traffic.bytes > kShortRun && traffic.changed.program == nullptr) NextRun(traffic);
}
void FinishRuns(RunTraffic& traffic) { WriteLines(traffic, ~std::uint64_t{0}); }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(TransposePlanes);
HWY_EXPORT(TransposeRunsMeanwhile);
HWY_EXPORT(StartRuns);
HWY_EXPORT(FinishRuns);

// Part by part of as many rows and columns as the places of one are good for all.
void transpose_plane(std::uint64_t element_bytes, const PlaneIn& from, std::uint64_t rows,
                     std::uint64_t columns, const PlaneOut& to) {
  constexpr std::uint64_t kMost = 64;
  std::int64_t row_places[kMost];
  std::int64_t column_places[kMost];
  for (std::uint64_t i = 0; i < kMost; ++i) {
    row_places[i] = static_cast<std::int64_t>(i * from.stride_bytes);
    column_places[i] = static_cast<std::int64_t>(i * to.stride_bytes);
  }
  for (std::uint64_t c = 0; c < columns; c += kMost) {
    for (std::uint64_t r = 0; r < rows; r += kMost) {
      const PlaneRows part{.data = from.data + r * from.stride_bytes + c * element_bytes,
                           .rows = row_places,
                           .count = std::min(kMost, rows - r)};
      const PlaneColumns turned{.data = to.data + c * to.stride_bytes + r * element_bytes,
                                .columns = column_places,
                                .count = std::min(kMost, columns - c)};
      if (faro::detail::is_turned_width(element_bytes)) {
        transpose_planes(element_bytes, part, turned, StridedNest());
      } else {
        TransposeRunsPlainly(element_bytes, part, turned);
      }
    }
  }
}

void transpose_planes(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to,
                      const StridedNest& planes, const NextArrays& next) {
  HWY_DYNAMIC_DISPATCH(TransposePlanes)(element_bytes, from, to, planes, next);
}

void transpose_runs(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to,
                    Traffic& traffic) {
  HWY_DYNAMIC_DISPATCH(TransposeRunsMeanwhile)(element_bytes, from, to, traffic);
}

void start_runs(RunTraffic& traffic, std::uint64_t count, std::uint64_t bytes) {
  traffic.count = count;
  traffic.bytes = bytes;
  traffic.next = 0;
  HWY_DYNAMIC_DISPATCH(StartRuns)(traffic);
}

void finish_runs(RunTraffic& traffic) { HWY_DYNAMIC_DISPATCH(FinishRuns)(traffic); }

}  // namespace faro::cpu
#endif  // HWY_ONCE
