// Zarr stores, versions 2 and 3, in folders.
//
//     climate.zarr/            zarr.json, or .zgroup       a group: its arrays have their paths for names
//     climate.zarr/t           zarr.json, or .zarray       an array, which is a path of its own too
//     climate.zarr/t/c/0/1/0                               a chunk, or a shard
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "faro/error.hpp"
#include "io/npy.hpp"
#include "store/nested_shards.hpp"
#include "store/output_folder.hpp"
#include "store/store_formats.hpp"
#include "store/zarr_metadata.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostMetadataBytes = std::uint64_t{64} << 20;
constexpr int kMostGroupDepth = 32;  // of groups in groups

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

Json read_metadata(const fs::path& path) {
  return parse_json_object(read_small_file(path.string(), kMostMetadataBytes),
                           "read `" + path.string() + "`");
}

// What the library of JSON throws for a value of another kind than was taken for granted is malformed
// metadata.
template <typename Read>
auto guarded(const std::string& operation, const Read& read) {
  try {
    return read();
  } catch (const Json::exception& error) {
    fail(ErrorCode::file, operation, "metadata with a value of another kind: " + std::string(error.what()),
         "metadata as Zarr specifies it");
  }
}

enum class Version : std::uint8_t { none, v2, v3 };

// What is in a folder: its version, and whether it is an array.
struct Node {
  Version version = Version::none;
  bool is_array = false;
};

Node node_of(const fs::path& folder) {
  if (is_there(folder / "zarr.json")) {
    const std::string operation = "read `" + (folder / "zarr.json").string() + "`";
    const Json json = read_metadata(folder / "zarr.json");
    if (number_of_key(json, "zarr_format", operation) != 3)
      fail(ErrorCode::unsupported, operation, "another version of Zarr than 2 and 3", "one of them");
    return {.version = Version::v3, .is_array = text_of(json, "node_type", operation) == "array"};
  }
  if (is_there(folder / ".zarray")) return {.version = Version::v2, .is_array = true};
  if (is_there(folder / ".zgroup")) return {.version = Version::v2, .is_array = false};
  return {};
}

ZarrArray read_array(const fs::path& folder, Version version) {
  if (version == Version::v3) {
    const std::string operation = "read `" + (folder / "zarr.json").string() + "`";
    return guarded(operation, [&] { return read_zarr_v3(read_metadata(folder / "zarr.json"), operation); });
  }
  const std::string operation = "read `" + (folder / ".zarray").string() + "`";
  const Json attributes = is_there(folder / ".zattrs") ? read_metadata(folder / ".zattrs") : Json::object();
  return guarded(operation,
                 [&] { return read_zarr_v2(read_metadata(folder / ".zarray"), attributes, operation); });
}

std::shared_ptr<ChunkStore> chunk_store(const fs::path& folder, const ZarrArray& array) {
  return array.shards ? shard_files(folder, array.keys, *array.shards) : chunk_files(folder, array.keys);
}

// Nothing is there by then.
std::unique_ptr<Sink> sink_of(const ZarrArray& array, std::shared_ptr<ChunkStore> store) {
  if (!array.shards || array.shards->levels.size() == 1) return chunk_sink(array.form, std::move(store));
  ChunkForm within = array.form;
  within.chunk = array.shards->levels.front().chunk;
  within.order = c_order(within.chunk.size());
  within.codecs.clear();
  return chunk_sink(std::move(within), shards_within(*array.shards, array.form, std::move(store)));
}

StoredArray stored_array(const fs::path& folder, std::string name, Version version) {
  const ZarrArray array = read_array(folder, version);
  const std::string operation = "read `" + folder.string() + "`";
  require_built(array.form.codecs, operation);
  return {.name = std::move(name),
          .format = version == Version::v3 ? "Zarr v3" : "Zarr v2",
          .shape = array.form.shape,
          .type = array.form.type,
          .byte_order = array.form.byte_order,
          .notes = array.notes,
          .chunks = ChunksInStore{.form = array.form,
                                  .store = chunk_store(folder, array),
                                  .shard = array.shards ? array.shards->shard : Shape()}};
}

