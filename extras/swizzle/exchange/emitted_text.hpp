// What both ways of a conversion write: constants, and values that are linear in the bits of the lane.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>

#include "faro/exchange/conversion.hpp"

namespace faro::exchange {

inline std::string hex(std::uint64_t value) { return fmt::format("{:#x}u", value); }

/// constant ^ the words of the set bits of `lane`, a variable's name, which `columns` has.
std::string lane_expression(const std::string& lane, std::uint64_t constant,
                            std::span<const std::uint64_t> columns);

/// The statements of the way through shared memory.
std::string shared_body(const Conversion& conversion);

}  // namespace faro::exchange
