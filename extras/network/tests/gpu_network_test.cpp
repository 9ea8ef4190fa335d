// Networks on a GPU: every operator and element, sizes from 2 elements up, against the reference interpreter
// and against sorting.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "faro/engines/cuda_measure.hpp"
#include "faro/engines/nvrtc.hpp"
#include "faro/error.hpp"
#include "faro/network/network.hpp"
#include "faro/network/program.hpp"
#include "faro/permutation/affine.hpp"
#include "gpu/gpu_support.hpp"
#include "network/cuda_engine.hpp"
#include "refusal.hpp"

namespace faro::network {
namespace {

using cuda::DeviceArray;

class GpuNetwork : public testing::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const cuda::NvrtcStatus compiler = cuda::nvrtc_status();
    if (!compiler.available) GTEST_SKIP() << compiler.reason;
  }
};

// The plan's result for `input`, the arrays beginning `offset_bytes` past an aligned address.
std::vector<std::byte> run_on_device(const Problem& problem, const Sizes& sizes,
                                     const std::vector<std::byte>& input, std::uint64_t offset_bytes = 0) {
  const Plan plan(problem, sizes, Engine::cuda);
  const CudaExecutor executor(plan);
  DeviceArray in(input.size() + offset_bytes);
  DeviceArray out(input.size() + offset_bytes);
  std::vector<std::byte> shifted(input.size() + offset_bytes, std::byte{0xa5});
  std::copy(input.begin(), input.end(), shifted.begin() + static_cast<std::ptrdiff_t>(offset_bytes));
  in.upload(shifted.data());
  const cuda::StreamClock clock;
  static_cast<void>(clock.milliseconds(
      1, [&](Stream stream) { executor.run(in.data() + offset_bytes, out.data() + offset_bytes, stream); }));
  std::vector<std::byte> after(shifted.size());
  in.download(after.data());
  EXPECT_EQ(after, shifted) << "the input was written";
  out.download(after.data());
  return {after.begin() + static_cast<std::ptrdiff_t>(offset_bytes), after.end()};
}

