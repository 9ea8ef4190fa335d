// Runs on their way from a stage to the output, while others are turned (plane_transpose.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cpu/values/value_arguments.hpp"

namespace faro::cpu {

/// Numbers that are changed in registers on their way from a stage to an output of another width, perhaps.
struct ChangedRuns {
  const ValueProgram* program = nullptr;  // null: bytes are written as they are
  ValueRun first = {};                    // where number 0 is written, its addend, and a factor for all
  std::byte* origin = nullptr;            // number 0 in an output of numbers of the stage's width
  // The runs after those that are written, of whose addend the lines are fetched meanwhile.
  const std::int64_t* next_places = nullptr;
  std::int64_t next_first = 0;  // bytes from the origin
  std::uint64_t next_count = 0;
};

/// Runs of `bytes` each that go from a stage to the output, some lines at a time; what is no whole line of
/// the output goes through the caches.
struct RunTraffic {
  struct Run {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
  };
  // Where each run lies in the stage and in the output: tables that are there anyhow, for stores of
  // other things stand in line with the streamed ones.
  Run base;
  const std::int64_t* from_places = nullptr;
  const std::int64_t* to_places = nullptr;
  std::uint64_t count = 0;  // runs
  std::uint64_t bytes = 0;  // of each
  std::uint64_t next = 0;   // the run after the one that is under way
  Run at;
  std::uint64_t left = 0;  // bytes of that
  std::int64_t due = 0;    // lines that may be written; short and changed runs are written as a whole
  ChangedRuns changed;

  Run run(std::uint64_t number) const {
    return {base.from + from_places[number], base.to + to_places[number]};
  }
};

}  // namespace faro::cpu
