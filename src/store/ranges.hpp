// Chunks that are ranges of one file, whose places a table says.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "store/chunks.hpp"

namespace faro::store {

struct FileRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // 0: there is none
};

/// One for each chunk of the grid of `cells`, in C order. Errors: ErrorCode::file for another number, or
/// ranges that leave the file.
std::shared_ptr<const ChunkStore> chunk_ranges(const std::filesystem::path& path, Shape cells,
                                               std::vector<FileRange> ranges);

/// Chunks that are not coded, one behind another in C order from `offset` on, in a descriptor that stays
/// open.
std::shared_ptr<ChunkStore> tiles_in_file(int descriptor, std::filesystem::path label, const ChunkForm& form,
                                          std::uint64_t offset);

/// Coded chunks, each in a slot from `offset` on that holds the most that one may have: its length, a
/// checksum, its bytes. What nothing was written to is no chunk, and takes no room on the disk.
std::shared_ptr<ChunkStore> slots_in_file(int descriptor, std::filesystem::path label, const ChunkForm& form,
                                          std::uint64_t offset);
/// Of all chunks.
std::uint64_t slots_bytes(const ChunkForm& form);

}  // namespace faro::store
