// The parameters of the kernels of a partition schedule: the chunk of a block, the targets of its runs, and
// the division of its shared memory. They are made on the host and passed by value.
//
//     shared memory   [ the chunk's elements, 16-byte aligned | starts, size: 2 bytes | offsets, 4 bytes ]
//                       0                                       starts_at                  offsets_at
//
// An element of `units` units is moved as so many: 12 bytes as 3 x 4, 64 as 4 x 16.
#pragma once

#include <cstdint>

namespace faro::kernels {

inline constexpr std::uint32_t kSectorBytes = 32;
inline constexpr std::uint32_t kLineBytes = 128;
inline constexpr std::uint32_t kChunkVectorBytes = 16;

struct PartitionParams {
  std::uint64_t count;           // elements of an array
  std::uint64_t chunks;          // blocks of an array
  std::uint32_t chunk_elements;  // of all chunks but the last
  std::uint32_t units;           // of an element
  std::uint32_t vectors;         // 1: arrays are aligned to 16 bytes, and so may chunks be
  std::uint32_t run_skew;        // units that the array of runs lies past a line
  std::uint32_t buckets;         // of a level
  std::int32_t chunk_bits;       // of a level
  std::int32_t region_bits;      // of a level
  std::int32_t bucket_bits;      // of a level: places of a bucket, log2
  std::uint32_t starts_at;
  std::uint32_t offsets_at;
};

/// Shared memory of the starts of a level's runs, and of the chunk's size after them.
constexpr std::uint32_t starts_bytes(std::uint32_t buckets) { return (2 * (buckets + 1) + 15U) & ~15U; }

/// Elements as units.
struct ElementUnits {
  std::uint32_t unit_bytes = 4;  // 1, 2, 4, 8 or 16
  std::uint32_t units = 1;
};

/// The widest units of an element, of at most `widest` bytes, a power of two. Requires: element_bytes > 0.
constexpr ElementUnits units_of_element(std::uint64_t element_bytes, std::uint64_t widest = 16) {
  const std::uint64_t power = element_bytes & (~element_bytes + 1);
  const std::uint64_t unit = power < widest ? power : widest;
  return {.unit_bytes = static_cast<std::uint32_t>(unit),
          .units = static_cast<std::uint32_t>(element_bytes / unit)};
}

/// What a kernel of chunks is compiled for. `unit_bytes`: 1, 2, 4, 8 or 16.
struct IndexUnit {
  int unit_bytes = 4;
  bool single = true;  // elements of one unit
};

/// Which way a pass of a schedule is run: spread, place, scatter; or collect, pick, gather.
enum class Way { forwards, backwards };

/// For passes that keep every chunk to itself: place and pick. The chunk is 2^chunk_bits elements, or a row.
constexpr PartitionParams make_chunk_params(std::uint64_t count, std::uint32_t chunk_elements,
                                            const ElementUnits& element) {
  const std::uint32_t elements_of_vector = kChunkVectorBytes / element.unit_bytes;
  return {.count = count,
          .chunks = (count + chunk_elements - 1) / chunk_elements,
          .chunk_elements = chunk_elements,
          .units = element.units,
          .vectors = element.units == 1 && chunk_elements % elements_of_vector == 0 ? 1U : 0U,
          .run_skew = 0,
          .buckets = 0,
          .chunk_bits = 0,
          .region_bits = 0,
          .bucket_bits = 0,
          .starts_at = 0,
          .offsets_at = 0};
}

/// Shared memory of a block, of a level (buckets > 0) or of a chunk alone.
constexpr std::uint64_t chunk_shared_bytes(const PartitionParams& params, std::uint32_t unit_bytes) {
  const std::uint64_t chunk = std::uint64_t{params.chunk_elements} * params.units * unit_bytes;
  const std::uint64_t data = (chunk + kChunkVectorBytes - 1) & ~std::uint64_t{kChunkVectorBytes - 1};
  if (params.buckets == 0) return data;
  return data + starts_bytes(params.buckets) + 4ULL * params.buckets;
}

/// A kernel of a level is compiled for so many threads of a block and lanes of a run.
struct CompiledPartition {
  int thread_bits = 9;
  int lane_bits = 5;
  int min_blocks = 3;  // a multiprocessor; bounds the registers of a thread

  constexpr int threads() const { return 1 << thread_bits; }
  friend constexpr bool operator==(const CompiledPartition&, const CompiledPartition&) = default;
};

/// Long runs want many lanes, short ones few; a chunk that fills a multiprocessor wants many threads.
inline constexpr CompiledPartition kCompiledPartitions[] = {{9, 5, 3}, {9, 4, 3}, {9, 3, 3}, {10, 4, 1}};
inline constexpr int kCompiledPartitionCount = 4;
inline constexpr int kLargeChunkPartition = 3;
inline constexpr int kManyUnitsPartition = 1;  // for all but the last, where elements have several units
/// Chunks past it are alone on a multiprocessor with 228 KiB of shared memory, or two.
inline constexpr std::uint64_t kLargeChunkBytes = std::uint64_t{76} << 10;

/// The entry that suits runs of so many units on the mean, and blocks of so much shared memory.
constexpr int preferred_partition(std::uint64_t run_units, std::uint32_t unit_bytes,
                                  std::uint64_t shared_bytes) {
  if (shared_bytes > kLargeChunkBytes) return kLargeChunkPartition;
  if (run_units >= 48 || run_units * unit_bytes >= std::uint64_t{2} * kLineBytes) return 0;
  return run_units >= 12 ? 1 : 2;
}

}  // namespace faro::kernels
