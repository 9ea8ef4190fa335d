// The kernels that take and put rows on a GPU, a thread at a time on the host, queued as the CUDA engine
// queues them: bit for bit against the obvious loop, between guard zones.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "block_emulator.hpp"
#include "drawn.hpp"
#include "engines/cuda/rows/row_queue.hpp"
#include "faro/error.hpp"
#include "faro/plan/row_plan.hpp"

namespace faro::testing {
namespace row_move_kernel_test {

using Bytes = std::vector<std::byte>;
using kernels::kNoFault;
using kernels::RowFaults;

Target gpu_target() {
  Target target;
  target.engine = Engine::cuda;
  target.name = "a GPU that is emulated";
  return target;
}

using test::random_bytes;

// What a move makes of `out`: the definition, one row after another.
void move_plainly(const RowMove& move, const RowLayout& layout, const std::vector<std::int64_t>& entries,
                  const Bytes& in, Bytes& out) {
  const auto* const take = std::get_if<Take>(&move);
  const std::uint64_t width = layout.row_bytes;
  const std::uint64_t rows = numbered_rows(move);
  const auto marker = absent_marker(move);
  for (std::uint64_t o = 0; o < layout.outer; ++o) {
    for (std::uint64_t i = 0; i < entries.size(); ++i) {
      const auto entry = static_cast<std::uint64_t>(entries[i]);
      const std::uint64_t here = (o * entries.size() + i) * width;
      const bool absent = marker && entry == *marker;
      if (!absent && entry >= rows) continue;
      const std::uint64_t there = (o * rows + entry) * width;
      for (std::uint64_t b = 0; b < width; ++b) {
        if (absent) {
          if (take == nullptr || take->fill.with == Fill::With::kept) continue;
          const Bytes& value = take->fill.value;
          out[here + b] = value.empty() ? std::byte{0} : value[b % value.size()];
        } else if (take != nullptr) {
          out[here + b] = in[there + b];
        } else {
          out[there + b] = in[here + b];
        }
      }
    }
  }
}

// An array at an offset past an address that is aligned to 64.
class Placed {
 public:
  Placed(const Bytes& bytes, std::uint64_t offset)
      : size_(bytes.size()), memory_(bytes.size() + offset + 2 * kAround) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    offset_ = (kAround - address % kAround) + offset;
    std::copy(bytes.begin(), bytes.end(), data());
  }
  std::byte* data() { return memory_.data() + offset_; }
  Bytes bytes() { return {data(), data() + size_}; }
  bool whole_around() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if ((i < offset_ || i >= offset_ + size_) && memory_.data()[i] != std::byte{0}) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint64_t kAround = 64;
  std::uint64_t size_;
  std::vector<std::byte> memory_;
  std::uint64_t offset_ = 0;
};

struct MoveCase {
  bool takes = true;
  std::uint64_t width = 16;
  std::uint64_t count = 20;
  std::uint64_t rows = 13;
  std::uint64_t outer = 1;
  IndexType type{.bytes = 4, .is_signed = true};
  Fill fill = Fill::zero();
  std::uint64_t in_offset = 0;
  std::uint64_t out_offset = 0;
  std::uint64_t arrays = 1;
  double absent = 0.2;
  Order order = Order::forward;

  std::string text() const {
    return std::string(takes ? "take" : "put") + " rows of " + std::to_string(width) + ", " +
           std::to_string(outer) + " x " + std::to_string(count) + " of " + std::to_string(rows) +
           ", entries of " + std::to_string(type.bytes) + (type.is_signed ? " signed" : " unsigned") +
           ", offsets " + std::to_string(in_offset) + " and " + std::to_string(out_offset) + ", arrays " +
           std::to_string(arrays);
  }
};

std::vector<std::int64_t> drawn_entries(const MoveCase& of, std::mt19937_64& random) {
  std::vector<std::int64_t> entries(of.count);
  std::vector<std::int64_t> free(of.rows);
  for (std::uint64_t i = 0; i < of.rows; ++i) free[i] = static_cast<std::int64_t>(i);
  std::shuffle(free.begin(), free.end(), random);
  const bool may_miss = of.type.is_signed && (!of.takes || of.fill.with != Fill::With::nothing);
  for (std::int64_t& entry : entries) {
    const bool absent = std::uniform_real_distribution<>(0, 1)(random) < of.absent;
    if (may_miss && (absent || free.empty())) {
      entry = -1;
    } else if (of.takes) {
      entry = static_cast<std::int64_t>(random() % of.rows);
    } else {
      entry = free.back();
      free.pop_back();
    }
  }
  return entries;
}

// The entries as they lie in memory.
std::vector<std::uint64_t> stored(const std::vector<std::int64_t>& entries, IndexType type) {
  std::vector<std::uint64_t> words(entries.size() + 1);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (type.bytes == 8) {
      words[i] = static_cast<std::uint64_t>(entries[i]);
    } else {
      reinterpret_cast<std::uint32_t*>(words.data())[i] = static_cast<std::uint32_t>(entries[i]);
    }
  }
  return words;
}

