// Programs as pictures: elements as wires from left to right, and where two of them meet.
//
//     0 ---o-----------o----o---
//          |           |    |
//     1 ---|--o--------|-o--o---       merge(2) after a layer of neighbours ...
//          |  |        | |
//     2 ---|--o--------o-|--o---
//          |             |  |
//     3 ---o-------------o--o---
//
// A wire is a place of the input array. Permutations bend no wires: after a permutation the operators reach
// for the elements where they are, and the numbers at the right end say at which place of the result a wire's
// element stands. So a network looks the same before and after rewriting. A parm is also drawn as the table
// of its sub-arrays and their indices, with the matrix that sorts them apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/network/program.hpp"

namespace faro::network {

/// The operator's pair number p of 2^k elements: `first` is its a, `second` its b. Of an elementwise function
/// both are the element's wire.
struct Meeting {
  std::uint64_t first = 0;  // wires
  std::uint64_t second = 0;
  Operator op = {};
  std::uint64_t p = 0;
  int k = 0;
};

/// A program as wires and meetings.
struct Wiring {
  std::vector<std::vector<Meeting>> stages;  // what happens at once, from left to right
  std::vector<std::uint64_t> wire_of;        // out[i] is on this wire
};

/// Most index bits that are drawn.
inline constexpr int kMostDrawnBits = 6;

/// Law: carrying out the meetings stage by stage in place and then out[i] = wire[wire_of[i]] is the program.
/// Errors: ErrorCode::value for more than kMostDrawnBits bits.
Wiring wiring(const Program& program);

/// One self-contained SVG: wires where there is an operator, the table where the program is one parm. Its
/// title is `name`, or the program's text. An arrow points from a pair's first element to its second; what is
/// wider than a page goes on below. `pass_layers`, the layers of each pass of a plan, says where passes end;
/// it is left out where it counts other layers than the program has.
/// Errors: those of wiring; ErrorCode::value past 4096 meetings.
std::string svg(const Program& program, const std::string& name = {},
                const std::vector<std::size_t>& pass_layers = {});

}  // namespace faro::network
