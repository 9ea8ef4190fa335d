#include "file/pipeline.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "permutation/text.hpp"
#include "rounding.hpp"
#include "size_text.hpp"

namespace faro::file {
namespace {

constexpr int kIoThreads = 8;
constexpr std::uint64_t kMostSliceBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kShortRunBytes = std::uint64_t{16} << 10;
constexpr std::size_t kMostPieces = 256;
constexpr std::uint64_t kTileWorthRest = std::uint64_t{1}
                                         << 20;  // which takes far longer than making threads

int io_threads(const Options& options) { return options.io_threads > 0 ? options.io_threads : kIoThreads; }

std::uint64_t slice_bytes_of(std::uint64_t tile_bytes, int threads) {
  constexpr std::uint64_t kSlicesAThread = 4;
  const std::uint64_t wanted = tile_bytes / (kSlicesAThread * static_cast<std::uint64_t>(threads));
  return std::clamp(std::bit_floor(wanted), io::kTransferBlock, kMostSliceBytes);
}

// What was started uses the tiles: it is waited for, whatever is thrown meanwhile.
class DropAtTheEnd {
 public:
  explicit DropAtTheEnd(IoTeam& team) : team_(team) {}
  ~DropAtTheEnd() { team_.drop(); }
  DropAtTheEnd(const DropAtTheEnd&) = delete;
  DropAtTheEnd& operator=(const DropAtTheEnd&) = delete;

 private:
  IoTeam& team_;
};

// Pieces of a file in the order of memory; those that follow one another in the file, too, are one.
template <typename Transfer>
class PieceList {
 public:
  explicit PieceList(const Transfer& transfer) : transfer_(transfer) { pieces_.reserve(kMostPieces); }

  void add(const io::Piece& piece) {
    if (!pieces_.empty() && pieces_.back().offset + pieces_.back().bytes == piece.offset) {
      pieces_.back().bytes += piece.bytes;
      return;
    }
    if (pieces_.size() == kMostPieces) flush();
    pieces_.push_back(piece);
  }

  void flush() {
    if (!pieces_.empty()) transfer_(std::span<const io::Piece>(pieces_));
    pieces_.clear();
  }

