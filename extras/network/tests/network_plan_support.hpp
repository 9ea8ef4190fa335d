// What the tests of networks' normal forms and plans share: random programs, an operator that notices every
// mistake, and plans carried out by one obvious loop.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "drawn.hpp"
#include "faro/network/network.hpp"
#include "faro/network/program.hpp"
#include "network/text.hpp"

namespace faro::network::testing_support {

using f2::Matrix;
using f2::Word;
using Values = std::vector<std::uint64_t>;

constexpr ElementType kWords{.scalar = Scalar::u64};

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15;
  return x ^ (x >> 29);
}

/// Its results depend on which element is first, on the pair's number, on the bits, and on what came before.
inline Operator mixer() {
  static const Operator op = operators::user("mixer", "", [](void* a, void* b, std::uint64_t p, int k) {
    std::uint64_t x = 0;
    std::uint64_t y = 0;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    const std::uint64_t first = mix(x + 3 * mix(y + 5 * p + 1000 * static_cast<std::uint64_t>(k)));
    const std::uint64_t second = mix(y + 7 * mix(x ^ (p << 20)));
    std::memcpy(a, &first, sizeof first);
    std::memcpy(b, &second, sizeof second);
  });
  return op;
}

/// A program of at most `size` leaves, more or less; every combinator occurs.
inline Program random_program(int n, int size, std::mt19937_64& random) {
  const auto dice = random() % 10;
  if (n >= 1 && (size <= 1 || dice == 0)) return pairs(mixer(), n);
  if (size <= 1 || dice == 1) return dice % 2 == 0 ? identity(n) : bmmc(test::random_affine(n, random));
  if (n >= 2 && dice < 4) return two(random_program(n - 1, size, random));
  if (n >= 2 && dice < 7) {
    return parm(1 + random() % f2::low_mask(n), random_program(n - 1, size, random));
  }
  return random_program(n, size / 2, random) * random_program(n, size - size / 2, random);
}

inline Values random_values(int n, std::mt19937_64& random) {
  Values values(std::size_t{1} << n);
  for (std::uint64_t& value : values) value = random();
  return values;
}

inline void apply_at(const Operator& op, Values& values, Word first, Word second, Word pair, int bits) {
  apply(op, kWords, &values[first], &values[second], pair, bits);
}

/// The layers where the elements are, then the final map.
inline Values run_normal_form(const NormalForm& form, Values values) {
  for (const Layer& layer : form.layers) {
    for (Word x = 0; x < values.size(); ++x) {
      const Word y = layer.frame(x);
      if ((y & 1) != 0) continue;
      apply_at(layer.op, values, x, x ^ layer.direction(), (y >> 1) & f2::low_mask(layer.bits - 1),
               layer.bits);
    }
  }
  Values out(values.size());
  for (Word x = 0; x < values.size(); ++x) out[form.final_map(x)] = values[x];
  return out;
}

/// One pass, tile by tile: what is read, whole segments; the layers; what is written, whole segments.
inline void run_pass(const Pass& pass, const Values& source, Values& target) {
  const layout::Tile& tile = pass.tile;
  const int s = tile.segment_bits;
  const Word segment = f2::low_mask(s);
  Values places(std::size_t{1} << tile.tile_bits());
  for (Word b = 0; b < f2::unit(tile.block_bits()); ++b) {
    for (Word j = 0; j < places.size(); ++j) {
      places[j] = source[(tile.block_source(b) ^ tile.source_row(j >> s)) | (j & segment)];
    }
    for (const LocalLayer& layer : pass.layers) {
      for (Word j = 0; j < places.size(); ++j) {
        if (layer.is_first(j, b)) {
          apply_at(layer.op, places, j, j ^ layer.delta, layer.pair(j, b), layer.bits);
        }
      }
    }
    const Word shift = tile.block_target(b) & segment;
    for (Word j = 0; j < places.size(); ++j) {
      const Word there = tile.local * j ^ shift;
      target[((tile.block_target(b) & ~segment) ^ tile.target_row(there >> s)) | (there & segment)] =
          places[j];
    }
  }
}

/// All passes, in the arrays that run_places says; `in` stays.
inline Values run_plan(const Plan& plan, const Values& in) {
  constexpr std::uint64_t poison = 0xdeadbeef;
  Values out(in.size(), poison);
  Values workspace(plan.workspace_bytes() / sizeof(std::uint64_t), poison);
  const std::vector<Places> places = run_places(plan.passes());
  for (std::size_t k = 0; k < places.size(); ++k) {
    Values& target = places[k].target == Place::out ? out : workspace;
    const Values& source = places[k].source == Place::in    ? in
                           : places[k].source == Place::out ? out
                                                            : workspace;
    EXPECT_EQ(source.size(), in.size());
    EXPECT_EQ(target.size(), in.size());
    EXPECT_TRUE(&source != &target || plan.passes()[k].in_place);
    run_pass(plan.passes()[k], source, target);
  }
  return out;
}

}  // namespace faro::network::testing_support
