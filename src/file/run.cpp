// A sweep over files: three buffers, so that the disk never waits for the processor nor the other way round.
//
//     step t       permuted     tile t, from buffer X to Y                     by OpenMP's threads
//                  meanwhile    tile t-1 is written from Z, slice by slice,    by the threads of IoTeam
//                               and tile t+1 read into what is written
//
//     step t+1     X, Y, Z are what Z, X, Y were
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <random>
#include <system_error>
#include <utility>

#include "faro/error.hpp"
#include "faro/file.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "file/checksums.hpp"
#include "file/io_team.hpp"
#include "file/journal.hpp"
#include "file/sweep.hpp"
#include "file/tiles.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"
#include "io/transfers.hpp"
#include "rounding.hpp"

namespace faro::file {
namespace {

using Clock = std::chrono::steady_clock;
using SharedWork = std::shared_ptr<const TileWork>;

constexpr int kIoThreads = 8;
constexpr std::uint64_t kMostSliceBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kShortRunBytes = std::uint64_t{16} << 10;  // not worth whole blocks more at its ends

// A regular file that is read and must not change meanwhile.
class SourceFile {
 public:
  SourceFile(const Input& in, std::uint64_t bytes) : path_(in.path.string()) {
    // O_NONBLOCK: opening a pipe that nobody writes to must not hang before it can be refused.
    file_.reset(open(in.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file_.is_open() || fstat(file_.get(), &status_) != 0)
      refuse(std::generic_category().message(errno), "a readable file");
    if (!S_ISREG(status_.st_mode)) refuse("a directory, pipe or device", "a regular file");
    const auto has = static_cast<std::uint64_t>(status_.st_size);
    if (has < in.offset || has - in.offset < bytes) {
      refuse(fmt::format("{} bytes from byte {} on", has - std::min(has, in.offset), in.offset),
             fmt::format("at least {}", bytes));
    }
  }

  int descriptor() const { return file_.get(); }
  const std::string& path() const { return path_; }

  /// What tells this file from another, and from itself after a change.
  std::string identity() const {
    return fmt::format("{}:{}:{}:{}.{:09}", status_.st_dev, status_.st_ino, status_.st_size,
                       status_.st_mtim.tv_sec, status_.st_mtim.tv_nsec);
  }

  void require_unchanged() const {
    struct stat now {};
    if (fstat(file_.get(), &now) == 0 && now.st_size == status_.st_size &&
        now.st_mtim.tv_sec == status_.st_mtim.tv_sec && now.st_mtim.tv_nsec == status_.st_mtim.tv_nsec)
      return;
    refuse("a file that was written to while it was read", "one that nobody changes meanwhile");
  }

 private:
  [[noreturn]] void refuse(const std::string& got, const std::string& wanted) const {
    fail(ErrorCode::file, "read `" + path_ + "`", got, wanted);
  }

  std::string path_;
  io::Descriptor file_;
  struct stat status_ {};
};

// Calls transfer(pieces) for what of the rows lies within [begin, end) of a buffer that has them one behind
// the other; rows that follow one another in the file are one piece.
template <typename Transfer>
void for_pieces(const Rows& rows, std::uint64_t file_begin, std::byte* buffer, std::uint64_t begin,
                std::uint64_t end, const Transfer& transfer) {
  constexpr std::size_t kMostPieces = 256;
  end = std::min(end, rows.total_bytes());
  std::vector<io::Piece> pieces;
  pieces.reserve(kMostPieces);
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t row = at / rows.bytes;
    const std::uint64_t within = at % rows.bytes;
    const std::uint64_t bytes = std::min(rows.bytes - within, end - at);
    const std::uint64_t offset = file_begin + rows.offset(row) + within;
    if (!pieces.empty() && pieces.back().offset + pieces.back().bytes == offset) {
      pieces.back().bytes += bytes;
    } else {
      if (pieces.size() == kMostPieces) {
        transfer(std::span<const io::Piece>(pieces));
        pieces.clear();
      }
      pieces.push_back({.offset = offset, .bytes = bytes, .memory = buffer + at});
    }
    at += bytes;
  }
  if (!pieces.empty()) transfer(std::span<const io::Piece>(pieces));
}

struct ModeChoice {
  io::TransferMode mode = io::TransferMode::buffered;
  std::string why;  // not a better one
};

ModeChoice choose_mode(Io asked) {
  if (asked == Io::buffered) return {.mode = io::TransferMode::buffered, .why = "as asked for"};
  if (asked == Io::threads) return {.mode = io::TransferMode::threads, .why = "as asked for"};
  const std::string refusal = io::why_no_uring();
  if (refusal.empty()) return {.mode = io::TransferMode::uring, .why = ""};
  if (asked == Io::uring)
    fail(ErrorCode::unsupported, "permute files", "io_uring, which is refused here: " + refusal,
         "threads or buffered");
  return {.mode = io::TransferMode::threads, .why = "for io_uring is refused: " + refusal};
}

class Run {
 public:
  Run(const Sweep::State& sweep, const Input& in, const Output& out, const Options& options)
      : sweep_(sweep),
        options_(options),
        tiles_(sweep.facts.tiles == 0 ? nullptr : sweep.tiles()),
        mode_(choose_mode(options.io)),
        keeps_(options.keep_unfinished || options.resume),
        source_(in, sweep.in_bytes),
        target_(out.path, keeps_ ? io::Unfinished::kept : io::Unfinished::removed),
        label_(out.path.string()),
        in_offset_(in.offset),
        out_offset_(out.header.size()),
        slice_bytes_(slice_bytes(sweep.facts.tile_bytes, threads())),
        total_{.done_bytes = 0, .total_bytes = 2 * sweep.facts.moved_bytes},
        begin_(Clock::now()) {
    if (keeps_) journal_.emplace(out.path, identity(out));
    if (options.verify) sums_.emplace(*sweep.problem, options.threads);
  }

