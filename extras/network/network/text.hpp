// Programs as text, for the command line, tests, errors and bug reports alike; docs/guide/network.md
// describes the grammar.
//
//     sort                                             a program of the library
//     parm(3; pairs(min_max)) . bmmc(bit_reversal)     the right one runs first
//     vcolumn 1 = pairs(min_max);  vcolumn n = parm(3; vcolumn (n-1));  vcolumn
//
// A text says nothing of the array's size but where it must: sizes travel inwards from the array's n, and
// parm and two take a bit away. A definition has cases, a size that is a number or the name of one; it may
// call any other, and itself on smaller arrays.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "faro/network/program.hpp"

namespace faro::network {

/// The program that `text` is on arrays of 2^n elements. `@path` reads the text from a file, where `#` begins
/// a remark.
/// Law:    parse_program(to_text(p), p.bits()) == p, but for a user's operator with a host function, which
///         has no text.
/// Errors: ErrorCode::spec for what the grammar does not know, with its place; ErrorCode::value, naming the
///         sub-expression, for masks, sizes, values and recursions without end; those of the maps' grammar
///         within bmmc(...); ErrorCode::file for a file that cannot be read.
Program parse_program(std::string_view text, int n);

/// The program in that grammar, definitions and library programs expanded.
std::string to_text(const Program& program);

// Programs and their parts as text: whole, and cut short for errors and traces.

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
