// The tiles of a sweep: which rows of the input's file each reads, which of the output's it writes, and the
// plan that takes the one to the other in memory.
//
//     rows of the input    |----| .. |----| .. |----|      one behind the other in a buffer
//                             \ a plan of the CPU engine /
//     rows of the output   |------| ..... |------|         likewise
//
// A tile of an affine map is a coset of S + A^-1 S (layout::Tile), whose rows begin at XORs of basis vectors.
// A tile of axes, rolls and views is a box (layout::CacheBox), whose rows begin at sums of strides. A tile of
// a multiplication modulo any count is a part of an L-shape (modular_tiles.cpp). Where the budget holds whole
// arrays of a batch, a tile is some of them. All offsets are bytes from where the array
// begins in its file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "faro/permutation/strided.hpp"
#include "faro/plan/plan.hpp"
#include "file/disk.hpp"
#include "file/moves.hpp"

namespace faro::file {

/// Ranges of a file: equally long ones, as a rule.
struct Rows {
  struct Digit {
    std::uint64_t extent = 1;
    std::int64_t stride = 0;  // bytes
  };

  std::uint64_t count = 1;
  std::uint64_t bytes = 0;             // of a row
  std::uint64_t begin = 0;             // added to all offsets
  std::uint64_t base = 0;              // of row 0
  std::vector<std::uint64_t> vectors;  // XORed onto base by the bits of a row's number
  std::vector<Digit> digits;           // or added, by its digits, fastest first
  std::uint64_t unit = 1;              // bytes that base and vectors count

  /// Instead of all that: ranges of other lengths, `at` bytes from the begin of the buffer.
  struct Range {
    std::uint64_t at = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Range> ranges = {};

  std::uint64_t total_bytes() const {
    return ranges.empty() ? count * bytes : ranges.back().at + ranges.back().bytes;
  }
  /// Requires: no ranges (unchecked).
  std::uint64_t offset(std::uint64_t row) const;

  /// How many rows or ranges there are, and the number-th, in the order of the buffer.
  std::uint64_t ranges_count() const { return ranges.empty() ? count : ranges.size(); }
  Range range(std::uint64_t number) const {
    if (!ranges.empty()) return ranges[number];
    return {.at = number * bytes, .offset = offset(number), .bytes = bytes};
  }
};

struct TileWork {
  Rows in;
  Rows out;
  SharedMove move;  // from in's rows to out's, each one behind the other
};

/// All tiles of a sweep, made when they are asked for.
class Tiles {
 public:
  virtual ~Tiles() = default;
  virtual std::uint64_t count() const = 0;
  /// Requires: number < count() (unchecked). By one thread at a time.
  virtual TileWork tile(std::uint64_t number) = 0;

  /// Of a whole tile; nothing in it where tiles have none.
  virtual TilePlan plan() const { return {}; }

  std::uint64_t tile_bytes = 0;      // the most of one side of a tile
  std::uint64_t read_run_bytes = 0;  // of a row of a whole tile
  std::uint64_t write_run_bytes = 0;
  Placement placement = Placement::out_of_place;  // of the moves: in place, both sides have one buffer
};

/// One range.
Rows one_row(std::uint64_t begin, std::uint64_t bytes);

/// What Options::segment_bytes makes of TileBudget::long_run_bytes, of a sweep over so many bytes.
std::uint64_t long_run_bytes(const Options& options, std::uint64_t all_bytes);

/// Of a tile whose runs are as long as are of use: larger ones overlap less, smaller ones have fewer
/// requests.
std::uint64_t enough_tile_bytes(std::uint64_t all_bytes);

struct TileBudget {
  std::uint64_t tile_bytes = 0;  // of one side of a tile at most
  std::shared_ptr<const MoveMaker> moves;
  int threads = 0;  // of what the moves are not made for
  /// Longer rows make the disk no faster.
  std::uint64_t long_run_bytes = std::uint64_t{4} << 20;
  std::uint64_t enough_bytes = std::uint64_t{4} << 20;  // enough_tile_bytes()
  /// Which of both sides is worth longer rows.
  DiskCurve disk = usual_disk();
  /// Of affine maps of elements of 2^k bytes: in place, so that two buffers do instead of three.
  Placement placement = Placement::out_of_place;

  /// Seconds a byte that is read and written in such runs, no more for runs longer than are long.
  double cost(std::uint64_t read_run_bytes, std::uint64_t write_run_bytes) const {
    return disk.predict_seconds(1, std::min(read_run_bytes, long_run_bytes),
                                std::min(write_run_bytes, long_run_bytes));
  }
};

/// Each array of the batch fits. Requires: so it does (checked).
std::unique_ptr<Tiles> tiles_of_arrays(const Problem& problem, const TileBudget& budget);
/// Errors: ErrorCode::value for a budget of less than one element.
std::unique_ptr<Tiles> tiles_of_affine(const Problem& problem, const TileBudget& budget);
/// Whether short rows of the input may be read together with what lies between them: where no other view
/// needs that.
enum class Gaps : std::uint8_t { left_out, may_be_read };

/// One view after another. Requires: strides of the output above 0 (normal_form).
std::unique_ptr<Tiles> tiles_of_views(const std::vector<Strided>& views, std::uint64_t element_bytes,
                                      const TileBudget& budget, Gaps gaps);

/// Of a Modular. Errors: ErrorCode::value for a budget of less than one element.
std::unique_ptr<Tiles> tiles_of_modular(const Problem& problem, const TileBudget& budget);

/// A roll, a flip or a permutation of axes of every array of a batch.
std::vector<Strided> views_of(const Permutation& permutation, std::uint64_t batch);

}  // namespace faro::file
