// All 322,560 affine maps of 16 indices on the GPU: 20,160 invertible matrices, 16 complements each.
//
// Once as tiles of their own, through the phases in shapes of sixteen elements and fewer, one launch a map;
// once as a user runs them, as a batch that fills a tile of the engine's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "gpu/gpu_support.hpp"
#include "gpu/gpu_test_tiles.hpp"
#include "kernels/affine_params.hpp"

namespace faro::testing {
namespace {

constexpr int kBits = 4;
constexpr std::uint64_t kComplements = 16;
constexpr std::uint64_t kAllMaps = 322560;

const std::vector<f2::Matrix>& all_invertible() {
  static const std::vector<f2::Matrix> list = [] {
    std::vector<f2::Matrix> found;
    for (std::uint64_t code = 0; code < 65536; ++code) {
      f2::Matrix a = f2::Matrix::zero(kBits, kBits);
      for (int j = 0; j < kBits; ++j) a.set_column(j, code >> 4 * j & 15);
      if (a.rank() == kBits) found.push_back(a);
    }
    return found;
  }();
  return list;
}

Affine map_number(std::uint64_t number) {
  return {all_invertible()[number / kComplements], number % kComplements};
}

SmallMap small_map(const Affine& map) {
  const f2::Matrix rows = map.matrix().transposed();
  std::uint64_t packed = map.complement() << 16;
  for (int i = 0; i < kBits; ++i) packed |= rows.column(i) << 4 * i;
  return static_cast<SmallMap>(packed);
}

// Calls work(i) for 0 <= i < count from all threads; the first exception is thrown again here.
template <typename Work>
void in_parallel(std::uint64_t count, const Work& work) {
  std::exception_ptr failure;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    try {
      work(static_cast<std::uint64_t>(i));
    } catch (...) {
#pragma omp critical
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

class GpuExhaustive : public GpuTest {};

// --- tiles of sixteen elements, and a few more where a vector holds as many

constexpr std::uint64_t kChunk = 8192;  // maps whose parameters are held at a time

std::string text_of(const TestTile& tile) {
  const kernels::AffineTileShape& s = tile.kernel.shape;
  return "a tile of " + std::to_string(s.element_bytes()) + "-byte elements, s " +
         std::to_string(s.segment_bits) + ", r " + std::to_string(s.row_bits) + ", v " +
         std::to_string(s.vector_bits) + ", " + std::to_string(s.threads()) + " threads" +
         (tile.kernel.blocked ? ", blocked" : "");
}

// The map of the tile's index bits.
Affine embedded(const Affine& map, const TestTile& tile) {
  const auto placed = [&](f2::Word x) {
    f2::Word y = 0;
    for (int i = 0; i < kBits; ++i) y |= (x >> i & 1) << tile.position[i];
    return y;
  };
  f2::Matrix a = f2::Matrix::identity(tile.index_bits);
  for (int j = 0; j < kBits; ++j) a.set_column(tile.position[j], placed(map.matrix().column(j)));
  return {a, placed(map.complement())};
}

// Nothing where a blocked kernel cannot move the map.
template <typename Params>
std::optional<Params> small_params(const Affine& map, const kernels::CompiledTile& kernel) {
  const layout::Tile made = layout::make_tile(
      map, {.segment_bits = kernel.shape.segment_bits, .min_row_bits = kernel.shape.row_bits});
  if constexpr (std::is_same_v<Params, kernels::AffineTileParams>) {
    return kernels::make_affine_tile_params(made, kernel.shape, 1, kFourBanks);
  } else {
    if (!kernels::fits_blocked(made, kernel.shape, kFourBanks)) return std::nullopt;
    return kernels::make_affine_blocked_params(made, kernel.shape, 1, kFourBanks);
  }
}

// One launch a map, into its own array. Returns the maps as the oracle wants them.
template <typename Params>
std::vector<SmallMap> launch_all_small(std::size_t number, const GpuArrays& arrays, const OwnStream& stream) {
  const TestTile& tile = kTestTiles[number];
  const kernels::AffineTileShape& shape = tile.kernel.shape;
  const std::uint64_t blocks = std::uint64_t{1} << (tile.index_bits - shape.tile_bits());
  const std::uint64_t stride_bytes = std::uint64_t{2} << (tile.index_bits + shape.width_bits);
  std::vector<SmallMap> moved(kAllMaps, kNotMoved);
  std::vector<std::optional<Params>> params(kChunk);
  for (std::uint64_t first = 0; first < kAllMaps; first += kChunk) {
    const std::uint64_t count = std::min(kChunk, kAllMaps - first);
    in_parallel(count, [&](std::uint64_t i) {
      const Affine map = map_number(first + i);
      params[i] = small_params<Params>(embedded(map, tile), tile.kernel);
      if (params[i]) moved[first + i] = small_map(map);
    });
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!params[i]) continue;
      const std::uint64_t offset = (first + i) * stride_bytes;
      launch_test_tile(number, &*params[i], blocks, arrays.in() + offset, arrays.out() + offset, stream);
    }
  }
  return moved;
}

// Returns how many maps were moved.
std::uint64_t run_all_small(std::size_t number) {
  const TestTile& tile = kTestTiles[number];
  const auto width = static_cast<std::uint64_t>(tile.kernel.shape.element_bytes());
  const OwnStream stream;
  GpuArrays arrays(kAllMaps * 2 * width << tile.index_bits, 0, 0);
  arrays.prepare(number, stream);
  const std::vector<SmallMap> moved =
      tile.kernel.blocked ? launch_all_small<kernels::AffineBlockedParams>(number, arrays, stream)
                          : launch_all_small<kernels::AffineTileParams>(number, arrays, stream);

  cuda::DeviceArray maps(kAllMaps * sizeof(SmallMap));
  maps.upload(moved.data());
  cuda::DeviceArray findings(sizeof(Findings));
  const Findings nothing{kNothing, kNothing, kNothing};
  findings.upload(&nothing);
  SmallArrays small{.in = arrays.in(),
                    .out = arrays.out(),
                    .maps = reinterpret_cast<const SmallMap*>(maps.data()),
                    .count = kAllMaps,
                    .element_bytes = width,
                    .index_bits = tile.index_bits};
  std::copy(std::begin(tile.position), std::end(tile.position), small.position);
  examine_small(small, reinterpret_cast<Findings*>(findings.data()), stream);
  stream.wait();
  Findings found{};
  findings.download(&found);
  for (const std::uint64_t wrong : {found.misplaced, found.guard}) {
    if (wrong == kNothing) continue;
    ADD_FAILURE() << (wrong == found.misplaced ? "elements are out of place" : "written outside the output")
                  << ", " << text_of(tile) << "\n  "
                  << describe(
                         Problem{.permutation = embedded(map_number(wrong), tile), .element_bytes = width});
  }
  return static_cast<std::uint64_t>(
      std::count_if(moved.begin(), moved.end(), [](SmallMap map) { return map != kNotMoved; }));
}

TEST_F(GpuExhaustive, EveryMapOfSixteenElementsAsTilesOfItsOwn) {
  ASSERT_EQ(all_invertible().size() * kComplements, kAllMaps);
  for (std::size_t number = 0; number < kTestTileCount; ++number) {
    const std::uint64_t moved = run_all_small(number);
    if (HasFailure()) return;
    if (kTestTiles[number].kernel.blocked) {
      EXPECT_GT(moved, kAllMaps / 8) << text_of(kTestTiles[number]);
    } else {
      EXPECT_EQ(moved, kAllMaps) << text_of(kTestTiles[number]);
    }
  }
}

// --- batches that fill a tile of the engine's

constexpr std::uint64_t kInFlight = 64;  // maps that are queued before their results are looked at

struct BatchConfig {
  std::uint64_t element_bytes = 1;
  std::uint64_t batch = 1;
  std::uint64_t stride = 1;  // every so many-th map
};

// One thread's stream and arrays, used again for every map.
class BatchBench {
 public:
  BatchBench(const BatchConfig& config, const Target& target)
      : config_(config),
        target_(target),
        arrays_(config.batch * config.element_bytes << kBits, 0, 0),
        findings_(kInFlight * sizeof(Findings)) {
    arrays_.prepare(config.element_bytes, stream_);
  }

