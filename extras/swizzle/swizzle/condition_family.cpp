// The families of conditions, of parts, which are chains of conditions, and of the offset and size of a
// warp's load: constant + sum of factor * unit * id, all constants from 0 on.
#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <unordered_map>

#include "swizzle/function_builder.hpp"
#include "swizzle/function_set.hpp"

namespace faro::swizzle::detail {
namespace {

constexpr std::array kComparisons = {Comparison::equal,   Comparison::greater_equal,
                                     Comparison::greater, Comparison::less_equal,
                                     Comparison::less,    Comparison::not_equal};

std::vector<std::int64_t> constants_of(const HoleDeclaration& hole) {
  std::vector<std::int64_t> result;
  const auto add = [&](std::int64_t constant) {
    if (std::ranges::find(result, constant) == result.end()) result.push_back(constant);
  };
  for (const std::int64_t constant : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, hole.warp})
    add(constant);
  for (const std::int64_t constant : hole.constants) add(constant);
  return result;
}

// Every way to write a condition.
std::vector<ConditionParameters> ways(const HoleDeclaration& hole, Space space) {
  std::vector<ConditionParameters> result(2);
  result[0].literal = true;
  result[1].literal = false;
  const bool is_easy = condition_freedom_in(hole, space) == ConditionFreedom::easy;
  const std::vector<std::int64_t> constants = is_easy ? std::vector<std::int64_t>{0} : constants_of(hole);
  const auto arguments = static_cast<int>(hole.arguments.size());
  for (int v1 = 0; v1 < arguments; ++v1) {
    for (int v2 = 0; v2 < arguments; ++v2) {
      for (const std::int64_t constant : constants) {
        for (const int sign : {1, -1}) {
          if (is_easy && sign < 0) continue;
          for (const Comparison comparison : kComparisons) {
            result.push_back({std::nullopt, v1, v2, comparison, constant, sign});
          }
        }
      }
    }
  }
  return result;
}

std::int32_t score_of(const ConditionParameters& p) {
  if (p.literal) return 0;
  return 1 + (p.constant != 0 ? 1 : 0) + (p.sign < 0 ? 1 : 0);
}

class ConditionFamily final : public Family {
 public:
  ConditionFamily(const HoleDeclaration& hole, Space space) : ways_(ways(hole, space)) {}

  void build(const HoleDeclaration& hole, FunctionBuilder& builder) const {
    std::vector<std::int32_t> table(static_cast<std::size_t>(cells(hole)));
    for (std::size_t w = 0; w < ways_.size(); ++w) {
      builder.check_limits();
      for_each_cell(hole, [&](std::size_t cell, std::span<const std::int64_t> arguments) {
        table[cell] = holds(ways_[w], arguments) ? 1 : 0;
      });
      builder.add_table(table, score_of(ways_[w]), w);
    }
  }

  Parameters parameters(std::uint64_t source) const override { return ways_[source]; }

 private:
  std::vector<ConditionParameters> ways_;
};

// Chains of conditions. Those that decide the same so far, with the same cells still open, go on as one: the
// simplest, and of these the first. A source is a chain's number in the order of its conditions.
class PartFamily final : public Family {
 public:
  PartFamily(const HoleDeclaration& hole, Space space, const FunctionLimits& limits)
      : conditions_(condition_hole(hole), space, limits) {}

  void build(const HoleDeclaration& hole, FunctionBuilder& builder) {
    const auto count = static_cast<std::size_t>(cells(hole));
    std::vector<std::vector<std::int32_t>> tables(conditions_.size(), std::vector<std::int32_t>(count));
    std::vector<std::int32_t> scores;
    for (std::size_t f = 0; f < tables.size(); ++f) {
      conditions_.table(f, tables[f]);
      scores.push_back(score_of(std::get<ConditionParameters>(conditions_.parameters(f))));
    }
    std::vector<Chain> chains{{.table = std::string(count, kOpen), .score = 0, .conditions = {}}};
    for (int depth = 0; depth < length_; ++depth) chains = longer(builder, tables, scores, chains, depth);
    std::ranges::sort(chains, {}, &Chain::conditions);
    std::vector<std::int32_t> table(count);
    for (Chain& chain : chains) {
      for (std::size_t cell = 0; cell < count; ++cell)
        table[cell] = chain.table[cell] == kOpen ? length_ : chain.table[cell];
      builder.add_table(table, chain.score, chains_.size());
      chains_.push_back(std::move(chain.conditions));
    }
  }

  Parameters parameters(std::uint64_t source) const override {
    PartParameters p;
    for (const std::uint16_t f : chains_[source])
      p.conditions.push_back(std::get<ConditionParameters>(conditions_.parameters(f)));
    return p;
  }

  void set_length(int length) { length_ = length; }

 private:
  static constexpr char kOpen = -1;  // no condition held yet

  struct Chain {
    std::string table;  // the choice of each cell
    std::int32_t score = 0;
    std::vector<std::uint16_t> conditions;
  };

  static HoleDeclaration condition_hole(HoleDeclaration hole) {
    hole.kind = HoleKind::condition;
    return hole;
  }

