// Arrow's tensors: a message of Arrow's IPC with a tensor's type, shape and strides, and its elements behind
// it.
//
//     | ff ff ff ff | bytes of the message | message, up to a multiple of 64 | elements |
//
//     Message    { version, Tensor, body's bytes }          tables of FlatBuffers: a table begins with how far it is
//     Tensor     { type, dims: [{ size, name }],            behind the list of its fields' places, which tables may
//                  strides: [bytes], { offset, bytes } }    share; places of other tables are told from where they are told
//
// Four tables are read and written here rather than by Arrow's library, which Debian does not have.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "faro/error.hpp"
#include "rounding.hpp"
#include "store/file_numbers.hpp"
#include "store/store_formats.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kArrowPrefix = 8;
constexpr std::uint64_t kArrowAlignment = 64;
constexpr std::uint64_t kMostMessageBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kTensorMessage = 4;
constexpr std::uint64_t kIntegers = 2;
constexpr std::uint64_t kFloats = 3;

// Fields by their numbers in Arrow's schema.
enum MessageField : std::uint64_t { kVersion, kHeaderType, kHeader, kBodyLength };
enum TensorField : std::uint64_t { kTypeType, kType, kDims, kStrides, kData };
enum DimField : std::uint64_t { kSize, kName };
enum TypeField : std::uint64_t { kWidthOrPrecision, kIsSigned };

// A table in a message of a stranger's.
class FlatTable {
 public:
  FlatTable(std::span<const std::byte> message, std::uint64_t at, const std::string& operation)
      : message_(message), at_(at), operation_(operation) {
    const auto back = static_cast<std::int32_t>(number(at_, 4));
    places_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(at_) - back);
    fields_ = number(places_, 2) / 2;
  }

  static FlatTable root(std::span<const std::byte> message, const std::string& operation) {
    FileNumbers numbers(message, ByteOrder::little, operation);
    return {message, numbers.u32(), operation};
  }

  /// A field's number; 0 where it is not there.
  std::uint64_t number_of(std::uint64_t field, std::uint64_t width) const {
    const std::uint64_t place = place_of(field);
    return place == 0 ? 0 : number(place, width);
  }
  std::uint64_t required_place(std::uint64_t field) const {
    const std::uint64_t place = place_of(field);
    if (place == 0) fail(ErrorCode::file, operation_, "a tensor without one of its fields", "Arrow's fields");
    return place;
  }
  FlatTable table(std::uint64_t field) const {
    const std::uint64_t place = required_place(field);
    return {message_, place + number(place, 4), operation_};
  }
  /// Places of the items of `width` bytes of a list; none where it is not there.
  std::vector<std::uint64_t> list(std::uint64_t field, std::uint64_t width) const {
    const std::uint64_t place = place_of(field);
    if (place == 0) return {};
    const std::uint64_t begin = place + number(place, 4);
    const std::uint64_t count = number(begin, 4);
    if (count > message_.size() / width)
      fail(ErrorCode::file, operation_, "a list longer than its message", "a whole message");
    std::vector<std::uint64_t> places(count);
    for (std::uint64_t i = 0; i < count; ++i) places[i] = begin + 4 + i * width;
    return places;
  }
  std::string text(std::uint64_t field) const {
    const std::vector<std::uint64_t> letters = list(field, 1);
    std::string found;
    found.reserve(letters.size());
    for (const std::uint64_t place : letters) found.push_back(static_cast<char>(number(place, 1)));
    return found;
  }
  FlatTable table_at(std::uint64_t place) const { return {message_, place + number(place, 4), operation_}; }
  std::uint64_t number(std::uint64_t at, std::uint64_t width) const {
    FileNumbers numbers(message_, ByteOrder::little, operation_);
    numbers.go_to(at);
    return numbers.number(width);
  }

 private:
  std::uint64_t place_of(std::uint64_t field) const {
    if (field + 2 >= fields_) return 0;
    const std::uint64_t offset = number(places_ + 2 * (field + 2), 2);
    return offset == 0 ? 0 : at_ + offset;
  }

  std::span<const std::byte> message_;
  std::uint64_t at_;
  std::string operation_;
  std::uint64_t places_ = 0;
  std::uint64_t fields_ = 0;  // and two more: of the places' and the table's bytes
};

