// Where Zarr keeps the bytes of chunks: a file each, or many in a shard.
//
//     key        v3 "c/0/4/1" or "c.0.4.1"        v2 "0.4.1" or "0/4/1"
//     shard      | chunk | chunk | … | index |     index: offset and length of each, 2^64-1 twice for none, and a
//                                                  checksum; at the shard's end or its begin
//     shards within shards                         a chunk of a shard is one itself (nested_shards.hpp)
#pragma once

#include <filesystem>
#include <memory>

#include "store/chunks.hpp"

namespace faro::store {

/// How the places in a grid become names of files.
struct ChunkKeys {
  bool has_prefix = true;  // "c" before all
  char separator = '/';

  std::string key(const Shape& index) const;
};

std::shared_ptr<ChunkStore> chunk_files(const std::filesystem::path& folder, ChunkKeys keys);

/// What a shard holds.
struct ShardLevel {
  Shape chunk;
  bool index_at_end = true;
  bool index_has_checksum = true;
  ByteOrder index_order = ByteOrder::little;
};

/// That a shard may have.
inline constexpr std::uint64_t kMostChunksOfShard = std::uint64_t{1} << 24;

struct ShardForm {
  Shape shape;                     // of the array
  Shape shard;                     // a file's; of multiples of the chunks within
  std::vector<ShardLevel> levels;  // outermost first; the last one's chunks are the array's

  const Shape& chunk() const { return levels.back().chunk; }
};

/// Offset and length of each chunk of a shard, in C order.
using ShardIndex = std::vector<std::uint64_t>;
/// Both, of a chunk that is not there.
inline constexpr std::uint64_t kNoChunk = ~std::uint64_t{0};
/// As it is stored; and how many bytes that are.
Bytes stored_index(const ShardLevel& level, const ShardIndex& index);
std::uint64_t bytes_of_index(const ShardLevel& level, std::uint64_t chunks);

/// Reads chunks of the last level by their places among all; what is written or left out by its place is a
/// chunk of the first one.
std::shared_ptr<ChunkStore> shard_files(const std::filesystem::path& folder, ChunkKeys keys, ShardForm form);

}  // namespace faro::store
