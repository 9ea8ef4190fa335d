// Paged caches moved on a GPU, against one loop over all numbers; in a graph, by other tables.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cache_support.hpp"
#include "faro/caches.hpp"
#include "gpu/gpu_rows_support.hpp"

namespace faro::testing {
namespace gpu_caches_test {

using namespace gpu_rows;

class GpuCaches : public GpuTest {};

template <typename T>
Placed placed(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return Placed(bytes);
}

// The arrays of a cache that was drawn, and its tables, on the device.
struct OnDevice {
  std::vector<std::unique_ptr<Placed>> in;
  std::vector<std::unique_ptr<Placed>> out;
  std::vector<CacheArrays> arrays;

  OnDevice(DrawnCache& cache, std::uint64_t in_offset, std::uint64_t out_offset) {
    for (std::size_t a = 0; a < cache.arrays.size(); ++a) {
      in.push_back(std::make_unique<Placed>(cache.in[a].bytes(), in_offset));
      out.push_back(std::make_unique<Placed>(cache.out[a].bytes(), out_offset));
      CacheArrays each = cache.arrays[a];
      each.in = in.back()->data();
      each.out = out.back()->data();
      arrays.push_back(each);
    }
  }
};

void expect_moved(const CacheSizes& sizes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  DrawnCache cache = drawn_cache(sizes, random);
  SCOPED_TRACE(cache.text + ", seed " + std::to_string(seed));
  OnDevice device(cache, sizes.in_offset * bytes_of(sizes.from), sizes.out_offset * bytes_of(sizes.to));
  const auto plan = plan_cache_move(cache.move, device.arrays, {.engine = Engine::cuda});
  const Placed from = placed(cache.tables.from);
  const Placed to = placed(cache.tables.to);
  const Placed lengths = placed(cache.tables.lengths);
  CacheTables tables = cache.tables.tables();
  tables.from.data = from.data();
  tables.to.data = to.data();
  tables.lengths.data = lengths.data();
  plan.run(tables);
  plan.check();
  for (std::size_t a = 0; a < sizes.arrays; ++a)
    EXPECT_TRUE(device.out[a]->get() == cache.expected[a]) << "array " << a;
}

TEST_F(GpuCaches, MovesBetweenDrawnLayouts) {
  std::mt19937_64 random(3);
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Number numbers[] = {Number::u8, Number::bf16, Number::f32, Number::i64, Number::c128};
    const Number number = numbers[random() % std::size(numbers)];
    const auto below = [&](std::uint64_t most) { return 1 + random() % most; };
    expect_moved({.of = {.heads = below(8), .width = below(8) * below(16)},
                  .from_tokens = below(20),
                  .to_tokens = below(20),
                  .sequences = random() % 4,
                  .tokens = random() % 90,
                  .ragged = random() % 2 == 0,
                  .arrays = random() % 5,
                  .from = number,
                  .to = number,
                  .in_offset = random() % 4 == 0 ? random() % 3 : 0,
                  .out_offset = random() % 4 == 0 ? random() % 3 : 0},
                 seed);
  }
  expect_moved({.of = {.heads = 8, .width = 128},
                .from_tokens = 16,
                .to_tokens = 64,
                .sequences = 3,
                .tokens = 300,
                .arrays = 160},
               1);
}

TEST_F(GpuCaches, ConvertsBetweenAllFloats) {
  const Number floats[] = {Number::f16,     Number::bf16,        Number::f32,        Number::f8_e4m3fn,
                           Number::f8_e5m2, Number::f8_e4m3fnuz, Number::f8_e5m2fnuz};
  std::uint64_t seed = 0;
  for (const Number from : floats) {
    for (const Number to : floats) {
      for (const std::uint64_t width : {12U, 64U})
        expect_moved(
            {.of = {.heads = 4, .width = width}, .tokens = 50, .from = from, .to = to, .scaled = true},
            ++seed);
    }
  }
}

// One launch in a graph, replayed with other tables and lengths, some of them wrong.
TEST_F(GpuCaches, IsReplayedWithOtherTables) {
  std::mt19937_64 random(5);
  const CacheSizes sizes{.sequences = 3, .tokens = 40, .arrays = 6};
  DrawnCache cache = drawn_cache(sizes, random);
  OnDevice device(cache, 0, 0);
  const auto plan = plan_cache_move(cache.move, device.arrays);
  EXPECT_TRUE(plan.on_gpu());
  Placed from = placed(cache.tables.from);
  Placed to = placed(cache.tables.to);
  Placed lengths = placed(cache.tables.lengths);
  CacheTables tables = cache.tables.tables();
  tables.from.data = from.data();
  tables.to.data = to.data();
  tables.lengths.data = lengths.data();
  const OwnStream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  plan.run(tables, stream);
  check_cuda(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
  std::size_t nodes = 0;
  check_cuda(cudaGraphGetNodes(graph, nullptr, &nodes), "cudaGraphGetNodes");
  EXPECT_EQ(nodes, 1U);
  check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  for (int replay = 0; replay < 5; ++replay) {
    DrawnTables drawn = drawn_tables(cache.move, sizes.sequences, sizes.tokens, true, random);
    const bool wrong = replay == 3;
    if (wrong) {
      drawn.lengths[1] = 40;
      drawn.from[drawn.from.size() / 3] = -1;
    }
    from.set(Bytes(reinterpret_cast<const std::byte*>(drawn.from.data()),
                   reinterpret_cast<const std::byte*>(drawn.from.data() + drawn.from.size())));
    to.set(Bytes(reinterpret_cast<const std::byte*>(drawn.to.data()),
                 reinterpret_cast<const std::byte*>(drawn.to.data() + drawn.to.size())));
    lengths.set(Bytes(reinterpret_cast<const std::byte*>(drawn.lengths.data()),
                      reinterpret_cast<const std::byte*>(drawn.lengths.data() + drawn.lengths.size())));
    std::vector<Bytes> expected;
    for (std::size_t a = 0; a < sizes.arrays; ++a) {
      expected.push_back(device.out[a]->get());
      CacheArrays each = cache.arrays[a];
      each.out = expected.back().data();
      move_cache_plainly(cache.move, each, drawn, false);
    }
    check_cuda(cudaGraphLaunch(executable, stream.get()), "cudaGraphLaunch");
    const std::string told = refusal([&] { plan.check(stream); });
    if (wrong) {
      EXPECT_NE(told.find("an entry of the source's table that is no block, at position"), std::string::npos)
          << told;
    } else {
      EXPECT_EQ(told, "");
    }
    // Where tables are wrong the target's entries of the long sequence may be, too.
    for (std::size_t a = 0; a < sizes.arrays; ++a)
      EXPECT_TRUE(device.out[a]->get() == expected[a]) << "replay " << replay << ", array " << a;
  }
  check_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
  check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

}  // namespace gpu_caches_test
}  // namespace faro::testing