RowMove move_of(const MoveCase& of, const void* entries) {
  const RowNumbers numbers(entries, of.count, of.type);
  if (of.takes) return Take{.from = numbers, .rows = of.rows, .fill = of.fill};
  return Put{.to = numbers, .rows = of.rows};
}

struct Ran {
  RowFaults faults;
  RowWay way = RowWay::vectors;
  RowPass pass;
};

// Runs `entries` over drawn arrays and holds them against the loop, which skips what is wrong; `unmoved`: of
// Put with faults, where nothing is written.
Ran expect_moved(const MoveCase& of, const std::vector<std::int64_t>& entries, bool unmoved = false) {
  SCOPED_TRACE(of.text());
  const std::vector<std::uint64_t> words = stored(entries, of.type);
  const RowMove move = move_of(of, words.data());
  const RowLayout layout{.outer = of.outer, .row_bytes = of.width};
  const RowPlan plan(move, layout, gpu_target());
  std::vector<Placed> in;
  std::vector<Placed> out;
  std::vector<Bytes> expected;
  std::vector<cuda::RowGroup::Arrays> arrays;
  in.reserve(of.arrays);
  out.reserve(of.arrays);
  for (std::uint64_t a = 0; a < of.arrays; ++a) {
    in.emplace_back(random_bytes(plan.in_bytes(), 2 * a + 1), of.in_offset);
    out.emplace_back(random_bytes(plan.out_bytes(), 2 * a + 2), of.out_offset);
    expected.push_back(out.back().bytes());
    if (!unmoved) move_plainly(move, layout, entries, in.back().bytes(), expected.back());
    arrays.push_back({.in = in.back().data(), .out = out.back().data()});
  }
  Ran ran;
  const Bytes pattern = cuda::fill_pattern(move);
  HostDevice device({.order = of.order});
  std::vector<std::uint64_t> workspace(plan.workspace_bytes() / 8 + 2, 0x5555555555555555);
  cuda::RowMoveQueue<HostDevice> queue(
      device, {.faults = &ran.faults, .fill_pattern = pattern.data(), .fill_bytes = pattern.size()},
      reinterpret_cast<std::byte*>(workspace.data()));
  queue.mark(plan);
  queue.move(plan, arrays);
  for (std::uint64_t a = 0; a < of.arrays; ++a) {
    EXPECT_EQ(out[a].bytes(), expected[a]) << "array " << a;
    EXPECT_TRUE(out[a].whole_around());
  }
  EXPECT_EQ(workspace.back(), 0x5555555555555555);
  ran.way = plan.way();
  const auto passes = plan.passes({.addresses = of.in_offset | of.out_offset, .arrays = of.arrays});
  if (!passes.empty()) ran.pass = passes.back();
  return ran;
}

Ran expect_moved(const MoveCase& of) {
  std::mt19937_64 random(of.width * 31 + of.count);
  Ran ran = expect_moved(of, drawn_entries(of, random));
  EXPECT_EQ(ran.faults.out_of_range, kNoFault);
  EXPECT_EQ(ran.faults.twice, kNoFault);
  return ran;
}

