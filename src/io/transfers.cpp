#include "io/transfers.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "faro/error.hpp"
#ifdef FARO_HAVE_URING
#include <liburing.h>
#endif

namespace faro::io {
namespace {

constexpr std::uint64_t kBounceBytes = std::uint64_t{2} << 20;
constexpr std::uint64_t kRequestBytes = std::uint64_t{1} << 20;  // the most of one request
constexpr std::size_t kUsualDepth = 32;
constexpr std::size_t kMostDepth = 1024;

constexpr std::uint64_t block_down(std::uint64_t at, std::uint64_t block = kTransferBlock) {
  return at / block * block;
}
constexpr std::uint64_t block_up(std::uint64_t at, std::uint64_t block = kTransferBlock) {
  return block_down(at + block - 1, block);
}

// What the file system takes from O_DIRECT, where it says so and it is less than a usual block.
std::uint64_t read_block_of([[maybe_unused]] int descriptor) {
#ifdef STATX_DIOALIGN
  struct statx told {};
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &told) == 0 &&
      (told.stx_mask & STATX_DIOALIGN) != 0) {
    const std::uint64_t block = std::max(told.stx_dio_mem_align, told.stx_dio_offset_align);
    constexpr std::uint64_t kSector = 512;
    if (std::has_single_bit(block) && block <= kTransferBlock) return std::max(block, kSector);
  }
#endif
  return kTransferBlock;
}

bool is_aligned(const std::byte* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % kTransferBlock == 0;
}

// One huge page where the system gives it: what a request moves is then one range of physical memory, and not
// one a base page, of each of which a virtual disk's queue of 256 makes an entry.
std::byte* make_bounce() {
  void* const mapping =
      mmap(nullptr, 2 * kBounceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  // What lies before and behind is given back: address space may be limited.
  auto* const begin = static_cast<std::byte*>(mapping);
  const std::uint64_t before = kBounceBytes - reinterpret_cast<std::uintptr_t>(begin) % kBounceBytes;
  std::byte* const memory = begin + before;
  munmap(begin, before);
  if (before < kBounceBytes) munmap(memory + kBounceBytes, kBounceBytes - before);
  madvise(memory, kBounceBytes, MADV_HUGEPAGE);  // advice only
  return memory;
}

}  // namespace

const char* name(TransferMode mode) noexcept {
  switch (mode) {
    case TransferMode::uring:
      return "io_uring";
    case TransferMode::threads:
      return "threads";
    case TransferMode::buffered:
      break;
  }
  return "buffered";
}

struct Transfers::Request {
  const TransferFile* file = nullptr;
  int descriptor = -1;
  bool writes = false;
  std::byte* memory = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t least = 0;  // of them are needed: a block that the file's end cuts has no more
  // Where a read by way of the bounce buffer goes.
  std::byte* copy_to = nullptr;
  const std::byte* copy_from = nullptr;
  std::uint64_t copy_bytes = 0;
};

#ifdef FARO_HAVE_URING

