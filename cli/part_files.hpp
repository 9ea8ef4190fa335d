// A rank's part of an array that lies in a file as it does in memory, read and written in runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shard/part_runs.hpp"

namespace faro::cli {

/// Where its runs lie.
struct PartOfFile {
  std::string path;
  std::uint64_t offset = 0;  // of the array
  std::uint64_t element_bytes = 1;
  RankPart part;
  std::vector<std::uint64_t> shape;

  std::uint64_t place_of(const faro::detail::PartRun& run) const {
    return offset + run.index * element_bytes;
  }
};

/// Errors of both: ErrorCode::file.
void read_part(const PartOfFile& part, std::span<std::byte> to);
/// Into a file that is there, and onto the disk.
void write_part(const PartOfFile& part, std::span<const std::byte> from);
/// `error` 0: the file ends too early.
[[noreturn]] void fail_part(const std::string& operation, const std::string& path, int error);

}  // namespace faro::cli
