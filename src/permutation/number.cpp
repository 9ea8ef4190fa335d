#include "faro/number.hpp"

#include <array>

namespace faro {
namespace {

struct NumberNames {
  const char* name;
  std::string_view numpy;
  std::uint64_t bytes;
};

constexpr std::array<NumberNames, kNumbers> kNames{{{"i8", "int8", 1},
                                                    {"u8", "uint8", 1},
                                                    {"i16", "int16", 2},
                                                    {"u16", "uint16", 2},
                                                    {"i32", "int32", 4},
                                                    {"u32", "uint32", 4},
                                                    {"i64", "int64", 8},
                                                    {"u64", "uint64", 8},
                                                    {"f16", "float16", 2},
                                                    {"bf16", "bfloat16", 2},
                                                    {"f32", "float32", 4},
                                                    {"f64", "float64", 8},
                                                    {"bool", "bool", 1},
                                                    {"c64", "complex64", 8},
                                                    {"c128", "complex128", 16},
                                                    {"f8_e4m3fn", "float8_e4m3fn", 1},
                                                    {"f8_e5m2", "float8_e5m2", 1},
                                                    {"f8_e4m3fnuz", "float8_e4m3fnuz", 1},
                                                    {"f8_e5m2fnuz", "float8_e5m2fnuz", 1}}};

}  // namespace

const char* name(Number number) noexcept { return kNames[static_cast<std::size_t>(number)].name; }

std::uint64_t bytes_of(Number number) noexcept { return kNames[static_cast<std::size_t>(number)].bytes; }

std::optional<Number> number_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].name == name || kNames[i].numpy == name) return static_cast<Number>(i);
  }
  return std::nullopt;
}

}  // namespace faro
