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
#include "file/tile_work.hpp"

namespace faro::file {

/// What Options::segment_bytes makes of TileBudget::long_run_bytes, of a sweep over so many bytes.
std::uint64_t long_run_bytes(const Options& options, std::uint64_t all_bytes);

/// The bytes of a tile whose runs are as long as are of use: larger ones overlap less, smaller ones have
/// fewer requests.
std::uint64_t enough_tile_bytes(std::uint64_t all_bytes);

/// How many bytes of a file so many of a tile are: not as many where numbers are changed (number_tiles.hpp).
struct Scale {
  std::uint64_t file = 1;
  std::uint64_t tile = 1;
  std::uint64_t in_file(std::uint64_t bytes) const { return bytes / tile * file; }
  std::uint64_t in_tile(std::uint64_t bytes) const { return std::max<std::uint64_t>(bytes * tile / file, 1); }
};

struct TileBudget {
  std::uint64_t tile_bytes = 0;  // of one side of a tile at most
  std::shared_ptr<const MoveMaker> moves;
  int threads = 0;  // of what the moves are not made for
  /// Longer rows make the disk no faster.
  std::uint64_t long_run_bytes = std::uint64_t{4} << 20;
  std::uint64_t enough_bytes = std::uint64_t{4} << 20;  // enough_tile_bytes()
  /// Which of both sides is worth longer rows.
  DiskCurve disk = usual_disk();
  /// For affine maps of elements of 2^k bytes: in place, so that two buffers do instead of three.
  Placement placement = Placement::out_of_place;
  Scale read = {};
  Scale written = {};

  /// Seconds a byte that is read and written in such runs, no more for runs longer than are long.
  double cost(std::uint64_t read_run_bytes, std::uint64_t write_run_bytes) const {
    return disk.predict_seconds(1, std::min(read.in_file(read_run_bytes), long_run_bytes),
                                std::min(written.in_file(write_run_bytes), long_run_bytes));
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

/// The tiles of a Modular. Errors: ErrorCode::value for a budget of less than one element.
std::unique_ptr<Tiles> tiles_of_modular(const Problem& problem, const TileBudget& budget);

}  // namespace faro::file
