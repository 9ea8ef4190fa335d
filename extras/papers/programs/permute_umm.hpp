// Any permutation, given ahead of time, on the UMM: passes that move words inside groups of w, and
// transposes.
//
//     n = w^e words as a matrix of R x C, R = w^floor(e/2), C = w^ceil(e/2)
//
//     in rows of C    transpose    in rows of R    transpose back    in rows of C
//     '----------- R x C ------'   '------ C x R ---------------'
//
// Each "in rows" is the same again, down to rows of w. A row of w words is an address group: reading it in
// order and writing it in any order takes one stage each (Lemma 7.1). "In columns" is "in rows" between two
// transposes (Lemma 7.2). Any permutation is in rows, in columns, in rows (Lemma 7.4,
// faro/schedule/row_column.hpp). The transposes are rotating ones, so r registers cost a factor of sqrt(w /
// r) there (Theorem 7.6).
//
// At w = 1 every word is a group, and one pass moves any number of words.
//
// Source: section 7 of Nakano's memory machines paper, Lemmas 7.1 to 7.5, Theorem 7.6.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "programs/permute.hpp"
#include "programs/rotating_transpose.hpp"

namespace faro::programs {

inline constexpr int kScratch = 2;  // a buffer of n words

/// One phase. `kind` tells which function runs it, and which of the parameters are set.
struct UmmPass {
  enum class Kind : std::uint8_t { rows, tiles, exchange };
  Kind kind = Kind::rows;
  MoveParams move = {};          // rows: move_words
  RotatingParams rotating = {};  // tiles: transpose_tiles; exchange: exchange_tiles
};

template <device::Memory Memory>
void run_pass(Memory& memory, const UmmPass& pass, std::uint64_t block, std::uint32_t thread) {
  switch (pass.kind) {
    case UmmPass::Kind::rows:
      return move_words(memory, pass.move, block, thread);
    case UmmPass::Kind::tiles:
      return transpose_tiles(memory, pass.rotating, block, thread);
    case UmmPass::Kind::exchange:
      return exchange_tiles(memory, pass.rotating, block, thread);
  }
}

/// Calls `run` for one pass after another: together b[target[x]] <- a[x] from buffer 0 to buffer 1, with
/// kScratch between; buffer 0 is only read. A pass is valid during the call.
/// Errors: as umm_permute_cost; ErrorCode::value where `target` is no permutation.
void for_each_umm_pass(const machine::MachineOptions& machine, std::span<const std::uint32_t> target,
                       const std::function<void(const UmmPass&)>& run);

// Exact, on the DMM and the UMM. Errors: as check_sizes and rotating_transpose_cost.

/// Lemma 7.1, any permutation inside every row of w words, an `rows` pass: 2 (p/w + l - 1) n/p
Cost row_permute_cost(const machine::MachineOptions& machine, std::uint64_t n);
/// Lemma 7.2, any permutation inside every column of a w x w matrix: in rows, between two transposes.
/// Errors: ErrorCode::value unless n = w^2.
Cost column_permute_cost(const machine::MachineOptions& machine, std::uint64_t n);

/// Exact, on the UMM: the sum over the passes, U(e) = 2 U(ceil(e/2)) + U(floor(e/2)) + X(R, C) + X(C, R),
/// U(1) = 2 (p/w + l - 1) n/p, where X is rotating_transpose_cost.
/// Errors: as check_sizes; ErrorCode::value where n is no power of w, or r and p do not suit the transposes.
Cost umm_permute_cost(const machine::MachineOptions& machine, std::uint64_t n);

}  // namespace faro::programs
