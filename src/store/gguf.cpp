// GGUF: what llama.cpp reads. Keys with values, then names of tensors, then their bytes.
//
//     "GGUF" | version | tensors | keys | key, type, value … | name, axes, type, offset … | padding | bytes
//
// Axes are told the fastest first. Tensors of quantised types are named, and refused where one is asked for.
// What is written has the keys of the input where that is GGUF, byte for byte; else attributes of the store
// become keys: texts, numbers, bools and lists of these.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "rounding.hpp"
#include "store/file_numbers.hpp"
#include "store/json.hpp"
#include "store/store_formats.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUsualAlignment = 32;
constexpr std::uint64_t kFewGgufHeader = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostGgufHeader = std::uint64_t{256} << 20;  // vocabularies are long

constexpr const char* kWriteGguf = "write GGUF";

struct GgufType {
  std::uint64_t number;
  std::string_view name;
};
constexpr std::array kGgufTypes{GgufType{0, "float32"},  GgufType{1, "float16"},  GgufType{24, "int8"},
                                GgufType{25, "int16"},   GgufType{26, "int32"},   GgufType{27, "int64"},
                                GgufType{28, "float64"}, GgufType{30, "bfloat16"}};

// What keys call the types of their values.
struct GgufValue {
  static constexpr std::uint64_t u8 = 0, i8 = 1, u16 = 2, i16 = 3, u32 = 4, i32 = 5, f32 = 6, boolean = 7,
                                 text = 8, list = 9, u64 = 10, i64 = 11, f64 = 12;
};
constexpr std::array<std::uint64_t, 13> kValueBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr const char* kAlignmentKey = "general.alignment";

// Keys that are written, of attributes.
class GgufKeys {
 public:
  explicit GgufKeys(const Json& attributes, std::vector<std::string>& left_out) {
    for (const auto& [key, value] : attributes.items()) {
      const bool is_list = value.is_array();
      const auto type = type_of(is_list ? value : Json::array({value}));
      if (!type || key.empty()) {
        left_out.push_back("attribute `" + key + "` of the store");
        continue;
      }
      ++count_;
      put_text(key);
      bytes_.u32(is_list ? GgufValue::list : *type);
      if (is_list) {
        bytes_.u32(*type);
        bytes_.u64(value.size());
      }
      for (const Json& each : is_list ? value : Json::array({value})) put(each, *type);
    }
  }

  std::uint64_t count() const { return count_; }
  Bytes take() { return bytes_.take(); }

 private:
  // The one that holds all; nothing: none does.
  static std::optional<std::uint64_t> type_of(const Json& values) {
    const auto all = [&](const auto& is_kind) { return std::all_of(values.begin(), values.end(), is_kind); };
    const auto fits = [](auto most) {
      return [](const Json& each) {
        using Number = decltype(most);
        if (each.is_number_unsigned())
          return each.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
        return each.is_number_integer() && std::numeric_limits<Number>::is_signed &&
               each.get<std::int64_t>() >= static_cast<std::int64_t>(std::numeric_limits<Number>::min());
      };
    };
    if (values.empty()) return std::nullopt;
    if (all([](const Json& each) { return each.is_string(); })) return GgufValue::text;
    if (all([](const Json& each) { return each.is_boolean(); })) return GgufValue::boolean;
    if (all(fits(std::uint32_t{}))) return GgufValue::u32;
    if (all(fits(std::int32_t{}))) return GgufValue::i32;
    if (all(fits(std::int64_t{}))) return GgufValue::i64;
    if (all(fits(std::uint64_t{}))) return GgufValue::u64;
    if (!all([](const Json& each) { return each.is_number(); })) return std::nullopt;
    const bool is_short = all([](const Json& each) {
      const auto value = each.get<double>();
      return std::abs(value) <= std::numeric_limits<float>::max() &&
             static_cast<double>(static_cast<float>(value)) == value;
    });
    return is_short ? GgufValue::f32 : GgufValue::f64;
  }

