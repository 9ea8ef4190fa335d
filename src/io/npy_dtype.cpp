// Item sizes of dtypes.
//
//     type code     [<>=|] kind digits [unit]     '<f4'  '|S32'  '<U3' (4 bytes a character)  '<M8[ns]'
//     structured    list of (name, dtype) or (name, dtype, shape); a name may be a pair (title, name)
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include "faro/error.hpp"
#include "io/npy.hpp"
#include "io/python_literal.hpp"

namespace faro::io {
namespace {

using Kind = PythonLiteral::Kind;

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;

// The widths that numpy has for a kind of number, in bytes; none for a kind that takes any width.
struct NumberKind {
  char kind;
  std::array<std::uint8_t, 4> widths;  // zero: no further width
};

constexpr std::array<NumberKind, 7> kNumberKinds{{{'b', {1}},
                                                  {'i', {1, 2, 4, 8}},
                                                  {'u', {1, 2, 4, 8}},
                                                  {'f', {2, 4, 8, 16}},
                                                  {'c', {8, 16, 24, 32}},
                                                  {'M', {8}},
                                                  {'m', {8}}}};
constexpr std::uint64_t kExtendedFloatBytes = 12;  // long double of 32-bit x86, beside the four widths of 'f'

bool known_width(char kind, std::uint64_t width) {
  if (kind == 'f' && width == kExtendedFloatBytes) return true;
  for (const NumberKind& number : kNumberKinds) {
    if (number.kind == kind)
      return std::find(number.widths.begin(), number.widths.end(), width) != number.widths.end();
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

std::uint64_t field_bytes(const PythonLiteral& field, const std::string& name);

std::uint64_t type_code_bytes(const PythonLiteral& code, const std::string& name) {
  const std::string_view text = code.text;
  const std::string_view kind = text.substr(std::min(text.find_first_not_of("<>=|"), text.size()));
  if (kind.starts_with('O')) {
    fail(ErrorCode::file, "read `" + name + "`", "object dtype " + excerpt(code.source),
         "a dtype whose items are plain bytes", "objects are pointers, which faro cannot move between files");
  }
  const auto bytes = npy_type_code_bytes(text);
  if (!bytes)
    fail(ErrorCode::file, "read `" + name + "`", "dtype " + excerpt(code.source),
         "a numpy type code such as '<f4', '>u2', '|S32'");
  return *bytes;
}

std::uint64_t any_dtype_bytes(const PythonLiteral& descr, const std::string& name) {
  if (descr.kind == Kind::string) return type_code_bytes(descr, name);
  if (descr.kind != Kind::list || descr.items.empty()) {
    fail(ErrorCode::file, "read `" + name + "`", "dtype " + excerpt(descr.source),
         "a type code or a list of fields");
  }
  std::uint64_t sum = 0;
  for (const PythonLiteral& field : descr.items) {
    sum += field_bytes(field, name);  // both below 2^62
    if (sum >= kMaxBytes)
      fail(ErrorCode::file, "read `" + name + "`", "dtype " + excerpt(descr.source),
           "items of less than 2^62 bytes");
  }
  return sum;
}

bool is_field_name(const PythonLiteral& literal) {
  if (literal.kind == Kind::string) return true;
  const auto is_string = [](const PythonLiteral& part) { return part.kind == Kind::string; };
  return literal.kind == Kind::tuple && literal.items.size() == 2 &&
         std::all_of(literal.items.begin(), literal.items.end(), is_string);
}

std::uint64_t field_bytes(const PythonLiteral& field, const std::string& name) {
  const auto& parts = field.items;
  if (field.kind != Kind::tuple || parts.size() < 2 || parts.size() > 3 || !is_field_name(parts[0])) {
    fail(ErrorCode::file, "read `" + name + "`", "field " + excerpt(field.source),
         "(name, dtype) or (name, dtype, shape)");
  }
  std::uint64_t bytes = any_dtype_bytes(parts[1], name);
  if (parts.size() == 2) return bytes;
  const auto times = [&](const PythonLiteral& extent) {
    if (extent.kind != Kind::integer)
      fail(ErrorCode::file, "read `" + name + "`", "field " + excerpt(field.source), "a shape of integers");
    if (__builtin_mul_overflow(bytes, extent.integer, &bytes) || bytes >= kMaxBytes) {
      fail(ErrorCode::file, "read `" + name + "`", "field " + excerpt(field.source),
           "items of less than 2^62 bytes");
    }
  };
  if (parts[2].kind == Kind::tuple) {
    for (const PythonLiteral& extent : parts[2].items) times(extent);
  } else {
    times(parts[2]);
  }
  return bytes;
}

}  // namespace

std::optional<std::uint64_t> npy_type_code_bytes(std::string_view code) {
  if (!code.empty() && std::string_view("<>=|").find(code.front()) != std::string_view::npos)
    code.remove_prefix(1);
  if (code == "?") return 1;
  if (code.size() < 2) return std::nullopt;
  const char kind = code.front();
  std::uint64_t width = 0;
  const char* const last = code.data() + code.size();
  const auto [end, failed] = std::from_chars(code.data() + 1, last, width);
  if (failed != std::errc{} || width >= kMaxBytes / 4) return std::nullopt;
  if (code[1] == '0' && end - code.data() > 2) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(last - end));
  const bool is_time = kind == 'M' || kind == 'm';
  if (!rest.empty() && !(is_time && is_time_unit(rest))) return std::nullopt;
  if (kind == 'S' || kind == 'V') return width;
  if (kind == 'U') return 4 * width;
  if (width == 0 || !known_width(kind, width)) return std::nullopt;
  return width;
}

std::uint64_t dtype_item_bytes(const PythonLiteral& descr, const std::string& name) {
  const std::uint64_t bytes = any_dtype_bytes(descr, name);
  if (bytes == 0)
    fail(ErrorCode::file, "read `" + name + "`", "dtype " + excerpt(descr.source) + " of 0 bytes",
         "items of at least 1 byte");
  return bytes;
}

std::uint64_t npy_item_bytes(const std::string& descr, const std::string& name) {
  try {
    return dtype_item_bytes(parse_python_literal(descr), name);
  } catch (const PythonLiteralError& error) {
    fail(ErrorCode::file, "read `" + name + "`", "dtype " + excerpt(descr), error.what());
  }
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  std::string result;
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  // Between two words, where there is such a place near: half a number would be another one.
  const auto is_of_a_word = [&](std::size_t i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    return byte == '_' || byte >= 0x80 || std::isalnum(byte) != 0;
  };
  if (text.size() > kLongest) {
    constexpr std::size_t kLongestWord = 80;
    std::size_t end = kLongest;
    while (end > kLongest - kLongestWord && is_of_a_word(end) && is_of_a_word(end - 1)) --end;
    if (end > kLongest - kLongestWord) result.resize(end);
    // A character must not be cut in two: drop continuation bytes and the lead byte before them.
    while (!result.empty() && (static_cast<unsigned char>(result.back()) & 0xc0) == 0x80) result.pop_back();
    if (!result.empty() && static_cast<unsigned char>(result.back()) >= 0xc0) result.pop_back();
    result += "…";
  }
  return result;
}

}  // namespace faro::io
