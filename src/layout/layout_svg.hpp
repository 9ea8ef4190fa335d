// A layout's picture: an array in shared memory, every element in the colour of the bank that holds it,
// before and after.
//
//     4 x 4 elements of 4 bytes, 4 banks     natural order   XOR of the row
//                                            0 1 2 3         0 1 2 3
//     outlined: the lanes of one phase       0 1 2 3         1 0 3 2
//     of each access                         0 1 2 3         2 3 0 1
//                                            0 1 2 3         3 2 1 0
//
// Elements stand where the kernel's author sees them, row i and column j; only colours and numbers change.
// Below each picture stand the banks that the lanes of each access ask for in one phase, the worst one in
// natural order, and in how many turns they are served: counted from the addresses, not taken from a rule.
#pragma once

#include <string>

#include "faro/layout/advice.hpp"

namespace faro::layout {

/// So much of a larger array is drawn, from its first row and column on.
inline constexpr Index kMostDrawnRows = 32;
inline constexpr Index kMostDrawnColumns = 64;

/// One self-contained SVG of the natural order and the chosen layout. Law: each cell's bank is that of
/// Placement::operator(), and its turns are the congestion of that phase. Cost: of counting the accesses
/// once.
std::string layout_svg(const Advice& advice);

}  // namespace faro::layout
