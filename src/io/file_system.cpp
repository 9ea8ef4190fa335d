#include "io/file_system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <string_view>
#include <vector>

#include "faro/error.hpp"

namespace faro::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporaryPrefix = ".faro-";
constexpr std::size_t kBootDigits = 8;
constexpr std::size_t kRandomDigits = 24;
constexpr mode_t kModeWithoutSetId = 01777;

std::atomic<bool> sync_wanted{true};

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The digits of this boot of this kernel: names of other hosts, and of the time before, have others.
const std::string& boot_digits() {
  static const std::string digits = [] {
    std::string letters;
    for (const char c : first_line("/proc/sys/kernel/random/boot_id")) {
      if (c != '-') letters += c;
    }
    letters.resize(kBootDigits, '0');
    return letters;
  }();
  return digits;
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(kTemporaryPrefix) &&
         name.size() == kTemporaryPrefix.size() + kBootDigits + 1 + kRandomDigits;
}

// Opened without waiting, following no link.
Descriptor open_left_over(int directory, const char* name) {
  return Descriptor(openat(directory, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

bool is_left_over(int descriptor, std::string_view name) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) return false;
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) return false;
  if (name.substr(kTemporaryPrefix.size(), kBootDigits) == boot_digits()) return true;
  constexpr time_t kDay = 86'400;
  return status.st_ctime + kDay < time(nullptr);
}

// Whether the kernel would let us follow a link where fs.protected_symlinks is set, as distributions set it;
// here always, whatever the system's setting.
bool may_follow(const fs::path& link, const struct stat& status) {
  struct stat folder {};
  if (status.st_uid == geteuid()) return true;
  if (stat(directory_of(link).c_str(), &folder) != 0) return true;
  constexpr mode_t kShared = S_ISVTX | S_IWOTH;
  return (folder.st_mode & kShared) != kShared || folder.st_uid == status.st_uid;
}

std::vector<std::string> attribute_names(const char* path) {
  const ssize_t size = listxattr(path, nullptr, 0);
  if (size <= 0) return {};
  std::string list(static_cast<std::size_t>(size), '\0');
  const ssize_t got = listxattr(path, list.data(), list.size());
  std::vector<std::string> names;
  for (std::size_t at = 0; got > 0 && at < static_cast<std::size_t>(got);) {
    names.emplace_back(list.c_str() + at);
    at += names.back().size() + 1;
  }
  return names;
}

// errno, or zero.
int copy_attribute(const char* path, const std::string& name, int descriptor) {
  const ssize_t size = getxattr(path, name.c_str(), nullptr, 0);
  if (size < 0) return errno == ENODATA ? 0 : errno;
  std::string value(static_cast<std::size_t>(size), '\0');
  const ssize_t got = getxattr(path, name.c_str(), value.data(), value.size());
  if (got < 0) return errno;
  return fsetxattr(descriptor, name.c_str(), value.data(), static_cast<std::size_t>(got), 0) == 0 ? 0 : errno;
}

// What labels of security modules say is set by the system for every file; capabilities were the old
// content's.
bool is_left_to_the_system(std::string_view name) { return name.starts_with("security."); }

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

