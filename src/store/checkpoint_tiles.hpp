// The tiles of all pieces of a checkpoint, one behind the other, so that one pipeline sweeps them all.
//
//     pieces      | q: 0 1 2 | k: 3 | v: 4 | norm: 5 | …       a tile knows its two files
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "faro/file.hpp"
#include "file/checksums.hpp"
#include "file/sweep.hpp"
#include "file/tiles.hpp"
#include "io/transfers.hpp"

namespace faro::store {

/// A piece with its places in files.
struct PlacedPiece {
  file::Sweep sweep;
  std::size_t in_file = 0;
  std::size_t out_file = 0;
  std::uint64_t in_offset = 0;  // in the file
  std::uint64_t out_offset = 0;
};

/// Opens a file for runs of so many bytes.
using OpenForRuns =
    std::function<std::shared_ptr<const io::TransferFile>(std::size_t file, std::uint64_t run_bytes)>;

class CheckpointTiles final : public file::Tiles {
 public:
  struct Hooks {
    OpenForRuns open_in;
    OpenForRuns open_out;
    /// A tile's rows of the output as they will be written, in order.
    std::function<void(std::span<const std::byte> rows)> made;
  };
  /// With `verify` each piece has sums.
  CheckpointTiles(std::vector<PlacedPiece> pieces, Hooks hooks, bool verify, int threads);

  std::uint64_t count() const override { return first_tile_.back(); }
  /// In order. Errors of its move: ErrorCode::verification.
  file::TileWork tile(std::uint64_t number) override;

  std::size_t out_file_of(std::uint64_t tile) const { return pieces_[piece_of(tile)].out_file; }
  /// A tile that an earlier run wrote: its sums are taken from what is read of both files.
  /// `read`: rows of a file into a buffer of tile_bytes.
  using Read = std::function<void(const io::TransferFile& file, const file::Rows& rows)>;
  void add_found(const file::TileWork& work, const Read& read, const std::byte* buffer);

 private:
  struct Piece;
  class PieceMove;

  std::size_t piece_of(std::uint64_t tile) const;
  std::shared_ptr<Piece> opened(std::size_t piece);

  std::vector<PlacedPiece> pieces_;
  std::vector<std::uint64_t> first_tile_;  // of each piece, and the number of all
  Hooks hooks_;
  bool verify_;
  int threads_;
  std::size_t open_piece_ = 0;
  std::shared_ptr<Piece> open_;
};

}  // namespace faro::store
