// What the tests of networks' engines share: arrays of any element, an interpreter's result beside an
// engine's, and the list of kernels that a plan reaches.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "engine_support.hpp"
#include "faro/network/network.hpp"
#include "faro/network/program.hpp"
#include "network/cpu_chunks.hpp"
#include "network/text.hpp"

namespace faro::network::engine_testing {

using faro::testing::kInstrumented;
using faro::testing::SplitMix64;
using Bytes = std::vector<std::byte>;

/// A number of small size with a short fraction, so that sums are exact and butterflies well-conditioned.
inline double small_number(SplitMix64& random) { return static_cast<double>(random() % 2049) / 64 - 16; }

/// Random bits where they are compared or wrapped; short numbers where floats are added.
inline void fill(Bytes& bytes, const ElementType& type, bool added, SplitMix64& random) {
  const bool floats = is_float(type.scalar) || is_complex(type.scalar);
  const bool narrow =
      type.scalar == Scalar::f32 || type.scalar == Scalar::c64 || bytes.size() % 8 != 0;  // of one lane
  for (std::size_t at = 0; at < bytes.size(); at += narrow ? 4 : 8) {
    const std::uint64_t bits = random();
    if (floats && added) {
      const double value = small_number(random);
      const auto single = static_cast<float>(value);
      std::memcpy(bytes.data() + at, narrow ? static_cast<const void*>(&single) : &value, narrow ? 4 : 8);
    } else {
      std::memcpy(bytes.data() + at, &bits, narrow ? 4 : 8);
    }
  }
}

/// The root mean square of the differences, relative to that of `wanted`; both arrays complex.
template <typename Real>
double relative_error(const Bytes& got, const Bytes& wanted) {
  double difference = 0;
  double size = 0;
  for (std::size_t at = 0; at < got.size(); at += sizeof(Real)) {
    Real g;
    Real w;
    std::memcpy(&g, got.data() + at, sizeof(Real));
    std::memcpy(&w, wanted.data() + at, sizeof(Real));
    const double d = static_cast<double>(g) - static_cast<double>(w);
    difference += d * d;
    size += static_cast<double>(w) * static_cast<double>(w);
  }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

/// A program for an engine, with where its arrays lie.
struct Case {
  Program program;
  ElementType element;
  std::uint64_t batch = 1;
  Sizes sizes;
  int threads = 1;
  std::size_t in_offset = 0;  // bytes past a cache line
  std::size_t out_offset = 0;
  std::uint64_t seed = 1;
};

inline std::string describe(const Case& c) {
  const auto option = [](const char* name, int value) {
    return value == 0 ? std::string() : std::string(name) + std::to_string(value);
  };
  return "faro network explain '" + to_text(c.program) + "' --bits " + std::to_string(c.program.bits()) +
         " --element " + to_text(c.element) + option(" --tile-bits ", c.sizes.tile_bits) +
         option(" --segment-bits ", c.sizes.segment_bits) + "\n  batch " + std::to_string(c.batch) + ", " +
         std::to_string(c.threads) + " threads, " + faro::cpu::simd_target() + ", in + " +
         std::to_string(c.in_offset) + ", out + " + std::to_string(c.out_offset) + ", seed " +
         std::to_string(c.seed);
}

inline bool adds(const Program& program) {
  switch (program.kind()) {
    case ProgramKind::pairs:
      return program.op().kind != OperatorKind::compare_exchange;
    case ProgramKind::two:
    case ProgramKind::parm:
      return adds(program.part());
    case ProgramKind::compose:
      return std::any_of(program.parts().begin(), program.parts().end(), adds);
    default:
      return false;
  }
}

/// Kernels, recodings and forms of steps, by name.
using Reached = std::set<std::string>;

inline void note(const Plan& plan, Reached& reached) {
  const cpu::Vectors vectors = cpu::vectors();
  const ElementType& element = plan.problem().element;
  for (const Pass& pass : plan.passes()) {
    reached.insert(pass.map.is_identity() ? "rows back" : "rows permuted");
    if (pass.layers.empty()) reached.insert("no layers");
    const int bits = std::max(pass.tile.tile_bits(), cpu::group_bits(element, vectors));
    if (bits > pass.tile.tile_bits()) reached.insert("padded");
    for (const cpu::Chunk& chunk : cpu::make_chunks(pass, element, bits, vectors)) {
      reached.insert("kernel " + std::to_string(static_cast<int>(chunk.kernel)));
      if (chunk.groups > 1) reached.insert("groups");
      if (chunk.kernel == cpu::Kernel::scalar) continue;
      reached.insert("load " + std::to_string(static_cast<int>(chunk.on_load)));
      reached.insert("store " + std::to_string(static_cast<int>(chunk.on_store)));
      for (const cpu::Step& step : chunk.steps) {
        const bool turns = !step.twiddles.local.empty();
        if (turns) reached.insert(step.twiddles.local_only ? "local twiddles" : "twiddle products");
        if (step.partner == 0) {
          reached.insert(step.register_signs == 0 ? "within" : "within, by register");
        } else {
          reached.insert((step.straight ? "straight " : "masked ") + std::to_string(step.partner));
          if (step.straight) reached.insert(step.lanes == 0 ? "straight lanes" : "exchanged lanes");
        }
      }
    }
  }
}

/// Runs a case and holds it to the interpreter: bit for bit, or within a bound where there are twiddles.
inline void check(const Case& c, Reached* reached = nullptr) {
  const Executable run = compile({.program = c.program, .element = c.element, .batch = c.batch},
                                 {.engine = Engine::cpu,
                                  .threads = c.threads,
                                  .tile_bits = c.sizes.tile_bits,
                                  .segment_bits = c.sizes.segment_bits});
  if (reached != nullptr) note(run.plan(), *reached);
  SplitMix64 random{c.seed};
  Bytes data(run.plan().array_bytes());
  fill(data, c.element, adds(c.program), random);

  // Poison before and after both arrays; the input must stay as it is.
  constexpr std::size_t kGuard = 128;
  const auto guarded = [&](std::size_t offset) {
    return Bytes(2 * kGuard + offset + data.size(), std::byte{0xa5});
  };
  Bytes in = guarded(c.in_offset);
  Bytes out = guarded(c.out_offset);
  std::copy(data.begin(), data.end(), in.begin() + static_cast<std::ptrdiff_t>(kGuard + c.in_offset));
  const Bytes in_before = in;
  run.run(in.data() + kGuard + c.in_offset, out.data() + kGuard + c.out_offset, data.size());
  EXPECT_TRUE(in == in_before) << "the input changed\n  " << describe(c);
  const auto got_begin = out.begin() + static_cast<std::ptrdiff_t>(kGuard + c.out_offset);
  const Bytes got(got_begin, got_begin + static_cast<std::ptrdiff_t>(data.size()));
  const auto poison = [](std::byte b) { return b == std::byte{0xa5}; };
  EXPECT_TRUE(std::all_of(out.begin(), got_begin, poison) &&
              std::all_of(got_begin + static_cast<std::ptrdiff_t>(data.size()), out.end(), poison))
      << "written outside the output\n  " << describe(c);

  Bytes wanted;
  const std::size_t one = c.batch == 0 ? 0 : data.size() / c.batch;
  for (std::uint64_t b = 0; b < c.batch; ++b) {
    const auto from = data.begin() + static_cast<std::ptrdiff_t>(b * one);
    Bytes array(from, from + static_cast<std::ptrdiff_t>(one));
    interpret(c.program, c.element, std::span(array));
    wanted.insert(wanted.end(), array.begin(), array.end());
  }
  if (!is_complex(c.element.scalar) || !adds(c.program)) {
    EXPECT_TRUE(got == wanted) << describe(c);
    return;
  }
  const bool narrow = c.element.scalar == Scalar::c64;
  const double error = narrow ? relative_error<float>(got, wanted) : relative_error<double>(got, wanted);
  const double eps = narrow ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  EXPECT_LE(error, 4 * eps * c.program.bits()) << describe(c);
}

}  // namespace faro::network::engine_testing
