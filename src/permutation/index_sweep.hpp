// Sweeps over an index array of the host: held against a candidate, or measured for its locality.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro::detail {

/// The first i with entries[i] != candidate(i). `candidate` is no Indexed, on as many elements.
/// Cost: one read of the array by `threads` threads, up to what differs.
template <typename Word>
std::optional<std::uint64_t> first_mismatch(std::span<const Word> entries, const Permutation& candidate,
                                            int threads);

/// As IndexReader has them. `candidate` is an Affine, Cyclic or Modular.   Cost: one read of the array, at
/// most.
template <typename Word>
std::optional<std::vector<std::uint64_t>> mismatches(std::span<const Word> entries,
                                                     const Permutation& candidate, std::uint64_t most,
                                                     int threads);
template <typename Word>
std::optional<std::uint64_t> repeat_mismatch(std::span<const Word> entries, std::uint64_t block, int threads);
template <typename Word>
std::uint64_t together(std::span<const Word> entries, int threads);

/// As IndexReader::locality.
template <typename Word>
Locality locality_of(std::span<const Word> entries, std::uint64_t max_runs, std::uint64_t max_displacement,
                     int threads);

}  // namespace faro::detail
