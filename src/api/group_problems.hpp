// The problems of a group, each once: members that are asked for the same share what is made for it.
//
// Problems are compared by what they say; a number that is worked out from it finds those that may be equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "disjoint.hpp"
#include "faro/arithmetic.hpp"
#include "faro/problem/problem.hpp"

namespace faro::detail {

/// How the elements of a side lie, from where its array begins.
struct GroupSide {
  std::uint64_t element_bytes = 0;  // of a dense array all bytes
  std::vector<std::uint64_t> extents = {};
  std::vector<std::int64_t> stride_bytes = {};
  std::int64_t first_bytes = 0;
  std::uint64_t moved_bytes = 0;

  LaidArray at(const void* array) const {
    return {static_cast<const std::byte*>(array) + first_bytes, element_bytes, extents, stride_bytes};
  }
};

/// A problem that members share.
struct GroupProblem {
  Problem problem;
  std::shared_ptr<const Arithmetic> arithmetic;
  GroupSide in;
  GroupSide out;

  bool in_place() const { return problem.placement == Placement::in_place; }
  std::uint64_t moved_bytes() const { return in.moved_bytes + out.moved_bytes; }

  /// Errors: those of check(view) and total_bytes().
  static GroupProblem of(const Problem& problem, std::shared_ptr<const Arithmetic> arithmetic) {
    if (problem.view) check(*problem.view);
    GroupProblem made{.problem = problem, .arithmetic = std::move(arithmetic), .in = {}, .out = {}};
    const std::uint64_t in_width = made.arithmetic ? bytes_of(made.arithmetic->from) : problem.element_bytes;
    const std::uint64_t out_width = made.arithmetic ? bytes_of(made.arithmetic->to) : problem.element_bytes;
    Problem bytes = problem;
    bytes.element_bytes = in_width;
    made.in.moved_bytes = total_bytes(bytes);
    bytes.element_bytes = out_width;
    made.out.moved_bytes = total_bytes(bytes);
    if (!problem.view) {
      made.in.element_bytes = made.in.moved_bytes;
      made.out.element_bytes = made.out.moved_bytes;
      return made;
    }
    const Strided& view = *problem.view;
    const auto set = [&](GroupSide& side, const std::vector<std::int64_t>& strides, std::uint64_t offset,
                         std::uint64_t width) {
      side.element_bytes = width;
      side.extents = view.extents;
      side.stride_bytes = strides;
      for (std::int64_t& stride : side.stride_bytes) stride *= static_cast<std::int64_t>(width);
      side.first_bytes = static_cast<std::int64_t>(offset * width);
    };
    set(made.in, view.in_strides, view.in_offset, in_width);
    set(made.out, view.out_strides, view.out_offset, out_width);
    return made;
  }
};

/// A number that equal problems have in common.
class ProblemHash {
 public:
  static std::size_t of(const Problem& problem, const Arithmetic* arithmetic) {
    ProblemHash hash;
    hash.add(problem.element_bytes);
    hash.add(problem.batch);
    hash.add(static_cast<std::uint64_t>(problem.placement));
    hash.add(reinterpret_cast<std::uintptr_t>(arithmetic));
    if (problem.view) {
      hash.add_all(problem.view->extents);
      hash.add_all(problem.view->in_strides);
      hash.add_all(problem.view->out_strides);
      hash.add(problem.view->in_offset);
      hash.add(problem.view->out_offset);
      return hash.value_;
    }
    hash.add(problem.permutation.index());
    std::visit([&hash](const auto& of) { hash.add_permutation(of); }, problem.permutation);
    return hash.value_;
  }

 private:
  void add(std::uint64_t word) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    value_ = (value_ ^ word) * kOdd;
    value_ ^= value_ >> 29;
  }
  template <typename Number>
  void add_all(const std::vector<Number>& numbers) {
    add(numbers.size());
    for (const Number number : numbers) add(static_cast<std::uint64_t>(number));
  }
  void add_permutation(const Affine& map) {
    add(map.complement());
    for (int bit = 0; bit < map.bits(); ++bit) add(map.matrix().column(bit));
  }
  void add_permutation(const Cyclic& map) {
    add(map.count);
    add(map.shift);
    add(map.reversed ? 1 : 0);
  }
  void add_permutation(const Modular& map) {
    add(map.count);
    add(map.factor);
    add(map.shift);
  }
  void add_permutation(const Axes& map) {
    add_all(map.shape());
    add_all(map.order());
  }
  void add_permutation(const CyclicAxes& map) {
    add_all(map.shape());
    add_all(map.order());
    for (const Cyclic& move : map.moves()) add_permutation(move);
  }
  void add_permutation(const Computed& map) { add(map.count()); }
  void add_permutation(const Indexed& map) { add(map.count()); }

  std::uint64_t value_ = 0;
};

/// Problems by their numbers.
class GroupProblems {
 public:
  /// The number of the problem, which is new or was added before; equal arithmetic is one where members share
  /// it. Errors: those of GroupProblem::of().
  std::size_t add(const Problem& problem, const std::shared_ptr<const Arithmetic>& arithmetic) {
    std::vector<std::size_t>& alike = numbers_[ProblemHash::of(problem, arithmetic.get())];
    for (const std::size_t number : alike) {
      if (is_same(all_[number].problem, problem) && all_[number].arithmetic == arithmetic) return number;
    }
    all_.push_back(GroupProblem::of(problem, arithmetic));
    alike.push_back(all_.size() - 1);
    return all_.size() - 1;
  }

  std::uint64_t moved_bytes(std::size_t number) const { return all_[number].moved_bytes(); }
  std::vector<GroupProblem> take() { return std::move(all_); }

 private:
  static bool is_same(const Problem& a, const Problem& b) {
    const auto on_device = [](const Problem& of) {
      const auto* const indexed = std::get_if<Indexed>(&of.permutation);
      return indexed != nullptr && !indexed->on_host();
    };
    if (on_device(a) || on_device(b)) return false;  // entries that nobody reads here
    return a.element_bytes == b.element_bytes && a.batch == b.batch && a.placement == b.placement &&
           a.view == b.view && a.permutation == b.permutation;
  }

  std::vector<GroupProblem> all_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> numbers_;
};

}  // namespace faro::detail
