// What blocks of a group read to find their array (group.hpp, group_values.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace faro::kernels {

struct RaggedBox;  // axes_ragged_box.hpp

/// What one block, or one warp, has to do.
struct alignas(32) GroupBlock {
  std::int64_t in_offset = 0;  // bytes from the member's address to the one that the kernel counts from
  std::int64_t out_offset = 0;
  std::uint32_t member = 0;
  std::uint32_t block =
      0;  // among those of its array; of elements the warp, of boxes GroupTable::boxes' first
  std::uint32_t params = 0;  // where its parameters lie, in units of kGroupParamsBytes
  std::uint8_t kind = 0;     // within the family
  std::uint8_t count = 1;    // of boxes, one after another
  std::uint16_t held = 0;    // of its parameters in shared memory, in such units; 0: none are
};
static_assert(sizeof(GroupBlock) == 32);

inline constexpr std::size_t kGroupParamsBytes = 16;

/// Where the arrays of a launch lie.
struct GroupTable {
  const std::byte* const* addresses = nullptr;  // of all inputs, then of all outputs
  std::uint64_t members = 0;
  std::uint64_t count = 0;           // of entries
  std::uint32_t held_bytes = 0;      // of shared memory, for parameters
  const RaggedBox* boxes = nullptr;  // where the boxes of a launch are

  constexpr const std::byte* in(const GroupBlock& of) const { return addresses[of.member] + of.in_offset; }
  constexpr std::byte* out(const GroupBlock& of) const {
    return const_cast<std::byte*>(addresses[members + of.member]) + of.out_offset;
  }
};

template <typename Params>
constexpr const Params& group_params(const std::byte* params, const GroupBlock& of) {
  return *reinterpret_cast<const Params*>(params + std::size_t{of.params} * kGroupParamsBytes);
}

}  // namespace faro::kernels
