// The network's tile kernel on the counting memory: right against one loop over all pairs, free of bank
// conflicts, every sector once each way.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "faro/machine/counting_memory.hpp"
#include "kernels/affine_params.hpp"
#include "kernels/network_operators.hpp"
#include "kernels/network_tables.hpp"

namespace faro::kernels {
namespace network_kernel_test {

using f2::Word;
using SortU32 = CompareExchange<PlainKey<std::uint32_t, false>>;
using SortU64 = CompareExchange<PlainKey<std::uint64_t, false>>;
using SortWide = CompareExchange<KeyValue16<false, false>>;

constexpr NetworkShape make_shape(int width, int segment, int row, int vector, int registers) {
  return {{width, segment, row, vector, segment + row - registers}, registers};
}

// A layer on indices: which x meets x ^ d, and which is the first.
struct IndexLayer {
  Word direction;
  Word first;
  bool constant;
  std::vector<Word> pair = {};
};

Word random_word(std::mt19937_64& random, int bits) { return random() & f2::low_mask(bits); }

// Directions within `tile`, each with a functional that tells its two elements apart.
std::vector<IndexLayer> random_layers(std::mt19937_64& random, const f2::Subspace& tile, int count) {
  std::vector<IndexLayer> layers;
  const int n = tile.ambient_dimension();
  while (static_cast<int>(layers.size()) < count) {
    const Word coordinates = random_word(random, tile.dimension());
    const Word direction = f2::combine(tile.basis().data(), coordinates);
    const Word first = random_word(random, n);
    if (direction == 0 || !f2::parity(direction & first)) continue;
    layers.push_back({direction, first, (random() & 1) != 0});
  }
  return layers;
}

// The functional f(x) ^ constant in the places and blocks of a tile.
TileFunctional in_tile(const layout::Tile& tile, Word functional, bool constant) {
  TileFunctional result;
  result.constant = constant;
  result.place = functional & f2::low_mask(tile.segment_bits);
  for (int i = 0; i < tile.row_bits; ++i) {
    if (f2::parity(functional & tile.source_rows[static_cast<std::size_t>(i)])) {
      result.place |= f2::unit(tile.segment_bits + i);
    }
  }
  for (int i = 0; i < tile.block_bits(); ++i) {
    if (f2::parity(functional & tile.block_sources[static_cast<std::size_t>(i)])) result.block |= f2::unit(i);
  }
  return result;
}

Word place_of(const layout::Tile& tile, Word direction) {
  f2::Matrix places = f2::Matrix::zero(tile.index_bits, tile.tile_bits());
  for (int i = 0; i < tile.tile_bits(); ++i) {
    places.set_column(i, i < tile.segment_bits
                             ? f2::unit(i)
                             : tile.source_rows[static_cast<std::size_t>(i - tile.segment_bits)]);
  }
  const auto place = places.solve(direction);
  EXPECT_TRUE(place.has_value());
  return place.value_or(1);
}

template <typename Operator>
struct Case {
  using Value = typename Operator::Value;

  template <NetworkShape shape>
  static void run(std::uint64_t seed, int n, std::uint64_t batch, int layer_count, const Affine& map,
                  const Operator& apply = {}) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", n " + std::to_string(n));
    std::mt19937_64 random(seed);
    layout::TileOptions options;
    options.segment_bits = shape.tile.segment_bits;
    options.min_row_bits = shape.tile.row_bits;
    const int moved = shape.tile.segment_bits + map.rank_gamma(shape.tile.segment_bits);
    for (int i = moved; i < shape.tile.tile_bits(); ++i) {
      options.directions.push_back(random_word(random, n));
    }
    const layout::Tile tile = layout::make_tile(map, options);
    ASSERT_EQ(tile.tile_bits(), shape.tile.tile_bits());
    f2::Subspace held = f2::Subspace::low(n, tile.segment_bits);
    for (const Word row : tile.source_rows) held.insert(row);

    std::vector<IndexLayer> layers = random_layers(random, held, layer_count);
    std::vector<TileLayer> local;
    for (const IndexLayer& layer : layers) {
      TileLayer in{place_of(tile, layer.direction), in_tile(tile, layer.first, layer.constant)};
      local.push_back(in);
    }