  void put_text(const std::string& text) {
    bytes_.u64(text.size());
    bytes_.text(text);
  }
  void put(const Json& value, std::uint64_t type) {
    switch (type) {
      case GgufValue::text:
        return put_text(value.get<std::string>());
      case GgufValue::boolean:
        return bytes_.number(value.get<bool>() ? 1 : 0, 1);
      case GgufValue::f32:
        return bytes_.f32(value.get<float>());
      case GgufValue::f64:
        return bytes_.f64(value.get<double>());
      default: {
        const auto number = value.is_number_unsigned()
                                ? value.get<std::uint64_t>()
                                : static_cast<std::uint64_t>(value.get<std::int64_t>());
        return bytes_.number(number, kValueBytes.at(type));
      }
    }
  }

  HeaderBytes bytes_;
  std::uint64_t count_ = 0;
};

class Gguf final : public Format {
 public:
  const char* name() const override { return "GGUF"; }
  bool is_this(const fs::path& /*path*/, std::span<const std::byte> first) const override {
    return begins_with(first, "GGUF");
  }
  bool is_meant(const fs::path& path) const override { return ends_with(path, {".gguf"}); }

  template <typename Read>
  static auto with_header(const fs::path& path, const Read& read) {
    const std::string operation = "read `" + path.string() + "`";
    const std::uint64_t all = file_bytes(path);
    for (std::uint64_t bytes = kFewGgufHeader;; bytes *= 16) {
      try {
        return read(first_bytes(path, bytes), operation);
      } catch (const Error& error) {
        // A header that ends too early may be a longer one.
        if (error.code() != ErrorCode::file || bytes >= std::min(all, kMostGgufHeader)) throw;
      }
    }
  }

  std::vector<StoredArray> arrays(const fs::path& path) const override {
    return with_header(path, [&](const Bytes& begin, const std::string& operation) {
      return arrays_of(path, begin, operation);
    });
  }
  std::vector<Group> groups(const fs::path& path) const override {
    return with_header(path, [&](const Bytes& begin, const std::string& operation) {
      return std::vector<Group>{group_of(begin, operation)};
    });
  }

  bool holds_several() const override { return true; }
  std::optional<std::vector<RunOutput>> run_outputs(const WantedStore& wanted,
                                                    std::vector<std::string>& left_out) const override {
    leave_out_notes_within(wanted, left_out);
    Keys keys = keys_of(wanted, left_out);
    HeaderBytes header;
    header.text("GGUF");
    header.u32(3);
    header.u64(wanted.arrays.size());
    header.u64(keys.count);
    header.append(keys.bytes);
    std::vector<RunOutput> outputs;
    std::uint64_t offset = 0;
    for (std::size_t a = 0; a < wanted.arrays.size(); ++a) {
      const WantedArray& array = wanted.arrays[a];
      put_tensor(header, array, offset);
      outputs.push_back({.header = {}, .form = dense_run(array.shape, array.type, offset)});
      outputs.back().array = a;
      outputs.back().tail.resize(padding(volume(array.shape) * array.type.bytes, keys.alignment));
      offset = end_of(outputs.back().form) + outputs.back().tail.size();
    }
    header.fill_to(header.size() + padding(header.size(), keys.alignment));
    for (RunOutput& output : outputs) output.form.offset += header.size();
    outputs.front().header = header.take();
    return outputs;
  }

 private:
  struct Tensor {
    std::string name = {};
    Shape shape = {};
    std::uint64_t type = 0;
    std::uint64_t offset = 0;
  };

  std::vector<StoredArray> arrays_of(const fs::path& path, const Bytes& begin,
                                     const std::string& operation) const {
    FileNumbers numbers(begin, ByteOrder::little, operation);
    const Counts counts = counts_of(numbers, operation);
    const std::uint64_t alignment = skip_keys(numbers, counts.keys, operation);
    std::vector<Tensor> found;
    for (std::uint64_t t = 0; t < counts.tensors; ++t) found.push_back(tensor_of(numbers, operation));
    const std::uint64_t data = detail::round_up(numbers.at(), alignment);
    std::vector<StoredArray> arrays;
    arrays.reserve(found.size());
    for (const Tensor& tensor : found) arrays.push_back(array_of(path, tensor, data, operation));
    return arrays;
  }

