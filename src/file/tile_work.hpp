// What a sweep does with a tile: which rows of the input's file it reads, which of the output's it writes,
// and the move in memory between them. tiles.hpp makes the tiles of each kind of permutation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "file/moves.hpp"
#include "io/transfers.hpp"

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
  Rows added = {};  // of another input, behind in's in the buffer
  // Where tiles of one sweep are of several files; null: the pipeline's.
  std::shared_ptr<const io::TransferFile> in_file = nullptr;
  std::shared_ptr<const io::TransferFile> out_file = nullptr;
  /// That are read into the buffer.
  std::uint64_t read_bytes() const { return in.total_bytes() + added.total_bytes(); }
};

/// All tiles of a sweep, made when they are asked for.
class Tiles {
 public:
  virtual ~Tiles() = default;
  virtual std::uint64_t count() const = 0;
  /// Requires: number < count() (unchecked). By one thread at a time.
  virtual TileWork tile(std::uint64_t number) = 0;

  /// The plan of a whole tile; an empty one where tiles have none.
  virtual TilePlan plan() const { return {}; }

  std::uint64_t tile_bytes = 0;      // the most of one side of a tile
  std::uint64_t read_run_bytes = 0;  // of a row of a whole tile
  std::uint64_t write_run_bytes = 0;
  Placement placement = Placement::out_of_place;  // of the moves: in place, both sides have one buffer
};

/// One range.
Rows one_row(std::uint64_t begin, std::uint64_t bytes);

}  // namespace faro::file
