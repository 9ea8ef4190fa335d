// Networks as a GPU runs them, without a GPU: the launches that the CUDA engine makes, their kernels' own
// phases on the counting memory, against the reference interpreter; and what explain predicts of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/counting_memory.hpp"
#include "faro/network/network.hpp"
#include "faro/network/program.hpp"
#include "faro/permutation/affine.hpp"
#include "kernels/affine_tile.hpp"
#include "kernels/network_operators.hpp"
#include "network/device_tables.hpp"
#include "network/kernel_source.hpp"
#include "network/launches.hpp"
#include "network/prediction.hpp"
#include "refusal.hpp"

namespace faro::network {
namespace network_launches_test {

using kernels::NetworkShape;
using machine::CountingMemory;

// m, s and the width of elements, as kernel_shape() makes of them.
template <int width, int m, int s>
constexpr NetworkShape shape_of() {
  const int held = width == 2 && m >= 13 ? 5 : width <= 3 ? 4 : 3;
  const int registers = m < held ? m : (m - held > kernels::kMaxThreadBits ? m - 10 : held);
  const int vector = 4 - width < s ? 4 - width : s;
  return {{width, s, m - s, vector < registers ? vector : registers, m - registers}, registers};
}

// Runs one launch the way the kernel does, and adds up what it did.
template <NetworkShape shape, typename Operator>
machine::AccessCounts run_launch(const NetworkLaunch& launch, std::span<const std::byte> source,
                                 std::span<std::byte> target, const Operator& apply) {
  CountingMemory memory({static_cast<std::size_t>(shape.tile.tile_bytes()), {}});
  memory.add_input(source);
  memory.add_output(target);
  const kernels::NetworkTables tables = launch.tables.view();
  const auto phase = [&](auto& m, std::uint64_t number, std::uint64_t block, std::uint32_t thread) {
    if (number == 0) {
      kernels::load_tile<shape.tile>(m, launch.params, block, thread);
    } else if (number <= tables.group_count) {
      const auto group = static_cast<std::uint32_t>(number - 1);
      kernels::apply_group<shape>(
          m, launch.params, tables, group, block, thread, apply,
          kernels::group_ahead<shape>(launch.params, tables, group, block, thread, apply));
    } else {
      kernels::store_tile<shape.tile>(m, launch.params, block, thread);
    }
  };
  memory.run_each({launch.params.blocks(), static_cast<std::uint32_t>(shape.tile.threads())},
                  tables.group_count + std::uint64_t{2}, phase);
  EXPECT_TRUE(memory.output_complete());
  return memory.counts();
}

// Runs the plan's launches on real arrays and returns the result.
template <NetworkShape shape, typename Operator>
std::vector<std::byte> run_all(const Plan& plan, const std::vector<std::byte>& input,
                               const std::vector<Operator>& operators) {
  const std::vector<NetworkLaunch> launches = make_launches(plan);
  const std::vector<LaunchCounts> predicted = predict(plan);
  EXPECT_EQ(launches.size(), predicted.size());
  std::vector<std::byte> out(input.size());
  std::vector<std::byte> workspace(plan.workspace_bytes());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    // A pass in place reads what it writes; the counting memory wants two arrays.
    const auto& places = launches[i].places;
    const std::vector<std::byte> source = places.source == Place::in    ? input
                                          : places.source == Place::out ? out
                                                                        : workspace;
    std::vector<std::byte>& target = places.target == Place::workspace ? workspace : out;
    EXPECT_EQ(source.size(), input.size());
    const machine::AccessCounts counts = run_launch<shape>(launches[i], source, target, operators[i]);
    EXPECT_EQ(counts, predicted[i].counts) << "launch " << i;
    EXPECT_LE(counts.shared_loads.max_congestion(), 1) << "launch " << i;
    EXPECT_LE(counts.shared_stores.max_congestion(), 1) << "launch " << i;
    const std::uint64_t sectors = input.size() / 32;
    // A warp with fewer lanes asks for parts of sectors.
    const bool whole_sectors = (std::uint64_t{1} << (shape.tile.segment_bits + shape.tile.width_bits)) >= 32;
    if (whole_sectors && shape.tile.threads() >= 32) {
      EXPECT_EQ(counts.global_loads.sectors, sectors) << "launch " << i;
      EXPECT_EQ(counts.global_stores.sectors, sectors) << "launch " << i;
    }
  }
  return out;
}

template <typename Value>
std::vector<std::byte> random_bytes(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count * sizeof(Value));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

template <int width, int m, int s, typename Operator>
void check_bits(const Program& program, const ElementType& element, std::uint64_t batch,
                const Operator& apply) {
  SCOPED_TRACE("n = " + std::to_string(program.bits()) + ", m = " + std::to_string(m) +
               ", s = " + std::to_string(s));
  ASSERT_EQ(element.bytes(), std::uint64_t{1} << width);
  const Plan plan({program, element, batch}, {m, s}, Engine::cuda);
  constexpr NetworkShape shape = shape_of<width, m, s>();
  const std::size_t count = std::size_t{1} << program.bits();
  const std::vector<std::byte> input = random_bytes<typename Operator::Value>(count + batch, batch * count);
  const std::vector<std::byte> result =
      run_all<shape>(plan, input, std::vector<Operator>(make_launches(plan).size(), apply));
  std::vector<std::byte> expected = input;
  for (std::uint64_t array = 0; array < batch; ++array) {
    interpret(program, element,
              std::span(expected).subspan(array * count * element.bytes(), count * element.bytes()));
  }
  EXPECT_EQ(expected, result);
}

using SortU32 = kernels::CompareExchange<kernels::PlainKey<std::uint32_t, false>>;
using SortF64 = kernels::CompareExchange<kernels::PlainKey<std::int64_t, true>>;
using SortPairs = kernels::CompareExchange<kernels::KeyValue8<true, true>>;
using SortWide = kernels::CompareExchange<kernels::KeyValue16<true, false>>;

TEST(NetworkLaunches, SortLikeTheInterpreter) {
  const ElementType u32{Scalar::u32};
  check_bits<2, 8, 3>(sort(12), u32, 1, SortU32{});
  check_bits<2, 8, 5>(bitonic_sort(11), u32, 2, SortU32{});
  check_bits<2, 6, 2>(sort(9), u32, 3, SortU32{});
  check_bits<2, 7, 4>(merge(13), u32, 1, SortU32{});
  check_bits<3, 7, 2>(bitonic_sort(10), {Scalar::f64}, 1, SortF64{});
  check_bits<3, 7, 4>(sort(10), {Scalar::f32, true}, 1, SortPairs{});
  check_bits<4, 6, 2>(sort(9), {Scalar::i64, true}, 1, SortWide{});
  check_bits<2, 13, 5>(sort(15), u32, 1, SortU32{});
  check_bits<2, 14, 6>(bitonic_sort(15), u32, 1, SortU32{});
}

// Threads and blocks begin where the first elements of every layer's pairs are in the same registers.
TEST(NetworkLaunches, NoLayerOfASortIsTurnedRound) {
  for (const int m : {8, 12, 13, 14}) {
    for (const int n : {m, m + 3, 2 * m - 2}) {
      for (const Program& program : {sort(n), bitonic_sort(n), sort(n, operators::max_min()), merge(n)}) {
        const Plan plan({program, {Scalar::u32}, 1}, {m, std::min(m - 1, 5)}, Engine::cuda);
        int turned = 0;
        for (const NetworkLaunch& launch : make_launches(plan)) {
          for (const kernels::NetworkLayer& layer : launch.tables.layers)
            turned += layer.first_block != 0 || layer.first_thread != 0 ? 1 : 0;
        }
        EXPECT_EQ(turned, 0) << "n = " << n << ", m = " << m;
      }
    }
  }
}

TEST(NetworkLaunches, TinyArrays) {
  check_bits<2, 1, 1>(sort(1), {Scalar::u32}, 5, SortU32{});
  check_bits<2, 2, 2>(sort(2), {Scalar::u32}, 1, SortU32{});
  check_bits<4, 3, 3>(sort(3), {Scalar::i64, true}, 1, SortWide{});
}

TEST(NetworkLaunches, DescendingAndBothWays) {
  const Program descending = sort(10, operators::max_min());
  check_bits<2, 7, 3>(descending, {Scalar::u32}, 1, SortU32{});
  check_bits<2, 7, 3>(sort(10) * descending, {Scalar::u32}, 1, SortU32{});
}

TEST(NetworkLaunches, WalshHadamard) {
  check_bits<2, 8, 3>(wht(13), {Scalar::u32}, 1, kernels::Hadamard<std::uint32_t>{});
  check_bits<3, 8, 3>(wht(13), {Scalar::i64}, 2, kernels::Hadamard<std::uint64_t>{});
}

// The reference's twiddles are more exact than a product of two; both are near.
template <int m, int s>
void check_fourier(const Program& program) {
  SCOPED_TRACE("n = " + std::to_string(program.bits()) + ", m = " + std::to_string(m));
  const int n = program.bits();
  const Plan plan({program, {Scalar::c64}, 1}, {m, s}, Engine::cuda);
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<std::complex<float>> values(std::size_t{1} << n);
  for (auto& value : values) value = {uniform(random), uniform(random)};
  const auto as_bytes = std::as_bytes(std::span(values));
  const std::vector<std::byte> input(as_bytes.begin(), as_bytes.end());
  // The tables that the device would read, and every launch's own operator.
  const std::vector<NetworkLaunch> launches = make_launches(plan);
  DeviceTables tables;
  const std::vector<TableOffsets> offsets =
      add_tables(tables, launches, plan.problem().element, kernel_shape(plan, Access::vectors));
  std::vector<kernels::Fourier<float>> operators;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const OperatorArgument argument = operator_argument(launches[i].op, offsets[i], tables.bytes().data());
    kernels::Fourier<float> op;
    static_assert(sizeof op.twiddles == sizeof argument);
    std::memcpy(&op.twiddles, argument.data(), sizeof argument);
    operators.push_back(op);
  }
  const std::vector<std::byte> bytes = run_all<shape_of<3, m, s>()>(plan, input, operators);
  std::vector<std::complex<float>> result(values.size());
  std::memcpy(result.data(), bytes.data(), bytes.size());
  const auto expected = interpret(program, {Scalar::c64}, values);
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error += static_cast<double>(std::norm(result[i] - expected[i]));
    size += static_cast<double>(std::norm(expected[i]));
  }
  EXPECT_LT(std::sqrt(error / size), 1e-6);
}

