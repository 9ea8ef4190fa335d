// What the elements of stores are: the names that formats give to the same few types.
//
//     here, NumPy, Zarr v3    "float32"   "bfloat16"   "int16"   "bool"   "complex64"   "S32"   "V12"   "M8[ns]"
//     Zarr v2, .npy           "<f4"       -            "<i2"     "|b1"    "<c8"         "|S32"  "|V12"  "<M8[ns]"
//     safetensors             "F32"       "BF16"       "I16"     "BOOL"   "C64"         -       -       -
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faro/number.hpp"

namespace faro::store {

enum class ByteOrder : std::uint8_t { little, big };

struct ElementType {
  std::string name = {};
  std::uint64_t bytes = 0;
  std::uint64_t swapped_together = 1;  // bytes whose order is the element's byte order; 1: has none
  std::optional<Number> number = {};   // that Arithmetic knows

  bool operator==(const ElementType& other) const { return name == other.name; }
};

/// Of such a name, or of what numpy.dtype() takes. Nothing for other texts, and for elements of no or of more
/// than 4096 bytes.
std::optional<ElementType> element_type(std::string_view name);
/// Requires: the name is a type's (checked).
ElementType known_element_type(std::string_view name);
/// The order that a sign before it says: ">f4"; nothing without a sign, and for "|u1".
std::optional<ByteOrder> byte_order_named(std::string_view name) noexcept;
/// Errors: ErrorCode::unsupported with `operation`, of another text.
ElementType element_type_or_fail(std::string_view name, const std::string& operation);

/// "<f4" as NumPy writes it. Nothing for a type that NumPy has not.
std::optional<std::string> numpy_text(const ElementType& type, ByteOrder order);

/// Turns the byte order of elements in memory.
void swap_bytes(std::span<std::byte> elements, const ElementType& type);

/// Other bits for the same number, rounded and saturated as Arithmetic does. Requires: both have numbers
/// (checked).
std::vector<std::byte> converted(std::span<const std::byte> element, const ElementType& from,
                                 const ElementType& to);

}  // namespace faro::store
