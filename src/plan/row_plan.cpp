// The decision between the ways of moving rows. What it rests on was measured: docs/notes/row-experiments.md.
#include "faro/plan/row_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "faro/error.hpp"
#include "io/buffer.hpp"
#include "kernels/row_elements.hpp"
#include "kernels/row_move.hpp"
#include "kernels/row_walk.hpp"
#include "permutation/index_rows.hpp"
#include "plan/row_direction.hpp"
#include "plan/row_partition.hpp"
#include "plan/row_staged.hpp"
#include "rounding.hpp"
#include "size_text.hpp"
#include "unit_bytes.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kMostRowBytes = std::uint64_t{1} << 62;
constexpr std::uint64_t kLongBytes = 1024;         // of a run, which is then copied by itself
constexpr std::uint64_t kBucketBytes = 256 << 10;  // of the output in one bucket: half of a core's cache
constexpr std::uint64_t kMostBuckets = 1 << 14;
constexpr std::uint64_t kColumnBytes = 512;       // of each thread's part of a row
constexpr std::uint64_t kAloneBytes = 256 << 10;  // of contributions that one thread adds up by itself
constexpr std::uint64_t kMostRangeThreads = 8;    // each of which reads all entries
constexpr std::uint64_t kBucketWaveRows = 4096;   // parted at a time for each bucket: its lines
constexpr std::uint64_t kMostWaveRows = std::uint64_t{1} << 24;
constexpr std::uint64_t kPartedRowBytes = 12;

std::uint64_t rows_bytes(const RowMove& move, std::uint64_t rows, const RowLayout& layout) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(rows, layout.row_bytes, &bytes) ||
      __builtin_mul_overflow(bytes, layout.outer, &bytes) || bytes > kMostRowBytes) {
    fail(ErrorCode::value, name(move),
         fmt::format("{} x {} rows of {} bytes", layout.outer, rows, layout.row_bytes),
         "arrays of at most 2^62 bytes");
  }
  return bytes;
}

void require_layout(const RowMove& move, const RowLayout& layout) {
  if (layout.row_bytes == 0) fail(ErrorCode::value, name(move), "rows of 0 bytes", "rows of at least a byte");
  if (const auto* const take = std::get_if<Take>(&move)) {
    const bool by_value = take->fill.with == Fill::With::value;
    if (by_value && (take->fill.value.empty() || layout.row_bytes % take->fill.value.size() != 0)) {
      fail(ErrorCode::value, "take", fmt::format("a fill of {} bytes", take->fill.value.size()),
           fmt::format("one that divides a row of {} bytes", layout.row_bytes));
    }
  }
  const auto* const add = std::get_if<Add>(&move);
  if (add == nullptr) return;
  if (!is_summed(add->number))
    fail(ErrorCode::value, "add", fmt::format("numbers {}", name(add->number)),
         "i8 to u64, f16, bf16, f32 or f64");
  if (layout.row_bytes % bytes_of(add->number) != 0) {
    fail(ErrorCode::value, "add", fmt::format("rows of {} bytes", layout.row_bytes),
         fmt::format("whole numbers of type {}, {} bytes each", name(add->number), bytes_of(add->number)));
  }
  const bool is_float = add->number >= Number::f16;
  const bool known =
      add->sums == Sums::usual || (is_float && !(add->sums == Sums::fp32 && add->number == Number::f64));
  if (!known) {
    fail(ErrorCode::value, "add", fmt::format("sums {} of {}", name(add->sums), name(add->number)),
         is_float ? "usual, fp64 or compensated" : "usual, which is exact and wraps",
         is_float ? "a sum is not kept in less than its numbers" : "");
  }
}

// Bytes of what a sum is kept in; 0 where it is kept in the output itself.
std::uint64_t sum_bytes(const Add& add) {
  const bool short_float = add.number == Number::f16 || add.number == Number::bf16;
  const std::uint64_t usual = short_float ? 4 : bytes_of(add.number);
  switch (add.sums) {
    case Sums::usual:
      return short_float ? usual : 0;
    case Sums::fp32:
      return add.number == Number::f32 ? 0 : 4;
    case Sums::fp64:
      return add.number == Number::f64 ? 0 : 8;
    case Sums::compensated:
      return 2 * usual;
  }
  return 0;
}

