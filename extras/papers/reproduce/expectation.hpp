// Mean congestions that can be computed without chance: what estimates are held against where a paper gives
// no figure.
//
//     3 requests to 3 banks, each bank drawn alone       27 ways: 6 take one turn, 18 two, 3 three
//     mean_turns_of_shifts(3)                            51/27
//
// E[max] is the sum over m of P(max > m), and P(max <= m) is a sum over how many requests the first bank
// gets, the second, and so on.   Cost of each: milliseconds at w = 256.
#pragma once

#include <cstdint>

namespace faro::reproduce {

/// Turns of w requests, each in a bank drawn by itself: RAS under stride, and every access of rows that are
/// shifted independently.
double mean_turns_of_shifts(std::uint64_t w);

/// Turns of w requests for any of `rows` x w words, drawn one by one; equal ones are served together.
double mean_turns_of_requests(std::uint64_t w, std::uint64_t rows);

/// Turns of w requests for different words of `rows` x w, as a warp of a random permutation makes them.
double mean_turns_of_places(std::uint64_t w, std::uint64_t rows);

/// Turns of w requests in groups of `group`, the last perhaps smaller, each group in one of `banks` drawn by
/// itself.
double mean_turns_of_groups(std::uint64_t w, std::uint64_t group, std::uint64_t banks);

/// Of R1P's own attack: groups of six requests in the bank r_a + r_b + r_c, where all a, b, c are different
/// and r is a permutation. Two groups meet exactly as often as two such sums are equal, which is less often
/// than in w banks; beyond pairs, groups are taken for independent. Off by less than 0.01 at w = 16 and
/// above.
double mean_turns_of_six_orders(std::uint64_t w);

}  // namespace faro::reproduce
