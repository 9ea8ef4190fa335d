// All 322,560 affine maps of 16 indices through the kernels that large arrays use: 20,160 invertible
// matrices, 16 complements each.
//
// Sixteen bytes are one narrow vector and less than a wide one, so that there is something to exchange only
// where elements are several units: with 2^e units an element, the map of units is the map of elements with e
// fixed bits below.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine_support.hpp"

namespace faro::testing {
namespace cpu_engine_exhaustive_test {

constexpr int kBits = 4;
constexpr std::uint64_t kIndices = 16;
constexpr std::uint64_t kAllMaps = 322560;

std::vector<f2::Matrix> all_invertible() {
  std::vector<f2::Matrix> list;
  for (std::uint64_t code = 0; code < 65536; ++code) {
    f2::Matrix a = f2::Matrix::zero(kBits, kBits);
    for (int j = 0; j < kBits; ++j) a.set_column(j, code >> 4 * j & 0xf);
    if (a.rank() == kBits) list.push_back(a);
  }
  return list;
}

struct Config {
  std::uint64_t element_bytes = 1;
  std::uint64_t batch = 1;
  std::uint64_t unit_bytes_max = 16;
  std::uint64_t vector_bytes = 16;
  std::uint64_t segment_bytes_max = 64;
};

Target target_of(const Config& config) {
  Target t = test_target(config.vector_bytes, Stores::streamed);
  t.unit_bytes_max = config.unit_bytes_max;
  t.segment_bytes_max = config.segment_bytes_max;
  return t;
}

// The arrays of one configuration, used again for every map.
class Bench {
 public:
  explicit Bench(const Config& config)
      : config_(config), bytes_(kIndices * config.element_bytes * config.batch), in_(bytes_), out_(room()) {
    SplitMix64 random{config.element_bytes};
    for (std::byte& b : in_) b = static_cast<std::byte>(random());
  }

  // out_offset 0: stores past the caches; odd: cached ones. Empty, or what is wrong.
  std::string run(const cpu::Executor& executor, const Affine& map, std::size_t out_offset) {
    std::fill(out_.begin(), out_.end(), kPoison);
    void* start = out_.data() + kGuardBytes;
    std::size_t space = out_.size() - kGuardBytes;
    std::byte* const out = static_cast<std::byte*>(std::align(kAlignment, bytes_, start, space)) + out_offset;
    executor.run(in_.data(), out);

    const std::uint64_t width = config_.element_bytes;
    for (std::uint64_t x = 0; x < kIndices; ++x) {
      std::uint64_t y = map.complement();
      for (int j = 0; j < kBits; ++j) y ^= (x >> j & 1) * map.matrix().column(j);
      for (std::uint64_t b = 0; b < config_.batch; ++b) {
        const std::byte* const expected = in_.data() + (b * kIndices + x) * width;
        if (std::memcmp(expected, out + (b * kIndices + y) * width, width) != 0) {
          return "array " + std::to_string(b) + ": in[" + std::to_string(x) + "] is not at out[" +
                 std::to_string(y) + "]";
        }
      }
    }
    const auto poisoned = [](const std::byte* from, const std::byte* to) {
      return std::all_of(from, to, [](std::byte b) { return b == kPoison; });
    };
    const bool intact = poisoned(out_.data(), out) && poisoned(out + bytes_, out_.data() + out_.size());
    return intact ? "" : "written outside the output";
  }

 private:
  std::size_t room() const { return bytes_ + 2 * kGuardBytes + 2 * kAlignment; }

  Config config_;
  std::uint64_t bytes_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
};

// Every map with this configuration, stores both ways. Returns the number of maps.
std::uint64_t run_all(const std::vector<f2::Matrix>& matrices, const Config& config, Reached& reached) {
  const Target target = target_of(config);
  const std::int64_t stride = kInstrumented ? 331 : 1;
  const auto count = static_cast<std::int64_t>(matrices.size() * kIndices);
  std::uint64_t done = 0;
#pragma omp parallel reduction(+ : done)
  {
    Bench bench(config);
    Reached mine;
    bool failed = false;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < count / stride; ++i) {
      const auto number = static_cast<std::uint64_t>(i * stride);
      const Affine map(matrices[number / kIndices], number % kIndices);
      const Problem problem{.permutation = map, .element_bytes = config.element_bytes, .batch = config.batch};
      const Plan plan(problem, target);
      const cpu::Executor executor(plan);
      for (const std::size_t out_offset : {0U, 1U}) {
        if (kInstrumented || number % 61 == 0 || map.is_identity()) note_kernels(plan, out_offset, mine);
        if (failed) continue;
        const std::string wrong = bench.run(executor, map, out_offset);
        if (wrong.empty()) continue;
        failed = true;
#pragma omp critical
        ADD_FAILURE() << wrong << "\n  "
                      << describe({.problem = problem, .target = target, .out_offset = out_offset});
      }
      ++done;
    }
#pragma omp critical
    reached.merge(mine);
  }
  return done;
}

// Elements of one unit; batches fold until there is a vector, and leave a tail.
TEST(CpuEngineExhaustive, EveryMapOfSixteenElements) {
  const std::vector<f2::Matrix> matrices = all_invertible();
  ASSERT_EQ(matrices.size() * kIndices, kAllMaps);
  Reached reached;
  for (const std::uint64_t vector : {16U, 64U}) {
    for (std::uint64_t unit = 1; unit <= 16; unit *= 2) {
      const Config config{.element_bytes = unit, .batch = 5, .vector_bytes = vector};
      const std::uint64_t done = run_all(matrices, config, reached);
      EXPECT_TRUE(kInstrumented || done == kAllMaps) << done;
      if (HasFailure()) return;
    }
  }
  for (const char* const branch : {"segments streamed", "tail", "staged"}) {
    EXPECT_TRUE(reached.contains(branch)) << branch;
  }
  EXPECT_TRUE(kInstrumented || reached.contains("copy streamed")) << "the identity is one of them";
}

// Elements of as many units as exchange the most between vectors, with segments of one vector.
TEST(CpuEngineExhaustive, EveryMapOfSixteenWiderElements) {
  const std::vector<f2::Matrix> matrices = all_invertible();
  Reached reached;
  for (const std::uint64_t vector : {16U, 64U}) {
    for (std::uint64_t unit = 1; unit <= 8; unit *= 2) {
      const std::uint64_t element = std::max(unit, vector / 4);  // four elements a vector
      run_all(matrices,
              {.element_bytes = element,
               .unit_bytes_max = unit,
               .vector_bytes = vector,
               .segment_bytes_max = vector},
              reached);
      if (HasFailure()) return;
      const std::uint64_t vectors = std::min(vector, cpu::widest_vector_bytes(unit));
      const int most = std::countr_zero(vector / element);
      if (vectors < vector) continue;
      for (int bits = 0; bits <= most; ++bits) {
        for (const bool streamed : {false, true}) {
          const std::string kernel = tile_kernel_name(vector, unit, bits, streamed);
          EXPECT_TRUE(reached.contains(kernel)) << kernel;
        }
      }
    }
  }
}

}  // namespace cpu_engine_exhaustive_test
}  // namespace faro::testing
