#include "plan/row_staged.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kWidestStagedUnit = 8;
constexpr std::uint64_t kLongestStagedRow = 16;
constexpr std::uint64_t kStagedVector = 16;
constexpr std::uint64_t kStagedPieceBytes = 16 << 10;  // 8 blocks of a multiprocessor have as many
constexpr std::uint64_t kMostSharedBytes = 48 << 10;
constexpr std::uint64_t kLeastPieces = 132;
constexpr std::uint64_t kStagedSector = 32;

// Bytes of an array that is read, and of one that is written.
struct StagedArrays {
  std::uint64_t staged;
  std::uint64_t written;

  StagedArrays(const RowMove& move, const RowLayout& layout)
      : staged(numbered_rows(move) * layout.row_bytes), written(row_numbers(move).count * layout.row_bytes) {
    if (std::holds_alternative<Put>(move)) std::swap(staged, written);
  }
};

}  // namespace

std::optional<StagedRows> staged_rows(const RowMove& move, const RowLayout& layout) {
  const std::uint64_t row = layout.row_bytes;
  const std::uint64_t count = row_numbers(move).count;
  const std::uint64_t rows = numbered_rows(move);
  if (row > kLongestStagedRow || layout.outer < kLeastPieces || rows == 0 || count == 0) return std::nullopt;
  const std::uint64_t unit = std::min(row & (~row + 1), kWidestStagedUnit);
  if (std::max(rows, count) > kernels::kMostStagedUnits / (row / unit)) return std::nullopt;
  // Half of the sectors that are brought in, or read before they are written, are asked for.
  if (2 * kStagedSector * count < rows * row) return std::nullopt;
  const StagedArrays arrays(move, layout);
  // Pieces of both sides begin at vectors, and there are enough of them.
  const std::uint64_t both = arrays.staged | arrays.written | kStagedVector;
  const std::uint64_t step = kStagedVector / (both & (~both + 1));
  const std::uint64_t of_bytes = kStagedPieceBytes / std::max(arrays.staged, arrays.written);
  const std::uint64_t of_outer = layout.outer / kernels::kMostStagedBlocks;
  const std::uint64_t many = ceil_div(std::max<std::uint64_t>(std::min(of_bytes, of_outer), 1), step) * step;
  const std::uint64_t shared = kernels::staged_bytes(static_cast<std::uint32_t>(many * arrays.staged),
                                                     static_cast<std::uint32_t>(arrays.written / unit));
  if (shared > kMostSharedBytes || ceil_div(layout.outer, many) < kLeastPieces) return std::nullopt;
  StagedRows made{.unit = unit,
                  .arrays = many,
                  .blocks = kernels::staged_blocks(layout.outer, static_cast<std::uint32_t>(many)),
                  .written_bytes = layout.outer * arrays.written};
  made.read_bytes = layout.outer * arrays.staged +
                    made.blocks * count * static_cast<std::uint64_t>(row_numbers(move).type.bytes);
  if (std::holds_alternative<Put>(move) && count < rows) made.read_bytes += made.written_bytes;
  return made;
}

kernels::StagedShape StagedRows::shape(const RowMove& move, const RowLayout& layout) const {
  const StagedArrays of(move, layout);
  return {.run = static_cast<std::uint32_t>(layout.row_bytes / unit),
          .staged = static_cast<std::uint32_t>(of.staged / unit),
          .written = device::Division32(static_cast<std::uint32_t>(of.written / unit)),
          .arrays = static_cast<std::uint32_t>(arrays),
          .outer = layout.outer};
}

}  // namespace faro::detail