  // Empty, or what is wrong with one of the maps first, first + stride, … before last.
  std::string run(std::uint64_t first, std::uint64_t last, Reached& reached) {
    check_cuda(cudaMemsetAsync(findings_.data(), 0xff, findings_.size(), stream_.get()), "cudaMemsetAsync");
    std::vector<Problem> problems;
    std::vector<cuda::Executor> executors;
    for (std::uint64_t number = first; number < last; number += config_.stride) {
      problems.push_back({.permutation = map_number(number),
                          .element_bytes = config_.element_bytes,
                          .batch = config_.batch});
      const Plan plan(problems.back(), target_);
      executors.emplace_back(plan);
      check_cuda(
          cudaMemsetAsync(arrays_.out(), static_cast<int>(kDevicePoison), arrays_.bytes(), stream_.get()),
          "cudaMemsetAsync");
      executors.back().run(arrays_.in(), arrays_.out(), stream_);
      examine(oracle_problem(problems.back()),
              {.in = arrays_.in(),
               .out = arrays_.out(),
               .guard_bytes = kDeviceGuardBytes,
               .seed = config_.element_bytes},
              reinterpret_cast<Findings*>(findings_.data()) + (problems.size() - 1), stream_);
      note_kernels(plan, 0, reached);
    }
    std::vector<Findings> found(kInFlight);
    stream_.wait();
    findings_.download(found.data());
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const Findings& f = found[i];
      if (f.misplaced == kNothing && f.guard == kNothing && f.input == kNothing) continue;
      const char* const what = f.misplaced != kNothing ? "elements are out of place"
                               : f.guard != kNothing   ? "written outside the output"
                                                       : "the input changed";
      return std::string(what) + "\n  " + describe(GpuCase{.problem = problems[i], .target = target_});
    }
    return {};
  }

