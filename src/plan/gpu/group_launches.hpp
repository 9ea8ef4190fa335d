// Many arrays as few launches (kernels/group.hpp): which kernel each array takes, and the table by which
// blocks find their array. Host only; the engine uploads the table and launches.
//
//     problem    --group_passes()-->    the passes of a plan of it alone, by kernels that groups have
//     arrays, each with its passes and where it lies    --make_group_launches()-->    launches and one table
//
// Axes, flips, rolls and views go by planes, stretches and boxes, as a plan's would, where they are large,
// and by elements where they are small, rows that stay as vectors, affine maps by their tiles. What is large
// alone and what is large together differ: an array of a megabyte is moved element by element if nothing else
// is, for the caches hold it; among a thousand of them it comes from memory, as a box. What is left, index
// arrays and multiplications and what is in place, has launches of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "faro/problem/problem.hpp"
#include "faro/problem/target.hpp"
#include "kernels/group.hpp"
#include "kernels/value_arrays.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::detail {

/// The passes of a problem, each from the input to the output, whose kernels are all of those that groups
/// have; empty where nothing moves, nothing where there are none. Errors: those of Plan. Cost: up to a
/// millisecond.
std::optional<std::vector<GpuPass>> group_passes(const Problem& problem, const Target& target);

using kernels::GroupFamily;

/// An array whose numbers are changed: its boxes, as the engine has made them.
struct GroupValuesWork {
  std::size_t changes = 0;  // GroupFamily::changes
  kernels::ValueArrays arrays;
  std::uint64_t boxes = 0;
  std::uint64_t shared_bytes = 0;
};

/// An array of a group: by a part of a problem's passes, from addresses that are known but for whole
/// multiples of kGroupAlignment.
struct GroupArray {
  const std::vector<GpuPass>* passes = nullptr;
  const GroupValuesWork* values = nullptr;  // instead, aligned as this was made for
  std::uint32_t member = 0;                 // whose addresses it counts from
  std::uint64_t in_past = 0;                // how far it lies past such a multiple
  std::uint64_t out_past = 0;
  std::int64_t in_offset_bytes = 0;  // from the member's address; not part of what it lies past
  std::int64_t out_offset_bytes = 0;
};
inline constexpr std::uint64_t kGroupAlignment = 32;

struct GroupLaunch {
  GroupFamily family;
  int threads = 0;
  std::uint64_t shared_bytes = 0;
  std::uint32_t held_bytes = 0;             // of these, for parameters
  std::vector<std::byte> constant = {};     // parameters of all blocks, where the family has them so
  std::vector<kernels::GroupBlock> blocks;  // entries
  std::vector<kernels::RaggedBox> boxes = {};
  std::uint64_t entries_of_block = 1;
  std::uint64_t grid = 0;  // blocks of the launch
  std::size_t arrays = 0;
};
/// Where there are more blocks, boxes of an array share one.
inline constexpr std::uint64_t kEnoughGroupBlocks = 2560;

struct GroupLaunches {
  std::vector<GroupLaunch> launches;
  std::vector<std::byte> params;  // of all, each at a multiple of kernels::kGroupParamsBytes
};

/// Errors: ErrorCode::value for an array that is not aligned to its units, naming the member;
/// ErrorCode::unsupported for more blocks than a launch may have. Cost: linear in blocks and arrays.
GroupLaunches make_group_launches(std::span<const GroupArray> arrays,
                                  std::uint64_t enough_blocks = kEnoughGroupBlocks);

/// Moves what params say by how far arrays begin past the addresses that kernels count from: those rounded
/// down to a multiple. Gives what is taken off the addresses.
struct ArraySkews {
  std::uint32_t in = 0;
  std::uint32_t out = 0;
};
ArraySkews skew_params(GpuKernel& kernel, std::uint64_t in_past, std::uint64_t out_past);

}  // namespace faro::detail
