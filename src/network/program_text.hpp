// Programs and their parts as text: whole, and cut short for errors and traces.
#pragma once

#include <cstddef>
#include <string>

#include "faro/network/program.hpp"

namespace faro::network {

/// The program's text on one printable line, of which at most `longest` characters, then "...". Cost:
/// proportional to what is shown.
std::string short_text(const Program& program, std::size_t longest = 60);

/// "min_max"; "add 5"; a user's operator: `name "text"`.
std::string operator_text(const Operator& op);

/// What stands in `bmmc(...)`: the map's name where it has one, else its normal form.
std::string bmmc_text(const Program& program);

/// "0x3".
std::string mask_text(f2::Word mask);

}  // namespace faro::network