 private:
  BatchConfig config_;
  const Target& target_;
  OwnStream stream_;
  GpuArrays arrays_;
  cuda::DeviceArray findings_;
};

void run_all_batched(const BatchConfig& config, Reached& reached) {
  const Target target = cuda::target();
  const std::uint64_t step = kInFlight * config.stride;
  std::exception_ptr thrown;
#pragma omp parallel
  {
    Reached mine;
    std::optional<BatchBench> bench;
    bool failed = false;
#pragma omp for schedule(static)
    for (std::int64_t first = 0; first < static_cast<std::int64_t>(kAllMaps);
         first += static_cast<std::int64_t>(step)) {
      if (failed) continue;
      try {
        if (!bench) bench.emplace(config, target);
        const auto from = static_cast<std::uint64_t>(first);
        const std::string wrong = bench->run(from, std::min(from + step, kAllMaps), mine);
        failed = !wrong.empty();
#pragma omp critical
        if (failed) ADD_FAILURE() << wrong;
      } catch (...) {
        failed = true;
#pragma omp critical
        thrown = std::current_exception();
      }
    }
#pragma omp critical
    reached.merge(mine);
  }
  if (thrown) std::rethrow_exception(thrown);
}

// Arrays of a batch that fill one tile of the kernel which the device prefers for this width.
std::uint64_t filling_batch(std::uint64_t element_bytes) {
  std::uint64_t tile_bytes = 0;
  for (const kernels::CompiledTile& tile : cuda::target().tiles) {
    if (static_cast<std::uint64_t>(tile.shape.element_bytes()) != std::min<std::uint64_t>(element_bytes, 16))
      continue;
    tile_bytes = std::max(tile_bytes, static_cast<std::uint64_t>(tile.shape.tile_bytes()));
  }
  return std::max<std::uint64_t>(1, tile_bytes / (element_bytes << kBits));
}

TEST_F(GpuExhaustive, EveryMapOfSixteenElementsAsABatch) {
  Reached reached;
  run_all_batched({.element_bytes = 2, .batch = filling_batch(2), .stride = 1}, reached);
  if (HasFailure()) return;
  EXPECT_TRUE(std::any_of(reached.begin(), reached.end(),
                          [](const std::string& name) { return name.starts_with("tile"); }));
  EXPECT_TRUE(reached.contains("copy")) << "the identity is one of them";
}

TEST_F(GpuExhaustive, MapsOfSixteenElementsOfOtherWidths) {
  Reached reached;
  for (const std::uint64_t width : {1U, 4U, 8U, 16U, 32U, 128U}) {
    run_all_batched({.element_bytes = width, .batch = filling_batch(width) + 3, .stride = 37}, reached);
    if (HasFailure()) return;
  }
  EXPECT_TRUE(reached.contains("tail"));
}

}  // namespace
}  // namespace faro::testing
