// What the tests of the CPU engine in place share: a case in an array between guard zones, held to the
// oracle, and the list of what a plan reaches.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "engine_support.hpp"
#include "engines/cpu/in_place/program.hpp"
#include "oracle.hpp"

namespace faro::testing {

// What a plan reaches: "segments streamed", "tile 16/4 exchange 2 cached", "orbits of 3", ….
inline void note(const Plan& plan, std::size_t offset, Reached& reached) {
  const std::uint64_t unit = plan.unit_bytes();
  int main_passes = 0;
  for (const Pass& pass : plan.passes()) {
    const bool large = pass.bytes_read > plan.target().streaming_bytes;
    const bool streamed = large && (offset + pass.offset) % kAlignment == 0;
    const std::string stores = streamed ? " streamed" : " cached";
    if (pass.offset == 0) ++main_passes;
    if (pass.kind == PassKind::direct) {
      reached.insert(pass.offset == 0 ? "direct" : "tail");
      continue;
    }
    reached.insert(name(pass.kind) + stores);
    reached.insert(std::string(name(pass.kind)) + " in orbits of " +
                   std::to_string(pass.orbits->orbit_tiles));
    if (pass.orbits->orbit_tiles > 2) reached.insert(std::string(name(pass.kind)) + " in long orbits");
    if (pass.arrays > 1) reached.insert("several arrays");
    if (large && !streamed) reached.insert("misaligned");
    if (pass.kind == PassKind::tile) {
      const std::uint64_t vector = cpu::in_place_vector_bytes(unit, plan.target().vector_bytes);
      const cpu::TileOrbits program(pass, unit, vector);
      reached.insert(
          tile_kernel_name(cpu::register_bytes(program.tile), unit, program.tile.exchange_bits, streamed));
      if (program.tile.rows * program.tile.row_bytes > plan.target().tile_bytes_max)
        reached.insert("one large tile");
    }
  }
  reached.insert(std::to_string(main_passes) + " passes");
}

inline std::string words(const EngineCase& c) { return describe(c) + "\n  in place"; }

// Runs a case, placed at out_offset, and holds it to the oracle.
inline void check_in_place(EngineCase c, Reached* reached = nullptr) {
  c.problem.placement = Placement::in_place;
  const Plan plan(c.problem, c.target);
  const cpu::Executor executor(plan);
  Arrays arrays(plan.array_bytes(), 0, c.out_offset, c.seed);
  std::copy_n(arrays.in(), arrays.bytes(), arrays.out());
  executor.run_in_place(arrays.out());
  if (const auto wrong = find_mismatch(c.problem, arrays.in(), arrays.out(), 1)) {
    ADD_FAILURE() << to_text(*wrong) << "\n  " << words(c);
  }
  if (!arrays.guards_intact()) ADD_FAILURE() << "written outside the array\n  " << words(c);
  if (reached != nullptr) note(plan, c.out_offset, *reached);
}

}  // namespace faro::testing
