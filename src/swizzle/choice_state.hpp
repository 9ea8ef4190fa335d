// What the registers of a sketch may hold while it is unrolled, and where in the sketch that is.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/choices.hpp"
#include "swizzle/choice_nodes.hpp"
#include "swizzle/choice_sites.hpp"
#include "swizzle/statement_text.hpp"

namespace faro::swizzle::detail {

/// The registers and accumulators of a block, and shared memory.
class ChoiceState {
 protected:
  ChoiceState(const Program& program, ChoiceNodes& nodes, ChoiceSites& sites)
      : program_(program), nodes_(nodes), sites_(sites), lanes_(program.launch().warp) {
    place_.loops.assign(program.loops().size(), 0);
  }
  ~ChoiceState() = default;

  using Contents = std::vector<NodeId>;
  struct Warp {
    std::vector<Contents> registers;                    // [r * lanes + t]
    std::vector<std::vector<std::vector<Slot>>> slots;  // by accumulator and lane
  };
  struct SharedCell {
    NodeId content = kNoNode;
    std::int64_t writer = -1, written = -1, reader = -1, read = -1;
    bool many_readers = false;
  };
  /// What a register may hold, and which combinations would leave the registers.
  struct Read {
    NodeId content = kNoNode;
    Decision decision;
    std::vector<bool> outside;  // by combination; empty: none
  };

  void start_block() {
    warps_.assign(static_cast<std::size_t>(program_.launch().warps), Warp());
    for (Warp& warp : warps_) {
      for (const auto& declared : program_.register_arrays())
        warp.registers.emplace_back(static_cast<std::size_t>(declared.size * lanes_), kNoNode);
      for (std::size_t i = 0; i < program_.accumulators().size(); ++i)
        warp.slots.emplace_back(static_cast<std::size_t>(lanes_));
    }
    shared_.clear();
    for (const auto& array : program_.arrays())
      shared_.emplace_back(array.kind == ArrayKind::shared ? static_cast<std::size_t>(array.size) : 0);
    barriers_ = 0;
  }

  [[noreturn]] void refuse(std::string got, std::string wanted) const {
    throw Error({.code = ErrorCode::spec,
                 .operation = "`" + statement_text(program_, *statement_) + "` of " +
                              place_text(program_, place_, open_loops_),
                 .got = std::move(got),
                 .wanted = std::move(wanted),
                 .remedy = "no function of the holes can avoid it: change the sketch"});
  }

  template <typename Each>
  void each_lane(const Each& each) {
    for (place_.warp = 0; place_.warp < program_.launch().warps; ++place_.warp) {
      Warp& warp = warps_[static_cast<std::size_t>(place_.warp)];
      for (place_.lane = 0; place_.lane < lanes_; ++place_.lane) each(warp);
    }
  }
  std::int64_t thread() const { return place_.warp * lanes_ + place_.lane; }

  template <std::size_t N>
  Decided decide(const std::array<const Index*, N>& expressions) {
    return nodes_.decide(expressions, place_);
  }
  /// The values of expressions that no hole may decide.
  template <std::size_t N>
  std::vector<std::int64_t> known(const std::array<const Index*, N>& expressions, const char* what) {
    Decided decided = decide(expressions);
    if (!decided.is_known())
      refuse_choices(
          std::string(what) + " that a hole decides, in `" + statement_text(program_, *statement_) + "`",
          "sketches where the place alone decides it");
    return std::move(decided.values.front());
  }

  // Registers.

  std::int64_t size_of(int registers) const {
    return program_.register_arrays()[static_cast<std::size_t>(registers)].size;
  }
  NodeId& content(Warp& warp, int registers, std::int64_t index) const {
    return warp.registers[static_cast<std::size_t>(registers)]
                         [static_cast<std::size_t>(index * lanes_ + place_.lane)];
  }
  [[noreturn]] void refuse_register(int registers, std::int64_t index) const {
    refuse(program_.register_arrays()[static_cast<std::size_t>(registers)].name + "[" +
               std::to_string(index) + "]",
           "a register in 0 .. " + std::to_string(size_of(registers) - 1));
  }