std::vector<std::byte> random_bytes(std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

void expect_like_interpreter(const Program& program, const ElementType& element, std::uint64_t batch,
                             const Sizes& sizes = {}, std::uint64_t offset_bytes = 0) {
  SCOPED_TRACE("n = " + std::to_string(program.bits()) + ", " + to_text(element) + ", batch " +
               std::to_string(batch) + ", m = " + std::to_string(sizes.tile_bits));
  const std::uint64_t bytes = element.bytes() << program.bits();
  const std::vector<std::byte> input = random_bytes(batch * bytes, batch + bytes);
  std::vector<std::byte> expected = input;
  for (std::uint64_t array = 0; array < batch; ++array) {
    interpret(program, element, std::span(expected).subspan(array * bytes, bytes));
  }
  EXPECT_TRUE(run_on_device({program, element, batch}, sizes, input, offset_bytes) == expected);
}

TEST_F(GpuNetwork, SortsEveryElement) {
  for (const Scalar scalar : {Scalar::i32, Scalar::u32, Scalar::i64, Scalar::u64, Scalar::f32, Scalar::f64}) {
    for (const bool with_value : {false, true}) {
      expect_like_interpreter(sort(13), {scalar, with_value}, 1);
      expect_like_interpreter(bitonic_sort(11, operators::max_min()), {scalar, with_value}, 3);
    }
  }
}

TEST_F(GpuNetwork, EverySmallSize) {
  for (int n = 1; n <= 12; ++n) {
    expect_like_interpreter(sort(n), {Scalar::u32}, 1);
    expect_like_interpreter(sort(n), {Scalar::i64, true}, 5);
    expect_like_interpreter(wht(n), {Scalar::i32}, 2);
  }
}

TEST_F(GpuNetwork, TilesOfManyShapes) {
  for (const Sizes sizes : {Sizes{8, 3}, Sizes{10, 5}, Sizes{11, 2}, Sizes{13, 6}, Sizes{14, 6}}) {
    expect_like_interpreter(sort(15), {Scalar::u32}, 1, sizes);
    expect_like_interpreter(wht(16), {Scalar::i64}, 1, {sizes.tile_bits - 1, sizes.segment_bits - 1});
  }
}

TEST_F(GpuNetwork, ArraysAlignedToTheirElementsOnly) {
  expect_like_interpreter(sort(14), {Scalar::u32}, 1, {}, 4);
  expect_like_interpreter(sort(13), {Scalar::f64}, 2, {}, 8);
}

TEST_F(GpuNetwork, SeveralOperatorsAndMoves) {
  const Program program = bmmc(maps::bit_reversal(13)) * wht(13) * sort(13);
  expect_like_interpreter(program, {Scalar::i32}, 1);
  expect_like_interpreter(sort(12) * sort(12, operators::max_min()) * bmmc(maps::bit_reversal(12)),
                          {Scalar::u32}, 1);
}

// Against std::sort; duplicates, sorted, reversed, all equal, and ascending then descending.
TEST_F(GpuNetwork, SortsLargeArrays) {
  constexpr int bits = 22;
  constexpr std::size_t count = std::size_t{1} << bits;
  std::mt19937 random(5);
  std::vector<std::vector<std::uint32_t>> inputs(5, std::vector<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    inputs[0][i] = static_cast<std::uint32_t>(random());
    inputs[1][i] = static_cast<std::uint32_t>(random() % 7);
    inputs[2][i] = static_cast<std::uint32_t>(i);
    inputs[3][i] = static_cast<std::uint32_t>(count - i);
    inputs[4][i] = static_cast<std::uint32_t>(std::min(i, count - i));
  }
  for (const std::vector<std::uint32_t>& input : inputs) {
    const auto bytes = std::as_bytes(std::span(input));
    for (const Program& program : {sort(bits), bitonic_sort(bits)}) {
      const std::vector<std::byte> result =
          run_on_device({program, {Scalar::u32}, 1}, {}, {bytes.begin(), bytes.end()});
      std::vector<std::uint32_t> sorted = input;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(std::memcmp(result.data(), sorted.data(), result.size()), 0);
    }
  }
}

// 2^28 keys whose sorted order is known without sorting: a bijection of the indices, the same with 256 keys
// of each value, sorted, reversed, and ascending then descending.
TEST_F(GpuNetwork, SortsTwoToThe28) {
  constexpr int bits = 28;
  constexpr std::uint32_t count = std::uint32_t{1} << bits;
  struct Case {
    const char* name;
    std::uint32_t (*key)(std::uint32_t);
    std::uint32_t (*sorted)(std::uint32_t);
  };
  const Case cases[] = {
      {"bijection", [](std::uint32_t i) { return (i * 0x9e3779b1U + 12345U) % count; },
       [](std::uint32_t i) { return i; }},
      {"duplicates", [](std::uint32_t i) { return (i * 0x9e3779b1U) % count >> 8; },
       [](std::uint32_t i) { return i >> 8; }},
      {"sorted", [](std::uint32_t i) { return i; }, [](std::uint32_t i) { return i; }},
      {"reversed", [](std::uint32_t i) { return count - 1 - i; }, [](std::uint32_t i) { return i; }},
      {"up and down", [](std::uint32_t i) { return std::min(i, count - 1 - i); },
       [](std::uint32_t i) { return i >> 1; }},
  };
  const Plan plan({sort(bits), {Scalar::u32}, 1}, {}, Engine::cuda);
  const CudaExecutor executor(plan);
  const std::uint64_t bytes = plan.array_bytes();
  if (testing::free_device_bytes() < 4 * bytes) GTEST_SKIP() << "less than 4 GiB free on the device";
  DeviceArray in(bytes);
  DeviceArray out(bytes);
  const cuda::StreamClock clock;
  std::vector<std::uint32_t> keys(count);
  for (const Case& of : cases) {
    for (std::uint32_t i = 0; i < count; ++i) keys[i] = of.key(i);
    in.upload(keys.data());
    static_cast<void>(
        clock.milliseconds(1, [&](Stream stream) { executor.run(in.data(), out.data(), stream); }));
    out.download(keys.data());
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < count; ++i) wrong += keys[i] != of.sorted(i) ? 1 : 0;
    EXPECT_EQ(wrong, 0U) << of.name;
  }
}

template <typename Real>
double fourier_error(const Program& program, Scalar scalar) {
  const std::size_t count = std::size_t{1} << program.bits();
  std::mt19937_64 random(count);
  std::uniform_real_distribution<Real> uniform(-1, 1);
  std::vector<std::complex<Real>> values(count);
  for (auto& value : values) value = {uniform(random), uniform(random)};
  const auto bytes = std::as_bytes(std::span(values));
  const std::vector<std::byte> result =
      run_on_device({program, {scalar}, 1}, {}, {bytes.begin(), bytes.end()});
  std::vector<std::complex<Real>> got(count);
  std::memcpy(got.data(), result.data(), result.size());
  std::vector<std::complex<double>> wide(values.begin(), values.end());
  wide = interpret(program, {Scalar::c128}, wide);
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    error += std::norm(std::complex<double>(got[i]) - wide[i]);
    size += std::norm(wide[i]);
  }
  return std::sqrt(error / size);
}

