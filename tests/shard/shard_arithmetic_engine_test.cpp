// Numbers of shards that are changed on their way, by threads as ranks: each rank's part against the same
// change of the whole array; bytes sent are those of the narrower type; errors of one rank on all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "engine_support.hpp"
#include "refusal.hpp"
#include "shard_support.hpp"

namespace faro {
namespace shard_arithmetic_engine_test {

using ::testing::HasSubstr;
using testing::on_ranks;
using testing::text_of;

using Bytes = std::vector<std::byte>;

constexpr std::size_t kGuard = 64;
constexpr std::byte kUnwritten{0xa5};

// Numbers that every type holds.
Bytes small_numbers(Number number, std::uint64_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  for (std::uint64_t i = 0; i < count; ++i) values[i] = static_cast<float>((i * 37 + seed) % 101);
  Bytes bytes(count * bytes_of(number));
  faro::plan(Strided{{count}, {1}, {1}}, Arithmetic{.to = number}, {.engine = Engine::cpu})
      .run({values.data(), count}, bytes.data(), count);
  return bytes;
}

Bytes part_of(const Bytes& whole, std::uint64_t width, const ShardCut& cut,
              const std::vector<std::uint64_t>& shape, int ranks, int rank) {
  Bytes part;
  for (std::uint64_t x = 0; x * width < whole.size(); ++x) {
    if (testing::owner_of(x, cut, shape, ranks) != rank) continue;
    const auto at = whole.begin() + static_cast<std::ptrdiff_t>(x * width);
    part.insert(part.end(), at, at + static_cast<std::ptrdiff_t>(width));
  }
  return part;
}

void expect_changed(const ShardProblem& problem, Arithmetic of, bool first) {
  SCOPED_TRACE(to_text(problem.permutation) + ": " + to_text(of));
  const std::uint64_t count = element_count(problem.permutation);
  const auto in_shape = problem.axes ? problem.in_shape() : std::vector<std::uint64_t>{count};
  const auto out_shape = problem.axes ? problem.out_shape() : std::vector<std::uint64_t>{count};
  const Bytes in = small_numbers(of.from, count, 3);
  const Number added = of.addend ? of.addend->number : of.to;
  const Bytes addend = small_numbers(added, count, 11);
  Bytes wanted(count * bytes_of(of.to));
  Arithmetic whole = of;
  if (of.scale.axis || of.offset.axis) whole.shape = out_shape;
  faro::plan(problem.permutation, whole, {.engine = Engine::cpu})
      .run({in.data(), count}, wanted.data(), count, {of.addend ? addend.data() : nullptr, count});

  const int ranks = problem.shards.ranks;
  const auto communicators = in_memory_communicators(ranks, std::chrono::seconds(60));
  std::vector<std::string> faults(communicators.size());
  const auto thrown = on_ranks(communicators, [&](const std::shared_ptr<Communicator>& communicator) {
    ShardProblem mine = problem;
    mine.shards.rank = communicator->rank();
    std::string& fault = faults[static_cast<std::size_t>(mine.shards.rank)];
    ShardedArithmetic plan(mine, of, communicator, {.threads = 1});
    const Bytes my_in = part_of(in, bytes_of(of.from), mine.shards.in, in_shape, ranks, mine.shards.rank);
    const Bytes my_addend =
        part_of(addend, bytes_of(added), mine.shards.out, out_shape, ranks, mine.shards.rank);
    const Bytes my_out =
        part_of(wanted, bytes_of(of.to), mine.shards.out, out_shape, ranks, mine.shards.rank);
    const std::uint64_t out_count = my_out.size() / bytes_of(of.to);
    if (plan.converts_first() != first) fault = "the other order";
    if (plan.plan().problem().element_bytes != bytes_of(first ? of.to : of.from)) fault = "bytes sent";
    if (plan.explain().find(first ? "before they are sent" : "after they are received") == std::string::npos)
      fault = "explained: " + plan.explain();
    for (int run = 0; run < 2; ++run) {
      Bytes out(my_out.size() + 2 * kGuard, kUnwritten);
      plan.run({my_in.data(), my_in.size() / bytes_of(of.from)}, out.data() + kGuard, out_count,
               of.addend ? NumberArray{my_addend.data(), out_count} : NumberArray{});
      const auto begin = out.begin() + kGuard;
      const auto unwritten = [](std::byte byte) { return byte == kUnwritten; };
      if (!std::equal(begin, out.end() - kGuard, my_out.begin(), my_out.end())) fault = "numbers";
      if (!std::all_of(out.begin(), begin, unwritten) ||
          !std::all_of(out.end() - kGuard, out.end(), unwritten))
        fault = "guard zones";
    }
  });
  for (std::size_t rank = 0; rank < thrown.size(); ++rank) {
    EXPECT_EQ(text_of(thrown[rank]), "") << "rank " << rank;
    EXPECT_EQ(faults[rank], "") << "rank " << rank;
  }
}

const Arithmetic kNarrowing{.from = Number::f32, .to = Number::bf16, .scale = {{0.5}, {}}};
const Arithmetic kWidening{.from = Number::u8, .to = Number::f64, .offset = {{-1.0}, {}}};
const Arithmetic kAdding{
    .from = Number::f32, .to = Number::f16, .addend = Addend{.number = Number::u8, .beta = 3}};
const Arithmetic kSwapped{.from = Number::i32, .to = Number::i32, .in_swapped = true, .out_swapped = true};

TEST(ShardArithmetic, AffineMapsIndexArraysAndEvenSlabs) {
  for (const Permutation& map : {Permutation(maps::random_bmmc(9, 4)), Permutation(maps::bit_reversal(10)),
                                 Permutation(Indexed::random(1000, 5)), Permutation(maps::identity(0))}) {
    ShardProblem problem{.permutation = map, .shards = {.ranks = 4}};
    if (std::holds_alternative<Affine>(map) && element_count(map) > 4) problem.shards.out = ShardBits{{0, 3}};
    expect_changed(problem, kNarrowing, true);
    expect_changed(problem, kWidening, false);
    expect_changed(problem, kAdding, false);
    expect_changed(problem, kSwapped, false);
  }
}

TEST(ShardArithmetic, SlabsWithFactorsAlongEachAxis) {
  const NamedAxes axes{.shape = {6, 10, 7}, .order = {2, 0, 1}};
  for (const int axis : {0, 1, 2}) {
    ShardProblem problem{.permutation = Axes(axes.shape, axes.order),
                         .shards = {.ranks = 3, .in = ShardAxis{1}, .out = ShardAxis{axis}},
                         .axes = axes};
    if (axis == 0) problem.shards.out = ShardAxis{0, {5, 0, 2}};
    for (const std::size_t along : {0U, 1U, 2U}) {
      Coefficient factors{.values = std::vector<std::complex<double>>(problem.out_shape()[along]),
                          .axis = along};
      std::iota(factors.values.begin(), factors.values.end(), 1.0);
      Arithmetic of = kWidening;
      of.scale = factors;
      expect_changed(problem, of, false);
      of = kNarrowing;
      of.offset = factors;
      of.addend = Addend{.beta = -1};
      expect_changed(problem, of, false);
    }
    expect_changed(problem, kNarrowing, true);
  }
}

TEST(ShardArithmetic, ErrorsAreThoseOfAllRanks) {
  const auto communicators = in_memory_communicators(2, std::chrono::seconds(60));
  const auto on_both = [&](const std::function<void(const std::shared_ptr<Communicator>&)>& work) {
    std::string said;
    for (const auto& thrown : on_ranks(communicators, work)) said += text_of(thrown) + "\n";
    return said;
  };
  const auto problem_of = [](int rank) {
    return ShardProblem{.permutation = maps::bit_reversal(6),
                        .shards = {.ranks = 2, .rank = rank, .out = ShardBits{{1}}}};
  };
  const std::string different = on_both([&](const std::shared_ptr<Communicator>& c) {
    Arithmetic of = kNarrowing;
    if (c->rank() == 1) of.scale.values = {0.25};
    ShardedArithmetic(problem_of(c->rank()), of, c);
  });
  EXPECT_THAT(different, HasSubstr("rank"));
  const std::string along = on_both([&](const std::shared_ptr<Communicator>& c) {
    Arithmetic of = kNarrowing;
    of.scale = {.values = std::vector<std::complex<double>>(64, 1.0), .axis = 0};
    ShardedArithmetic(problem_of(c->rank()), of, c);
  });
  EXPECT_THAT(along, HasSubstr("parts that are no slabs"));
  const std::string missing = on_both([&](const std::shared_ptr<Communicator>& c) {
    ShardedArithmetic plan(problem_of(c->rank()), kNarrowing, c);
    std::vector<float> in(32);
    std::vector<std::uint16_t> out(32, 7);
    const std::uint64_t count = c->rank() == 1 ? 31 : 32;
    try {
      plan.run({in.data(), count}, out.data(), 32);
    } catch (const Error&) {
      for (const std::uint16_t x : out) FARO_CHECK(x == 7);
      throw;
    }
  });
  EXPECT_THAT(missing, HasSubstr("input of 31 numbers"));
  EXPECT_THAT(missing.substr(missing.find('\n')), HasSubstr("input of 31 numbers"));  // on the other, too
}

}  // namespace shard_arithmetic_engine_test
}  // namespace faro
