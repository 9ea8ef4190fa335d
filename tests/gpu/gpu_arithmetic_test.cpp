// Views with arithmetic on a GPU against the CPU engine: the same bits, but those of a NaN, and nearly the
// same where a function is the C library's.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "drawn_views.hpp"
#include "faro/faro.hpp"
#include "faro/rows.hpp"
#include "gpu/gpu_rows_support.hpp"
#include "number_support.hpp"
#include "permutation/rows.hpp"

namespace faro::testing {
namespace gpu_arithmetic_test {

using namespace gpu_rows;
using test::below;
using test::draw_factors;
using test::draw_view;

class GpuArithmetic : public GpuTest {};

// A NaN has any bits.
void expect_same(const Arithmetic& of, const Bytes& got, const Bytes& wanted, double tolerance) {
  const Number number = of.to;
  if (got == wanted) return;
  const std::uint64_t width = bytes_of(number);
  for (std::uint64_t i = 0; i < got.size() / width; ++i) {
    if (std::memcmp(got.data() + i * width, wanted.data() + i * width, width) == 0) continue;
    ASSERT_FALSE(is_integer(number) || number == Number::boolean) << "number " << i;
    const test::WideComplex a = test::read(number, got.data(), static_cast<std::int64_t>(i), of.out_swapped);
    const test::WideComplex b =
        test::read(number, wanted.data(), static_cast<std::int64_t>(i), of.out_swapped);
    const auto expect_near = [&](double x, double y) {
      if (std::isnan(x) && std::isnan(y)) return;
      ASSERT_LE(std::abs(x - y), tolerance * std::max({std::abs(x), std::abs(y), 1e-3}))
          << "number " << i << ": " << x << ", wanted " << y;
    };
    expect_near(static_cast<double>(a.real()), static_cast<double>(b.real()));
    expect_near(static_cast<double>(a.imag()), static_cast<double>(b.imag()));
  }
}

void expect_as_on_cpu(const Strided& view, const Arithmetic& of, SplitMix64& random) {
  SCOPED_TRACE(to_text(view) + ": " + to_text(of));
  const auto cpu = plan(view, of, {.engine = Engine::cpu, .threads = 1});
  const auto gpu = plan(view, of, {.engine = Engine::cuda});
  SCOPED_TRACE(gpu.explain());
  const auto numbers = [&](Number number, std::uint64_t count) {
    Bytes bytes = random_bytes(count * bytes_of(number), random());
    // Bits at random are mostly far out: half of the floats are near 1 instead.
    for (std::uint64_t at = 0; !is_integer(number) && bytes_of(number) >= 4 && at + 8 <= bytes.size();
         at += 16) {
      const auto x = static_cast<double>(static_cast<std::int64_t>(below(random, 4001)) - 2000) / 64;
      const auto narrow = static_cast<float>(x);
      const bool wide = number == Number::f64 || number == Number::c128;
      std::memcpy(bytes.data() + at, wide ? static_cast<const void*>(&x) : &narrow, wide ? 8 : 4);
    }
    return bytes;
  };
  const Bytes in = numbers(of.from, cpu.in_count());
  const Number added = of.addend ? of.addend->number : Number::u8;
  const Bytes addend = numbers(added, cpu.addend_count());
  const bool accumulates = of.addend && of.addend->strides.empty() && added == of.to && below(random, 2) == 0;
  const Bytes before =
      accumulates ? numbers(of.to, cpu.out_count()) : Bytes(cpu.out_count() * bytes_of(of.to), std::byte{7});
  Bytes wanted = before;
  const auto other = [&](const void* out, const void* separate) {
    return NumberArray{!of.addend ? nullptr : accumulates ? out : separate, cpu.addend_count()};
  };
  cpu.run({in.data(), cpu.in_count()}, wanted.data(), cpu.out_count(), other(wanted.data(), addend.data()));

  const auto offset = [&](Number number) {
    return below(random, 3) == 0 ? bytes_of(number) * below(random, 5) : 0;
  };
  const Placed device_in(in, offset(of.from));
  const Placed device_addend(addend, offset(added));
  const Placed device_out(before, offset(of.to));
  const OwnStream stream;
  gpu.run({device_in.data(), cpu.in_count()}, device_out.data(), cpu.out_count(),
          other(device_out.data(), device_addend.data()), stream);
  stream.wait();
  const bool nearly = (of.function >= Function::exp && of.function != Function::relu) ||
                      (is_complex(of.from) && of.function >= Function::absolute);
  const double unit = bytes_of(of.to) == 1 ? 0.26 : bytes_of(of.to) == 2 ? 1e-2 : 1e-4;
  expect_same(of, device_out.get(), wanted, nearly ? unit : 0);
  // Through the device and back.
  Bytes staged = before;
  // In pieces, or as a whole.
  const cuda::StagingOptions pieces{.device_bytes = std::uint64_t{1} << 20,
                                    .piece_bytes = std::uint64_t{64} << below(random, 12)};
  gpu.run_staged({in.data(), cpu.in_count()}, staged.data(), cpu.out_count(),
                 other(staged.data(), addend.data()), pieces);
  expect_same(of, staged, wanted, nearly ? unit : 0);
}

TEST_F(GpuArithmetic, DrawnViewsAsOnTheCpu) {
  // So many kernels are compiled.
  const std::uint64_t rounds = std::max<std::uint64_t>(settings().maps / 10, 20);
  for (std::uint64_t i = 0; i < rounds && !::testing::Test::HasFailure(); ++i) {
    SplitMix64 random{i * 7919 + settings().seed};
    SCOPED_TRACE("case " + std::to_string(i));
    const Strided view = draw_view(random);
    Arithmetic of{.from = static_cast<Number>(below(random, kNumbers)),
                  .to = static_cast<Number>(below(random, kNumbers))};
    if (below(random, 3) == 0) of.function = static_cast<Function>(below(random, kFunctions));
    if (is_complex(of.from) && (of.function == Function::relu || of.function == Function::gelu))
      of.function = Function::conjugate;
    // Whether what is nearly right is 0, or rounds to the same integer.
    if ((is_integer(of.to) || of.to == Number::boolean) && of.function > Function::negate)
      of.function = Function::negate;
    // Parts of complex functions are as right as the whole is large.
    if (is_complex(of.from) && of.function > Function::negate) of.function = Function::conjugate;
    if (below(random, 2) == 0) of.scale = {{1.5}, {}};
    if (below(random, 2) == 0) of.offset = {{-0.25}, {}};
    if (!view.extents.empty() && below(random, 3) == 0) of.scale = draw_factors(random, view);
    if (!view.extents.empty() && below(random, 3) == 0) of.offset = draw_factors(random, view);
    if (below(random, 3) == 0) {
      of.addend =
          Addend{.number = below(random, 2) == 0 ? of.to : static_cast<Number>(below(random, kNumbers)),
                 .beta = 0.5};
      if (below(random, 4) == 0) {
        of.addend->strides = view.in_strides;
        for (std::int64_t& stride : of.addend->strides) stride = std::abs(stride);
      }
    }
    of.to_integer = below(random, 2) == 0 ? ToInteger::nearest : ToInteger::truncate;
    of.saturated = below(random, 4) == 0;
    of.in_swapped = below(random, 6) == 0;
    of.out_swapped = !of.addend && below(random, 6) == 0;
    expect_as_on_cpu(view, of, random);
  }
}

// All values of 8 and 16 bits to each type, as instructions of the device convert them.
TEST_F(GpuArithmetic, EveryNarrowValueToEachType) {
  constexpr Number kNarrow[] = {Number::u8,        Number::i16,     Number::f16,         Number::bf16,
                                Number::f8_e4m3fn, Number::f8_e5m2, Number::f8_e4m3fnuz, Number::f8_e5m2fnuz};
  for (const Number from : kNarrow) {
    const std::uint64_t count = bytes_of(from) == 1 ? 256 : 65536;
    Bytes all(count * bytes_of(from));
    for (std::uint64_t i = 0; i < count; ++i)
      std::memcpy(all.data() + i * bytes_of(from), &i, bytes_of(from));
    const Placed device_in(all);
    for (int n = 0; n < kNumbers; ++n) {
      const auto to = static_cast<Number>(n);
      SCOPED_TRACE(std::string(name(from)) + " to " + name(to));
      const Strided view{.extents = {count}, .in_strides = {1}, .out_strides = {1}};
      for (const bool saturated : {false, true}) {
        if (saturated && bytes_of(to) > 2) continue;
        const Arithmetic of{.from = from, .to = to, .saturated = saturated};
        Bytes wanted(count * bytes_of(to));
        plan(view, of, {.engine = Engine::cpu}).run({all.data(), count}, wanted.data(), count);
        const Placed device_out(Bytes(wanted.size(), std::byte{9}));
        plan(view, of, {.engine = Engine::cuda}).run({device_in.data(), count}, device_out.data(), count);
        check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        expect_same(of, device_out.get(), wanted, 0);
      }
    }
  }
}

// Maps that are views, and those that take two sweeps, with what is read first, last and in place.
TEST_F(GpuArithmetic, PermutationsAsOnTheCpu) {
  SplitMix64 random{5};
  const Permutation maps[] = {parse_permutation("transpose(96, 160)"), parse_permutation("bit_reversal(12)"),
                              parse_permutation("random_bmmc(13, 3)"), Indexed::random(3000, 9)};
  for (const Permutation& map : maps) {
    const std::uint64_t count = element_count(map);
    for (Arithmetic of : {Arithmetic{.from = Number::f32, .to = Number::bf16, .scale = {{0.5}, {}}},
                          Arithmetic{.from = Number::u8, .to = Number::f32, .offset = {{1.0}, {}}},
                          Arithmetic{.addend = Addend{.beta = 2}},
                          Arithmetic{.from = Number::u8,
                          .to = Number::f32,
                          .scale = {{0.5, 2.0}, 0},
                          .offset = {{1.0, -3.0, 4.0, 0.25}, 2},
                          .shape = {2, count / 4, 4}},
                          Arithmetic{.to = Number::i32, .to_integer = ToInteger::nearest}}) {
      SCOPED_TRACE(to_text(map) + ": " + to_text(of));
      const Problem problem{.permutation = map, .batch = 2};
      const auto cpu = plan(problem, of, {.engine = Engine::cpu});
      const auto gpu = plan(problem, of, {.engine = Engine::cuda});
      SCOPED_TRACE(gpu.explain());
      Bytes in = random_bytes(2 * count * bytes_of(of.from), random());
      if (of.from == Number::f32) {
        for (std::uint64_t i = 0; i < 2 * count; ++i) {
          const float x = static_cast<float>(below(random, 1000)) / 8;
          std::memcpy(in.data() + 4 * i, &x, 4);
        }
      }
      Bytes wanted(2 * count * bytes_of(of.to));
      const NumberArray none{nullptr, of.addend ? 2 * count : 0};
      const auto other = [&](const void* data) { return of.addend ? NumberArray{data, 2 * count} : none; };
      cpu.run({in.data(), 2 * count}, wanted.data(), 2 * count, other(in.data()));
      const Placed device_in(in);
      const Placed device_other(in);
      const Placed device_out(Bytes(wanted.size(), std::byte{7}));
      const OwnStream stream;
      gpu.run({device_in.data(), 2 * count}, device_out.data(), 2 * count, other(device_other.data()),
              stream);
      stream.wait();
      EXPECT_TRUE(device_out.get() == wanted);
    }
  }
}

// Index arrays by every method, in one sweep: read first and written last, added to, with factors along an
// axis, at any alignment, in elements of several numbers; and what they turn out to be.
TEST_F(GpuArithmetic, IndexArraysAsOnTheCpu) {
  SplitMix64 random{77};
  const auto drawn = [&](std::uint64_t count, std::uint64_t window, std::uint64_t block) {
    std::vector<std::uint64_t> entries(count);
    for (std::uint64_t i = 0; i < count; ++i) entries[i] = i;
    const std::uint64_t blocks = count / block;
    for (std::uint64_t i = blocks; i > 1; --i) {
      const std::uint64_t other = (i - 1) - below(random, std::min(i, window));
      std::swap_ranges(entries.begin() + static_cast<std::ptrdiff_t>((i - 1) * block),
                       entries.begin() + static_cast<std::ptrdiff_t>(i * block),
                       entries.begin() + static_cast<std::ptrdiff_t>(other * block));
    }
    return Indexed(entries, below(random, 2) == 0 ? Direction::gather : Direction::scatter);
  };
  struct Case {
    Permutation map;
    IndexChoice choice = {};
    const char* said = "changed  ";
  };
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  std::vector<Case> cases;
  for (const std::uint64_t count : {3001U, 70000U})
    cases.push_back({drawn(count, kAll, 1), {.method = IndexMethod::direct}});
  for (const std::vector<int>& levels : {std::vector<int>{}, {6}, {3, 4}}) {
    const int bits = levels.empty() ? 15 : levels.size() == 1 ? 11 : 10;
    const std::uint64_t count = levels.empty() ? 30001 : 90007;
    cases.push_back({drawn(count, kAll, 1),
                     {.method = IndexMethod::partition, .chunk_bits = bits, .level_bits = levels}});
    cases.push_back(cases.back());
  }
  cases.push_back({drawn(65536, kAll, 1), {.method = IndexMethod::row_column}});
  cases.push_back({drawn(70000, kAll, 500), {.method = IndexMethod::runs}});
  cases.push_back({drawn(65536, 100, 1), {.method = IndexMethod::window}});
  cases.push_back({drawn(std::uint64_t{3} << 16, kAll, 8)});
  cases.push_back({drawn(std::uint64_t{3} << 21, kAll, 1)});
  cases.push_back({as_index_array(maps::random_bmmc(13, 3)), {}, ""});
  // Arrays of known forms, one after another, and of elements that are pairs.
  const auto repeated = [&](const Indexed& block, std::uint64_t repeats, std::uint64_t together) {
    std::vector<std::uint64_t> entries;
    for (std::uint64_t r = 0; r < repeats; ++r) {
      for (std::uint64_t i = 0; i < block.count(); ++i) {
        for (std::uint64_t k = 0; k < together; ++k)
          entries.push_back((r * block.count() + block.entry(i)) * together + k);
      }
    }
    return Indexed(entries, block.direction());
  };
  cases.push_back({repeated(as_index_array(maps::random_bmmc(13, 3)), 3, 1), {}, ""});
  cases.push_back({repeated(as_index_array(maps::affine_mod(10007, 313, 5)), 3, 1), {}, ""});
  cases.push_back({repeated(as_index_array(maps::affine_mod(10007, 313, 5)), 1, 2), {}, ""});
  cases.push_back({as_index_array(maps::affine_mod(100003, 31337, 5))});
  for (const char* const map : {"affine_mod(65537, 12345, 6)", "multiply(1000001, 3)", "hilbert(2, 9)",
                                "hilbert(3, 5)", "healpix(6)"})
    cases.push_back({parse_permutation(map)});
  for (const Case& each : cases) {
    const std::uint64_t count = element_count(each.map);
    for (int round = 0; round < 6; ++round) {
      Arithmetic of{.from = test::draw_number(random), .to = test::draw_number(random)};
      if (round % 3 == 1) of.scale = {{0.5}, {}};
      if (round % 3 == 2) of.addend = Addend{.number = test::draw_number(random), .beta = 2};
      const std::uint64_t batch = 1 + below(random, 2);
      if (round == 3) {
        of.shape = {batch * count, 1};
        of.offset.axis = 0;
        of.offset.values.resize(batch * count);
        for (std::uint64_t i = 0; i < batch * count; ++i) of.offset.values[i] = static_cast<double>(i % 7);
      }
      SCOPED_TRACE(to_text(each.map) + ": " + to_text(of) + ", batch " + std::to_string(batch));
      const Problem problem{.permutation = each.map, .batch = batch};
      const auto cpu = plan(problem, of, {.engine = Engine::cpu});
      const auto gpu = plan(problem, of, {.engine = Engine::cuda, .index_choice = each.choice});
      SCOPED_TRACE(gpu.explain());
      EXPECT_NE(gpu.explain().find(each.said), std::string::npos);
      const std::uint64_t numbers = batch * count;
      const Bytes in = random_bytes(numbers * bytes_of(of.from), random());
      const Bytes other = of.addend ? random_bytes(numbers * bytes_of(of.addend->number), random()) : Bytes();
      Bytes wanted(numbers * bytes_of(of.to));
      cpu.run({in.data(), numbers}, wanted.data(), numbers, {other.data(), of.addend ? numbers : 0});
      // A number further on than an allocation, in half of the rounds.
      const std::uint64_t further = round % 2;
      const Placed device_in(in, further * bytes_of(of.from));
      const Placed device_other(other, further * (of.addend ? bytes_of(of.addend->number) : 0));
      const Placed device_out(Bytes(wanted.size(), std::byte{7}), further * bytes_of(of.to));
      const OwnStream stream;
      gpu.run({device_in.data(), numbers}, device_out.data(), numbers,
              {of.addend ? device_other.data() : nullptr, of.addend ? numbers : 0}, stream);
      stream.wait();
      expect_same(of, device_out.get(), wanted, 0);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// Rows taken, put and added, with the entries on the device: of the library's kernels and of compiled ones.
TEST_F(GpuArithmetic, RowsAsOnTheCpu) {
  SplitMix64 random{11};
  const Arithmetic changes[] = {
      {.from = Number::f32, .to = Number::bf16},
      {.from = Number::bf16, .to = Number::f32},
      {.from = Number::u8, .to = Number::f32, .scale = {{0.5}, {}}, .offset = {{-1.0}, {}}},
      {.from = Number::f32, .to = Number::f32, .scale = {{2.0}, {}}},
      {.from = Number::f16, .to = Number::f64},
      {.from = Number::i16, .to = Number::i32, .function = Function::negate}};
  for (const Arithmetic& change : changes) {
    for (const std::uint64_t numbers : {1U, 7U, 64U}) {
      for (const int kind : {0, 1, 2}) {  // take, put, add
        Arithmetic of = change;
        const std::uint64_t rows = 300 + below(random, 200);
        const std::uint64_t count = kind == 1 ? rows - below(random, 100) : 200 + below(random, 400);
        const std::uint64_t outer = 1 + below(random, 5);
        const bool along = below(random, 3) == 0;
        of.shape = {outer, kind == 0 ? count : rows, numbers};
        if (along) {
          of.offset = {{}, 2};
          for (std::uint64_t i = 0; i < numbers; ++i)
            of.offset.values.emplace_back(static_cast<double>(i % 5));
        }
        const bool adds_to = kind == 0 && below(random, 3) == 0;
        if (adds_to) of.addend = Addend{.number = Number::f32, .beta = 0.5};
        const bool wide = below(random, 2) == 0;
        const Entries entries =
            drawn(count, rows, {.bytes = wide ? 8 : 4, .is_signed = true}, kind == 1, 0.1, random());
        const Bytes stored = entries.bytes();
        const Placed on_device(stored);
        const auto move_of = [&](const void* data) -> RowMove {
          const RowNumbers at(data, count, entries.type);
          if (kind == 0) return Take{.from = at, .rows = rows, .fill = Fill::kept()};
          if (kind == 1) return Put{.to = at, .rows = rows};
          return Add{.to = at, .rows = rows, .number = of.to};
        };
        const RowLayout layout{.outer = outer, .row_bytes = numbers * bytes_of(of.from)};
        const auto cpu = plan_rows(move_of(stored.data()), layout, of, {.engine = Engine::cpu});
        const auto gpu = plan_rows(move_of(on_device.data()), layout, of);
        SCOPED_TRACE(gpu.explain());
        const Bytes in = random_numbers(is_summed(of.from) ? of.from : Number::f32, cpu.in_count(), random());
        const Bytes before =
            random_numbers(is_summed(of.to) ? of.to : Number::f32, cpu.out_count(), random());
        const Bytes addend = random_numbers(Number::f32, cpu.addend_count(), random());
        Bytes wanted = before;
        cpu.run({in.data(), cpu.in_count()}, wanted.data(), cpu.out_count(),
                {adds_to ? addend.data() : nullptr, cpu.addend_count()});
        const Placed device_in(in, below(random, 2) * bytes_of(of.from));
        const Placed device_out(before, below(random, 2) * bytes_of(of.to));
        const Placed device_addend(addend);
        const OwnStream stream;
        const NumberArray other{adds_to ? device_addend.data() : nullptr, cpu.addend_count()};
        gpu.run({device_in.data(), cpu.in_count()}, device_out.data(), cpu.out_count(), other, stream);
        gpu.check(stream);
        expect_same(of, device_out.get(), wanted, 0);
        // Elsewhere on the device, and from the host.
        const Placed elsewhere(stored, 64);
        const Placed again(before);
        gpu.run_by(elsewhere.data(), {device_in.data(), cpu.in_count()}, again.data(), cpu.out_count(), other,
                   stream);
        stream.wait();
        expect_same(of, again.get(), wanted, 0);
        Bytes staged = before;
        gpu.run_staged({in.data(), cpu.in_count()}, staged.data(), cpu.out_count(),
                       {adds_to ? addend.data() : nullptr, cpu.addend_count()});
        expect_same(of, staged, wanted, 0);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST_F(GpuArithmetic, TellsOfWrongEntries) {
  const Entries entries{.type = {.bytes = 4, .is_signed = true}, .values = {0, 9, 2}};
  const Placed on_device(entries.bytes());
  const RowNumbers at(on_device.data(), 3, entries.type);
  const Arithmetic of{.from = Number::f32, .to = Number::bf16};
  const Placed in(Bytes(4 * 32));
  const Placed out(Bytes(4 * 16, std::byte{7}));
  const auto take = plan_rows(Take{.from = at, .rows = 4}, {.row_bytes = 32}, of);
  take.run({in.data(), 32}, out.data(), 24);
  EXPECT_NE(refusal([&] { take.check(); }).find("at position 1"), std::string::npos);
  take.check();
  EXPECT_EQ(out.get()[16], std::byte{7});
  const auto put = plan_rows(Put{.to = at, .rows = 4}, {.row_bytes = 32}, of);
  put.run({in.data(), 24}, out.data(), 32);
  EXPECT_NE(refusal([&] { put.check(); }).find("at position 1"), std::string::npos);
  EXPECT_EQ(out.get()[63], std::byte{7});
  EXPECT_NE(refusal([&] {
              plan_rows(Take{.from = at, .rows = 4}, {.row_bytes = 32}, of, {.engine = Engine::cpu});
            }).find("memory of a device"),
            std::string::npos);
}

TEST_F(GpuArithmetic, RefusesWhatCannotBe) {
  const Strided view{.extents = {4, 6}, .in_strides = {6, 1}, .out_strides = {1, 4}};
  const auto plan_of = plan(view, Arithmetic{.to = Number::bf16}, {.engine = Engine::cuda});
  const Bytes host(96);
  const Placed device(host);
  const Placed out(Bytes(64));
  EXPECT_NE(refusal([&] { plan_of.run({host.data(), 24}, out.data(), 24); }), "");
  EXPECT_NE(refusal([&] { plan_of.run({device.data() + 1, 23}, out.data(), 24); }), "");
  EXPECT_NE(refusal([&] { plan_of.run({device.data() + 2, 24}, out.data(), 24); }), "");
  EXPECT_NE(refusal([&] { plan_of.run({device.data(), 24}, device.data() + 4, 24); }), "");
  EXPECT_EQ(refusal([&] { plan_of.run({device.data(), 24}, out.data(), 24); }), "");
}

}  // namespace gpu_arithmetic_test
}  // namespace faro::testing