constexpr int kWidestVector = 16;  // bytes

// The widest part of a row, a whole number of vectors, of which all rows' parts together stay in a GPU's
// cache while they are taken again and again; 0 where rows are not, or stay there whole.
//
// On an H100 32768 rows of 14336 bytes, of 4096 that are each taken eight times, take 0.212 ms in parts of 2
// KiB, 0.198 of 1 KiB and 0.193 of 512 bytes, so that few parts are in the cache beside what is written.
// Looked for once a plan: a row of a prime number of vectors is tried by 100,000 parts, which takes longer
// than to move it.
std::uint64_t row_slice_bytes(const RowMove& move, const RowLayout& layout) {
  constexpr std::uint64_t kVectorBytes = kWidestVector;
  constexpr std::uint64_t kFewBytes = std::uint64_t{2} << 20;
  constexpr std::uint64_t kCachedBytes = std::uint64_t{8} << 20;
  constexpr std::uint64_t kLeastSliceBytes = 512;
  constexpr std::uint64_t kRepeats = 2;
  const auto* const take = std::get_if<Take>(&move);
  if (take == nullptr || layout.outer != 1) return 0;
  if (take->rows == 0 || take->from.count / take->rows < kRepeats) return 0;
  if (take->rows <= kCachedBytes / layout.row_bytes) return 0;
  const std::uint64_t vectors = layout.row_bytes / kVectorBytes;
  for (const std::uint64_t cached : {kFewBytes, kCachedBytes}) {
    for (std::uint64_t slice = cached / take->rows / kVectorBytes; slice * kVectorBytes >= kLeastSliceBytes;
         --slice) {
      if (vectors % slice == 0) return slice * kVectorBytes;
    }
  }
  return 0;
}

// The widest vector that a row and all addresses are multiples of; rows of which that would make many narrow
// ones go by bytes.
int row_vector_bytes(std::uint64_t row_bytes, std::uint64_t addresses) {
  constexpr std::uint64_t kWidest = 16;
  const std::uint64_t all = row_bytes | addresses | kWidest;
  return static_cast<int>(all & (~all + 1));
}
// Rows of one vector in many arrays: an index array along the last axis.
bool are_elements(const RowMove& move, const RowLayout& layout, int vector_bytes, std::uint64_t arrays) {
  constexpr std::uint64_t kLeastEntries = 256;
  return arrays == 1 && layout.row_bytes == static_cast<std::uint64_t>(vector_bytes) &&
         layout.outer >= kernels::kElementArrays && row_numbers(move).count >= kLeastEntries;
}

// Arrays go by fours, but of up to what the first-level cache keeps of each of some blocks, a block goes
// through all entries of one; and where the second-level cache keeps one and not four beside what else goes
// by, whose elements would leave it sector by sector, one goes after the other.
void go_by_elements(std::uint64_t count, std::uint64_t rows, const RowLayout& layout, RowPass& pass) {
  constexpr std::uint64_t kShortBytes = 8 << 10;
  constexpr std::uint64_t kCachedBytes = 64 << 10;
  constexpr std::uint64_t kFewLongBytes = 4 << 20;
  constexpr std::uint64_t kMostLongBytes = 48 << 20;
  const std::uint64_t bytes = rows * layout.row_bytes;
  pass.kernel = RowKernel::move_elements;
  const auto go = [&]<int kTogether>(std::uint64_t entries_of_block) {
    using Kernel = kernels::MoveRowElements<kernels::RowDirection::take, 4, kTogether>;
    pass.chunks = std::max<std::uint64_t>(detail::ceil_div(entries_of_block, Kernel::kOfBlock), 1);
    pass.arrays = kTogether;
    pass.threads = static_cast<int>(Kernel::kThreads);
    pass.blocks = Kernel::blocks_for(count, pass.chunks, layout.outer);
  };
  if (bytes > kShortBytes && bytes <= kCachedBytes) {
    go.template operator()<1>(count);
  } else if (bytes > kFewLongBytes && bytes <= kMostLongBytes) {
    go.template operator()<1>(1);
  } else {
    go.template operator()<kernels::kElementArrays>(1);
  }
}

