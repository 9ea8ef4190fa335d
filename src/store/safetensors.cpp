// safetensors: the length of a JSON header in 8 bytes, the header, and the tensors' bytes without gaps.
//
//     | 8 bytes: n | {"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …, "__metadata__": {…}} | a | b |
//
// Checked as its own library does: tensors cover the bytes behind the header once, without gaps, each as long
// as its shape and type say.
#include "store/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "store/file_numbers.hpp"
#include "store/store_formats.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeaderBytes = 100'000'000;  // its library's bound
constexpr std::uint64_t kAlignment = 8;
constexpr const char* kMetadata = "__metadata__";

struct TypeName {
  std::string_view here;
  std::string_view there;
};
constexpr std::array kTypes{TypeName{"bool", "BOOL"},
                            TypeName{"uint8", "U8"},
                            TypeName{"int8", "I8"},
                            TypeName{"float8_e5m2", "F8_E5M2"},
                            TypeName{"float8_e4m3fn", "F8_E4M3"},
                            TypeName{"int16", "I16"},
                            TypeName{"uint16", "U16"},
                            TypeName{"float16", "F16"},
                            TypeName{"bfloat16", "BF16"},
                            TypeName{"int32", "I32"},
                            TypeName{"uint32", "U32"},
                            TypeName{"float32", "F32"},
                            TypeName{"float64", "F64"},
                            TypeName{"int64", "I64"},
                            TypeName{"uint64", "U64"},
                            TypeName{"complex64", "C64"}};

// The header's bytes, and none where it cannot be one.
std::uint64_t header_bytes(std::span<const std::byte> first) {
  if (first.size() <= kLengthBytes || static_cast<char>(first[kLengthBytes]) != '{') return 0;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, first.data(), sizeof bytes);
  return bytes <= kMostHeaderBytes ? bytes : 0;
}

// A file's header as JSON, and how long it is with its length.
struct Header {
  Json json;
  std::uint64_t bytes = 0;
};

Header header_of(const fs::path& path, const std::string& operation) {
  const std::uint64_t all = file_bytes(path);
  const std::uint64_t bytes = header_bytes(first_bytes(path, kLengthBytes + 1));
  if (bytes < 2 || bytes > all - kLengthBytes)
    fail(ErrorCode::file, operation, "no length of a header",
         "8 bytes, and as long a JSON object behind them");
  const Bytes begin = first_bytes(path, kLengthBytes + bytes);
  if (begin.size() != kLengthBytes + bytes)
    fail(ErrorCode::file, operation, "a file that ends in its header", "more");
  const std::string_view text(reinterpret_cast<const char*>(begin.data()) + kLengthBytes, bytes);
  return {.json = parse_json_object(text, operation), .bytes = begin.size()};
}

void require_metadata(const Json& value, const std::string& operation) {
  const auto is_text = [](const Json& each) { return each.is_string(); };
  if (!value.is_object() || !std::all_of(value.begin(), value.end(), is_text))
    fail(ErrorCode::file, operation, excerpt_of(value) + " for `__metadata__`", "an object of texts");
}

std::string_view type_name(const ElementType& type) {
  const auto* const known = std::find_if(kTypes.begin(), kTypes.end(),
                                         [&](const TypeName& each) { return each.here == type.name; });
  if (known != kTypes.end()) return known->there;
  fail(ErrorCode::unsupported, "write safetensors", "elements of type " + type.name,
       "numbers that safetensors has", "--dtype converts");
}

class Safetensors final : public Format {
 public:
  const char* name() const override { return "safetensors"; }

  bool is_this(const fs::path& path, std::span<const std::byte> first) const override {
    return header_bytes(first) > 0 || (ends_with(path, {".safetensors"}) && !fs::is_directory(path));
  }
  bool is_meant(const fs::path& path) const override { return ends_with(path, {".safetensors"}); }

  std::vector<StoredArray> arrays(const fs::path& path) const override {
    const std::string operation = "read `" + path.string() + "`";
    const Header header = header_of(path, operation);
    std::vector<StoredArray> found;
    for (const auto& [key, value] : header.json.items()) {
      if (key == kMetadata) {
        require_metadata(value, operation);
      } else {
        found.push_back(array_of(path, key, value, header.bytes, operation));
      }
    }
    require_no_gaps(found, header.bytes, file_bytes(path), operation);
    return found;
  }

  bool holds_several() const override { return true; }
  std::vector<Group> groups(const fs::path& path) const override {
    Json metadata = safetensors_metadata(path);
    if (metadata.empty()) return {};
    return {{.attributes = std::move(metadata)}};
  }

