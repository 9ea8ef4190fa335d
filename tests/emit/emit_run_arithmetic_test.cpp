// Emitted kernels and functions that change numbers, of every rung, run on the CPU and held to the CPU
// engine's bits; and what cannot be emitted.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "emitted/emitted_run.hpp"
#include "faro/emit/emit.hpp"
#include "faro/faro.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace emit_run_arithmetic_test {

using Bytes = std::vector<std::byte>;
using emit::Rung;

constexpr Rung kRungs[] = {Rung::naive, Rung::tile, Rung::banks, Rung::iters, Rung::two_pass, Rung::one_pass};
constexpr int kBits = 10;
constexpr std::uint64_t kCount = std::uint64_t{1} << kBits;

// Numbers of either sign, halves among them, and beyond what bytes and 8-bit floats hold.
Bytes numbers(Number number, std::uint64_t seed) {
  std::vector<double> values(kCount);
  for (std::uint64_t i = 0; i < kCount; ++i)
    values[i] = static_cast<double>((i * 2654435761U + seed) % 4001) / 4 - 500;
  Bytes bytes(kCount * bytes_of(number));
  faro::plan(Strided{{kCount}, {1}, {1}}, Arithmetic{.from = Number::f64, .to = number},
             {.engine = Engine::cpu})
      .run({values.data(), kCount}, bytes.data(), kCount);
  return bytes;
}

Coefficient along(std::size_t axis, std::uint64_t extent) {
  Coefficient made{.values = std::vector<std::complex<double>>(extent), .axis = axis};
  std::iota(made.values.begin(), made.values.end(), 0.5);
  return made;
}

std::vector<Arithmetic> changes() {
  using enum Number;
  return {{.from = f32, .to = bf16, .scale = {{0.1}, {}}},
          {.from = u8, .to = f32, .scale = along(1, 8), .offset = along(0, 4), .shape = {4, 8, kCount / 32}},
          {.from = bf16, .to = f8_e4m3fn, .saturated = true},
          {.from = f64, .to = f16, .function = Function::negate},
          {.from = i64, .to = u8, .function = Function::negate},
          {.from = c64, .to = c64, .function = Function::conjugate, .scale = {{{0.5, -1}}, {}}},
          {.from = f32, .to = i16, .to_integer = ToInteger::nearest, .in_swapped = true, .out_swapped = true},
          {.from = f32, .to = f32, .scale = {{2.0}, {}}, .addend = Addend{.beta = 0.5}},
          {.from = i8, .to = f64, .addend = Addend{.number = f16, .beta = -1.5, .swapped = true}}};
}

struct Emitted {
  Affine map;
  emit::Options options;
  emit::Source source;
};

// What the engine makes of it.
Bytes wanted_of(const Emitted& of, const Bytes& in, const Bytes& addend) {
  const Arithmetic& arithmetic = *of.options.arithmetic;
  Bytes out(kCount * bytes_of(arithmetic.to));
  faro::plan(of.map, arithmetic, {.engine = Engine::cpu})
      .run({in.data(), kCount}, out.data(), kCount,
           {arithmetic.addend ? addend.data() : nullptr, arithmetic.addend ? kCount : 0});
  return out;
}