// Rows that are multiples of 1 or 2 bytes only are also written by aligned vectors of 16 bytes: taken ones by
// vectors joined from the one or two rows that they are of, long ones each by itself, the vectors joined from
// the two that they straddle. On an H200, in shares of a copy:
//
//     bytes of a row                  18   34   66  130  258  514 1002 2002 |  17   65  257  515 1001 2049
//     taken, joined from rows         26   32   36   39   41   45           |  25   36   41   45
//     by vectors of 2 or of 1         19   31   33   46   50   50   69   78 |  18   29   30   44   59   54
//     each row by aligned vectors                                 57   61   |                      54   60
//     put, by vectors of 2 or of 1    10   14   17   27   32   45   55   61 |   8   16   27   38   45   47
//     each row by aligned vectors      3    5    9   15   26   42   52   58 |   3    9   25   41   50   57
bool joins_rows(const RowMove& move, std::uint64_t row_bytes, int vector_bytes) {
  const std::uint64_t most = vector_bytes == 1 ? 768 : vector_bytes == 2 ? 128 : 0;
  return std::holds_alternative<Take>(move) && row_bytes >= kWidestVector && row_bytes < most;
}
bool goes_by_bytes(const RowMove& move, std::uint64_t row_bytes, int vector_bytes) {
  return vector_bytes == 1 && row_bytes >= (std::holds_alternative<Take>(move) ? 768 : 512);
}

}  // namespace

detail::RowPartition detail::added_partition(const Add& add, const RowLayout& layout) {
  constexpr std::uint64_t kWordBytes = 4;
  const bool carried =
      layout.row_bytes == bytes_of(add.number) && layout.row_bytes <= kWordBytes && layout.outer == 1;
  return added_partition(add.to.count, add.rows, carried);
}

const char* name(RowWay way) noexcept {
  static constexpr std::array kNames{"runs",    "blocks", "ranges", "buckets", "columns", "in order",
                                     "vectors", "bytes",  "staged", "bins",    "sorted"};
  return kNames[static_cast<std::size_t>(way)];
}

RowPlan::RowPlan(RowMove move, RowLayout layout, const Target& target, EntryCheck check)
    : move_(std::move(move)), layout_(layout), target_(target) {
  const bool on_gpu = target_.engine == Engine::cuda;
  require_layout(move_, layout_);
  if (on_gpu) {
    detail::require_row_move(move_);
  } else {
    // Elements that the engine's short loop takes: others are widened in blocks, and runs want all lengths.
    const bool narrow = layout_.row_bytes <= 8 && std::has_single_bit(layout_.row_bytes) &&
                        row_numbers(move_).order == ByteOrder::little;
    std::optional<RowCensus> sample;
    if (check == EntryCheck::meanwhile && narrow) sample = sample_rows(move_);
    const std::uint64_t moved = row_numbers(move_).count * layout_.row_bytes;
    if (sample && moved < kLongBytes * sample->runs) {
      census_ = *sample;
      check_ = EntryCheck::meanwhile;
    } else {
      census_ = check_rows(move_, target_.threads);
    }
  }
  static_cast<void>(in_bytes() + out_bytes());  // refuses what no array holds
  decide();
}

RowPlan RowPlan::with_entries_at(const void* entries) const {
  RowPlan made = *this;
  detail::entries_of(made.move_).data = entries;
  return made;
}

RowPlan RowPlan::of_part(std::uint64_t first, std::uint64_t count, int threads) const {
  RowPlan made = *this;
  RowNumbers& entries = detail::entries_of(made.move_);
  // As many of the runs, and absent entries where there are any.
  const auto share = [&](std::uint64_t of_all) {
    const double part =
        static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(entries.count, 1));
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(of_all) * part));
  };
  made.census_ = {.absent = share(census_.absent), .runs = share(census_.runs)};
  entries.data =
      static_cast<const std::byte*>(entries.data) + first * static_cast<std::uint64_t>(entries.type.bytes);
  entries.count = count;
  made.layout_.outer = 1;
  made.target_.threads = threads;
  made.decide();
  return made;
}

