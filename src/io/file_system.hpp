// What faro knows of the operating system's files: who owns them, who holds them, when they are on the disk.
//
// All that makes, replaces, locks or removes a file goes through here and output_file.hpp:
//
//     names     a temporary file has a random name that tells the boot it belongs to, is made with O_EXCL,
//               and is locked while its process lives: what can be locked is a dead process's left-over
//     links     followed where the kernel would with fs.protected_symlinks set, also the last of a path
//     owners    what takes a file's place has its owner, group, mode, ACL and attributes, or is refused
//     disk      a file and its folder are on the disk before anyone is told that they are
//     locks     whoever changes a file where it is holds it; the second to come is told who does
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>

namespace faro::io {

/// What the system says of an errno: "No such file or directory".
inline std::string error_text(int error) { return std::generic_category().message(error); }

/// A file descriptor that is closed when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : value_(other.value_) { other.value_ = -1; }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return value_ >= 0; }
  int get() const { return value_; }
  void reset(int value);

  /// errno, or zero. Some network file systems report a full disk only here.
  int close();

 private:
  int value_;
};

/// What read_at() read: `bytes` less than was asked for where the file ends, or after an error.
struct ReadAt {
  std::uint64_t bytes = 0;
  int error = 0;  // errno, or zero
};

/// Reads all of `to` from `offset` on, in as many calls as it takes.
ReadAt read_at(int descriptor, std::span<std::byte> to, std::uint64_t offset);

/// Writes all of `from`, likewise. Returns errno, or zero.
int write_at(int descriptor, std::span<const std::byte> from, std::uint64_t offset);

/// The folder that a path's last name is in.
std::filesystem::path directory_of(const std::filesystem::path& path);

/// Replaces `path` by what its symbolic links lead to in the end, whether or not that exists. Returns ELOOP
/// as opening it would, and EACCES for a link that fs.protected_symlinks, where it is set, keeps from
/// being followed: in a sticky folder that anyone may write to, one of neither ours nor the folder's owner.
std::error_code follow_links(std::filesystem::path& path);

/// Whether files are brought to the disk before success is reported; true from the start. Process-wide.
void set_sync(bool wanted);

/// Brings a file's data to the disk. Returns errno, or zero, also where set_sync(false) was asked for.
int sync_file(int descriptor);
/// The same of the whole file system that a descriptor is in: one call, however many files were written.
int sync_file_system(int descriptor);
/// The disk begins at once with a range that sync_file() would wait for.
void begin_sync(int descriptor, std::uint64_t offset, std::uint64_t bytes);

/// A folder whose names are to be brought to the disk, opened while it may still be refused.
class FolderSync {
 public:
  /// Errors: ErrorCode::file.
  void open(const std::filesystem::path& folder);
  /// errno, or zero, also for file systems on which a folder cannot be synchronised.
  int sync() const;

 private:
  Descriptor folder_;
  bool all_ = false;  // a folder that cannot be opened: with all of its file system
};

/// A name that no other file has: `.faro-`, the boot in 8 digits, `-`, 24 random ones.
std::string temporary_name();

/// Removes the temporary files beside `path` whose processes are dead. Files of another boot or host, whose
/// locks may not be seen here, are removed a day after they were last written. Never fails. Cost: a sweep of
/// the folder's names, of at most 65536.
void sweep_left_overs(const std::filesystem::path& path) noexcept;

/// Gives the file of `descriptor`, which we own, what `path` has: owner, group, permissions but for the
/// set-id bits, ACL and extended attributes (but for capabilities, which are the old content's). Returns what
/// could not be given, in words.
std::optional<std::string> copy_attributes(const std::filesystem::path& path, const struct stat& status,
                                           int descriptor);

/// The process that holds a lock on the file, "process 123 (faro)", or "another process" where the system
/// does not say.
std::string lock_holder(const struct stat& status);

/// A file that is held while it is changed where it lies, or while what replaces it is made. Processes of
/// other programs are not kept out.
class HeldFile {
 public:
  /// Opens for reading and writing, or for reading alone where `reading_suffices`.
  /// Errors: ErrorCode::file, with `operation`, where it cannot be opened, is no regular file, or is held by
  /// another process. On file systems without locks nothing is held.
  HeldFile(const std::filesystem::path& path, const std::string& operation, bool reading_suffices);

  int descriptor() const { return descriptor_.get(); }
  const struct stat& status() const { return status_; }

  /// Errors: ErrorCode::file where the path now names another file, or the file was written to since it was
  /// opened.
  void require_unchanged() const;

 private:
  std::filesystem::path path_;
  std::string operation_;
  Descriptor descriptor_;
  struct stat status_ {};
};

}  // namespace faro::io
