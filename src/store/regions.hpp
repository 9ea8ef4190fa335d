// Which way a relayout takes, and in which regions: theorem 6 over chunk grids.
//
//     input's chunks     |----|----|----|----|          smallest interval that both grids cut: 6, if it fits
//     output's chunks    |------|------|---|            the memory along all axes, each chunk is decoded once
//     regions            |-----------|-----|            else some chunks are decoded for several regions, or:
//
//     distribution       input -> scratch -> output     two reads, two writes, each chunk decoded once
//
// Both are counted, in bytes of a plain copy that would take as long, and the cheaper one is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/box.hpp"
#include "store/sides.hpp"
#include "store/sweep.hpp"

namespace faro::store {

/// The regions of one sweep: of the output's index space.
struct Regions {
  Shape extents;
  Cost cost = 0;
  std::uint64_t bytes = 0;  // of the memory for a region
};

/// A distribution's.
struct ScratchRegions {
  Shape written;
  Shape read;
};

/// How it is done.
struct Way {
  Regions direct;  // of the sweep, where there is no scratch space
  std::optional<ScratchRegions> scratch;
  int threads = 1;
  Cost cost = 0;
  std::uint64_t memory_bytes = 0;  // of all buffers
};

/// What is to be laid out anew.
struct Relaid {
  const Source& source;
  const Sink& sink;
  Shape shape;  // of the output
  AxisChoice axes;
  std::uint64_t element_bytes = 1;  // of the output
};

/// Errors: ErrorCode::value, with `operation`, for memory that does not hold a chunk of each side.
Way choose_way(const Relaid& work, std::uint64_t memory_bytes, int threads, const std::string& operation);

}  // namespace faro::store
