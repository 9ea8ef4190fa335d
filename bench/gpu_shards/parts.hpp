// Parts of arrays on a GPU: filled by a formula, and looked at by it. Host-only C++; the kernels are in
// parts.cu.
#pragma once

#include <cstdint>

#include "faro/stream.hpp"

namespace faro::bench::gpu {

/// Where the element comes from that belongs at an index of the output: by an affine map's inverse, or of a
/// transposition of rows x columns.
struct SourceOf {
  bool is_affine = true;
  int bits = 0;
  std::uint64_t column[64] = {};
  std::uint64_t complement = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

/// Queues part[i] = hash(first + i), 4-byte elements.
void fill_part(std::uint32_t* part, std::uint64_t count, std::uint64_t first, Stream stream);

/// Counts into `*wrong`, of the device and zero before, the elements with part[i] other than
/// hash(source(first + i)).
void count_wrong(const std::uint32_t* part, std::uint64_t count, std::uint64_t first, const SourceOf& source,
                 unsigned long long* wrong, Stream stream);

/// The same of an index array's inverse, `from[i]` of the device.
void count_wrong(const std::uint32_t* part, std::uint64_t count, const std::uint32_t* from,
                 unsigned long long* wrong, Stream stream);

}  // namespace faro::bench::gpu
