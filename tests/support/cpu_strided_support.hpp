// What the tests of strided views on the CPU engine share: arrays between guard zones, the obvious loop, and
// runs that are held against it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine_support.hpp"
#include "faro/faro.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "view_oracle.hpp"

namespace faro::cpu_strided_test {

using test::move_by_loop;
using testing::Guarded;
using testing::kAlignment;
using testing::kGuardBytes;
using testing::kInstrumented;
using testing::kPoison;

inline void fill(Guarded& array, std::uint64_t seed) {
  testing::SplitMix64 random{seed};
  for (std::uint64_t at = 0; at < array.bytes(); ++at) array.data()[at] = static_cast<std::byte>(random());
}

enum class Stores { as_sized, streamed };

// First-level caches with which boxes are planned differently, whatever this machine has.
inline constexpr detail::CoreCaches kLargeFirstLevel{.first_level_bytes = 48 << 10,
                                                     .second_level_bytes = 1024 << 10};
inline constexpr detail::CoreCaches kSmallFirstLevel{.first_level_bytes = 32 << 10,
                                                     .second_level_bytes = 1024 << 10};
inline constexpr detail::CoreCaches kLargeSecondLevel{.first_level_bytes = 48 << 10,
                                                      .second_level_bytes = 2048 << 10};
inline constexpr detail::CoreCaches kCoreCaches[] = {kLargeFirstLevel, kSmallFirstLevel, kLargeSecondLevel};

struct Setting {
  std::uint64_t width = 4;
  std::size_t in_past_line = 0;
  std::size_t out_past_line = 0;
  int threads = 1;
  Stores stores = Stores::as_sized;
  detail::CoreCaches caches = kLargeFirstLevel;
};

inline Plan plan_of(const Strided& view, const Setting& setting) {
  Target target = cpu::target(setting.threads);
  if (setting.stores == Stores::streamed) target.streaming_bytes = 0;
  target.first_level_bytes = setting.caches.first_level_bytes;
  target.chunk_bytes_max = setting.caches.second_level_bytes;
  return {{.element_bytes = setting.width, .view = view}, std::move(target)};
}

inline void expect_moved(const Strided& view, const Setting& setting) {
  SCOPED_TRACE(to_text(view) + ", elements of " + std::to_string(setting.width) + " bytes, " +
               std::to_string(setting.in_past_line) + " and " + std::to_string(setting.out_past_line) +
               " bytes past a line, " + std::to_string(setting.threads) + " threads" +
               (setting.stores == Stores::streamed ? ", streamed" : "") + ", caches of " +
               std::to_string(setting.caches.first_level_bytes) + " and " +
               std::to_string(setting.caches.second_level_bytes));
  Guarded in(in_elements(view) * setting.width, setting.in_past_line);
  Guarded out(out_elements(view) * setting.width, setting.out_past_line);
  Guarded wanted(out_elements(view) * setting.width, setting.out_past_line);
  fill(in, 1);
  fill(out, 2);
  std::copy_n(out.data(), out.bytes(), wanted.data());
  const std::vector<std::byte> before = in.memory();
  move_by_loop(view, setting.width, in.data(), wanted.data());
  const Plan plan = plan_of(view, setting);
  const cpu::Executor executor(plan);
  if (plan.array_bytes() > 0) executor.run(in.data(), out.data());
  ASSERT_TRUE(std::equal(out.data() - kGuardBytes / 2, out.data() + out.bytes() + kGuardBytes / 2,
                         wanted.data() - kGuardBytes / 2));
  ASSERT_EQ(in.memory(), before);
}

inline Strided view_of(const std::vector<std::uint64_t>& shape, const std::vector<int>& order) {
  Strided view{.extents = shape, .in_strides = {}, .out_strides = {}};
  view.in_strides.resize(shape.size());
  view.out_strides.resize(shape.size());
  std::int64_t stride = 1;
  for (std::size_t a = shape.size(); a-- > 0;) {
    view.in_strides[a] = stride;
    stride *= static_cast<std::int64_t>(shape[a]);
  }
  stride = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    const auto a = static_cast<std::size_t>(order[k]);
    view.out_strides[a] = stride;
    stride *= static_cast<std::int64_t>(shape[a]);
  }
  return view;
}

// Through faro::plan, as a user has it.
inline void expect_axes(const std::vector<std::uint64_t>& shape, const std::vector<int>& order,
                        std::uint64_t width, std::uint64_t batch, Stores stores) {
  const Axes axes(shape, order);
  Strided view = view_of(shape, order);
  view.extents.insert(view.extents.begin(), batch);
  view.in_strides.insert(view.in_strides.begin(), static_cast<std::int64_t>(axes.count()));
  view.out_strides.insert(view.out_strides.begin(), static_cast<std::int64_t>(axes.count()));
  const std::uint64_t bytes = axes.count() * width * batch;
  Guarded in(bytes, 0);
  Guarded out(bytes, 0);
  Guarded wanted(bytes, 0);
  fill(in, 3);
  move_by_loop(view, width, in.data(), wanted.data());
  Target target = cpu::target(2);
  if (stores == Stores::streamed) target.streaming_bytes = 0;
  const Plan plan(Problem{.permutation = axes, .element_bytes = width, .batch = batch}, target);
  const cpu::Executor executor(plan);
  executor.run(in.data(), out.data());
  ASSERT_TRUE(std::equal(out.data() - kGuardBytes / 2, out.data() + bytes + kGuardBytes / 2,
                         wanted.data() - kGuardBytes / 2))
      << to_text(axes) << ", elements of " << width << " bytes, batch " << batch;
}

}  // namespace faro::cpu_strided_test
