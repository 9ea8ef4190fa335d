// Small displacements on the counting memory: random permutations within a window, both directions, any
// alignment, batches, several units, with shared memory and without, against the definition.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "affine_kernel_support.hpp"
#include "kernels/window.hpp"
#include "kernels/window_params.hpp"

namespace faro::kernels {
namespace window_kernel_test {

using machine::AccessCounts;
using machine::CountingMemory;

// out[i] = in[i + shift[i] - window]: blocks of window + 1 elements, shuffled, from a random beginning.
std::vector<std::uint16_t> random_shifts(std::uint64_t count, std::uint32_t window, std::mt19937_64& random) {
  std::vector<std::uint64_t> from(count);
  std::iota(from.begin(), from.end(), std::uint64_t{0});
  std::uint64_t begin = random() % (window + 1);
  for (; begin < count; begin += window + 1) {
    const std::uint64_t end = std::min<std::uint64_t>(count, begin + window + 1);
    std::shuffle(from.begin() + static_cast<std::ptrdiff_t>(begin),
                 from.begin() + static_cast<std::ptrdiff_t>(end), random);
  }
  std::vector<std::uint16_t> shift;
  for (std::uint64_t i = 0; i < count; ++i) shift.push_back(static_cast<std::uint16_t>(from[i] + window - i));
  return shift;
}

struct Reached {
  bool vectors = false;
  bool units = false;
  bool direct = false;
  bool several_tiles = false;
};

template <int unit>
void run_kernel(CountingMemory& memory, const WindowShape& shape, const WindowParams& p, bool vectors,
                const CountingMemory::Launch& launch) {
  const auto phase = [&p](auto&& f) {
    return [&p, f](CountingMemory& m, std::uint64_t b, std::uint32_t t) { f(m, p, b, t); };
  };
  const auto load = phase([](auto& m, const auto& q, auto b, auto t) { load_window<unit>(m, q, b, t); });
  const auto place = phase([](auto& m, const auto& q, auto b, auto t) { place_window<unit>(m, q, b, t); });
  if (p.shared_bytes == 0) {
    if (shape.backwards) {
      return memory.run(launch, phase([](auto& m, const auto& q, auto b, auto t) {
                          move_window_directly<unit, true>(m, q, b, t);
                        }));
    }
    return memory.run(launch, phase([](auto& m, const auto& q, auto b, auto t) {
                        move_window_directly<unit, false>(m, q, b, t);
                      }));
  }
  if (shape.backwards && vectors) {
    return memory.run(launch, place, phase([](auto& m, const auto& q, auto b, auto t) {
                        store_placed<unit, true>(m, q, b, t);
                      }));
  }
  if (shape.backwards) {
    return memory.run(launch, place, phase([](auto& m, const auto& q, auto b, auto t) {
                        store_placed<unit, false>(m, q, b, t);
                      }));
  }
  if (vectors) {
    return memory.run(launch, load, phase([](auto& m, const auto& q, auto b, auto t) {
                        store_window_vectors<unit>(m, q, b, t);
                      }));
  }
  memory.run(launch, load,
             phase([](auto& m, const auto& q, auto b, auto t) { store_window<unit>(m, q, b, t); }));
}

template <int unit>
AccessCounts check(const WindowShape& shape, std::uint32_t in_skew, std::uint32_t out_skew,
                   std::mt19937_64& random, Reached& reached) {
  const std::uint64_t width = std::uint64_t{unit} * shape.element_units;
  WindowParams p = make_window_params(shape);
  SCOPED_TRACE(std::to_string(shape.count) + " elements of " + std::to_string(width) + " bytes in units of " +
               std::to_string(unit) + ", batch " + std::to_string(shape.batch) + ", window " +
               std::to_string(shape.window) + (shape.backwards ? ", backwards" : "") + ", skews " +
               std::to_string(in_skew) + " " + std::to_string(out_skew) + ", tile " + std::to_string(p.tile));
  p.in = {.begin = in_skew, .end = in_skew + p.in.end};
  p.out_skew = out_skew;
  const bool vectors = window_has_vectors(shape) && out_skew == 0 && p.shared_bytes > 0;
  reached.vectors |= vectors;
  reached.units |= !vectors && p.shared_bytes > 0;
  reached.direct |= p.shared_bytes == 0;
  reached.several_tiles |= p.tiles.divisor() > 2 && shape.batch > 1;
  const std::vector<std::uint16_t> shift = random_shifts(shape.count, shape.window, random);
  std::vector<std::byte> in(p.in.end);
  for (std::byte& b : in) b = static_cast<std::byte>(random());
  std::vector<std::byte> out(out_skew + in.size() - in_skew, kPoison);
  CountingMemory memory({.shared_bytes = p.shared_bytes});
  memory.add_input(in);
  memory.add_output(out);
  memory.add_input(std::as_bytes(std::span(shift)));
  run_kernel<unit>(memory, shape, p, vectors, {.blocks = p.blocks, .threads = kWindowThreads});
  for (std::uint64_t i = 0; i < shape.count * shape.batch; ++i) {
    const std::uint64_t j = i + shift[i % shape.count] - shape.window;
    const std::uint64_t from = shape.backwards ? i : j;
    const std::uint64_t to = shape.backwards ? j : i;
    EXPECT_EQ(std::memcmp(&in[in_skew + from * width], &out[out_skew + to * width], width), 0)
        << "element " << i;
    if (::testing::Test::HasFailure()) return memory.counts();
  }
  for (std::uint32_t i = 0; i < out_skew; ++i) EXPECT_EQ(out[i], kPoison);
  return memory.counts();
}

template <int unit>
void sweep(std::uint32_t element_units, std::mt19937_64& random, Reached& reached) {
  for (const std::uint64_t count : {1U, 2U, 17U, 64U, 1000U, 9001U}) {
    for (const std::uint32_t window : {0U, 1U, 9U, 300U}) {
      for (const bool backwards : {false, true}) {
        if (count * element_units > 20000) continue;
        const auto skew = [&] { return static_cast<std::uint32_t>(random() % 16 / unit * unit); };
        const WindowShape shape{.count = count,
                                .batch = 1 + random() % 3,
                                .window = window,
                                .unit_bytes = unit,
                                .element_units = element_units,
                                .backwards = backwards};
        check<unit>(shape, skew(), count % 2 == 0 ? 0 : skew(), random, reached);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(WindowKernel, EveryWidthAndDirection) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  sweep<1>(1, random, reached);
  sweep<1>(3, random, reached);
  sweep<2>(1, random, reached);
  sweep<4>(1, random, reached);
  sweep<4>(3, random, reached);
  sweep<8>(1, random, reached);
  sweep<16>(1, random, reached);
  sweep<16>(8, random, reached);
  EXPECT_TRUE(reached.vectors && reached.units && reached.direct && reached.several_tiles);
}

TEST(WindowKernel, MarginsAreLessThanAQuarter) {
  for (const std::uint32_t window : {0U, 10U, 100U, 500U, 1000U, 2000U}) {
    const WindowShape shape{.count = 1 << 28, .window = window, .unit_bytes = 4};
    ASSERT_TRUE(window_fits(shape));
    const WindowParams p = make_window_params(shape);
    EXPECT_LE(2 * 4 * p.window, p.tile) << window;
    EXPECT_LE(p.shared_bytes, 96U << 10);
    EXPECT_EQ(p.tile % 16, 0U);
  }
  EXPECT_FALSE(window_fits({.count = 1 << 28, .window = 32767, .unit_bytes = 4}));
  EXPECT_FALSE(window_fits({.count = 1 << 28, .window = 8191, .unit_bytes = 16}));
}

TEST(WindowKernel, WholeVectorsAndSectors) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  const WindowShape shape{.count = 1 << 15, .window = 64, .unit_bytes = 4};
  const AccessCounts counts = check<4>(shape, 0, 0, random, reached);
  EXPECT_EQ(counts.global_stores.bytes, shape.count * 4);
  EXPECT_EQ(counts.global_stores.sectors, shape.count / 8);
  // data, its margins, and two bytes of shift an element
  EXPECT_LT(static_cast<double>(counts.global_loads.bytes), 1.04 * static_cast<double>(shape.count) * 6);
}

TEST(WindowKernel, BeyondThirtyTwoBits) {
  for (const bool backwards : {false, true}) {
    const WindowShape shape{.count = (std::uint64_t{1} << 34) + 5,
                            .batch = 3,
                            .window = 0,  // virtual shifts are zeros
                            .unit_bytes = 4,
                            .element_units = 1,
                            .backwards = backwards};
    const WindowParams p = make_window_params(shape);
    for (const std::uint64_t block : {std::uint64_t{0}, p.blocks / 3 - 1, p.blocks / 2, p.blocks - 1}) {
      CountingMemory memory({.shared_bytes = p.shared_bytes});
      memory.add_virtual_input(p.in.end);
      memory.add_virtual_output(p.in.end);
      memory.add_virtual_input(shape.count * 2);
      run_kernel<4>(memory, shape, p, false, {.blocks = 1, .threads = kWindowThreads, .first_block = block});
      const std::uint64_t tile = block % p.tiles.divisor();
      EXPECT_EQ(memory.counts().global_stores.bytes,
                4 * std::min<std::uint64_t>(p.tile, shape.count - tile * p.tile));
    }
  }
}

}  // namespace window_kernel_test
}  // namespace faro::kernels