  Report run(const Output& out) {
    Report report;
    report.facts = sweep_.facts;
    const std::uint64_t first = begin_or_resume(out);
    if (tiles_ != nullptr) {
      make_ready();
      report.resumed_tiles = first == 0 ? 0 : verified_tiles(first);
      report.finished = sweep(report.resumed_tiles);
      if (!report.finished) checkpoint();
    } else {
      report.finished = true;
    }
    report.io = io_text();
    report.read_bytes = read_;
    report.written_bytes = written_;
    if (report.finished) {
      source_.require_unchanged();
      verify();
      team_.reset();
      target_.finish();
      target_.commit();
      if (journal_) journal_->remove();
    }
    report.verified = report.finished && options_.verify;
    report.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    return report;
  }

  /// After an error before any tile was finished: nothing is of use to a later run.
  void discard_unless_resumable() noexcept {
    if (!journal_ || !begun_ || !journal_->finished().empty()) return;
    journal_->remove();
    target_.discard();
  }

 private:
  int threads() const { return options_.io_threads > 0 ? options_.io_threads : kIoThreads; }

  static std::uint64_t slice_bytes(std::uint64_t tile_bytes, int threads) {
    constexpr std::uint64_t kSlicesAThread = 4;
    const std::uint64_t wanted = tile_bytes / (kSlicesAThread * static_cast<std::uint64_t>(threads));
    return std::clamp(std::bit_floor(wanted), io::kTransferBlock, kMostSliceBytes);
  }

  std::string identity(const Output& out) const {
    std::string text = fmt::format("{}; {} bytes; batch {}; from {} of {}; behind {} to {}; {} tiles of {}",
                                   sweep_.text, sweep_.element_bytes, sweep_.to_run.batch, in_offset_,
                                   source_.identity(), out.header.size(), sweep_.out_bytes,
                                   sweep_.facts.tiles, sweep_.facts.tile_bytes);
    text += fmt::format("; header {:016x}", checksum(out.header, 1));
    if (const auto* const indexed =
            sweep_.problem ? std::get_if<Indexed>(&sweep_.problem->permutation) : nullptr) {
      text += fmt::format("; indices {:016x}", schedule::fingerprint(*indexed));
    }
    return fmt::format("{:016x} {}", checksum(std::as_bytes(std::span(text)), 1), source_.identity());
  }

