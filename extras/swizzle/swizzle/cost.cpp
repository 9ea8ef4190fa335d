#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "faro/swizzle/program.hpp"
#include "swizzle/execution_domain.hpp"
#include "swizzle/statements.hpp"

namespace faro::swizzle {
namespace {

class Counter {
 public:
  Counter(const Program& program, const Valuation& valuation)
      : program_(program),
        holes_([&valuation](int hole, std::span<const std::int64_t> a) { return valuation(hole, a); }),
        ranges_(program.ranges()),
        by_warp_(static_cast<std::size_t>(program.launch().blocks * program.launch().warps), 0),
        conflicts_(by_warp_) {
    for (std::size_t hole = 0; hole < program.holes().size(); ++hole)
      functions_.push_back(as_index(valuation.parameters(static_cast<int>(hole)), program.holes()[hole]));
    place_.loops.assign(program.loops().size(), 0);
  }

  Cost count() {
    walk(program_.statements(), 1);
    cost_.instructions += *std::max_element(by_warp_.begin(), by_warp_.end());
    cost_.conflicts = *std::max_element(conflicts_.begin(), conflicts_.end());
    return cost_;
  }

 private:
  void walk(std::span<const Statement> statements, std::int64_t times) {
    for (const Statement& statement : statements) {
      if (const auto* loop = std::get_if<LoopStatement>(&statement)) {
        open_.push_back(loop->number);
        walk(loop->body, times * loop->count);
        open_.pop_back();
      } else {
        count(statement, times);
      }
    }
  }

  void count(const Statement& statement, std::int64_t times) {
    if (const auto* accumulate = std::get_if<AccumulateStatement>(&statement)) {
      if (!true_somewhere(accumulate->when)) return;  // gone from the kernel, with what only it needs
      ++cost_.live_accumulates;
      for (const Register& value : accumulate->term) selects(value.index);
    } else if (const auto* shuffle = std::get_if<ShuffleStatement>(&statement)) {
      if (!always_own(shuffle->lane)) cost_.shuffles += times;
      selects(shuffle->to.index);
      selects(shuffle->from.index);
    } else if (const auto* permute = std::get_if<PermuteStatement>(&statement)) {
      const std::int64_t size = program_.loops()[static_cast<std::size_t>(permute->counter)].count;
      open_.push_back(permute->counter);
      selects(permute->source);
      cost_.instructions += size * times * operations_of_holes(permute->source);
      open_.pop_back();
      return;
    } else if (const auto* move = std::get_if<MoveStatement>(&statement)) {
      selects(move->to.index);
      selects(move->from.index);
    } else if (const auto* load = std::get_if<LoadStatement>(&statement)) {
      selects(load->to.index);
      loaded(load->when);
      conflicts(load->from, load->address, load->when);
    } else if (const auto* store = std::get_if<StoreStatement>(&statement)) {
      selects(store->from.index);
      conflicts(store->to, store->address, store->when);
    } else if (const auto* evaluate = std::get_if<EvaluateStatement>(&statement)) {
      selects(evaluate->to.index);
    }
    std::int64_t operations = 0;
    each_expression(statement, [&](const Index& index) { operations += operations_of_holes(index); });
    cost_.instructions += times * operations;
  }

  /// Calls each() for every warp and every iteration of the open loops that the expression depends on, until
  /// it gives false; lanes are the callee's. Other counters stay at 0.
  template <typename Each>
  void places(const Index& index, const Each& each) {
    std::vector<int> loops;
    for (const int loop : open_)
      if (has_loop(index, loop)) loops.push_back(loop);
    std::fill(place_.loops.begin(), place_.loops.end(), 0);
    const Launch& launch = program_.launch();
    for (place_.block = 0; place_.block < launch.blocks; ++place_.block)
      for (place_.warp = 0; place_.warp < launch.warps; ++place_.warp)
        if (!iterate(loops, 0, each)) return;
  }

  template <typename Each>
  bool iterate(const std::vector<int>& loops, std::size_t depth, const Each& each) {
    if (depth == loops.size()) return each();
    const auto number = static_cast<std::size_t>(loops[depth]);
    auto& counter = place_.loops[number];
    for (counter = 0; counter < program_.loops()[number].count; ++counter)
      if (!iterate(loops, depth + 1, each)) return false;
    return true;
  }

