// How a problem becomes passes, one planner a kind of machine. Plan's constructor has checked the problem and
// counts in units from here on; a planner chooses the passes and how many arrays are taken as one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/access_counts.hpp"
#include "faro/plan/plan.hpp"

namespace faro::detail {

/// `arrays` arrays, at least one, permuted alike by a map of units.
struct Work {
  const Affine& map;
  int unit_bits = 0;  // log2 of a unit's bytes
  std::uint64_t arrays = 1;

  std::uint64_t array_bytes() const { return std::uint64_t{1} << (map.bits() + unit_bits); }
};

struct Planned {
  std::vector<Pass> passes;
  int folded_batch_bits = 0;
};

/// Tiles of any size up to the target's capacity.
Planned plan_for_cpu(const Work& work, const Target& target);

/// Tiles of the target's compiled kernels. Errors: ErrorCode::unsupported for units or index bits that no
/// kernel takes.
Planned plan_for_gpu(const Work& work, const Target& target);

/// The same in place: passes over the same arrays, with Pass::orbits; `offset` set where arrays are left
/// over. Errors: ErrorCode::unsupported where no capacity suffices.
Planned plan_in_place_for_cpu(const Work& work, const Target& target);
Planned plan_in_place_for_gpu(const Work& work, const Target& target);

/// The tile that `kernel` moves when it carries out `map`, which it fits if kernels::fits() says so.
layout::Tile make_compiled_tile(const Affine& map, const kernels::CompiledTile& kernel);

// What both planners need.

int log2_floor(std::uint64_t x);

/// The geometry of a target with banks.
machine::MemoryGeometry geometry_of(const Target& target);

/// log2 of the units of the longest segments, up to kWholeSegmentBytesMax, that change places whole.
int whole_segment_bits(const Work& work);

/// Errors: ErrorCode::unsupported for units wider than a GPU's vectors, and for more of them than the blocks
/// of a kernel reach that gives 2^thread_bits to each.
void require_units(const Work& work, int thread_bits);

/// A pass over 2^map.bits() units, `arrays` times over, with the bytes and segments that it reads and writes
/// filled in.
Pass make_pass(PassKind kind, const Affine& map, int unit_bits, std::uint64_t arrays,
               std::uint64_t segment_bytes);

// What both planners for a CPU need, out of place and in place.

/// How many bits of the batch become index bits: enough that an array reaches a tile's size, or 4 KiB.
int batch_bits_to_fold(const Work& work, const Target& target);

/// log2 of the units of a register, which a segment holds at least.
int vector_bits(const Work& work, const Target& target);

/// The longest segments, of at least `least` bits, whose tile under `map` has at most 2^tile_bits units. A
/// longer segment never has a smaller tile, since dim T = dim(S + A^-1 S) grows with S.
int longest_segment_bits(const Affine& map, int unit_bits, int least, int tile_bits, const Target& target);

/// The largest run of index bits whose rows, read and written, fit the translations held at once.
int near_bits(const Affine& map, int unit_bits, int segment_bits, const Target& target);

}  // namespace faro::detail
