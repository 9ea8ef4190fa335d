// Runs of a stage whose numbers are changed on their way to the output (plane_transpose.hpp), for the target
// being compiled: in registers where it has such for them, else by the converter of all types.
#if defined(FARO_CHANGED_RUNS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARO_CHANGED_RUNS_INL_HPP
#undef FARO_CHANGED_RUNS_INL_HPP
#else
#define FARO_CHANGED_RUNS_INL_HPP
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "engines/cpu/element_width.hpp"
#include "engines/cpu/run_traffic.hpp"
#include "engines/cpu/values/numbers_in_registers-inl.hpp"
#include "engines/cpu/values/value_run.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {

// Whole runs, as many as the lines of the stage that are due.
HWY_NOINLINE void WriteDueChanged(RunTraffic& traffic) {
  const ChangedRuns& changed = traffic.changed;
  const ValueProgram& program = *changed.program;
  const auto each = static_cast<std::int64_t>((traffic.bytes + kLineBytes - 1) / kLineBytes);
  const int from_bits = std::countr_zero(bytes_of(program.from));
  const int to_bits = std::countr_zero(bytes_of(program.to));
  const std::uint64_t numbers = traffic.bytes >> from_bits;
  const auto write = [&](const auto& write_run) HWY_ATTR {
    std::int64_t due = traffic.due;
    std::uint64_t next = traffic.next;
    for (; due > 0 && next < traffic.count; due -= each, ++next) {
      if (next < changed.next_count) {
        const std::int64_t place = (changed.next_first + changed.next_places[next]) >> from_bits << to_bits;
        for (std::uint64_t at = 0; at < numbers << to_bits; at += kLineBytes)
          __builtin_prefetch(changed.first.addend + place + at);
      }
      const RunTraffic::Run run = traffic.run(next);
      const std::int64_t place = (run.to - changed.origin) >> from_bits << to_bits;
      const std::byte* const addend =
          changed.first.addend == nullptr ? nullptr : changed.first.addend + place;
      write_run(run.from, addend, changed.first.to + place);
    }
    traffic.due = due;
    traffic.next = next;
  };
  if (WithChangedNumbers(program, changed.first, [&](const auto& all) HWY_ATTR {
        write([&](const std::byte* from, const std::byte* addend, std::byte* to)
                  HWY_ATTR { all.run(from, addend, to, numbers); });
      }))
    return;
  ValueRun one = changed.first;
  one.count = numbers;
  write([&](const std::byte* from, const std::byte* addend, std::byte* to) {
    one.from = from;
    one.addend = addend;
    one.to = to;
    convert_run(program, one);
  });
}

// Some runs at a time: beginning with them takes as long as half a dozen lines.
HWY_INLINE void WriteChangedRuns(RunTraffic& traffic, std::uint64_t lines) {
  constexpr std::uint64_t kMost = 1 << 20;
  constexpr std::int64_t kSome = 48;
  traffic.due += static_cast<std::int64_t>(std::min(lines, kMost));
  if (traffic.due >= kSome) WriteDueChanged(traffic);
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, once a target