  // The output's file at its length, with its header. Returns how many tiles an earlier run says it finished.
  std::uint64_t begin_or_resume(const Output& out) {
    const bool goes_on = options_.resume && !journal_->finished().empty();
    if (options_.resume && journal_->is_of_another()) {
      fail(ErrorCode::file, "resume `" + label_ + "`",
           "a journal of another problem, input, budget of memory or version",
           "the command that was interrupted, and its input as it was",
           "without --resume it is begun anew");
    }
    if (journal_ && !goes_on) {
      journal_->restart(0);
      // Of a run that is not gone on with nothing may stay.
      if (ftruncate(target_.descriptor(), 0) != 0) target_.refuse(errno, "a file that can be written to");
    }
    begun_ = true;
    target_.reserve(out.header.size() + sweep_.out_bytes);
    target_.write(out.header, 0);
    return goes_on ? journal_->finished().size() : 0;
  }

  void make_ready() {
    const auto mode_for = [&](std::uint64_t run_bytes) {
      const bool is_short = options_.io == Io::automatic && run_bytes < kShortRunBytes;
      return is_short ? io::TransferMode::buffered : mode_.mode;
    };
    using Use = io::TransferFile::Use;
    in_.emplace(source_.descriptor(), Use::read, mode_for(tiles_->read_run_bytes), source_.path());
    out_.emplace(target_.descriptor(), Use::update, mode_for(tiles_->write_run_bytes), label_);
    if (in_->direct() < 0 && tiles_->read_run_bytes < kMostSliceBytes)
      posix_fadvise(source_.descriptor(), 0, 0, POSIX_FADV_RANDOM);
    for (auto& buffer : buffers_)
      buffer.emplace(detail::round_up(sweep_.facts.tile_bytes, io::kTransferBlock));
    team_.emplace(threads(), mode_.mode);
  }

  std::string io_text() const {
    if (!in_) return "nothing to move";
    const auto side = [&](const io::TransferFile& file, std::uint64_t run_bytes) -> std::string {
      if (file.direct() >= 0) {
        if (mode_.mode == io::TransferMode::uring) return "io_uring with O_DIRECT";
        return "O_DIRECT by threads" + (mode_.why.empty() ? "" : ", " + mode_.why);
      }
      if (mode_.mode == io::TransferMode::buffered) return "buffered, as asked for";
      if (options_.io == Io::automatic && run_bytes < kShortRunBytes)
        return "buffered, for runs of " + io::size_text(run_bytes) + " are short";
      return "buffered, for it is refused " + file.refusal();
    };
    const std::string reads = side(*in_, tiles_->read_run_bytes);
    const std::string writes = side(*out_, tiles_->write_run_bytes);
    return reads == writes ? reads : "reads " + reads + "; writes " + writes;
  }

  // --- resuming

  // How many of the tiles that an earlier run finished are there as its journal says.
  std::uint64_t verified_tiles(std::uint64_t tiles) {
    std::uint64_t tile = 0;
    for (; tile < std::min(tiles, tiles_->count()); ++tile) {
      const auto work = std::make_shared<const TileWork>(tiles_->tile(tile));
      std::byte* const buffer = buffers_[0]->data();
      team_->start(slices(work->out.total_bytes()), [this, work, buffer](std::uint64_t slice,
                                                                          io::Transfers& transfers) {
        for_pieces(work->out, out_offset_, buffer, slice * slice_bytes_, (slice + 1) * slice_bytes_,
                   [&](std::span<const io::Piece> pieces) { transfers.read(*out_, pieces); });
      });
      team_->wait();
      if (checksum({buffer, work->out.total_bytes()}, options_.threads) != journal_->finished()[tile]) break;
      if (sums_) add_resumed_sums(*work, buffer);
      advance(work->in.total_bytes() + work->out.total_bytes());
      if (stop_) break;
    }
    journal_->restart(tile);
    return tile;
  }

