#include "io/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "faro/error.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"

namespace faro::io {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPieceBytes = std::uint64_t{8} << 20;  // of one write(2)
constexpr mode_t kMode = 0666;                                 // less the umask
constexpr mode_t kPermissionBits = 07777;

// The temporary names that a signal handler would have to remove. Lock-free, since a handler may read at any
// moment; outputs beyond the table's size are only removed by their destructors.
std::array<std::atomic<char*>, 16> uncommitted{};

void remember(const fs::path& path) {
  char* const copy = strdup(path.c_str());
  for (auto& slot : uncommitted) {
    char* empty = nullptr;
    if (slot.compare_exchange_strong(empty, copy)) return;
  }
  std::free(copy);
}

void forget(const fs::path& path) {
  for (auto& slot : uncommitted) {
    char* const kept = slot.load();
    if (kept == nullptr || path != kept) continue;
    slot.store(nullptr);
    std::free(kept);
    return;
  }
}

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// What a path of symbolic links leads to in the end, whether or not it exists. Fails with ELOOP, as opening
// it would.
std::error_code follow_links(fs::path& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::error_code ignored;
  for (int link = 0; fs::is_symlink(fs::symlink_status(path, ignored)); ++link) {
    if (link == kMostLinks) return std::make_error_code(std::errc::too_many_symbolic_link_levels);
    std::error_code failed;
    const fs::path target = fs::read_symlink(path, failed);
    if (failed) return failed;
    path = path.parent_path() / target;  // target alone where it is absolute
  }
  return {};
}

int pwrite_all(int descriptor, const std::byte* data, std::uint64_t bytes, std::uint64_t offset) {
  while (bytes > 0) {
    const ssize_t written = pwrite(descriptor, data, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    data += written;
    bytes -= static_cast<std::uint64_t>(written);
    offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

}  // namespace

void Descriptor::reset(int value) {
  close();
  value_ = value;
}

int Descriptor::close() {
  const int error = value_ >= 0 && ::close(value_) != 0 ? errno : 0;
  value_ = -1;
  return error;
}

OutputFile::OutputFile(const fs::path& path) : path_(path) {
  if (path_.empty()) refuse(ENOENT, "the name of a file");
  if (const std::error_code failed = follow_links(path_)) {
    path_ = path;  // an error names what was given
    refuse(failed.value(), "a path that a file can have");
  }
  struct stat existing {};
  const bool exists = stat(path_.c_str(), &existing) == 0;
  if (!exists && errno != ENOENT) refuse(errno, "a path that a file can have");
  if (exists && S_ISDIR(existing.st_mode)) refuse(EISDIR, "a regular file");
  if (exists && !S_ISREG(existing.st_mode)) refuse("a pipe or device", "a regular file");
  if (exists && access(path_.c_str(), W_OK) != 0) refuse(errno, "a file that may be replaced");
  if (path_.filename().empty()) refuse(EISDIR, "the name of a file");

  descriptor_.reset(open(directory_of(path_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
  // A nameless file gets its name through /proc; find out now whether that will work.
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor_.get());
  if (!descriptor_.is_open() || access(link.c_str(), R_OK) != 0) open_named();
  if (exists) {
    // Fails where the file is another user's; the new one is then ours, as any newly made file.
    [[maybe_unused]] const int result = fchmod(descriptor_.get(), existing.st_mode & kPermissionBits);
  }
}

OutputFile::~OutputFile() {
  descriptor_.close();
  forget_temporary_name();
}

void OutputFile::choose_temporary_name() {
  static std::atomic<unsigned> counter{0};
  const std::string name = ".faro-" + std::to_string(getpid()) + "-" + std::to_string(counter.fetch_add(1));
  temporary_ = directory_of(path_) / name;
  remember(temporary_);
}

void OutputFile::forget_temporary_name() {
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  forget(temporary_);
  temporary_.clear();
}

void OutputFile::open_named() {
  choose_temporary_name();
  unlink(temporary_.c_str());  // left by a killed process that had our number
  descriptor_.reset(open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kMode));
  if (descriptor_.is_open()) return;
  const int error = errno;
  forget(temporary_);
  temporary_.clear();
  refuse(error, "a directory that can be written to");
}

bool OutputFile::reserve(std::uint64_t bytes) {
  if (bytes == 0) return true;
  if (bytes > (std::uint64_t{1} << 62)) refuse_size(EFBIG, bytes);
  int error = 0;
  do {
    error = fallocate(descriptor(), 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error == 0) return true;
  if (error != EOPNOTSUPP && error != ENOSYS) refuse_size(error, bytes);
  if (ftruncate(descriptor(), static_cast<off_t>(bytes)) != 0) refuse_size(errno, bytes);
  struct statvfs space {};
  if (fstatvfs(descriptor(), &space) == 0 && space.f_bavail * std::uint64_t{space.f_frsize} < bytes) {
    refuse_size(ENOSPC, bytes);
  }
  return false;
}

void OutputFile::write(std::span<const std::byte> data, std::uint64_t offset,
                       const std::function<void(std::uint64_t)>& advance) {
  const auto pieces = static_cast<std::int64_t>((data.size() + kPieceBytes - 1) / kPieceBytes);
  std::atomic<int> error{0};
  // All threads write: copying into the page cache is bound by a core's speed.
#pragma omp parallel for schedule(dynamic) if (pieces > 1)
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    if (error.load(std::memory_order_relaxed) != 0) continue;
    const std::uint64_t begin = static_cast<std::uint64_t>(piece) * kPieceBytes;
    const std::uint64_t bytes = std::min<std::uint64_t>(kPieceBytes, data.size() - begin);
    const int result = pwrite_all(descriptor(), data.data() + begin, bytes, offset + begin);
    if (result != 0) error.store(result, std::memory_order_relaxed);
    if (result == 0 && advance) advance(bytes);
  }
  if (error.load() != 0) refuse_size(error.load(), data.size());
}

void OutputFile::commit() {
  if (temporary_.empty()) {
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor());
    choose_temporary_name();
    unlink(temporary_.c_str());
    if (linkat(AT_FDCWD, link.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      refuse(errno, "a directory that can be written to");
    }
  }
  if (const int error = descriptor_.close(); error != 0) refuse(error, "a file that can be written to");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) refuse(errno, "a path that a file can be renamed to");
  forget(temporary_);
  temporary_.clear();
}

void OutputFile::refuse(int error, const std::string& wanted) const {
  refuse(std::generic_category().message(error), wanted);
}

void OutputFile::refuse_size(int error, std::uint64_t bytes) const {
  std::string got = std::generic_category().message(error);
  struct statvfs space {};
  if (statvfs(directory_of(path_).c_str(), &space) == 0)
    got += ", " + size_text(space.f_bavail * std::uint64_t{space.f_frsize}) + " free on its disk";
  refuse(got, "room for " + size_text(bytes));
}

void OutputFile::refuse(const std::string& got, const std::string& wanted) const {
  fail(ErrorCode::file, "write `" + path_.string() + "`", got, wanted);
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
  for (auto& slot : uncommitted) {
    if (const char* const path = slot.load()) unlink(path);
  }
}

}  // namespace faro::io
