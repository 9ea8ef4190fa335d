// What a family of arrays is (faro/family.hpp): axes in another order, of extents that are fixed or come with
// each call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace faro {

/// An extent of a family's input.
struct FamilyExtent {
  std::uint64_t most = 1;  // of a fixed one: itself
  bool is_free = false;

  friend bool operator==(const FamilyExtent&, const FamilyExtent&) = default;
};
constexpr FamilyExtent exactly(std::uint64_t extent) { return {.most = extent, .is_free = false}; }
constexpr FamilyExtent up_to(std::uint64_t most) { return {.most = most, .is_free = true}; }

/// What all arrays of a family have in common. Axis a of the input is flipped, then rolled, and becomes the
/// output's axis p where order[p] = a:
///
///     out[… i_order[p] …] = in[… j_a …]      i_a = (flipped ? n_a - 1 - j_a : j_a) + shift_a  mod n_a
struct FamilyMap {
  std::vector<FamilyExtent> extents;      // of the input, slowest axis first; at most 16
  std::vector<int> order = {};            // as numpy.transpose; empty: as they are
  std::vector<int> flipped = {};          // axes of the input
  std::vector<std::int64_t> shifts = {};  // of the input's axes; empty: none
  /// In elements, of the input's axes and of the output's; empty: those of a dense array of the call's
  /// extents. An array begins at the lowest element that its strides reach. In the output no two elements may
  /// meet.
  std::vector<std::int64_t> in_strides = {};
  std::vector<std::int64_t> out_strides = {};
  std::uint64_t element_bytes = 0;

  friend bool operator==(const FamilyMap&, const FamilyMap&) = default;
};

/// Strides of one call's arrays instead of the family's, in elements; empty: the family's.
struct FamilyStrides {
  std::span<const std::int64_t> in = {};
  std::span<const std::int64_t> out = {};
};

/// The extents of a call in a device's memory, one behind the other, signed, of 4 or 8 bytes and aligned to
/// it.
struct DeviceExtents {
  const void* data = nullptr;
  int bytes = 8;  // of each
};

}  // namespace faro
