#include "network/rewrite.hpp"

#include <algorithm>
#include <utility>

namespace faro::network {
namespace {

// Rewrites from the leaves up. What comes back is a list of parts as written, none of which is a composition,
// a parm or an identity: permutations, and operators inside twos.
class Rewriter {
 public:
  explicit Rewriter(std::size_t most_steps) : most_steps_(most_steps) {}

  std::vector<Program> parts_of(const Program& program) {
    switch (program.kind()) {
      case ProgramKind::identity:
        return {};
      case ProgramKind::bmmc:
        if (use("drop-map", rules::drop_map, program)) return {};
        return {program};
      case ProgramKind::pairs:
      case ProgramKind::each:
        return {program};
      case ProgramKind::compose:
        return list(program.parts());
      case ProgramKind::two:
      case ProgramKind::parm:
        return inside(program);
    }
    return {program};
  }

  std::vector<RewriteStep> take_steps() { return std::move(steps_); }
  std::vector<RuleUse> take_uses() { return std::move(uses_); }

 private:
  using Apply = std::optional<Program> (*)(const Program&);

  std::optional<Program> use(std::string_view name, Apply apply, const Program& program) {
    std::optional<Program> result = apply(program);
    if (!result) return result;
    const auto known =
        std::find_if(uses_.begin(), uses_.end(), [name](const RuleUse& entry) { return entry.rule == name; });
    if (known == uses_.end()) {
      uses_.push_back({name, 1});
    } else {
      ++known->count;
    }
    if (steps_.size() < most_steps_) steps_.push_back({name, program, *result});
    return result;
  }

  std::vector<Program> list(const std::vector<Program>& programs) {
    std::vector<Program> result;
    for (const Program& program : programs) {
      for (Program& part : parts_of(program)) append(result, std::move(part));
    }
    return result;
  }

  // Adds a part on the right, which runs before all others, and lets it meet its left neighbour.
  void append(std::vector<Program>& parts, Program part) {
    if (part.kind() == ProgramKind::bmmc) hoist(parts, part);
    if (part.kind() == ProgramKind::identity) return;
    if (parts.empty() || part.kind() != ProgramKind::bmmc || parts.back().kind() != ProgramKind::bmmc) {
      parts.push_back(std::move(part));
      return;
    }
    const Program both = compose(parts.back(), part);
    parts.pop_back();
    if (use("cancel-inverses", rules::cancel_inverses, both)) return;
    Program fused = *use("fuse-bmmc", rules::fuse_bmmc, both);
    if (use("drop-map", rules::drop_map, fused)) return;
    append(parts, std::move(fused));
  }

  // Over operators to the left, where a permutation waits behind them; then `part` is the identity.
  void hoist(std::vector<Program>& parts, Program& part) {
    std::size_t place = parts.size();
    while (place > 0 && parts[place - 1].kind() != ProgramKind::bmmc &&
           rules::hoist_bmmc(compose(parts[place - 1], part))) {
      --place;
    }
    const bool meets = place < parts.size() && place > 0 && parts[place - 1].kind() == ProgramKind::bmmc;
    if (!meets) return;
    for (std::size_t i = parts.size(); i > place; --i) {
      use("hoist-bmmc", rules::hoist_bmmc, compose(parts[i - 1], part));
    }
    std::vector<Program> operators(parts.begin() + static_cast<std::ptrdiff_t>(place), parts.end());
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place), parts.end());
    append(parts, part);
    for (Program& op : operators) append(parts, std::move(op));
    part = identity(part.bits());
  }

  std::vector<Program> inside(const Program& program) {
    const int n = program.bits();
    const std::vector<Program> inner = parts_of(program.part());
    const Program simple = rebuilt(program, composition(inner, n - 1));
    if (inner.empty()) {
      use("drop-parts", rules::drop_parts, simple);
      return {};
    }
    if (const auto lifted = use("lift-bmmc", rules::lift_bmmc, simple)) return parts_of(*lifted);
    if (const auto wide = use("widen-pairs", rules::widen_pairs, simple)) return {*wide};
    if (const auto lifted = use("lift-each", rules::lift_each, simple)) return {*lifted};
    if (simple.kind() == ProgramKind::two) return halves(simple);
    if (const auto halved = use("parm-is-two", rules::parm_is_two, simple)) return halves(*halved);
    const Program permuted = *use("parm-to-halves", rules::parm_to_halves, simple);
    std::vector<Program> result;
    for (const Program& part : permuted.parts()) {
      if (part.kind() != ProgramKind::two) {
        append(result, part);
        continue;
      }
      for (Program& half : halves(part)) append(result, std::move(half));
    }
    return result;
  }

  // two(f . g . ...), whose parts are simple, as a list of simple parts.
  std::vector<Program> halves(const Program& program) {
    const std::optional<Program> split = use("split-parts", rules::split_parts, program);
    std::vector<Program> result;
    for (const Program& half : factors(split ? *split : program)) {
      std::optional<Program> simple = use("lift-bmmc", rules::lift_bmmc, half);
      if (!simple) simple = use("widen-pairs", rules::widen_pairs, half);
      if (!simple) simple = use("lift-each", rules::lift_each, half);
      append(result, simple ? *simple : half);
    }
    return result;
  }

  static Program rebuilt(const Program& program, const Program& part) {
    return program.kind() == ProgramKind::two ? two(part) : parm(program.mask(), part);
  }

  std::size_t most_steps_;
  std::vector<RewriteStep> steps_;
  std::vector<RuleUse> uses_;
};

}  // namespace

std::uint64_t sweeps(const Program& program) {
  switch (program.kind()) {
    case ProgramKind::identity:
      return 0;
    case ProgramKind::bmmc:
      return program.map().is_identity() ? 0 : 1;
    case ProgramKind::pairs:
    case ProgramKind::each:
      return 1;
    case ProgramKind::two:
      return sweeps(program.part());
    case ProgramKind::parm:
      return sweeps(program.part()) + (program.mask() == f2::unit(program.bits() - 1) ? 0 : 2);
    case ProgramKind::compose: {
      std::uint64_t sum = 0;
      for (const Program& part : program.parts()) sum += sweeps(part);
      return sum;
    }
  }
  return 0;
}

Rewriting rewrite(const Program& program, std::size_t most_steps) {
  Rewriter rewriter(most_steps);
  const Program after = composition(rewriter.parts_of(program), program.bits());
  return {.before = program,
          .after = after,
          .steps = rewriter.take_steps(),
          .uses = rewriter.take_uses(),
          .sweeps_before = sweeps(program),
          .sweeps_after = sweeps(after)};
}

}  // namespace faro::network