RowPlan RowPlan::with_rows_of(std::uint64_t row_bytes) const {
  RowPlan other = *this;
  other.layout_.row_bytes = row_bytes;
  require_layout(move_, other.layout_);
  static_cast<void>(other.in_bytes() + other.out_bytes());
  other.decide();
  return other;
}

std::uint64_t RowPlan::in_bytes() const {
  const bool takes = std::holds_alternative<Take>(move_);
  return rows_bytes(move_, takes ? numbered_rows(move_) : row_numbers(move_).count, layout_);
}

std::uint64_t RowPlan::out_bytes() const {
  const bool takes = std::holds_alternative<Take>(move_);
  return rows_bytes(move_, takes ? row_numbers(move_).count : numbered_rows(move_), layout_);
}

// Sums: the items in the order of where they go, digit by digit of that; then each output row that gets any.
std::vector<RowPass> RowPlan::added_passes(const RowLaunch& launch) const {
  const Add& add = std::get<Add>(move_);
  const detail::RowPartition partition = detail::added_partition(add, layout_);
  const bool carried = layout_.row_bytes == bytes_of(add.number) &&
                       layout_.row_bytes <= partition.word_bytes() && layout_.outer == 1;
  const std::uint64_t pair_bytes = 2 * partition.word_bytes();
  std::vector<RowPass> passes;
  int shift = partition.bin_bits;
  for (const int bits : partition.digits) {
    const std::uint64_t keys = static_cast<std::uint64_t>(add.to.type.bytes);
    const std::uint64_t first_bytes = 2 * keys + (carried ? layout_.row_bytes : 0);
    RowPass pass;
    pass.kernel = RowKernel::partition;
    pass.vector_bytes = 0;
    pass.blocks = partition.chunks;
    pass.threads = static_cast<int>(partition.binned() ? detail::kBinThreads : detail::kPartitionThreads);
    pass.read_bytes =
        partition.items * (shift == partition.bin_bits ? first_bytes : partition.word_bytes() + pair_bytes);
    pass.written_bytes = partition.items * pair_bytes;
    pass.text = fmt::format("counts, sums up and spreads {} by bits {} to {} of where they go",
                            carried ? "numbers" : "rows' numbers", shift, shift + bits - 1);
    passes.push_back(std::move(pass));
    shift += bits;
  }
  RowPass pass;
  pass.kernel = RowKernel::sum;
  pass.written_bytes = std::min(in_bytes(), out_bytes());
  if (partition.binned()) {
    constexpr std::uint64_t kWarpsOfBlock = 4;
    pass.vector_bytes = static_cast<int>(bytes_of(add.number));
    pass.threads = 128;
    pass.blocks =
        detail::ceil_div(detail::ceil_div(add.rows, std::uint64_t{1} << partition.bin_bits), kWarpsOfBlock);
    pass.read_bytes = partition.items * pair_bytes + out_bytes();
    pass.text =
        fmt::format("a warp adds up {} rows of the output in shared memory, in the order of the input",
                    std::uint64_t{1} << partition.bin_bits);
    passes.push_back(std::move(pass));
    return passes;
  }
  const bool by_vectors = !carried && row_vector_bytes(layout_.row_bytes, launch.addresses) == 16;
  pass.vector_bytes = by_vectors ? 16 : static_cast<int>(bytes_of(add.number));
  pass.threads = static_cast<int>(detail::kPartitionThreads);
  pass.blocks = detail::ceil_div(
      partition.items * layout_.outer * (layout_.row_bytes / static_cast<std::uint64_t>(pass.vector_bytes)),
      detail::kPartitionThreads);
  pass.read_bytes = partition.items * pair_bytes + (carried ? 0 : in_bytes());
  pass.text = fmt::format("adds up each row that gets any, vectors of {} a thread, in the order of the input",
                          size_text(static_cast<std::uint64_t>(pass.vector_bytes)));
  passes.push_back(std::move(pass));
  return passes;
}

