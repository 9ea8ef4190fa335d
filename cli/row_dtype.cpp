#include "cli/row_dtype.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <span>

#include "faro/error.hpp"
#include "kernels/row_numbers.hpp"

namespace faro::cli {
namespace {

// Kind 0 for structured dtypes.
io::NpyTypeCode code_of(const io::NpyHeader& header) {
  return header.type_code().value_or(io::NpyTypeCode{});
}

template <typename T>
std::vector<std::byte> bytes_of_value(const T& value) {
  const auto* const first = reinterpret_cast<const std::byte*>(&value);
  return {first, first + sizeof(T)};
}

std::optional<std::vector<std::byte>> whole_number(const std::string& text, bool is_signed,
                                                   std::uint64_t bytes) {
  const char* first = text.data();
  const char* const last = first + text.size();
  if (text.starts_with('+')) ++first;
  const int bits = static_cast<int>(bytes * 8);
  std::uint64_t value = 0;
  if (is_signed) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(first, last, number);
    const std::int64_t most = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits));
    if (failed != std::errc{} || end != last || number > most || number < -most - 1) return std::nullopt;
    value = static_cast<std::uint64_t>(number);
  } else {
    const auto [end, failed] = std::from_chars(first, last, value);
    if (failed != std::errc{} || end != last || value > ~std::uint64_t{0} >> (64 - bits)) return std::nullopt;
  }
  std::vector<std::byte> item = bytes_of_value(value);
  item.resize(bytes);
  return item;
}

std::optional<std::vector<std::byte>> real_number(const std::string& text, std::uint64_t bytes,
                                                  bool as_bf16) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front())) != 0) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0') return std::nullopt;
  if (as_bf16) {
    kernels::BrainHalf rounded;
    kernels::round_to(value, rounded);
    return bytes_of_value(rounded);
  }
  if (bytes == 2) {
    kernels::Half rounded;
    kernels::round_to(value, rounded);
    return bytes_of_value(rounded);
  }
  // Rounds the decimal number itself, not its nearest double.
  if (bytes == 4) return bytes_of_value(std::strtof(text.c_str(), nullptr));
  if (bytes == 8) return bytes_of_value(value);
  return std::nullopt;
}

}  // namespace

ItemNumbers numbers_of(const std::string& operation, const io::NpyHeader& header, bool as_bf16) {
  const io::NpyTypeCode code = code_of(header);
  if (as_bf16) {
    if (header.item_bytes != 2 || code.kind == 0)
      fail(ErrorCode::value, operation, "--bf16 on dtype " + header.descr, "items of 2 bytes");
    return {.number = Number::bf16, .swapped = code.big_endian};
  }
  const std::uint64_t bytes = code.kind == 'c' ? header.item_bytes / 2 : header.item_bytes;
  for (int n = 0; n <= static_cast<int>(Number::f64); ++n) {
    const auto number = static_cast<Number>(n);
    if (number == Number::bf16 || bytes_of(number) != bytes) continue;
    const char kind = code.kind == 'c' ? 'f' : code.kind;
    if (name(number)[0] == kind) return {.number = number, .swapped = code.big_endian && bytes > 1};
  }
  fail(ErrorCode::value, operation, "dtype " + header.descr,
       "numbers that can be added: i1 to i8, u1 to u8, f2, f4, f8, c8 or c16",
       header.item_bytes == 2 && code.kind == 'V' ? "--bf16 reads them as bfloat16" : "");
}

std::vector<std::byte> item_of(const std::string& option, const std::string& text,
                               const io::NpyHeader& header, bool as_bf16) {
  const io::NpyTypeCode code = code_of(header);
  const std::uint64_t bytes = header.item_bytes;
  std::optional<std::vector<std::byte>> item;
  std::string wanted = "a number";
  if (as_bf16 && bytes != sizeof(kernels::BrainHalf)) {
    fail(ErrorCode::value, "read --bf16", "dtype " + header.descr, "items of 2 bytes");
  } else if (as_bf16) {
    item = real_number(text, bytes, true);
  } else if (code.kind == 'b') {
    wanted = "true or false";
    if (text == "0" || text == "false" || text == "1" || text == "true")
      item = std::vector<std::byte>(1, std::byte{text == "1" || text == "true"});
  } else if (code.kind == 'i' || code.kind == 'u') {
    wanted = "a whole number within the range";
    item = whole_number(text, code.kind == 'i', bytes);
  } else if (code.kind == 'M' || code.kind == 'm') {
    wanted = "a whole number or NaT";
    item = whole_number(text == "NaT" ? "-9223372036854775808" : text, true, bytes);
  } else if (code.kind == 'f') {
    item = real_number(text, bytes, false);
  } else if (code.kind == 'c') {
    item = real_number(text, bytes / 2, false);
  } else if (text == "0") {
    return std::vector<std::byte>(bytes);
  } else {
    wanted = "0, which gives items of zero bytes,";
  }
  if (!item) {
    fail(ErrorCode::value, "read " + option, "`" + text + "`",
         fmt::format("{} of dtype {}", wanted, header.descr));
  }
  if (code.big_endian) std::reverse(item->begin(), item->end());
  // A complex number is its real part and 0.
  item->resize(bytes);
  return *item;
}

void swap_bytes(std::span<std::byte> data, std::uint64_t number_bytes) {
  const auto numbers = static_cast<std::int64_t>(data.size() / number_bytes);
  for (std::int64_t i = 0; i < numbers; ++i) {
    std::byte* const first = data.data() + static_cast<std::uint64_t>(i) * number_bytes;
    std::reverse(first, first + number_bytes);
  }
}

}  // namespace faro::cli
