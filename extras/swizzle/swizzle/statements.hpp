// Statements as data: their text for listings and errors, their index expressions, the registers they write.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "faro/swizzle/program.hpp"

namespace faro::swizzle {

/// One line; of a loop its head. Registers, arrays and loops that the program does not have are numbers.
std::string statement_text(const Program& program, const Statement& statement);

/// "block 0, warp 1, lane 5, i = 2"; only the loops given by number.
std::string place_text(const Program& program, const Place& place, std::span<const int> open_loops);

/// Calls each(index) for every expression of the statement itself; those of a loop's body are not among them.
template <typename Each>
void each_expression(const Statement& statement, const Each& each) {
  if (const auto* load = std::get_if<LoadStatement>(&statement)) {
    each(load->to.index);
    each(load->address);
    each(load->when);
  } else if (const auto* store = std::get_if<StoreStatement>(&statement)) {
    each(store->from.index);
    each(store->address);
    each(store->when);
  } else if (const auto* shuffle = std::get_if<ShuffleStatement>(&statement)) {
    each(shuffle->to.index);
    each(shuffle->from.index);
    each(shuffle->lane);
  } else if (const auto* permute = std::get_if<PermuteStatement>(&statement)) {
    each(permute->source);
  } else if (const auto* move = std::get_if<MoveStatement>(&statement)) {
    each(move->to.index);
    each(move->from.index);
  } else if (const auto* accumulate = std::get_if<AccumulateStatement>(&statement)) {
    for (const Register& value : accumulate->term) each(value.index);
    each(accumulate->when);
  } else if (const auto* evaluate = std::get_if<EvaluateStatement>(&statement)) {
    each(evaluate->to.index);
  } else if (const auto* present = std::get_if<PresentStatement>(&statement)) {
    each(present->address);
    each(present->when);
  }
}

/// Marks the register arrays that the statement writes, of a loop those that its body does.
inline void mark_written(const Statement& statement, std::vector<bool>& written) {
  const auto mark = [&written](int registers) { written[static_cast<std::size_t>(registers)] = true; };
  if (const auto* load = std::get_if<LoadStatement>(&statement)) mark(load->to.registers);
  if (const auto* shuffle = std::get_if<ShuffleStatement>(&statement)) mark(shuffle->to.registers);
  if (const auto* permute = std::get_if<PermuteStatement>(&statement)) mark(permute->to);
  if (const auto* move = std::get_if<MoveStatement>(&statement)) mark(move->to.registers);
  if (const auto* result = std::get_if<EvaluateStatement>(&statement)) mark(result->to.registers);
  if (const auto* loop = std::get_if<LoopStatement>(&statement))
    for (const Statement& inner : loop->body) mark_written(inner, written);
}

/// Whether the tree has a node of this kind.
inline bool contains(const Index& index, IndexKind kind) {
  if (index.kind() == kind) return true;
  for (const Index& operand : index.operands())
    if (contains(operand, kind)) return true;
  return false;
}

/// Whether the value depends on the loop's counter.
inline bool has_loop(const Index& index, int loop) {
  if (index.kind() == IndexKind::loop) return index.number() == loop;
  for (const Index& operand : index.operands())
    if (has_loop(operand, loop)) return true;
  return false;
}

}  // namespace faro::swizzle
