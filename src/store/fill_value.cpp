#include "store/fill_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "faro/error.hpp"

namespace faro::store {
namespace {

template <typename T>
Bytes bytes_of(const T& value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

Bytes bytes_of_double(double value, const ElementType& type) {
  return converted(bytes_of(value), known_element_type("float64"), type);
}

ElementType part_of_complex(const ElementType& type) {
  return known_element_type(type.bytes == 8 ? "float32" : "float64");
}

// "0x7fc00001": bits, the most significant first.
std::optional<Bytes> bytes_of_hex(std::string_view text, std::uint64_t bytes) {
  if (!text.starts_with("0x") || text.size() != 2 + 2 * bytes || bytes > 8) return std::nullopt;
  std::uint64_t bits = 0;
  const char* const end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data() + 2, end, bits, 16); read.ptr != end) return std::nullopt;
  Bytes made(bytes);
  std::memcpy(made.data(), &bits, bytes);
  return made;
}

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Three bytes are four letters of six bits.
std::string base64_of(const Bytes& bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t bits = 0;
    for (std::size_t b = 0; b < count; ++b) bits |= static_cast<std::uint32_t>(bytes[at + b]) << (16 - 8 * b);
    for (std::size_t letter = 0; letter < 4; ++letter)
      text += letter <= count ? kBase64[bits >> (18 - 6 * letter) & 63] : '=';
  }
  return text;
}

std::optional<Bytes> bytes_of_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t letters = text.find_last_not_of('=') + 1;
  if (text.size() - letters > 2) return std::nullopt;
  Bytes bytes(letters * 3 / 4);
  std::uint32_t bits = 0;
  for (std::size_t at = 0; at < letters; ++at) {
    const std::size_t six = kBase64.find(text[at]);
    if (six == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(six);
    // A byte is whole with each letter but the first of four.
    if (at % 4 != 0)
      bytes[at / 4 * 3 + at % 4 - 1] = static_cast<std::byte>(bits >> (6 - 2 * (at % 4)) & 255);
  }
  return bytes;
}

bool is_of_bytes(const ElementType& type) { return type.name.starts_with('S') || type.name.starts_with('V'); }

// Texts end where zeros begin.
std::optional<Bytes> fill_of_bytes(const std::string& text, const ElementType& type) {
  auto bytes = bytes_of_base64(text);
  const bool fits = bytes && (type.name.starts_with('S') ? bytes->size() <= type.bytes
                                                         : bytes->empty() || bytes->size() == type.bytes);
  if (fits) bytes->resize(type.bytes);
  return fits ? bytes : std::nullopt;
}

std::optional<Bytes> fill_of_text(std::string text, const ElementType& type) {
  if (text.starts_with(kBareWord)) text.erase(0, 1);
  if (is_of_bytes(type)) return fill_of_bytes(text, type);
  if (text.empty() && !type.number) return Bytes(type.bytes);
  if (!type.number) return std::nullopt;
  if (text == "NaN") return bytes_of_double(std::numeric_limits<double>::quiet_NaN(), type);
  if (text == "Infinity") return bytes_of_double(std::numeric_limits<double>::infinity(), type);
  if (text == "-Infinity") return bytes_of_double(-std::numeric_limits<double>::infinity(), type);
  return bytes_of_hex(text, type.bytes);
}

std::optional<Bytes> fill_of_number(const Json& json, const ElementType& type) {
  const bool is_time = type.name.starts_with("M8") || type.name.starts_with("m8");
  if (!type.number && is_time && json.is_number_integer()) return bytes_of(json.get<std::int64_t>());
  if (!type.number) return json == 0 ? std::optional(Bytes(type.bytes)) : std::nullopt;
  if (json.is_number_unsigned())
    return converted(bytes_of(json.get<std::uint64_t>()), known_element_type("uint64"), type);
  if (json.is_number_integer())
    return converted(bytes_of(json.get<std::int64_t>()), known_element_type("int64"), type);
  return bytes_of_double(json.get<double>(), type);
}

