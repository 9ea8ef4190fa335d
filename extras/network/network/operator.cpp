#include "faro/network/operator.hpp"

#include <algorithm>
#include <iterator>

#include "faro/error.hpp"
#include "faro/suggest.hpp"

namespace faro::network {
namespace {

constexpr std::string_view kScalarNames[] = {"i32", "u32", "i64", "u64", "f32", "f64", "c64", "c128"};
constexpr std::string_view kValueSuffix = "+value";

}  // namespace

const char* name(Scalar scalar) noexcept { return kScalarNames[static_cast<std::size_t>(scalar)].data(); }

std::uint64_t bytes(Scalar scalar) noexcept {
  switch (scalar) {
    case Scalar::i32:
    case Scalar::u32:
    case Scalar::f32:
      return 4;
    case Scalar::c128:
      return 16;
    default:
      return 8;
  }
}

bool is_complex(Scalar scalar) noexcept { return scalar == Scalar::c64 || scalar == Scalar::c128; }
bool is_float(Scalar scalar) noexcept { return scalar == Scalar::f32 || scalar == Scalar::f64; }

std::uint64_t ElementType::bytes() const noexcept { return network::bytes(scalar) * (with_value ? 2 : 1); }

std::string to_text(const ElementType& type) {
  return name(type.scalar) + std::string(type.with_value ? kValueSuffix : "");
}

ElementType parse_element_type(std::string_view text) {
  std::string_view scalar = text;
  ElementType type;
  if (scalar.ends_with(kValueSuffix)) {
    type.with_value = true;
    scalar.remove_suffix(kValueSuffix.size());
  }
  const auto* const found = std::find(std::begin(kScalarNames), std::end(kScalarNames), scalar);
  if (found == std::end(kScalarNames)) {
    std::vector<std::string> known(std::begin(kScalarNames), std::end(kScalarNames));
    for (std::size_t i = 0; i < std::size(kScalarNames); ++i) known.push_back(known[i] + "+value");
    fail(ErrorCode::value, "element type", "`" + std::string(text) + "`",
         "i32, u32, i64, u64, f32, f64, c64 or c128, and `+value` behind it where a value is",
         did_you_mean(text, std::vector<std::string_view>(known.begin(), known.end())));
  }
  type.scalar = static_cast<Scalar>(found - std::begin(kScalarNames));
  return type;
}

}  // namespace faro::network