struct Transfers::Ring {
  explicit Ring(std::size_t depth) : error(io_uring_queue_init(static_cast<unsigned>(depth), &ring, 0)) {}
  ~Ring() {
    if (error == 0) io_uring_queue_exit(&ring);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  io_uring ring{};
  int error;
};

std::string why_no_uring() {
  io_uring ring{};
  const int error = io_uring_queue_init(1, &ring, 0);
  if (error != 0) return error_text(-error);
  io_uring_queue_exit(&ring);
  return "";
}

#else

struct Transfers::Ring {};

std::string why_no_uring() { return "faro was built without liburing"; }

#endif

TransferFile::TransferFile(int descriptor, Use use, TransferMode wanted, std::string label)
    : descriptor_(descriptor), label_(std::move(label)) {
  if (wanted == TransferMode::buffered) {
    refusal_ = "asked for";
    return;
  }
  const int access = use == Use::read ? O_RDONLY : use == Use::write ? O_WRONLY : O_RDWR;
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  direct_.reset(open(link.c_str(), access | O_DIRECT | O_CLOEXEC));
  if (!direct_.is_open()) {
    refusal_ = "O_DIRECT: " + error_text(errno);
  } else {
    read_block_ = read_block_of(direct_.get());
  }
}

Transfers::Transfers(TransferMode mode, int queue_depth)
    : queue_depth_(queue_depth <= 0 ? kUsualDepth
                                    : std::min(static_cast<std::size_t>(queue_depth), kMostDepth)),
      bounce_(make_bounce(), [](std::byte* memory) { munmap(memory, kBounceBytes); }) {
#ifdef FARO_HAVE_URING
  if (mode == TransferMode::uring) ring_ = std::make_unique<Ring>(queue_depth_);
  if (ring_ && ring_->error != 0) ring_.reset();
#else
  static_cast<void>(mode);
#endif
  requests_.reserve(queue_depth_);
}

Transfers::~Transfers() = default;

void Transfers::read(const TransferFile& file, std::span<const Piece> pieces) {
  for (const Piece& piece : pieces) add(file, piece, false);
  flush();
}

void Transfers::write(const TransferFile& file, std::span<const Piece> pieces) {
  for (const Piece& piece : pieces) add(file, piece, true);
  flush();
}

void Transfers::add(const TransferFile& file, const Piece& piece, bool writes) {
  for (std::uint64_t done = 0; done < piece.bytes;) {
    Piece part{.offset = piece.offset + done, .bytes = 0, .memory = piece.memory + done};
    // The cuts between requests are at blocks of the file.
    const std::uint64_t next = block_down(part.offset + kRequestBytes);
    part.bytes = std::min(piece.bytes - done, next - part.offset);
    done += part.bytes;
    if (file.direct() < 0) {
      push({.file = &file,
            .descriptor = file.buffered(),
            .writes = writes,
            .memory = part.memory,
            .offset = part.offset,
            .bytes = part.bytes,
            .least = part.bytes});
    } else if (writes) {
      add_direct_write(file, part);
    } else {
      add_direct_read(file, part);
    }
  }
}

void Transfers::add_direct_read(const TransferFile& file, Piece piece) {
  const std::uint64_t begin = block_down(piece.offset, file.read_block());
  const std::uint64_t end = block_up(piece.offset + piece.bytes, file.read_block());
  Request request{.file = &file,
                  .descriptor = file.direct(),
                  .memory = piece.memory,
                  .offset = begin,
                  .bytes = end - begin,
                  .least = piece.offset + piece.bytes - begin};
  if (request.bytes != piece.bytes || !is_aligned(piece.memory)) {
    if (bounced_ + request.bytes > kBounceBytes) flush();
    request.memory = bounce_.get() + bounced_;
    bounced_ += request.bytes;
    request.copy_to = piece.memory;
    request.copy_from = request.memory + (piece.offset - begin);
    request.copy_bytes = piece.bytes;
  }
  push(request);
}

void Transfers::add_direct_write(const TransferFile& file, Piece piece) {
  const auto buffered = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    push({.file = &file,
          .descriptor = file.buffered(),
          .writes = true,
          .memory = piece.memory + (begin - piece.offset),
          .offset = begin,
          .bytes = end - begin,
          .least = end - begin});
  };
  const std::uint64_t piece_end = piece.offset + piece.bytes;
  const std::uint64_t begin = block_up(piece.offset);
  const std::uint64_t end = block_down(piece_end);
  if (begin >= end) return buffered(piece.offset, piece_end);
  buffered(piece.offset, begin);
  Request request{.file = &file,
                  .descriptor = file.direct(),
                  .writes = true,
                  .memory = piece.memory + (begin - piece.offset),
                  .offset = begin,
                  .bytes = end - begin,
                  .least = end - begin};
  if (!is_aligned(request.memory)) {
    if (bounced_ + request.bytes > kBounceBytes) flush();
    std::byte* const copy = bounce_.get() + bounced_;
    std::memcpy(copy, request.memory, request.bytes);
    bounced_ += request.bytes;
    request.memory = copy;
  }
  push(request);
  buffered(end, piece_end);
}

void Transfers::push(const Request& request) {
  requests_.push_back(request);
  // Now, and not before the next: its part of the bounce buffer is taken before it is pushed.
  if (requests_.size() == queue_depth_) flush();
}

