// The files of a checkpoint that is written: a folder of them with an index, or one file.
//
//     out/ is made as     .faro-partial-out/ with partial files in it, and .faro-partial-out-journal beside it
//     finish              all are on the disk
//     commit              files get their names, the index is written, the folder gets its name
//
// What a killed process left is there for the next one, which goes on with it or begins anew. One process at
// a time: the folder or the file is locked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "io/output_file.hpp"
#include "store/output_folder.hpp"
#include "store/sides.hpp"

namespace faro::store {

/// A file of safetensors.
struct CheckpointFile {
  std::string name;
  Bytes header = {};
  std::uint64_t bytes = 0;  // with its header
};

class CheckpointOutput {
 public:
  /// `files`: one where `path` is a file's. Errors: ErrorCode::file for something else than an empty folder
  /// there, or another process.
  CheckpointOutput(std::filesystem::path path, bool is_folder, std::vector<CheckpointFile> files);

  /// Sets the room aside and writes the headers; whatever was left is removed unless it is gone on with.
  /// Errors: ErrorCode::file for a full disk.
  void begin(bool goes_on);
  int descriptor(std::size_t file) const { return outputs_[file]->descriptor(); }
  const std::string& label(std::size_t file) const { return labels_[file]; }
  /// Brings a file to the disk. Errors: ErrorCode::file.
  void sync(std::size_t file) const;

  void finish();
  /// `index`: the text of the index file, or nothing. Errors: ErrorCode::file.
  void commit(const std::string& index_name, const std::string& index);
  /// Removes it all.
  void discard() noexcept;

 private:
  std::string operation() const { return "write `" + path_.string() + "`"; }

  std::filesystem::path path_;
  std::optional<OutputFolder> folder_;  // nothing: one file
  std::vector<CheckpointFile> files_;
  std::vector<std::unique_ptr<io::OutputFile>> outputs_;
  std::vector<std::string> labels_;
};

}  // namespace faro::store
