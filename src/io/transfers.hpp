// Many ranges of a file, read or written at once, in whichever way the system offers.
//
//     io_uring      O_DIRECT, a queue of requests that the kernel works on side by side
//     threads       O_DIRECT, a request a thread: where io_uring is forbidden, as in many containers
//     buffered      by way of the page cache: where the file system refuses O_DIRECT
//
// O_DIRECT takes whole blocks at addresses that are multiples of blocks. A range that is none is read by way
// of a bounce buffer, a block more at either end, and written in three parts:
//
//     range          ....|====|====|==......      bytes of the file, | where blocks begin
//     read           [===|====|====|===]          what is read, then copied from
//     written         bb [ direct  ] bb           head and tail by way of the page cache
//
// Ranges of one file may be written by many Transfers at once as long as they do not overlap: a block that
// two of them share is a tail of the one and a head of the other, and is only ever written by way of the page
// cache; all others only ever past it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/file_system.hpp"

namespace faro::io {

enum class TransferMode : std::uint8_t { uring, threads, buffered };

/// "io_uring", "threads" or "buffered".
const char* name(TransferMode mode) noexcept;

/// Why io_uring cannot be had here; empty where it can.
std::string why_no_uring();

/// What O_DIRECT transfers are aligned to, in the file and in memory; reads to less where the file system
/// says that less will do (TransferFile::read_block()).
inline constexpr std::uint64_t kTransferBlock = 4096;

/// A file whose ranges are read or written.
class TransferFile {
 public:
  enum class Use : std::uint8_t { read, write, update };

  /// Takes a descriptor that stays open as long as this lives, and reads or writes by way of the page cache.
  /// `label` names the file in errors. O_DIRECT is asked for unless `wanted` is buffered.
  TransferFile(int descriptor, Use use, TransferMode wanted, std::string label);

  int buffered() const { return descriptor_; }
  /// -1 where O_DIRECT was refused, or not wanted.
  int direct() const { return direct_.get(); }
  /// What O_DIRECT reads are aligned to, as STATX_DIOALIGN tells: 512 bytes to kTransferBlock.
  std::uint64_t read_block() const { return read_block_; }
  /// Why it is not there, in words.
  const std::string& refusal() const { return refusal_; }
  const std::string& label() const { return label_; }

 private:
  int descriptor_;
  Descriptor direct_;
  std::uint64_t read_block_ = kTransferBlock;
  std::string refusal_;
  std::string label_;
};

/// A range of a file and where it is in memory.
struct Piece {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t bytes = 0;
  std::byte* memory = nullptr;
};

/// One thread's requests. Memory: 2 MiB.
class Transfers {
 public:
  /// `mode` uring where why_no_uring() is empty (else as threads). `queue_depth` requests at most are under
  /// way at once; 0: 32.
  explicit Transfers(TransferMode mode, int queue_depth = 0);
  ~Transfers();
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  /// Returns when all is in memory. Errors: ErrorCode::file naming the file and what the system said, also
  /// for a file that ends before a piece does.
  void read(const TransferFile& file, std::span<const Piece> pieces);
  /// Returns when all is handed to the disk or the page cache; sync_file() brings it to the disk.
  /// Errors: ErrorCode::file.
  void write(const TransferFile& file, std::span<const Piece> pieces);

 private:
  struct Request;
  struct Ring;

  void add(const TransferFile& file, const Piece& piece, bool writes);
  void add_direct_read(const TransferFile& file, Piece piece);
  void add_direct_write(const TransferFile& file, Piece piece);
  void push(const Request& request);
  void flush();
  /// What is left of a request, by blocking calls.
  void finish(Request request) const;
  [[noreturn]] void fail_transfer(const Request& request, int error) const;

  std::size_t queue_depth_;
  std::unique_ptr<Ring> ring_;  // null: by blocking calls
  std::unique_ptr<std::byte[], void (*)(std::byte*)> bounce_;
  std::uint64_t bounced_ = 0;  // bytes of it that are taken
  std::vector<Request> requests_;
};

}  // namespace faro::io
