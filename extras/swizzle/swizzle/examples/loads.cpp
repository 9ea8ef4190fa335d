// What a warp must load, and a transposition through shared memory.
#include <bit>
#include <utility>

#include "swizzle/examples/checks.hpp"

namespace faro::swizzle {

Example load_only(const ExampleOptions& options) {
  constexpr const char* kName = "load-only";
  constexpr std::int64_t kTaps = 3;
  constexpr std::int64_t kWarps = 2;
  constexpr std::int64_t kBlocks = 2;
  detail::require_no_words(kName, options);
  detail::require_warp(kName, options.warp, kTaps - 1);
  const std::int64_t W = options.warp;
  const std::int64_t outputs = kBlocks * kWarps * W - (kTaps - 1);
  Specification spec;
  const auto I = spec.input("I", outputs + kTaps - 1);
  const auto O = spec.output("O", outputs);
  for (std::int64_t i = 0; i < outputs; ++i) {
    auto sum = spec.accumulator({.outer = Operator::add, .divisor = kTaps});
    for (std::int64_t k = 0; k < kTaps; ++k) sum.add({spec.at(I, i + k)});
    spec.set(O, i, sum);
  }

  Program p(spec, {.warp = W, .warps = kWarps, .blocks = kBlocks});
  const auto offset = p.warp_offset("offset", {{"block", kBlocks}, {"warp", kWarps}}, {kWarps * W, W});
  const auto size = p.warp_size("size");
  const auto rc = p.registers("rc", 2);
  const Index first = kWarps * W * block_index() + W * warp_index();
  const Index at = first + lane_index();
  p.global_to_registers(rc, I, {.rounds = 2, .offset = offset(block_index(), warp_index()), .size = size()});
  p.present(rc, O, at, at < outputs);

  std::vector<KnownSolution> known{
      detail::known(p, "by hand",
                    {{"offset", LinearParameters{.constant = 0, .factors = {1, 1}, .units = {kWarps * W, W}}},
                     {"size", LinearParameters{.constant = kTaps - 1, .factors = {1}, .units = {W}}}})};
  return {.name = kName,
          .summary = "the offset and the size of what a stencil's warp must load",
          .struct_words = {},
          .specification = std::move(spec),
          .sketch = std::move(p),
          .known = std::move(known)};
}

// A block moves one T x T tile; a row of the shared tile is one longer, so that neither rows nor columns
// meet in a bank where T is the number of banks. With T = 8 or 16 an access is several rows or columns, and
// two of their words meet; with T up to 4 the whole tile has a word a bank.
//
//     S = 5, T = 4     a a a a b        d is one element: what is outside the matrix is skipped
//                      a a a a b
//                      …
//                      c c c c d
Example shared_transpose(const ExampleOptions& options) {
  constexpr const char* kName = "transpose";
  const std::int64_t S = detail::words_of(kName, options, 5, 2, 129);
  detail::require_warp(kName, options.warp);
  const auto below = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(S - 1)));
  const std::int64_t T = below < 32 ? below : 32;
  const std::int64_t tiles = (S + T - 1) / T;
  Specification spec;
  const auto I = spec.input("I", S * S);
  const auto O = spec.output("O", S * S);
  for (std::int64_t y = 0; y < S; ++y)
    for (std::int64_t x = 0; x < S; ++x) spec.set(O, x * S + y, spec.at(I, y * S + x));

  Program p(spec, {.warp = options.warp, .warps = 1, .blocks = tiles * tiles});
  const auto tile = p.shared("tile", T * (T + 1));
  const Index y = T * (block_index() / tiles);
  const Index x = T * (block_index() % tiles);
  p.global_to_shared(tile, I,
                     {.extents = {T, T},
                      .global_strides = {S, 1},
                      .shared_strides = {T + 1, 1},
                      .offset = y * S + x,
                      .limits = {S - y, S - x}});
  p.barrier();
  p.shared_to_global(O, tile,
                     {.extents = {T, T},
                      .global_strides = {S, 1},
                      .shared_strides = {1, T + 1},
                      .offset = x * S + y,
                      .limits = {S - x, S - y}});
  return {.name = kName,
          .summary = "a matrix of any side through a smaller tile in shared memory",
          .struct_words = S,
          .specification = std::move(spec),
          .sketch = std::move(p),
          .known = {}};
}

}  // namespace faro::swizzle
