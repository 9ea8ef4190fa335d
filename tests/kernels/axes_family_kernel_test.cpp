// Axes whose extents the kernel learns when it runs, a thread at a time on the host: against the definition,
// element by element, with extents of the host and of the "device".
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "block_emulator.hpp"
#include "family_support.hpp"
#include "kernels/axes_family.hpp"
#include "kernels/family_rows.hpp"
#include "plan/family_plan.hpp"
#include "unit_bytes.hpp"

namespace faro::testing {
namespace axes_family_kernel_test {

using namespace family_test;

struct Called {
  FamilyCase call;
  std::uint64_t skew = 0;  // bytes past an aligned address, of both arrays
  std::uint64_t grid = 3;
  bool knows_wanted = true;  // on the device, what suits the largest call
  bool by_rows = false;      // on the device, as rows
};

// Shared by both: the parts of a call in normal form.
std::vector<kernels::FamilyView> parts_of(const faro::detail::FamilyPlan& plan, const FamilyCase& call) {
  std::vector<kernels::FamilyView> parts;
  const std::vector<std::uint64_t> free = call.free();
  faro::detail::FamilyCall(plan, free, {}).for_each_part([&](const auto& part) { parts.push_back(part); });
  return parts;
}

template <int kUnitBytes>
void move(const Called& called, const faro::detail::FamilyPlan& plan, const std::byte* in, std::byte* out,
          bool on_device, const Emulation& how) {
  if (!on_device) {
    for (kernels::FamilyView& part : parts_of(plan, called.call)) {
      kernels::cut_into_units(part, plan.form.element_bytes, kUnitBytes);
      kernels::MoveFamily<kUnitBytes, false> kernel;
      kernel.what = kernels::make_family_box(part, kUnitBytes, called.skew, called.skew);
      kernel.in = in;
      kernel.out = out;
      kernel.grid = std::min(called.grid, kernel.what.tiles);
      emulate(kernel, how);
    }
    return;
  }
  const std::vector<std::uint64_t> free = called.call.free();
  const std::vector<std::int64_t> wide(free.begin(), free.end());
  const std::vector<std::int32_t> narrow(free.begin(), free.end());
  for (std::uint32_t part = 0; part < plan.form.parts() && called.by_rows; ++part) {
    kernels::MoveFamilyRows<kUnitBytes> kernel{.form = plan.form};
    kernel.extents.wide = wide.data();
    kernel.part = part;
    kernel.in = in;
    kernel.out = out;
    kernel.grid = called.grid;
    emulate(kernel, how);
  }
  for (std::uint32_t part = 0; part < plan.form.parts() && !called.by_rows; ++part) {
    kernels::MoveFamily<kUnitBytes, true> kernel;
    kernel.what.form = plan.form;
    if (called.knows_wanted) kernel.what.form.wanted = faro::detail::largest_wanted(plan, kUnitBytes);
    if (called.grid % 2 == 0) {
      kernel.what.extents.narrow = narrow.data();
    } else {
      kernel.what.extents.wide = wide.data();
    }
    kernel.what.part = part;
    kernel.in = in;
    kernel.out = out;
    kernel.grid = called.grid;
    emulate(kernel, how);
  }
}

// The widest unit that all parts of the call allow on the host, and any call of the family on a device.
std::uint64_t unit_of(const Called& called, const faro::detail::FamilyPlan& plan, bool on_device) {
  std::uint64_t bits = 16 | called.skew;
  if (on_device) bits |= plan.sure_unit;
  std::uint64_t unit = bits & (~bits + 1);
  if (on_device) return unit;
  for (kernels::FamilyView& part : parts_of(plan, called.call))
    unit = std::min(unit, kernels::cut_into_units(part, plan.form.element_bytes, unit));
  return unit;
}

void expect_moved(const Called& called, bool on_device, const Emulation& how = {}) {
  const FamilyCase& call = called.call;
  SCOPED_TRACE(call.text() + ", skew " + std::to_string(called.skew) +
               (on_device ? ", extents on the device" : ""));
  const faro::detail::FamilyPlan plan = faro::detail::plan_family(call.map);
  const std::uint64_t bytes = call.bytes();
  constexpr std::uint64_t kGuard = 64;
  struct alignas(16) Line {
    std::uint8_t bytes[16];
  };
  const std::size_t lines = (bytes + 2 * kGuard + called.skew) / 16 + 2;
  std::vector<Line> from(lines);
  std::vector<Line> to(lines);
  auto* const in = reinterpret_cast<std::uint8_t*>(from.data()) + kGuard + called.skew;
  auto* const out = reinterpret_cast<std::uint8_t*>(to.data()) + kGuard + called.skew;
  std::memset(static_cast<void*>(to.data()), 0xa5, lines * 16);
  std::mt19937 random(static_cast<unsigned>(bytes + 1));
  std::generate(in, in + bytes, [&] { return static_cast<std::uint8_t>(random()); });
  faro::detail::by_unit_bytes(unit_of(called, plan, on_device), [&](auto unit) {
    move<unit()>(called, plan, reinterpret_cast<const std::byte*>(in), reinterpret_cast<std::byte*>(out),
                 on_device, how);
  });
  const std::vector<std::uint8_t> wanted = family_test::moved(call, in);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), out));
  const auto* const first = reinterpret_cast<const std::uint8_t*>(to.data());
  const auto poisoned = [](std::uint8_t byte) { return byte == 0xa5; };
  EXPECT_TRUE(std::all_of(first, static_cast<const std::uint8_t*>(out), poisoned));
  EXPECT_TRUE(std::all_of(static_cast<const std::uint8_t*>(out) + bytes, first + lines * 16, poisoned));
}

