#include "store/element_type.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "io/npy.hpp"

namespace faro::store {
namespace {

constexpr std::uint64_t kMostElementBytes = 4096;

// The names of NumPy and ml_dtypes for the types of Arithmetic.
constexpr std::array<std::string_view, kNumbers> kNames{
    "int8",       "uint8",         "int16",       "uint16",          "int32",          "uint32", "int64",
    "uint64",     "float16",       "bfloat16",    "float32",         "float64",        "bool",   "complex64",
    "complex128", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"};

ElementType type_of(Number number) {
  const std::uint64_t bytes = bytes_of(number);
  return {.name = std::string(kNames.at(static_cast<std::size_t>(number))),
          .bytes = bytes,
          .swapped_together = is_complex(number) ? bytes / 2 : bytes,
          .number = number};
}

std::uint64_t swapped_together(const io::NpyTypeCode& code) {
  switch (code.kind) {
    case 'U':
      return 4;
    case 'S':
    case 'V':
      return 1;
    case 'c':
    case 'W':
      return code.item_bytes / 2;
    default:
      return code.item_bytes;
  }
}

// The number that NumPy's kind letter and width name.
std::optional<Number> number_of_code(const io::NpyTypeCode& code) {
  constexpr std::array<std::string_view, 14> kCodes{"i1", "u1", "i2", "u2", "i4", "u4", "i8",
                                                    "u8", "f2", "",   "f4", "f8", "b1", "c8"};
  const std::string text = code.text();
  if (text == "c16") return Number::c128;
  const auto* const found = std::find(kCodes.begin(), kCodes.end(), text);
  if (found == kCodes.end()) return std::nullopt;
  return static_cast<Number>(found - kCodes.begin());
}

template <typename Word>
void swap_words(std::span<std::byte> bytes, Word (*swap)(Word)) {
  for (std::size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    word = swap(word);
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
}

}  // namespace

std::optional<ElementType> element_type(std::string_view name) {
  const auto* const known = std::find(kNames.begin(), kNames.end(), name);
  if (known != kNames.end()) return type_of(static_cast<Number>(known - kNames.begin()));
  const auto code = io::npy_type_code(name);
  if (!code || code->item_bytes == 0 || code->item_bytes > kMostElementBytes) return std::nullopt;
  if (const auto number = number_of_code(*code)) return type_of(*number);
  const bool is_word = name.find_first_of("0123456789") != std::string_view::npos && code->kind == 'V' &&
                       !name.starts_with('V') && !name.starts_with('|');
  if (is_word) return std::nullopt;  // a type of ml_dtypes whose numbers may be smaller than a byte
  return ElementType{
      .name = code->text(), .bytes = code->item_bytes, .swapped_together = swapped_together(*code)};
}

ElementType known_element_type(std::string_view name) {
  auto type = element_type(name);
  FARO_CHECK(type.has_value());
  return *std::move(type);
}

std::optional<ByteOrder> byte_order_named(std::string_view name) noexcept {
  if (name.starts_with('>')) return ByteOrder::big;
  if (name.starts_with('<') || name.starts_with('=')) return ByteOrder::little;
  return std::nullopt;
}

ElementType element_type_or_fail(std::string_view name, const std::string& operation) {
  if (auto type = element_type(name)) return *std::move(type);
  fail(ErrorCode::unsupported, operation, "elements of type `" + std::string(name.substr(0, 60)) + "`",
       "numbers of whole bytes, such as float32, bfloat16 or int16, or texts and bytes of one length");
}

std::optional<std::string> numpy_text(const ElementType& type, ByteOrder order) {
  const std::string sign = type.swapped_together == 1 ? "|" : order == ByteOrder::big ? ">" : "<";
  if (!type.number) return sign + type.name;
  const Number number = *type.number;
  if (number == Number::bf16 || number > Number::c128) return std::nullopt;
  const char kind = number == Number::boolean    ? 'b'
                    : is_complex(number)         ? 'c'
                    : number >= Number::f16      ? 'f'
                    : type.name.starts_with('u') ? 'u'
                                                 : 'i';
  return sign + kind + std::to_string(type.bytes);
}

void swap_bytes(std::span<std::byte> elements, const ElementType& type) {
  switch (type.swapped_together) {
    case 1:
      return;
    case 2:
      return swap_words<std::uint16_t>(elements, [](std::uint16_t word) { return __builtin_bswap16(word); });
    case 4:
      return swap_words<std::uint32_t>(elements, [](std::uint32_t word) { return __builtin_bswap32(word); });
    case 8:
      return swap_words<std::uint64_t>(elements, [](std::uint64_t word) { return __builtin_bswap64(word); });
    default:
      for (std::size_t at = 0; at + type.swapped_together <= elements.size(); at += type.swapped_together)
        std::reverse(elements.data() + at, elements.data() + at + type.swapped_together);
  }
}

std::vector<std::byte> converted(std::span<const std::byte> element, const ElementType& from,
                                 const ElementType& to) {
  FARO_CHECK(from.number && to.number && element.size() == from.bytes);
  std::vector<std::byte> made(to.bytes);
  const Strided one{.extents = {1}, .in_strides = {1}, .out_strides = {1}};
  plan(one, Arithmetic{.from = *from.number, .to = *to.number}, {.engine = Engine::cpu, .threads = 1})
      .run({.data = element.data(), .count = 1}, made.data(), 1);
  return made;
}

}  // namespace faro::store
