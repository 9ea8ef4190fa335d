// The obvious loops that every engine is held to: one that checks a result and one that is the floor of a
// benchmark.
//
//     for every array b, for every x:   out[b][pi(x)] == in[b][x]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "faro/plan/problem.hpp"

namespace faro {

/// The first element that is not where it belongs.
struct Mismatch {
  std::uint64_t batch_index = 0;
  std::uint64_t source = 0;       // x
  std::uint64_t destination = 0;  // pi(x), where in[x] should be
};

/// "array 0: in[5] is not at out[10]".
std::string to_text(const Mismatch& mismatch);

/// Compares every element's bytes, with pi(x) = A x ^ c worked out for each x on its own; nothing is shared
/// with an engine. Requires: `in` and `out` hold total_bytes(problem) (unchecked). Cost:     one random
/// access and about n operations an element. threads: 0 is what OpenMP would use.
std::optional<Mismatch> find_mismatch(const Problem& problem, const void* in, const void* out,
                                      int threads = 0);

/// The loop that one writes first: x ascending, reads in order, writes where they fall. pi(x + 1) is pi(x)
/// with one word XORed in, so the loop waits for memory and not for arithmetic: a fair floor for a benchmark.
/// Requires: as find_mismatch, and no overlap (unchecked).
void permute_naively(const Problem& problem, const void* in, void* out, int threads = 0);

}  // namespace faro
