// Rows, columns, rows (schedule/row_column.hpp). A row is permuted in a buffer; columns are, a strip of them
// one cache line wide at a time, so that memory is read and written in whole lines. As published, columns are
// rows of the transposed matrix, which takes two passes more.
#include <algorithm>

#include "engines/cpu/chunk_moves.hpp"
#include "engines/cpu/index_program.hpp"
#include "engines/cpu/team.hpp"

namespace faro::cpu {
namespace {

using schedule::RowColumnSchedule;

// Lists of places for the rows of a matrix, and which way they are read.
struct RowLists {
  const std::uint16_t* places;
  std::uint64_t rows;
  std::uint64_t columns;
};

class RowColumnProgram final : public IndexProgram {
 public:
  RowColumnProgram(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule,
                   RowColumnPasses passes)
      : IndexProgram(job),
        schedule_(std::move(schedule)),
        matrix_(std::get<RowColumnSchedule>(schedule_->what)),
        forwards_(schedule_->applied == Direction::scatter),
        lent_(faro::detail::row_column_workspace(matrix_.rows, matrix_.columns, job.element_bytes)) {
    if (passes == RowColumnPasses::three) return;
    transpose_ = axes_program(job, maps::transpose_any(matrix_.rows, matrix_.columns));
    transpose_back_ = axes_program(job, maps::transpose_any(matrix_.columns, matrix_.rows));
  }

  std::uint64_t workspace_bytes() const override {
    const std::uint64_t threads = lent_.thread_bytes * static_cast<std::uint64_t>(job().threads);
    if (!transpose_) return threads;
    return job().total_bytes() +
           std::max({threads, transpose_->workspace_bytes(), transpose_back_->workspace_bytes()});
  }

  void run(const std::byte* in, std::byte* out, std::byte* workspace) const override {
    const RowLists first{matrix_.first.data(), matrix_.rows, matrix_.columns};
    const RowLists middle{matrix_.middle.data(), matrix_.columns, matrix_.rows};
    const RowLists last{matrix_.last.data(), matrix_.rows, matrix_.columns};
    permute_rows(forwards_ ? first : last, in, out, workspace);
    if (!transpose_) {
      permute_columns(out, workspace);
    } else {
      std::byte* const threads = workspace;
      std::byte* const arrays = workspace + (workspace_bytes() - job().total_bytes());
      transpose_->run(out, arrays, threads);
      permute_rows(middle, arrays, arrays, threads);
      transpose_back_->run(arrays, out, threads);
    }
    permute_rows(forwards_ ? last : first, out, out, workspace);
  }

 private:
  template <typename Work>
  void each_share(std::uint64_t tasks, std::byte* workspace, const Work& work) const {
    const int team = useful_threads(job().threads, job().total_bytes());
    share_out_by_rank(tasks, team, [&](Share share) {
      work(share, workspace + share.rank * lent_.thread_bytes);
      finish_streams();
    });
  }

  // In place where in == out: a row is whole in the buffer before it is written.
  void permute_rows(const RowLists& lists, const std::byte* in, std::byte* out, std::byte* workspace) const {
    const std::uint64_t bytes = lists.columns * job().element_bytes;
    const bool streamed = job().streamed();
    each_share(job().batch * lists.rows, workspace, [&](Share share, std::byte* memory) {
      with_width(job().element_bytes, [&](auto width) {
        for (std::uint64_t row = share.begin; row < share.end; ++row) {
          const std::uint16_t* const places = lists.places + row % lists.rows * lists.columns;
          if (forwards_) {
            scatter_chunk(width, in + row * bytes, places, lists.columns, memory);
            send(memory, out + row * bytes, bytes);
          } else {
            copy_cached(in + row * bytes, memory, bytes);
            write_in_order(lists.columns, job().element_bytes, streamed, memory + lent_.stage_offset,
                           out + row * bytes, [&](std::uint64_t begin, std::uint64_t end, std::byte* to) {
                             gather_chunk(width, memory, places + begin, end - begin, to);
                           });
          }
        }
      });
    });
  }

  void permute_columns(std::byte* array, std::byte* workspace) const {
    const std::uint64_t strips = (matrix_.columns + lent_.strip - 1) / lent_.strip;
    each_share(job().batch * strips, workspace, [&](Share share, std::byte* memory) {
      with_width(job().element_bytes, [&](auto width) {
        for (std::uint64_t task = share.begin; task < share.end; ++task) {
          permute_strip(width, task % strips * lent_.strip, array + task / strips * job().array_bytes(),
                        memory);
        }
      });
    });
  }

  template <typename Width>
  void permute_strip(Width width, std::uint64_t first_column, std::byte* array, std::byte* memory) const {
    const std::uint64_t bytes = width.bytes();
    const std::uint64_t rows = matrix_.rows;
    const std::uint64_t row_bytes = matrix_.columns * bytes;
    const std::uint64_t columns = std::min<std::uint64_t>(lent_.strip, matrix_.columns - first_column);
    std::byte* const strip = array + first_column * bytes;
    const std::uint16_t* const places = matrix_.middle.data() + first_column * rows;
    constexpr std::uint64_t kRowsAhead = 32;
    for (std::uint64_t row = 0; row < rows; ++row) {
      const std::byte* const from = strip + row * row_bytes;
      if (row + kRowsAhead < rows) __builtin_prefetch(from + kRowsAhead * row_bytes);
      for (std::uint64_t c = 0; c < columns; ++c) {
        const std::uint64_t place = places[c * rows + row];
        if (forwards_) {
          width.move(from + c * bytes, memory + (place * lent_.strip + c) * bytes);
        } else {
          width.move(from + c * bytes, memory + (row * lent_.strip + c) * bytes);
        }
      }
    }
    for (std::uint64_t row = 0; row < rows; ++row) {
      std::byte* const to = strip + row * row_bytes;
      if (forwards_) {
        send(memory + row * lent_.strip * bytes, to, columns * bytes);
        continue;
      }
      for (std::uint64_t c = 0; c < columns; ++c)
        width.move(memory + (places[c * rows + row] * lent_.strip + c) * bytes, to + c * bytes);
    }
  }

  void send(const std::byte* from, std::byte* to, std::uint64_t bytes) const {
    copy_bytes(from, to, bytes, job().streamed());
  }

  std::shared_ptr<const schedule::IndexSchedule> schedule_;
  const RowColumnSchedule& matrix_;
  bool forwards_;
  faro::detail::RowColumnWorkspace lent_;
  Program transpose_;  // of the five passes
  Program transpose_back_;
};

}  // namespace

Program row_column_program(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule,
                           RowColumnPasses passes) {
  return std::make_unique<RowColumnProgram>(job, std::move(schedule), passes);
}

}  // namespace faro::cpu
