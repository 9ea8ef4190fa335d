// Plan files as bytes: what is written, and what is read from anywhere that has bytes.
//
//     header   80 bytes: magic, version, kind, direction, count, fingerprint, sizes
//     arrays   those of the kind, each filled up with zeros to a multiple of 8 bytes
//     8 bytes  XXH3 of all that is in front of them
//
// The header says how long the file is. docs/guide/plan-files.md has every field.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "faro/schedule/index_schedule.hpp"

namespace faro::schedule {

inline constexpr std::array<char, 8> kPlanMagic{'\x89', 'f', 'a', 'r', 'o', 'P', '\r', '\n'};
inline constexpr std::uint32_t kPlanVersion = 1;
inline constexpr std::uint32_t kPlanVersionOfBlocks =
    2;  // with blocks in the place of the last 16 level bits
inline constexpr std::uint64_t kPlanHeaderBytes = 80;
inline constexpr std::uint64_t kPlanChecksumBytes = 8;

enum class PlanKind : std::uint8_t { direct, window, runs, partition, row_column };

struct PlanHeader {
  PlanKind kind = PlanKind::direct;
  Direction applied = Direction::scatter;
  std::uint64_t count = 0;
  std::uint64_t fingerprint = 0;
  // direct: bytes of an entry; window: window; runs: runs; partition: chunk bits, levels; row_column: rows,
  // columns.
  std::array<std::uint64_t, 2> sizes{};
  std::array<std::uint8_t, 32> level_bits{};
  Blocks blocks = {};
};

/// What the header of a schedule's file says. Errors: ErrorCode::value for an index array on a device.
PlanHeader header_of(const IndexSchedule& schedule);

std::array<std::byte, kPlanHeaderBytes> to_bytes(const PlanHeader& header);

/// Errors: ErrorCode::file for another magic or version, and for sizes that no schedule has. `name` is the
/// file's, for messages.
PlanHeader parse_plan_header(std::span<const std::byte, kPlanHeaderBytes> bytes, const std::string& name);

/// Bytes of the file's arrays, in its order, without what fills them up. Never more than 2^62 in all.
/// Requires: a header that was parsed or made (unchecked).
std::vector<std::uint64_t> array_bytes(const PlanHeader& header);

/// Bytes of the whole file.
std::uint64_t file_bytes(const PlanHeader& header);

constexpr std::uint64_t padding_of(std::uint64_t bytes) { return -bytes % 8; }

/// Bytes read from the first to the last.
class PlanSource {
 public:
  virtual ~PlanSource() = default;
  /// Bytes of the whole.
  virtual std::uint64_t size() const = 0;
  /// The next bytes. Requires: that there are so many.
  virtual void read(std::span<std::byte> to) = 0;
};

/// Reads and checks a whole plan file. Errors: as load().
IndexSchedule read_plan(PlanSource& source, const std::string& name);

}  // namespace faro::schedule
