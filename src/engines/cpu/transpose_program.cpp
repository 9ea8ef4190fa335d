#include "engines/cpu/transpose_program.hpp"

#include <algorithm>
#include <cstring>

#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/transpose_square.hpp"
#include "faro/error.hpp"

namespace faro::cpu {

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
      .columns = ColumnShuffle(m_, n_, width, direction_,
                               workers.shared_rows ? RowsLie::one_early : RowsLie::in_place),
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
  if (!panels.needed()) return;
  const std::uint64_t columns = panels.columns_for(column_memory());
  share_out_by_rank(panels.tasks(columns), column_team(), [&](Share share) {
    std::byte* const own = memory + share.rank * column_memory();
    for (std::uint64_t task = share.begin; task < share.end; ++task) panels.move(task, columns, data, own);
  });
}

void TransposeProgram::shuffle_rows(std::byte* data, std::byte* memory) const {
  share_out_by_rank(m_, workers_.threads, [&](Share share) {
    std::byte* const own = memory + share.rank * workers_.row_bytes;
    for (std::uint64_t i = share.begin; i < share.end; ++i) {
      std::byte* const row = data + i * workers_.row_bytes;
      // The side that lies in the array is gone through in order.
      if (direction_ == Shuffle::c2r) {
        sweeps_->rows.move(i, row, own);
        std::memcpy(row, own, workers_.row_bytes);
      } else {
        std::memcpy(own, row, workers_.row_bytes);
        sweeps_->rows.move(i, own, row);
      }
    }
  });
}

void TransposeProgram::shuffle_shared_rows(std::byte* data, std::byte* memory) const {
  const std::uint64_t row_bytes = workers_.row_bytes;
  for (std::uint64_t place = 0; place < m_; ++place) {
    const std::byte* const from = data + place * row_bytes;
    std::byte* const to = place == 0 ? memory : data + (place - 1) * row_bytes;
    const std::uint64_t row = direction_ == Shuffle::c2r ? place : (place + m_ - 1) % m_;
    share_out(n_, workers_.threads, [&](std::uint64_t begin, std::uint64_t end) {
      sweeps_->rows.move_stretch(row, {.begin = begin, .end = end}, from, to);
    });
  }
  share_out(row_bytes, workers_.threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::memcpy(data + (m_ - 1) * row_bytes + begin, memory + begin, end - begin);
  });
}

void TransposeProgram::shuffle_columns(std::byte* data, std::byte* memory) const {
  const ColumnShuffle& columns = sweeps_->columns;
  const Strip strip = columns.strip_for(column_memory());
  const std::uint64_t strips = (n_ + strip.columns - 1) / strip.columns;
  share_out_by_rank(strips, column_team(), [&](Share share) {
    std::byte* const own = memory + share.rank * column_memory();
    for (std::uint64_t s = share.begin; s < share.end; ++s) columns.move(strip, s * strip.columns, data, own);
  });
}

}  // namespace faro::cpu
