#include "store/format.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <optional>
#include <utility>

#include "faro/error.hpp"
#include "io/file_system.hpp"
#include "store/ranges.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kFirstBytes = 4096;

std::string joined_names(const std::vector<StoredArray>& arrays) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t a = 0; a < std::min(arrays.size(), kMost); ++a)
    text += (a == 0 ? "" : ", ") + arrays[a].name;
  return arrays.size() > kMost ? text + ", …" : text;
}

// Some of them by name.
void leave_out_attributes(const std::vector<const Json*>& all, const std::vector<std::string>& kept,
                          std::vector<std::string>& left_out) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> names;
  for (const Json* const attributes : all) {
    for (const auto& [name, value] : attributes->items()) {
      const bool is_new = std::find(kept.begin(), kept.end(), name) == kept.end() &&
                          std::find(names.begin(), names.end(), name) == names.end();
      if (is_new && names.size() <= kMost) names.push_back(name);
    }
  }
  if (names.empty()) return;
  const bool has_more = names.size() > kMost;
  if (has_more) names.pop_back();
  left_out.push_back(fmt::format("attributes `{}`{}", fmt::join(names, "`, `"), has_more ? " …" : ""));
}

}  // namespace

std::unique_ptr<Source> StoredArray::source() const {
  return run ? run_source(run->path, run->form) : chunk_source(chunks->form, chunks->store);
}

std::uint64_t end_of(const RunOutput& output) {
  if (output.waiting_at != 0) return output.form.offset;
  if (!output.tiles) return end_of(output.form);
  return output.form.offset +
         volume(cells_of(output.tiles->shape, output.tiles->chunk)) * output.tiles->chunk_bytes();
}

std::unique_ptr<Sink> output_sink(int descriptor, const fs::path& label, const RunOutput& output) {
  if (!output.tiles) return run_sink(descriptor, label, output.form);
  if (output.waiting_at != 0)
    return chunk_sink(*output.tiles, slots_in_file(descriptor, label, *output.tiles, output.waiting_at));
  return chunk_sink(*output.tiles, tiles_in_file(descriptor, label, *output.tiles, output.form.offset));
}

std::optional<RunOutput> Format::run_output(const WantedArray& /*wanted*/) const { return std::nullopt; }

std::optional<std::vector<RunOutput>> Format::run_outputs(const WantedStore& wanted,
                                                          std::vector<std::string>& left_out) const {
  auto only = run_output(wanted.arrays.front());
  if (!only) return std::nullopt;
  FARO_CHECK(wanted.arrays.size() == 1);
  const Notes& notes = wanted.arrays.front().notes;
  leave_out_attributes({&notes.attributes}, attributes_kept(), left_out);
  if (!notes.dimension_names.empty() && !keeps_dimension_names())
    left_out.emplace_back("names of dimensions");
  std::vector<RunOutput> all;
  all.push_back(std::move(*only));
  return all;
}

std::vector<Group> Format::groups(const fs::path& /*path*/) const { return {}; }

void Format::write_group(const fs::path& folder, const Json& /*attributes*/) const {
  fail(ErrorCode::internal, "write `" + folder.string() + "`", "a group of a file", "one of a folder");
}

const Group* root_of(const WantedStore& wanted) {
  const auto found = std::find_if(wanted.groups.begin(), wanted.groups.end(),
                                  [](const Group& group) { return group.name.empty(); });
  return found == wanted.groups.end() ? nullptr : &*found;
}

void leave_out_notes(const WantedStore& wanted, std::vector<std::string>& left_out) {
  const Group* const root = root_of(wanted);
  if (root != nullptr && !root->attributes.empty()) left_out.emplace_back("attributes of the store");
  leave_out_notes_within(wanted, left_out);
}

void leave_out_notes_within(const WantedStore& wanted, std::vector<std::string>& left_out) {
  std::vector<const Json*> attributes;
  for (const Group& group : wanted.groups) {
    if (!group.name.empty()) attributes.push_back(&group.attributes);
  }
  for (const WantedArray& array : wanted.arrays) attributes.push_back(&array.notes.attributes);
  leave_out_attributes(attributes, {}, left_out);
  if (std::any_of(wanted.arrays.begin(), wanted.arrays.end(),
                  [](const WantedArray& array) { return !array.notes.dimension_names.empty(); }))
    left_out.emplace_back("names of dimensions");
}

std::unique_ptr<CreatedStore> Format::create(const fs::path& path, const WantedArray& /*wanted*/,
                                             io::Unfinished /*unfinished*/) const {
  fail(ErrorCode::unsupported, "write `" + path.string() + "`", std::string("the format ") + name(),
       "one that is written: .zarr, .npy, .npz, .safetensors, .gguf, .h5, .nii, .fits, .tif, .arrow, .raw");
}

std::unique_ptr<Sink> Format::joined_sink(const WantedArray& wanted, const fs::path& /*place*/) const {
  static_cast<void>(create(name(), wanted, io::Unfinished::removed));  // which refuses
  return nullptr;
}

