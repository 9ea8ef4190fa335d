// Statements as text, for listings and for errors.
#pragma once

#include <string>

#include "faro/swizzle/program.hpp"

namespace faro::swizzle {

/// One line; of a loop its head. Registers, arrays and loops that the program does not have are numbers.
std::string statement_text(const Program& program, const Statement& statement);

/// "block 0, warp 1, lane 5, i = 2"; only the loops given by number.
std::string place_text(const Program& program, const Place& place, std::span<const int> open_loops);

}  // namespace faro::swizzle
