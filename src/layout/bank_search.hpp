// Searching for XOR layouts, in words of four bytes.
//
// A word of the array in its natural order is W = bank | high << 5. Every layout here leaves `high` and moves
// the word to bank ^ X high: X is a list of columns, one value below 32 for every high bit. Two words of a
// phase meet in one bank iff X maps their *difference* d = W ^ W' so that
//
//     low(d) = X high(d)
//
// so freedom from conflicts is a list of inequalities, one for every difference that occurs, whatever the
// accesses are. Taken by the top bit of d, each says which one value the column of that bit must not have,
// given the columns below: a search with backtracking that finds an X or proves that none exists.
//
//     4 banks, a column of a 4 x 4 array: d = 0100, 1000, 1100   column 0 != 0;  column 1 != 0, != column 0
//
// Where none exists, or the search is cut short, columns are improved one by one from several beginnings.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "faro/layout/placement.hpp"

namespace faro::layout {

inline constexpr int kBankBits = 5;

/// The hardware's phases of an access set, as distinct natural words.
struct WordPhases {
  std::vector<std::uint32_t> words;        // of one phase after the other
  std::vector<std::size_t> ends;           // where each phase ends in `words`
  std::vector<std::uint64_t> repetitions;  // phases that are this one, but for an XOR by a constant
  bool linear = true;                      // every phase is a coset of a subspace
};

/// All phases; those that differ by an XOR with a constant, which no XOR layout tells apart, once.
WordPhases phases_up_to_shift(const SharedArray& array, const AccessSet& set);

/// All phases as they are.
WordPhases all_phases(const SharedArray& array, const AccessSet& set);

struct BankCost {
  std::uint32_t worst = 0;  // the largest congestion
  std::uint64_t turns = 0;  // the sum over all phases

  friend auto operator<=>(const BankCost&, const BankCost&) = default;
};

/// What the phases cost when natural word W lies in bank banks[W]. Stops early, with `worst` past it, where
/// that is more than `worst_allowed`.
BankCost cost_of(std::span<const WordPhases> sets, std::span<const std::uint8_t> banks,
                 std::uint32_t worst_allowed = ~std::uint32_t{0});

enum class XorVerdict { found, impossible, cut_short };

struct XorSearch {
  Xor layout;
  BankCost cost;
  XorVerdict verdict = XorVerdict::cut_short;  // about congestion 1
};

/// The best XOR layout that leaves vectors of `vector_elements` whole. Deterministic.
/// Cost: at most about a second for a full shared memory.
XorSearch search_xor(const SharedArray& array, std::span<const WordPhases> sets, Index vector_elements);

struct CuteSearch {
  CuteSwizzle swizzle;
  BankCost cost;
};

/// The best Swizzle<B,M,S> within a bank row, of equals that of the smallest B, then the largest M, then the
/// smallest S; nothing where the array is a single bank row.
std::optional<CuteSearch> search_cute(const SharedArray& array, std::span<const WordPhases> sets,
                                      Index vector_elements);

/// Whether ranks prove that a linear `placement` (cute, exclusive_or) is free of conflicts for a set whose
/// phases are linear: the banks of a phase's directions are as independent as the directions.
bool ranks_prove_conflict_free(const WordPhases& set, const Placement& placement);

}  // namespace faro::layout
