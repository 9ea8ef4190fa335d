// GGUF: what llama.cpp reads. Keys with values, then names of tensors, then their bytes.
//
//     "GGUF" | version | tensors | keys | key, type, value … | name, axes, type, offset … | padding | bytes
//
// Axes are told the fastest first. Tensors of quantised types are named, and refused where one is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rounding.hpp"
#include "store/file_numbers.hpp"
#include "store/store_formats.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUsualAlignment = 32;
constexpr std::uint64_t kFewGgufHeader = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostGgufHeader = std::uint64_t{256} << 20;  // vocabularies are long

struct GgufType {
  std::uint64_t number;
  std::string_view name;
};
constexpr std::array kGgufTypes{GgufType{0, "float32"},  GgufType{1, "float16"},  GgufType{24, "int8"},
                                GgufType{25, "int16"},   GgufType{26, "int32"},   GgufType{27, "int64"},
                                GgufType{28, "float64"}, GgufType{30, "bfloat16"}};

class Gguf final : public Format {
 public:
  const char* name() const override { return "GGUF"; }
  bool is_this(const fs::path& /*path*/, std::span<const std::byte> first) const override {
    return begins_with(first, "GGUF");
  }
  bool is_meant(const fs::path& path) const override { return ends_with(path, {".gguf"}); }

  std::vector<StoredArray> arrays(const fs::path& path) const override {
    const std::string operation = "read `" + path.string() + "`";
    const std::uint64_t all = file_bytes(path);
    for (std::uint64_t bytes = kFewGgufHeader;; bytes *= 16) {
      try {
        return arrays_of(path, first_bytes(path, bytes), operation);
      } catch (const Error& error) {
        // A header that ends too early may be a longer one.
        if (error.code() != ErrorCode::file || bytes >= std::min(all, kMostGgufHeader)) throw;
      }
    }
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
    numbers.skip(4);
    const std::uint64_t version = numbers.u32();
    if (version != 2 && version != 3)
      fail(ErrorCode::unsupported, operation, fmt::format("GGUF of version {}", version), "2 or 3");
    const std::uint64_t tensors = numbers.u64();
    const std::uint64_t keys = numbers.u64();
    std::uint64_t alignment = kUsualAlignment;
    for (std::uint64_t k = 0; k < keys; ++k) {
      const std::string key = numbers.text(numbers.u64());
      const std::uint64_t type = numbers.u32();
      constexpr std::uint64_t kU32 = 4;
      if (key == "general.alignment" && type == kU32) {
        alignment = numbers.u32();
      } else {
        skip_value(numbers, type, 0, operation);
      }
    }
    if (alignment == 0) fail(ErrorCode::file, operation, "an alignment of 0", "one of some bytes");
    std::vector<Tensor> found;
    for (std::uint64_t t = 0; t < tensors; ++t) found.push_back(tensor_of(numbers, operation));
    const std::uint64_t data = detail::round_up(numbers.at(), alignment);
    std::vector<StoredArray> arrays;
    arrays.reserve(found.size());
    for (const Tensor& tensor : found) arrays.push_back(array_of(path, tensor, data, operation));
    return arrays;
  }

  static void skip_value(FileNumbers& numbers, std::uint64_t type, int depth, const std::string& operation) {
    constexpr std::array<std::uint64_t, 13> kBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    constexpr std::uint64_t kText = 8;
    constexpr std::uint64_t kList = 9;
    constexpr int kMostDepth = 8;
    if (type >= kBytes.size() || depth > kMostDepth)
      fail(ErrorCode::file, operation, fmt::format("a value of type {}", type), "0 to 12");
    if (type == kText) return numbers.skip(numbers.u64());
    if (type != kList) return numbers.skip(kBytes.at(type));
    const std::uint64_t item = numbers.u32();
    const std::uint64_t count = numbers.u64();
    const bool is_plain = item < kBytes.size() && kBytes.at(item) > 0;
    if (is_plain && count <= numbers.left()) return numbers.skip(count * kBytes.at(item));
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
