#include "plan/row_staged.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
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

bool go_by_stages(const RowMove& move, const RowLayout& layout, RowPass& pass) {
  const std::uint64_t row = layout.row_bytes;
  const std::uint64_t count = row_numbers(move).count;
  const std::uint64_t rows = numbered_rows(move);
  if (row > kLongestStagedRow || layout.outer < kLeastPieces || rows == 0) return false;
  const std::uint64_t unit = std::min(row & (~row + 1), kWidestStagedUnit);
  if (std::max(rows, count) > kernels::kMostStagedUnits / (row / unit)) return false;
  // Half of the sectors that are brought in, or read before they are written, are asked for.
  if (2 * kStagedSector * count < rows * row) return false;
  const StagedArrays arrays(move, layout);
  // Pieces of both sides begin at vectors, and there are enough of them.
  const std::uint64_t both = arrays.staged | arrays.written | kStagedVector;
  const std::uint64_t step = kStagedVector / (both & (~both + 1));
  const std::uint64_t of_bytes = kStagedPieceBytes / std::max(arrays.staged, arrays.written);
  const std::uint64_t of_outer = layout.outer / kernels::kMostStagedBlocks;
  const std::uint64_t many = ceil_div(std::max<std::uint64_t>(std::min(of_bytes, of_outer), 1), step) * step;
  const std::uint64_t shared = kernels::staged_bytes(static_cast<std::uint32_t>(many * arrays.staged),
                                                     static_cast<std::uint32_t>(arrays.written / unit));
  if (shared > kMostSharedBytes || ceil_div(layout.outer, many) < kLeastPieces) return false;
  pass.kernel = RowKernel::staged;
  pass.vector_bytes = static_cast<int>(unit);
  pass.arrays = many;
  pass.threads = static_cast<int>(kernels::kStagedThreads);
  pass.blocks = kernels::staged_blocks(layout.outer, static_cast<std::uint32_t>(many));
  pass.read_bytes = layout.outer * arrays.staged +
                    pass.blocks * count * static_cast<std::uint64_t>(row_numbers(move).type.bytes);
  pass.written_bytes = layout.outer * arrays.written;
  if (std::holds_alternative<Put>(move) && count < rows) pass.read_bytes += pass.written_bytes;
  return true;
}

kernels::StagedShape staged_shape(const RowMove& move, const RowLayout& layout, const RowPass& pass) {
  const StagedArrays arrays(move, layout);
  const auto unit = static_cast<std::uint64_t>(pass.vector_bytes);
  return {.run = static_cast<std::uint32_t>(layout.row_bytes / unit),
          .staged = static_cast<std::uint32_t>(arrays.staged / unit),
          .written = device::Division32(static_cast<std::uint32_t>(arrays.written / unit)),
          .arrays = static_cast<std::uint32_t>(pass.arrays),
          .outer = layout.outer};
}

}  // namespace faro::detail
