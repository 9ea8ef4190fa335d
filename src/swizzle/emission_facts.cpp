// What is true of each statement, found by going through all places as the executor does.

#include <utility>
#include <variant>

#include "faro/error.hpp"
#include "swizzle/emission_context.hpp"
#include "swizzle/statement_text.hpp"

namespace faro::swizzle {
namespace {

class Walk {
 public:
  Walk(const Program& program, const Valuation& valuation)
      : program_(program),
        holes_([&valuation](int hole, std::span<const std::int64_t> a) { return valuation(hole, a); }) {
    place_.loops.assign(program.loops().size(), 0);
  }

  std::unordered_map<const Statement*, StatementFacts> facts() && {
    for (place_.block = 0; place_.block < program_.launch().blocks; ++place_.block) {
      writers_.clear();
      for (const auto& array : program_.arrays()) writers_.emplace_back(static_cast<std::size_t>(array.size));
      for (const Statement& statement : program_.statements()) visit(statement);
    }
    return std::move(facts_);
  }

 private:
  struct Writer {
    std::int64_t thread = -1, sequence = -1, barriers = -1;
  };

  [[noreturn]] void refuse(const Statement& statement, const std::string& array, std::int64_t index,
                           std::int64_t size) const {
    throw Error(
        {.code = ErrorCode::spec,
         .operation = "emit `" + statement_text(program_, statement) + "`",
         .got = array + "[" + std::to_string(index) + "] in " + place_text(program_, place_, open_loops_),
         .wanted = "an index in 0 .. " + std::to_string(size - 1),
         .remedy = "emit programs that run: see first_mismatch"});
  }

  std::int64_t value(const Index& index) const { return evaluate(index, place_, holes_); }

  std::int64_t element(const Statement& statement, int registers, const Index& index) const {
    const auto& declared = program_.register_arrays()[static_cast<std::size_t>(registers)];
    const std::int64_t number = value(index);
    if (number < 0 || number >= declared.size) refuse(statement, declared.name, number, declared.size);
    return number;
  }
  std::int64_t address(const Statement& statement, Array array, const Index& index) const {
    const auto& declared = program_.arrays()[static_cast<std::size_t>(array.number)];
    const std::int64_t number = value(index);
    if (number < 0 || number >= declared.size) refuse(statement, declared.name, number, declared.size);
    return number;
  }

  template <typename Each>
  void each_thread(const Each& each) {
    for (place_.warp = 0; place_.warp < program_.launch().warps; ++place_.warp)
      for (place_.lane = 0; place_.lane < program_.launch().warp; ++place_.lane) each();
  }

  /// Calls each() where `when` holds.
  template <typename Each>
  void guarded(StatementFacts& facts, const Index& when, const Each& each) {
    each_thread([&] {
      if (value(when) == 0) {
        facts.always = false;
        return;
      }
      facts.ever = true;
      each();
    });
  }

  static void reserve(StatementFacts& facts, std::size_t reads) {
    if (facts.reads.size() < reads) facts.reads.resize(reads);
  }

  void visit(const Statement& statement) {
    ++sequence_;
    if (const auto* loop = std::get_if<LoopStatement>(&statement)) {
      open_loops_.push_back(loop->number);
      auto& counter = place_.loops[static_cast<std::size_t>(loop->number)];
      for (counter = 0; counter < loop->count; ++counter)
        for (const Statement& inner : loop->body) visit(inner);
      open_loops_.pop_back();
      return;
    }
    StatementFacts& facts = facts_[&statement];
    std::visit([&](const auto& which) { visit(statement, which, facts); }, statement);
  }

  void visit(const Statement& statement, const LoadStatement& s, StatementFacts& facts) {
    guarded(facts, s.when, [&] {
      facts.writes.insert(element(statement, s.to.registers, s.to.index));
      address(statement, s.from, s.address);
    });
  }

