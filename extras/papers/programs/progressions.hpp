// The stages of a warp access that consists of a few arithmetic progressions of addresses.
//
//     w = 6, addresses 0 4 8 12 | 1 5: two progressions of step 4
//
//     DMM    gcd(4, 6) = 2: step 4 visits 3 banks in turn: 0 4 2 0 | 1 5      most in one bank: 2 stages
//     UMM    a step of at most w leaves no group out: 0 .. 2 | 0              three groups: 3 stages
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "faro/machine/machine_options.hpp"

namespace faro::programs {

/// first, first + step, …: `count` addresses.
struct Progression {
  std::uint64_t first = 0;
  std::uint64_t step = 0;
  std::uint64_t count = 0;

  std::uint64_t last() const { return first + (count - 1) * step; }
};

class ProgressionStages {
 public:
  /// The stages of the DMM, or for another kind of the UMM.
  ProgressionStages(machine::MachineKind kind, std::uint64_t width);

  /// Requires: all addresses of all progressions differ, no progression is empty (unchecked).
  std::uint64_t operator()(std::span<const Progression> progressions);

 private:
  std::uint64_t banks(std::span<const Progression> progressions);
  std::uint64_t groups(std::span<const Progression> progressions);

  machine::MachineKind kind_;
  std::uint64_t width_;
  std::vector<std::uint64_t> in_bank_;
  struct Groups {
    std::uint64_t first;
    std::uint64_t last;
  };
  std::vector<Groups> intervals_;
};

}  // namespace faro::programs