void RowPlan::decide_on_gpu() {
  if (const auto* const add = std::get_if<Add>(&move_)) {
    const detail::RowPartition partition = detail::added_partition(*add, layout_);
    const std::size_t digits = partition.digits.size();
    way_ = partition.binned() ? RowWay::bins : RowWay::sorted;
    reason_ = partition.binned()
                  ? fmt::format("numbers go to bins of {} rows by {} digit{}, and are added up on chip",
                                std::uint64_t{1} << partition.bin_bits, digits, digits == 1 ? "" : "s")
                  : fmt::format(
                        "rows are put in the order of where they go by {} digit{}, and added up one "
                        "after another",
                        digits, digits == 1 ? "" : "s");
    return;
  }
  if (const auto staged = detail::staged_rows(move_, layout_)) {
    way_ = RowWay::staged;
    reason_ = fmt::format("short arrays lie in shared memory, {} at a time, while their rows change places",
                          staged->arrays);
    return;
  }
  const int vector_bytes = row_vector_bytes(layout_.row_bytes, 0);
  slice_bytes_ = vector_bytes == kWidestVector ? row_slice_bytes(move_, layout_) : 0;
  if (joins_rows(move_, layout_.row_bytes, vector_bytes)) {
    way_ = RowWay::bytes;
    reason_ =
        "a thread writes aligned vectors of 16 bytes, each joined from the one or two rows that it is of";
  } else if (goes_by_bytes(move_, layout_.row_bytes, vector_bytes)) {
    way_ = RowWay::bytes;
    reason_ = "a thread writes 16 aligned bytes, joined from the two vectors that they straddle";
  } else {
    way_ = RowWay::vectors;
    reason_ = fmt::format("vectors of {}, {} of them a row; of arrays at other addresses narrower ones",
                          size_text(static_cast<std::uint64_t>(vector_bytes)),
                          layout_.row_bytes / static_cast<std::uint64_t>(vector_bytes));
  }
}

std::vector<RowPass> RowPlan::passes(const RowLaunch& launch) const {
  std::vector<RowPass> passes;
  const std::uint64_t count = row_numbers(move_).count;
  if (target_.engine != Engine::cuda || count == 0 || layout_.outer == 0 || launch.arrays == 0) return passes;
  if (std::holds_alternative<Add>(move_)) return numbered_rows(move_) == 0 ? passes : added_passes(launch);
  const auto entry_bytes = static_cast<std::uint64_t>(row_numbers(move_).type.bytes);
  if (std::holds_alternative<Put>(move_)) {
    kernels::MarkRows mark;
    mark.entries.count = count;
    passes.push_back({.kernel = RowKernel::mark,
                      .vector_bytes = 0,
                      .blocks = mark.blocks(),
                      .threads = static_cast<int>(kernels::MarkRows::kThreads),
                      .read_bytes = count * entry_bytes,
                      .written_bytes = kernels::MarkRows::mark_words(numbered_rows(move_)) * 4,
                      .text = "finds rows that two entries name, a bit a row"});
  }
  RowPass pass = moving_pass(launch);
  pass.text = moving_text(pass);
  passes.push_back(std::move(pass));
  return passes;
}

