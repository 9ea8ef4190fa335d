// Rows put: the input is read in order, the output written wherever the entries say. No two rows go to one
// place, so threads never meet.
#include <algorithm>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/rows/row_work.hpp"

namespace faro::cpu {
namespace {

// Bytes begin .. end - 1 of the input.
void put_runs(const RowWork& work, std::uint64_t begin, std::uint64_t end) {
  EntryBlocks blocks(work);
  const bool streamed = work.plan.streamed();
  while (begin < end) {
    const std::uint64_t row = begin / work.row_bytes;
    const std::uint64_t array = row / work.count;
    const std::uint64_t at = begin % work.row_bytes;
    const EntryBlocks::Run run = blocks.run(row % work.count, work.count);
    const std::uint64_t bytes = std::min(run.length * work.row_bytes - at, end - begin);
    if (run.row != kNoRow) {
      std::byte* const to = work.out + (array * work.rows + run.row) * work.row_bytes + at;
      copy_bytes(work.in + begin, to, bytes, streamed);
    }
    begin += bytes;
  }
  finish_streams();
}

template <typename Width>
void put_rows(Width width, const RowWork& work, std::uint64_t begin, std::uint64_t end) {
  EntryBlocks blocks(work);
  const std::uint64_t bytes = width.bytes();
  const std::uint64_t ahead = elements_ahead(bytes);
  const bool is_far = work.rows * bytes > kNearBytes;
  while (begin < end) {
    const std::uint64_t array = begin / work.count;
    const std::uint64_t first = begin % work.count;
    const EntryBlocks::Block block = blocks.read(first, std::min(work.count, first + (end - begin)));
    std::byte* const out = work.out + array * work.rows * bytes;
    const std::byte* const in = work.in + begin * bytes;
    const auto move = [&](std::uint64_t i) {
      if (block.rows[i] != kNoRow) width.move(in + i * bytes, out + block.rows[i] * bytes);
    };
    std::uint64_t i = 0;
    for (const std::uint64_t fetched = is_far ? block.size : 0; i < fetched; ++i) {
      if (i + ahead < block.size + block.ahead) {
        const std::uint64_t row = block.rows[i + ahead];
        __builtin_prefetch(out + (row == kNoRow ? 0 : row) * bytes, 1, 3);
      }
      move(i);
    }
#pragma GCC unroll 4
    for (; i < block.size; ++i) move(i);
    begin += block.size;
  }
}

}  // namespace

void run_put(const RowWork& work) {
  const std::uint64_t bytes = work.plan.in_bytes();
  if (bytes == 0) return;
  const int threads = work.threads_for(bytes);
  if (work.plan.way() == RowWay::runs) {
    share_out_bytes(bytes, threads,
                    [&](std::uint64_t begin, std::uint64_t end) { put_runs(work, begin, end); });
    return;
  }
  with_width(work.row_bytes, [&](auto width) {
    share_out(work.moved_rows(), threads,
              [&](std::uint64_t begin, std::uint64_t end) { put_rows(width, work, begin, end); });
  });
}

}  // namespace faro::cpu
