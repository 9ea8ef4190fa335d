// The sweeps of a transposition in place, ready to run (plan/cpu/sweep_solver.cpp says which there are):
// whole arrays by way of the stack, squares tile by tile, and the shuffles of rows.hpp and columns.hpp.
#include <algorithm>
#include <cstring>

#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/transpose/columns.hpp"
#include "engines/cpu/transpose/rows.hpp"
#include "faro/error.hpp"

namespace faro::cpu {
namespace {

using faro::detail::CpuSweep;
using faro::detail::CpuSweepKind;
using faro::detail::Panels;

Shuffle shuffle_of(const CpuSweep& sweep) { return sweep.r2c ? Shuffle::r2c : Shuffle::c2r; }

// One sweep over arrays, one after another.
class SweepProgram : public ElementProgram {
 public:
  void run(const Step& step) const override {
    const WatchedParts parts(step.arrays);
    for (std::uint64_t array = 0; array < step.arrays; ++array)
      sweep(step.out + array * array_bytes(), step.memory);
  }

 protected:
  SweepProgram(const CpuPass& pass, const CpuSweep& sweep) : ElementProgram(pass), sweep_(sweep) {}

  const CpuSweep& about() const { return sweep_; }
  // What a thread borrows of a row.
  std::byte* part_of_row(std::byte* memory, std::uint64_t rank) const {
    return memory + rank * sweep_.part_bytes;
  }

 private:
  virtual void sweep(std::byte* data, std::byte* memory) const = 0;

  CpuSweep sweep_;
};

// --- whole arrays, and squares

class WholeSweep final : public SweepProgram {
 public:
  WholeSweep(const CpuPass& pass, const CpuSweep& sweep) : SweepProgram(pass, sweep) {}

 private:
  void sweep(std::byte* data, std::byte* /*memory*/) const override {
    alignas(64) std::byte copy[faro::detail::kSmallTransposeBytes];
    const std::uint64_t width = element_bytes();
    std::memcpy(copy, data, array_bytes());
    transpose_plane(width, {copy, about().columns() * width}, about().rows(), about().columns(),
                    {data, about().rows() * width});
  }
};

constexpr std::uint64_t kSquareStageBytes = 16384;
constexpr std::uint64_t kTileRowBytes = 256;

struct Square {
  std::byte* data;
  std::uint64_t side;
  std::uint64_t element_bytes;
  std::uint64_t row_bytes;  // from a row to the next
  std::uint64_t tile;       // elements

