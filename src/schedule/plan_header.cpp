#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "faro/error.hpp"
#include "schedule/host_entries.hpp"
#include "schedule/plan_file.hpp"

namespace faro::schedule {
namespace {

static_assert(std::endian::native == std::endian::little, "plan files are little-endian");

constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kKindAt = 12;
constexpr std::size_t kAppliedAt = 13;
constexpr std::size_t kReservedAt = 14;
constexpr std::size_t kCountAt = 16;
constexpr std::size_t kFingerprintAt = 24;
constexpr std::size_t kSizesAt = 32;
constexpr std::size_t kLevelsAt = 48;
constexpr std::size_t kRepeatsAt = 64;  // of version 2, which has half as many levels
constexpr std::size_t kTogetherAt = 72;
constexpr std::size_t kLevelsOfBlocks = 16;

template <typename T>
void put(std::span<std::byte> bytes, std::size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

template <typename T>
T get(std::span<const std::byte> bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

PartitionShape shape_of(const PlanHeader& header) {
  PartitionShape shape{
      .count = header.count, .chunk_bits = static_cast<int>(header.sizes[0]), .level_bits = {}};
  shape.level_bits.assign(header.level_bits.begin(),
                          header.level_bits.begin() + static_cast<std::ptrdiff_t>(header.sizes[1]));
  return shape;
}

void fill_sizes(const DirectSchedule& direct, PlanHeader& header) {
  require_host(direct.indexed, "save a schedule");
  header.sizes[0] = direct.indexed.entries64().empty() ? 4 : 8;
}
void fill_sizes(const WindowSchedule& window, PlanHeader& header) { header.sizes[0] = window.window; }
void fill_sizes(const RunsSchedule& runs, PlanHeader& header) { header.sizes[0] = runs.target.size(); }
void fill_sizes(const PartitionSchedule& partition, PlanHeader& header) {
  const std::vector<int>& levels = partition.shape.level_bits;
  FARO_CHECK(levels.size() <= header.level_bits.size());
  header.sizes = {static_cast<std::uint64_t>(partition.shape.chunk_bits), levels.size()};
  std::transform(levels.begin(), levels.end(), header.level_bits.begin(),
                 [](int bits) { return static_cast<std::uint8_t>(bits); });
}
void fill_sizes(const RowColumnSchedule& lists, PlanHeader& header) {
  header.sizes = {lists.rows, lists.columns};
}

// Whether a schedule can have these sizes; says nothing of its arrays.
bool are_sizes(const PlanHeader& header) {
  const std::uint64_t a = header.sizes[0];
  const std::uint64_t b = header.sizes[1];
  switch (header.kind) {
    case PlanKind::direct:
      return (a == 4 || a == 8) && b == 0;
    case PlanKind::window:
      return a <= std::numeric_limits<std::int16_t>::max() && b == 0;
    case PlanKind::runs:
      return a <= header.count && b == 0;
    case PlanKind::partition:
      if (a > std::uint64_t{kMaxSoleChunkBits} || b > header.level_bits.size()) return false;
      try {
        check_shape(shape_of(header));
      } catch (const Error&) {
        return false;
      }
      return true;
    case PlanKind::row_column:
      return a <= 1 << 16 && b <= 1 << 16 && a * b == header.count;
  }
  return false;
}

}  // namespace

PlanHeader header_of(const IndexSchedule& schedule) {
  PlanHeader header{.kind = static_cast<PlanKind>(schedule.what.index()),
                    .applied = schedule.applied,
                    .count = schedule.count,
                    .fingerprint = schedule.fingerprint,
                    .sizes = {},
                    .level_bits = {},
                    .blocks = schedule.blocks};
  std::visit([&](const auto& what) { fill_sizes(what, header); }, schedule.what);
  FARO_CHECK(header.count <= Indexed::kMaxCount && are_sizes(header));
  return header;
}

std::array<std::byte, kPlanHeaderBytes> to_bytes(const PlanHeader& header) {
  std::array<std::byte, kPlanHeaderBytes> bytes{};
  put(bytes, 0, kPlanMagic);
  const bool has_blocks = header.blocks != Blocks{};
  put(bytes, kVersionAt, has_blocks ? kPlanVersionOfBlocks : kPlanVersion);
  put(bytes, kKindAt, header.kind);
  put(bytes, kAppliedAt, static_cast<std::uint8_t>(header.applied == Direction::gather ? 1 : 0));
  put(bytes, kCountAt, header.count);
  put(bytes, kFingerprintAt, header.fingerprint);
  put(bytes, kSizesAt, header.sizes);
  put(bytes, kLevelsAt, header.level_bits);
  if (!has_blocks) return bytes;
  FARO_CHECK(header.kind != PlanKind::partition || header.sizes[1] <= kLevelsOfBlocks);
  put(bytes, kRepeatsAt, header.blocks.repeats);
  put(bytes, kTogetherAt, header.blocks.together);
  return bytes;
}

PlanHeader parse_plan_header(std::span<const std::byte, kPlanHeaderBytes> bytes, const std::string& name) {
  if (get<std::array<char, 8>>(bytes, 0) != kPlanMagic) {
    fail(ErrorCode::file, "read `" + name + "`", "a file that does not begin as plan files do",
         "a plan file");
  }
  const auto version = get<std::uint32_t>(bytes, kVersionAt);
  if (version != kPlanVersion && version != kPlanVersionOfBlocks) {
    fail(ErrorCode::file, "read `" + name + "`", "a plan file of version " + std::to_string(version),
         "version " + std::to_string(kPlanVersion) + " or " + std::to_string(kPlanVersionOfBlocks),
         "make the plan again");
  }
  const auto kind = get<std::uint8_t>(bytes, kKindAt);
  const auto applied = get<std::uint8_t>(bytes, kAppliedAt);
  if (kind > static_cast<std::uint8_t>(PlanKind::row_column)) {
    fail(ErrorCode::file, "read `" + name + "`", "kind " + std::to_string(kind),
         "a kind of schedule, 0 to 4");
  }
  if (applied > 1 || get<std::uint16_t>(bytes, kReservedAt) != 0) {
    fail(ErrorCode::file, "read `" + name + "`",
         "direction " + std::to_string(applied) + " and reserved bytes " +
             std::to_string(get<std::uint16_t>(bytes, kReservedAt)),
         "direction 0 or 1 and zeros");
  }
  PlanHeader header{.kind = static_cast<PlanKind>(kind),
                    .applied = applied == 0 ? Direction::scatter : Direction::gather,
                    .count = get<std::uint64_t>(bytes, kCountAt),
                    .fingerprint = get<std::uint64_t>(bytes, kFingerprintAt),
                    .sizes = get<std::array<std::uint64_t, 2>>(bytes, kSizesAt),
                    .level_bits = get<std::array<std::uint8_t, 32>>(bytes, kLevelsAt)};
  if (header.count > Indexed::kMaxCount) {
    fail(ErrorCode::file, "read `" + name + "`", std::to_string(header.count) + " elements",
         "at most " + std::to_string(Indexed::kMaxCount));
  }
  if (version == kPlanVersionOfBlocks) {
    header.blocks = {.repeats = get<std::uint64_t>(bytes, kRepeatsAt),
                     .together = get<std::uint64_t>(bytes, kTogetherAt)};
    std::fill(header.level_bits.begin() + kLevelsOfBlocks, header.level_bits.end(), std::uint8_t{0});
    const auto [repeats, together] = header.blocks;
    if (repeats == 0 || together == 0 || repeats > Indexed::kMaxCount ||
        together > Indexed::kMaxCount / repeats || header.count > Indexed::kMaxCount / (repeats * together)) {
      fail(ErrorCode::file, "read `" + name + "`",
           std::to_string(repeats) + " blocks of " + std::to_string(header.count) + " times " +
               std::to_string(together) + " elements",
           "at least one of each, and at most 2^40 elements");
    }
  }
  const std::uint64_t levels = header.kind == PlanKind::partition ? header.sizes[1] : 0;
  const auto after_levels =
      header.level_bits.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(levels, 32));
  if (!are_sizes(header) ||
      std::any_of(after_levels, header.level_bits.end(), [](std::uint8_t bits) { return bits != 0; })) {
    fail(ErrorCode::file, "read `" + name + "`",
         "sizes that no schedule of " + std::to_string(header.count) + " elements has",
         "those that belong together");
  }
  return header;
}

std::vector<std::uint64_t> array_bytes(const PlanHeader& header) {
  const std::uint64_t count = header.count;
  const std::uint64_t places = sizeof(std::uint16_t) * count;
  switch (header.kind) {
    case PlanKind::direct:
      return {header.sizes[0] * count};
    case PlanKind::window:
      return {places};
    case PlanKind::runs:
      return {sizeof(std::uint64_t) * (header.sizes[0] + 1), sizeof(std::uint64_t) * header.sizes[0]};
    case PlanKind::row_column:
      return {places, places, places};
    case PlanKind::partition:
      break;
  }
  const PartitionShape shape = shape_of(header);
  std::vector<std::uint64_t> bytes;
  for (int level = 0; level < shape.levels(); ++level) {
    const std::uint64_t runs = shape.chunks() * shape.buckets(level);
    bytes.insert(bytes.end(), {places, sizeof(std::uint16_t) * runs, sizeof(std::uint32_t) * runs});
  }
  bytes.push_back(places);
  return bytes;
}

std::uint64_t file_bytes(const PlanHeader& header) {
  std::uint64_t total = kPlanHeaderBytes + kPlanChecksumBytes;
  for (const std::uint64_t bytes : array_bytes(header)) total += bytes + padding_of(bytes);
  return total;
}

}  // namespace faro::schedule