void Transfers::finish(Request request) const {
  std::uint64_t done = 0;
  while (done < request.least) {
    const std::uint64_t left = request.bytes - done;
    const auto at = static_cast<off_t>(request.offset + done);
    const ssize_t moved = request.writes ? pwrite(request.descriptor, request.memory + done, left, at)
                                         : pread(request.descriptor, request.memory + done, left, at);
    if (moved < 0 && errno == EINTR) continue;
    const bool is_direct = request.descriptor != request.file->buffered();
    // What O_DIRECT does not take goes by way of the page cache: blocks of other sizes, the rest of a block.
    if (is_direct && (moved == 0 || (moved < 0 && errno == EINVAL))) {
      request.descriptor = request.file->buffered();
      continue;
    }
    if (moved < 0) fail_transfer(request, errno);
    if (moved == 0) fail_transfer(request, request.writes ? ENOSPC : 0);
    done += static_cast<std::uint64_t>(moved);
    if (is_direct && done < request.least) request.descriptor = request.file->buffered();
  }
}

void Transfers::fail_transfer(const Request& request, int error) const {
  const std::string operation =
      std::string(request.writes ? "write `" : "read `") + request.file->label() + "`";
  if (error == 0) {
    fail(ErrorCode::file, operation,
         "a file that ends before byte " + std::to_string(request.offset + request.least),
         "the file as it was when it was opened", "it was cut while it was read");
  }
  fail(ErrorCode::file, operation, error_text(error),
       request.writes ? "a disk that takes what is written" : "a file that can be read");
}

void Transfers::flush() {
  const std::vector<Request> requests = std::exchange(requests_, {});
  requests_.reserve(queue_depth_);
  bounced_ = 0;
#ifdef FARO_HAVE_URING
  if (ring_ && requests.size() > 1) {
    io_uring* const ring = &ring_->ring;
    for (const Request& request : requests) {
      io_uring_sqe* const entry = io_uring_get_sqe(ring);
      FARO_CHECK(entry != nullptr);
      const auto bytes = static_cast<unsigned>(request.bytes);
      if (request.writes) {
        io_uring_prep_write(entry, request.descriptor, request.memory, bytes, request.offset);
      } else {
        io_uring_prep_read(entry, request.descriptor, request.memory, bytes, request.offset);
      }
      io_uring_sqe_set_data64(entry, static_cast<__u64>(&request - requests.data()));
    }
    // Every request is waited for before any error is reported: the kernel has their memory.
    std::vector<std::int64_t> results(requests.size(), -EAGAIN);
    std::size_t submitted = 0;
    while (submitted < requests.size()) {
      const int more = io_uring_submit(ring);
      if (more > 0) submitted += static_cast<std::size_t>(more);
      if (more == -EINTR || more == -EAGAIN || more == -EBUSY) continue;
      if (more <= 0) break;
    }
    for (std::size_t taken = 0; taken < submitted;) {
      io_uring_cqe* completion = nullptr;
      const int error = io_uring_wait_cqe(ring, &completion);
      if (error == -EINTR) continue;
      FARO_CHECK(error == 0);
      results.at(completion->user_data) = completion->res;
      io_uring_cqe_seen(ring, completion);
      ++taken;
    }
    FARO_CHECK(submitted == requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      Request rest = requests[i];
      if (results[i] < 0 && results[i] != -EINTR && results[i] != -EAGAIN && results[i] != -EINVAL)
        fail_transfer(rest, static_cast<int>(-results[i]));
      const std::uint64_t done = results[i] < 0 ? 0 : static_cast<std::uint64_t>(results[i]);
      if (done >= rest.least) continue;
      if (results[i] != -EINTR && results[i] != -EAGAIN) rest.descriptor = rest.file->buffered();
      rest.memory += done;
      rest.offset += done;
      rest.bytes -= done;
      rest.least -= done;
      finish(rest);
    }
  } else {
    for (const Request& request : requests) finish(request);
  }
#else
  for (const Request& request : requests) finish(request);
#endif
  for (const Request& request : requests) {
    if (request.copy_to != nullptr) std::memcpy(request.copy_to, request.copy_from, request.copy_bytes);
  }
}

}  // namespace faro::io
