#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "faro/error.hpp"
#include "faro/swizzle/choices.hpp"
#include "swizzle/choice_nodes.hpp"
#include "swizzle/choice_sites.hpp"
#include "swizzle/choice_state.hpp"
#include "swizzle/statement_text.hpp"
#include "swizzle/symbolic_policy.hpp"

namespace faro::swizzle {
namespace {

using detail::ChoiceNodes;
using detail::ChoiceSites;
using detail::Decided;
using detail::is_sum;
using detail::refuse_choices;

/// The executor of executor.hpp, but that a register holds what it may be: a node.
class Unroller : private detail::ChoiceState {
 public:
  Unroller(const Specification& specification, const Program& program, ChoiceNodes& nodes, ChoiceSites& sites,
           const ChoiceGraph& graph)
      : ChoiceState(program, nodes, sites), specification_(specification), graph_(graph) {
    number_accumulates(program.statements());
  }

  void unroll() {
    for (place_.block = 0; place_.block < program_.launch().blocks; ++place_.block) {
      start_block();
      for (const Statement& statement : program_.statements()) execute(statement);
    }
  }

 private:
  void number_accumulates(std::span<const Statement> statements) {
    for (const Statement& statement : statements) {
      if (std::holds_alternative<AccumulateStatement>(statement))
        accumulates_.emplace(&statement, static_cast<int>(accumulates_.size()));
      if (const auto* loop = std::get_if<LoopStatement>(&statement)) number_accumulates(loop->body);
    }
  }

  // Statements.

  void execute(const Statement& statement) {
    const Statement* const outer = std::exchange(statement_, &statement);
    ++sequence_;
    std::visit([&](const auto& which) { execute(which); }, statement);
    statement_ = outer;
  }

  void execute(const LoadStatement& s) {
    const auto& declared = program_.arrays()[static_cast<std::size_t>(s.from.number)];
    each_lane([&](Warp& warp) {
      if (declared.kind == ArrayKind::shared) return load_shared(warp, s);
      const Decided decided = decide(std::array{&s.when, &s.address, &s.to.index});
      std::vector<bool> writes;
      std::vector<bool> outside;
      std::vector<std::int64_t> index;
      Contents what;
      for (const auto& row : decided.values) {
        const bool inside = row[1] >= 0 && row[1] < declared.size;
        writes.push_back(row[0] != 0 && inside);
        outside.push_back(row[0] != 0 && !inside);
        index.push_back(row[2]);
        what.push_back(writes.back() ? input(s.from, row[1]) : kNoNode);
      }
      if (decided.is_known() && outside.front())
        refuse(declared.name + "[" + std::to_string(decided.values.front()[1]) + "]",
               "an element in 0 .. " + std::to_string(declared.size - 1));
      sites_.forbid(decided.decision, outside);
      write(warp, s.to.registers, decided.decision, writes, index, what);
    });
  }
  NodeId input(Array array, std::int64_t index) {
    return nodes_.value(specification_.values().input(array.number, index));
  }

  void load_shared(Warp& warp, const LoadStatement& s) {
    const auto where = known(std::array{&s.when, &s.address}, "a shared-memory address");
    if (where[0] == 0) return;
    SharedCell& cell = shared_cell(s.from, where[1]);
    if (cell.writer >= 0 && cell.writer != thread() && cell.written == barriers_)
      refuse("an element stored by another lane since the last barrier", "a barrier between");
    cell.many_readers = cell.read == barriers_ && (cell.many_readers || cell.reader != thread());
    cell.reader = thread();
    cell.read = barriers_;
    write(warp, s.to, cell.content);
  }
  SharedCell& shared_cell(Array array, std::int64_t address) {
    auto& cells = shared_[static_cast<std::size_t>(array.number)];
    if (address < 0 || static_cast<std::size_t>(address) >= cells.size())
      refuse(program_.arrays()[static_cast<std::size_t>(array.number)].name + "[" + std::to_string(address) +
                 "]",
             "an element in 0 .. " + std::to_string(cells.size() - 1));
    return cells[static_cast<std::size_t>(address)];
  }

