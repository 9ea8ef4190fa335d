// Recognises what an index array is: finds the cheapest form of the same permutation by a few probes and
// proves it by a sweep.
//
//     identity                     P[i] = i
//     affine over F2               n + 1 probes fix the only candidate
//     cyclic shift, reversal       one probe each
//     permutation of axes          strides probed at the divisors of the count: the shape is found, not given
//     contiguous runs              counted: few runs are moved as runs
//     small displacement           measured: what moves less than a window, and less than a quarter of the
//                                  array, stays in a tile
//
// in that order. Each candidate is held against every entry, by all threads, until the first that differs; so
// one changed entry is enough to be refused, and a refusal is usually cheap. Runs and displacement come from
// one sweep, which stops when both are hopeless.
//
// The search is written over an IndexReader, so that an array in a device's memory is recognised there
// (engines/cuda_index.hpp) by the same rules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro {

enum class Family { identity, affine, cyclic, axes, runs, window, general };
/// "identity", "affine", ….
const char* name(Family family) noexcept;

/// What was tried, for explain().
struct Finding {
  Family family = Family::general;
  bool holds = false;
  std::string why;  // "P[5] = 9, not 7 as strides 3 1 would have it"
};

struct Locality {
  std::uint64_t runs = 0;          // maximal runs P[i + 1] = P[i] + 1; more than asked for: not counted on
  std::uint64_t displacement = 0;  // largest |P[i] - i|; likewise
};

struct Recognition {
  Family family = Family::general;
  /// What says the same: an Affine (family affine, and an identity of 2^n elements), a Cyclic (cyclic, and
  /// any other identity) or an Axes, with the direction worked in; or the Indexed that was given.
  Permutation permutation;
  /// Where they were counted (families runs, window, general) and are within RecogniseLimits.
  std::optional<std::uint64_t> runs;
  std::optional<std::uint64_t> displacement;
  std::vector<Finding> findings;  // in the order tried; only the last one holds
};

/// An index array, wherever it is.
class IndexReader {
 public:
  virtual ~IndexReader() = default;
  virtual std::uint64_t count() const = 0;
  /// Entries at these positions, each below count().
  virtual std::vector<std::uint64_t> at(std::span<const std::uint64_t> positions) = 0;
  /// The first position whose entry is not candidate(position), or nothing; any position that differs will do
  /// if it is cheaper. `candidate` is an Affine, Cyclic or Axes on count() elements.
  virtual std::optional<std::uint64_t> mismatch(const Permutation& candidate) = 0;
  /// Stops early, with whatever it has, once runs and displacement are both past these.
  virtual Locality locality(std::uint64_t max_runs, std::uint64_t max_displacement) = 0;
};

struct RecogniseLimits {
  std::uint64_t run_elements = 16;       // family runs: at least so many elements a run, on the mean
  std::uint64_t displacement = 1 << 13;  // family window: everything moves less, and less than count / 4
};

/// Errors: none for a permutation; entries that are none give family general.   Cost: a sweep of the array
/// for each family that survives its probes, at most two or three as a rule.
Recognition recognise(IndexReader& reader, const Indexed& indexed, const RecogniseLimits& limits = {});

/// Of an array of the host. `threads` 0: what OpenMP would use. Errors: ErrorCode::value for an array on a
/// device.
Recognition recognise(const Indexed& indexed, int threads = 0, const RecogniseLimits& limits = {});

}  // namespace faro