  void add_resumed_sums(const TileWork& work, const std::byte* out_buffer) {
    sums_->add_written(work.out, out_buffer);
    for (std::uint64_t row = 0; row < work.out.count; ++row)
      sums_->add_covered(sums_->covered(work.out.offset(row), work.out.bytes));
    std::byte* const buffer = buffers_[1]->data();
    team_->start(slices(work.in.total_bytes()), [this, &work, buffer](std::uint64_t slice,
                                                                       io::Transfers& transfers) {
      read_slice(work, buffer, slice, transfers);
    });
    team_->wait();
    sums_->add_read(work.in, buffer);
  }

  // --- the sweep

  std::uint64_t slices(std::uint64_t bytes) const { return detail::ceil_div(bytes, slice_bytes_); }

  void read_slice(const TileWork& work, std::byte* buffer, std::uint64_t slice, io::Transfers& transfers) {
    for_pieces(work.in, in_offset_, buffer, slice * slice_bytes_, (slice + 1) * slice_bytes_,
               [&](std::span<const io::Piece> pieces) {
                 transfers.read(*in_, pieces);
                 count(pieces, read_);
               });
  }

  void write_slice(const TileWork& work, std::byte* buffer, std::uint64_t slice, io::Transfers& transfers) {
    for_pieces(work.out, out_offset_, buffer, slice * slice_bytes_, (slice + 1) * slice_bytes_,
               [&](std::span<const io::Piece> pieces) {
                 if (sums_) {
                   for (const io::Piece& piece : pieces)
                     covered_ += sums_->covered(piece.offset - out_offset_, piece.bytes);
                 }
                 transfers.write(*out_, pieces);
                 count(pieces, written_);
               });
  }

  void count(std::span<const io::Piece> pieces, std::atomic<std::uint64_t>& of) {
    std::uint64_t bytes = 0;
    for (const io::Piece& piece : pieces) bytes += piece.bytes;
    of += bytes;
    advance(bytes);
  }

  void advance(std::uint64_t bytes) {
    const std::lock_guard lock(telling_);
    total_.done_bytes = std::min(total_.done_bytes + bytes, total_.total_bytes);
    if (options_.progress) options_.progress(total_);
    if (options_.cancelled && options_.cancelled()) stop_ = true;
  }

  // Writes `before` from the buffer, and reads `next` into what was written; either may be null.
  void start_transfers(const SharedWork& before, const SharedWork& next, std::byte* buffer) {
    const std::uint64_t bytes = std::max(before ? before->out.total_bytes() : 0,
                                         next ? next->in.total_bytes() : 0);
    team_->start(slices(bytes), [=, this](std::uint64_t slice, io::Transfers& transfers) {
      if (stop_) return;
      if (before) write_slice(*before, buffer, slice, transfers);
      if (next) read_slice(*next, buffer, slice, transfers);
    });
  }

  // Returns whether it was not cancelled.
  bool sweep(std::uint64_t first) {
    if (first == tiles_->count()) return true;
    std::byte* x = buffers_[0]->data();
    std::byte* y = buffers_[1]->data();
    std::byte* z = buffers_[2]->data();
    const auto work_of = [&](std::uint64_t tile) {
      return tile < tiles_->count() ? std::make_shared<const TileWork>(tiles_->tile(tile)) : nullptr;
    };
    SharedWork before;
    SharedWork now = work_of(first);
    start_transfers(nullptr, now, x);
    team_->wait();
    for (std::uint64_t tile = first; now && !stop_; ++tile) {
      const SharedWork next = work_of(tile + 1);
      start_transfers(before, next, z);
      permute(*now, x, y);
      team_->wait();
      if (before && !stop_) note_written();
      before = std::exchange(now, next);
      x = std::exchange(z, std::exchange(y, x));
    }
    if (stop_) return false;
    start_transfers(before, nullptr, z);
    team_->wait();
    return !stop_;
  }

  void permute(const TileWork& work, const std::byte* x, std::byte* y) {
    if (sums_) sums_->add_read(work.in, x);
    work.move->run(x, y);
    if (sums_) sums_->add_written(work.out, y);
    if (journal_) permuted_.push_back(checksum({y, work.out.total_bytes()}, options_.threads));
  }

