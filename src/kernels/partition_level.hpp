// The parameters of a level of a partition schedule. Host only.
#pragma once

#include <cstdint>

#include "faro/schedule/index_schedule.hpp"
#include "kernels/partition_params.hpp"

namespace faro::kernels {

/// The parameters of a level. Requires: a checked shape.
inline PartitionParams make_level_params(const schedule::PartitionShape& shape, int level,
                                         const ElementUnits& element) {
  PartitionParams params =
      make_chunk_params(shape.count, static_cast<std::uint32_t>(shape.chunk_elements()), element);
  const std::uint64_t chunk_bytes = shape.chunk_elements() * element.units * element.unit_bytes;
  params.buckets = shape.buckets(level);
  params.chunk_bits = shape.chunk_bits;
  params.region_bits = shape.region_bits(level);
  params.bucket_bits = shape.region_bits(level + 1);
  // Past 32 bits no shared memory holds it, and these are not used.
  params.starts_at = static_cast<std::uint32_t>((chunk_bytes + kChunkVectorBytes - 1) &
                                                ~std::uint64_t{kChunkVectorBytes - 1});
  params.offsets_at = params.starts_at + starts_bytes(params.buckets);
  return params;
}

}  // namespace faro::kernels