// Every kernel, each width near the changes, both directions; every kernel is reached.
TEST(RowMoveKernel, MovesRowsOfAnyWidth) {
  std::set<std::pair<RowKernel, int>> reached;
  for (const std::uint64_t width : {1U,   2U,   3U,   4U,   5U,   7U,   8U,    12U,   15U,   16U,  17U,  24U,
                                    31U,  32U,  33U,  34U,  36U,  48U,  64U,   66U,   68U,   72U,  100U, 130U,
                                    132U, 255U, 256U, 260U, 390U, 516U, 1000U, 1204U, 2050U, 4097U}) {
    for (const bool takes : {true, false}) {
      const Ran ran = expect_moved({.takes = takes, .width = width, .rows = 25, .absent = 0.2});
      reached.emplace(ran.pass.kernel, ran.pass.vector_bytes);
    }
  }
  EXPECT_EQ(reached.size(), 7U);  // vectors of 1 to 16, bytes, two rows' vectors
}

TEST(RowMoveKernel, MovesRowsAtAnyAddress) {
  std::set<std::pair<RowKernel, int>> reached;
  for (const std::uint64_t width : {3U, 16U, 20U, 64U, 129U, 1026U}) {
    for (const std::uint64_t in_offset : {0U, 1U, 2U, 4U, 8U, 15U}) {
      for (const std::uint64_t out_offset : {0U, 3U, 8U}) {
        for (const bool takes : {true, false}) {
          const Ran ran = expect_moved({.takes = takes,
                                        .width = width,
                                        .count = 9,
                                        .rows = 9,
                                        .in_offset = in_offset,
                                        .out_offset = out_offset,
                                        .order = Order::backward});
          reached.emplace(ran.pass.kernel, ran.pass.vector_bytes);
        }
      }
    }
  }
  EXPECT_EQ(reached.size(), 7U);  // vectors of 1 to 16, bytes, two rows' vectors
}

TEST(RowMoveKernel, MovesAlongAnyAxisByEveryTypeOfEntries) {
  for (const int bytes : {4, 8}) {
    for (const bool is_signed : {true, false}) {
      for (const bool takes : {true, false}) {
        for (const std::uint64_t width : {4U, 16U, 21U, 96U}) {
          expect_moved({.takes = takes,
                        .width = width,
                        .count = 11,
                        .rows = 17,
                        .outer = 5,
                        .type = {.bytes = bytes, .is_signed = is_signed}});
        }
      }
    }
  }
}

// Along the last axis: arrays that go by fours, and those of which a block has all entries.
TEST(RowMoveKernel, MovesElementsOfManyArrays) {
  std::set<std::pair<std::uint64_t, int>> reached;
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
    for (const std::uint64_t rows : {300U, 2100U, 5000U}) {
      for (const bool takes : {true, false}) {
        for (const Fill& fill : {Fill::zero(), Fill::kept(), Fill::of(random_bytes(1, 3))}) {
          const Ran ran = expect_moved({.takes = takes,
                                        .width = width,
                                        .count = rows - (takes ? 37 : 0),
                                        .rows = rows,
                                        .outer = rows < 1000 ? 7U : 4U,
                                        .type = {.bytes = width == 2 ? 8 : 4, .is_signed = true},
                                        .fill = fill,
                                        .order = takes ? Order::forward : Order::backward});
          EXPECT_EQ(ran.pass.kernel, RowKernel::move_elements);
          reached.emplace(ran.pass.arrays, ran.pass.vector_bytes);
        }
      }
    }
  }
  EXPECT_EQ(reached.size(), 9U);  // bytes by fours alone
}

