// What numpy.dtype() takes as one word, and its kind and width.
//
//     type code     [<>=|] kind digits [unit]     '<f4'  '|S32'  '<U3' (4 bytes a character)  '<M8[ns]'
//     letter        [<>=|] letter                 'f' '>d' '?' 'q', the types of C of a 64-bit Unix
//     name          'float32' 'intc' 'datetime64[ns]', and those that ml_dtypes adds, 'bfloat16'
#include <algorithm>
#include <array>
#include <charconv>

#include "io/npy.hpp"

namespace faro::io {
namespace {

constexpr std::uint64_t kMostTypeBytes = std::uint64_t{1} << 60;

// The widths that numpy has for a kind of number, in bytes; ml_dtypes writes float8_e5m2 as '<f1' and its
// complex numbers of two halves as '<c4', before 0.7 as '<W4'.
struct NumberKind {
  char kind;
  std::array<std::uint8_t, 6> widths;  // zero: no further width
};

constexpr std::array<NumberKind, 8> kNumberKinds{
    {{'b', {1}},
     {'i', {1, 2, 4, 8}},
     {'u', {1, 2, 4, 8}},
     {'f', {1, 2, 4, 8, 12, 16}},  // 12: long double of 32-bit x86
     {'c', {4, 8, 16, 24, 32}},
     {'W', {4}},
     {'M', {8}},
     {'m', {8}}}};

// A word that is a whole type. NumPy knows the width alone of what ml_dtypes adds, as of 'V2'.
struct TypeWord {
  std::string_view word;
  char kind;
  std::uint8_t bytes;
};

constexpr std::array kTypeLetters{
    TypeWord{"?", 'b', 1},  TypeWord{"b", 'i', 1},  TypeWord{"B", 'u', 1},  TypeWord{"h", 'i', 2},
    TypeWord{"H", 'u', 2},  TypeWord{"i", 'i', 4},  TypeWord{"I", 'u', 4},  TypeWord{"l", 'i', 8},
    TypeWord{"L", 'u', 8},  TypeWord{"q", 'i', 8},  TypeWord{"Q", 'u', 8},  TypeWord{"p", 'i', 8},
    TypeWord{"P", 'u', 8},  TypeWord{"n", 'i', 8},  TypeWord{"N", 'u', 8},  TypeWord{"e", 'f', 2},
    TypeWord{"f", 'f', 4},  TypeWord{"d", 'f', 8},  TypeWord{"g", 'f', 16}, TypeWord{"F", 'c', 8},
    TypeWord{"D", 'c', 16}, TypeWord{"G", 'c', 32}, TypeWord{"c", 'S', 1},  TypeWord{"M", 'M', 8},
    TypeWord{"m", 'm', 8},  TypeWord{"S", 'S', 0},  TypeWord{"U", 'U', 0},  TypeWord{"V", 'V', 0}};

constexpr std::array kTypeNames{
    TypeWord{"bool", 'b', 1},         TypeWord{"int8", 'i', 1},        TypeWord{"int16", 'i', 2},
    TypeWord{"int32", 'i', 4},        TypeWord{"int64", 'i', 8},       TypeWord{"uint8", 'u', 1},
    TypeWord{"uint16", 'u', 2},       TypeWord{"uint32", 'u', 4},      TypeWord{"uint64", 'u', 8},
    TypeWord{"float16", 'f', 2},      TypeWord{"float32", 'f', 4},     TypeWord{"float64", 'f', 8},
    TypeWord{"complex64", 'c', 8},    TypeWord{"complex128", 'c', 16}, TypeWord{"float128", 'f', 16},
    TypeWord{"complex256", 'c', 32},  TypeWord{"byte", 'i', 1},        TypeWord{"ubyte", 'u', 1},
    TypeWord{"short", 'i', 2},        TypeWord{"ushort", 'u', 2},      TypeWord{"intc", 'i', 4},
    TypeWord{"uintc", 'u', 4},        TypeWord{"int", 'i', 8},         TypeWord{"uint", 'u', 8},
    TypeWord{"int_", 'i', 8},         TypeWord{"intp", 'i', 8},        TypeWord{"uintp", 'u', 8},
    TypeWord{"long", 'i', 8},         TypeWord{"ulong", 'u', 8},       TypeWord{"longlong", 'i', 8},
    TypeWord{"ulonglong", 'u', 8},    TypeWord{"half", 'f', 2},        TypeWord{"single", 'f', 4},
    TypeWord{"double", 'f', 8},       TypeWord{"float", 'f', 8},       TypeWord{"longdouble", 'f', 16},
    TypeWord{"csingle", 'c', 8},      TypeWord{"cdouble", 'c', 16},    TypeWord{"complex", 'c', 16},
    TypeWord{"clongdouble", 'c', 32}, TypeWord{"bool_", 'b', 1},       TypeWord{"datetime64", 'M', 8},
    TypeWord{"timedelta64", 'm', 8},  TypeWord{"bytes", 'S', 0},       TypeWord{"bytes_", 'S', 0},
    TypeWord{"str", 'U', 0},          TypeWord{"str_", 'U', 0},        TypeWord{"unicode", 'U', 0},
    TypeWord{"void", 'V', 0}};

constexpr std::array kAddedNames{TypeWord{"bfloat16", 'V', 2},
                                 TypeWord{"float8_e5m2", 'f', 1},
                                 TypeWord{"float8_e5m2fnuz", 'V', 1},
                                 TypeWord{"float8_e4m3", 'V', 1},
                                 TypeWord{"float8_e4m3fn", 'V', 1},
                                 TypeWord{"float8_e4m3fnuz", 'V', 1},
                                 TypeWord{"float8_e4m3b11fnuz", 'V', 1},
                                 TypeWord{"float8_e3m4", 'V', 1},
                                 TypeWord{"float8_e8m0fnu", 'V', 1},
                                 TypeWord{"float8_e5m3fnu", 'V', 1},
                                 TypeWord{"float6_e2m3fn", 'V', 1},
                                 TypeWord{"float6_e3m2fn", 'V', 1},
                                 TypeWord{"float4_e2m1fn", 'V', 1},
                                 TypeWord{"int1", 'V', 1},
                                 TypeWord{"int2", 'V', 1},
                                 TypeWord{"int4", 'V', 1},
                                 TypeWord{"uint1", 'V', 1},
                                 TypeWord{"uint2", 'V', 1},
                                 TypeWord{"uint4", 'V', 1},
                                 TypeWord{"complex32", 'c', 4},
                                 TypeWord{"bcomplex32", 'V', 4}};

std::optional<NpyTypeCode> code_of_word(std::span<const TypeWord> words, std::string_view text) {
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const TypeWord& each) { return each.word == text; });
  if (found == words.end()) return std::nullopt;
  return NpyTypeCode{.kind = found->kind, .item_bytes = found->bytes};
}

