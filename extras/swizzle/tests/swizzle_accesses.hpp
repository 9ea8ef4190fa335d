// The memory accesses of a completed program, as a trace for the memory machine: sectors, bank conflicts,
// rounds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/trace.hpp"
#include "faro/swizzle/program.hpp"
#include "swizzle/executor.hpp"

namespace faro::swizzle {

/// The domain that writes a round for each load and store.
class AccessRecorder : public detail::NothingMoves {
 public:
  AccessRecorder(const Program& program, const Valuation& valuation, std::uint32_t element_bytes)
      : NothingMoves(valuation),
        program_(program),
        lanes_(static_cast<std::uint32_t>(program.launch().warp)),
        element_bytes_(element_bytes) {
    std::uint64_t global = 0;
    std::uint64_t shared = 0;
    for (const auto& array : program.arrays()) {
      std::uint64_t& next = array.kind == ArrayKind::shared ? shared : global;
      first_.push_back(next);
      const std::uint64_t bytes = static_cast<std::uint64_t>(array.size) * element_bytes;
      next += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
    trace_.name = "swizzle program";
  }

  void begin(const Statement& statement, const Place&) {
    const auto* load = std::get_if<LoadStatement>(&statement);
    const auto* store = std::get_if<StoreStatement>(&statement);
    is_open_ = load != nullptr || store != nullptr;
    if (!is_open_) return;
    const Array array = load != nullptr ? load->from : store->to;
    space_ = program_.arrays()[static_cast<std::size_t>(array.number)].kind == ArrayKind::shared
                 ? machine::TraceSpace::shared
                 : machine::TraceSpace::global;
    operation_ = load != nullptr ? machine::TraceOperation::load : machine::TraceOperation::store;
    if (!trace_.rounds.empty()) ++line_;  // the blank line between
    trace_.rounds.push_back(trace_.accesses.size());
    trace_.longest_round = static_cast<std::uint64_t>(program_.launch().warps);
    trace_.longest_line = lanes_;
  }
  void guard(bool holds) {
    if (is_open_ && !holds) add(machine::kIdleLane);
  }
  void element(Array array, std::int64_t address) {
    if (is_open_)
      add(first_[static_cast<std::size_t>(array.number)] +
          static_cast<std::uint64_t>(address) * element_bytes_);
  }

  machine::Trace take() { return std::move(trace_); }

 private:
  static constexpr std::uint64_t kAlignment = 256;  // of every array, in bytes

  void add(std::uint64_t byte) {
    if (trace_.lanes.size() % lanes_ == 0)
      trace_.accesses.push_back({.first_lane = trace_.lanes.size(),
                                 .lanes = lanes_,
                                 .space = space_,
                                 .operation = operation_,
                                 .line = ++line_});
    trace_.lanes.push_back(byte);
  }

  const Program& program_;
  std::uint32_t lanes_;
  std::uint64_t element_bytes_;
  std::vector<std::uint64_t> first_;  // byte of each array
  machine::Trace trace_;
  machine::TraceSpace space_ = machine::TraceSpace::global;
  machine::TraceOperation operation_ = machine::TraceOperation::load;
  bool is_open_ = false;
  std::uint64_t line_ = 0;
};

/// Every access to global and shared memory of one block, in bytes, arrays one after another, each from a
/// multiple of 256: a round for each statement and iteration.
/// Errors: ErrorCode::value for a block that there is not, elements of 0 bytes; those of run_symbolic that do
/// not depend on values.
inline machine::Trace accesses(const Program& program, const Valuation& valuation, std::int64_t block,
                               std::uint32_t element_bytes) {
  constexpr const char* kOperation = "accesses of a swizzle program";
  require_runnable(program, valuation);
  const std::int64_t blocks = program.launch().blocks;
  if (block < 0 || block >= blocks)
    fail(ErrorCode::value, kOperation, "block " + std::to_string(block),
         "a block in 0 .. " + std::to_string(blocks - 1));
  if (element_bytes == 0) fail(ErrorCode::value, kOperation, "elements of 0 bytes", "at least 1");
  AccessRecorder recorder(program, valuation, element_bytes);
  detail::Executor(program, recorder).run_block(block);
  return recorder.take();
}

}  // namespace faro::swizzle
