// Networks on the CPU against the reference interpreter, bit for bit: every operator, type, kernel and
// instruction set; threads; users' operators.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/permutation/affine.hpp"
#include "hwy/highway.h"
#include "network_engine_support.hpp"

namespace faro::network {
namespace network_cpu_engine_test {

using namespace engine_testing;

const std::vector<ElementType>& all_types() {
  static const std::vector<ElementType> types = [] {
    std::vector<ElementType> list;
    for (const Scalar scalar : {Scalar::i32, Scalar::u32, Scalar::i64, Scalar::u64, Scalar::f32, Scalar::f64,
                                Scalar::c64, Scalar::c128}) {
      list.push_back({.scalar = scalar});
      if (!is_complex(scalar)) list.push_back({.scalar = scalar, .with_value = true});
    }
    return list;
  }();
  return types;
}

bool fits(const Program& program, const ElementType& type) {
  try {
    check_element(program, type);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// --- every kernel of every instruction set

// Any invertible map: columns are drawn until they are independent.
Affine random_map(int n, SplitMix64& random) {
  return compose(maps::random_bmmc(n, random()), maps::xor_mask(n, random() & f2::low_mask(n)));
}

// Layers that meet anywhere: parm with any mask, permutations in between.
Program random_program(int n, int size, const Operator& op, SplitMix64& random) {
  const auto dice = random() % 10;
  if (size <= 1) return pairs(op, n);
  if (dice == 0) return bmmc(random_map(n, random)) * random_program(n, size - 1, op, random);
  if (n >= 2 && dice < 3) return two(random_program(n - 1, size, op, random));
  if (n >= 2 && dice < 6) {
    return parm(1 + random() % f2::low_mask(n), random_program(n - 1, size, op, random));
  }
  return random_program(n, size / 2, op, random) * random_program(n, size - size / 2, op, random);
}

Program mixed(int n, SplitMix64& random) {
  const Operator ops[] = {operators::min_max(), operators::max_min(), operators::hadamard()};
  return random_program(n, 3, ops[random() % 3], random) * random_program(n, 3, ops[random() % 3], random) *
         random_program(n, 4, ops[random() % 2], random);
}

std::vector<Program> programs_of(int n, SplitMix64& random) {
  std::vector<Program> list;
  for (const LibraryEntry& entry : library()) list.push_back(entry.make(n));
  list.push_back(sort(n, operators::max_min()));
  list.push_back(bmmc(random_map(n, random)));
  for (const std::string& op : operator_names()) {
    list.push_back(random_program(n, 6, parse_operator(op), random));
    list.push_back(random_program(n, 12, parse_operator(op), random));
  }
  list.push_back(mixed(n, random));
  return list;
}

// Sizes, batches, threads and alignments change from case to case.
void sweep(int least, int most, std::uint64_t sample, Reached& reached) {
  std::uint64_t number = 0;
  SplitMix64 random{static_cast<std::uint64_t>(most)};
  for (int n = least; n <= most; ++n) {
    for (const Program& program : programs_of(n, random)) {
      for (const ElementType& type : all_types()) {
        if (!fits(program, type)) continue;
        SplitMix64 dice{++number};
        if (dice() % sample != 0) continue;
        const int m = dice() % 3 == 0 ? 0 : 1 + static_cast<int>(dice() % static_cast<std::uint64_t>(n));
        const int s = m == 0 ? 0 : static_cast<int>(dice() % static_cast<std::uint64_t>(std::min(m, 5)));
        const Case c{.program = program,
                     .element = type,
                     .batch = dice() % 4 == 0 ? dice() % 70 : 1,
                     .sizes = {.tile_bits = m, .segment_bits = s},
                     .threads = 1 + static_cast<int>(dice() % 3),
                     .in_offset = dice() % 2 * (dice() % 64),
                     .out_offset = dice() % 2 * (dice() % 64),
                     .seed = number};
        try {
          check(c, &reached);
        } catch (const Error& error) {
          ADD_FAILURE() << error.what() << "\n  " << describe(c);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// One layer of direction d, the first of two elements being the one where parity(f & x) is 0.
// Requires: parity(d & f) = 1.
Program layer_along(f2::Word d, f2::Word f, const Operator& op, int n) {
  std::vector<f2::Word> columns{d};
  for (int i = 0; i < n; ++i) {
    const f2::Word e = f2::unit(i) ^ (f2::parity(f2::unit(i) & f) ? d : 0);  // where f is 0
    f2::Subspace grown = f2::Subspace::span(n, columns);
    if (grown.insert(e)) columns.push_back(e);
  }
  const Affine frame = Affine(f2::Matrix::from_columns(n, columns), 0).inverse();
  return bmmc(frame.inverse()) * pairs(op, n) * bmmc(frame);
}

// Every register meets every other, straight, with lanes exchanged, and with masks of lanes or registers.
void run_every_partner(Reached& reached) {
  const cpu::Vectors vectors = cpu::vectors();
  const int q = vectors.vector_bytes == 0 ? 2 : vectors.register_bits;
  SplitMix64 random{17};
  for (const ElementType& type : all_types()) {
    const int v = vectors.vector_bytes == 0 ? 1 : cpu::group_bits(type, vectors) - q;
    const int n = v + q + 1;
    for (const std::string& name : operator_names()) {
      const Operator op = parse_operator(name);
      Program program = identity(n);
      for (f2::Word c = 1; c < f2::unit(q); ++c) {
        const f2::Word lanes = random() & f2::low_mask(v);
        const f2::Word leading = f2::unit(v + f2::leading_bit(c));
        const f2::Word trailing = f2::unit(v + f2::trailing_bit(c));
        const f2::Word d = c << v | lanes;
        program = layer_along(c << v, leading, op, n) * program;
        program = layer_along(d, leading | f2::unit(n - 1), op, n) * program;
        program = layer_along(d, trailing, op, n) * program;
        if (lanes != 0) program = layer_along(d, f2::unit(f2::trailing_bit(lanes)), op, n) * program;
        if (lanes != 0) {
          program = layer_along(lanes, f2::unit(f2::leading_bit(lanes)) | f2::unit(v), op, n) * program;
        }
      }
      if (!fits(program, type)) continue;
      check({.program = program, .element = type, .batch = 2, .sizes = {}, .seed = random()}, &reached);
    }
  }
}

TEST(NetworkCpuEngine, EveryInstructionSet) {
  bool vectors_seen = false;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(~(target - 1));
    Reached reached;
    run_every_partner(reached);
    sweep(1, 9, kInstrumented ? 29 : 1, reached);
    const cpu::Vectors vectors = cpu::vectors();
    vectors_seen = vectors_seen || vectors.vector_bytes != 0;
    std::vector<std::string> wanted = {"rows back", "rows permuted", "no layers"};
    const auto scalar = static_cast<int>(cpu::Kernel::scalar);
    if (vectors.vector_bytes == 0) {
      wanted.push_back("kernel " + std::to_string(scalar));
    } else if (!kInstrumented) {
      for (int kernel = 0; kernel <= scalar; ++kernel) wanted.push_back("kernel " + std::to_string(kernel));
      for (int recoding = 0; recoding <= static_cast<int>(cpu::Recoding::key64_f64); ++recoding) {
        wanted.push_back("load " + std::to_string(recoding));
        wanted.push_back("store " + std::to_string(recoding));
      }
      for (int c = 1; c < 1 << vectors.register_bits; ++c) {
        wanted.push_back("straight " + std::to_string(c));
        wanted.push_back("masked " + std::to_string(c));
      }
      for (const char* const form : {"padded", "groups", "local twiddles", "twiddle products", "within",
                                     "within, by register", "straight lanes", "exchanged lanes"}) {
        wanted.emplace_back(form);
      }
    }
    for (const std::string& name : wanted) {
      EXPECT_TRUE(reached.contains(name)) << hwy::TargetName(target) << " never ran: " << name;
    }
    if (HasFailure()) break;
  }
  hwy::SetSupportedTargetsForTest(0);
#if HWY_ARCH_X86
  EXPECT_TRUE(vectors_seen || (hwy::SupportedTargets() & HWY_SSE4) == 0);
#endif
}

TEST(NetworkCpuEngine, LargerTilesAndArrays) {
  Reached reached;
  sweep(11, 13, kInstrumented ? 149 : 29, reached);
}

// --- batches, threads, users

TEST(NetworkCpuEngine, ThreadsDoNotChangeABit) {
  const int n = kInstrumented ? 12 : 17;
  for (const Program& program : {fft(n), sort(n)}) {
    const ElementType type{.scalar = program == fft(n) ? Scalar::c64 : Scalar::f32};
    Bytes in((std::size_t{2} * type.bytes()) << n);
    SplitMix64 random{7};
    fill(in, type, true, random);
    Bytes first;
    for (const int threads : {1, 2, 3}) {
      Bytes out(in.size());
      compile({.program = program, .element = type, .batch = 2}, {.engine = Engine::cpu, .threads = threads})
          .run(in.data(), out.data(), in.size());
      if (first.empty()) first = out;
      EXPECT_TRUE(out == first) << to_text(program) << " with " << threads << " threads";
    }
  }
}

TEST(NetworkCpuEngine, RunsFromManyThreadsAtOnce) {
  constexpr int kBits = 11;
  const Executable run = compile({.program = fft(kBits), .element = {.scalar = Scalar::c128}},
                                 {.engine = Engine::cpu, .threads = 1, .tile_bits = 8, .segment_bits = 2});
  Bytes in(run.plan().array_bytes());
  SplitMix64 random{9};
  fill(in, {.scalar = Scalar::c128}, true, random);
  Bytes wanted(in.size());
  run.run(in.data(), wanted.data(), in.size());
  std::atomic<int> right = 0;
  std::vector<std::thread> team;
  for (int t = 0; t < 4; ++t) {
    team.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        Bytes out(in.size());
        run.run(in.data(), out.data(), in.size());
        if (out == wanted) ++right;
      }
    });
  }
  for (std::thread& thread : team) thread.join();
  EXPECT_EQ(right, 20);
}

TEST(NetworkCpuEngine, UsersFunctionsSeeTheirPairs) {
  // Each call leaves its pair's number and bits; in a network of one layer every pair meets once.
  constexpr int kBits = 5;
  constexpr std::uint64_t kBatch = 3;
  std::atomic<int> calls = 0;
  const Operator op = operators::user("mark", "", [&](void* a, void* b, std::uint64_t p, int k) {
    ++calls;
    std::uint64_t words[2];
    std::memcpy(&words[0], a, 8);
    std::memcpy(&words[1], b, 8);
    words[0] = words[0] * 1000 + p * 10 + 1;
    words[1] = words[1] * 1000 + p * 10 + static_cast<std::uint64_t>(k);
    std::memcpy(a, &words[0], 8);
    std::memcpy(b, &words[1], 8);
  });
  std::vector<std::uint64_t> in(kBatch << kBits);
  std::iota(in.begin(), in.end(), 0U);
  std::vector<std::uint64_t> out(in.size());
  compile({.program = pairs(op, kBits), .element = {.scalar = Scalar::u64}, .batch = kBatch},
          {.engine = Engine::cpu, .threads = 2})
      .run(std::span<const std::uint64_t>(in), std::span(out));
  EXPECT_EQ(calls, static_cast<int>(in.size() / 2)) << "no call for what only fills registers";
  for (std::uint64_t i = 0; i < in.size(); ++i) {
    const std::uint64_t p = i % (1 << kBits) / 2;
    EXPECT_EQ(out[i], i * 1000 + p * 10 + (i % 2 == 0 ? 1 : kBits)) << i;
  }
}

TEST(NetworkCpuEngine, UsersProgramsOfEveryShape) {
  const Operator op = operators::user("mix", "", [](void* a, void* b, std::uint64_t p, int k) {
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    std::memcpy(&x, a, 4);
    std::memcpy(&y, b, 4);
    const auto z = static_cast<std::uint32_t>(x * 3 + (y ^ p) + static_cast<std::uint32_t>(k));
    std::memcpy(a, &y, 4);
    std::memcpy(b, &z, 4);
  });
  SplitMix64 random{13};
  for (int n = 1; n <= 9; ++n) {
    check({.program = random_program(n, 5, op, random) * sort(n) * random_program(n, 5, op, random),
           .element = {.scalar = Scalar::i32},
           .batch = 1 + random() % 5,
           .sizes = {.tile_bits = n < 4 ? 0 : n - 2, .segment_bits = n < 4 ? 0 : 1},
           .threads = 2,
           .seed = random()});
  }
}

TEST(NetworkCpuEngine, UsersExceptionsArrive) {
  const Operator op = operators::user("angry", "", [](void*, void*, std::uint64_t p, int) {
    if (p == 3) throw std::runtime_error("pair three");
  });
  std::vector<std::uint32_t> data(1 << 16);
  for (const int threads : {1, 2}) {
    const Executable run = compile({.program = pairs(op, 16), .element = {}},
                                   {.engine = Engine::cpu, .threads = threads, .tile_bits = 6});
    std::vector<std::uint32_t> out(data.size());
    try {
      run.run(std::span<const std::uint32_t>(data), std::span(out));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "pair three");
    }
  }
}

}  // namespace network_cpu_engine_test
}  // namespace faro::network
