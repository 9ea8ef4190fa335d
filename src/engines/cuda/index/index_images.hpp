// Maps as the sweeps over index arrays work them out (index_form_steps.hpp), and an index array composed with
// one of them:
//
//     array                a map f after it: f o P        before it: P o f
//     scatter P            out[x] = f(P[x])               out[x] = P[f(x)]
//     gather Q of P        out[y] = Q[f^-1(y)]            out[y] = f^-1(Q[y])
//
// The result has the array's direction, so that nothing is stored at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "engines/cuda/index/index_form_steps.hpp"
#include "faro/device/division.hpp"
#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"

namespace faro::cuda {

inline ModularImage image_of(const Modular& map) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << kernels::RingWalk::kNearBits;
  const Modular linear{.count = map.count, .factor = map.factor, .shift = 0};
  ModularImage image;
  image.walk = {.step = map.factor, .far_step = linear(kFar % map.count)};
  image.ring = device::Division64(map.count);
  image.shift = map.shift;
  return image;
}

inline AffineImage image_of(const Affine& map) {
  AffineImage image;
  image.complement = map.complement();
  image.bits = map.bits();
  FARO_CHECK(map.bits() <= MismatchAffine::kMostBits);
  for (int j = 0; j < map.bits(); ++j) image.column[j] = map.matrix().column(j);
  return image;
}

inline CyclicAxesImage image_of(const CyclicAxes& axes) {
  CyclicAxesImage image;
  const std::size_t number = axes.shape().size();
  FARO_CHECK(number <= CyclicAxesImage::kMostAxes);
  image.axes = static_cast<std::int32_t>(number);
  for (std::size_t a = 0; a < number; ++a) {
    const std::size_t axis = number - 1 - a;
    image.extent[a] = device::Division64(axes.shape()[axis]);
    image.shift[a] = axes.moves()[axis].shift;
    image.stride[a] = axes.target_strides()[axis];
    image.reversed[a] = axes.moves()[axis].reversed ? 1 : 0;
  }
  return image;
}

/// Calls body(image) for a map that is no index array.
template <typename Body>
void with_image(const Permutation& map, const Body& body) {
  if (const auto* const affine = std::get_if<Affine>(&map)) return body(image_of(*affine));
  if (const auto* const modular = std::get_if<Modular>(&map)) return body(image_of(*modular));
  if (const auto* const axes = std::get_if<CyclicAxes>(&map)) return body(image_of(*axes));
  if (const auto* const cyclic = std::get_if<Cyclic>(&map))
    return body(image_of(CyclicAxes({cyclic->count}, {0}, {*cyclic})));
  const Axes& axes = std::get<Axes>(map);
  std::vector<Cyclic> still;
  for (const std::uint64_t extent : axes.shape()) still.push_back({.count = extent, .shift = 0});
  body(image_of(CyclicAxes(axes.shape(), axes.order(), still)));
}

/// Queues the entries of the composition of an array with a map, in the array's direction. Requires: entries
/// of a permutation, of as many elements as the map, which is no index array; at least one.
template <typename Word, typename Device>
void chain_entries(Device& device, const EntryView& entries, Direction direction, const Permutation& map,
                   bool map_first, Word* out) {
  const bool gathers = direction == Direction::gather;
  with_image(gathers ? inverse(map) : map, [&](const auto& image) {
    ChainImage<Word, std::decay_t<decltype(image)>> chain;
    chain.entries = entries;
    chain.image = image;
    chain.image_first = map_first != gathers ? 1 : 0;
    chain.out = out;
    device.run(chain);
  });
}

}  // namespace faro::cuda
