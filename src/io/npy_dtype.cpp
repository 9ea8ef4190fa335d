// Item sizes of dtypes, of all that numpy.dtype() takes but dictionaries, which numpy.load refuses.
//
//     one word      npy_type_code.cpp
//     list in text  'f4,(2,)i2,3u1': words, each with how many there are of it
//     structured    list of (name, dtype) or (name, dtype, shape); a name may be a pair (title, name)
//     pair          (dtype, shape), ('S', length) and (dtype, dtype of the same size)
#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "faro/error.hpp"
#include "io/npy.hpp"
#include "io/python_literal.hpp"

namespace faro::io {
namespace {

using Kind = PythonLiteral::Kind;

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;

std::uint64_t field_bytes(const PythonLiteral& field, const std::string& name);

// Elements of `bytes` each, so many as an integer or a tuple of them says. `whole` is for messages.
std::uint64_t times_shape(std::uint64_t bytes, const PythonLiteral& shape, const PythonLiteral& whole,
                          const std::string& name) {
  const auto times = [&](const PythonLiteral& extent) {
    if (extent.kind != Kind::integer)
      fail(ErrorCode::file, "read `" + name + "`", "field " + excerpt(whole.source), "a shape of integers");
    if (__builtin_mul_overflow(bytes, extent.integer, &bytes) || bytes >= kMaxBytes) {
      fail(ErrorCode::file, "read `" + name + "`", "field " + excerpt(whole.source),
           "items of less than 2^62 bytes");
    }
  };
  const bool is_sequence = shape.kind == Kind::tuple || shape.kind == Kind::list;
  if (!is_sequence) times(shape);
  for (const PythonLiteral& extent : shape.items) times(extent);
  return bytes;
}

// The end of the word, or of the shape, at the start of `text`: commas within brackets are its own.
std::size_t end_of_part(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (text[i] == ',' && depth == 0) return i;
  }
  return text.size();
}

// "(2,3)f4", "3f4", "f4": nothing where it is none of these.
std::optional<std::uint64_t> repeated_bytes(std::string_view part, const PythonLiteral& code,
                                            const std::string& name) {
  const auto skip_spaces = [&] { part.remove_prefix(std::min(part.find_first_not_of(' '), part.size())); };
  const auto order = [&] {
    const bool is_given =
        !part.empty() && std::string_view("<>=|").find(part.front()) != std::string_view::npos;
    const char found = is_given ? part.front() : ' ';
    part.remove_prefix(is_given ? 1 : 0);
    return found;
  };
  skip_spaces();
  const char before = order();
  skip_spaces();
  const std::size_t end = part.starts_with('(') ? part.find(')') + 1 : part.find_first_not_of("0123456789");
  PythonLiteral shape{.kind = Kind::tuple, .source = {}, .text = {}, .items = {}};
  if (end == 0 && part.starts_with('(')) return std::nullopt;
  if (end > 0 && end <= part.size()) {
    try {
      shape = parse_python_literal(part.substr(0, end));
    } catch (const PythonLiteralError&) {
      return std::nullopt;
    }
    if (part.starts_with('(') && shape.kind != Kind::tuple) return std::nullopt;
    part.remove_prefix(end);
    skip_spaces();
  }
  const char after = before == ' ' ? ' ' : order();
  const auto type = npy_type_code(part);
  if (!type || (after != ' ' && after != before)) return std::nullopt;
  return times_shape(type->item_bytes, shape, code, name);
}

bool is_object(std::string_view text) {
  const std::string_view kind = text.substr(std::min(text.find_first_not_of("<>=|"), text.size()));
  return kind.starts_with('O') || text == "object" || text == "object_";
}

std::uint64_t text_bytes(const PythonLiteral& code, const std::string& name) {
  if (const auto word = npy_type_code(code.text)) return word->item_bytes;
  if (is_object(code.text)) {
    fail(ErrorCode::file, "read `" + name + "`", "object dtype " + excerpt(code.source),
         "a dtype whose items are plain bytes", "objects are pointers, which faro cannot move between files");
  }
  std::string_view rest = code.text;
  const bool is_list =
      end_of_part(rest) < rest.size() || rest.find_first_of("(0123456789") <= rest.find_first_not_of("<>=| ");
  std::optional<std::uint64_t> sum = is_list ? std::optional<std::uint64_t>(0) : std::nullopt;
  while (sum && !rest.empty()) {
    const std::size_t end = end_of_part(rest);
    const auto part = repeated_bytes(rest.substr(0, end), code, name);
    sum = part && *part + *sum < kMaxBytes ? std::optional(*part + *sum) : std::nullopt;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!sum) {
    fail(ErrorCode::file, "read `" + name + "`", "dtype " + excerpt(code.source),
         "a type that numpy.dtype() knows, such as '<f4', '>u2', '|S32', 'float32'");
  }
  return *sum;
}

std::uint64_t any_dtype_bytes(const PythonLiteral& descr, const std::string& name);

// (dtype, shape), ('S', 5), (dtype, dtype).
std::uint64_t pair_bytes(const PythonLiteral& pair, const std::string& name) {
  const std::uint64_t bytes = any_dtype_bytes(pair.items[0], name);
  const PythonLiteral& second = pair.items[1];
  const bool is_dtype = second.kind == Kind::string || (second.kind == Kind::list && !second.items.empty() &&
                                                        second.items[0].kind != Kind::integer);
  if (is_dtype) {
    const std::uint64_t other = any_dtype_bytes(second, name);
    if (bytes != other && bytes != 0)
      fail(ErrorCode::file, "read `" + name + "`", "dtype " + excerpt(pair.source), "two types of one size");
    return other;
  }
  const bool lacks_length = bytes == 0 && pair.items[0].kind == Kind::string && second.kind == Kind::integer;
  if (!lacks_length) return times_shape(bytes, second, pair, name);
  return times_shape(npy_type_code(pair.items[0].text)->kind == 'U' ? 4 : 1, second, pair, name);
}

std::uint64_t any_dtype_bytes(const PythonLiteral& descr, const std::string& name) {
  if (descr.kind == Kind::string) return text_bytes(descr, name);
  if (descr.kind == Kind::tuple && descr.items.size() == 2) return pair_bytes(descr, name);
  if (descr.kind != Kind::list || descr.items.empty()) {
    fail(ErrorCode::file, "read `" + name + "`", "dtype " + excerpt(descr.source),
         "a type, a list of fields, or a type and a shape");
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
  if ((field.kind != Kind::tuple && field.kind != Kind::list) || parts.size() < 2 || parts.size() > 3 ||
      !is_field_name(parts[0])) {
    fail(ErrorCode::file, "read `" + name + "`", "field " + excerpt(field.source),
         "(name, dtype) or (name, dtype, shape)");
  }
  const std::uint64_t bytes = any_dtype_bytes(parts[1], name);
  return parts.size() == 2 ? bytes : times_shape(bytes, parts[2], field, name);
}

}  // namespace

std::optional<NpyTypeCode> NpyHeader::type_code() const {
  // What was parsed before is parsed again; a list of fields is none.
  if (descr.empty() || (descr.front() != '\'' && descr.front() != '"')) return std::nullopt;
  return npy_type_code(parse_python_literal(descr).text);
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