  // The oldest tile of permuted_ was written.
  void note_written() {
    if (!journal_) return;
    ++not_noted_;
    const double since = std::chrono::duration<double>(Clock::now() - noted_).count();
    if (since >= options_.checkpoint_seconds) checkpoint();
  }

  // Brings what was written to the disk, and then the journal.
  void checkpoint() {
    if (!journal_) return;
    if (const int error = io::sync_file(target_.descriptor()); error != 0)
      target_.refuse(error, "a disk that takes what is written");
    for (std::size_t tile = 0; tile < not_noted_; ++tile) journal_->add(permuted_[tile]);
    permuted_.erase(permuted_.begin(), permuted_.begin() + static_cast<std::ptrdiff_t>(not_noted_));
    not_noted_ = 0;
    journal_->sync();
    noted_ = Clock::now();
  }

  void verify() {
    if (!sums_) return;
    sums_->add_covered(covered_);
    sums_->require_equal(sweep_.out_bytes);
  }

  const Sweep::State& sweep_;
  const Options& options_;
  std::unique_ptr<Tiles> tiles_;  // null where nothing is moved
  ModeChoice mode_;
  bool keeps_;
  bool begun_ = false;  // what an earlier run left is ours by now
  SourceFile source_;
  io::OutputFile target_;
  std::string label_;
  std::uint64_t in_offset_;
  std::uint64_t out_offset_;
  std::uint64_t slice_bytes_;
  std::optional<Journal> journal_;
  std::optional<Checksums> sums_;
  std::optional<io::TransferFile> in_;
  std::optional<io::TransferFile> out_;
  std::array<std::optional<io::Buffer>, 3> buffers_;
  std::vector<std::uint64_t> permuted_;  // checksums of tiles that the journal does not have yet
  std::size_t not_noted_ = 0;            // of them are written
  Clock::time_point noted_ = Clock::now();
  std::mutex telling_;
  Progress total_;
  std::atomic<std::uint64_t> read_{0};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> covered_{0};
  std::atomic<bool> stop_{false};
  Clock::time_point begin_;
  std::optional<IoTeam> team_;  // the first to go: it uses all the rest
};

}  // namespace

Report run(const Sweep& sweep, const Input& in, const Output& out, const Options& options) {
  if (io::same_target(in.path, out.path))
    fail(ErrorCode::value, "permute `" + in.path.string() + "`", "the same file as output", "two files");
  if (options.verify && !sweep.state().problem)
    fail(ErrorCode::unsupported, "verify", "a strided view over files", "a permutation");
  if (options.verify && std::holds_alternative<Indexed>(sweep.state().problem->permutation) &&
      std::get<Indexed>(sweep.state().problem->permutation).direction() == Direction::gather)
    fail(ErrorCode::unsupported, "verify", "a gather's index array over files", "a scatter's");
  Run work(sweep.state(), in, out, options);
  try {
    return work.run(out);
  } catch (...) {
    work.discard_unless_resumable();
    throw;
  }
}

Report permute(const Problem& problem, const std::filesystem::path& in, const std::filesystem::path& out,
               const Options& options, const std::optional<std::vector<std::uint64_t>>& shape) {
  const io::NpyHeader header = io::read_npy_header(in);
  const std::string operation = "permute `" + in.string() + "`";
  if (header.fortran_order)
    fail(ErrorCode::unsupported, operation, "data in Fortran order", "data in C order");
  if (header.data_bytes() != total_bytes(problem)) {
    fail(ErrorCode::value, operation, fmt::format("a file of {} bytes of data", header.data_bytes()),
         fmt::format("the {} of the problem", total_bytes(problem)));
  }
  const std::vector<std::uint64_t>& result = shape ? *shape : header.shape;
  return run(Sweep(problem, options), {.path = in, .offset = header.data_offset},
             {.path = out,
              .header = io::npy_header_bytes(header.descr, result, io::MemoryOrder::c, io::kTransferBlock)},
             options);
}

}  // namespace faro::file
