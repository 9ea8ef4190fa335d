// Headers of strangers, read number by number: nothing is read behind their end, nothing is allocated on
// their word.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "faro/error.hpp"
#include "io/file_system.hpp"
#include "store/element_type.hpp"
#include "store/sides.hpp"

namespace faro::store {

inline bool begins_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

/// Numbers of a header, one behind another. Errors: ErrorCode::file behind the end.
class FileNumbers {
 public:
  FileNumbers(std::span<const std::byte> bytes, ByteOrder order, std::string operation)
      : bytes_(bytes), order_(order), operation_(std::move(operation)) {}

  std::uint64_t u8() { return number(1); }
  std::uint64_t u16() { return number(2); }
  std::uint64_t u32() { return number(4); }
  std::uint64_t u64() { return number(8); }
  /// Of `width` bytes, at most 8.
  std::uint64_t number(std::uint64_t width) {
    const std::span<const std::byte> from = bytes(width);
    std::uint64_t value = 0;
    for (std::uint64_t b = 0; b < width; ++b) {
      const std::uint64_t place = order_ == ByteOrder::little ? b : width - 1 - b;
      value |= static_cast<std::uint64_t>(from[b]) << (8 * place);
    }
    return value;
  }
  double f32() {
    const auto bits = static_cast<std::uint32_t>(u32());
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  double f64() {
    const std::uint64_t bits = u64();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::span<const std::byte> bytes(std::uint64_t count) {
    if (count > left()) fail(ErrorCode::file, operation_, "a header that ends too early", "a whole one");
    const auto found = bytes_.subspan(at_, count);
    at_ += count;
    return found;
  }
  std::string text(std::uint64_t count) {
    const auto from = bytes(count);
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }
  void skip(std::uint64_t count) { bytes(count); }
  void go_to(std::uint64_t at) {
    at_ = 0;
    skip(at);
  }
  std::uint64_t left() const { return bytes_.size() - at_; }
  std::uint64_t at() const { return at_; }

 private:
  std::span<const std::byte> bytes_;
  ByteOrder order_;
  std::string operation_;
  std::uint64_t at_ = 0;
};

/// A header that is made, little endian, number by number.
class HeaderBytes {
 public:
  /// Of `width` bytes.
  void number(std::uint64_t value, std::uint64_t width) {
    for (std::uint64_t b = 0; b < width; ++b) bytes_.push_back(static_cast<std::byte>(value >> (8 * b)));
  }
  void u16(std::uint64_t value) { number(value, 2); }
  void u32(std::uint64_t value) { number(value, 4); }
  void u64(std::uint64_t value) { number(value, 8); }
  void f32(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    u32(bits);
  }
  void f64(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    u64(bits);
  }
  void text(std::string_view text) { append(std::as_bytes(std::span(text))); }
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  /// Over what is there.
  void put(std::uint64_t at, std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  /// Zeros up to `at`, or to a multiple.
  void fill_to(std::uint64_t at) { bytes_.resize(std::max<std::uint64_t>(at, bytes_.size())); }
  void align(std::uint64_t to) { fill_to((bytes_.size() + to - 1) / to * to); }
  std::uint64_t size() const { return bytes_.size(); }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// What a number in a header calls a type.
struct TypeNumber {
  int number;
  std::string_view name;
};
/// Errors: ErrorCode::unsupported.
template <std::size_t N>
ElementType type_numbered(const std::array<TypeNumber, N>& types, std::int64_t number,
                          const std::string& operation) {
  const auto* const found =
      std::find_if(types.begin(), types.end(), [&](const TypeNumber& each) { return each.number == number; });
  if (found == types.end())
    fail(ErrorCode::unsupported, operation, fmt::format("data of type {}", number), "numbers of whole bytes");
  return known_element_type(found->name);
}

/// What tells a file from another, and from itself after a change. Errors: ErrorCode::file.
std::string identity_of_file(const std::filesystem::path& path);
/// The same of a folder, with all that is in it. Cost: a look at each file.
std::string identity_of_folder(const std::filesystem::path& path);

/// Ranges of a file.
class FileReader {
 public:
  /// Errors: ErrorCode::file.
  explicit FileReader(const std::filesystem::path& path);
  /// Errors: ErrorCode::file for what the file does not have, before anything is allocated.
  Bytes read(std::uint64_t offset, std::uint64_t bytes) const;
  void read(std::uint64_t offset, std::span<std::byte> to) const;
  std::uint64_t size() const { return bytes_; }

 private:
  std::string operation_;
  io::Descriptor file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace faro::store