  std::uint64_t tiles() const { return (side + tile - 1) / tile; }
  std::uint64_t extent(std::uint64_t number) const { return std::min(tile, side - number * tile); }
  std::byte* at(std::uint64_t row, std::uint64_t column) const {
    return data + row * tile * row_bytes + column * tile * element_bytes;
  }
};

// Tile (row, column) and its mirror image, or itself.
void exchange(const Square& square, std::uint64_t row, std::uint64_t column) {
  alignas(64) std::byte stage[kSquareStageBytes];
  const std::uint64_t bytes = square.element_bytes;
  const std::uint64_t rows = square.extent(row);
  const std::uint64_t columns = square.extent(column);
  std::byte* const tile = square.at(row, column);
  std::byte* const mirror = square.at(column, row);
  const std::uint64_t stride = square.row_bytes;
  transpose_plane(bytes, {tile, stride}, rows, columns, {stage, rows * bytes});
  if (row != column) transpose_plane(bytes, {mirror, stride}, columns, rows, {tile, stride});
  for (std::uint64_t r = 0; r < columns; ++r)
    std::memcpy(mirror + r * stride, stage + r * rows * bytes, rows * bytes);
}

void fetch_tile(const Square& square, std::uint64_t row, std::uint64_t column) {
  const std::uint64_t bytes = square.extent(column) * square.element_bytes;
  for (std::uint64_t r = 0; r < square.extent(row); ++r) {
    const std::byte* const line = square.at(row, column) + r * square.row_bytes;
    for (std::uint64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(line + at, 1, 2);
    __builtin_prefetch(line + bytes - 1, 1, 2);
  }
}

// Elements too long for a stage, piece by piece.
void exchange_long(const Square& square, int threads) {
  share_out(square.side, threads, [&](std::uint64_t begin, std::uint64_t end) {
    alignas(64) std::byte stage[kSquareStageBytes];
    for (std::uint64_t row = begin; row < end; ++row) {
      for (std::uint64_t column = row + 1; column < square.side; ++column) {
        std::byte* const one = square.at(row, column);
        std::byte* const other = square.at(column, row);
        for (std::uint64_t at = 0; at < square.element_bytes; at += kSquareStageBytes) {
          const std::uint64_t bytes = std::min(kSquareStageBytes, square.element_bytes - at);
          std::memcpy(stage, one + at, bytes);
          std::memcpy(one + at, other + at, bytes);
          std::memcpy(other + at, stage, bytes);
        }
      }
    }
  });
}

// Tiles change places in pairs, each transposed on the way.
void transpose_square(Square square, int threads) {
  const std::uint64_t element_bytes = square.element_bytes;
  if (element_bytes > kSquareStageBytes) return exchange_long(square, threads);
  square.tile = std::max<std::uint64_t>(1, kTileRowBytes / element_bytes);
  while (square.tile * square.tile * element_bytes > kSquareStageBytes) square.tile /= 2;
  const std::uint64_t tiles = square.tiles();
  // Row k of tiles and row tiles - 1 - k together have as many pairs as any other two.
  share_out((tiles + 1) / 2, threads, [&](std::uint64_t begin, std::uint64_t end) {
    const auto do_row = [&](std::uint64_t row) {
      for (std::uint64_t column = row; column < tiles; ++column) {
        if (column + 1 < tiles) {
          fetch_tile(square, row, column + 1);
          fetch_tile(square, column + 1, row);
        }
        exchange(square, row, column);
      }
    };
    for (std::uint64_t k = begin; k < end; ++k) {
      do_row(k);
      if (tiles - 1 - k != k) do_row(tiles - 1 - k);
    }
  });
}

class SquareSweep final : public SweepProgram {
 public:
  SquareSweep(const CpuPass& pass, const CpuSweep& sweep) : SweepProgram(pass, sweep) {}

 private:
  void sweep(std::byte* data, std::byte* /*memory*/) const override {
    const std::uint64_t between = about().between;
    const std::uint64_t square_row = about().m * element_bytes();
    const auto square = [&](std::uint64_t number, int threads) {
      transpose_square({.data = data + number * square_row,
                        .side = about().m,
                        .element_bytes = element_bytes(),
                        .row_bytes = between * square_row,
                        .tile = 1},
                       threads);
    };
    if (between == 1 || between < static_cast<std::uint64_t>(threads())) {
      const WatchedParts parts(between);
      for (std::uint64_t number = 0; number < between; ++number) square(number, threads());
      return;
    }
    share_out(between, threads(), [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t number = begin; number < end; ++number) square(number, 1);
    });
  }
};

// --- rows

class RowSweep : public SweepProgram {
 protected:
  RowSweep(const CpuPass& pass, const CpuSweep& sweep)
      : SweepProgram(pass, sweep),
        rows_(sweep.m, sweep.n, pass.element_bytes, shuffle_of(sweep)),
        row_bytes_(sweep.n * pass.element_bytes) {}

  RowPlace row_at(std::byte* data, std::uint64_t i) const {
    if (about().panels == Panels::along_diagonals)
      return {.first = data, .row_bytes = row_bytes_, .row = i, .rows = about().m};
    return {.first = data + i * row_bytes_};
  }
  const RowShuffle& rows() const { return rows_; }

 private:
  RowShuffle rows_;
  std::uint64_t row_bytes_;
};

// Each thread takes whole rows, by way of a row of its own.
class OwnRowSweep final : public RowSweep {
 public:
  OwnRowSweep(const CpuPass& pass, const CpuSweep& sweep) : RowSweep(pass, sweep) {}

