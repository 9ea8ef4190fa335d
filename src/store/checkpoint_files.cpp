#include "store/checkpoint_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "faro/error.hpp"
#include "store/safetensors.hpp"
#include "store/store_formats.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostIndexBytes = 100'000'000;
constexpr const char* kIndexEnding = ".safetensors.index.json";

// Which tensors an index says that a file has.
using TensorsOfFiles = std::map<std::string, std::set<std::string>>;

std::vector<fs::path> files_ending(const fs::path& folder, std::initializer_list<std::string_view> endings) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (ends_with(entry->path(), endings)) found.push_back(entry->path());
  }
  if (failed)
    fail(ErrorCode::file, "read `" + folder.string() + "`", failed.message(), "a folder that can be read");
  std::sort(found.begin(), found.end());
  return found;
}

TensorsOfFiles tensors_of_index(const Json& index, const std::string& operation) {
  const Json& map = member(index, "weight_map", operation);
  if (!map.is_object())
    fail(ErrorCode::file, operation, excerpt_of(map) + " for `weight_map`", "an object of texts");
  TensorsOfFiles found;
  for (const auto& [tensor, value] : map.items()) {
    const std::string file = value.is_string() ? value.get<std::string>() : "";
    if (file.empty() || file.find('/') != std::string::npos || file == "." || file == "..") {
      fail(ErrorCode::file, operation, excerpt_of(value) + " as the file of the tensor `" + tensor + "`",
           "the name of a file beside the index");
    }
    found[file].insert(tensor);
  }
  return found;
}

class CheckpointReader {
 public:
  CheckpointFiles read(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      if (ends_with(path, {kIndexEnding})) {
        read_index(path);
      } else {
        read_file(path, nullptr);
      }
      return std::move(made_);
    }
    const std::vector<fs::path> indices = files_ending(path, {kIndexEnding});
    if (indices.size() > 1) {
      fail(ErrorCode::file, "read `" + path.string() + "`",
           fmt::format("{} indices, `{}` and others", indices.size(), indices.front().filename().string()),
           "a folder with one", "name the index itself");
    }
    if (indices.size() == 1) {
      read_index(indices.front());
      return std::move(made_);
    }
    const std::vector<fs::path> files = files_ending(path, {".safetensors"});
    if (files.empty())
      fail(ErrorCode::file, "read `" + path.string() + "`", "a folder without safetensors", "a checkpoint");
    for (const fs::path& file : files) read_file(file, nullptr);
    return std::move(made_);
  }

 private:
  void read_index(const fs::path& path) {
    const std::string operation = "read `" + path.string() + "`";
    const Json index = parse_json_object(read_small_file(path.string(), kMostIndexBytes), operation);
    if (const auto found = index.find("metadata"); found != index.end() && found->is_object())
      made_.index_metadata = *found;
    for (const auto& [file, tensors] : tensors_of_index(index, operation))
      read_file(path.parent_path() / file, &tensors);
  }

  void read_file(const fs::path& path, const std::set<std::string>* wanted) {
    const std::string operation = "read `" + path.string() + "`";
    std::vector<CheckpointTensor> found;
    std::set<std::string> here;
    for (StoredArray& array : safetensors_format().arrays(path)) {
      if (!names_.insert(array.name).second)
        fail(ErrorCode::file, operation, "the tensor `" + array.name + "`, which another file has, too",
             "each tensor in one file");
      if (wanted != nullptr && !wanted->contains(array.name))
        fail(ErrorCode::file, operation,
             "the tensor `" + array.name + "`, which the index does not put there",
             "the tensors that the index names");
      here.insert(array.name);
      found.push_back({.name = std::move(array.name),
                       .shape = std::move(array.shape),
                       .type = std::move(array.type),
                       .file = made_.files.size(),
                       .offset = array.run->form.offset});
    }
    for (const std::string& name : wanted == nullptr ? std::set<std::string>() : *wanted) {
      if (!here.contains(name))
        fail(ErrorCode::file, operation, "no tensor `" + name + "`, which the index puts there",
             "the tensors that the index names");
    }
    std::stable_sort(found.begin(), found.end(), [](const CheckpointTensor& a, const CheckpointTensor& b) {
      return a.offset < b.offset;
    });
    std::move(found.begin(), found.end(), std::back_inserter(made_.tensors));
    const Json metadata = safetensors_metadata(path);
    for (const auto& [key, value] : metadata.items()) {
      if (!made_.metadata.contains(key)) made_.metadata[key] = value;
    }
    made_.files.push_back(path);
  }

  CheckpointFiles made_;
  std::set<std::string> names_;
};

}  // namespace

CheckpointFiles open_checkpoint(const fs::path& path) { return CheckpointReader().read(path); }

}  // namespace faro::store