  /// Iterations of the loops around that the expression does not depend on.
  std::int64_t repeated(const Index& index) const {
    std::int64_t times = 1;
    for (const int loop : open_)
      if (!has_loop(index, loop)) times *= program_.loops()[static_cast<std::size_t>(loop)].count;
    return times;
  }

  std::size_t this_warp() const {
    return static_cast<std::size_t>(place_.block * program_.launch().warps + place_.warp);
  }
  std::int64_t& of_this_warp() { return by_warp_[this_warp()]; }

  bool true_somewhere(const Index& when) {
    const Interval possible = bounds(resolved(when), ranges_);
    if (possible.most <= 0 && possible.least >= 0) return false;
    if (possible.least > 0) return true;
    bool found = false;
    places(when, [&] {
      for (place_.lane = 0; place_.lane < program_.launch().warp && !found; ++place_.lane)
        found = evaluate(when, place_, holes_) != 0;
      return !found;
    });
    return found;
  }

  bool always_own(const Index& lane) {
    bool own = true;
    const std::int64_t lanes = program_.launch().warp;
    places(lane, [&] {
      for (place_.lane = 0; place_.lane < lanes && own; ++place_.lane)
        own = (evaluate(lane, place_, holes_) - place_.lane) % lanes == 0;
      return own;
    });
    return own;
  }

  /// Registers beyond the first that the lanes choose from.
  void selects(const Index& index) {
    if (!contains(index, IndexKind::lane) && !contains(index, IndexKind::hole)) return;
    const std::int64_t times = repeated(index);
    std::vector<std::int64_t> chosen(static_cast<std::size_t>(program_.launch().warp));
    places(index, [&] {
      for (place_.lane = 0; place_.lane < program_.launch().warp; ++place_.lane)
        chosen[static_cast<std::size_t>(place_.lane)] = evaluate(index, place_, holes_);
      const std::set<std::int64_t> distinct(chosen.begin(), chosen.end());
      of_this_warp() += times * (static_cast<std::int64_t>(distinct.size()) - 1);
      return true;
    });
  }

  void loaded(const Index& when) {
    const std::int64_t times = repeated(when);
    places(when, [&] {
      for (place_.lane = 0; place_.lane < program_.launch().warp; ++place_.lane)
        if (evaluate(when, place_, holes_) != 0) of_this_warp() += times;
      return true;
    });
  }

  void conflicts(Array array, const Index& address, const Index& when) {
    if (program_.arrays()[static_cast<std::size_t>(array.number)].kind != ArrayKind::shared) return;
    const Index both = when + address;  // for what they depend on
    const std::int64_t times = repeated(both);
    const Launch& launch = program_.launch();
    const std::int64_t banks = launch.banks == 0 ? launch.warp : launch.banks;
    places(both, [&] {
      std::map<std::int64_t, std::set<std::int64_t>> in_bank;
      std::size_t most = 1;
      for (place_.lane = 0; place_.lane < launch.warp; ++place_.lane) {
        if (evaluate(when, place_, holes_) == 0) continue;
        const std::int64_t element = evaluate(address, place_, holes_);
        auto& elements = in_bank[element % banks];
        elements.insert(element);
        most = std::max(most, elements.size());
      }
      conflicts_[this_warp()] += times * static_cast<std::int64_t>(most - 1);
      return true;
    });
  }

  Index resolved(const Index& index) const {
    if (index.kind() == IndexKind::hole)
      return substitute(functions_[static_cast<std::size_t>(index.number())], index.operands());
    if (index.operands().empty()) return index;
    std::vector<Index> operands;
    for (const Index& operand : index.operands()) operands.push_back(resolved(operand));
    return Index::node(index.kind(), 0, std::move(operands));
  }

  std::int64_t operations_of_holes(const Index& index) const {
    if (index.kind() == IndexKind::hole) return operations(simplify(resolved(index), ranges_));
    std::int64_t sum = 0;
    for (const Index& operand : index.operands()) sum += operations_of_holes(operand);
    return sum;
  }

  const Program& program_;
  HoleReader holes_;
  IndexRanges ranges_;
  std::vector<Index> functions_;
  std::vector<std::int64_t> by_warp_;    // selects and loaded elements
  std::vector<std::int64_t> conflicts_;  // by warp, too
  std::vector<int> open_;
  Place place_;
  Cost cost_;
};

}  // namespace

Cost cost_of(const Program& program, const Valuation& valuation) {
  require_runnable(program, valuation);
  return Counter(program, valuation).count();
}

}  // namespace faro::swizzle