 private:
  void sweep(std::byte* data, std::byte* memory) const override {
    const Stretch all{.begin = 0, .end = about().n};
    share_out_by_rank(about().m, threads(), [&](Share share) {
      const RowPlace own{.first = part_of_row(memory, share.rank)};
      for (std::uint64_t i = share.begin; i < share.end; ++i) {
        const RowPlace row = row_at(data, i);
        // The side that lies in the array is gone through in order.
        if (about().r2c) {
          rows().copy(all, row, own);
          shuffle(i, own, row);
        } else {
          shuffle(i, row, own);
          rows().copy(all, own, row);
        }
      }
    });
  }

  void shuffle(std::uint64_t i, const RowPlace& from, const RowPlace& to) const {
    if (about().by_blocks) {
      rows().move_stretch(i, {.begin = 0, .end = about().n}, from, to);
    } else {
      rows().move(i, from, to);
    }
  }
};

// All threads take one row together: row k + 1 goes to the place of row k, which is free by then.
class SharedRowSweep final : public RowSweep {
 public:
  SharedRowSweep(const CpuPass& pass, const CpuSweep& sweep) : RowSweep(pass, sweep) {}

 private:
  void sweep(std::byte* data, std::byte* memory) const override {
    const std::uint64_t m = about().m;
    const RowPlace shared{.first = memory};
    const WatchedParts parts(m + 1);
    for (std::uint64_t place = 0; place < m; ++place) {
      const RowPlace from = row_at(data, place);
      const RowPlace to = place == 0 ? shared : row_at(data, place - 1);
      const std::uint64_t row = about().r2c ? (place + m - 1) % m : place;
      share_out(about().n, threads(), [&](std::uint64_t begin, std::uint64_t end) {
        rows().move_stretch(row, {.begin = begin, .end = end}, from, to);
      });
    }
    share_out(about().n, threads(), [&](std::uint64_t begin, std::uint64_t end) {
      rows().copy({.begin = begin, .end = end}, shared, row_at(data, m - 1));
    });
  }
};

// --- columns

class ColumnSweep final : public SweepProgram {
 public:
  ColumnSweep(const CpuPass& pass, const CpuSweep& sweep)
      : SweepProgram(pass, sweep),
        columns_(sweep.m, sweep.n, pass.element_bytes, shuffle_of(sweep),
                 {.one_early = sweep.one_early, .along_diagonals = sweep.panels == Panels::along_diagonals}) {
  }

 private:
  void sweep(std::byte* data, std::byte* memory) const override {
    share_out_by_rank(columns_.strips(about().strip), threads(), [&](Share share) {
      std::byte* const own = part_of_row(memory, share.rank);
      for (std::uint64_t s = share.begin; s < share.end; ++s) columns_.move(about().strip, s, data, own);
    });
  }

  ColumnShuffle columns_;
};

class PanelSweep final : public SweepProgram {
 public:
  PanelSweep(const CpuPass& pass, const CpuSweep& sweep)
      : SweepProgram(pass, sweep), panels_(sweep.m, sweep.n, pass.element_bytes, shuffle_of(sweep)) {}

 private:
  void sweep(std::byte* data, std::byte* memory) const override {
    const std::uint64_t columns = about().strip.columns;
    share_out_by_rank(panels_.tasks(columns), threads(), [&](Share share) {
      std::byte* const own = part_of_row(memory, share.rank);
      for (std::uint64_t task = share.begin; task < share.end; ++task) panels_.move(task, columns, data, own);
    });
  }

  PanelRotation panels_;
};

}  // namespace

Program sweep_program(const CpuPass& pass) {
  const auto& sweep = std::get<CpuSweep>(pass.kernel);
  switch (sweep.kind) {
    case CpuSweepKind::whole:
      return std::make_unique<WholeSweep>(pass, sweep);
    case CpuSweepKind::square:
      return std::make_unique<SquareSweep>(pass, sweep);
    case CpuSweepKind::panels:
      return std::make_unique<PanelSweep>(pass, sweep);
    case CpuSweepKind::rows:
      return std::make_unique<OwnRowSweep>(pass, sweep);
    case CpuSweepKind::shared_rows:
      return std::make_unique<SharedRowSweep>(pass, sweep);
    case CpuSweepKind::columns:
      break;
  }
  return std::make_unique<ColumnSweep>(pass, sweep);
}

}  // namespace faro::cpu