  static std::vector<Chain> longer(const FunctionBuilder& builder,
                                   const std::vector<std::vector<std::int32_t>>& tables,
                                   const std::vector<std::int32_t>& scores, const std::vector<Chain>& chains,
                                   int depth) {
    constexpr std::size_t kMostChains = std::size_t{1} << 22;
    std::vector<Chain> result;
    std::unordered_map<std::string, std::size_t> known;
    for (const Chain& chain : chains) {
      builder.check_limits();
      for (std::size_t f = 0; f < tables.size(); ++f) {
        Chain next = chain;
        for (std::size_t cell = 0; cell < next.table.size(); ++cell)
          if (next.table[cell] == kOpen && tables[f][cell] != 0) next.table[cell] = static_cast<char>(depth);
        next.score += scores[f] + 1;
        next.conditions.push_back(static_cast<std::uint16_t>(f));
        const auto [at, is_new] = known.try_emplace(next.table, result.size());
        if (is_new) {
          if (result.size() == kMostChains)
            builder.cut_off(Limit::size, "have more than 2^22 beginnings", "fewer choices or conditions");
          result.push_back(std::move(next));
        } else if (Chain& other = result[at->second];
                   std::tie(next.score, next.conditions) < std::tie(other.score, other.conditions)) {
          other = std::move(next);
        }
      }
    }
    return result;
  }

  FunctionSet conditions_;
  int length_ = 1;
  std::vector<std::vector<std::uint16_t>> chains_;
};

}  // namespace

bool holds(const ConditionParameters& p, std::span<const std::int64_t> arguments) {
  if (p.literal) return *p.literal;
  const std::int64_t a = arguments[static_cast<std::size_t>(p.v1)];
  const std::int64_t b = p.constant + p.sign * arguments[static_cast<std::size_t>(p.v2)];
  return compared<bool>(p.comparison, a, b);
}

std::shared_ptr<const Family> build_conditions(const HoleDeclaration& hole, Space space,
                                               FunctionBuilder& builder) {
  auto family = std::make_shared<ConditionFamily>(hole, space);
  family->build(hole, builder);
  return family;
}

std::shared_ptr<const Family> build_parts(const HoleDeclaration& hole, Space space,
                                          FunctionBuilder& builder) {
  auto family = std::make_shared<PartFamily>(hole, space, FunctionLimits());
  family->set_length(static_cast<int>(hole.choices) - 1);
  family->build(hole, builder);
  return family;
}

std::uint64_t count_conditions(const HoleDeclaration& hole, Space space) {
  const std::uint64_t single = ways(hole, space).size();
  if (hole.kind == HoleKind::condition) return single;
  std::uint64_t count = 1;
  // With many choices there are as many ways as can be counted.
  for (std::int64_t j = 1; j < hole.choices; ++j)
    count = count > ~std::uint64_t{0} / single ? ~std::uint64_t{0} : count * single;
  return count;
}

}  // namespace faro::swizzle::detail

// The offset and size of a warp's load: constant + sum of factor * unit * id, all constants from 0 on.
namespace faro::swizzle::detail {
namespace {

std::vector<std::int64_t> units_of(const HoleDeclaration& hole) {
  return hole.kind == HoleKind::warp_size ? std::vector<std::int64_t>{hole.warp} : hole.units;
}

class LinearFamily final : public Family {
 public:
  explicit LinearFamily(const HoleDeclaration& hole)
      : base_(hole.most_constant + 1), units_(units_of(hole)) {}

  void build(const HoleDeclaration& hole, FunctionBuilder& builder) const {
    std::vector<std::int32_t> table(static_cast<std::size_t>(cells(hole)));
    const std::uint64_t count = count_linear(hole);
    for (std::uint64_t source = 0; source < count; ++source) {
      if (source % 1024 == 0) builder.check_limits();
      const LinearParameters p = linear(source);
      for_each_cell(hole, [&](std::size_t cell, std::span<const std::int64_t> arguments) {
        table[cell] = static_cast<std::int32_t>(value_of(Parameters(p), arguments));
      });
      std::int32_t score = p.constant != 0 ? 1 : 0;
      for (const std::int64_t factor : p.factors) score += factor != 0 ? 2 : 0;
      builder.add_table(table, score, source);
    }
  }

  Parameters parameters(std::uint64_t source) const override { return linear(source); }

 private:
  // The constant is the lowest digit, then the factors.
  LinearParameters linear(std::uint64_t source) const {
    const auto base = static_cast<std::uint64_t>(base_);
    LinearParameters p;
    p.constant = static_cast<std::int64_t>(source % base);
    p.units = units_;
    for (std::size_t j = 0; j < units_.size(); ++j) {
      source /= base;
      p.factors.push_back(static_cast<std::int64_t>(source % base));
    }
    return p;
  }

  std::int64_t base_;
  std::vector<std::int64_t> units_;
};

}  // namespace

std::shared_ptr<const Family> build_linear(const HoleDeclaration& hole, FunctionBuilder& builder) {
  auto family = std::make_shared<LinearFamily>(hole);
  family->build(hole, builder);
  return family;
}

std::uint64_t count_linear(const HoleDeclaration& hole) {
  std::uint64_t count = 1;
  for (std::size_t j = 0; j <= units_of(hole).size(); ++j)
    count *= static_cast<std::uint64_t>(hole.most_constant) + 1;
  return count;
}

}  // namespace faro::swizzle::detail
