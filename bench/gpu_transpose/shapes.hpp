// The shapes that gpu_transpose_bench measures, all of about the same number of bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "faro/plan/plan.hpp"

namespace faro::bench::gpu {

/// In the order of shape_groups().
inline constexpr std::array<std::string_view, 9> kShapeGroups = {
    "random", "narrow", "odd", "prime", "multiple", "square", "skinny", "widths", "batches"};

struct ShapeGroup {
  std::string name;
  std::vector<Rectangle> shapes;
};

struct ShapeRequest {
  std::uint64_t bytes = 0;
  std::uint64_t random = 0;  // shapes of the first group
  std::uint64_t seed = 0;    // of those
};

/// Random sides from 1000 on, elements of 4 and 8 bytes in turn; always the same 40 with a random side of 32
/// to 999, elements of 1 to 16 bytes in turn, of a quarter of the bytes; odd; prime; one side a multiple of
/// the other; square; a shorter side below 32; elements of other widths, the last with rows that fit no
/// shared memory; batches.
std::vector<ShapeGroup> shape_groups(const ShapeRequest& request);

}  // namespace faro::bench::gpu
