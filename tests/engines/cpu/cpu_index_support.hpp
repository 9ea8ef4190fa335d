// What the tests of the CPU engine for index arrays share: where a problem's arrays lie, a plan for it, and a
// run between guard zones held to its definition.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine_support.hpp"
#include "engines/cpu.hpp"
#include "faro/plan/plan.hpp"

namespace faro::testing {

using Numbers = std::initializer_list<std::uint64_t>;

struct Places {
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;
  int threads = 1;
  Stores stores = Stores::cached;
  std::size_t in_offset = 0;
  std::size_t out_offset = 0;
};

inline std::string describe(const Places& p) {
  return std::to_string(p.element_bytes) + "-byte elements, batch " + std::to_string(p.batch) + ", " +
         std::to_string(p.threads) + " threads, " + (p.stores == Stores::streamed ? "streamed" : "cached") +
         ", in + " + std::to_string(p.in_offset) + ", out + " + std::to_string(p.out_offset);
}

// A plan of the permutation as it is given: axes and rolls that are affine do not become that.
inline Plan plan_of(Permutation permutation, const Places& p, IndexChoice choice = {}) {
  if (std::holds_alternative<Axes>(permutation)) choice.method = IndexMethod::axes;
  if (std::holds_alternative<Cyclic>(permutation)) choice.method = IndexMethod::cyclic;
  Target target = cpu::target(p.threads);
  target.streaming_bytes = p.stores == Stores::streamed ? 0 : ~std::uint64_t{0};
  Recognition recognition{.family = Family::general,
                          .permutation = permutation,
                          .runs = std::nullopt,
                          .displacement = std::nullopt,
                          .findings = {}};
  return {{.permutation = std::move(permutation), .element_bytes = p.element_bytes, .batch = p.batch},
          target,
          std::move(recognition),
          choice};
}

// Runs into guarded arrays, the workspace lent at an odd address and guarded too, and compares with `wanted`.
inline void expect_run(const cpu::Executor& executor, std::uint64_t array_bytes, const Places& p,
                       const std::function<void(const std::byte*, std::byte*)>& define,
                       const std::string& what) {
  Arrays arrays(array_bytes * p.batch, p.in_offset, p.out_offset, 1);
  constexpr std::size_t kOdd = 3;
  std::vector<std::byte> workspace(executor.workspace_bytes() + kOdd + 64, kPoison);
  executor.run(arrays.in(), arrays.out(), workspace.data() + kOdd);
  std::vector<std::byte> wanted(array_bytes);
  for (std::uint64_t array = 0; array < p.batch; ++array) {
    define(arrays.in() + array * array_bytes, wanted.data());
    const std::byte* const got = arrays.out() + array * array_bytes;
    const auto differs = std::mismatch(wanted.begin(), wanted.end(), got).first - wanted.begin();
    if (static_cast<std::uint64_t>(differs) != array_bytes) {
      ADD_FAILURE() << "array " << array << ", element "
                    << static_cast<std::uint64_t>(differs) / p.element_bytes << " is wrong: " << what << ", "
                    << describe(p);
      return;
    }
  }
  if (!arrays.guards_intact()) ADD_FAILURE() << "written outside: " << what << ", " << describe(p);
  if (!arrays.input_intact()) ADD_FAILURE() << "the input changed: " << what << ", " << describe(p);
  const auto is_poison = [](std::byte b) { return b == kPoison; };
  if (!std::all_of(workspace.begin(), workspace.begin() + kOdd, is_poison) ||
      !std::all_of(workspace.end() - 64, workspace.end(), is_poison)) {
    ADD_FAILURE() << "written outside the workspace: " << what << ", " << describe(p);
  }
}

}  // namespace faro::testing