    const std::uint64_t size = batch << n;
    std::vector<Value> input(size);
    for (Value& value : input) fill(random, value);
    std::vector<Value> output(size);
    const layout::Xor layout = make_tile_layout(tile, shape.tile);
    const AffineTileParams params = make_affine_tile_params(tile, shape.tile, batch, layout);
    const HostNetworkTables host = make_network_tables(tile, shape, layout, local);
    const NetworkTables tables = host.view();

    machine::CountingMemory memory({static_cast<std::size_t>(shape.tile.tile_bytes()), {}});
    memory.add_input(std::as_bytes(std::span(input)));
    memory.add_output(std::as_writable_bytes(std::span(output)));
    const auto phase = [&](auto& m, std::uint64_t number, std::uint64_t block, std::uint32_t thread) {
      if (number == 0) {
        load_tile<shape.tile>(m, params, block, thread);
      } else if (number <= tables.group_count) {
        const auto group = static_cast<std::uint32_t>(number - 1);
        apply_group<shape>(m, params, tables, group, block, thread, apply,
                           group_ahead<shape>(params, tables, group, block, thread, apply));
      } else {
        store_tile<shape.tile>(m, params, block, thread);
      }
    };
    memory.run_each({params.blocks(), static_cast<std::uint32_t>(shape.tile.threads())},
                    tables.group_count + 2, phase);
    EXPECT_TRUE(memory.output_complete());

    const NetworkLayer no_layer{};
    const LayerContext context{no_layer, nullptr, 0, 0, 0};
    std::vector<Value> expected(size);
    for (std::uint64_t array = 0; array < batch; ++array) {
      Value* const a = input.data() + (array << n);
      for (const IndexLayer& layer : layers) {
        for (Word x = 0; x < Word{1} << n; ++x) {
          if (f2::parity(layer.first & x) != layer.constant) continue;
          Value first = Operator::decode(a[x]);
          Value second = Operator::decode(a[x ^ layer.direction]);
          apply(first, second, false, apply.start(context, false), context, 0);
          a[x] = Operator::encode(first);
          a[x ^ layer.direction] = Operator::encode(second);
        }
      }
      for (Word x = 0; x < Word{1} << n; ++x) expected[(array << n) + map(x)] = a[x];
    }
    EXPECT_EQ(std::memcmp(expected.data(), output.data(), size * sizeof(Value)), 0);

    const machine::AccessCounts& counts = memory.counts();
    EXPECT_LE(counts.shared_loads.max_congestion(), 1);
    EXPECT_LE(counts.shared_stores.max_congestion(), 1);
    const std::uint64_t sector_bytes = 32;
    if ((shape.tile.element_bytes() << shape.tile.segment_bits) >= static_cast<int>(sector_bytes)) {
      EXPECT_EQ(counts.global_loads.sectors, size * sizeof(Value) / sector_bytes);
      EXPECT_EQ(counts.global_stores.sectors, size * sizeof(Value) / sector_bytes);
    }
  }

  static void fill(std::mt19937_64& random, std::uint32_t& value) {
    value = static_cast<std::uint32_t>(random() % 1000);
  }
  static void fill(std::mt19937_64& random, std::int32_t& value) {
    value = static_cast<std::int32_t>(random());
  }
  static void fill(std::mt19937_64& random, std::uint64_t& value) { value = random(); }
  static void fill(std::mt19937_64& random, WideValue& value) { value = {random() % 50, random()}; }
};

Affine random_map(std::uint64_t seed, int n, int low) {
  // Maps that keep the segments of 2^low elements, so that the tile's rows are free for directions.
  std::mt19937_64 random(seed);
  f2::Matrix matrix = f2::Matrix::identity(n);
  for (int step = 0; step < 4 * n; ++step) {
    const int i = static_cast<int>(random() % static_cast<unsigned>(n));
    const int j = static_cast<int>(random() % static_cast<unsigned>(n));
    if (i == j || (i >= low && j < low)) continue;
    matrix.set_column(j, matrix.column(j) ^ matrix.column(i));
  }
  return Affine(matrix, random_word(random, n));
}

