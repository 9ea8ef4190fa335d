// Statements that nothing comes of: accumulates whose condition never holds, and what only they needed.

#include <algorithm>
#include <utility>
#include <variant>

#include "swizzle/emission_context.hpp"

namespace faro::swizzle {
namespace {

using Facts = std::unordered_map<const Statement*, StatementFacts>;

class Liveness {
 public:
  Liveness(const Program& program, const Facts& facts)
      : program_(program),
        facts_(facts),
        shared_(program.arrays().size(), false),
        accumulators_(program.accumulators().size(), false) {
    for (const auto& declared : program.register_arrays())
      registers_.emplace_back(static_cast<std::size_t>(declared.size), false);
  }

  std::set<const Statement*> live() && {
    // What is needed only grows; programs are short.
    do {
      grew_ = false;
      walk(program_.statements());
    } while (grew_);
    return std::move(live_);
  }

 private:
  void walk(std::span<const Statement> statements) {
    for (const Statement& statement : statements) {
      if (const auto* loop = std::get_if<LoopStatement>(&statement)) {
        walk(loop->body);
        const auto lives = [&](const Statement& inner) { return live_.contains(&inner); };
        if (std::any_of(loop->body.begin(), loop->body.end(), lives)) live_.insert(&statement);
      } else if (!live_.contains(&statement)) {
        const StatementFacts& facts = facts_.at(&statement);
        if (!facts.ever || !std::visit([&](const auto& which) { return needed(which, facts); }, statement))
          continue;
        live_.insert(&statement);
        grew_ = true;
        std::visit([&](const auto& which) { need(which, facts); }, statement);
      }
    }
  }

  bool any(int registers, const std::set<std::int64_t>& elements) const {
    const auto& needed = registers_[static_cast<std::size_t>(registers)];
    return std::any_of(elements.begin(), elements.end(),
                       [&](std::int64_t element) { return needed[static_cast<std::size_t>(element)]; });
  }
  void mark(int registers, const std::set<std::int64_t>& elements) {
    for (const std::int64_t element : elements)
      registers_[static_cast<std::size_t>(registers)][static_cast<std::size_t>(element)] = true;
  }
  bool is_shared(Array array) const {
    return program_.arrays()[static_cast<std::size_t>(array.number)].kind == ArrayKind::shared;
  }

  bool needed(const LoadStatement& s, const StatementFacts& facts) const {
    return any(s.to.registers, facts.writes);
  }
  bool needed(const StoreStatement& s, const StatementFacts&) const {
    return !is_shared(s.to) || shared_[static_cast<std::size_t>(s.to.number)];
  }
  bool needed(const ShuffleStatement& s, const StatementFacts& facts) const {
    return any(s.to.registers, facts.writes);
  }
  bool needed(const PermuteStatement& s, const StatementFacts& facts) const {
    return any(s.to, facts.writes);
  }
  bool needed(const MoveStatement& s, const StatementFacts& facts) const {
    return any(s.to.registers, facts.writes);
  }
  bool needed(const AccumulateStatement& s, const StatementFacts&) const {
    return accumulators_[static_cast<std::size_t>(s.accumulator)];
  }
  bool needed(const EvaluateStatement& s, const StatementFacts& facts) const {
    return any(s.to.registers, facts.writes);
  }
  bool needed(const BarrierStatement&, const StatementFacts&) const {
    return std::find(shared_.begin(), shared_.end(), true) != shared_.end();
  }
  static bool needed(const PresentStatement&, const StatementFacts&) { return true; }
  static bool needed(const LoopStatement&, const StatementFacts&) { return false; }

  void need(const LoadStatement& s, const StatementFacts&) {
    if (is_shared(s.from)) shared_[static_cast<std::size_t>(s.from.number)] = true;
  }
  void need(const StoreStatement& s, const StatementFacts& facts) { mark(s.from.registers, facts.reads[0]); }
  void need(const ShuffleStatement& s, const StatementFacts& facts) {
    mark(s.from.registers, facts.reads[0]);
  }
  void need(const PermuteStatement& s, const StatementFacts& facts) { mark(s.from, facts.reads[0]); }
  void need(const MoveStatement& s, const StatementFacts& facts) { mark(s.from.registers, facts.reads[0]); }
  void need(const AccumulateStatement& s, const StatementFacts& facts) {
    for (std::size_t k = 0; k < s.term.size(); ++k) mark(s.term[k].registers, facts.reads[k]);
  }
  void need(const EvaluateStatement& s, const StatementFacts&) {
    accumulators_[static_cast<std::size_t>(s.accumulator)] = true;
  }
  void need(const BarrierStatement&, const StatementFacts&) {}
  void need(const PresentStatement& s, const StatementFacts&) {
    auto& all = registers_[static_cast<std::size_t>(s.registers)];
    all.assign(all.size(), true);
  }
  void need(const LoopStatement&, const StatementFacts&) {}

  const Program& program_;
  const Facts& facts_;
  std::vector<std::vector<bool>> registers_;
  std::vector<bool> shared_, accumulators_;
  std::set<const Statement*> live_;
  bool grew_ = false;
};

}  // namespace

std::set<const Statement*> live_statements(
    const Program& program, const std::unordered_map<const Statement*, StatementFacts>& facts) {
  return Liveness(program, facts).live();
}

}  // namespace faro::swizzle