ReadAt read_at(int descriptor, std::span<std::byte> to, std::uint64_t offset) {
  ReadAt read;
  while (read.bytes < to.size()) {
    const ssize_t got = pread(descriptor, to.data() + read.bytes, to.size() - read.bytes,
                              static_cast<off_t>(offset + read.bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) read.error = errno;
    if (got <= 0) break;
    read.bytes += static_cast<std::uint64_t>(got);
  }
  return read;
}

int write_at(int descriptor, std::span<const std::byte> from, std::uint64_t offset) {
  std::uint64_t done = 0;
  while (done < from.size()) {
    const ssize_t written =
        pwrite(descriptor, from.data() + done, from.size() - done, static_cast<off_t>(offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    done += static_cast<std::uint64_t>(written);
  }
  return 0;
}

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

std::error_code follow_links(fs::path& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  struct stat status {};
  for (int link = 0; lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode); ++link) {
    if (link == kMostLinks) return std::make_error_code(std::errc::too_many_symbolic_link_levels);
    if (!may_follow(path, status)) return std::make_error_code(std::errc::permission_denied);
    std::error_code failed;
    const fs::path target = fs::read_symlink(path, failed);
    if (failed) return failed;
    path = path.parent_path() / target;  // target alone where it is absolute
  }
  return {};
}

void set_sync(bool wanted) { sync_wanted = wanted; }

int sync_file(int descriptor) {
  if (!sync_wanted) return 0;
  int result = 0;
  do {
    result = fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

int sync_file_system(int descriptor) {
  if (!sync_wanted) return 0;
  return syncfs(descriptor) == 0 ? 0 : errno;
}

void begin_sync(int descriptor, std::uint64_t offset, std::uint64_t bytes) {
  if (sync_wanted)
    sync_file_range(descriptor, static_cast<off64_t>(offset), static_cast<off64_t>(bytes),
                    SYNC_FILE_RANGE_WRITE);
}

void FolderSync::open(const fs::path& folder) {
  if (!sync_wanted) return;
  folder_.reset(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder_.is_open()) return;
  all_ = errno == EACCES;  // it may be written to, but not listed
  if (!all_)
    fail(ErrorCode::file, "write to `" + folder.string() + "`", error_text(errno),
         "a folder that can be opened");
}

int FolderSync::sync() const {
  if (all_) ::sync();
  if (!folder_.is_open()) return 0;
  const int error = sync_file(folder_.get());
  return error == EINVAL || error == ENOTSUP || error == EROFS ? 0 : error;
}

std::string temporary_name() {
  std::array<unsigned char, kRandomDigits / 2> random{};
  std::size_t have = 0;
  while (have < random.size()) {
    const ssize_t got = getrandom(random.data() + have, random.size() - have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      fail(ErrorCode::file, "name a temporary file", "no random numbers: " + error_text(errno),
           "the system's random numbers");
    have += static_cast<std::size_t>(got);
  }
  std::string name = std::string(kTemporaryPrefix) + boot_digits() + "-";
  for (const unsigned char byte : random) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

namespace {

void sweep(const fs::path& directory) {
  DIR* const folder = opendir(directory.c_str());
  if (folder == nullptr) return;
  constexpr int kMostNames = 65536;
  for (int seen = 0; seen < kMostNames; ++seen) {
    const dirent* const entry = readdir(folder);
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (!is_temporary_name(name)) continue;
    const Descriptor file = open_left_over(dirfd(folder), name.c_str());
    if (file.is_open() && is_left_over(file.get(), name)) unlinkat(dirfd(folder), name.c_str(), 0);
  }
  closedir(folder);
}

}  // namespace

void sweep_left_overs(const fs::path& path) noexcept {
  try {
    sweep(directory_of(path));
  } catch (const std::exception&) {
    // No memory: the next command sweeps.
  }
}

std::optional<std::string> copy_attributes(const fs::path& path, const struct stat& status, int descriptor) {
  struct stat ours {};
  if (fstat(descriptor, &ours) != 0) return "its status: " + error_text(errno);
  if (ours.st_gid != status.st_gid && fchown(descriptor, static_cast<uid_t>(-1), status.st_gid) != 0)
    return "its group, number " + std::to_string(status.st_gid) + ": " + error_text(errno);
  if (ours.st_uid != status.st_uid && fchown(descriptor, status.st_uid, static_cast<gid_t>(-1)) != 0)
    return "its owner, number " + std::to_string(status.st_uid) + ": " + error_text(errno);
  constexpr const char* kAccessList = "system.posix_acl_access";
  bool has_access_list = false;
  for (const std::string& name : attribute_names(path.c_str())) {
    has_access_list = has_access_list || name == kAccessList;
    if (is_left_to_the_system(name)) continue;
    if (const int error = copy_attribute(path.c_str(), name, descriptor); error != 0)
      return "its attribute " + name + ": " + error_text(error);
  }
  // One that the folder gave to the new file alone.
  if (!has_access_list) fremovexattr(descriptor, kAccessList);
  if (fchmod(descriptor, status.st_mode & kModeWithoutSetId) != 0)
    return "its permissions: " + error_text(errno);
  return std::nullopt;
}

std::string lock_holder(const struct stat& status) {
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // "1: FLOCK  ADVISORY  WRITE 3129 08:02:1312 0 EOF"
    unsigned long process = 0;
    unsigned long long inode = 0;
    unsigned device_major = 0;
    unsigned device_minor = 0;
    if (std::sscanf(line.c_str(), "%*s FLOCK %*s WRITE %lu %x:%x:%llu", &process, &device_major,
                    &device_minor, &inode) != 4 ||
        inode != status.st_ino || process == 0)
      continue;
    const std::string command = first_line("/proc/" + std::to_string(process) + "/comm");
    return "process " + std::to_string(process) + (command.empty() ? "" : " (" + command + ")");
  }
  return "another process";
}

HeldFile::HeldFile(const fs::path& path, const std::string& operation, bool reading_suffices)
    : path_(path), operation_(operation) {
  constexpr int kFlags = O_CLOEXEC | O_NONBLOCK;  // a pipe that nobody writes to must not be waited for
  descriptor_.reset(open(path.c_str(), O_RDWR | kFlags));
  if (!descriptor_.is_open() && reading_suffices && (errno == EACCES || errno == EROFS))
    descriptor_.reset(open(path.c_str(), O_RDONLY | kFlags));
  if (!descriptor_.is_open())
    fail(ErrorCode::file, operation, errno == EISDIR ? "a directory" : error_text(errno),
         "a .npy file that may be read and written");
  if (fstat(descriptor_.get(), &status_) != 0)
    fail(ErrorCode::file, operation, error_text(errno), "a .npy file");
  if (!S_ISREG(status_.st_mode))
    fail(ErrorCode::file, operation, S_ISDIR(status_.st_mode) ? "a directory" : "a pipe or device",
         "a regular file, which can be mapped");
  int result = 0;
  do {
    result = flock(descriptor_.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EWOULDBLOCK)
    fail(ErrorCode::file, operation, "a file that " + lock_holder(status_) + " is changing",
         "one that nobody else changes meanwhile", "when that is done it may be tried again");
  require_unchanged();
}

void HeldFile::require_unchanged() const {
  struct stat named {};
  struct stat held {};
  if (stat(path_.c_str(), &named) != 0 || named.st_dev != status_.st_dev || named.st_ino != status_.st_ino)
    fail(ErrorCode::file, operation_, "a path that names another file by now",
         "a file that nobody replaces meanwhile", "it was left as it is");
  if (fstat(descriptor_.get(), &held) != 0 || held.st_size != status_.st_size ||
      held.st_mtim.tv_sec != status_.st_mtim.tv_sec || held.st_mtim.tv_nsec != status_.st_mtim.tv_nsec)
    fail(ErrorCode::file, operation_, "a file that was written to since it was read",
         "a file that nobody changes meanwhile", "it was left as it is");
}

}  // namespace faro::io