  struct Counts {
    std::uint64_t tensors = 0;
    std::uint64_t keys = 0;
  };
  static Counts counts_of(FileNumbers& numbers, const std::string& operation) {
    numbers.skip(4);
    const std::uint64_t version = numbers.u32();
    if (version != 2 && version != 3) {
      const bool is_big = version != 0 && version % (1U << 16U) == 0;
      fail(ErrorCode::unsupported, operation,
           is_big ? "GGUF of big-endian numbers" : fmt::format("GGUF of version {}", version),
           "little-endian ones, of version 2 or 3");
    }
    const std::uint64_t tensors = numbers.u64();
    return {.tensors = tensors, .keys = numbers.u64()};
  }

  // Returns the alignment that one of them says.
  static std::uint64_t skip_keys(FileNumbers& numbers, std::uint64_t keys, const std::string& operation) {
    std::uint64_t alignment = kUsualAlignment;
    for (std::uint64_t k = 0; k < keys; ++k) {
      const std::string key = numbers.text(numbers.u64());
      const std::uint64_t type = numbers.u32();
      if (key == kAlignmentKey && type == GgufValue::u32) {
        alignment = numbers.u32();
      } else {
        skip_value(numbers, type, 0, operation);
      }
    }
    if (alignment == 0) fail(ErrorCode::file, operation, "an alignment of 0", "one of some bytes");
    return alignment;
  }

  Group group_of(const Bytes& begin, const std::string& operation) const {
    FileNumbers numbers(begin, ByteOrder::little, operation);
    const Counts counts = counts_of(numbers, operation);
    const std::uint64_t first = numbers.at();
    skip_keys(numbers, counts.keys, operation);
    const std::uint64_t end = numbers.at();
    Group group{.native_format = name()};
    HeaderBytes native;
    native.u64(counts.keys);
    numbers.go_to(first);
    native.append(numbers.bytes(end - first));
    group.native = native.take();
    numbers.go_to(first);
    for (std::uint64_t k = 0; k < counts.keys; ++k) {
      const std::string key = numbers.text(numbers.u64());
      bool is_json = is_utf8(key);
      Json value = value_of(numbers, numbers.u32(), is_json);
      if (is_json) {
        group.attributes[key] = std::move(value);
      } else {
        group.left_out.push_back("a key that is no JSON");
      }
    }
    return group;
  }

  // Requires: skip_value() took it.
  static Json value_of(FileNumbers& numbers, std::uint64_t type, bool& is_json) {
    switch (type) {
      case GgufValue::text: {
        std::string text = numbers.text(numbers.u64());
        is_json = is_json && is_utf8(text);
        return text;
      }
      case GgufValue::list: {
        Json list = Json::array();
        const std::uint64_t item = numbers.u32();
        const std::uint64_t count = numbers.u64();
        for (std::uint64_t i = 0; i < count; ++i) list.push_back(value_of(numbers, item, is_json));
        return list;
      }
      case GgufValue::boolean:
        return numbers.u8() != 0;
      case GgufValue::f32:
      case GgufValue::f64: {
        const double value = type == GgufValue::f32 ? numbers.f32() : numbers.f64();
        is_json = is_json && std::isfinite(value);
        return value;
      }
      case GgufValue::i8:
        return static_cast<std::int8_t>(numbers.u8());
      case GgufValue::i16:
        return static_cast<std::int16_t>(numbers.u16());
      case GgufValue::i32:
        return static_cast<std::int32_t>(numbers.u32());
      case GgufValue::i64:
        return static_cast<std::int64_t>(numbers.u64());
      default:
        return numbers.number(kValueBytes.at(type));
    }
  }

  static std::uint64_t padding(std::uint64_t bytes, std::uint64_t alignment) {
    return detail::round_up(bytes, alignment) - bytes;
  }

  struct Keys {
    std::uint64_t count = 0;
    std::uint64_t alignment = kUsualAlignment;
    Bytes bytes = {};
  };
  Keys keys_of(const WantedStore& wanted, std::vector<std::string>& left_out) const {
    const Group* const root = root_of(wanted);
    if (root == nullptr) return {};
    if (root->native_format == name()) {
      FileNumbers numbers(root->native, ByteOrder::little, kWriteGguf);
      Keys keys{.count = numbers.u64()};
      keys.bytes.assign(root->native.begin() + static_cast<std::ptrdiff_t>(numbers.at()), root->native.end());
      keys.alignment = skip_keys(numbers, keys.count, kWriteGguf);
      return keys;
    }
    // How this file is aligned is said by nobody else.
    Json attributes = root->attributes;
    if (attributes.erase(kAlignmentKey) > 0)
      left_out.push_back(fmt::format("attribute `{}` of the store", kAlignmentKey));
    GgufKeys made(attributes, left_out);
    return {.count = made.count(), .bytes = made.take()};
  }