Json group_attributes(const fs::path& folder, Version version) {
  if (version == Version::v2)
    return is_there(folder / ".zattrs") ? read_metadata(folder / ".zattrs") : Json::object();
  const Json json = read_metadata(folder / "zarr.json");
  const auto found = json.find("attributes");
  return found != json.end() && found->is_object() ? *found : Json::object();
}

// Visits the folders in a group, by name; links are not followed, for they may lead out of the store.
template <typename Visit>
void for_each_node_in(const fs::path& folder, const std::string& name, const Visit& visit) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool is_unfinished = entry.path().filename().string().starts_with(".faro-");
    if (entry.is_directory() && !entry.is_symlink() && !is_unfinished) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& each : folders) {
    std::string path = name;
    if (!path.empty()) path += '/';
    path += each.filename().string();
    visit(each, path);
  }
}

// Groups within groups.
void add_arrays(const fs::path& folder, const std::string& name, int depth,
                std::vector<StoredArray>& arrays) {
  const Node node = node_of(folder);
  if (node.is_array) {
    // One that is not understood does not keep others from being read.
    try {
      arrays.push_back(stored_array(folder, name, node.version));
    } catch (const Error& error) {
      if (depth == 0) throw;
      arrays.push_back({.name = name, .format = "Zarr", .refusal = error.report()});
    }
    return;
  }
  if (node.version == Version::none || depth > kMostGroupDepth) return;
  for_each_node_in(folder, name, [&](const fs::path& each, const std::string& whole) {
    add_arrays(each, whole, depth + 1, arrays);
  });
}
bool is_consolidated(const fs::path& group, Version version) {
  return version == Version::v2 ? is_there(group / ".zmetadata")
                                : read_metadata(group / "zarr.json").contains("consolidated_metadata");
}
void add_groups(const fs::path& folder, const std::string& name, int depth, std::vector<Group>& groups) {
  const Node node = node_of(folder);
  if (node.is_array || node.version == Version::none || depth > kMostGroupDepth) return;
  groups.push_back({.name = name, .attributes = group_attributes(folder, node.version)});
  if (depth == 0) groups.back().is_consolidated = is_consolidated(folder, node.version);
  for_each_node_in(folder, name, [&](const fs::path& each, const std::string& whole) {
    add_groups(each, whole, depth + 1, groups);
  });
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    fail(ErrorCode::file, "write `" + path.string() + "`", "a failure of the disk", "room on the disk");
}

void write_group_metadata(const fs::path& folder, Version version, const Json& attributes) {
  if (version == Version::v3) {
    write_text(folder / "zarr.json",
               json_text({{"zarr_format", 3}, {"node_type", "group"}, {"attributes", attributes}}));
    return;
  }
  write_text(folder / ".zgroup", json_text({{"zarr_format", 2}}));
  if (!attributes.empty()) write_text(folder / ".zattrs", json_text(attributes));
}

// Metadata of all that is in a folder, by the paths of their files in version 2, of their folders in 3.
void add_metadata_within(const fs::path& folder, const std::string& name, Version version, int depth,
                         Json& all) {
  const Node node = node_of(folder);
  if (node.version != version || depth > kMostGroupDepth) return;
  if (version == Version::v2) {
    for (const char* const file : {".zgroup", ".zarray", ".zattrs"}) {
      if (is_there(folder / file))
        all[name.empty() ? file : name + "/" + file] = read_metadata(folder / file);
    }
  } else if (!name.empty()) {
    all[name] = read_metadata(folder / "zarr.json");
  }
  if (node.is_array) return;
  for_each_node_in(folder, name, [&](const fs::path& each, const std::string& whole) {
    add_metadata_within(each, whole, version, depth + 1, all);
  });
}

void consolidate_metadata(const fs::path& folder, Version version) {
  Json all = Json::object();
  add_metadata_within(folder, "", version, 0, all);
  if (version == Version::v2) {
    write_text(folder / ".zmetadata", json_text({{"zarr_consolidated_format", 1}, {"metadata", all}}));
    return;
  }
  Json json = read_metadata(folder / "zarr.json");
  json["consolidated_metadata"] = {{"kind", "inline"}, {"must_understand", false}, {"metadata", all}};
  write_text(folder / "zarr.json", json_text(json));
}

