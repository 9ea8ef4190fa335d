// Rewriting: every rule is a law, the driver keeps the effect and never adds a sweep.
// Sanitized: never, the same few lines, tables or texts.
#include <gmock/gmock.h>

#include <complex>
#include <map>

#include "faro/network/program.hpp"
#include "network/rewrite.hpp"
#include "network_program_support.hpp"

namespace faro::network {
namespace network_rewrite_test {

using operators::fourier;
using operators::hadamard;
using operators::min_max;

// Left sides of every rule, at random: combinators around few kinds of parts, so that patterns are frequent.
std::vector<Program> candidates(int n, std::mt19937_64& random) {
  const std::vector<Operator> ops{witness(), min_max(), hadamard()};
  std::vector<Program> leaves{identity(n), bmmc(Affine(n)), bmmc(maps::random_bmmc(n, random()))};
  if (n > 0) leaves.push_back(pairs(ops[random() % ops.size()], n));
  leaves.push_back(each(operators::each("multiply 5"), n));
  if (n > 1) {
    // Moves neighbours together.
    leaves.push_back(bmmc(compose(maps::xor_mask(n, random() & f2::low_mask(n) & ~f2::Word{1}),
                                  direct_sum(Affine(1), maps::random_bmmc(n - 1, random())))));
  }
  std::vector<Program> result = leaves;
  const Affine map = maps::random_bmmc(n, random());
  result.push_back(bmmc(map) * bmmc(map.inverse()));
  for (const Program& f : leaves) {
    for (const Program& g : leaves) result.push_back(f * g);
  }
  return result;
}

TEST(NetworkRewrite, EveryRuleIsALaw) {
  std::map<std::string_view, int> applied;
  std::mt19937_64 random(5);
  const auto check = [&](const Program& program) {
    for (const Rule& rule : rewrite_rules()) {
      const std::optional<Program> result = rule.apply(program);
      if (!result) continue;
      ++applied[rule.name];
      expect_same_effect(program, *result, std::string(rule.name) + ": " + std::string(rule.law));
      if (HasFailure()) return;
    }
  };
  for (int n = 0; n <= 6; ++n) {
    for (int round = 0; round < 4; ++round) {
      for (const Program& f : candidates(n, random)) {
        check(f);
        if (n < 6) check(two(f));
      }
    }
    const std::vector<Program> parts = candidates(n > 0 ? n - 1 : 0, random);
    for (f2::Word mask = 1; n > 0 && mask <= f2::low_mask(n); ++mask) {
      for (const Program& f : parts) {
        check(parm(mask, f));
        check(parm(mask, f) * parm(mask, parts[random() % parts.size()]));
        check(two(f) * two(parts[random() % parts.size()]));
        if (n < 6) check(parm(f2::unit(static_cast<int>(random() % 3) % (n + 1)), parm(mask, f)));
      }
      if (HasFailure()) return;
    }
  }
  for (const Rule& rule : rewrite_rules()) EXPECT_GE(applied[rule.name], 10) << rule.name << " was never met";
}

TEST(NetworkRewrite, RulesRefuseWhatTheyDoNotHoldFor) {
  // A Fourier butterfly knows its pair's number, so it is another operator on another size.
  EXPECT_FALSE(rules::widen_pairs(two(pairs(fourier(), 2))));
  EXPECT_FALSE(rules::widen_pairs(two(pairs(witness(), 2))));
  EXPECT_FALSE(rules::widen_pairs(parm(1, pairs(min_max(), 2))));
  EXPECT_TRUE(rules::widen_pairs(parm(6, pairs(min_max(), 2))));
  // Neighbours that change their order, or part.
  EXPECT_FALSE(rules::hoist_bmmc(pairs(min_max(), 2) * bmmc(maps::xor_mask(2, 1))));
  EXPECT_FALSE(rules::hoist_bmmc(pairs(min_max(), 2) * bmmc(maps::shuffle(2))));
  EXPECT_TRUE(rules::hoist_bmmc(pairs(min_max(), 2) * bmmc(maps::xor_mask(2, 2))));
  EXPECT_FALSE(rules::hoist_bmmc(pairs(fourier(), 2) * bmmc(maps::xor_mask(2, 2))));
  EXPECT_FALSE(rules::cancel_inverses(bmmc(maps::shuffle(3)) * bmmc(maps::shuffle(3))));
  EXPECT_FALSE(rules::fuse_parts(parm(1, identity(2)) * parm(2, identity(2))));
  EXPECT_FALSE(rules::parm_is_two(parm(2, identity(2))));
  EXPECT_FALSE(rules::exchange_parm(parm(4, parm(1, identity(2)))));
}

TEST(NetworkRewrite, KeepsTheEffectOfRandomPrograms) {
  std::mt19937_64 random(17);
  for (int i = 0; i < 1500; ++i) {
    const int n = static_cast<int>(random() % 7);
    const Program program = random_program(n, 6, {witness(), min_max(), hadamard()}, random);
    const Rewriting rewriting = rewrite(program);
    expect_same_effect(program, rewriting.after, "rewrite");
    EXPECT_LE(rewriting.sweeps_after, rewriting.sweeps_before) << to_text(program);
    EXPECT_EQ(rewriting.sweeps_after, sweeps(rewriting.after));
    // Nothing is left to do, and no two permutations meet.
    EXPECT_EQ(rewrite(rewriting.after).after, rewriting.after) << to_text(program);
    const std::vector<Program> parts = factors(rewriting.after);
    for (std::size_t k = 1; k < parts.size(); ++k) {
      EXPECT_FALSE(parts[k - 1].kind() == ProgramKind::bmmc && parts[k].kind() == ProgramKind::bmmc);
    }
    if (HasFailure()) return;
  }
}

TEST(NetworkRewrite, KeepsTheEffectOfTheLibrary) {
  const ElementType complex{.scalar = Scalar::c128, .with_value = false};
  for (const LibraryEntry& entry : library()) {
    for (int n = 0; n <= 7; ++n) {
      const Program program = entry.make(n);
      const Rewriting rewriting = rewrite(program);
      EXPECT_LE(rewriting.sweeps_after, rewriting.sweeps_before) << entry.name;
      if (entry.name.find("fft") == std::string_view::npos) {
        expect_same_effect(program, rewriting.after, std::string(entry.name));
        continue;
      }
      std::vector<std::complex<double>> values(std::size_t{1} << n);
      for (std::size_t x = 0; x < values.size(); ++x) {
        values[x] = {static_cast<double>(x * x % 17), static_cast<double>(x % 5)};
      }
      // The same butterflies with the same twiddles: equal to the last bit.
      EXPECT_EQ(interpret(program, complex, values), interpret(rewriting.after, complex, values))
          << entry.name << " --bits " << n;
    }
  }
}

// Taken literally every parm costs two permutations; between two operators one is enough.
TEST(NetworkRewrite, SavesAsManyPassesAsItSays) {
  struct Row {
    Program program;
    std::uint64_t before, after;
  };
  const auto nested = [](const char* text, int n) { return parse_program(text, n); };
  const std::vector<Row> rows{
      {nested("parm(1; parm(1; pairs(min_max)))", 4), 5, 3},
      {nested("parm(3; parm(3; parm(3; pairs(min_max))))", 4), 7, 3},
      {nested("parm(8; pairs(min_max))", 4), 1, 1},
      {nested("parm(5; bmmc(gray))", 4), 3, 1},
      {nested("bmmc(gray) . bmmc(inverse(gray(4)))", 4), 2, 0},
      {nested("bmmc(bit_reversal) . two(bmmc(bit_reversal)) . bmmc(shuffle)", 4), 3, 1},
      {vcolumn(4), 7, 3},
      {merge(4), 7 + 5 + 3 + 1, 4 + 4},
  };
  for (const Row& row : rows) {
    const Rewriting rewriting = rewrite(row.program);
    EXPECT_EQ(rewriting.sweeps_before, row.before) << to_text(row.program);
    EXPECT_EQ(rewriting.sweeps_after, row.after) << to_text(row.program) << "\n" << to_text(rewriting.after);
  }
  for (int n = 2; n <= 12; ++n) {
    const auto layers = static_cast<std::uint64_t>(n * (n + 1) / 2);
    EXPECT_LE(rewrite(sort(n)).sweeps_after, 2 * layers + 1) << n;
    EXPECT_LE(rewrite(bitonic_sort(n)).sweeps_after, 2 * layers + 1) << n;
  }
}

TEST(NetworkRewrite, TellsWhatItDid) {
  const Rewriting rewriting = rewrite(parse_program("parm(1; parm(1; pairs(min_max)))", 3));
  std::vector<std::string_view> names;
  std::uint64_t total = 0;
  for (const RuleUse& use : rewriting.uses) {
    names.push_back(use.rule);
    total += use.count;
  }
  EXPECT_THAT(names, ::testing::Contains("parm-to-halves"));
  EXPECT_THAT(names, ::testing::Contains("lift-bmmc"));
  EXPECT_THAT(names, ::testing::Contains("fuse-bmmc"));
  EXPECT_EQ(rewriting.steps.size(), total);
  EXPECT_EQ(to_text(rewriting.steps.front().before), "parm(0x1; pairs(min_max))");
  for (const RewriteStep& step : rewriting.steps) {
    EXPECT_TRUE(std::any_of(rewrite_rules().begin(), rewrite_rules().end(),
                            [&](const Rule& rule) { return rule.name == step.rule; }));
  }
}

TEST(NetworkRewrite, LargeProgramsTakeNoTime) {
  const Rewriting rewriting = rewrite(sort(30));
  EXPECT_LE(rewriting.sweeps_after, 2U * 465 + 1);
  EXPECT_EQ(rewriting.steps.size(), kMostSteps);
}

}  // namespace network_rewrite_test
}  // namespace faro::network