std::optional<Bytes> fill_of_list(const Json& json, const ElementType& type, const std::string& operation) {
  if (type.number && is_complex(*type.number) && json.size() == 2) {
    const ElementType part = part_of_complex(type);
    Bytes both = fill_of_json(json[0], part, operation);
    const Bytes imaginary = fill_of_json(json[1], part, operation);
    both.insert(both.end(), imaginary.begin(), imaginary.end());
    return both;
  }
  const auto is_byte = [](const Json& each) {
    return each.is_number_unsigned() && each.get<std::uint64_t>() < 256;
  };
  if (!type.name.starts_with('V') || json.size() != type.bytes ||
      !std::all_of(json.begin(), json.end(), is_byte))
    return std::nullopt;
  Bytes bytes;
  for (const Json& each : json) bytes.push_back(static_cast<std::byte>(each.get<std::uint64_t>()));
  return bytes;
}

Json json_of_real(const Bytes& fill, const ElementType& type, FillText version) {
  const Bytes wide = converted(fill, type, known_element_type("float64"));
  double value = 0;
  std::memcpy(&value, wide.data(), sizeof value);
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  if (!std::isnan(value)) return value;
  if (version == FillText::v2 || fill_of_text("NaN", type) == fill) return "NaN";
  std::uint64_t bits = 0;
  std::memcpy(&bits, fill.data(), fill.size());
  return fmt::format("0x{:0{}x}", bits, 2 * fill.size());
}

Json json_of_other(const Bytes& fill, const ElementType& type, FillText version) {
  if (type.name.starts_with("M8") || type.name.starts_with("m8")) {
    std::int64_t ticks = 0;
    std::memcpy(&ticks, fill.data(), sizeof ticks);
    return ticks;
  }
  if (type.name.starts_with('S')) {
    const auto last =
        std::find_if(fill.rbegin(), fill.rend(), [](std::byte byte) { return byte != std::byte{0}; });
    return base64_of({fill.begin(), last.base()});
  }
  if (!type.name.starts_with('V')) return "";
  if (version == FillText::v2) return base64_of(fill);
  Json list = Json::array();
  for (const std::byte byte : fill) list.push_back(static_cast<unsigned>(byte));
  return list;
}

}  // namespace

Bytes fill_of_json(const Json& json, const ElementType& type, const std::string& operation) {
  std::optional<Bytes> fill;
  if (json.is_null()) fill = Bytes(type.bytes);
  if (json.is_boolean()) fill = fill_of_number(json.get<bool>() ? Json(1U) : Json(0U), type);
  if (json.is_number()) fill = fill_of_number(json, type);
  if (json.is_string()) fill = fill_of_text(json.get<std::string>(), type);
  if (json.is_array()) fill = fill_of_list(json, type, operation);
  if (fill) return *std::move(fill);
  fail(ErrorCode::unsupported, operation, "the fill value " + excerpt_of(json), "one of a " + type.name);
}

Json json_of_fill(const Bytes& fill, const ElementType& type, FillText version) {
  if (!type.number) return json_of_other(fill, type, version);
  if (*type.number == Number::boolean) return fill.front() != std::byte{0};
  if (is_integer(*type.number)) {
    const bool is_signed = type.name.starts_with('i');
    const Bytes wide = converted(fill, type, known_element_type(is_signed ? "int64" : "uint64"));
    std::uint64_t bits = 0;
    std::memcpy(&bits, wide.data(), sizeof bits);
    return is_signed ? Json(static_cast<std::int64_t>(bits)) : Json(bits);
  }
  if (!is_complex(*type.number)) return json_of_real(fill, type, version);
  const ElementType part = part_of_complex(type);
  const auto half = static_cast<std::ptrdiff_t>(type.bytes / 2);
  return Json::array({json_of_real({fill.begin(), fill.begin() + half}, part, version),
                      json_of_real({fill.begin() + half, fill.end()}, part, version)});
}

}  // namespace faro::store
