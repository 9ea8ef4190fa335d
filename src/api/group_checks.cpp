// What may be wrong with the pointers of a group.
#include <algorithm>
#include <string>
#include <vector>

#include "api/array_checks.hpp"
#include "api/group_state.hpp"
#include "disjoint.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "permutation/route_checks.hpp"

namespace faro {

using detail::GroupPointers;
using detail::GroupProblem;
using detail::kRunningGroup;
using detail::LaidArray;
using detail::RunArray;

void Group::State::check(const GroupPointers& at) const {
  check_null(at);
  check_memory(at);
  check_overlaps(at);
}

void Group::State::check_null(const GroupPointers& at) const {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].moved_bytes == 0) continue;
    const std::size_t member = parts[i].member;
    const GroupProblem& of = arrays_of(i);
    const char* const what = at.outs[member] == nullptr                    ? "a null output"
                             : at.ins[member] == nullptr && !of.in_place() ? "a null input"
                                                                           : nullptr;
    if (what != nullptr)
      fail(ErrorCode::value, kRunningGroup, fmt::format("member {}: {}", member, what), "an array");
    if (of.in_place() && at.ins[member] != nullptr && at.ins[member] != at.outs[member]) {
      fail(ErrorCode::value, kRunningGroup, fmt::format("member {}: two arrays for a plan in place", member),
           "one array, as its output");
    }
  }
}

void Group::State::check_memory(const GroupPointers& at) const {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].moved_bytes == 0) continue;
    const std::size_t member = parts[i].member;
    detail::of_member(member, [&] {
      const void* const in = arrays_of(i).in_place() ? at.outs[member] : at.ins[member];
      if (engine != Engine::cuda) return detail::check_on_host(in, at.outs[member], "a group of engine cuda");
      cuda::require_accessible(in, "input", device);
      cuda::require_accessible(at.outs[member], "output", device);
    });
  }
}

// Ranges first: most groups have none that meet.
void Group::State::check_overlaps(const GroupPointers& at) const {
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
    bool is_output;
    std::size_t part;
  };
  std::vector<Range> ranges;
  ranges.reserve(2 * parts.size());
  const auto add = [&](const LaidArray& laid, bool is_output, std::size_t part) {
    auto begin = reinterpret_cast<std::uintptr_t>(laid.address);
    std::uintptr_t end = begin + laid.element_bytes;
    for (std::size_t axis = 0; axis < laid.extents.size(); ++axis) {
      const std::int64_t reach =
          laid.stride_bytes[axis] * (static_cast<std::int64_t>(laid.extents[axis]) - 1);
      (reach < 0 ? begin : end) += static_cast<std::uintptr_t>(reach);
    }
    ranges.push_back({begin, end, is_output, part});
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].moved_bytes == 0) continue;
    const GroupProblem& of = arrays_of(i);
    add(of.out.at(parts[i].out(at)), true, i);
    if (!of.in_place()) add(of.in.at(parts[i].in(at)), false, i);
    if (parts[i].rows != nullptr) {
      const RowNumbers& entries = row_numbers(parts[i].rows->plan().move());
      add({entries.data, entries.count * static_cast<std::uint64_t>(entries.type.bytes)}, false, i);
    }
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  // The farthest ends of what begins before: an output meets whatever ends past its begin.
  std::uintptr_t any_end = 0;
  std::uintptr_t output_end = 0;
  bool meet = false;
  for (const Range& range : ranges) {
    meet = meet || range.begin < (range.is_output ? any_end : output_end);
    any_end = std::max(any_end, range.end);
    if (range.is_output) output_end = std::max(output_end, range.end);
  }
  if (meet) check_each_overlap(at);
}

// Element by element, by names that tell the members.
void Group::State::check_each_overlap(const GroupPointers& at) const {
  std::vector<std::string> names;
  names.reserve(2 * parts.size());
  const auto named = [&](const char* what, std::size_t member) {
    names.push_back(fmt::format("the {} of member {}", what, member));
    return names.back().c_str();
  };
  std::vector<RunArray> outputs;
  std::vector<RunArray> inputs;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].moved_bytes == 0) continue;
    const GroupProblem& of = arrays_of(i);
    outputs.push_back({named("output", parts[i].member), of.out.at(parts[i].out(at))});
    if (!of.in_place()) inputs.push_back({named("input", parts[i].member), of.in.at(parts[i].in(at))});
    if (parts[i].rows != nullptr)
      inputs.push_back({"entries", detail::laid(row_numbers(parts[i].rows->plan().move()))});
  }
  detail::check_disjoint(kRunningGroup, outputs, inputs,
                         "members have no order, so what one writes no other reads");
}

}  // namespace faro