TEST(EmittedArithmetic, EveryRungAndBothLanguages) {
  std::vector<Emitted> all;
  EmittedLibrary library;
  std::uint64_t seed = 70;
  for (const Arithmetic& of : changes()) {
    const auto add = [&](emit::Options options, const Affine& map) {
      options.name = "k" + std::to_string(all.size());
      options.arithmetic = of;
      Emitted made{.map = map, .options = options, .source = emit::emit(map, options)};
      EXPECT_EQ(made.source.result_bytes, bytes_of(of.to));
      EXPECT_NE(made.source.text.find(to_text(of)), std::string::npos);
      if (options.language == emit::Language::cpp) {
        library.add_text(made.source.text);
      } else {
        library.add(options.name, made.source);
      }
      all.push_back(made);
    };
    for (const Rung rung : kRungs) {
      const bool any_map = rung == Rung::naive || rung == Rung::two_pass || rung == Rung::one_pass;
      add({.rung = rung}, any_map ? maps::random_bmmc(kBits, ++seed) : maps::random_bpc(kBits, ++seed));
    }
    add({.rung = Rung::banks, .both_factors = true}, maps::random_bmmc(kBits, ++seed));
    add({.language = emit::Language::cpp}, maps::random_bmmc(kBits, ++seed));
  }
  library.build();
  for (const Emitted& of : all) {
    const Arithmetic& arithmetic = *of.options.arithmetic;
    SCOPED_TRACE(std::string(name(of.options.language)) + " " + name(of.options.rung) + ", " +
                 to_text(of.map) + ": " + to_text(arithmetic));
    const Bytes in = numbers(arithmetic.from, 5);
    const Bytes addend = arithmetic.addend ? numbers(arithmetic.addend->number, 9) : Bytes();
    Bytes from = in;
    Bytes out;
    if (of.options.language == emit::Language::cpp) {
      out.resize(kCount * of.source.result_bytes);
      library.function(of.options.name)(in.data(), out.data(), addend.data());
    }
    for (const emit::Kernel& kernel : of.source.kernels) {
      const bool is_last = &kernel == &of.source.kernels.back();
      out.assign(kCount * (is_last ? of.source.result_bytes : of.source.element_bytes), std::byte{0xa5});
      const auto counts = run_counted(library, kernel, from, out, nullptr, addend.data());
      // What is added is read where nothing counts.
      if (arithmetic.addend && is_last) {
        EXPECT_EQ(counts.global_stores.sectors, kernel.predicted.global_stores.sectors);
        EXPECT_GT(kernel.predicted.global_loads.bytes, counts.global_loads.bytes);
      } else {
        EXPECT_TRUE(counts == kernel.predicted) << kernel.name;
      }
      from = out;
    }
    ASSERT_EQ(out, wanted_of(of, in, addend));
    if (HasFailure()) return;
  }
}

TEST(EmittedArithmetic, LaunchersAndWords) {
  const Arithmetic of{
      .from = Number::f32, .to = Number::bf16, .scale = {{0.5}, {}}, .addend = Addend{.beta = 2}};
  const emit::Source source = emit::emit(
      maps::bit_reversal(kBits), {.rung = Rung::two_pass, .name = "f", .launcher = true, .arithmetic = of});
  for (const char* const words :
       {"--dtype-in float32 --dtype bfloat16 --scale=0.5 --add float32 --beta=2",
        "nvcc -std=c++20 --expt-relaxed-constexpr --fmad=false",
        "f_launch(const void* in, void* out, void* workspace, const void* addend, cudaStream_t stream)",
        "static_cast<const f_addend*>(addend)"}) {
    EXPECT_NE(source.text.find(words), std::string::npos) << words << "\n" << source.text;
  }
  // Lines are short but for the head's, and the libraries' own.
  std::istringstream lines(source.text.substr(source.text.find("using f_element")));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

TEST(EmittedArithmetic, Refusals) {
  const Affine map = maps::bit_reversal(6);
  const auto refused = [&](const Arithmetic& of, const std::string& words,
                           const std::string& expression = "") {
    test::expect_refused(ErrorCode::value, words,
                         [&] { emit::emit(map, {.map = expression, .arithmetic = of}); });
  };
  refused({.shape = {3, 5}}, "an output of shape 3 x 5");
  refused({.scale = {{1.0, 2.0}, 0}}, "");
  refused({.to = Number::f16}, "an expression and arithmetic", "v + 1");
  refused({.addend = Addend{.strides = {1}}}, "strides of an added array");
}

}  // namespace emit_run_arithmetic_test
}  // namespace faro::testing