// Where rows stay whole in any call: the same by them. Gives whether they do.
bool expect_rows_moved(Called called) {
  const faro::detail::FamilyPlan plan = faro::detail::plan_family(called.call.map);
  const std::uint64_t unit = unit_of(called, plan, true);
  constexpr std::uint64_t kLeast = 64;
  if (unit < 4 || faro::detail::sure_row_bytes(plan) < kLeast) return false;
  called.by_rows = true;
  expect_moved(called, true);
  return true;
}

kernels::FamilyBox box_of(const Called& called, int unit_bytes) {
  const faro::detail::FamilyPlan plan = faro::detail::plan_family(called.call.map);
  const auto parts = parts_of(plan, called.call);
  return parts.empty() ? kernels::FamilyBox()
                       : kernels::make_family_box(parts.front(), unit_bytes, called.skew, called.skew);
}

Called called(std::uint64_t element_bytes, const std::vector<std::uint64_t>& extents,
              const std::vector<int>& order, unsigned free_axes) {
  return {.call = family_case(element_bytes, extents, order, free_axes)};
}

TEST(AxesFamilyKernel, MovesWhatIsUsual) {
  for (const std::uint64_t width : {1, 2, 4, 8, 16, 3, 12, 40}) {
    for (const bool on_device : {false, true}) {
      for (const Called& call :
           {called(width, {}, {}, 0), called(width, {1}, {0}, 1), called(width, {300}, {0}, 1),
            called(width, {0, 3}, {1, 0}, 1), called(width, {3, 0}, {1, 0}, 2),
            called(width, {130, 70}, {1, 0}, 3), called(width, {260, 3}, {1, 0}, 1),
            called(width, {3, 260}, {1, 0}, 2), called(width, {9, 8, 16}, {1, 0, 2}, 1),
            called(width, {2, 5, 6, 7}, {0, 2, 1, 3}, 3),
            called(width, {3, 4, 5, 2, 3}, {4, 3, 2, 1, 0}, 31)}) {
        expect_moved(call, on_device);
      }
    }
  }
}