  void execute(const StoreStatement& s) {
    const auto& declared = program_.arrays()[static_cast<std::size_t>(s.to.number)];
    each_lane([&](Warp& warp) {
      if (declared.kind == ArrayKind::shared) return store_shared(warp, s);
      const Decided decided = decide(std::array{&s.when, &s.address});
      const ChoiceSites::Where where{.block = place_.block, .statement = sequence_};
      if (decided.is_known()) {
        const auto& row = decided.values.front();
        if (row[0] == 0) return;
        if (row[1] < 0 || row[1] >= declared.size)
          refuse(declared.name + "[" + std::to_string(row[1]) + "]",
                 "an element in 0 .. " + std::to_string(declared.size - 1));
        const NodeId stored = read_settled(warp, s.from);
        if (stored == kNoNode)
          refuse("an undefined value for element " + std::to_string(row[1]),
                 "a register that was written before");
        return sites_.store_at(where, s.to, row[1], stored);
      }
      std::vector<std::int64_t> addresses;
      bool always = true;
      for (const auto& row : decided.values) {
        const bool inside = row[1] >= 0 && row[1] < declared.size;
        addresses.push_back(row[0] == 0 ? kNotStored : inside ? row[1] : kForbidden);
        always = always && row[0] != 0;
      }
      const NodeId stored = read_settled(warp, s.from, always);
      if (is_sum(stored))
        refuse_choices(
            "an accumulator stored where a hole decides, in `" + statement_text(program_, *statement_) + "`",
            "accumulators stored at known elements");
      sites_.store_decided(where, s.to, stored, decided.decision, std::move(addresses));
    });
  }

  void store_shared(Warp& warp, const StoreStatement& s) {
    const auto where = known(std::array{&s.when, &s.address}, "a shared-memory address");
    if (where[0] == 0) return;
    const NodeId stored = read_settled(warp, s.from);
    SharedCell& cell = shared_cell(s.to, where[1]);
    if (cell.read == barriers_ && (cell.many_readers || cell.reader != thread()))
      refuse("an element read by another lane since the last barrier", "a barrier between");
    if (cell.writer >= 0 && cell.writer != thread() && cell.written == barriers_ && cell.content != stored) {
      const bool choice = nodes_.is_value(cell.content) && nodes_.is_value(stored);
      if (choice) refuse("an element stored otherwise by another lane since the last barrier", "one value");
      refuse_choices("two stores to one shared element between barriers", "one store between barriers");
    }
    cell.content = stored;
    cell.writer = thread();
    cell.written = barriers_;
  }

  void execute(const ShuffleStatement& s) {
    for (place_.warp = 0; place_.warp < program_.launch().warps; ++place_.warp) {
      Warp& warp = warps_[static_cast<std::size_t>(place_.warp)];
      Contents received;
      std::vector<std::optional<Read>> sent(static_cast<std::size_t>(lanes_));  // many ask the same sender
      for (std::int64_t receiver = 0; receiver < lanes_; ++receiver) {
        place_.lane = receiver;
        const Decided decided = decide(std::array{&s.lane});
        std::vector<NodeId> outcomes;
        for (const auto& row : decided.values) {
          place_.lane = (row.front() % lanes_ + lanes_) % lanes_;  // the sender's place from here
          auto& read = sent[static_cast<std::size_t>(place_.lane)];
          if (!read) read = this->read(warp, s.from.registers, s.from.index);
          outcomes.push_back(settled(*read, s.from, decided.is_known()));
        }
        received.push_back(choose(decided.decision, std::move(outcomes)));
      }
      for (place_.lane = 0; place_.lane < lanes_; ++place_.lane)
        write(warp, s.to, received[static_cast<std::size_t>(place_.lane)]);
    }
  }

  void execute(const MoveStatement& s) {
    each_lane([&](Warp& warp) { write(warp, s.to, read_settled(warp, s.from)); });
  }

  void execute(const PermuteStatement& s) {
    auto& counter = place_.loops[static_cast<std::size_t>(s.counter)];
    open_loops_.push_back(s.counter);
    each_lane([&](Warp& warp) {
      Contents permuted;
      for (counter = 0; counter < size_of(s.to); ++counter)
        permuted.push_back(read_settled(warp, {.registers = s.from, .index = s.source}));
      for (std::size_t r = 0; r < permuted.size(); ++r)
        content(warp, s.to, static_cast<std::int64_t>(r)) = permuted[r];
    });
    open_loops_.pop_back();
  }

