#include "engines/cpu/transpose/columns.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "engines/cpu/element_width.hpp"
#include "engines/cpu/transpose/rotation.hpp"
#include "rounding.hpp"

namespace faro::cpu {
namespace {

using faro::detail::kMostPieceBytes;
using faro::detail::kStripPieceBytes;
using faro::detail::kStripWindowBytes;

constexpr std::uint64_t kColumnsAhead = 12;  // rows that are fetched before they are needed

// Steps along a row's elements and, by the same step, down or up through the rows of a strip.
struct Diagonal {
  std::uint64_t row;  // of column 0; column k's is k higher up, from 0 on to m - 1
  std::uint64_t m;
  std::uint64_t columns;
  std::uint64_t piece_bytes;
};

// Calls move(at row, at diagonal) for the bytes of every column; rows side by side are piece_bytes apart.
template <typename Move>
void along(const Diagonal& d, std::uint64_t bytes, const Move& move) {
  if (d.columns <= d.m) {
    // One turn at most.
    const std::uint64_t turn = std::min(d.columns, d.row + 1);
    std::uint64_t at = d.row * d.piece_bytes;
    for (std::uint64_t k = 0; k < turn; ++k, at += bytes - d.piece_bytes) move(k * bytes, at);
    at += d.m * d.piece_bytes;
    for (std::uint64_t k = turn; k < d.columns; ++k, at += bytes - d.piece_bytes) move(k * bytes, at);
    return;
  }
  // Columns m apart lie in the same row.
  const std::uint64_t stride = d.m * bytes;
  const std::uint64_t end = d.columns * bytes;
  for (std::uint64_t k = 0; k < d.m; ++k) {
    const std::uint64_t row = (d.row >= k ? d.row - k : d.row + d.m - k) * d.piece_bytes;
    for (std::uint64_t at = k * bytes; at < end; at += stride) move(at, row + at);
  }
}

void fetch(const std::byte* piece, std::uint64_t bytes) {
  __builtin_prefetch(piece, 1, 2);
  for (std::uint64_t at = kLineBytes; at < bytes; at += kLineBytes) __builtin_prefetch(piece + at, 1, 2);
  __builtin_prefetch(piece + bytes - 1, 1, 2);
}

}  // namespace

ColumnShuffle::ColumnShuffle(std::uint64_t m, std::uint64_t n, std::uint64_t element_bytes, Shuffle direction,
                             RowsLie rows_lie)
    : m_(m),
      n_(n),
      element_bytes_(element_bytes),
      row_bytes_(n * element_bytes),
      direction_(direction),
      offset_(!rows_lie.one_early         ? 0
              : direction == Shuffle::c2r ? m - 1
                                          : 1) {
  const kernels::C2rShape shape = kernels::make_c2r_shape(m, n);
  panel_columns_ = rows_lie.along_diagonals ? shape.b : n;
  rows_.reserve(m);
  for (std::uint64_t i = 0; i < m; ++i) {
    rows_.push_back(static_cast<std::uint32_t>(direction == Shuffle::c2r ? kernels::ordered_row(shape, i)
                                                                         : kernels::unordered_row(shape, i)));
  }
}

// The row whose piece comes to row i.
std::uint64_t ColumnShuffle::source_of(std::uint64_t i, std::uint64_t rotation) const {
  if (direction_ == Shuffle::r2c) return rows_[i >= rotation ? i - rotation : i + m_ - rotation];
  const std::uint64_t row = rows_[i] + rotation;
  return row < m_ ? row : row - m_;
}

// Columns that are rotated by whole registers; 0 where the rows are too few for that.
std::uint64_t ColumnShuffle::whole_columns() const {
  return faro::detail::register_columns(element_bytes_, m_);
}

std::uint64_t ColumnShuffle::strips_of_panel(const Strip& strip) const {
  return faro::detail::ceil_div(panel_columns_, strip.columns);
}

std::uint64_t ColumnShuffle::strips(const Strip& strip) const {
  return n_ / panel_columns_ * strips_of_panel(strip);
}

void ColumnShuffle::move(const Strip& strip, std::uint64_t number, std::byte* data, std::byte* memory) const {
  const std::uint64_t panel = number / strips_of_panel(strip);
  const std::uint64_t in_panel = number % strips_of_panel(strip) * strip.columns;
  const std::uint64_t columns = std::min(strip.columns, panel_columns_ - in_panel);
  const std::uint64_t j = panel * panel_columns_ + in_panel;
  const auto pieces_from = [&](std::uint64_t begin, std::uint64_t count) {
    return Pieces{
        .first = data + begin * element_bytes_, .columns = count, .rotation = (begin + panel + offset_) % m_};
  };
  const std::uint64_t whole = whole_columns();
  if (strip.borrowed) {
    const std::uint64_t by_registers = whole == 0 ? 0 : columns / whole * whole;
    if (by_registers != 0) move_whole(pieces_from(j, by_registers), memory);
    if (by_registers < columns) {
      const Pieces rest = pieces_from(j + by_registers, columns - by_registers);
      with_width(element_bytes_, [&](auto width) {
        if (direction_ == Shuffle::c2r) {
          gather_by_memory(width, rest, memory);
        } else {
          scatter_by_memory(width, rest, memory);
        }
      });
    }
    return;
  }
  const Pieces pieces = pieces_from(j, columns);
  if (direction_ == Shuffle::r2c) follow_cycles(pieces, memory);
  if (columns == whole) {
    rotate_strip({pieces.first, row_bytes_, m_, element_bytes_},
                 direction_ == Shuffle::c2r ? Rotation::up : Rotation::down);
  } else {
    with_width(element_bytes_, [&](auto width) {
      if (direction_ == Shuffle::c2r) {
        rotate_up(width, pieces);
      } else {
        rotate_down(width, pieces);
      }
    });
  }
  if (direction_ == Shuffle::c2r) follow_cycles(pieces, memory);
}

// Some strips for registers side by side, each a matrix of its own in the memory.
void ColumnShuffle::move_whole(const Pieces& pieces, std::byte* memory) const {
  const std::uint64_t whole = whole_columns();
  const std::uint64_t bytes = whole * element_bytes_;
  const std::uint64_t count = pieces.columns / whole;
  const auto lent = [&](std::uint64_t strip, std::uint64_t row) {
    return memory + (strip * m_ + row) * bytes;
  };
  const auto piece = [&](std::uint64_t strip, std::uint64_t row) {
    return pieces.first + row * row_bytes_ + strip * bytes;
  };
  std::array<std::uint64_t, kMostPieceBytes / kLineBytes> rotations{};
  for (std::uint64_t s = 0; s < count; ++s) rotations[s] = (pieces.rotation + s * whole) % m_;
  const auto source = [&](std::uint64_t strip, std::uint64_t row) {
    return source_of(row, rotations[strip]);
  };
  if (direction_ == Shuffle::c2r) {
    for (std::uint64_t r = 0; r < m_; ++r) {
      if (r + kColumnsAhead < m_) fetch(piece(0, r + kColumnsAhead), count * bytes);
      for (std::uint64_t s = 0; s < count; ++s) std::memcpy(lent(s, r), piece(s, r), bytes);
    }
    for (std::uint64_t s = 0; s < count; ++s)
      rotate_strip({lent(s, 0), bytes, m_, element_bytes_}, Rotation::up);
    for (std::uint64_t i = 0; i < m_; ++i) {
      for (std::uint64_t s = 0; s < count; ++s) std::memcpy(piece(s, i), lent(s, source(s, i)), bytes);
    }
  } else {
    for (std::uint64_t s = 0; s < count; ++s) {
      for (std::uint64_t i = 0; i < m_; ++i) {
        if (i + kColumnsAhead < m_) fetch(piece(s, source(s, i + kColumnsAhead)), bytes);
        std::memcpy(lent(s, i), piece(s, source(s, i)), bytes);
      }
      rotate_strip({lent(s, 0), bytes, m_, element_bytes_}, Rotation::down);
    }
    for (std::uint64_t r = 0; r < m_; ++r) {
      for (std::uint64_t s = 0; s < count; ++s) std::memcpy(piece(s, r), lent(s, r), bytes);
    }
  }
}

template <typename Width>
void ColumnShuffle::gather_by_memory(Width width, const Pieces& pieces, std::byte* memory) const {
  const std::uint64_t bytes = width.bytes();
  const std::uint64_t piece_bytes = pieces.columns * bytes;
  for (std::uint64_t r = 0; r < m_; ++r) {
    const std::byte* const from = pieces.first + r * row_bytes_;
    if (r + kColumnsAhead < m_) fetch(from + kColumnsAhead * row_bytes_, piece_bytes);
    along({r, m_, pieces.columns, piece_bytes}, bytes,
          [&](std::uint64_t at, std::uint64_t place) { width.move(from + at, memory + place); });
  }
  for (std::uint64_t i = 0; i < m_; ++i) {
    std::memcpy(pieces.first + i * row_bytes_, memory + source_of(i, pieces.rotation) * piece_bytes,
                piece_bytes);
  }
}

template <typename Width>
void ColumnShuffle::scatter_by_memory(Width width, const Pieces& pieces, std::byte* memory) const {
  const std::uint64_t bytes = width.bytes();
  const std::uint64_t piece_bytes = pieces.columns * bytes;
  for (std::uint64_t i = 0; i < m_; ++i) {
    if (i + kColumnsAhead < m_)
      fetch(pieces.first + source_of(i + kColumnsAhead, pieces.rotation) * row_bytes_, piece_bytes);
    std::memcpy(memory + i * piece_bytes, pieces.first + source_of(i, pieces.rotation) * row_bytes_,
                piece_bytes);
  }
  for (std::uint64_t r = 0; r < m_; ++r) {
    std::byte* const to = pieces.first + r * row_bytes_;
    along({r, m_, pieces.columns, piece_bytes}, bytes,
          [&](std::uint64_t at, std::uint64_t place) { width.move(memory + place, to + at); });
  }
}

// new[r][k] = old[(r + k) mod m][k]: rows in order, so that those below are still as they were; the first
// ones are needed again at the end.
template <typename Width>
void ColumnShuffle::rotate_up(Width width, const Pieces& pieces) const {
  alignas(kLineBytes) std::byte window[kStripWindowBytes];
  const std::uint64_t bytes = width.bytes();
  const std::uint64_t piece_bytes = pieces.columns * bytes;
  const std::uint64_t saved = pieces.columns - 1;
  for (std::uint64_t r = 0; r < saved; ++r)
    std::memcpy(window + r * piece_bytes, pieces.first + r * row_bytes_, piece_bytes);
  for (std::uint64_t r = 0; r < m_; ++r) {
    std::byte* const piece = pieces.first + r * row_bytes_;
    if (r + saved + kColumnsAhead < m_) fetch(piece + (saved + kColumnsAhead) * row_bytes_, piece_bytes);
    const std::uint64_t below = std::min(pieces.columns, m_ - r);
    const std::byte* from = piece;
    for (std::uint64_t k = 1; k < below; ++k) width.move(from += row_bytes_ + bytes, piece + k * bytes);
    for (std::uint64_t k = below; k < pieces.columns; ++k)
      width.move(window + (r + k - m_) * piece_bytes + k * bytes, piece + k * bytes);
  }
}

// new[r][k] = old[(r - k) mod m][k]: the same from the last row on.
template <typename Width>
void ColumnShuffle::rotate_down(Width width, const Pieces& pieces) const {
  alignas(kLineBytes) std::byte window[kStripWindowBytes];
  const std::uint64_t bytes = width.bytes();
  const std::uint64_t piece_bytes = pieces.columns * bytes;
  const std::uint64_t saved = pieces.columns - 1;
  for (std::uint64_t r = 0; r < saved; ++r)
    std::memcpy(window + r * piece_bytes, pieces.first + (m_ - saved + r) * row_bytes_, piece_bytes);
  for (std::uint64_t r = m_; r-- > 0;) {
    std::byte* const piece = pieces.first + r * row_bytes_;
    if (r >= saved + kColumnsAhead) fetch(piece - (saved + kColumnsAhead) * row_bytes_, piece_bytes);
    const std::uint64_t above = std::min(pieces.columns, r + 1);
    const std::byte* from = piece;
    for (std::uint64_t k = 1; k < above; ++k) width.move(from -= row_bytes_ - bytes, piece + k * bytes);
    for (std::uint64_t k = above; k < pieces.columns; ++k)
      width.move(window + (r + saved - k) * piece_bytes + k * bytes, piece + k * bytes);
  }
}

void ColumnShuffle::follow_cycles(const Pieces& pieces, std::byte* visited) const {
  std::byte kept[kStripPieceBytes];
  const std::uint64_t bytes = pieces.columns * element_bytes_;
  const auto piece = [&](std::uint64_t row) { return pieces.first + row * row_bytes_; };
  const auto mark = [&](std::uint64_t row) { visited[row / 8] |= std::byte{1} << (row % 8); };
  std::memset(visited, 0, m_ / 8 + 1);
  for (std::uint64_t first = 0; first < m_; ++first) {
    if ((visited[first / 8] >> (first % 8) & std::byte{1}) != std::byte{0}) continue;
    std::uint64_t source = source_of(first, pieces.rotation);
    if (source == first) continue;
    std::uint64_t ahead = source;
    for (std::uint64_t k = 0; k < kColumnsAhead; ++k, ahead = source_of(ahead, pieces.rotation))
      fetch(piece(ahead), bytes);
    std::memcpy(kept, piece(first), bytes);
    std::uint64_t row = first;
    while (source != first) {
      fetch(piece(ahead), bytes);
      ahead = source_of(ahead, pieces.rotation);
      std::memcpy(piece(row), piece(source), bytes);
      mark(source);
      row = source;
      source = source_of(row, pieces.rotation);
    }
    std::memcpy(piece(row), kept, bytes);
  }
}

PanelRotation::PanelRotation(std::uint64_t m, std::uint64_t n, std::uint64_t element_bytes, Shuffle direction)
    : m_(m), n_(n), element_bytes_(element_bytes), direction_(direction) {
  const kernels::C2rShape shape = kernels::make_c2r_shape(m, n);
  c_ = shape.c;
  b_ = shape.b;
}

void PanelRotation::move(std::uint64_t task, std::uint64_t columns, std::byte* data,
                         std::byte* memory) const {
  const std::uint64_t parts = (b_ + columns - 1) / columns;
  const std::uint64_t panel = 1 + task / parts;
  const std::uint64_t begin = task % parts * columns;
  const std::uint64_t bytes = std::min(columns, b_ - begin) * element_bytes_;
  std::byte* const first = data + (panel * b_ + begin) * element_bytes_;
  const std::uint64_t row_bytes = n_ * element_bytes_;
  const auto piece = [&](std::uint64_t row) { return first + row * row_bytes; };
  // Up by `up` rows is down by the others: the smaller part is kept meanwhile.
  const std::uint64_t up = direction_ == Shuffle::c2r ? panel : m_ - panel;
  const std::uint64_t down = m_ - up;
  if (up <= down) {
    for (std::uint64_t r = 0; r < up; ++r) std::memcpy(memory + r * bytes, piece(r), bytes);
    for (std::uint64_t r = up; r < m_; ++r) std::memcpy(piece(r - up), piece(r), bytes);
    for (std::uint64_t r = 0; r < up; ++r) std::memcpy(piece(down + r), memory + r * bytes, bytes);
  } else {
    for (std::uint64_t r = 0; r < down; ++r) std::memcpy(memory + r * bytes, piece(up + r), bytes);
    for (std::uint64_t r = m_; r-- > down;) std::memcpy(piece(r), piece(r - down), bytes);
    for (std::uint64_t r = 0; r < down; ++r) std::memcpy(piece(r), memory + r * bytes, bytes);
  }
}

}  // namespace faro::cpu
