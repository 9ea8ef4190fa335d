// What is true of each statement of a completed program, and which statements something comes of.

#include <algorithm>
#include <utility>
#include <variant>

#include "swizzle/emission_context.hpp"
#include "swizzle/executor.hpp"

namespace faro::swizzle {
namespace {

/// The domain that notes of each statement where its condition holds and which registers it touches.
class FactRecorder : public detail::NothingMoves {
 public:
  FactRecorder(const Program& program, const Valuation& valuation)
      : NothingMoves(valuation), program_(program) {}

  [[noreturn]] static void fail_at(const std::string& statement, const std::string& place,
                                   const std::string& got, std::string wanted) {
    fail(ErrorCode::spec, "emit `" + statement + "`", got + " in " + place, std::move(wanted),
         "emit programs that run: see first_mismatch");
  }

  void begin(const Statement& statement, const Place& place) {
    ++sequence_;
    place_ = &place;
    facts_ = &all_[&statement];
    stored_.clear();
    overwrites_ = false;
    store_ = std::get_if<StoreStatement>(&statement);
    if (store_ != nullptr && program_.arrays()[number_of(store_->to)].kind != ArrayKind::output)
      store_ = nullptr;
    if (place.block != block_) start_block(place.block);
    if (std::holds_alternative<BarrierStatement>(statement)) ++barriers_;
  }
  void guard(bool holds) { (holds ? facts_->ever : facts_->always) = holds; }
  void read(std::size_t operand, std::int64_t index) {
    if (facts_->reads.size() <= operand) facts_->reads.resize(operand + 1);
    facts_->reads[operand].insert(index);
  }
  void wrote(std::int64_t index) { facts_->writes.insert(index); }
  void shuffled(std::int64_t receiver, std::int64_t sender) {
    if (receiver != sender) facts_->own_lane = false;
  }
  void element(Array array, std::int64_t address) {
    if (store_ == nullptr) return;
    const auto to = static_cast<std::size_t>(address);
    const std::int64_t thread = place_->warp * program_.launch().warp + place_->lane;
    const LastStore& last = last_[number_of(array)][to];
    if (last.thread >= 0 && last.thread != thread && last.barriers == barriers_) overwrites_ = true;
    stored_.emplace_back(to, thread);
  }
  void end() {
    if (store_ == nullptr) return;
    if (overwrites_) facts_->after_all = true;
    if (facts_->after_all) ++barriers_;
    for (const auto& [to, thread] : stored_) {
      // Two threads in one statement store the same value; either stands for both.
      LastStore& last = last_[number_of(store_->to)][to];
      last = {.thread = last.sequence == sequence_ && last.thread != thread ? kSeveral : thread,
              .sequence = sequence_,
              .barriers = barriers_};
    }
  }

  std::unordered_map<const Statement*, StatementFacts> take() { return std::move(all_); }

 private:
  struct LastStore {
    std::int64_t thread = -1, sequence = -1, barriers = -1;
  };
  static constexpr std::int64_t kSeveral = std::int64_t{1} << 40;  // no thread's number

  static std::size_t number_of(Array array) { return static_cast<std::size_t>(array.number); }
  void start_block(std::int64_t block) {
    block_ = block;
    last_.clear();
    for (const auto& array : program_.arrays()) last_.emplace_back(static_cast<std::size_t>(array.size));
  }

  const Program& program_;
  std::unordered_map<const Statement*, StatementFacts> all_;
  // Facts of the statement that is executed.
  StatementFacts* facts_ = nullptr;
  const Place* place_ = nullptr;
  const StoreStatement* store_ = nullptr;                     // to an output; else null
  std::vector<std::pair<std::size_t, std::int64_t>> stored_;  // element, thread
  bool overwrites_ = false;
  std::vector<std::vector<LastStore>> last_;  // of outputs, in this block
  std::int64_t block_ = -1;
  std::int64_t sequence_ = 0;
  std::int64_t barriers_ = 0;
};

using FactsOfStatements = std::unordered_map<const Statement*, StatementFacts>;

class Liveness {
 public:
  Liveness(const Program& program, const FactsOfStatements& facts)
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
  const FactsOfStatements& facts_;
  std::vector<std::vector<bool>> registers_;
  std::vector<bool> shared_, accumulators_;
  std::set<const Statement*> live_;
  bool grew_ = false;
};

}  // namespace

std::unordered_map<const Statement*, StatementFacts> statement_facts(const Program& program,
                                                                     const Valuation& valuation) {
  FactRecorder recorder(program, valuation);
  detail::Executor(program, recorder).run();
  return recorder.take();
}

std::set<const Statement*> live_statements(
    const Program& program, const std::unordered_map<const Statement*, StatementFacts>& facts) {
  return Liveness(program, facts).live();
}

}  // namespace faro::swizzle
