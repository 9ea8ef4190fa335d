#include "engines/cpu/transpose_program.hpp"

#include <algorithm>
#include <cstring>

#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/transpose_square.hpp"
#include "faro/error.hpp"

namespace faro::cpu {

using faro::detail::Panels;

TransposeProgram::TransposeProgram(const Rectangle& rectangle, const faro::detail::TransposeWorkers& workers,
                                   std::uint64_t small_bytes)
    : rectangle_(rectangle),
      workers_(workers),
      small_bytes_(std::min(small_bytes, faro::detail::kSmallTransposeBytes)),
      m_(std::min(rectangle.rows, rectangle.columns)),
      n_(std::max(rectangle.rows, rectangle.columns)),
      direction_(rectangle.rows <= rectangle.columns ? Shuffle::c2r : Shuffle::r2c) {
  if (rectangle.arrays == 0 || m_ <= 1 || m_ == n_ ||
      rectangle.count() * rectangle.element_bytes <= small_bytes_)
    return;
  FARO_CHECK(workers.row_bytes == n_ * rectangle.element_bytes);
  FARO_CHECK(m_ <= ~std::uint32_t{0});
  const std::uint64_t width = rectangle.element_bytes;
  sweeps_.emplace(Sweeps{
      .rows = RowShuffle(m_, n_, width, direction_),
      .columns = ColumnShuffle(
          m_, n_, width, direction_,
          {.one_early = workers.shared_rows, .along_diagonals = workers.panels == Panels::along_diagonals}),
      .panels = PanelRotation(m_, n_, width, direction_),
  });
}

void TransposeProgram::run(std::byte* data, std::byte* workspace) const {
  if (m_ <= 1 || rectangle_.arrays == 0) return;
  const std::uint64_t array_bytes = rectangle_.count() * rectangle_.element_bytes;
  share_out_by_rank(rectangle_.arrays, static_cast<int>(workers_.arrays_at_once), [&](Share share) {
    std::byte* const memory = workspace == nullptr ? nullptr : workspace + share.rank * workers_.row_bytes;
    for (std::uint64_t array = share.begin; array < share.end; ++array)
      run_array(data + array * array_bytes, memory);
  });
}

void TransposeProgram::run_array(std::byte* data, std::byte* memory) const {
  if (sweeps_) {
    if (direction_ == Shuffle::c2r) rotate_panels(data, memory);
    if (direction_ == Shuffle::r2c) shuffle_columns(data, memory);
    if (workers_.shared_rows) {
      shuffle_shared_rows(data, memory);
    } else {
      shuffle_rows(data, memory);
    }
    if (direction_ == Shuffle::c2r) shuffle_columns(data, memory);
    if (direction_ == Shuffle::r2c) rotate_panels(data, memory);
  } else if (rectangle_.count() * rectangle_.element_bytes <= small_bytes_) {
    transpose_small(data);
  } else {
    transpose_square(data, m_, rectangle_.element_bytes, workers_.threads);
  }
}

void TransposeProgram::transpose_small(std::byte* data) const {
  alignas(64) std::byte copy[faro::detail::kSmallTransposeBytes];
  const std::uint64_t width = rectangle_.element_bytes;
  std::memcpy(copy, data, rectangle_.count() * width);
  transpose_plane(width, {copy, rectangle_.columns * width}, rectangle_.rows, rectangle_.columns,
                  {data, rectangle_.rows * width});
}

// Each thread has a row of its own, or its part of the one that all share, of at least m elements.
int TransposeProgram::column_team() const {
  const auto threads = static_cast<std::uint64_t>(workers_.threads);
  return static_cast<int>(workers_.shared_rows ? std::min(threads, n_ / m_) : threads);
}
std::uint64_t TransposeProgram::column_memory() const {
  return workers_.shared_rows ? workers_.row_bytes / static_cast<std::uint64_t>(column_team())
                              : workers_.row_bytes;
}

void TransposeProgram::rotate_panels(std::byte* data, std::byte* memory) const {
  const PanelRotation& panels = sweeps_->panels;
  if (workers_.panels != Panels::rotated_apart) return;
  const std::uint64_t columns = panels.columns_for(column_memory());
  share_out_by_rank(panels.tasks(columns), column_team(), [&](Share share) {
    std::byte* const own = memory + share.rank * column_memory();
    for (std::uint64_t task = share.begin; task < share.end; ++task) panels.move(task, columns, data, own);
  });
}

RowPlace TransposeProgram::row_at(std::byte* data, std::uint64_t i) const {
  if (workers_.panels == Panels::along_diagonals)
    return {.first = data, .row_bytes = workers_.row_bytes, .row = i, .rows = m_};
  return {.first = data + i * workers_.row_bytes};
}

void TransposeProgram::shuffle_rows(std::byte* data, std::byte* memory) const {
  const RowShuffle& rows = sweeps_->rows;
  const Stretch all{.begin = 0, .end = n_};
  share_out_by_rank(m_, workers_.threads, [&](Share share) {
    const RowPlace own{.first = memory + share.rank * workers_.row_bytes};
    for (std::uint64_t i = share.begin; i < share.end; ++i) {
      const RowPlace row = row_at(data, i);
      // The side that lies in the array is gone through in order.
      if (direction_ == Shuffle::c2r) {
        rows.move(i, row, own);
        rows.copy(all, own, row);
      } else {
        rows.copy(all, row, own);
        rows.move(i, own, row);
      }
    }
  });
}

void TransposeProgram::shuffle_shared_rows(std::byte* data, std::byte* memory) const {
  const RowShuffle& rows = sweeps_->rows;
  const RowPlace shared{.first = memory};
  for (std::uint64_t place = 0; place < m_; ++place) {
    const RowPlace from = row_at(data, place);
    const RowPlace to = place == 0 ? shared : row_at(data, place - 1);
    const std::uint64_t row = direction_ == Shuffle::c2r ? place : (place + m_ - 1) % m_;
    share_out(n_, workers_.threads, [&](std::uint64_t begin, std::uint64_t end) {
      rows.move_stretch(row, {.begin = begin, .end = end}, from, to);
    });
  }
  share_out(n_, workers_.threads, [&](std::uint64_t begin, std::uint64_t end) {
    rows.copy({.begin = begin, .end = end}, shared, row_at(data, m_ - 1));
  });
}

void TransposeProgram::shuffle_columns(std::byte* data, std::byte* memory) const {
  const ColumnShuffle& columns = sweeps_->columns;
  const Strip strip = columns.strip_for(column_memory());
  share_out_by_rank(columns.strips(strip), column_team(), [&](Share share) {
    std::byte* const own = memory + share.rank * column_memory();
    for (std::uint64_t s = share.begin; s < share.end; ++s) columns.move(strip, s, data, own);
  });
}

}  // namespace faro::cpu
