// A checkpoint that is read: which of its files has which tensor.
//
//     model/model.safetensors.index.json     {"metadata": {"total_size": …}, "weight_map": {"a": "model-00001-of-…", …}}
//     model/model-00001-of-00002.safetensors …
//
// or a folder with safetensors and no index, or one file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "store/element_type.hpp"
#include "store/json.hpp"
#include "store/sides.hpp"

namespace faro::store {

struct CheckpointTensor {
  std::string name;
  Shape shape = {};
  ElementType type = {};
  std::size_t file = 0;      // of CheckpointFiles::files
  std::uint64_t offset = 0;  // in the file, bytes

  std::uint64_t bytes() const { return volume(shape) * type.bytes; }
};

struct CheckpointFiles {
  std::vector<std::filesystem::path> files = {};
  std::vector<CheckpointTensor> tensors = {};  // by file, and by their places in it
  Json metadata = Json::object();              // of all files; where two differ, of the first
  Json index_metadata = Json::object();        // of the index
};

/// Errors: ErrorCode::file for what is malformed or missing, an index that names other tensors than the files
/// have, and names that leave the folder; ErrorCode::unsupported for tensors of types that are not known.
CheckpointFiles open_checkpoint(const std::filesystem::path& path);

}  // namespace faro::store