// What describes the array is repeated in the metadata of a group above that has all of it in one place.
void note_in_group(const fs::path& group, const std::string& name, const Json& metadata,
                   const Json& attributes) {
  const bool is_v3 = is_there(group / "zarr.json");
  const fs::path path = group / (is_v3 ? "zarr.json" : ".zmetadata");
  if (!is_there(path)) return;
  Json json = read_metadata(path);
  Json* place = &json;
  if (is_v3) {
    const auto found = json.find("consolidated_metadata");
    if (found == json.end() || !found->is_object()) return;
    place = &*found;
  }
  const auto all = place->find("metadata");
  if (all == place->end() || !all->is_object()) return;
  if (is_v3) {
    (*all)[name] = metadata;
  } else {
    (*all)[name + "/.zarray"] = metadata;
    (*all)[name + "/.zattrs"] = attributes;
  }
  io::write_file(path, json_text(json));
}

// Where none is known: zero, and no time.
Bytes usual_fill(const ElementType& type) {
  Bytes fill(type.bytes);
  if (type.name.starts_with("M8") || type.name.starts_with("m8")) fill.back() = std::byte{0x80};
  return fill;
}

ZarrArray array_wanted(const WantedArray& wanted, Version version, const std::string& operation) {
  ZarrArray array;
  array.form = {
      .shape = wanted.shape,
      .chunk = wanted.chunks.empty() ? usual_chunks(wanted.shape, wanted.type.bytes) : wanted.chunks,
      .order = c_order(wanted.shape.size()),
      .type = wanted.type,
      .byte_order = wanted.byte_order,
      .codecs = wanted.codecs.value_or(usual_codecs()),
      .fill = wanted.notes.fill.value_or(usual_fill(wanted.type))};
  if (wanted.fortran_order) std::reverse(array.form.order.begin(), array.form.order.end());
  array.notes = wanted.notes;
  if (version == Version::v2) {
    array.keys = {.has_prefix = false, .separator = '.'};
    settle_fill_of_v2(array);
  }
  require_built(array.form.codecs, operation);
  if (wanted.shards.empty()) return array;
  array.shards = ShardForm{.shape = wanted.shape, .shard = wanted.shards, .levels = {}};
  std::vector<Shape> cells = wanted.inner_shards;
  cells.push_back(array.form.chunk);
  const Shape* shard = &array.shards->shard;
  for (const Shape& cell : cells) {
    for (std::size_t a = 0; a < cell.size(); ++a) {
      if ((*shard)[a] % cell[a] == 0) continue;
      fail(ErrorCode::value, operation,
           fmt::format("shards of {} with chunks of {} along axis {}", (*shard)[a], cell[a], a),
           "a whole number of chunks");
    }
    if (volume(cells_of(*shard, cell)) > kMostChunksOfShard)
      fail(ErrorCode::value, operation, "shards of more than 2^24 chunks", "fewer");
    array.shards->levels.push_back({.chunk = cell});
    shard = &cell;
  }
  return array;
}

class CreatedZarr final : public CreatedStore {
 public:
  // `version`: of the group that it is in, or is made.
  CreatedZarr(const fs::path& path, Version version, const WantedArray& wanted, io::Unfinished unfinished)
      : path_(path), version_(version) {
    const std::string operation = "write `" + path.string() + "`";
    array_ = array_wanted(wanted, version, operation);
    metadata_ = version == Version::v3 ? zarr_v3_of(array_, operation) : zarr_v2_of(array_, operation);
    // `new.zarr/t`: a group with the array in it.
    fs::path top = path;
    for (fs::path above = path.parent_path(); above.has_filename(); above = above.parent_path()) {
      if (is_new_group(above)) top = above;
    }
    const fs::path within = path.lexically_relative(top);
    if (std::find(within.begin(), within.end(), "..") != within.end())
      fail(ErrorCode::value, operation, "`..` within a store that is new",
           "the names of groups and an array");
    folder_.emplace(top, unfinished);
    place_ = within == "." ? folder_->folder() : folder_->folder() / within;
    sink_ = sink_of(array_, chunk_store(place_, array_));
  }

  const fs::path& path() const override { return folder_->path(); }
  fs::path place() const override { return place_; }
  Sink& sink() override { return *sink_; }

