// The machine a plan is made for: the two facts that each memory level contributes to theorem 1, a segment
// and a capacity, and the few sizes that order the blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faro/kernels/affine_tile_index.hpp"
#include "faro/plan/calibration.hpp"

namespace faro {

/// Most threads a plan may ask for.
inline constexpr int kMaxThreads = 4096;

/// Which engine runs a plan. `automatic` takes the one predicted faster for arrays of the host, which is the
/// CPU: a GPU would have to fetch and return them over its bus.
enum class Engine { automatic, cpu, cuda };

/// "auto", "cpu" or "cuda".
const char* name(Engine engine) noexcept;

struct Target {
  Engine engine = Engine::cpu;
  std::string name;  // the machine in words

  std::uint64_t unit_bytes_max = 16;       // widest element moved as one; wider ones are several units
  std::uint64_t vector_bytes = 64;         // one register; a segment is at least this long
  std::uint64_t segment_bytes_max = 4096;  // longer segments gain nothing
  std::uint64_t tile_bytes_max = 16384;    // capacity: one tile in the fast memory
  std::uint64_t page_bytes = 4096;         // blocks that share pages run one after another
  std::uint64_t page_entries = 2048;       // translations held at once, source and target together
  std::uint64_t streaming_bytes = 0;       // arrays past this bypass the caches when written
  std::uint64_t direct_bytes_max = 512;    // arrays up to this are moved element by element
  int threads = 1;

  int banks = 0;  // shared memory; 0 where there is none
  int bank_bytes = 4;

  // The GPU's. A tile pass takes the first of `tiles` whose width is the unit's and which can hold the map's
  // tile, or the smallest such where the data is small and many blocks matter more than long segments; arrays
  // that are not aligned to 16 bytes take the first such entry with vector_bits 0.
  int device = 0;  // ordinal
  int multiprocessors = 0;
  std::uint64_t small_bytes_max = 0;  // data up to this is small, all arrays together
  std::vector<kernels::CompiledTile> tiles = {};
  /// Instead of all that: a tile kernel to take, or to refuse the plan.
  std::optional<kernels::CompiledTile> tile = {};
  std::optional<Calibration> calibration = {};  // for predicted times; none: not known

  // Of permutations that are not affine (plan/index_plan.hpp).
  std::uint64_t chunk_bytes_max = 0;  // shared memory of a block, or of a core's cache what a chunk may take
  std::shared_ptr<const IndexCalibration> index_calibration = {};  // null: built in, of the engine
};

}  // namespace faro