const Format& format_of(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    fail(ErrorCode::file, "read `" + path.string() + "`", io::error_text(errno),
         "a file or a folder that is there");
  const Bytes first = S_ISREG(status.st_mode) ? first_bytes(path, kFirstBytes) : Bytes();
  for (const Format* const format : formats()) {
    if (format->is_this(path, first)) return *format;
  }
  fail(ErrorCode::unsupported, "read `" + path.string() + "`",
       S_ISDIR(status.st_mode) ? "a folder without zarr.json, .zarray or .zgroup"
                               : "a file of no known format",
       "Zarr, HDF5, safetensors, .npy, .npz, GGUF, NIfTI, FITS, TIFF or an Arrow tensor",
       "--raw DTYPE --shape SHAPE for raw bytes");
}

const Format* format_meant(const fs::path& path) {
  for (const Format* const format : formats()) {
    if (format->is_meant(path)) return format;
  }
  return nullptr;
}

Place place_of(const std::string& text) {
  std::error_code ignored;
  if (fs::exists(text, ignored)) return {.path = text, .array = {}};
  // The last colon behind something that is there, else behind a name that tells a format: names have colons,
  // too.
  const auto split = [&](const auto& is_path) -> std::optional<Place> {
    for (std::size_t colon = text.rfind(':'); colon != std::string::npos && colon > 0;
         colon = text.rfind(':', colon - 1)) {
      const fs::path path = text.substr(0, colon);
      if (is_path(path)) return Place{.path = path, .array = text.substr(colon + 1)};
    }
    return {};
  };
  if (auto found = split([&](const fs::path& path) { return fs::exists(path, ignored); }))
    return *std::move(found);
  return split([](const fs::path& path) { return format_meant(path) != nullptr; })
      .value_or(Place{.path = text, .array = {}});
}

StoredArray open_array(const Place& place) {
  std::vector<StoredArray> arrays = format_of(place.path).arrays(place.path);
  const auto readable = [](StoredArray& array) {
    if (array.refusal) throw Error(*array.refusal);
    return std::move(array);
  };
  const std::string operation = "read `" + place.path.string() + "`";
  if (arrays.empty()) fail(ErrorCode::value, operation, "a store without arrays", "one with an array");
  if (place.array.empty()) {
    if (arrays.size() == 1) return readable(arrays.front());
    fail(ErrorCode::value, operation, fmt::format("{} arrays: {}", arrays.size(), joined_names(arrays)),
         "the name of one of them", fmt::format("`{}:{}`", place.path.string(), arrays.front().name));
  }
  // HDF5's names begin with a slash, Zarr's do not.
  const auto bare = [](const std::string& name) { return name.starts_with('/') ? name.substr(1) : name; };
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const StoredArray& array) {
    return bare(array.name) == bare(place.array);
  });
  if (found != arrays.end()) return readable(*found);
  fail(ErrorCode::value, operation, "no array `" + place.array + "`", "one of " + joined_names(arrays));
}

Bytes first_bytes(const fs::path& path, std::uint64_t bytes) {
  const io::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open())
    fail(ErrorCode::file, "read `" + path.string() + "`", io::error_text(errno), "a file that can be read");
  struct stat status {};
  fstat(file.get(), &status);
  Bytes first(std::min<std::uint64_t>(bytes, static_cast<std::uint64_t>(status.st_size)));
  first.resize(io::read_at(file.get(), first, 0).bytes);
  return first;
}

std::uint64_t file_bytes(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    fail(ErrorCode::file, "read `" + path.string() + "`", io::error_text(errno), "a file that can be read");
  return static_cast<std::uint64_t>(status.st_size);
}

bool ends_with(const fs::path& path, std::initializer_list<std::string_view> endings) {
  std::string name = path.filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

Shape usual_chunks(const Shape& shape, std::uint64_t element_bytes) {
  constexpr std::uint64_t kUsualChunkBytes = std::uint64_t{1} << 20;
  Shape chunks = shape;
  std::uint64_t elements = std::max<std::uint64_t>(1, kUsualChunkBytes / element_bytes);
  for (std::size_t a = chunks.size(); a-- > 0;) {
    chunks[a] = std::clamp<std::uint64_t>(shape[a], 1, elements);
    elements = std::max<std::uint64_t>(1, elements / chunks[a]);
  }
  return chunks;
}

StoredArray run_array(const Format& format, std::string name, const fs::path& path, const RunForm& form) {
  const std::string operation = "read `" + path.string() + "`";
  require_shape(form.shape, form.type.bytes, operation);
  const std::uint64_t bytes = file_bytes(path);
  if (form.offset > bytes || end_of(form) > bytes) {
    fail(ErrorCode::file, operation, fmt::format("a file of {} bytes", bytes),
         fmt::format("at least the {} to the end of {}", end_of(form),
                     name.empty() ? "the array" : "`" + name + "`"));
  }
  return {.name = std::move(name),
          .format = format.name(),
          .shape = form.shape,
          .type = form.type,
          .byte_order = form.byte_order,
          .run = RunInFile{.path = path, .form = form}};
}

}  // namespace faro::store