// Units of one and two bytes go by words.
TEST(AxesFamilyKernel, ReadsAndWritesWordsOfNarrowUnits) {
  for (const std::uint64_t width : {1, 2}) {
    for (const std::uint64_t skew : {0, 4, 2}) {
      Called call = called(width, {136, 264}, {1, 0}, 3);
      call.skew = skew;
      const kernels::FamilyBox box = box_of(call, static_cast<int>(width));
      EXPECT_EQ(box.in_units, skew % 4 == 0 ? 4 / width : 1);
      EXPECT_EQ(box.out_units, box.in_units);
      for (const bool on_device : {false, true}) expect_moved(call, on_device);
    }
  }
}

TEST(AxesFamilyKernel, MovesRowsThatStay) {
  std::mt19937 random(47);
  int rows = 0;
  for (int n = 0; n < 200; ++n) {
    Called call{.call = drawn_family(random, 5000)};
    call.grid = 1 + random() % 4;
    if (expect_rows_moved(call)) ++rows;
  }
  EXPECT_GE(rows, 8);
  for (const std::uint64_t width : {2, 4, 16}) {
    for (const unsigned free_axes : {1U, 3U}) {
      EXPECT_TRUE(expect_rows_moved(called(width, {30, 8, 64}, {1, 0, 2}, free_axes)));
      EXPECT_TRUE(expect_rows_moved(called(width, {2, 15, 6, 64}, {0, 2, 1, 3}, free_axes)));
      EXPECT_TRUE(expect_rows_moved(called(width, {0, 8, 64}, {1, 0, 2}, free_axes)));
    }
  }
  for (std::uint32_t by : {1U, 2U, 3U, 7U, 64U, 1000003U, 0x7fffffffU}) {
    const kernels::RowDivision division = kernels::RowDivision::of(by);
    for (std::uint32_t x : {0U, 1U, by - 1, by, by / 2 + 12345, 0x7ffffffeU, 0x7fffffffU}) {
      std::uint32_t rest = x;
      EXPECT_EQ(division.divide(rest), x / by);
      EXPECT_EQ(rest, x % by);
    }
  }
}

TEST(AxesFamilyKernel, MovesDrawnFamilies) {
  std::mt19937 random(46);
  int direct = 0;
  int staged = 0;
  for (int n = 0; n < 240; ++n) {
    Called call{.call = drawn_family(random, 5000)};
    const std::uint64_t width = call.call.map.element_bytes;
    if (random() % 3 == 0) call.skew = width & (~width + 1) & 15;
    call.grid = 1 + random() % 4;
    call.knows_wanted = n % 4 != 0;
    const Emulation how{.order = n % 3 == 0   ? Order::backward
                                 : n % 3 == 1 ? Order::forward
                                              : Order::shuffled};
    for (const bool on_device : {false, true}) expect_moved(call, on_device, how);
    (box_of(call, static_cast<int>(std::min<std::uint64_t>(16, width & (~width + 1)))).direct ? direct
                                                                                              : staged) += 1;
  }
  EXPECT_GT(direct, 8);
  EXPECT_GT(staged, 80);
}

// What the device's memory says is not known before; what cannot be is not moved.
TEST(AxesFamilyKernel, MovesNothingPastTheMost) {
  const faro::detail::FamilyPlan plan = faro::detail::plan_family(family_case(4, {5, 7}, {1, 0}, 3).map);
  for (const std::int64_t extent : {std::int64_t{-1}, std::int64_t{17}, std::int64_t{1} << 40}) {
    const std::int64_t extents[] = {5, extent};
    std::vector<std::uint32_t> in(512, 1);
    std::vector<std::uint32_t> out(512, 7);
    kernels::MoveFamily<4, true> kernel;
    kernel.what.form = plan.form;
    kernel.what.extents.wide = extents;
    kernel.in = reinterpret_cast<const std::byte*>(in.data());
    kernel.out = reinterpret_cast<std::byte*>(out.data());
    emulate(kernel);
    EXPECT_EQ(out, std::vector<std::uint32_t>(512, 7));
  }
}

}  // namespace axes_family_kernel_test
}  // namespace faro::testing
