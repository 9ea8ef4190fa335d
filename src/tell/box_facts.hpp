// The box of a pass over axes or a strided view, as explanations, JSON and drawings tell of it.
//
//     axes(48 28 28 28 48; 4 3 2 1 0)      box 48 x 2 of 48 x 28 along axes 0 and 1 is the output's run,
//                                          2 x 48 of 28 x 48 along axes 3 and 4 the input's
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/problem/pass.hpp"

namespace faro::detail {

struct BoxFacts {
  struct Axis {
    std::uint64_t extent = 1;
    std::uint64_t box = 1;
    std::int64_t in_bytes = 0;  // from an index to the next
    std::int64_t out_bytes = 0;
    bool in_run = false;
    bool out_run = false;
  };
  std::vector<Axis> axes;  // the output's slowest first
  std::uint64_t unit_bytes = 1;
  std::uint64_t boxes = 1;
  std::uint64_t in_run_bytes = 0;  // that lie together
  std::uint64_t in_rows = 1;
  std::uint64_t out_run_bytes = 0;
  std::uint64_t out_rows = 1;
  std::uint64_t pitch_bytes = 0;  // from a row to the next where the box is put together; 0: nowhere
  bool in_shared_memory = false;  // a GPU's; else a stage in a CPU's caches

  std::uint64_t bytes() const;
};

/// Nothing for passes without one.
std::optional<BoxFacts> box_facts(const Pass& pass);

/// "2 x 48 of 784 x 48 units of 128 bytes, 12 KiB; 7056 boxes", or tiles: what one is called.
std::string box_text(const BoxFacts& box, const char* one = "box", const char* many = "boxes");
/// "reads 8 rows of 1 KiB, writes 8 rows of 1 KiB, 1040 bytes apart in shared memory"
std::string runs_text(const BoxFacts& box);

}  // namespace faro::detail