TEST(NetworkLaunches, Fourier) {
  check_fourier<8, 2>(fft(12));
  check_fourier<8, 3>(fft_reversed(12));
  check_fourier<7, 2>(inverse_fft(11));
  check_fourier<6, 2>(fft(6));
}

// Powers of w are products in every layer of a transform, so that no thread looks a number up.
TEST(NetworkLaunches, FourierSharesAreDisjoint) {
  for (const Program& program : {fft(24), fft_reversed(24), fft(20), inverse_fft(27)}) {
    for (const Sizes& sizes : {Sizes{12, 4}, Sizes{12, 5}, Sizes{13, 4}, Sizes{11, 4}}) {
      const Plan plan({program, {Scalar::c64}, 1}, sizes, Engine::cuda);
      int layers = 0;
      int disjoint = 0;
      for (const NetworkLaunch& launch : make_launches(plan)) {
        for (const kernels::NetworkLayer& layer : launch.tables.layers) {
          ++layers;
          disjoint += layer.disjoint != 0 ? 1 : 0;
        }
      }
      EXPECT_EQ(disjoint, layers) << "n = " << program.bits() << ", m = " << sizes.tile_bits
                                  << ", s = " << sizes.segment_bits;
    }
  }
}

// Two operators in one pass are two launches; the second makes the move, and the first must not write where
// the second then reads too early.
// A layer whose power the kernel takes for the square of the one before has that square, for every thread and
// every block; of a transform of 2^20 elements most layers do.
TEST(NetworkLaunches, PowersOfFouriersLayersAreSquares) {
  int squares = 0;
  int layers = 0;
  for (const Program& program : {fft(20), fft_reversed(20), fft(13), inverse_fft(14)}) {
    const Plan plan({program, {Scalar::c64}, 1}, {}, Engine::cuda);
    const NetworkShape shape = kernel_shape(plan, Access::vectors);
    for (const NetworkLaunch& launch : make_launches(plan)) {
      for (const kernels::NetworkGroup& group : launch.tables.groups) {
        const GroupCode code = group_code(launch, group, shape);
        layers += static_cast<int>(code.size());
        EXPECT_FALSE(code.front().squares);
        for (std::size_t i = 1; i < code.size(); ++i) {
          if (!code[i].squares) continue;
          ++squares;
          const auto turn = [&](std::size_t layer, std::uint32_t value) {
            const std::size_t number = group.first_layer + layer;
            const kernels::NetworkPairs& of = launch.tables.pairs[number];
            std::uint32_t pair = of.lane[value % kernels::kLanes] ^ of.warp[value / kernels::kLanes];
            for (int digit = 0; digit < kernels::kBlockDigits; ++digit) {
              pair ^= of.block[digit][value * 7 % kernels::kBlockDigitValues];
            }
            return pair << (32 - launch.tables.layers[number].bits);  // a fraction of 2^32
          };
          for (std::uint32_t value = 0; value < kernels::kLanes * kernels::kLanes; ++value) {
            ASSERT_EQ(turn(i, value), 2 * turn(i - 1, value)) << program.bits() << ", layer " << i;
          }
        }
      }
    }
  }
  EXPECT_GT(2 * squares, layers);
}

