// The loop of a sweep: three buffers, so that the disk never waits for the processor nor the other way round;
// or two, where tiles are permuted in place.
//
//     step t       permuted     tile t, from buffer X to Y                     by OpenMP's threads
//                  meanwhile    tile t-1 is written from Z, slice by slice,    by the threads of IoTeam
//                               and tile t+1 read into what is written
//     then         behind it    tile t is written from Y, and t+2 read into what is written
//
//     step t+1     X, Y, Z are what Z, X, Y were; in place X and Y are one, and change places with Z
//
// Step t+1 begins when Z is written and read. The team goes on with Y meanwhile, so that it never runs dry.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "faro/file.hpp"
#include "file/io_team.hpp"
#include "file/tile_work.hpp"
#include "io/buffer.hpp"
#include "io/file_system.hpp"
#include "io/transfers.hpp"

namespace faro::file {

/// A regular file that is read and must not change meanwhile.
class SourceFile {
 public:
  /// Errors: ErrorCode::file, also for fewer than `bytes` behind the offset.
  SourceFile(const Input& in, std::uint64_t bytes);

  int descriptor() const { return file_.get(); }
  const std::string& path() const { return path_; }
  /// What tells this file from another, and from itself after a change.
  std::string identity() const;
  /// Errors: ErrorCode::file.
  void require_unchanged() const;

 private:
  std::string path_;
  io::Descriptor file_;
  struct stat status_ {};
};

/// The way in which files are read and written, and why it is no better one.
class IoChoice {
 public:
  /// Errors: ErrorCode::unsupported for io_uring where it was asked for and is refused.
  explicit IoChoice(Io asked);

  io::TransferMode mode() const { return mode_; }
  /// Runs that are short are not worth whole blocks more at their ends.
  io::TransferMode mode_for(std::uint64_t run_bytes) const;
  /// Runs that are read may be shorter where the file system takes reads of less than whole blocks.
  io::TransferFile input(const SourceFile& source, std::uint64_t run_bytes) const;
  /// "io_uring with O_DIRECT", "buffered, for it is refused O_DIRECT: Invalid argument".
  std::string text(const io::TransferFile& file, std::uint64_t run_bytes) const;

 private:
  Io asked_;
  io::TransferMode mode_ = io::TransferMode::buffered;
  std::string why_;
};

/// Tells the caller how far a run has come, and hears of its end.
class Teller {
 public:
  Teller(const Options& options, std::uint64_t total_bytes);

  /// By any thread.
  void advance(std::uint64_t bytes);
  bool stopped() const { return stopped_; }

 private:
  const Options& options_;
  std::mutex mutex_;
  Progress progress_;
  std::atomic<bool> stopped_{false};
};

/// Three buffers for tiles, or two for tiles in place: of their own, or in memory that is lent.
class TileBuffers {
 public:
  static std::uint64_t count(Placement placement) { return placement == Placement::in_place ? 2 : 3; }
  /// The bytes of all buffers.
  static std::uint64_t bytes(std::uint64_t tile_bytes, Placement placement = Placement::out_of_place);

  /// `lent`: bytes(tile_bytes, placement) aligned to blocks of the disk, or null.
  TileBuffers(std::uint64_t tile_bytes, Placement placement, std::byte* lent);
  std::byte* operator[](std::size_t number) const { return data_ + number * each_bytes_; }
  Placement placement() const { return placement_; }

 private:
  std::uint64_t each_bytes_;
  Placement placement_;
  std::unique_ptr<io::Buffer> own_;
  std::byte* data_;
};

/// What a run needs for its tiles: buffers and threads.
struct Machinery {
  Machinery(const Options& options, io::TransferMode mode, std::uint64_t tile_bytes,
            Placement placement = Placement::out_of_place, std::byte* lent = nullptr);

  // Before the threads, which make do with the address space that is left.
  TileBuffers buffers;
  std::uint64_t slice_bytes = 0;
  IoTeam team;  // the first to go
};

class Pipeline {
 public:
  struct Side {
    const io::TransferFile* file;
    std::uint64_t offset;  // of the array in the file
  };
  struct Hooks {
    /// From the input's rows at x to the output's at y, which it may still determine. In place x is y.
    std::function<void(TileWork& work, std::byte* x, std::byte* y)> permute;
    /// Before pieces are written. By any thread.
    std::function<void(std::span<const io::Piece> pieces)> writing = {};
    /// Another tile is written, in order.
    std::function<void()> written = {};
  };

  /// `added`: what TileWork::added is of.
  Pipeline(Machinery& machinery, Teller& teller, Side in, Side out, Hooks hooks, Side added = {});

  /// Sweeps tiles `first` and up. Returns whether nobody stopped it. Errors: those of Transfers and of
  /// hooks.
  bool run(Tiles& tiles, std::uint64_t first = 0);

  /// All that is read of a tile into a buffer.
  void read(const TileWork& work, std::byte* buffer);
  /// One side of one tile into a buffer, for who compares.
  void read(const io::TransferFile& file, std::uint64_t offset, const Rows& rows, std::byte* buffer);
  /// Likewise from a buffer, for who makes a file whole again.
  void write(const io::TransferFile& file, std::uint64_t offset, const Rows& rows, std::byte* buffer);

  std::uint64_t read_bytes() const { return read_; }
  std::uint64_t written_bytes() const { return written_; }

 private:
  // A tile on its way.
  struct Flight {
    explicit Flight(TileWork of) : work(std::move(of)) {}
    TileWork work;
    std::atomic<bool> is_cut{false};  // not all of it was written
  };
  using SharedFlight = std::shared_ptr<Flight>;

  Side in_of(const TileWork& work) const;
  Side out_of(const TileWork& work) const;
  std::uint64_t slices(std::uint64_t bytes) const;
  void read_slice(const TileWork& work, std::byte* buffer, std::uint64_t slice, io::Transfers& transfers);
  void write_slice(const TileWork& work, std::byte* buffer, std::uint64_t slice, io::Transfers& transfers);
  void start(const SharedFlight& before, const SharedFlight& next, std::byte* buffer);
  void count(std::span<const io::Piece> pieces, std::atomic<std::uint64_t>& of);
  template <typename Transfer>
  void move(std::uint64_t offset, const Rows& rows, std::byte* buffer, const Transfer& transfer);

  Machinery& machinery_;
  Teller& teller_;
  Side in_;
  Side out_;
  Side added_;
  Hooks hooks_;
  std::atomic<std::uint64_t> read_{0};
  std::atomic<std::uint64_t> written_{0};
};

}  // namespace faro::file
