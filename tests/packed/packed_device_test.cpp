// Packed elements by the kernels of a GPU, a thread at a time on the host: against the loop over bits, with
// guards around; matrices also by the memory that counts.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "block_emulator.hpp"
#include "faro/machine/counting_memory.hpp"
#include "packed/bit_axes.hpp"
#include "packed/device_move.hpp"
#include "packed_support.hpp"

namespace faro::testing {
namespace packed_device_test {

using namespace packed_support;

// Counts the kernels that were run.
class CountingDevice : public HostDevice {
 public:
  using HostDevice::HostDevice;
  template <typename Kernel>
  void run(const Kernel& kernel) {
    ++kernels;
    if constexpr (requires { kernel.params.exchange; }) ++tiles;
    if constexpr (requires { kernel.params.outers; }) ++strided;
    if constexpr (requires { kernel.of_strip; }) ++matrices;
    if constexpr (requires { kernel.run_bits; }) ++runs;
    if constexpr (requires { kernel.params.by_squares; })
      ++(kernel.params.by_squares ? box_squares : box_elements);
    HostDevice::run(kernel);
  }
  int kernels = 0;
  int tiles = 0;
  int matrices = 0;
  int runs = 0;
  int strided = 0;
  int box_squares = 0;
  int box_elements = 0;
};

// Runs two arrays' tiles, for the emulator would take minutes for all.
struct FewBlocks {
  bool reached_large = false;
  template <typename Kernel>
  void run(const Kernel& kernel) {
    if constexpr (requires { kernel.params.exchange; }) {
      Kernel few = kernel;
      few.params.tile.batch = 2;
      reached_large = kernel.shared_bytes() > 4096;
      emulate(few, {});
    }
  }
};

struct TakenMatrices {
  std::function<void(const kernels::PackedMatrixParams&)> take;
  template <typename Kernel>
  void run(const Kernel& kernel) {
    if constexpr (requires { kernel.of_strip; }) take(kernel);
  }
};

struct Reached {
  int tiles = 0;
  int matrices = 0;
  int runs = 0;
  int words = 0;
  int strided = 0;
  int box_squares = 0;
  int box_elements = 0;
};

void verify(const PackedProblem& asked, std::mt19937_64& random, Reached& reached, bool aligned = false,
            Order order = Order::forward) {
  const PackedPlan plan(asked, {.threads = 1});
  const PackedProblem& problem = plan.problem();
  const std::uint64_t skew_in = aligned ? 0 : random() % 9;
  const std::uint64_t skew_out = aligned ? 0 : random() % 9;
  CountingDevice device({.order = order});
  const int guards = HostDevice::guards_written();
  {
    constexpr std::uint64_t kAligned = 16;
    const auto place = [](std::byte* data, std::uint64_t skew) {
      return data + (kAligned - reinterpret_cast<std::uintptr_t>(data) % kAligned) % kAligned + skew;
    };
    auto in = device.buffer<std::byte>(plan.in_bytes() + 2 * kAligned);
    auto out = device.buffer<std::byte>(plan.out_bytes() + 2 * kAligned);
    std::byte* const from = place(in.data(), skew_in);
    std::byte* const to = place(out.data(), skew_out);
    for (std::uint64_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<std::byte>(random());
    for (std::uint64_t i = 0; i < out.size(); ++i) out.data()[i] = static_cast<std::byte>(random());
    Bytes wanted = out.download();
    const Bytes of_array =
        expected(problem, Bytes(from, from + plan.in_bytes()), Bytes(to, to + plan.out_bytes()));
    std::copy(of_array.begin(), of_array.end(), wanted.begin() + (to - out.data()));
    cuda::PackedMove move = packed::device_move(problem);
    move.work.in = from;
    move.work.in_bytes = plan.in_bytes();
    move.work.out = to;
    move.work.out_bytes = plan.out_bytes();
    cuda::move_packed(device, move, move.work);
    ASSERT_TRUE(out.download() == wanted) << text(problem, plan) << ", skews " << skew_in << ", " << skew_out;
  }
  ASSERT_EQ(HostDevice::guards_written(), guards) << text(problem, plan);
  reached.tiles += device.tiles;
  reached.matrices += device.matrices;
  reached.strided += device.strided;
  reached.runs += device.runs;
  reached.box_squares += device.box_squares;
  reached.box_elements += device.box_elements;
  reached.words += device.kernels - device.tiles - device.matrices - device.runs - device.strided -
                   device.box_squares - device.box_elements;
}

PadBits some_pads(std::mt19937_64& random) { return random() % 2 == 0 ? PadBits::keep : PadBits::zero; }

TEST(PackedDevice, AffineMapsOfAnySize) {
  std::mt19937_64 random(1);
  Reached reached;
  for (int trial = 0; trial < 120; ++trial) {
    const int n = 3 + static_cast<int>(random() % 13);
    const Affine map = trial % 2 == 0 ? maps::random_bmmc(n, random()) : maps::random_bpc(n, random());
    verify({.permutation = map,
            .element_bits = small_bits(random),
            .batch = 1 + random() % 3,
            .in = trial % 5 == 0 ? a_layout(8, 4, random) : PackedLayout{.order = an_order(random)},
            .out = {.first_bit = trial % 4 == 0 ? 128 : 0U, .order = an_order(random)},
            .pads = some_pads(random)},
           random, reached, trial % 3 != 0);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(reached.tiles, 10);
  EXPECT_GT(reached.words, 20);
}

// All 720 orders of 6 index bits and some constants, in one word and across words.
TEST(PackedDevice, EveryOrderOfSixIndexBits) {
  std::mt19937_64 random(2);
  Reached reached;
  std::vector<int> order(6);
  std::iota(order.begin(), order.end(), 0);
  do {
    verify({.permutation = Affine(maps::permute_bits(order).matrix(), random() % 64),
            .element_bits = small_bits(random),
            .in = {.order = an_order(random)},
            .out = {.order = an_order(random)}},
           random, reached);
    if (HasFatalFailure()) return;
  } while (std::next_permutation(order.begin(), order.end()));
}

// The large tiles, with as many blocks as take them.
TEST(PackedDevice, LargeTiles) {
  std::mt19937_64 random(3);
  Reached reached;
  for (const auto& [bits, n] : {std::pair{1U, 20}, std::pair{2U, 18}, std::pair{4U, 16}}) {
    cuda::PackedMove move = packed::device_move(
        PackedPlan({.permutation = maps::random_bmmc(n, random()), .element_bits = bits, .batch = 132})
            .problem());
    // Of the arrays all but two are not looked at.
    std::vector<std::uint64_t> in(move.batch << n >> 6 << (bits / 2));
    std::vector<std::uint64_t> out(in.size());
    for (std::uint64_t& word : in) word = random();
    const std::uint64_t bytes = in.size() * 8;
    move.work.in = reinterpret_cast<const std::byte*>(in.data());
    move.work.in_bytes = bytes;
    move.work.out = reinterpret_cast<std::byte*>(out.data());
    move.work.out_bytes = bytes;
    FewBlocks queue;
    cuda::move_packed(queue, move, move.work);
    EXPECT_TRUE(queue.reached_large);
    const PackedProblem two{.permutation = *move.places, .element_bits = bits, .batch = 2};
    const std::uint64_t of_two = bytes / 132 * 2;
    EXPECT_EQ(find_packed_mismatch(two, std::as_bytes(std::span(in)).first(of_two),
                                   std::as_bytes(std::span(out)).first(of_two)),
              "");
  }
}

TEST(PackedDevice, MatricesOfAnySides) {
  std::mt19937_64 random(4);
  Reached reached;
  for (int trial = 0; trial < 90; ++trial) {
    const std::uint64_t most = trial % 10 == 0 ? 700 : 150;
    const std::uint64_t rows = 1 + random() % most;
    const std::uint64_t columns = 1 + random() % most;
    const std::uint32_t bits = small_bits(random);
    verify({.permutation = maps::transpose_any(rows, columns),
            .element_bits = bits,
            .batch = 1 + random() % 2,
            .in = a_layout(columns, bits, random),
            .out = a_layout(rows, bits, random),
            .pads = some_pads(random)},
           random, reached, false, trial % 2 == 0 ? Order::forward : Order::backward);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(reached.matrices, 20);
  EXPECT_GT(reached.words, 20);
}

// More tiles than one each way, strips that are not full.
TEST(PackedDevice, MatricesOfManyTiles) {
  std::mt19937_64 random(5);
  Reached reached;
  for (const auto& [bits, rows, columns] :
       {std::tuple{1U, 2600U, 1100U}, std::tuple{1U, 1030U, 4100U}, std::tuple{2U, 1200U, 1040U},
        std::tuple{4U, 1290U, 300U}, std::tuple{4U, 512U, 520U}}) {
    verify({.permutation = maps::transpose_any(rows, columns), .element_bits = bits}, random, reached, true);
    verify({.permutation = maps::transpose_any(rows + 1, columns - 1), .element_bits = bits}, random,
           reached);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(reached.matrices, 10);
}

// Words in which one row of the output ends and another begins: the next column's, forwards and backwards,
// the next matrix's, of matrices one behind another and apart.
TEST(PackedDevice, MatricesWhoseRowsShareWords) {
  std::mt19937_64 random(13);
  Reached reached;
  for (const std::uint32_t bits : {1U, 2U, 4U}) {
    for (const std::string text :
         {"axes(129 131; 1 0)", "axes(3 131 5 77; 1 3 0 2)", "axes(5 67 3 131; 3 1 0 2)",
          "axes(67 131 5; 1 2 0)", "axes(3 5 549 141; 3 0 1 2)"}) {
      verify({.permutation = parse_permutation(text),
              .element_bits = bits,
              .batch = 1 + random() % 3,
              .in = {.first_bit = random() % 40 * bits, .order = an_order(random)},
              .out = {.first_bit = random() % 40 * bits, .order = an_order(random)}},
             random, reached, false, random() % 2 == 0 ? Order::forward : Order::backward);
      if (HasFatalFailure()) return;
    }
    for (const bool rows_back : {false, true}) {
      for (const bool columns_back : {false, true}) {
        verify({.permutation = CyclicAxes({2, 165, 131}, {0, 2, 1},
                                          {{.count = 2},
                                           {.count = 165, .reversed = rows_back},
                                           {.count = 131, .reversed = columns_back}}),
                .element_bits = bits},
               random, reached);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GE(reached.matrices, 20);
}

TEST(PackedDevice, AxesFlipsAndRollsOfAnyExtents) {
  std::mt19937_64 random(6);
  Reached reached;
  for (int trial = 0; trial < 240; ++trial) {
    const std::size_t rank = 1 + random() % 5;
    std::vector<std::uint64_t> shape(rank);
    for (std::size_t a = 0; a < rank; ++a)
      shape[a] = 1 + random() % (a + 2 >= rank && trial % 3 == 0 ? 90 : 9);
    const DrawnAxes axes = drawn_axes(shape, random);
    const std::uint32_t bits = small_bits(random);
    verify({.permutation = axes.permutation,
            .element_bits = bits,
            .batch = 1 + random() % 3,
            .in = a_layout(axes.row_before, bits, random),
            .out = a_layout(axes.row_after, bits, random),
            .pads = some_pads(random)},
           random, reached);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(reached.matrices, 2);
}

// A few rows or columns, runs of several axes, slices and flips, of which boxes go by squares and by
// elements.
TEST(PackedDevice, BoxesOfShortAxes) {
  std::mt19937_64 random(21);
  Reached reached;
  for (const std::string text :
       {"axes(4 2500; 1 0)", "axes(2500 3; 1 0)", "axes(17 61 83; 2 1 0)", "axes(5 7 9 11 13; 4 3 2 1 0)",
        "axes(9 3 200 11; 3 1 0 2)", "axes(13 900 5; 1 0 2)", "axes(40 3 900; 1 0 2)", "axes(700 3 5; 1 2 0)",
        "axes(3 2100 2; 2 1 0)", "axes(61 20 70; 1 0 2)", "axes(2 3 2 3 2 3 40; 5 0 4 1 6 3 2)"}) {
    for (const std::uint32_t bits : {1U, 2U, 4U, 3U}) {
      const BitOrder order = an_order(random);
      verify({.permutation = parse_permutation(text),
              .element_bits = bits,
              .batch = 1 + random() % 3,
              .in = {.first_bit = random() % 40 * bits, .order = order},
              .out = {.first_bit = random() % 40 * (random() % 3 == 0 ? 1 : bits),
                      .order = bits == 3 ? order : an_order(random)}},
             random, reached, false, random() % 2 == 0 ? Order::forward : Order::backward);
      if (HasFatalFailure()) return;
    }
  }
  for (int trial = 0; trial < 50; ++trial) {
    const std::size_t rank = 2 + random() % 4;
    std::vector<std::uint64_t> shape(rank);
    std::uint64_t left = 40000;
    for (std::uint64_t& extent : shape) {
      extent = 1 + random() % std::min<std::uint64_t>(left, random() % 3 == 0 ? 900 : 12);
      left = std::max<std::uint64_t>(left / extent, 1);
    }
    const DrawnAxes axes = drawn_axes(shape, random);
    const std::uint32_t bits = small_bits(random);
    verify({.permutation = axes.permutation,
            .element_bits = bits,
            .batch = 1 + random() % 3,
            .in = a_layout(axes.row_before, bits, random),
            .out = a_layout(axes.row_after, bits, random),
            .pads = some_pads(random)},
           random, reached);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(reached.box_squares, 8);
  EXPECT_GT(reached.box_elements, 20);
}

// Weights' orders at sizes that are no powers of two, and axes with powers of two in their extents.
TEST(PackedDevice, AxesOfBitsAndOddParts) {
  std::mt19937_64 random(8);
  Reached reached;
  for (const std::string text :
       {"marlin(32, 192)", "compose(marlin(48, 320), inverse(awq(15360)))", "gptq(24, 160)",
        "tinygemm(24, 96, 2)", "gguf_halves(64, 1920)", "axes(6 32 5 32; 3 0 2 1)",
        "axes(12 64 20 32; 2 1 0 3)", "marlin(16, 4416)"}) {
    verify({.permutation = parse_permutation(text), .element_bits = 4, .batch = 1 + random() % 2}, random,
           reached, true);
    verify({.permutation = parse_permutation(text), .element_bits = 4}, random, reached);
    if (HasFatalFailure()) return;
  }
  for (const std::uint32_t bits : {1U, 2U}) {
    verify({.permutation = parse_permutation("axes(3 128 6 128; 3 0 2 1)"), .element_bits = bits}, random,
           reached, true);
    verify({.permutation = parse_permutation("axes(2 128 3 128; 1 2 3 0)"), .element_bits = bits}, random,
           reached, true);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(reached.strided, 6);
}

// By squares, which are taken where there are many tiles.
template <std::size_t index>
void expect_strided_squares(const std::string& text) {
  constexpr kernels::PackedAffineShape shape = kernels::kPackedTiles[index].shape;
  constexpr std::uint32_t bits = 32 >> shape.word_index_bits;
  static_assert(shape.has_squares());
  std::mt19937_64 random(9);
  const PackedPlan plan({.permutation = parse_permutation(text), .element_bits = bits});
  const auto axes = packed::bit_axes(plan.problem());
  ASSERT_TRUE(axes.has_value()) << text;
  ASSERT_EQ(axes->parts.size(), 1);
  const auto params = kernels::make_packed_strided_params(axes->parts.front(), bits, shape);
  ASSERT_TRUE(params.has_value()) << text;
  const Bytes in = random_bytes(plan.in_bytes() + 16, random);
  Bytes out(plan.out_bytes() + 16);
  const auto aligned = [](const Bytes& bytes) {
    return (16 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 16) % 16;
  };
  kernels::MovePackedStrided<index> kernel;
  kernel.params = *params;
  kernel.in = in.data() + aligned(in);
  kernel.out = out.data() + aligned(out);
  emulate(kernel, {});
  EXPECT_EQ(
      find_packed_mismatch(plan.problem(), {kernel.in, plan.in_bytes()}, {kernel.out, plan.out_bytes()}), "")
      << text;
}

TEST(PackedDevice, AxesOfBitsAndOddPartsBySquares) {
  expect_strided_squares<0>("axes(1024 3 1024; 2 1 0)");
  expect_strided_squares<1>("axes(512 3 512; 2 1 0)");
  expect_strided_squares<2>("axes(256 3 256; 2 1 0)");
  expect_strided_squares<3>("axes(1024 3 1024; 2 1 0)");
  expect_strided_squares<4>("axes(512 3 512; 2 1 0)");
  expect_strided_squares<5>("axes(256 3 256; 2 1 0)");
  expect_strided_squares<5>("compose(marlin(256, 768), inverse(awq(196608)))");
}

TEST(PackedDevice, LongRollsAndFlips) {
  std::mt19937_64 random(7);
  Reached reached;
  for (const std::uint32_t bits : {1U, 2U, 4U}) {
    for (const std::uint64_t count : {0U, 1U, 7U, 1000U, 30'001U}) {
      const PackedLayout in{.first_bit = random() % 40, .order = an_order(random)};
      if (count != 0)
        verify({.permutation = maps::roll(count, 12345), .element_bits = bits, .in = in}, random, reached);
      verify({.permutation = maps::flip(count),
              .element_bits = bits,
              .in = in,
              .out = {.order = an_order(random)}},
             random, reached);
      // Rows of several runs, and every other one.
      verify({.permutation = CyclicAxes({3, count % 5 + 1, 2, 5000}, {2, 0, 1, 3},
                                        {{.count = 3},
                                         {.count = count % 5 + 1},
                                         {.count = 2},
                                         {.count = 5000, .shift = 77, .reversed = count % 2 == 1}}),
              .element_bits = bits,
              .in = in,
              .out = {.order = an_order(random)}},
             random, reached);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(reached.runs, 10);
}

// Elements that are no power of two bits: nothing is turned inside them.
TEST(PackedDevice, OtherWidths) {
  std::mt19937_64 random(10);
  Reached reached;
  for (const std::uint32_t bits : {3U, 5U, 6U, 7U, 12U, 31U}) {
    for (const Permutation& permutation :
         {Permutation(Axes({7, 11, 13}, {2, 0, 1})), Permutation(Axes({3, 4, 4001}, {1, 0, 2})),
          Permutation(maps::flip(3001)), Permutation(maps::roll(9001, 77)),
          Permutation(maps::bit_reversal(9)), Permutation(maps::random_bmmc(8, random()))}) {
      const BitOrder order = an_order(random);
      verify({.permutation = permutation,
              .element_bits = bits,
              .batch = 1 + random() % 2,
              .in = {.first_bit = random() % 40, .order = order},
              .out = {.first_bit = random() % 40, .order = order},
              .pads = some_pads(random)},
             random, reached);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(reached.runs, 6);
  EXPECT_GT(reached.words, 20);
}

// What the blocks of a kernel of matrices access in arrays of so many bytes, and how many words its rows end
// in: of all blocks, or of those in which lanes do the same, inside the array and between its columns.
struct MatrixCounts {
  machine::AccessCounts counts = {};
  std::uint64_t ends = 0;
};
template <int q>
MatrixCounts counted(const kernels::MovePackedMatrix<q>& kernel, std::uint64_t in_bytes,
                     std::uint64_t out_bytes) {
  MatrixCounts made;
  machine::CountingMemory memory({.shared_bytes = kernel.shared_bytes()});
  memory.add_virtual_input(in_bytes);
  memory.add_virtual_output(out_bytes);
  const auto is_counted = [&](const auto& tile) {
    if (!kernel.parted) return true;
    const std::int64_t end = tile.row + std::int64_t{kernel.words_down + 8} * kernel.kSide;
    return tile.is_inside && tile.ends == 0 && tile.row >= 0 && end <= static_cast<std::int64_t>(kernel.rows);
  };
  memory.run(
      {.blocks = kernel.blocks(), .threads = kernel.kThreads},
      [&](auto& m, auto block, auto thread) {
        const auto tile = kernel.tile_of(block);
        if (is_counted(tile)) kernel.load(m, tile, thread);
      },
      [&](auto& m, auto block, auto thread) {
        const auto tile = kernel.tile_of(block);
        if (is_counted(tile)) kernel.store(m, tile, thread, [&](auto...) { ++made.ends; });
      });
  made.counts = memory.counts();
  return made;
}

void count_matrices(
    const PackedProblem& problem, std::uint64_t in_bytes, std::uint64_t out_bytes,
    const std::function<void(const kernels::PackedMatrixParams&, const MatrixCounts&)>& check) {
  alignas(32) std::byte base[32] = {};
  cuda::PackedMove move = packed::device_move(PackedPlan(problem).problem());
  move.work.in = base;
  move.work.in_bytes = in_bytes;
  move.work.out = base;
  move.work.out_bytes = out_bytes;
  int matrices = 0;
  TakenMatrices queue{[&](const kernels::PackedMatrixParams& params) {
    ++matrices;
    if (problem.element_bits == 1)
      check(params, counted(kernels::MovePackedMatrix<5>{{params}}, in_bytes, out_bytes));
    if (problem.element_bits == 2)
      check(params, counted(kernels::MovePackedMatrix<4>{{params}}, in_bytes, out_bytes));
    if (problem.element_bits == 4)
      check(params, counted(kernels::MovePackedMatrix<3>{{params}}, in_bytes, out_bytes));
  }};
  cuda::move_packed(queue, move, move.work);
  EXPECT_EQ(matrices, 1);
}

// Bytes over the bus: of rows that begin with words each once, in whole sectors.
TEST(PackedDevice, MatricesAskForWholeSectors) {
  for (const std::uint32_t bits : {1U, 2U, 4U}) {
    const std::uint64_t rows = 1024;
    const std::uint64_t columns = 2048;
    const std::uint64_t bytes = rows * columns * bits / 8;
    PackedProblem problem{.permutation = Axes({rows, columns}, {1, 0}), .element_bits = bits};
    // As axes: affine maps of dense arrays go by tiles of words.
    problem.in.row_elements = columns;
    problem.in.pitch_bits = columns * bits + 256;
    count_matrices(problem, rows * (columns * bits + 256) / 8, bytes,
                   [&](const kernels::PackedMatrixParams&, const MatrixCounts& made) {
                     EXPECT_EQ(made.counts.global_loads.bytes, bytes);
                     EXPECT_EQ(made.counts.global_stores.bytes, bytes);
                     // A thread's squares of nibbles lie side by side: each sector is asked for by both.
                     EXPECT_EQ(made.counts.global_loads.sectors, bytes / 32 * (bits == 4 ? 2 : 1));
                     EXPECT_EQ(made.counts.global_stores.sectors, bytes / 32);
                     EXPECT_EQ(made.counts.shared_loads.max_congestion(), 1);
                     EXPECT_EQ(made.counts.shared_stores.max_congestion(), 1);
                     EXPECT_EQ(made.ends, 0);
                   });
  }
}

// Chains of matrices whose rows follow one another: the output's sectors are written whole.
TEST(PackedDevice, ChainsOfMatricesWriteWholeSectors) {
  const std::uint64_t rows = 255;
  const std::uint64_t number = 17;
  const std::uint64_t columns = 1023;
  const std::uint64_t bytes = (number * rows * columns + 1) / 2;
  count_matrices({.permutation = Axes({rows, number, columns}, {2, 1, 0}), .element_bits = 4}, bytes, bytes,
                 [&](const kernels::PackedMatrixParams& params, const MatrixCounts& made) {
                   EXPECT_TRUE(params.is_chain);
                   EXPECT_TRUE(params.parted);
                   EXPECT_EQ(params.rows, number * rows);
                   EXPECT_EQ(params.next, kernels::PackedNext::column);
                   EXPECT_GT(made.counts.global_stores.bytes, bytes / 4);
                   EXPECT_EQ(made.counts.global_stores.bytes, made.counts.global_stores.sectors * 32);
                   EXPECT_EQ(made.ends, 0);
                 });
}

// What no kernel has a form for goes by an index array: drawn ones, multiplications, axes that leave rows.
TEST(PackedDevice, IndexArraysAndWhatBecomesOne) {
  std::mt19937_64 random(11);
  Reached reached;
  for (int trial = 0; trial < 60; ++trial) {
    const std::uint64_t count = trial < 4 ? static_cast<std::uint64_t>(trial) : 1 + random() % 3000;
    const std::uint32_t bits =
        trial % 3 == 0 ? small_bits(random) : 1 + static_cast<std::uint32_t>(random() % 70);
    Permutation permutation = Indexed::random(count, random());
    if (trial % 4 == 1) permutation = Indexed::random(count, random()).inverse();
    if (trial % 4 == 2 && count % 2 == 1) permutation = maps::multiply(count, 2);
    if (trial % 4 == 3) permutation = maps::transpose_any(count, 3);
    const std::uint64_t row = 1 + random() % (count + 1);
    PackedLayout in = a_layout(row, bits, random);
    PackedLayout out = a_layout(1 + random() % (count + 1), bits, random);
    if (8 % bits != 0) out.order = in.order;
    verify({.permutation = permutation,
            .element_bits = bits,
            .batch = 1 + random() % 3,
            .in = in,
            .out = out,
            .pads = some_pads(random)},
           random, reached);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(reached.words, 40);
}

// Elements longer than a word: rows of an odd number of bits.
TEST(PackedDevice, LongElements) {
  std::mt19937_64 random(12);
  Reached reached;
  for (const std::uint32_t bits : {33U, 63U, 65U, 100U, 999U, 4001U}) {
    for (const Permutation& permutation :
         {Permutation(Axes({7, 5, 3}, {2, 0, 1})), Permutation(Axes({3, 401}, {1, 0})),
          Permutation(maps::flip(31)), Permutation(maps::roll(301, 77)), Permutation(maps::bit_reversal(6)),
          Permutation(Indexed::random(99, random()))}) {
      const BitOrder order = an_order(random);
      verify({.permutation = permutation,
              .element_bits = bits,
              .batch = 1 + random() % 2,
              .in = {.first_bit = random() % 40, .order = order},
              .out = {.first_bit = random() % 40, .order = order},
              .pads = some_pads(random)},
             random, reached);
      if (HasFatalFailure()) return;
    }
  }
}

// In place, by the kernels: the tiles of small arrays, and large ones' with few blocks.
void verify_in_place(const Affine& map, std::uint32_t bits, std::uint64_t batch, std::mt19937_64& random,
                     std::set<std::size_t>& tiles) {
  const auto passes = kernels::make_packed_in_place(bits, map, batch);
  ASSERT_TRUE(passes.has_value()) << to_text(map);
  EXPECT_LE(passes->passes.size(), 4);
  const PackedProblem problem{.permutation = map, .element_bits = bits, .batch = batch};
  const std::uint64_t bytes = packed_bytes({}, bits, batch << map.bits());
  const int guards = HostDevice::guards_written();
  {
    HostDevice device({.order = random() % 2 == 0 ? Order::forward : Order::backward});
    auto data = device.buffer<std::byte>(bytes + 16);
    std::byte* const array = data.data() + (16 - reinterpret_cast<std::uintptr_t>(data.data()) % 16) % 16;
    const Bytes before = random_bytes(bytes, random);
    std::copy(before.begin(), before.end(), array);
    kernels::move_packed_in_place(device, array, *passes);
    EXPECT_EQ(find_packed_mismatch(problem, before, {array, bytes}), "") << to_text(map) << ", bits " << bits;
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
  tiles.insert(passes->tile);
}

TEST(PackedDevice, InPlace) {
  std::mt19937_64 random(13);
  std::set<std::size_t> tiles;
  for (int trial = 0; trial < 60; ++trial) {
    const std::uint32_t bits = small_bits(random);
    const int least = bits == 1 ? 14 : bits == 2 ? 12 : 10;
    const int n = least + trial % 3;
    const Affine map = trial % 4 == 0   ? maps::random_bmmc(n, random())
                       : trial % 4 == 1 ? maps::random_bpc(n, random())
                       : trial % 4 == 2
                           ? maps::bit_reversal(n)
                           : maps::transpose(std::uint64_t{1} << n / 2, std::uint64_t{1} << (n + 1) / 2);
    verify_in_place(map, bits, 1 + random() % 3, random, tiles);
    if (HasFailure()) return;
  }
  verify_in_place(Affine(12), 4, 1, random, tiles);
  // Whole tiles change places, and all but the first 2^9 stay.
  verify_in_place(Affine(f2::Matrix::identity(15), 1 << 14), 1, 2, random, tiles);
  for (const auto& [bits, n] : {std::pair{1U, 18}, std::pair{2U, 16}, std::pair{4U, 16}}) {
    verify_in_place(maps::random_bmmc(n, random()), bits, bits == 1 ? 132 : 140, random, tiles);
  }
  EXPECT_EQ(tiles.size(), kernels::kPackedInPlaceTileCount);
  EXPECT_FALSE(kernels::make_packed_in_place(4, maps::bit_reversal(9), 100).has_value());
}

}  // namespace packed_device_test
}  // namespace faro::testing
