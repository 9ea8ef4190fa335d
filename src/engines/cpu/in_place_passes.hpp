// A plan in place, ready to run: its passes one after another over the same memory.
//
// Orbits are led by the smaller number of a tile, and leaders crowd the lower numbers: equal shares of the
// tiles would be unequal work. So threads take turns at short runs of tiles, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "engines/cpu/in_place_program.hpp"
#include "engines/cpu/simple_passes.hpp"
#include "faro/plan/plan.hpp"

namespace faro::cpu {

class InPlacePasses {
 public:
  /// Requires: a plan in place for this engine (checked).
  explicit InPlacePasses(const Plan& plan);

  /// Any alignment. Allocates nothing.
  void run(std::byte* data) const;

 private:
  using Program = std::variant<SegmentOrbits, TileOrbits, DirectProgram>;
  struct PassProgram {
    Program program;
    std::uint64_t offset = 0;  // of the pass's arrays, in bytes
    std::uint64_t bytes = 0;
  };

  std::vector<PassProgram> passes_;
  std::uint64_t streaming_bytes_ = 0;
  int threads_ = 1;
};

}  // namespace faro::cpu