  void begin(Leftover leftover) override {
    if (leftover == Leftover::gone_on_with) return;
    folder_->clear();
    std::error_code failed;
    if (fs::create_directories(place_, failed); failed)
      fail(ErrorCode::file, "write `" + path_.string() + "`", failed.message(),
           "a folder that can be written to");
    for (fs::path group = place_; group != folder_->folder();) {
      group = group.parent_path();
      write_group_metadata(group, version_, Json::object());
    }
  }

  void sync() override { folder_->sync(); }
  void discard() noexcept override { folder_->discard(); }

  void finish() override {
    if (version_ == Version::v3) {
      write_text(place_ / "zarr.json", json_text(metadata_));
    } else {
      write_text(place_ / ".zarray", json_text(metadata_));
      write_text(place_ / ".zattrs", json_text(zarr_v2_attributes(array_)));
    }
    folder_->finish();
  }

  void commit() override {
    folder_->commit();
    std::string name = path_.filename().string();
    for (fs::path group = path_.parent_path(); node_of(group).version == version_;
         group = group.parent_path()) {
      note_in_group(group, name, metadata_, zarr_v2_attributes(array_));
      name.insert(0, group.filename().string().append("/"));
    }
  }

 private:
  static bool is_new_group(const fs::path& path) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) return false;
    for (fs::path part = path; !part.filename().empty(); part = part.parent_path()) {
      if (ends_with(part, {".zarr", ".zarr2", ".zarr3"})) return true;
    }
    return false;
  }

  fs::path path_;
  Version version_;
  ZarrArray array_;
  Json metadata_;
  std::optional<OutputFolder> folder_;
  fs::path place_;  // of the array, until it has its name
  std::unique_ptr<Sink> sink_;
};

class Zarr final : public Format {
 public:
  explicit Zarr(Version version) : version_(version) {}

  const char* name() const override { return version_ == Version::v2 ? "Zarr v2" : "Zarr v3"; }

  bool is_this(const fs::path& path, std::span<const std::byte> /*first*/) const override {
    return node_of(path).version == version_;
  }

  bool is_meant(const fs::path& path) const override {
    const Version parent = node_of(path.parent_path()).version;
    if (parent != Version::none) return parent == version_;
    if (ends_with(path, {".zarr2"})) return version_ == Version::v2;
    // `new.zarr/t`
    for (fs::path part = path; !part.filename().empty(); part = part.parent_path()) {
      if (ends_with(part, {".zarr", ".zarr3"})) return version_ == Version::v3;
    }
    return false;
  }

  std::vector<StoredArray> arrays(const fs::path& path) const override {
    std::vector<StoredArray> found;
    add_arrays(path, "", 0, found);
    return found;
  }

  std::vector<Group> groups(const fs::path& path) const override {
    std::vector<Group> found;
    add_groups(path, "", 0, found);
    return found;
  }

  bool holds_several() const override { return true; }
  void write_group(const fs::path& folder, const Json& attributes) const override {
    write_group_metadata(folder, version_, attributes);
  }

  void consolidate(const fs::path& folder) const override { consolidate_metadata(folder, version_); }

  std::unique_ptr<CreatedStore> create(const fs::path& path, const WantedArray& wanted,
                                       io::Unfinished unfinished) const override {
    return std::make_unique<CreatedZarr>(path, version_, wanted, unfinished);
  }

  std::unique_ptr<Sink> joined_sink(const WantedArray& wanted, const fs::path& place) const override {
    const ZarrArray array = array_wanted(wanted, version_, "write Zarr");
    static_cast<void>(version_ == Version::v3 ? zarr_v3_of(array, "write Zarr")
                                              : zarr_v2_of(array, "write Zarr"));
    return sink_of(array, chunk_store(place, array));
  }

  bool has_chunks() const override { return true; }
  bool knows(const Codec& codec) const override {
    return codec.kind == CodecKind::zstd || codec.kind == CodecKind::gzip || codec.kind == CodecKind::blosc;
  }

 private:
  Version version_;
};

}  // namespace

const Format& zarr_v2_format() {
  static const Zarr format(Version::v2);
  return format;
}
const Format& zarr_v3_format() {
  static const Zarr format(Version::v3);
  return format;
}

}  // namespace faro::store
