// The obvious loops that every engine is held to: one that checks a result and one that is the floor of a
// benchmark.
//
//     for every array b, for every x:   out[b][pi(x)] == in[b][x]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "faro/plan/plan.hpp"

namespace faro {

/// The first element that is not where it belongs.
struct Mismatch {
  std::uint64_t batch_index = 0;
  std::uint64_t source = 0;       // x
  std::uint64_t destination = 0;  // pi(x), where in[x] should be
};

/// "array 0: in[5] is not at out[10]".
std::string to_text(const Mismatch& mismatch);

/// Compares every element's bytes, with pi(x) worked out for each x on its own; nothing is shared with an
/// engine. The first is that of the smallest x, of a gather's index array that of the smallest destination.
/// Requires: `in` and `out` hold total_bytes(problem), of a view what its strides reach (unchecked). Errors:
/// ErrorCode::value for an index array on a device. Cost: one random access an element, and of an affine map
/// about n operations, of axes a division each. threads: 0 is what OpenMP would use.
std::optional<Mismatch> find_mismatch(const Problem& problem, const void* in, const void* out,
                                      int threads = 0);

/// The loop that one writes first: x ascending, reads in order, writes where they fall; of a gather's index
/// array the gather itself, writes in order. pi(x + 1) comes from pi(x) by an XOR or a few additions, so the
/// loop waits for memory and not for arithmetic: a fair floor for a benchmark.
/// Requires: as find_mismatch, and no overlap (unchecked). Errors: as find_mismatch.
void permute_naively(const Problem& problem, const void* in, void* out, int threads = 0);

/// pi(first), pi(first + 1), …, by the same loop. Requires: first + places.size() <= element_count
/// (unchecked). Errors: ErrorCode::value for a gather's index array, which says where elements come from, and
/// for an index array on a device.
void destinations(const Permutation& permutation, std::uint64_t first, std::span<std::uint64_t> places);

}  // namespace faro
