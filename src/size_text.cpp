#include "size_text.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace faro {

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return count_text(bytes, "byte");
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // What would be rounded to 1024 is one of the next unit.
  for (; value >= 1023.5 && unit + 1 < units.size(); ++unit) value /= 1024;
  return value >= 99.95 ? fmt::format("{:.0f} {}", value, units.at(unit))
                        : fmt::format("{:.3g} {}", value, units.at(unit));
}

std::string count_text(std::uint64_t count) {
  const bool large = count >= 1024 && std::has_single_bit(count);
  return large ? fmt::format("2^{}", std::bit_width(count) - 1) : fmt::format("{}", count);
}

std::string count_text(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count_text(count), noun, count == 1 ? "" : "s");
}

}  // namespace faro
