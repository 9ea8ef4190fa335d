// Rows taken: the output is written in order, the input read wherever the entries say.
//
// Present: where every entry names a row, and rows are of at most a line, one short loop reads the entries as
// they are. Runs: an equal share of the output's bytes a thread, so that few long rows are shared
// out as well as many. Blocks: short rows are gathered in a stage in the L1 cache, whose bytes are then
// streamed, for a store past the caches is worth its price only where it fills lines.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/rows/row_work.hpp"

namespace faro::cpu {
namespace {

constexpr std::uint64_t kTakeStageBytes = 16384;

// Bytes of a pattern that begins anew at each row, for rows that nothing is taken for.
void fill_row(std::byte* to, std::uint64_t at, std::uint64_t bytes, const Fill& fill) {
  if (fill.with == Fill::With::kept) return;
  if (fill.with != Fill::With::value) {
    std::memset(to, 0, bytes);
    return;
  }
  for (std::uint64_t i = 0; i < bytes; ++i) to[i] = fill.value[(at + i) % fill.value.size()];
}

// Bytes begin .. end - 1 of the output.
void take_runs(const RowWork& work, const Fill& fill, std::uint64_t begin, std::uint64_t end) {
  EntryBlocks blocks(work);
  const bool streamed = work.plan.streamed();
  while (begin < end) {
    const std::uint64_t row = begin / work.row_bytes;
    const std::uint64_t array = row / work.count;
    const std::uint64_t first = row % work.count;
    const std::uint64_t at = begin % work.row_bytes;
    const EntryBlocks::Run run = blocks.run(first, work.count);
    const std::byte* const source = work.in + array * work.rows * work.row_bytes;
    if (run.next != kNoRow) prefetch_element(source + run.next * work.row_bytes, work.row_bytes);
    const std::uint64_t bytes = std::min(run.length * work.row_bytes - at, end - begin);
    std::byte* const to = work.out + begin;
    if (run.row != kNoRow) {
      copy_bytes(source + run.row * work.row_bytes + at, to, bytes, streamed);
    } else {
      fill_row(to, at, bytes, fill);
    }
    begin += bytes;
  }
  finish_streams();
}

// Rows of one block, to where they belong or to the stage. `absent`: a row of the fill; null where it is what
// was there.
template <typename Width>
void take_block(Width width, const EntryBlocks::Block& block, const std::byte* in, std::byte* to,
                const std::byte* absent, const std::byte* kept) {
  const std::uint64_t bytes = width.bytes();
  const auto source = [&](std::uint64_t i) {
    const std::uint64_t row = block.rows[i];
    const std::byte* const otherwise = absent != nullptr ? absent : kept + i * bytes;
    return row == kNoRow ? otherwise : in + row * bytes;
  };
  const std::uint64_t ahead = elements_ahead(bytes);
  const std::uint64_t known = block.size + block.ahead;
  const std::uint64_t fetched = std::min(block.size, known - std::min(ahead, known));
  const auto move = [&](std::uint64_t i) {
    const std::byte* const from = source(i);
    if (from != to + i * bytes) width.move(from, to + i * bytes);
  };
  std::uint64_t i = 0;
  for (; i < fetched; ++i) {
    const std::uint64_t row = block.rows[i + ahead];
    prefetch_element(in + (row == kNoRow ? 0 : row) * bytes, bytes);
    move(i);
  }
  for (; i < block.size; ++i) move(i);
}

template <typename Width>
void take_rows(Width width, const RowWork& work, const std::byte* absent, std::uint64_t begin,
               std::uint64_t end) {
  EntryBlocks blocks(work);
  alignas(64) std::array<std::byte, kTakeStageBytes> stage;
  const std::uint64_t bytes = width.bytes();
  const bool staged = work.plan.streamed();
  // Whole lines, where the output begins with one.
  const std::uint64_t most = staged
                                 ? std::max<std::uint64_t>(kTakeStageBytes / bytes / kLineBytes * kLineBytes,
                                                           kTakeStageBytes / bytes)
                                 : EntryBlocks::kBlock;
  while (begin < end) {
    const std::uint64_t array = begin / work.count;
    const std::uint64_t first = begin % work.count;
    const std::uint64_t last = std::min(work.count, first + (end - begin));
    const EntryBlocks::Block block = blocks.read(first, last, most);
    std::byte* const out = work.out + begin * bytes;
    const std::byte* const in = work.in + array * work.rows * bytes;
    take_block(width, block, in, staged ? stage.data() : out, absent, out);
    if (staged) copy_streamed(stage.data(), out, block.size * bytes);
    begin += block.size;
  }
  finish_streams();
}

// Takes the rows of one block, all present. `rows`: how many there are; entries past them, which were others
// when they were planned, take the last one. `known`: entries from the block's first on, at least `size`.
// `is_far`: the rows are not in the caches. Returns whether there were wrong ones, where they are looked for.
template <typename Word, bool kChecked, typename Width>
bool take_present(Width width, const std::byte* entries, std::uint64_t size, std::uint64_t known,
                  std::uint64_t rows, bool is_far, const std::byte* in, std::byte* to) {
  const auto entry = [entries](std::uint64_t i) {
    Word word;
    std::memcpy(&word, entries + i * sizeof(Word), sizeof(Word));
    return static_cast<std::uint64_t>(word);
  };
  std::uint64_t wrong = 0;
  const auto move = [&](std::uint64_t i) {
    const std::uint64_t row = kChecked ? std::min(entry(i), rows - 1) : entry(i);
    wrong |= entry(i) ^ row;
    width.move(in + row * width.bytes(), to + i * width.bytes());
  };
  const std::uint64_t ahead = elements_ahead(width.bytes());
  const std::uint64_t fetched = is_far ? std::min(size, known - std::min(ahead, known)) : 0;
  std::uint64_t i = 0;
#pragma GCC unroll 8
  for (; i < fetched; ++i) {
    __builtin_prefetch(in + entry(i + ahead) * width.bytes());
    move(i);
  }
  for (; i < size; ++i) move(i);
  return wrong != 0;
}

template <typename Word, bool kChecked = true, typename Width>
void take_present_rows(Width width, const RowWork& work, const void* numbers, std::uint64_t begin,
                       std::uint64_t end) {
  alignas(64) std::array<std::byte, kTakeStageBytes> stage;
  const auto* const entries = static_cast<const std::byte*>(numbers);
  const std::uint64_t bytes = width.bytes();
  const bool staged = work.plan.streamed();
  const std::uint64_t most = kTakeStageBytes / bytes;
  const bool is_far = work.rows * bytes > kNearBytes;
  while (begin < end) {
    const std::uint64_t array = begin / work.count;
    const std::uint64_t first = begin % work.count;
    const std::uint64_t size = std::min({work.count - first, end - begin, most});
    std::byte* const out = work.out + begin * bytes;
    const std::byte* const in = work.in + array * work.rows * bytes;
    const bool wrong =
        take_present<Word, kChecked>(width, entries + first * sizeof(Word), size, work.count - first,
                                     work.rows, is_far, in, staged ? stage.data() : out);
    if (wrong) work.wrong.store(true, std::memory_order_relaxed);
    if (staged) copy_streamed(stage.data(), out, size * bytes);
    begin += size;
  }
  finish_streams();
}

// Whether that is all there is to do: it is done.
bool take_all_present(const RowWork& work, int threads) {
  const RowNumbers& numbers = row_numbers(work.plan.move());
  if (work.plan.census().absent != 0 || work.rows == 0 || numbers.order != ByteOrder::little) return false;
  if (work.row_bytes > kLineBytes) return false;
  // Entries that are others than when they were planned may be absent.
  if (std::find(work.joined.begin(), work.joined.end(), kNoRow) != work.joined.end()) return false;
  with_width(work.row_bytes, [&](auto width) {
    share_out(work.moved_rows(), threads, [&](std::uint64_t begin, std::uint64_t end) {
      if (!work.joined.empty())
        return take_present_rows<std::uint64_t, false>(width, work, work.joined.data(), begin, end);
      switch (numbers.type.bytes) {  // none is negative
        case 1:
          return take_present_rows<std::uint8_t>(width, work, numbers.data, begin, end);
        case 2:
          return take_present_rows<std::uint16_t>(width, work, numbers.data, begin, end);
        case 4:
          return take_present_rows<std::uint32_t>(width, work, numbers.data, begin, end);
        default:
          return take_present_rows<std::uint64_t>(width, work, numbers.data, begin, end);
      }
    });
  });
  return true;
}

}  // namespace

void run_take(const RowWork& work) {
  const Fill& fill = std::get<Take>(work.plan.move()).fill;
  const std::uint64_t bytes = work.plan.out_bytes();
  if (bytes == 0) return;
  const int threads = work.threads_for(bytes);
  if (work.plan.way() == RowWay::runs) {
    share_out_bytes(bytes, threads,
                    [&](std::uint64_t begin, std::uint64_t end) { take_runs(work, fill, begin, end); });
    return;
  }
  if (take_all_present(work, threads)) return;
  std::vector<std::byte> absent(fill.with == Fill::With::kept ? 0 : work.row_bytes);
  if (!absent.empty()) fill_row(absent.data(), 0, absent.size(), fill);
  with_width(work.row_bytes, [&](auto width) {
    share_out(work.moved_rows(), threads, [&](std::uint64_t begin, std::uint64_t end) {
      take_rows(width, work, absent.empty() ? nullptr : absent.data(), begin, end);
    });
  });
}

}  // namespace faro::cpu