bool known_width(char kind, std::uint64_t width) {
  for (const NumberKind& number : kNumberKinds) {
    if (number.kind == kind)
      return width != 0 &&
             std::find(number.widths.begin(), number.widths.end(), width) != number.widths.end();
  }
  return false;
}

// "[ns]", "[25s]", "[D/3]": a unit that numpy would know, with a count or a divisor.
bool is_time_unit(std::string_view text) {
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return false;
  text = text.substr(1, text.size() - 2);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view divisor = text.substr(slash + 1);
    if (divisor.empty() || !std::all_of(divisor.begin(), divisor.end(), is_digit)) return false;
    text = text.substr(0, slash);
  }
  constexpr std::array<std::string_view, 14> units{"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                                   "ms", "us", "ns", "ps", "fs", "as", "generic"};
  return std::find(units.begin(), units.end(), text) != units.end();
}

// "f4", "S32", "U3".
std::optional<NpyTypeCode> code_of_digits(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  std::uint64_t width = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data() + 1, last, width);
  if (failed != std::errc{} || end != last || width >= kMostTypeBytes || (text[1] == '0' && text.size() > 2))
    return std::nullopt;
  const char kind = text.front();
  if (kind == 'U') width *= 4;
  const bool takes_any = kind == 'S' || kind == 'V' || kind == 'U';
  if (!takes_any && !known_width(kind, width)) return std::nullopt;
  return NpyTypeCode{.kind = kind, .item_bytes = width};
}

}  // namespace

std::optional<NpyTypeCode> npy_type_code(std::string_view text) {
  const std::size_t bracket = std::min(text.find('['), text.size());
  const std::string_view unit = text.substr(bracket);
  std::string_view word = text.substr(0, bracket);
  std::optional<NpyTypeCode> code = code_of_word(kTypeNames, word);
  if (!code) code = code_of_word(kAddedNames, word);
  if (!code) {
    const bool has_order =
        !word.empty() && std::string_view("<>=|").find(word.front()) != std::string_view::npos;
    const bool big_endian = word.starts_with('>');
    if (has_order) word.remove_prefix(1);
    code = code_of_word(kTypeLetters, word);
    if (!code) code = code_of_digits(word);
    if (code) code->big_endian = big_endian && code->item_bytes > 1 && code->kind != 'S' && code->kind != 'V';
  }
  if (!code || unit.empty()) return code;
  const bool is_time = code->kind == 'M' || code->kind == 'm';
  if (!is_time || word.size() < 2 || !is_time_unit(unit)) return std::nullopt;
  code->unit = unit;
  return code;
}

std::string NpyTypeCode::text() const {
  return kind + std::to_string(kind == 'U' ? item_bytes / 4 : item_bytes) + unit;
}

std::vector<std::string_view> npy_type_names() {
  std::vector<std::string_view> names;
  names.reserve(kTypeNames.size());
  for (const TypeWord& each : kTypeNames) names.push_back(each.word);
  return names;
}

}  // namespace faro::io