TEST(NetworkKernel, LayersInPlace) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Case<SortU32>::run<make_shape(2, 5, 4, 2, 4)>(seed, 11, 1, 20, Affine(11));
    Case<SortU32>::run<make_shape(2, 3, 7, 2, 4)>(seed, 12, 2, 30, Affine(12));
    Case<SortU64>::run<make_shape(3, 4, 5, 1, 3)>(seed, 11, 1, 20, Affine(11));
    Case<SortWide>::run<make_shape(4, 3, 6, 0, 3)>(seed, 11, 3, 20, Affine(11));
  }
}

TEST(NetworkKernel, LayersAndAMove) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Case<SortU32>::run<make_shape(2, 5, 4, 2, 4)>(seed, 12, 1, 20, random_map(seed, 12, 5));
    Case<SortU64>::run<make_shape(3, 4, 6, 1, 4)>(seed, 11, 1, 20, random_map(seed, 11, 4));
    Case<SortU32>::run<make_shape(2, 4, 4, 2, 3)>(seed, 8, 1, 10, random_map(seed, 8, 0));
  }
}

TEST(NetworkKernel, TinyTiles) {
  Case<SortU32>::run<make_shape(2, 1, 0, 0, 1)>(1, 1, 3, 2, Affine(1));
  Case<SortU32>::run<make_shape(2, 2, 0, 2, 2)>(1, 2, 1, 3, Affine(2));
  Case<SortU64>::run<make_shape(3, 3, 2, 1, 2)>(1, 5, 1, 9, Affine(5));
  Case<SortWide>::run<make_shape(4, 2, 2, 0, 1)>(1, 6, 1, 9, Affine(6));
}

// No layer at all, and a group for each when registers hold a single pair.
TEST(NetworkKernel, FewAndManyGroups) {
  Case<SortU32>::run<make_shape(2, 5, 4, 2, 4)>(7, 11, 1, 0, Affine(11));
  Case<SortU32>::run<make_shape(2, 5, 4, 1, 1)>(7, 11, 1, 12, Affine(11));
  Case<SortU32>::run<make_shape(2, 5, 6, 2, 5)>(7, 12, 1, 12, Affine(12));
}

using SortF32 = CompareExchange<PlainKey<std::int32_t, true>>;
TEST(NetworkKernel, FloatsInTheirTotalOrder) {
  Case<SortF32>::run<make_shape(2, 5, 4, 2, 4)>(3, 11, 1, 20, Affine(11));
  const auto of = [](float f) { return order_float(__builtin_bit_cast(std::int32_t, f)); };
  const float ascending[] = {
      -__builtin_nanf(""), -__builtin_inff(), -1.0F, -1e-40F, -0.0F, 0.0F, 1e-40F, 2.0F,
      __builtin_inff(),    __builtin_nanf("")};
  for (std::size_t i = 0; i + 1 < std::size(ascending); ++i)
    EXPECT_LT(of(ascending[i]), of(ascending[i + 1]));
}

using PairF32 = CompareExchange<KeyValue8<true, true>>;
using PairI32 = CompareExchange<KeyValue8<true, false>>;
using PairF64 = CompareExchange<KeyValue16<true, true>>;
TEST(NetworkKernel, KeysWithValues) {
  Case<PairF32>::run<make_shape(3, 4, 5, 1, 4)>(3, 11, 1, 20, Affine(11));
  Case<PairI32>::run<make_shape(3, 4, 5, 1, 4)>(4, 11, 1, 20, Affine(11));
  Case<PairF64>::run<make_shape(4, 3, 6, 0, 3)>(5, 11, 1, 20, Affine(11));
  // -1 before 1, equal keys by value.
  const auto pair = [](std::uint32_t key, std::uint32_t value) {
    return PairI32::decode(std::uint64_t{value} << 32 | key);
  };
  EXPECT_LT(pair(0xffffffffU, 9), pair(1, 0));
  EXPECT_LT(pair(1, 3), pair(1, 0xffffffffU));
  EXPECT_EQ(PairF32::encode(PairF32::decode(0x1234567887654321U)), 0x1234567887654321U);
}

using SumU32 = Hadamard<std::uint32_t>;
TEST(NetworkKernel, Hadamard) {
  Case<SumU32>::run<make_shape(2, 5, 4, 2, 4)>(5, 11, 1, 20, Affine(11));
  Case<SumU32>::run<make_shape(2, 5, 4, 2, 4)>(6, 12, 1, 20, random_map(6, 12, 5));
}

}  // namespace network_kernel_test
}  // namespace faro::kernels