  Read read(Warp& warp, int registers, const Index& index) {
    const Decided decided = decide(std::array{&index});
    Read result;
    const std::int64_t size = size_of(registers);
    if (decided.is_known()) {
      const std::int64_t only = decided.values.front().front();
      if (only < 0 || only >= size) {
        result.outside = {true};
      } else {
        result.content = content(warp, registers, only);
      }
      return result;
    }
    std::vector<NodeId> outcomes;
    std::vector<bool> outside;
    for (const auto& row : decided.values) {
      outside.push_back(row.front() < 0 || row.front() >= size);
      outcomes.push_back(outside.back() ? kNoNode : content(warp, registers, row.front()));
    }
    if (std::find(outside.begin(), outside.end(), true) != outside.end()) {
      result.decision = decided.decision;
      result.outside = std::move(outside);
    }
    result.content = choose(decided.decision, std::move(outcomes));
    return result;
  }

  NodeId choose(const Decision& decision, std::vector<NodeId> outcomes) {
    const NodeId first = outcomes.front();
    const bool one = std::all_of(outcomes.begin(), outcomes.end(), [&](NodeId o) { return o == first; });
    if (!one && std::any_of(outcomes.begin(), outcomes.end(), is_sum))
      refuse_choices(
          "a choice among evaluated accumulators, in `" + statement_text(program_, *statement_) + "`",
          "choices among elements that were moved only");
    return one ? first : nodes_.choice(decision, std::move(outcomes));
  }

  /// What was read, where `certain` says that the statement takes place whatever the holes are: then an index
  /// outside is forbidden. Where a hole decides whether, it would take both to say.
  NodeId settled(const Read& read, const Register& from, bool certain) {
    if (read.outside.empty()) return read.content;
    if (!certain)
      refuse_choices("a register index that may be outside where a hole decides whether it is read, in `" +
                         statement_text(program_, *statement_) + "`",
                     "sketches whose register indexes stay inside");
    if (read.outside.size() == 1)
      refuse_register(from.registers, known(std::array{&from.index}, "an index").front());
    sites_.forbid(read.decision, read.outside);
    return read.content;
  }
  NodeId read_settled(Warp& warp, const Register& from, bool certain = true) {
    return settled(read(warp, from.registers, from.index), from, certain);
  }

  void write(Warp& warp, const Register& to, NodeId what) {
    const Decided decided = decide(std::array{&to.index});
    std::vector<bool> writes(decided.values.size(), true);
    std::vector<std::int64_t> index;
    for (const auto& row : decided.values) index.push_back(row.front());
    write(warp, to.registers, decided.decision, writes, index, Contents(index.size(), what));
  }

  /// By combination: whether, where and what is written.
  void write(Warp& warp, int registers, const Decision& decision, std::vector<bool>& writes,
             const std::vector<std::int64_t>& index, const Contents& what) {
    std::vector<bool> outside(writes.size(), false);
    for (std::size_t c = 0; c < writes.size(); ++c) {
      if (!writes[c] || (index[c] >= 0 && index[c] < size_of(registers))) continue;
      if (writes.size() == 1) refuse_register(registers, index[c]);
      outside[c] = true;
      writes[c] = false;
    }
    sites_.forbid(decision, outside);
    for (std::int64_t r = 0; r < size_of(registers); ++r) {
      std::vector<NodeId> outcomes;
      for (std::size_t c = 0; c < writes.size(); ++c)
        outcomes.push_back(writes[c] && index[c] == r ? what[c] : content(warp, registers, r));
      content(warp, registers, r) = choose(decision, std::move(outcomes));
    }
  }

  const Program& program_;
  ChoiceNodes& nodes_;
  ChoiceSites& sites_;
  std::int64_t lanes_;
  Place place_;
  const Statement* statement_ = nullptr;
  std::vector<int> open_loops_;
  std::vector<Warp> warps_;
  std::vector<std::vector<SharedCell>> shared_;
  std::int64_t barriers_ = 0;  // in this block
};

}  // namespace faro::swizzle::detail
