// A file that appears at its path whole or not at all.
//
//     open nameless in the folder  ->  reserve  ->  write  ->  finish: bring the data to the disk
//                                  ->  commit: link beside, rename onto the path, bring the folder to the disk
//
// Nameless files (O_TMPFILE) vanish with the process however it ends. Where the file system has none, a
// temporary name (file_system.hpp) is used from the start and is removed by the destructor, by
// remove_uncommitted(), or by the next process that writes a file in the folder. Nearly all that can go wrong
// goes wrong before commit(): what is to be told of the result is best told between finish() and commit().
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "io/file_system.hpp"

namespace faro::io {

/// What becomes of a file that is not committed.
enum class Unfinished : std::uint8_t {
  removed,  // nameless, or with a temporary name
  kept,     // under partial_path(), for a later process to go on with
};

/// Beside `path`, links followed: where an output is that is kept unfinished. `.faro-partial-NAME`, of a NAME
/// of more than 180 bytes its first 160 and a hash, so that endings as `-journal` find room.
std::filesystem::path partial_path(const std::filesystem::path& path);

class OutputFile {
 public:
  /// A file that is there already gives the new one its owner, group, permissions and attributes.
  /// Errors: ErrorCode::file where the directory is missing or unwritable, `path` is something else than a
  /// writable regular file or a free name, or these cannot be given.
  /// With Unfinished::kept the file is at partial_path(), with what an earlier process left in it; errors
  /// also where another process holds it.
  explicit OutputFile(const std::filesystem::path& path, Unfinished unfinished = Unfinished::removed);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int descriptor() const { return descriptor_.get(); }

  /// Makes the file `bytes` long with the blocks set aside. Returns whether they are: where the file system
  /// cannot, the free space was large enough just now. Errors: ErrorCode::file where the disk is too full.
  bool reserve(std::uint64_t bytes);

  /// Writes with all threads. Errors: ErrorCode::file.
  void write(std::span<const std::byte> data, std::uint64_t offset,
             const std::function<void(std::uint64_t)>& advance = {});

  /// Brings what was written to the disk. Errors: ErrorCode::file; what was at the path is untouched.
  void finish();

  /// Finishes where that was not done, and renames onto the path. Errors: ErrorCode::file; what was at the
  /// path is untouched.
  void commit();

  /// Removes a file that would be kept: nothing of it is of use. It can no longer be committed.
  void discard();

  /// What errors say was being done: "write `PATH`".
  std::string operation() const { return "write `" + path_.string() + "`"; }

 private:
  /// Fails for so many bytes for which there is no room: says what is free, or was before an attempt that
  /// took it.
  [[noreturn]] void fail_for_room(int error, std::uint64_t bytes,
                                  std::optional<std::uint64_t> free_before = {}) const;
  void forget_temporary_name();
  void open_named();
  void open_partial();
  void require_no_partial_writer() const;
  void give_name();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty while the file is nameless
  Descriptor descriptor_;
  FolderSync folder_;
  Unfinished unfinished_ = Unfinished::removed;
  bool finished_ = false;
};

}  // namespace faro::io