  void visit(const Statement& statement, const StoreStatement& s, StatementFacts& facts) {
    reserve(facts, 1);
    const bool output = program_.arrays()[static_cast<std::size_t>(s.to.number)].kind == ArrayKind::output;
    auto& writers = writers_[static_cast<std::size_t>(s.to.number)];
    std::vector<std::pair<std::size_t, std::int64_t>> stored;  // element, thread
    bool overwrites = false;
    guarded(facts, s.when, [&] {
      facts.reads[0].insert(element(statement, s.from.registers, s.from.index));
      const auto to = static_cast<std::size_t>(address(statement, s.to, s.address));
      const std::int64_t thread = place_.warp * program_.launch().warp + place_.lane;
      const Writer& last = writers[to];
      if (last.thread >= 0 && last.thread != thread && last.barriers == barriers_) overwrites = true;
      stored.emplace_back(to, thread);
    });
    if (!output) return;
    if (overwrites) facts.after_all = true;
    if (facts.after_all) ++barriers_;
    for (const auto& [to, thread] : stored) {
      // Two threads in one statement store the same value; either stands for both.
      Writer& last = writers[to];
      last = {.thread = last.sequence == sequence_ && last.thread != thread ? kSeveral : thread,
              .sequence = sequence_,
              .barriers = barriers_};
    }
  }

  void visit(const Statement& statement, const ShuffleStatement& s, StatementFacts& facts) {
    reserve(facts, 1);
    const std::int64_t lanes = program_.launch().warp;
    guarded(facts, 1, [&] {
      facts.writes.insert(element(statement, s.to.registers, s.to.index));
      const std::int64_t receiver = place_.lane;
      place_.lane = (value(s.lane) % lanes + lanes) % lanes;
      if (place_.lane != receiver) facts.own_lane = false;
      facts.reads[0].insert(element(statement, s.from.registers, s.from.index));
      place_.lane = receiver;
    });
  }

  void visit(const Statement& statement, const PermuteStatement& s, StatementFacts& facts) {
    reserve(facts, 1);
    auto& counter = place_.loops[static_cast<std::size_t>(s.counter)];
    const std::int64_t size = program_.loops()[static_cast<std::size_t>(s.counter)].count;
    open_loops_.push_back(s.counter);
    for (counter = 0; counter < size; ++counter) {
      guarded(facts, 1, [&] { facts.reads[0].insert(element(statement, s.from, s.source)); });
      facts.writes.insert(counter);
    }
    open_loops_.pop_back();
  }

  void visit(const Statement& statement, const MoveStatement& s, StatementFacts& facts) {
    reserve(facts, 1);
    guarded(facts, 1, [&] {
      facts.reads[0].insert(element(statement, s.from.registers, s.from.index));
      facts.writes.insert(element(statement, s.to.registers, s.to.index));
    });
  }

  void visit(const Statement& statement, const AccumulateStatement& s, StatementFacts& facts) {
    reserve(facts, s.term.size());
    guarded(facts, s.when, [&] {
      for (std::size_t k = 0; k < s.term.size(); ++k)
        facts.reads[k].insert(element(statement, s.term[k].registers, s.term[k].index));
    });
  }

  void visit(const Statement& statement, const EvaluateStatement& s, StatementFacts& facts) {
    guarded(facts, 1, [&] { facts.writes.insert(element(statement, s.to.registers, s.to.index)); });
  }

  void visit(const Statement&, const BarrierStatement&, StatementFacts& facts) {
    facts.ever = true;
    ++barriers_;
  }

  void visit(const Statement& statement, const PresentStatement& s, StatementFacts& facts) {
    guarded(facts, s.when, [&] { address(statement, s.output, s.address); });
  }

  void visit(const Statement&, const LoopStatement&, StatementFacts&) {}

  static constexpr std::int64_t kSeveral = std::int64_t{1} << 40;  // no thread's number

  const Program& program_;
  HoleReader holes_;
  Place place_;
  std::vector<int> open_loops_;
  std::unordered_map<const Statement*, StatementFacts> facts_;
  std::vector<std::vector<Writer>> writers_;  // of outputs, in this block
  std::int64_t sequence_ = 0;
  std::int64_t barriers_ = 0;
};

}  // namespace

std::unordered_map<const Statement*, StatementFacts> statement_facts(const Program& program,
                                                                     const Valuation& valuation) {
  return Walk(program, valuation).facts();
}

}  // namespace faro::swizzle
