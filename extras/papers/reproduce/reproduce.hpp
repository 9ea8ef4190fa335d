// The figures of five papers, computed again: for every table and drawing, what is printed there and what
// comes out here, side by side.
//
//     reproduce("rap-figure3")
//
//     case       quantity          paper  here  unit        agrees
//     W(0)       stages                2     2  stages      yes
//     W(1)       stages                1     1  stages      yes
//     together   time                  7     7  time units  yes
//
// Nothing is stored but what the papers print: every `here` is computed in the call. Under `paper` stands
// what the paper's own text or table has. Where it has no figure and ours can be predicted otherwise than by
// doing it (by hand, by a formula, by an exact expectation), the prediction stands under `model`. What is
// certain is counted over every case; what depends on random numbers is estimated, and then its standard
// error stands beside it and decides. A row agrees by the criterion that it names, or cannot tell (nothing in
// `agrees`): where it depends on hardware, or where there is nothing to compare. Where a paper errs, a note
// says so.
//
// Law: the same name, seed, trials and width give the same table on every machine and for every number of
// threads, but for times. Those of bmmc-... are of a GPU, and without one a note says why there are none;
// those of swizzle-table1 are of searches on this machine.
//
// Source: Bouverot-Dupuis and Sheeran, "Efficient GPU implementation of affine index permutations on arrays"
// (bmmc-...), Kasagi, Nakano, Ito, "An implementation of conflict-free offline permutation on the GPU"
// (offline-...), Nakano, "Simple memory machine models for GPUs" (dmm-umm-...), and Nakano, Matsumae, Ito,
// "Random address permute-shift technique for the shared memory on GPUs" (rap-...), and Phothilimthana et
// al., "Swizzle Inventor: data movement synthesis for GPU kernels" (swizzle-...). docs/guide/reproduce.md has
// the tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reproduce/table.hpp"

namespace faro::reproduce {

/// What can be reproduced, in the papers' order.
std::span<const std::string_view> names();

/// The widths that a table can be computed for, other than the paper's; none for most.
/// Errors: ErrorCode::value for an unknown name.
std::span<const std::uint64_t> widths(std::string_view name);

/// Rows that do not agree.
std::uint64_t disagreements(const Table& table);

/// Computes a table.
/// Errors: ErrorCode::value for an unknown name, and for trials other than 0 outside kLeastTrials ..
/// kMostTrials, and a width other than 0 that is none of widths(name); ErrorCode::device for a GPU that is
/// there and fails, ErrorCode::verification where a kernel on it errs.   Cost: up to about 10 s on one core;
/// estimates use every thread of OpenMP. With a GPU, and for swizzle-table1, a minute or two.
Table reproduce(std::string_view name, const Options& options = {});

/// For people: the rows in columns, the criteria, the notes.
std::string to_text(const Table& table);

}  // namespace faro::reproduce