RowPass RowPlan::moving_pass(const RowLaunch& launch) const {
  const auto entry_bytes = static_cast<std::uint64_t>(row_numbers(move_).type.bytes);
  const std::uint64_t rows = row_numbers(move_).count * layout_.outer;
  const int vector_bytes = row_vector_bytes(layout_.row_bytes, launch.addresses);
  const std::uint64_t moved = rows * layout_.row_bytes * launch.arrays;
  RowPass pass;
  pass.vector_bytes = vector_bytes;
  pass.read_bytes = moved + rows * entry_bytes * launch.arrays;
  pass.written_bytes = moved;
  const bool goes_staged = way_ == RowWay::staged && launch.staged && launch.arrays == 1 &&
                           row_vector_bytes(0, launch.addresses) == kWidestVector;
  if (const auto staged = goes_staged ? detail::staged_rows(move_, layout_) : std::nullopt) {
    return {.kernel = RowKernel::staged,
            .vector_bytes = static_cast<int>(staged->unit),
            .arrays = staged->arrays,
            .blocks = staged->blocks,
            .threads = static_cast<int>(kernels::kStagedThreads),
            .read_bytes = staged->read_bytes,
            .written_bytes = staged->written_bytes,
            .text = {}};
  }
  if (joins_rows(move_, layout_.row_bytes, vector_bytes)) {
    using Kernel = kernels::TakeRowVectors<>;
    pass.kernel = RowKernel::take_vectors;
    pass.vector_bytes = static_cast<int>(Kernel::kBytes);
    pass.threads = static_cast<int>(Kernel::kThreads);
    pass.blocks = Kernel::blocks_for(rows * layout_.row_bytes) * launch.arrays;
  } else if (goes_by_bytes(move_, layout_.row_bytes, vector_bytes)) {
    using Kernel = kernels::MoveRowBytes<kernels::RowDirection::take>;
    pass.kernel = RowKernel::move_bytes;
    pass.vector_bytes = static_cast<int>(Kernel::kVectorBytes);
    pass.threads = static_cast<int>(Kernel::kThreads);
    pass.blocks = Kernel::blocks_for(rows * Kernel::pieces_of(layout_.row_bytes)) * launch.arrays;
  } else if (are_elements(move_, layout_, vector_bytes, launch.arrays)) {
    go_by_elements(row_numbers(move_).count, numbered_rows(move_), layout_, pass);
  } else {
    pass.threads = static_cast<int>(kernels::kRowThreads);
    pass.blocks = kernels::vector_row_blocks(detail::direction_of(move_), vector_bytes, rows,
                                             layout_.row_bytes / static_cast<std::uint64_t>(vector_bytes)) *
                  launch.arrays;
    if (vector_bytes == kWidestVector) pass.slice_bytes = slice_bytes_;
  }
  if (pass.slice_bytes > 0) {
    pass.read_bytes =
        std::min(moved, in_bytes()) + rows * entry_bytes * (layout_.row_bytes / pass.slice_bytes);
  }
  return pass;
}

std::string RowPlan::moving_text(const RowPass& pass) const {
  if (pass.kernel == RowKernel::take_vectors)
    return fmt::format("a thread writes {} aligned vectors of 16 bytes, joined from one row or two",
                       kernels::TakeRowVectors<>::kEach);
  if (pass.kernel == RowKernel::staged)
    return fmt::format("a block brings {} arrays at a time to shared memory, and writes them from there",
                       pass.arrays);
  if (pass.kernel == RowKernel::move_bytes) return "a thread writes 16 aligned bytes of a row";
  if (pass.kernel == RowKernel::move_elements)
    return fmt::format("a thread moves rows of {} in {} arrays by an entry", size_text(layout_.row_bytes),
                       pass.arrays);
  const auto vector_bytes = static_cast<std::uint64_t>(pass.vector_bytes);
  if (pass.vector_bytes < kernels::kLeastUnwalkedBytes) {
    const kernels::RowWalk walk =
        kernels::row_walk(detail::direction_of(move_), layout_.row_bytes / vector_bytes,
                          row_numbers(move_).count * layout_.outer);
    return fmt::format("{} threads a row{}, vectors of {}", 1U << walk.lane_bits,
                       walk.parts > 1 ? " or part of one" : "", size_text(vector_bytes));
  }
  using Kernel = kernels::MoveRowVectors<kernels::RowDirection::take, kWidestVector>;
  std::string text = fmt::format("a thread moves {} vectors of {}", Kernel::kEach, size_text(vector_bytes));
  if (pass.slice_bytes > 0)
    text += fmt::format(", of {} of all rows before the next", size_text(pass.slice_bytes));
  return text;
}

