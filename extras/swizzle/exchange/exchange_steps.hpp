// Chains of direct exchanges, and the fewest shuffles that a chain takes.
//
// A state says of every byte d of the target, a vector over F2, in which lane it is and where there: rows of
// functionals of d. Planning looks at lanes alone; making a step fills in the places.
#pragma once

#include <random>
#include <vector>

#include "exchange/functionals.hpp"
#include "exchange/program_builder.hpp"
#include "faro/exchange/conversion.hpp"
#include "faro/f2/matrix.hpp"

namespace faro::exchange {

struct ExchangeState {
  Rows byte;  // two, of its place in a word
  Rows word;  // of the number of the word within the family
  Rows lane;
};

/// Ranks of a step from lane rows to others.
struct StepRanks {
  int k = 0;
  int rho = 0;
};
StepRanks step_ranks(int dimension, const Rows& from, const Rows& to);

/// Shuffles of a direct step: `held_bits` = log2 of the bytes that a lane has.
int direct_shuffles(const StepRanks& ranks, int held_bits);

/// The fewest over all chains of linear steps with these ranks of the whole.
int fewest_shuffles(const StepRanks& whole, int held_bits, int lane_bits);

/// Every chain that has the fewest: lane rows after each of its steps. Requires: both of full rank (checked).
std::vector<std::vector<Rows>> cheapest_chains(int dimension, const Rows& from, const Rows& to, int held_bits,
                                               std::mt19937_64& random);

/// What an attempt prefers.
struct Preference {
  bool target_bytes = false;  // places of bytes as the target has them, and not as they are
  bool target_words = false;
  bool shuffled = false;
};

/// Brings the state's bytes to the lanes `to` by one direct exchange of the words in `family`, which becomes
/// the words received. `target`: the state that is wanted in the end, for its places.
Step make_step(ProgramBuilder& builder, ExchangeState& state, std::vector<int>& family, const Rows& to,
               const ExchangeState& target, int dimension, int lane_bits, const Preference& preference,
               std::mt19937_64& random);

}  // namespace faro::exchange
