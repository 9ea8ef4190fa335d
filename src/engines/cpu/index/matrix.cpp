// Rows, columns, rows (faro/schedule/row_column.hpp). A row is permuted in a buffer; columns are, a strip of
// them one cache line wide at a time, so that memory is read and written in whole lines.
#include <algorithm>

#include "engines/cpu/index/chunk_moves.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/team.hpp"

namespace faro::cpu {
namespace {

using schedule::RowColumnSchedule;

// A list of places for each row, or for each column.
const std::vector<std::uint16_t>& places_of(const CpuPass& pass, const schedule::IndexSchedule& schedule) {
  const auto& matrix = std::get<RowColumnSchedule>(schedule.what);
  switch (pass.tables.front().kind) {
    case detail::TableKind::first:
      return matrix.first;
    case detail::TableKind::middle:
      return matrix.middle;
    default:
      return matrix.last;
  }
}

template <typename Matrix>
class MatrixProgram : public ElementProgram {
 public:
  MatrixProgram(const CpuPass& pass, SharedSchedule schedule)
      : ElementProgram(pass),
        matrix_(std::get<Matrix>(pass.kernel)),
        forwards_(matrix_.way == Way::forwards),
        schedule_(std::move(schedule)),
        lists_(places_of(pass, *schedule_)) {}

 protected:
  Matrix matrix_;
  bool forwards_;
  SharedSchedule schedule_;
  const std::vector<std::uint16_t>& lists_;
};

// In place where input and output are one: a row is whole in the buffer before it is written.
class RowsProgram final : public MatrixProgram<detail::CpuRows> {
 public:
  using MatrixProgram::MatrixProgram;

  void run(const Step& step) const override {
    const std::uint64_t bytes = matrix_.columns * element_bytes();
    share_out_by_rank(step.arrays * matrix_.rows, threads(), [&](Share share) {
      std::byte* const memory = part(step, share.rank);
      with_width(element_bytes(), [&](auto width) {
        for (std::uint64_t row = share.begin; row < share.end; ++row) {
          const std::uint16_t* const places = lists_.data() + row % matrix_.rows * matrix_.columns;
          const std::byte* const in = step.in + row * bytes;
          std::byte* const out = step.out + row * bytes;
          if (forwards_) {
            scatter_chunk(width, in, places, matrix_.columns, memory);
            copy_bytes(memory, out, bytes, streamed());
          } else {
            copy_cached(in, memory, bytes);
            write_in_order(matrix_.columns, element_bytes(), streamed(), memory + matrix_.part.stage_offset,
                           out, [&](std::uint64_t begin, std::uint64_t end, std::byte* to) {
                             gather_chunk(width, memory, places + begin, end - begin, to);
                           });
          }
        }
      });
      finish_streams();
    });
  }
};

// In place, strip by strip.
class ColumnsProgram final : public MatrixProgram<detail::CpuColumns> {
 public:
  using MatrixProgram::MatrixProgram;

  void run(const Step& step) const override {
    const std::uint64_t strips = (matrix_.columns + matrix_.part.strip - 1) / matrix_.part.strip;
    share_out_by_rank(step.arrays * strips, threads(), [&](Share share) {
      std::byte* const memory = part(step, share.rank);
      with_width(element_bytes(), [&](auto width) {
        for (std::uint64_t task = share.begin; task < share.end; ++task) {
          permute_strip(width, task % strips * matrix_.part.strip, step.out + task / strips * array_bytes(),
                        memory);
        }
      });
      finish_streams();
    });
  }

 private:
  template <typename Width>
  void permute_strip(Width width, std::uint64_t first_column, std::byte* array, std::byte* memory) const {
    const std::uint64_t bytes = width.bytes();
    const std::uint64_t rows = matrix_.rows;
    const std::uint64_t row_bytes = matrix_.columns * bytes;
    const std::uint64_t columns = std::min<std::uint64_t>(matrix_.part.strip, matrix_.columns - first_column);
    std::byte* const strip = array + first_column * bytes;
    const std::uint16_t* const places = lists_.data() + first_column * rows;
    constexpr std::uint64_t kRowsAhead = 32;
    for (std::uint64_t row = 0; row < rows; ++row) {
      const std::byte* const from = strip + row * row_bytes;
      if (row + kRowsAhead < rows) __builtin_prefetch(from + kRowsAhead * row_bytes);
      for (std::uint64_t c = 0; c < columns; ++c) {
        const std::uint64_t place = places[c * rows + row];
        if (forwards_) {
          width.move(from + c * bytes, memory + (place * matrix_.part.strip + c) * bytes);
        } else {
          width.move(from + c * bytes, memory + (row * matrix_.part.strip + c) * bytes);
        }
      }
    }
    for (std::uint64_t row = 0; row < rows; ++row) {
      std::byte* const to = strip + row * row_bytes;
      if (forwards_) {
        copy_bytes(memory + row * matrix_.part.strip * bytes, to, columns * bytes, streamed());
        continue;
      }
      for (std::uint64_t c = 0; c < columns; ++c)
        width.move(memory + (places[c * rows + row] * matrix_.part.strip + c) * bytes, to + c * bytes);
    }
  }
};

}  // namespace

Program rows_program(const CpuPass& pass, const SharedSchedule& schedule) {
  return std::make_unique<RowsProgram>(pass, schedule);
}

Program columns_program(const CpuPass& pass, const SharedSchedule& schedule) {
  return std::make_unique<ColumnsProgram>(pass, schedule);
}

}  // namespace faro::cpu
