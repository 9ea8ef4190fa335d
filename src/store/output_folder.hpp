// A folder that appears at its path whole or not at all.
//
//     make beside, under a temporary name  ->  fill  ->  finish: bring all of it to the disk by one call
//                                          ->  commit: rename onto the path, bring the parent to the disk
//
// What is at the path already is never replaced, but for an empty folder. A folder whose process was killed
// is locked by nobody and is removed by the next process that makes one beside it.
#pragma once

#include <filesystem>
#include <string>

#include "io/file_system.hpp"

namespace faro::store {

class OutputFolder {
 public:
  /// Errors: ErrorCode::file where the parent is missing or unwritable, or something is at the path.
  explicit OutputFolder(const std::filesystem::path& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Where it is filled.
  const std::filesystem::path& folder() const { return temporary_; }

  /// Brings all of it to the disk. Errors: ErrorCode::file.
  void finish();
  /// Finishes where that was not done, and renames. Errors: ErrorCode::file.
  void commit();

 private:
  std::string operation() const { return "write `" + path_.string() + "`"; }

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty: committed
  io::Descriptor lock_;
  bool finished_ = false;
};

}  // namespace faro::store