// A message that is made front to back: places are put in when what they tell of is known.
class FlatWriter {
 public:
  /// A table of fields of such widths, 0 for one that is left out; their places.
  std::vector<std::uint64_t> table(std::uint64_t pointer, std::span<const std::uint64_t> widths) {
    constexpr std::uint64_t kWord = 8;
    const std::uint64_t places_bytes = 4 + 2 * widths.size();
    resize(detail::round_up(bytes_.size() + places_bytes, kWord) - places_bytes);
    const std::uint64_t places = bytes_.size();
    const std::uint64_t begin = places + places_bytes;
    std::uint64_t end = 4;
    std::vector<std::uint64_t> fields;
    resize(begin + 4);
    put(places, places_bytes, 2);
    for (std::size_t f = 0; f < widths.size(); ++f) {
      end = widths[f] == 0 ? end : detail::round_up(end, std::min(widths[f], kWord));
      put(places + 4 + 2 * f, widths[f] == 0 ? 0 : end, 2);
      fields.push_back(begin + end);
      end += widths[f];
    }
    put(places + 2, end, 2);
    resize(begin + end);
    put(begin, begin - places, 4);
    point(pointer, begin);
    return fields;
  }
  /// A list of items of `width` bytes, none of them put; where they begin.
  std::uint64_t list(std::uint64_t pointer, std::uint64_t count, std::uint64_t width) {
    resize(detail::round_up(bytes_.size() + 4, width) - 4);
    const std::uint64_t begin = bytes_.size();
    resize(begin + 4 + count * width);
    put(begin, count, 4);
    point(pointer, begin);
    return begin + 4;
  }
  void text(std::uint64_t pointer, const std::string& text) {
    const std::uint64_t begin = list(pointer, text.size(), 1);
    for (std::size_t l = 0; l < text.size(); ++l) bytes_[begin + l] = static_cast<std::byte>(text[l]);
    bytes_.push_back(std::byte{0});
    resize(detail::round_up(bytes_.size(), 4));
  }
  void put(std::uint64_t at, std::uint64_t value, std::uint64_t width) {
    for (std::uint64_t b = 0; b < width; ++b) bytes_[at + b] = static_cast<std::byte>(value >> (8 * b));
  }
  void resize(std::uint64_t bytes) { bytes_.resize(bytes); }
  const Bytes& bytes() const { return bytes_; }

 private:
  void point(std::uint64_t from, std::uint64_t to) { put(from, to - from, 4); }

  Bytes bytes_ = Bytes(4);  // where the first table is
};

class Arrow final : public Format {
 public:
  const char* name() const override { return "Arrow tensor"; }

  bool is_this(const fs::path& /*path*/, std::span<const std::byte> first) const override {
    if (!begins_with(first, "\xff\xff\xff\xff") || first.size() < kArrowPrefix) return false;
    try {
      const std::string operation = "read Arrow";
      return FlatTable::root(first.subspan(kArrowPrefix), operation).number_of(kHeaderType, 1) ==
             kTensorMessage;
    } catch (const Error&) {
      return false;
    }
  }
  bool is_meant(const fs::path& path) const override { return ends_with(path, {".arrow", ".tensor"}); }

  std::vector<StoredArray> arrays(const fs::path& path) const override {
    const std::string operation = "read `" + path.string() + "`";
    const Bytes prefix = first_bytes(path, kArrowPrefix);
    FileNumbers numbers(prefix, ByteOrder::little, operation);
    numbers.skip(4);
    const std::uint64_t bytes = numbers.u32();
    if (bytes > kMostMessageBytes)
      fail(ErrorCode::file, operation, fmt::format("a message of {} bytes", bytes), "at most a MiB");
    const Bytes begin = first_bytes(path, kArrowPrefix + bytes);
    const std::span<const std::byte> message = std::span(begin).subspan(kArrowPrefix);
    if (message.size() != bytes) fail(ErrorCode::file, operation, "a file that ends in its message", "more");
    const FlatTable tensor = FlatTable::root(message, operation).table(kHeader);
    RunForm run = dense_run({}, type_of_tensor(tensor, operation), 0);
    std::vector<Json> names;
    for (const std::uint64_t place : tensor.list(kDims, 4)) {
      const FlatTable dim = tensor.table_at(place);
      run.shape.push_back(dim.number_of(kSize, 8));
      const std::string own = dim.text(kName);
      names.push_back(own.empty() ? Json() : Json(own));
    }
    require_shape(run.shape, run.type.bytes, operation);
    run.strides = strides_of_tensor(tensor, run, operation);
    const std::uint64_t offset = tensor.number(tensor.required_place(kData), 8);
    if (offset >> 62 != 0)
      fail(ErrorCode::file, operation, "elements behind the end", "elements in the file");
    run.offset = kArrowPrefix + bytes + offset;
    StoredArray array = run_array(*this, "", path, run);
    if (std::any_of(names.begin(), names.end(), [](const Json& each) { return each.is_string(); }))
      array.notes.dimension_names = std::move(names);
    return {std::move(array)};
  }