// Short arrays by way of shared memory: all units, runs, whole and partial puts, last pieces that are
// shorter.
TEST(RowMoveKernel, MovesShortArraysByStages) {
  std::set<std::pair<int, bool>> reached;
  for (const std::uint64_t width : {1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U}) {
    for (const std::uint64_t rows : {1U, 5U, 13U}) {
      for (const bool takes : {true, false}) {
        for (const Fill& fill : {Fill{}, Fill::zero(), Fill::kept(), Fill::of(random_bytes(1, 3))}) {
          if (!takes && fill.with != Fill::With::kept) continue;
          const std::uint64_t count = takes ? rows + 3 : rows - rows / 4;
          const Ran ran = expect_moved({.takes = takes,
                                        .width = width,
                                        .count = count,
                                        .rows = rows,
                                        .outer = 140 * 16 / (width & (~width + 1)),
                                        .type = {.bytes = width == 2 ? 8 : 4, .is_signed = true},
                                        .fill = fill,
                                        .absent = rows == 5 ? 0.2 : 0.0,
                                        .order = takes ? Order::forward : Order::backward});
          EXPECT_EQ(ran.way, RowWay::staged);
          EXPECT_EQ(ran.pass.kernel, RowKernel::staged);
          reached.emplace(ran.pass.vector_bytes, takes);
        }
      }
    }
  }
  EXPECT_EQ(reached.size(), 8U);
  // At other addresses and of long or few arrays, or where few numbers are asked for, by other kernels.
  MoveCase other{.width = 4, .count = 40, .rows = 37, .outer = 600, .in_offset = 4};
  EXPECT_NE(expect_moved(other).pass.kernel, RowKernel::staged);
  other.in_offset = 0;
  EXPECT_EQ(expect_moved(other).pass.kernel, RowKernel::staged);
  other.outer = 100;
  EXPECT_NE(expect_moved(other).pass.kernel, RowKernel::staged);
  EXPECT_NE(expect_moved({.width = 1, .count = 2, .rows = 1000, .outer = 300}).pass.kernel,
            RowKernel::staged);
  EXPECT_NE(expect_moved({.width = 8, .count = 4000, .rows = 8000, .outer = 140}).pass.kernel,
            RowKernel::staged);
}

TEST(RowMoveKernel, FillsInEveryWay) {
  for (const std::uint64_t width : {4U, 6U, 16U, 24U, 35U, 48U}) {
    expect_moved({.width = width, .fill = Fill::kept(), .absent = 0.5});
    expect_moved({.width = width, .fill = Fill::zero(), .absent = 0.5});
    for (std::uint64_t of_fill = 1; of_fill <= width; ++of_fill) {
      if (width % of_fill != 0) continue;
      expect_moved({.width = width, .fill = Fill::of(random_bytes(of_fill, of_fill)), .absent = 0.5});
    }
  }
}

// One launch for many arrays.
TEST(RowMoveKernel, MovesManyArraysByOneTable) {
  for (const bool takes : {true, false}) {
    for (const std::uint64_t width : {2U, 8U, 16U, 48U, 33U})
      expect_moved({.takes = takes, .width = width, .count = 7, .rows = 8, .outer = 2, .arrays = 5});
  }
  expect_moved({.width = 4, .count = 3, .rows = 3, .arrays = 128});
}

// Rows that are taken again and again, part by part: the plan says when, and what is moved is the same.
TEST(RowMoveKernel, TakesRepeatedRowsByParts) {
  const auto slice_of = [](std::uint64_t count, std::uint64_t rows, std::uint64_t width) {
    const std::uint32_t entry = 0;  // a plan for a GPU reads none
    const Take take{.from = RowNumbers(&entry, count, {.bytes = 4}), .rows = rows};
    return RowPlan(take, {.row_bytes = width}, gpu_target()).passes().back().slice_bytes;
  };
  EXPECT_EQ(slice_of(32768, 4096, 14336), 512U);   // 2 MiB of all rows
  EXPECT_EQ(slice_of(65536, 8192, 14336), 1024U);  // where those are less than 512 bytes of a row, 8 MiB
  EXPECT_EQ(slice_of(4096, 4096, 14336), 0U);
  EXPECT_EQ(slice_of(32768, 512, 14336), 0U);
  EXPECT_EQ(slice_of(1 << 24, 1 << 20, 14336), 0U);

  const std::vector<std::int64_t> entries{2, 0, 2, 1, -1, 0, 2};
  const IndexType type{.bytes = 8, .is_signed = true};
  const Take take{.from = RowNumbers(entries.data(), entries.size(), type), .rows = 3, .fill = Fill::zero()};
  const RowLayout layout{.outer = 1, .row_bytes = 1536};
  Placed in(random_bytes(3 * layout.row_bytes, 1), 0);
  Placed out(random_bytes(entries.size() * layout.row_bytes, 2), 0);
  Bytes expected = out.bytes();
  move_plainly(take, layout, entries, in.bytes(), expected);
  RowFaults faults;
  kernels::MoveRowVectors<kernels::RowDirection::take, 16> kernel;
  kernel.shape.entries = cuda::entries_of(take);
  kernel.shape.arrays.in[0] = in.data();
  kernel.shape.arrays.out[0] = out.data();
  kernel.shape.count = device::Division64(entries.size());
  kernel.shape.row_bytes = layout.row_bytes;
  kernel.shape.fill = kernels::RowFill::zero;
  kernel.shape.faults = &faults;
  kernel.vectors = device::Division64(96);
  kernel.sliced = true;
  kernel.slice = device::Division64(32);
  kernel.all_slices = device::Division64(32 * entries.size());
  HostDevice().run(kernel);
  EXPECT_EQ(out.bytes(), expected);
}

