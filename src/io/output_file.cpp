#include "io/output_file.hpp"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>

#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"
#include "size_text.hpp"
#include "thread_team.hpp"

namespace faro::io {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPieceBytes = std::uint64_t{8} << 20;  // of one write(2)
constexpr mode_t kMode = 0666;                                 // less the umask
constexpr int kMostNames = 100;                                // random ones, tried until one is free

// The temporary names that a signal handler would have to remove. A handler may read at any moment, hence no
// memory that is freed; outputs beyond the table's size, and longer names, are only removed by their
// destructors and by the next process.
enum SlotState { kFree, kChanging, kUsed };
struct Slot {
  std::atomic<int> state{kFree};
  std::array<char, 4096> name{};
};
std::array<Slot, 16> uncommitted;

void remember(const fs::path& path) {
  const std::string& name = path.native();
  for (Slot& slot : uncommitted) {
    int free = kFree;
    if (name.size() >= slot.name.size() || !slot.state.compare_exchange_strong(free, kChanging)) continue;
    std::memcpy(slot.name.data(), name.c_str(), name.size() + 1);
    slot.state = kUsed;
    return;
  }
}

void forget(const fs::path& path) {
  for (Slot& slot : uncommitted) {
    if (slot.state != kUsed || path.native() != slot.name.data()) continue;
    slot.state = kFree;
    return;
  }
}

// Locks a temporary file that was just made. False where another process took it for a left-over before.
bool hold_temporary(int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat status {};
  return fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

}  // namespace

fs::path partial_path(const fs::path& path) {
  constexpr std::size_t kMost = 180;  // of 255 bytes that a name may have; the rest is for endings
  constexpr std::size_t kBeginning = 160;
  fs::path end = path;
  if (follow_links(end)) end = path;
  std::string name = end.filename().string();
  if (name.size() > kMost) {
    const std::uint64_t hash = XXH3_64bits(name.data(), name.size());
    name = fmt::format("{}-{:016x}", std::string_view(name).substr(0, kBeginning), hash);
  }
  return directory_of(end) / (".faro-partial-" + name);
}

OutputFile::OutputFile(const fs::path& path, Unfinished unfinished) : path_(path), unfinished_(unfinished) {
  if (path_.empty()) fail(ErrorCode::file, operation(), "an empty name", "the name of a file");
  if (const std::error_code failed = follow_links(path_)) {
    path_ = path;  // an error names what was given
    fail(ErrorCode::file, operation(), error_text(failed.value()), "a path that a file can have");
  }
  struct stat existing {};
  const bool exists = stat(path_.c_str(), &existing) == 0;
  if (!exists && errno != ENOENT)
    fail(ErrorCode::file, operation(), error_text(errno), "a path that a file can have");
  if (exists && S_ISDIR(existing.st_mode))
    fail(ErrorCode::file, operation(), error_text(EISDIR), "a regular file");
  if (exists && !S_ISREG(existing.st_mode))
    fail(ErrorCode::file, operation(), "a pipe or device", "a regular file");
  if (exists && access(path_.c_str(), W_OK) != 0)
    fail(ErrorCode::file, operation(), error_text(errno), "a file that may be replaced");
  if (path_.filename().empty()) fail(ErrorCode::file, operation(), error_text(EISDIR), "the name of a file");

  if (unfinished_ == Unfinished::kept) {
    open_partial();
  } else {
    require_no_partial_writer();
    descriptor_.reset(open(directory_of(path_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
    // A nameless file gets its name through /proc; find out now whether that will work.
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor_.get());
    if (!descriptor_.is_open() || access(link.c_str(), R_OK) != 0) open_named();
  }
  if (!exists) return;
  if (const auto kept_back = copy_attributes(path_, existing, descriptor_.get())) {
    forget_temporary_name();
    fail(ErrorCode::file, operation(), "a file there that the new one cannot be like in " + *kept_back,
         "a file whose owner and attributes we may give");
  }
}

OutputFile::~OutputFile() {
  descriptor_.close();
  if (unfinished_ == Unfinished::removed) forget_temporary_name();
}

void OutputFile::discard() { forget_temporary_name(); }

void OutputFile::open_partial() {
  temporary_ = partial_path(path_);
  const int flags = O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  descriptor_.reset(open(temporary_.c_str(), flags, kMode));
  const int error = descriptor_.is_open() ? 0 : errno;
  struct stat status {};
  const bool is_file = error == 0 && fstat(descriptor(), &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_uid == geteuid();
  if (error == 0 && !is_file) {
    fail(ErrorCode::file, operation(), "no file of faro's at `" + temporary_.string() + "`",
         "a free name, or what an earlier run left");
  }
  if (error != 0) fail(ErrorCode::file, operation(), error_text(error), "a directory that can be written to");
  if (flock(descriptor(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
    struct stat named {};
    if (stat(temporary_.c_str(), &named) == 0 && named.st_ino == status.st_ino) return;
  }
  fail(ErrorCode::file, operation(), "a file that " + lock_holder(status) + " is writing",
       "one process at a time");
}

// Whose result would take the place of this one, or be lost to it.
void OutputFile::require_no_partial_writer() const {
  const Descriptor partial(open(partial_path(path_).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!partial.is_open() || fstat(partial.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (flock(partial.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  fail(ErrorCode::file, operation(), "a file that " + lock_holder(status) + " is writing",
       "one process at a time");
}

void OutputFile::forget_temporary_name() {
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  forget(temporary_);
  temporary_.clear();
}

void OutputFile::open_named() {
  const fs::path folder = directory_of(path_);
  int error = EEXIST;
  for (int attempt = 0; attempt < kMostNames && error == EEXIST; ++attempt) {
    temporary_ = folder / temporary_name();
    remember(temporary_);
    descriptor_.reset(open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kMode));
    error = descriptor_.is_open() ? 0 : errno;
    if (error == 0 && hold_temporary(descriptor())) return;
    forget(temporary_);
    if (error == 0) error = EEXIST;
  }
  temporary_.clear();
  fail(ErrorCode::file, operation(), error_text(error), "a directory that can be written to");
}

bool OutputFile::reserve(std::uint64_t bytes) {
  if (bytes == 0) return true;
  if (bytes > (std::uint64_t{1} << 62)) fail_for_room(EFBIG, bytes);
  // Asked first: what fails for lack of room has taken all there was, from everybody.
  struct statvfs space {};
  struct stat status {};
  std::optional<std::uint64_t> free_before;
  if (fstatvfs(descriptor(), &space) == 0 && space.f_blocks > 0 && fstat(descriptor(), &status) == 0) {
    constexpr std::uint64_t kStatBlock = 512;
    const std::uint64_t taken =
        static_cast<std::uint64_t>(status.st_blocks) * kStatBlock;  // a partial file's
    const std::uint64_t free_blocks = geteuid() == 0 ? space.f_bfree : space.f_bavail;
    if (free_blocks * std::uint64_t{space.f_frsize} < bytes - std::min(bytes, taken))
      fail_for_room(ENOSPC, bytes);
    free_before = space.f_bavail * std::uint64_t{space.f_frsize};
  }
  int error = 0;
  do {
    error = fallocate(descriptor(), 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error == 0) return true;
  if (error != EOPNOTSUPP && error != ENOSYS) fail_for_room(error, bytes, free_before);
  if (ftruncate(descriptor(), static_cast<off_t>(bytes)) != 0) fail_for_room(errno, bytes);
  return false;
}

void OutputFile::write(std::span<const std::byte> data, std::uint64_t offset,
                       const std::function<void(std::uint64_t)>& advance) {
  const std::uint64_t pieces = (data.size() + kPieceBytes - 1) / kPieceBytes;
  std::atomic<int> error{0};
  // All threads write: copying into the page cache is bound by a core's speed.
  detail::take_turns_at(
      pieces, pieces > 1 ? detail::thread_count() : 1, 1, [&](std::uint64_t piece, std::uint64_t) {
        if (error.load(std::memory_order_relaxed) != 0) return;
        const std::uint64_t begin = piece * kPieceBytes;
        const std::uint64_t bytes = std::min<std::uint64_t>(kPieceBytes, data.size() - begin);
        const int result = write_at(descriptor(), data.subspan(begin, bytes), offset + begin);
        if (result != 0) error.store(result, std::memory_order_relaxed);
        if (result == 0 && advance) advance(bytes);
      });
  if (error.load() != 0) fail_for_room(error.load(), data.size());
}

void OutputFile::finish() {
  if (finished_) return;
  if (const int error = sync_file(descriptor()); error != 0)
    fail(ErrorCode::file, operation(), error_text(error), "a disk that takes what is written");
  // Network file systems write when any descriptor of the file is closed; this one keeps the lock.
  Descriptor second(dup(descriptor()));
  if (const int error = second.close(); error != 0)
    fail(ErrorCode::file, operation(), error_text(error), "a file that can be written to");
  folder_.open(directory_of(path_));
  finished_ = true;
}

void OutputFile::give_name() {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor());
  flock(descriptor(), LOCK_EX | LOCK_NB);  // before it has a name: no left-over
  int error = EEXIST;
  for (int attempt = 0; attempt < kMostNames && error == EEXIST; ++attempt) {
    temporary_ = directory_of(path_) / temporary_name();
    remember(temporary_);
    error = linkat(AT_FDCWD, link.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
    if (error != 0) forget(temporary_);
  }
  if (error == 0) return;
  temporary_.clear();
  fail(ErrorCode::file, operation(), error_text(error), "a directory that can be written to");
}

void OutputFile::commit() {
  finish();
  if (temporary_.empty()) give_name();
  if (rename(temporary_.c_str(), path_.c_str()) != 0)
    fail(ErrorCode::file, operation(), error_text(errno), "a path that a file can be renamed to");
  // From here on nothing may fail but the disk: the file is there.
  forget(temporary_);
  temporary_.clear();
  if (const int error = folder_.sync(); error != 0)
    fail(ErrorCode::file, operation(), error_text(error),
         "a disk that takes the file's name, too: the file is there, a power cut may undo that");
  descriptor_.close();
  sweep_left_overs(path_);
}

void OutputFile::fail_for_room(int error, std::uint64_t bytes,
                               std::optional<std::uint64_t> free_before) const {
  std::string got = error_text(error);
  struct statvfs space {};
  if (!free_before && statvfs(directory_of(path_).c_str(), &space) == 0)
    free_before = space.f_bavail * std::uint64_t{space.f_frsize};
  if (free_before) got += ", " + size_text(*free_before) + " free on its disk";
  fail(ErrorCode::file, operation(), got, "room for " + size_text(bytes));
}

void require_output(const fs::path& path) { const OutputFile never_committed(path); }

bool same_target(const fs::path& a, const fs::path& b) {
  if (same_file(a, b)) return true;
  const auto end_of = [](fs::path path) {
    if (follow_links(path)) return fs::path();
    std::error_code ignored;
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  };
  const fs::path end = end_of(a);
  return !end.empty() && end == end_of(b);
}

void write_file(const fs::path& path, std::string_view content) {
  OutputFile file(path);
  file.reserve(content.size());
  file.write(std::as_bytes(std::span(content.data(), content.size())), 0);
  file.commit();
}

void remove_uncommitted() noexcept {
  for (const Slot& slot : uncommitted) {
    if (slot.state == kUsed) unlink(slot.name.data());
  }
}

}  // namespace faro::io