  static void put_tensor(HeaderBytes& header, const WantedArray& array, std::uint64_t offset) {
    constexpr std::uint64_t kMostNameBytes = 63;  // of ggml
    constexpr std::size_t kMostGgmlAxes = 4;
    const auto* const type = std::find_if(kGgufTypes.begin(), kGgufTypes.end(),
                                          [&](const GgufType& each) { return each.name == array.type.name; });
    if (type == kGgufTypes.end()) {
      fail(ErrorCode::unsupported, kWriteGguf, "elements of type " + array.type.name,
           "float16 to float64, bfloat16 or int8 to int64", "--dtype converts");
    }
    const std::string name = array.name.empty() ? "data" : array.name;
    if (name.size() > kMostNameBytes || array.shape.size() > kMostGgmlAxes) {
      fail(ErrorCode::unsupported, kWriteGguf,
           fmt::format("`{}` of {} axes", name.substr(0, 80), array.shape.size()),
           "names of at most 63 bytes, and at most 4 axes");
    }
    header.u64(name.size());
    header.text(name);
    header.u32(array.shape.size());
    for (auto extent = array.shape.rbegin(); extent != array.shape.rend(); ++extent) header.u64(*extent);
    header.u32(type->number);
    header.u64(offset);
  }

  static void skip_value(FileNumbers& numbers, std::uint64_t type, int depth, const std::string& operation) {
    constexpr int kMostDepth = 8;
    if (type >= kValueBytes.size() || depth > kMostDepth)
      fail(ErrorCode::file, operation, fmt::format("a value of type {}", type), "0 to 12");
    if (type == GgufValue::text) return numbers.skip(numbers.u64());
    if (type != GgufValue::list) return numbers.skip(kValueBytes.at(type));
    const std::uint64_t item = numbers.u32();
    const std::uint64_t count = numbers.u64();
    const bool is_plain = item < kValueBytes.size() && kValueBytes.at(item) > 0;
    if (is_plain && count <= numbers.left()) return numbers.skip(count * kValueBytes.at(item));
    if (count > numbers.left())
      fail(ErrorCode::file, operation, "a list longer than the file", "a whole file");
    for (std::uint64_t i = 0; i < count; ++i) skip_value(numbers, item, depth + 1, operation);
  }

  static Tensor tensor_of(FileNumbers& numbers, const std::string& operation) {
    constexpr std::uint64_t kMostAxes = 64;
    Tensor tensor{.name = numbers.text(numbers.u64())};
    const std::uint64_t rank = numbers.u32();
    if (rank > kMostAxes) fail(ErrorCode::file, operation, fmt::format("{} axes", rank), "at most 64");
    for (std::uint64_t a = 0; a < rank; ++a) tensor.shape.push_back(numbers.u64());
    std::reverse(tensor.shape.begin(), tensor.shape.end());
    tensor.type = numbers.u32();
    tensor.offset = numbers.u64();
    return tensor;
  }

  StoredArray array_of(const fs::path& path, const Tensor& tensor, std::uint64_t data,
                       const std::string& operation) const {
    const auto* const type = std::find_if(kGgufTypes.begin(), kGgufTypes.end(),
                                          [&](const GgufType& each) { return each.number == tensor.type; });
    if (type == kGgufTypes.end()) {
      return {.name = tensor.name,
              .format = name(),
              .refusal =
                  ErrorReport{.code = ErrorCode::unsupported,
                              .operation = operation,
                              .got = fmt::format("the quantised type {} of `{}`", tensor.type, tensor.name),
                              .wanted = "a plain type, such as F32, F16 or BF16",
                              .remedy = {}}};
    }
    if (tensor.offset > ~std::uint64_t{0} - data)
      fail(ErrorCode::file, operation, "a tensor behind the end", "tensors in the file");
    return run_array(*this, tensor.name, path,
                     dense_run(tensor.shape, known_element_type(type->name), data + tensor.offset));
  }
};

}  // namespace

const Format& gguf_format() {
  static const Gguf format;
  return format;
}

}  // namespace faro::store