TEST(RowMoveKernel, MovesNothingOfNothing) {
  for (const bool takes : {true, false}) {
    expect_moved({.takes = takes, .count = 0, .rows = 4});
    expect_moved({.takes = takes, .count = 0, .rows = 0});
    expect_moved({.takes = takes, .count = 4, .rows = 4, .outer = 0});
    expect_moved({.takes = takes, .count = 5, .rows = 5, .absent = 1});
    expect_moved({.takes = takes, .count = 1, .rows = 1, .absent = 0});
  }
}

// An entry that is wrong is told of and never followed; of Put nothing is moved then.
TEST(RowMoveKernel, NotesWrongEntries) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  for (const std::uint64_t width : {4U, 16U, 37U}) {
    const MoveCase taken{.width = width, .count = 6, .rows = 4, .type = {.bytes = 8, .is_signed = true}};
    EXPECT_EQ(expect_moved(taken, {0, 3, 4, -1, -2, huge}).faults.out_of_range, 2U);
    MoveCase many = taken;
    many.outer = 200;
    EXPECT_EQ(expect_moved(many, {0, 3, 4, -1, -2, huge}).faults.out_of_range, 2U);
    EXPECT_EQ(expect_moved(taken, {0, 3, 2, -1, 1, huge}).faults.out_of_range, 5U);
    MoveCase without_fill = taken;
    without_fill.fill = {};
    EXPECT_EQ(expect_moved(without_fill, {0, 3, 2, -1, 1, 0}).faults.out_of_range, 3U);
    MoveCase put = taken;
    put.takes = false;
    EXPECT_EQ(expect_moved(put, {0, 3, -1, 4, 1, huge}, true).faults.out_of_range, 3U);
    const RowFaults twice = expect_moved(put, {0, 3, -1, 2, 0, -1}, true).faults;
    EXPECT_EQ(twice.out_of_range, kNoFault);
    EXPECT_TRUE(twice.twice == 0 || twice.twice == 4);
  }
  MoveCase none{.count = 2, .rows = 0};
  EXPECT_EQ(expect_moved(none, {-1, 0}).faults.out_of_range, 1U);
}

TEST(RowMoveKernel, TellsItsLaunches) {
  const std::vector<std::int32_t> entries(1000);
  const Take take{.from = RowNumbers(std::span(entries)), .rows = 10};
  const RowPlan plan(take, {.row_bytes = 14336}, gpu_target());
  ASSERT_EQ(plan.passes().size(), 1U);
  EXPECT_EQ(plan.passes()[0].blocks, 1750U);  // 896 vectors a row, 512 a block
  EXPECT_EQ(plan.passes()[0].written_bytes, 14336000U);
  EXPECT_EQ(plan.passes()[0].read_bytes, 14336000U + 4000U);
  EXPECT_NE(plan.explain().find("1750 blocks of 256 threads: a thread moves 2 vectors of 16"),
            std::string::npos)
      << plan.explain();
  const RowPlan put(Put{.to = RowNumbers(std::span(entries)), .rows = 4000}, {.row_bytes = 14337},
                    gpu_target());
  EXPECT_EQ(put.way(), RowWay::bytes);
  EXPECT_EQ(put.passes().size(), 2U);
  EXPECT_EQ(put.workspace_bytes(), 4U + 500U);
}

}  // namespace row_move_kernel_test
}  // namespace faro::testing