  void execute(const AccumulateStatement& s) {
    const int number = accumulates_.at(statement_);
    each_lane([&](Warp& warp) {
      const Decided when = decide(std::array{&s.when});
      Slot slot;
      slot.statement = number;
      slot.guard = when.decision;
      for (const auto& row : when.values) slot.holds.push_back(row.front() != 0);
      if (std::find(slot.holds.begin(), slot.holds.end(), true) == slot.holds.end()) return;
      const bool always = std::find(slot.holds.begin(), slot.holds.end(), false) == slot.holds.end();
      for (const Register& value : s.term) {
        NodeId factor = read_settled(warp, value, always);
        if (is_sum(factor))
          refuse_choices("a sum of sums, in `" + statement_text(program_, *statement_) + "`",
                         "sums of elements that were moved only");
        if (factor == kNoNode) factor = nodes_.value(kUndefined);
        slot.term.push_back(factor);
      }
      std::sort(slot.term.begin(), slot.term.end());
      warp.slots[static_cast<std::size_t>(s.accumulator)][static_cast<std::size_t>(place_.lane)].push_back(
          std::move(slot));
    });
  }

  void execute(const EvaluateStatement& s) {
    const auto number = static_cast<std::size_t>(s.accumulator);
    const Accumulation& accumulation = program_.accumulators()[number].accumulation;
    each_lane([&](Warp& warp) {
      write(warp, s.to, evaluated(accumulation, warp.slots[number][static_cast<std::size_t>(place_.lane)]));
    });
  }

  /// A sum of known terms is a value; another one waits for its store.
  NodeId evaluated(const Accumulation& accumulation, const std::vector<Slot>& slots) {
    std::vector<std::vector<ValueId>> terms;
    bool undefined = false;
    for (const Slot& slot : slots) {
      const bool always = std::find(slot.holds.begin(), slot.holds.end(), false) == slot.holds.end();
      auto& term = terms.emplace_back();
      for (const NodeId factor : slot.term) {
        if (!always || !nodes_.is_value(factor))
          return sites_.add_sum({.block = place_.block,
                                 .warp = place_.warp,
                                 .lane = place_.lane,
                                 .accumulation = accumulation,
                                 .slots = slots});
        term.push_back(graph_.nodes[factor].value);
        undefined = undefined || term.back() == kUndefined;
      }
    }
    return undefined ? kNoNode : nodes_.value(specification_.values().sum(accumulation, std::move(terms)));
  }

  void execute(const BarrierStatement&) { ++barriers_; }

  void execute(const PresentStatement& s) {
    std::vector<ValueId> wanted;
    for (place_.warp = 0; place_.warp < program_.launch().warps; ++place_.warp) {
      wanted.clear();
      for (place_.lane = 0; place_.lane < lanes_; ++place_.lane) {
        const auto where = known(std::array{&s.when, &s.address}, "a demand");
        if (where[0] == 0) continue;
        const auto inputs = specification_.values().inputs_of(specification_.wanted(s.output, where[1]));
        wanted.insert(wanted.end(), inputs.begin(), inputs.end());
      }
      Contents held =
          warps_[static_cast<std::size_t>(place_.warp)].registers[static_cast<std::size_t>(s.registers)];
      std::erase_if(held, is_sum);
      sites_.present(wanted, std::move(held));
    }
  }

  void execute(const LoopStatement& s) {
    open_loops_.push_back(s.number);
    auto& counter = place_.loops[static_cast<std::size_t>(s.number)];
    for (counter = 0; counter < s.count; ++counter)
      for (const Statement& inner : s.body) execute(inner);
    open_loops_.pop_back();
  }

  const Specification& specification_;
  const ChoiceGraph& graph_;
  std::map<const Statement*, int> accumulates_;
  std::int64_t sequence_ = 0;  // statements executed
};

}  // namespace

ChoiceGraph build_choices(const Specification& specification, const Program& program,
                          std::span<const FunctionSet> families, const ChoiceLimits& limits) {
  require_same_arrays(specification, program);
  check(program);
  FARO_CHECK(families.size() == program.holes().size());
  ChoiceGraph graph;
  ChoiceNodes nodes(program, families, limits, graph);
  ChoiceSites sites(specification, program, nodes, graph);
  Unroller(specification, program, nodes, sites, graph).unroll();
  sites.finish();
  return graph;
}

}  // namespace faro::swizzle