  // The widest first, so that each lies at a multiple of its elements, as the format's own library has them.
  std::optional<std::vector<RunOutput>> run_outputs(const WantedStore& wanted,
                                                    std::vector<std::string>& left_out) const override {
    leave_out_notes_within(wanted, left_out);
    std::vector<std::size_t> order(wanted.arrays.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return wanted.arrays[a].type.bytes > wanted.arrays[b].type.bytes;
    });
    std::vector<SafeTensor> tensors;
    for (const std::size_t array : order) {
      const WantedArray& each = wanted.arrays[array];
      tensors.push_back(
          {.name = each.name.empty() ? "data" : each.name, .shape = each.shape, .type = each.type});
      if (each.name == kMetadata)
        fail(ErrorCode::value, "write safetensors", "the name `__metadata__`", "a name of a tensor");
    }
    const Group* const root = root_of(wanted);
    Bytes header = safetensors_header(
        tensors, root == nullptr ? Json::object() : texts_of(root->attributes, left_out), kAlignment);
    std::uint64_t offset = header.size();
    std::vector<RunOutput> outputs;
    for (std::size_t t = 0; t < order.size(); ++t) {
      outputs.push_back({.header = {}, .form = dense_run(tensors[t].shape, tensors[t].type, offset)});
      outputs.back().array = order[t];
      offset += volume(tensors[t].shape) * tensors[t].type.bytes;
    }
    outputs.front().header = std::move(header);
    return outputs;
  }

 private:
  static Json texts_of(const Json& attributes, std::vector<std::string>& left_out) {
    Json texts = Json::object();
    for (const auto& [key, value] : attributes.items()) {
      if (value.is_string()) {
        texts[key] = value;
      } else {
        left_out.push_back("attribute `" + key + "` of the store");
      }
    }
    return texts;
  }

  StoredArray array_of(const fs::path& path, const std::string& key, const Json& value, std::uint64_t begin,
                       const std::string& operation) const {
    if (!value.is_object())
      fail(ErrorCode::file, operation, excerpt_of(value) + " for the tensor `" + key + "`", "an object");
    const std::string type = text_of(value, "dtype", operation);
    const auto* const known =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& each) { return each.there == type; });
    if (known == kTypes.end())
      fail(ErrorCode::unsupported, operation, "tensors of type " + excerpt_of(type), "types of whole bytes");
    RunForm run = dense_run({}, known_element_type(known->here), begin);
    const Shape shape = shape_of(value, "shape", operation);
    require_shape(shape, run.type.bytes, operation);
    const Shape offsets = shape_of(value, "data_offsets", operation);
    const std::uint64_t bytes = volume(shape) * run.type.bytes;
    if (offsets.size() != 2 || offsets[1] < offsets[0] || offsets[1] - offsets[0] != bytes) {
      fail(ErrorCode::file, operation,
           fmt::format("{} for the tensor `{}`", excerpt_of(value["data_offsets"]), key),
           fmt::format("two offsets {} bytes apart", bytes));
    }
    return run_array(*this, key, path, dense_run(shape, run.type, begin + offsets[0]));
  }

  static void require_no_gaps(std::vector<StoredArray>& arrays, std::uint64_t begin, std::uint64_t all,
                              const std::string& operation) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    ranges.reserve(arrays.size());
    for (const StoredArray& array : arrays)
      ranges.emplace_back(array.run->form.offset,
                          array.run->form.offset + volume(array.shape) * array.type.bytes);
    std::sort(ranges.begin(), ranges.end());
    std::uint64_t at = begin;
    for (const auto& [from, to] : ranges) {
      if (from != at)
        fail(ErrorCode::file, operation, "tensors that overlap or leave gaps", "one behind another");
      at = to;
    }
    if (at != all)
      fail(ErrorCode::file, operation, fmt::format("a file of {} bytes", all),
           fmt::format("the {} of its tensors", at));
  }
};

}  // namespace

Bytes safetensors_header(std::span<const SafeTensor> tensors, const Json& metadata, std::uint64_t alignment) {
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::uint64_t at = 0;
  for (const SafeTensor& tensor : tensors) {
    const std::uint64_t end = at + volume(tensor.shape) * tensor.type.bytes;
    header[tensor.name] = {
        {"dtype", type_name(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize(detail::round_up(kLengthBytes + text.size(), alignment) - kLengthBytes, ' ');
  const std::uint64_t length = text.size();
  Bytes made(kLengthBytes + length);
  std::memcpy(made.data(), &length, sizeof length);
  std::memcpy(made.data() + kLengthBytes, text.data(), length);
  return made;
}

Json safetensors_metadata(const fs::path& path) {
  const std::string operation = "read `" + path.string() + "`";
  const Header header = header_of(path, operation);
  const auto found = header.json.find(kMetadata);
  if (found == header.json.end()) return Json::object();
  require_metadata(*found, operation);
  return *found;
}

const Format& safetensors_format() {
  static const Safetensors format;
  return format;
}

}  // namespace faro::store