TEST_F(GpuNetwork, FourierTransforms) {
  for (int n = 1; n <= 20; n += n < 14 ? 1 : 3) {
    SCOPED_TRACE("n = " + std::to_string(n));
    EXPECT_LT(fourier_error<float>(fft(n), Scalar::c64), 1e-7 * (n + 1));
    EXPECT_LT(fourier_error<float>(inverse_fft(n), Scalar::c64), 1e-7 * (n + 1));
    EXPECT_LT(fourier_error<double>(fft(n), Scalar::c128), 3e-16 * (n + 1));
    EXPECT_LT(fourier_error<double>(fft_reversed(n), Scalar::c128), 3e-16 * (n + 1));
  }
}

TEST_F(GpuNetwork, OperatorsOfTheUser) {
  const auto step = [](void* a, void* b, std::uint64_t p, int k) {
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    const std::uint32_t sum = x + 3 * y + static_cast<std::uint32_t>(p);
    y = x ^ static_cast<std::uint32_t>(k);
    std::memcpy(a, &sum, sizeof sum);
    std::memcpy(b, &y, sizeof y);
  };
  const Operator op = operators::user("mix", "auto sum = a + 3 * b + p; b = a ^ n; a = sum;", step);
  Program program = identity(13);
  for (int i = 0; i < 3; ++i)
    program = bmmc(maps::bit_reversal(13)) * parm(5, pairs(op, 12)) * pairs(op, 13) * program;
  expect_like_interpreter(program, {Scalar::u32}, 1);
  expect_like_interpreter(program, {Scalar::u32}, 2, {9, 3});

  const Operator wrong = operators::user("wrong", "a = undeclared;");
  test::expect_refused(ErrorCode::value, "undeclared", [&] {
    const CudaExecutor executor(Plan({pairs(wrong, 10), {Scalar::u32}, 1}, {}, Engine::cuda));
  });
}

// Short numbers: what becomes of a NaN's bits is each machine's own affair.
template <typename Real>
std::vector<std::byte> short_numbers(std::uint64_t bytes) {
  std::vector<Real> values(bytes / sizeof(Real));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Real>(i * 7919 % 1001) / 8 - 60;
  const auto raw = std::as_bytes(std::span(values));
  return {raw.begin(), raw.end()};
}

// Every function on every element that it takes, after a move and within a parm; a user's own beside a
// network.
TEST_F(GpuNetwork, ElementwiseFunctions) {
  for (const Scalar scalar : {Scalar::i32, Scalar::u32, Scalar::i64, Scalar::u64, Scalar::f32, Scalar::f64,
                              Scalar::c64, Scalar::c128}) {
    const ElementType element{scalar};
    const std::uint64_t bytes = element.bytes() << 9;
    const bool single = scalar == Scalar::f32 || scalar == Scalar::c64;
    const std::vector<std::byte> input = !is_float(scalar) && !is_complex(scalar) ? random_bytes(bytes, 4)
                                         : single ? short_numbers<float>(bytes)
                                                  : short_numbers<double>(bytes);
    for (const std::string& name : elementwise_names()) {
      const bool alone = name == "negate" || name == "absolute" || name == "conjugate" || name == "not";
      const Operator function = operators::each(alone ? name : name + " 5");
      try {
        check_fits(function, element);
      } catch (const Error&) {
        continue;
      }
      const Program program =
          bmmc(maps::gray(9)) * parm(5, each(function, 8)) * bmmc(maps::random_bmmc(9, 3));
      std::vector<std::byte> expected = input;
      interpret(program, element, std::span(expected));
      EXPECT_TRUE(run_on_device({program, element, 1}, {}, input) == expected)
          << to_text(element) << " " << name;
    }
  }
  const HostFunction host = [](void* a, void*, std::uint64_t, int) {
    std::uint32_t value = 0;
    std::memcpy(&value, a, sizeof value);
    value = value * 3 + 1;
    std::memcpy(a, &value, sizeof value);
  };
  const Operator own = operators::each("own", "a = a * 3 + 1;", host);
  expect_like_interpreter(sort(13) * each(own, 13) * parm(3, pairs(operators::hadamard(), 12)), {Scalar::u32},
                          1);
}

TEST_F(GpuNetwork, Refusals) {
  const CudaExecutor executor(Plan({sort(10), {Scalar::u32}, 1}, {}, Engine::cuda));
  const DeviceArray array(std::uint64_t{2} << 12);
  std::vector<std::uint32_t> host(1 << 10);
  EXPECT_THROW(executor.run(host.data(), array.data()), Error);
  EXPECT_THROW(executor.run(array.data(), array.data() + 4098), Error);
}

}  // namespace
}  // namespace faro::network