TEST(NetworkLaunches, AChangeOfOperatorIsALaunch) {
  const ElementType i32{Scalar::i32};
  const auto places_of = [&](const Program& program, const Sizes& sizes) {
    std::vector<std::pair<Place, Place>> places;
    for (const NetworkLaunch& launch : make_launches(Plan({program, i32, 1}, sizes, Engine::cuda))) {
      places.emplace_back(launch.places.source, launch.places.target);
    }
    return places;
  };
  using Route = std::vector<std::pair<Place, Place>>;
  EXPECT_EQ(places_of(wht(6) * sort(6), {6, 3}), (Route{{Place::in, Place::out}, {Place::out, Place::out}}));
  const Program moved =
      bmmc(maps::bit_reversal(9)) * pairs(operators::hadamard(), 9) * pairs(operators::min_max(), 9);
  EXPECT_EQ(places_of(moved, {7, 3}), (Route{{Place::in, Place::workspace}, {Place::workspace, Place::out}}));
}

TEST(NetworkLaunches, Refusals) {
  const auto code_of = [](const Problem& problem, const Sizes& sizes) {
    return test::code_of([&] { static_cast<void>(make_launches(Plan(problem, sizes, Engine::cuda))); });
  };
  EXPECT_EQ(code_of({sort(20), {Scalar::u32}, 1}, {18, 8}), ErrorCode::unsupported);
  EXPECT_EQ(code_of({sort(20), {Scalar::u32}, 1}, {14, 2}), ErrorCode::unsupported);
}

}  // namespace network_launches_test
}  // namespace faro::network
