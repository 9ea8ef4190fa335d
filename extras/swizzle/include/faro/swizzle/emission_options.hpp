// How a sketch with functions in its holes is written as CUDA C++ (faro/swizzle/emission.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/swizzle/program.hpp"

namespace faro::swizzle {

/// Problems as tiles of an image: each computes `rows` x `columns` of its elements. Of an array with more,
/// neighbours overlap.
///
///     conv-2d, 3 x 3 weights      O:   4 x 8  of  height x width
///     rows 4, columns 8           I:  6 x 10  of  (height + 2) x (width + 2)
///     widths {10, 0, 8}           w:  one for all tiles
struct Tiling {
  std::int64_t rows = 1, columns = 1;
  std::vector<std::int64_t> widths;  // by array: elements of a row of it; 0: one array for all tiles
};

struct EmissionOptions {
  std::string name = "kernel";            // of the function; an identifier
  std::string element_type = "uint32_t";  // uint32_t, uint64_t or float
  std::string command = {};               // that writes this text: the comment's first line, as it is
  std::string title = {};                 // the comment's first words; lines are wrapped
  // 0: one problem. Else any number of them, told at launch, `batch` to a block.
  std::uint32_t batch = 0;
  std::optional<Tiling> tiling = {};  // an image, `batch` tiles to a block, or one
  // Instead of a kernel a __device__ function of the lane and the registers, for kernels that load and store
  // by themselves: what stands between the sketch's loads and its stores. Comments say what is where.
  bool device_function = false;
};

}  // namespace faro::swizzle