void RowPlan::decide() {
  if (target_.engine == Engine::cuda) return decide_on_gpu();
  const std::uint64_t count = row_numbers(move_).count;
  const std::uint64_t moved = count * layout_.row_bytes;  // of one array
  const auto threads = static_cast<std::uint64_t>(std::max(target_.threads, 1));
  // A bucket is a power of two of rows, and there are not too many of them.
  const std::uint64_t fitting = std::max<std::uint64_t>(kBucketBytes / layout_.row_bytes, 1);
  const std::uint64_t needed = detail::ceil_div(numbered_rows(move_), kMostBuckets);
  bucket_rows_ = std::bit_ceil(std::max({std::bit_floor(fitting), needed, std::uint64_t{1}}));
  if (const auto* const add = std::get_if<Add>(&move_)) {
    if (moved * layout_.outer <= kAloneBytes || layout_.outer >= 4 * threads || threads == 1) {
      way_ = RowWay::in_order;
      reason_ = layout_.outer > 1 ? "a thread adds up whole arrays" : "one thread adds row after row";
    } else if (layout_.row_bytes / threads >= kColumnBytes) {
      way_ = RowWay::columns;
      reason_ = fmt::format("each of {} threads adds its part of every row", threads);
    } else if (threads <= kMostRangeThreads) {
      way_ = RowWay::ranges;
      reason_ = fmt::format("each of {} threads adds what goes to its range of the rows", threads);
    } else {
      way_ = RowWay::buckets;
      reason_ = fmt::format("what is added is parted by its target, {} rows each, and stays in order",
                            bucket_rows_);
    }
    return;
  }
  const std::uint64_t written = std::holds_alternative<Take>(move_) ? moved : std::min(moved, out_bytes());
  streamed_ = written * layout_.outer > target_.streaming_bytes;
  const std::uint64_t run_bytes = census_.runs == 0 ? 0 : moved / census_.runs;
  const std::string past = streamed_ ? ", past the caches" : "";
  if (run_bytes >= kLongBytes) {
    way_ = RowWay::runs;
    reason_ = fmt::format(
        "rows that follow each other come in runs of {} on average, and each run is copied whole{}",
        size_text(run_bytes), past);
  } else {
    way_ = RowWay::blocks;
    reason_ = fmt::format("short rows are fetched ahead and moved one by one{}", past);
  }
}

std::uint64_t RowPlan::wave_rows() const {
  const std::uint64_t buckets = detail::ceil_div(numbered_rows(move_), bucket_rows_);
  return std::min(
      {row_numbers(move_).count, kMostWaveRows, std::max<std::uint64_t>(buckets, 1) * kBucketWaveRows});
}

std::uint64_t RowPlan::workspace_bytes() const {
  std::uint64_t bytes = 0;
  if (target_.engine == Engine::cuda) {
    constexpr std::uint64_t kWord = 4;
    if (row_numbers(move_).count == 0) return 0;
    if (std::holds_alternative<Add>(move_)) {
      if (numbered_rows(move_) == 0) return 0;
      // The count is of whatever width: arrays of others are run by plans that come of this one.
      const std::uint64_t count = row_numbers(move_).count;
      std::uint64_t most = 0;
      for (const bool carried : {false, true}) {
        const auto partition = detail::added_partition(count, numbered_rows(move_), carried);
        most = std::max(most, partition.table_bytes() + 4 * partition.pairs_bytes());
      }
      return most;
    }
    if (!std::holds_alternative<Put>(move_)) return 0;
    return (1 + kernels::MarkRows::mark_words(numbered_rows(move_))) * kWord;
  }
  if (const auto* const add = std::get_if<Add>(&move_)) {
    const std::uint64_t arrays =
        way_ == RowWay::in_order
            ? std::min<std::uint64_t>(layout_.outer, static_cast<std::uint64_t>(std::max(target_.threads, 1)))
            : 1;
    const std::uint64_t numbers = numbered_rows(move_) * (layout_.row_bytes / bytes_of(add->number));
    bytes += arrays * numbers * sum_bytes(*add);
  }
  if (way_ == RowWay::buckets) bytes += wave_rows() * kPartedRowBytes;
  return bytes;
}

}  // namespace faro
