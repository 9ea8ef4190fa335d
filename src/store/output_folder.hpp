// A folder that appears at its path whole or not at all.
//
//     make beside, under a temporary name  ->  fill  ->  finish: bring all of it to the disk by one call
//                                          ->  commit: rename onto the path, bring the parent to the disk
//
// What is at the path already is never replaced, but for an empty folder. A folder whose process was killed
// is locked by nobody and is removed by the next process that makes one beside it; or it is kept, as files
// are (io/output_file.hpp), under io::partial_path().
#pragma once

#include <filesystem>
#include <string>

#include "io/file_system.hpp"
#include "io/output_file.hpp"

namespace faro::store {

class OutputFolder {
 public:
  /// Errors: ErrorCode::file where the parent is missing or unwritable, something is at the path, or another
  /// process holds a folder that is kept.
  explicit OutputFolder(const std::filesystem::path& path,
                        io::Unfinished unfinished = io::Unfinished::removed);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Where it is in the end.
  const std::filesystem::path& path() const { return path_; }
  /// Where it is filled.
  const std::filesystem::path& folder() const { return temporary_; }

  /// Removes all that is in it. Errors: ErrorCode::file.
  void clear();
  /// Removes one that would be kept: nothing of it is of use.
  void discard() noexcept;
  /// Brings all that is in it by now to the disk. Errors: ErrorCode::file.
  void sync();
  /// The same, once. Errors: ErrorCode::file.
  void finish();
  /// Finishes where that was not done, and renames. Errors: ErrorCode::file.
  void commit();

 private:
  void make_temporary();
  void open_partial();
  std::string operation() const { return "write `" + path_.string() + "`"; }

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty: committed
  io::Descriptor lock_;
  io::Unfinished unfinished_;
  bool finished_ = false;
};

}  // namespace faro::store