  bool keeps_dimension_names() const override { return true; }
  std::optional<RunOutput> run_output(const WantedArray& wanted) const override {
    FlatWriter message;
    const auto of_message = message.table(0, std::array<std::uint64_t, 4>{2, 1, 4, 8});
    constexpr std::uint64_t kVersion5 = 4;
    const std::uint64_t bytes = volume(wanted.shape) * wanted.type.bytes;
    message.put(of_message[kVersion], kVersion5, 2);
    message.put(of_message[kHeaderType], kTensorMessage, 1);
    message.put(of_message[kBodyLength], bytes, 8);
    const auto tensor = message.table(of_message[kHeader], std::array<std::uint64_t, 5>{1, 4, 4, 4, 16});
    put_type(message, tensor, wanted.type);
    const std::uint64_t dims = message.list(tensor[kDims], wanted.shape.size(), 4);
    for (std::size_t a = 0; a < wanted.shape.size(); ++a) {
      const auto& names = wanted.notes.dimension_names;
      const bool has_name = !names.empty() && names[a].is_string();
      const auto dim = message.table(dims + 4 * a, std::array<std::uint64_t, 2>{8, has_name ? 4U : 0U});
      message.put(dim[kSize], wanted.shape[a], 8);
      if (has_name) message.text(dim[kName], names[a].get<std::string>());
    }
    RunForm run = wanted.fortran_order ? fortran_run(wanted.shape, wanted.type, 0)
                                       : dense_run(wanted.shape, wanted.type, 0);
    const std::uint64_t strides = message.list(tensor[kStrides], wanted.shape.size(), 8);
    for (std::size_t a = 0; a < wanted.shape.size(); ++a)
      message.put(strides + 8 * a, static_cast<std::uint64_t>(run.strides[a]) * wanted.type.bytes, 8);
    message.put(tensor[kData] + 8, bytes, 8);
    HeaderBytes header;
    run.offset = detail::round_up(kArrowPrefix + message.bytes().size(), kArrowAlignment);
    header.u32(0xffffffff);
    header.u32(run.offset - kArrowPrefix);
    header.append(message.bytes());
    header.fill_to(run.offset);
    return RunOutput{.header = header.take(), .form = std::move(run)};
  }

 private:
  static constexpr std::array<std::string_view, 3> kPrecisions{"float16", "float32", "float64"};

  static ElementType type_of_tensor(const FlatTable& tensor, const std::string& operation) {
    const std::uint64_t kind = tensor.number_of(kTypeType, 1);
    if (kind == kIntegers) {
      const FlatTable type = tensor.table(kType);
      return element_type_or_fail(fmt::format("{}int{}", type.number_of(kIsSigned, 1) != 0 ? "" : "u",
                                              type.number_of(kWidthOrPrecision, 4)),
                                  operation);
    }
    if (kind == kFloats) {
      const std::uint64_t precision = tensor.table(kType).number_of(kWidthOrPrecision, 2);
      if (precision < kPrecisions.size()) return known_element_type(kPrecisions.at(precision));
    }
    fail(ErrorCode::unsupported, operation, fmt::format("a tensor of Arrow's type {}", kind),
         "integers, float16, float32 or float64");
  }

  static void put_type(FlatWriter& message, const std::vector<std::uint64_t>& tensor,
                       const ElementType& type) {
    const auto* const precision = std::find(kPrecisions.begin(), kPrecisions.end(), type.name);
    const bool is_float = precision != kPrecisions.end();
    const bool is_signed = type.name.starts_with("int");
    if (!is_float && !is_signed && !type.name.starts_with("uint")) {
      fail(ErrorCode::unsupported, "write an Arrow tensor", "elements of type " + type.name,
           "integers, float16, float32 or float64", "--dtype converts");
    }
    message.put(tensor[kTypeType], is_float ? kFloats : kIntegers, 1);
    if (is_float) {
      const auto fields = message.table(tensor[kType], std::array<std::uint64_t, 1>{2});
      message.put(fields[kWidthOrPrecision], static_cast<std::uint64_t>(precision - kPrecisions.begin()), 2);
    } else {
      const auto fields = message.table(tensor[kType], std::array<std::uint64_t, 2>{4, 1});
      message.put(fields[kWidthOrPrecision], 8 * type.bytes, 4);
      message.put(fields[kIsSigned], is_signed ? 1 : 0, 1);
    }
  }

  // In elements. Without strides, C order.
  static Strides strides_of_tensor(const FlatTable& tensor, const RunForm& run,
                                   const std::string& operation) {
    const std::vector<std::uint64_t> places = tensor.list(kStrides, 8);
    if (places.empty() || is_empty(run.shape)) return dense_strides(run.shape, c_order(run.shape.size()));
    bool fits = places.size() == run.shape.size();
    Strides strides;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 61;
    std::uint64_t reach = 0;
    for (std::size_t a = 0; a < places.size() && fits; ++a) {
      const std::uint64_t stride = tensor.number(places[a], 8);
      const std::uint64_t steps = run.shape[a] - 1;
      fits =
          stride % run.type.bytes == 0 && stride < kMost && (steps == 0 || stride <= (kMost - reach) / steps);
      if (fits) reach += steps * stride;
      strides.push_back(static_cast<std::int64_t>(stride / run.type.bytes));
    }
    if (fits) return strides;
    fail(ErrorCode::file, operation, "strides that are none of its elements",
         "multiples of an element's bytes from 0 on, one for each axis");
  }
};

}  // namespace

const Format& arrow_format() {
  static const Arrow format;
  return format;
}

}  // namespace faro::store