 private:
  const Transfer& transfer_;
  std::vector<io::Piece> pieces_;
};

// Calls transfer(pieces) for what of the rows lies within [begin, end) of a buffer that has them one behind
// the other.
template <typename Transfer>
void for_pieces(const Rows& rows, std::uint64_t file_begin, std::byte* buffer, std::uint64_t begin,
                std::uint64_t end, const Transfer& transfer) {
  end = std::min(end, rows.total_bytes());
  PieceList list(transfer);
  const auto behind = [](std::uint64_t at, const Rows::Range& range) { return at < range.at + range.bytes; };
  auto range = std::upper_bound(rows.ranges.begin(), rows.ranges.end(), begin, behind);
  for (std::uint64_t at = begin; at < end;) {
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;
    if (rows.ranges.empty()) {
      const std::uint64_t within = at % rows.bytes;
      bytes = std::min(rows.bytes - within, end - at);
      offset = rows.offset(at / rows.bytes) + within;
    } else {
      const std::uint64_t within = at - range->at;
      bytes = std::min(range->bytes - within, end - at);
      offset = range->offset + within;
      ++range;
    }
    list.add({.offset = file_begin + offset, .bytes = bytes, .memory = buffer + at});
    at += bytes;
  }
  list.flush();
}

}  // namespace

SourceFile::SourceFile(const Input& in, std::uint64_t bytes) : path_(in.path.string()) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not hang before it can be refused.
  file_.reset(open(in.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file_.is_open() || fstat(file_.get(), &status_) != 0)
    fail(ErrorCode::file, detail::reading(path_), io::error_text(errno), "a readable file");
  if (!S_ISREG(status_.st_mode))
    fail(ErrorCode::file, detail::reading(path_), "a directory, pipe or device", "a regular file");
  const auto has = static_cast<std::uint64_t>(status_.st_size);
  if (has < in.offset || has - in.offset < bytes) {
    fail(ErrorCode::file, detail::reading(path_),
         fmt::format("{} bytes from byte {} on", has - std::min(has, in.offset), in.offset),
         fmt::format("at least {}", bytes));
  }
}

std::string SourceFile::identity() const {
  return fmt::format("{}:{}:{}:{}.{:09}", status_.st_dev, status_.st_ino, status_.st_size,
                     status_.st_mtim.tv_sec, status_.st_mtim.tv_nsec);
}

void SourceFile::require_unchanged() const {
  struct stat now {};
  if (fstat(file_.get(), &now) == 0 && now.st_size == status_.st_size &&
      now.st_mtim.tv_sec == status_.st_mtim.tv_sec && now.st_mtim.tv_nsec == status_.st_mtim.tv_nsec)
    return;
  fail(ErrorCode::file, detail::reading(path_), "a file that was written to while it was read",
       "one that nobody changes meanwhile");
}

IoChoice::IoChoice(Io asked) : asked_(asked) {
  if (asked == Io::buffered) return;
  mode_ = io::TransferMode::threads;
  if (asked == Io::threads) return;
  const std::string refusal = io::why_no_uring();
  if (refusal.empty()) {
    mode_ = io::TransferMode::uring;
  } else if (asked == Io::uring) {
    fail(ErrorCode::unsupported, "permute files", "io_uring, which is refused here: " + refusal,
         "threads or buffered");
  }
  why_ = refusal;
}

io::TransferMode IoChoice::mode_for(std::uint64_t run_bytes) const {
  const bool is_short = asked_ == Io::automatic && run_bytes < kShortRunBytes;
  return is_short ? io::TransferMode::buffered : mode_;
}

io::TransferFile IoChoice::input(const SourceFile& source, std::uint64_t run_bytes) const {
  constexpr std::uint64_t kBlocksOfRun = 16;
  const auto open_as = [&source](io::TransferMode mode) {
    return io::TransferFile(source.descriptor(), io::TransferFile::Use::read, mode, source.path());
  };
  if (mode_for(run_bytes) != mode_) {
    io::TransferFile direct = open_as(mode_);
    if (direct.direct() >= 0 && run_bytes >= kBlocksOfRun * direct.read_block()) return direct;
  }
  return open_as(mode_for(run_bytes));
}

std::string IoChoice::text(const io::TransferFile& file, std::uint64_t run_bytes) const {
  if (file.direct() >= 0) {
    if (mode_ == io::TransferMode::uring) return "io_uring with O_DIRECT";
    return "O_DIRECT by threads" + (why_.empty() ? ", as asked for" : ", for io_uring is refused: " + why_);
  }
  if (mode_ == io::TransferMode::buffered) return "buffered, as asked for";
  if (mode_for(run_bytes) == io::TransferMode::buffered)
    return "buffered, for runs of " + size_text(run_bytes) + " are short";
  return "buffered, for it is refused " + file.refusal();
}

Teller::Teller(const Options& options, std::uint64_t total_bytes) : options_(options) {
  progress_.total_bytes = total_bytes;
}

void Teller::advance(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  progress_.done_bytes = std::min(progress_.done_bytes + bytes, progress_.total_bytes);
  if (options_.progress) options_.progress(progress_);
  if (options_.cancelled && options_.cancelled()) stopped_ = true;
}

std::uint64_t TileBuffers::bytes(std::uint64_t tile_bytes, Placement placement) {
  return count(placement) * detail::round_up(tile_bytes, io::kTransferBlock);
}

TileBuffers::TileBuffers(std::uint64_t tile_bytes, Placement placement, std::byte* lent)
    : each_bytes_(detail::round_up(tile_bytes, io::kTransferBlock)),
      placement_(placement),
      own_(lent == nullptr ? std::make_unique<io::Buffer>(bytes(tile_bytes, placement), io::PageKind::huge,
                                                          io::PageTouch::as_used)
                           : nullptr),
      data_(lent == nullptr ? own_->data() : lent) {}

Machinery::Machinery(const Options& options, io::TransferMode mode, std::uint64_t tile_bytes,
                     Placement placement, std::byte* lent)
    : buffers(tile_bytes, placement, lent),
      slice_bytes(slice_bytes_of(tile_bytes, io_threads(options))),
      team(detail::threads_beside(detail::thread_count(options.threads), io_threads(options)), mode,
           options.queue_depth) {}

Pipeline::Pipeline(Machinery& machinery, Teller& teller, Side in, Side out, Hooks hooks, Side added)
    : machinery_(machinery), teller_(teller), in_(in), out_(out), added_(added), hooks_(std::move(hooks)) {}

std::uint64_t Pipeline::slices(std::uint64_t bytes) const {
  return detail::ceil_div(bytes, machinery_.slice_bytes);
}

void Pipeline::count(std::span<const io::Piece> pieces, std::atomic<std::uint64_t>& of) {
  std::uint64_t bytes = 0;
  for (const io::Piece& piece : pieces) bytes += piece.bytes;
  of += bytes;
  teller_.advance(bytes);
}

void Pipeline::read_slice(const TileWork& work, std::byte* buffer, std::uint64_t slice,
                          io::Transfers& transfers) {
  const std::uint64_t begin = slice * machinery_.slice_bytes;
  const std::uint64_t end = begin + machinery_.slice_bytes;
  const auto read_part = [&](const Side& side, const Rows& rows, std::uint64_t at) {
    for_pieces(rows, side.offset, buffer + at, begin - std::min(at, begin), end - std::min(at, end),
               [&](std::span<const io::Piece> pieces) {
                 transfers.read(*side.file, pieces);
                 count(pieces, read_);
               });
  };
  read_part(in_of(work), work.in, 0);
  if (work.added.total_bytes() > 0) read_part(added_, work.added, work.in.total_bytes());
}

void Pipeline::write_slice(const TileWork& work, std::byte* buffer, std::uint64_t slice,
                           io::Transfers& transfers) {
  const std::uint64_t begin = slice * machinery_.slice_bytes;
  for_pieces(work.out, out_.offset, buffer, begin, begin + machinery_.slice_bytes,
             [&](std::span<const io::Piece> pieces) {
               if (hooks_.writing) hooks_.writing(pieces);
               transfers.write(*out_of(work).file, pieces);
               count(pieces, written_);
             });
}

Pipeline::Side Pipeline::in_of(const TileWork& work) const {
  return work.in_file ? Side{.file = work.in_file.get(), .offset = in_.offset} : in_;
}

Pipeline::Side Pipeline::out_of(const TileWork& work) const {
  return work.out_file ? Side{.file = work.out_file.get(), .offset = out_.offset} : out_;
}

// Writes `before` from the buffer, and reads `next` into what was written; either may be null.
void Pipeline::start(const SharedFlight& before, const SharedFlight& next, std::byte* buffer) {
  const std::uint64_t bytes =
      std::max(before ? before->work.out.total_bytes() : 0, next ? next->work.read_bytes() : 0);
  machinery_.team.start(slices(bytes), [=, this](std::uint64_t slice, io::Transfers& transfers) {
    if (teller_.stopped()) {
      if (before) before->is_cut = true;
      return;
    }
    if (before) write_slice(before->work, buffer, slice, transfers);
    if (next) read_slice(next->work, buffer, slice, transfers);
  });
}

template <typename Transfer>
void Pipeline::move(std::uint64_t offset, const Rows& rows, std::byte* buffer, const Transfer& transfer) {
  machinery_.team.start(slices(rows.total_bytes()),
                        [&, offset, buffer](std::uint64_t slice, io::Transfers& transfers) {
                          const std::uint64_t begin = slice * machinery_.slice_bytes;
                          for_pieces(rows, offset, buffer, begin, begin + machinery_.slice_bytes,
                                     [&](std::span<const io::Piece> pieces) { transfer(transfers, pieces); });
                        });
  machinery_.team.wait();
}

void Pipeline::read(const TileWork& work, std::byte* buffer) {
  const Side in = in_of(work);
  read(*in.file, in.offset, work.in, buffer);
  if (work.added.total_bytes() > 0)
    read(*added_.file, added_.offset, work.added, buffer + work.in.total_bytes());
}

void Pipeline::read(const io::TransferFile& file, std::uint64_t offset, const Rows& rows, std::byte* buffer) {
  move(offset, rows, buffer, [&file](io::Transfers& transfers, std::span<const io::Piece> pieces) {
    transfers.read(file, pieces);
  });
}

void Pipeline::write(const io::TransferFile& file, std::uint64_t offset, const Rows& rows,
                     std::byte* buffer) {
  move(offset, rows, buffer, [&file](io::Transfers& transfers, std::span<const io::Piece> pieces) {
    transfers.write(file, pieces);
  });
}

bool Pipeline::run(Tiles& tiles, std::uint64_t first) {
  const bool is_in_place = machinery_.buffers.placement() == Placement::in_place;
  const auto flight_of = [&](std::uint64_t tile) {
    return tile < tiles.count() ? std::make_shared<Flight>(tiles.tile(tile)) : nullptr;
  };
  std::byte* x = machinery_.buffers[0];                    // tile t is in it, or will be
  std::byte* ahead = machinery_.buffers[1];                // tile t+1, likewise
  std::byte* y = machinery_.buffers[is_in_place ? 0 : 2];  // for t permuted
  const DropAtTheEnd dropping(machinery_.team);
  SharedFlight before[2];  // tiles t-2 and t-1
  // Tile t is read, and t-2 is written.
  const auto wait = [&] {
    machinery_.team.wait();
    if (before[0] && !before[0]->is_cut && hooks_.written) hooks_.written();
    return !teller_.stopped();
  };
  SharedFlight now = flight_of(first);
  SharedFlight next = flight_of(first + 1);
  start(nullptr, now, x);
  start(nullptr, next, ahead);
  for (std::uint64_t tile = first; now; ++tile) {
    if (!wait()) return false;
    hooks_.permute(now->work, x, y);
    if (now->work.in.total_bytes() >= kTileWorthRest) detail::rest_threads();
    const SharedFlight after = flight_of(tile + 2);
    start(now, after, y);
    before[0] = std::exchange(before[1], now);
    now = std::exchange(next, after);
    std::byte* const permuted = y;
    y = is_in_place ? ahead : x;
    x = std::exchange(ahead, permuted);
  }
  const bool goes_on = wait();
  before[0] = before[1];
  return goes_on && wait();
}

}  // namespace faro::file
