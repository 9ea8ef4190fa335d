#include "store/checkpoint_tiles.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace faro::store {
namespace {

// The same rows so many bytes further on.
file::Rows moved(file::Rows rows, std::uint64_t bytes) {
  rows.begin += bytes;
  for (file::Rows::Range& range : rows.ranges) range.offset += bytes;
  return rows;
}

}  // namespace

// A piece whose tiles are on their way.
struct CheckpointTiles::Piece {
  std::unique_ptr<file::Tiles> tiles;
  std::shared_ptr<const io::TransferFile> in;
  std::shared_ptr<const io::TransferFile> out;
  std::optional<file::Checksums> sums;
  std::uint64_t out_bytes = 0;

  // What lies behind the piece's last tile: all of it was read and written.
  void add(const file::TileWork& work, std::uint64_t number, const std::byte* y) {
    sums->add_written(work.out, y);
    sums->add_covered(sums->covered(work.out));
    if (number + 1 == tiles->count()) sums->require_equal(out_bytes);
  }
};

// A tile's move, with what is noted of it. `work` has the offsets of the piece.
class CheckpointTiles::PieceMove final : public file::TileMove {
 public:
  PieceMove(std::shared_ptr<Piece> piece, std::uint64_t number, file::TileWork work, const Hooks& hooks)
      : piece_(std::move(piece)), number_(number), work_(std::move(work)), hooks_(hooks) {}

  void run(std::byte* x, std::byte* y) const override {
    if (piece_->sums) piece_->sums->add_read(work_, x);
    if (piece_->tiles->placement == Placement::in_place) {
      std::memcpy(y, x, work_.read_bytes());
      work_.move->run(y, y);
    } else {
      work_.move->run(x, y);
    }
    if (piece_->sums) piece_->add(work_, number_, y);
    hooks_.made({y, work_.out.total_bytes()});
  }

  // Adds the sum of a tile that is there, with what is read for it and of it.
  void add_found(const Read& read, const file::TileWork& placed, const std::byte* buffer) const {
    if (!piece_->sums) return;
    read(*placed.in_file, placed.in);
    piece_->sums->add_read(work_, buffer);
    read(*placed.out_file, placed.out);
    piece_->add(work_, number_, buffer);
  }

 private:
  std::shared_ptr<Piece> piece_;
  std::uint64_t number_;
  file::TileWork work_;
  const Hooks& hooks_;
};

CheckpointTiles::CheckpointTiles(std::vector<PlacedPiece> pieces, Hooks hooks, bool verify, int threads)
    : pieces_(std::move(pieces)),
      first_tile_{0},
      hooks_(std::move(hooks)),
      verify_(verify),
      threads_(threads),
      open_piece_(pieces_.size()) {
  first_tile_.reserve(pieces_.size() + 1);
  for (const PlacedPiece& piece : pieces_) {
    const file::Facts& facts = piece.sweep.facts();
    first_tile_.push_back(first_tile_.back() + facts.tiles);
    tile_bytes = std::max(tile_bytes, facts.tile_bytes);
  }
}

std::size_t CheckpointTiles::piece_of(std::uint64_t tile) const {
  const auto behind = std::upper_bound(first_tile_.begin(), first_tile_.end(), tile);
  return static_cast<std::size_t>(behind - first_tile_.begin()) - 1;
}

std::shared_ptr<CheckpointTiles::Piece> CheckpointTiles::opened(std::size_t number) {
  if (open_piece_ == number) return open_;
  const PlacedPiece& placed = pieces_[number];
  const file::Sweep::State& state = placed.sweep.state();
  auto piece = std::make_shared<Piece>();
  piece->tiles = state.tiles();
  piece->in = hooks_.open_in(placed.in_file, piece->tiles->read_run_bytes);
  piece->out = hooks_.open_out(placed.out_file, piece->tiles->write_run_bytes);
  piece->out_bytes = state.out_bytes;
  if (verify_) piece->sums.emplace(file::checksums_of(state, threads_));
  open_piece_ = number;
  open_ = std::move(piece);
  return open_;
}

file::TileWork CheckpointTiles::tile(std::uint64_t number) {
  const std::size_t piece = piece_of(number);
  const PlacedPiece& placed = pieces_[piece];
  const std::shared_ptr<Piece> of = opened(piece);
  const std::uint64_t within = number - first_tile_[piece];
  file::TileWork work = of->tiles->tile(within);
  file::Rows in = moved(work.in, placed.in_offset);
  file::Rows out = moved(work.out, placed.out_offset);
  return {.in = std::move(in),
          .out = std::move(out),
          .move = std::make_shared<PieceMove>(of, within, std::move(work), hooks_),
          .in_file = of->in,
          .out_file = of->out};
}

void CheckpointTiles::add_found(const file::TileWork& work, const Read& read, const std::byte* buffer) {
  static_cast<const PieceMove&>(*work.move).add_found(read, work, buffer);
}

}  // namespace faro::store
