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
#include "kernels/axes_family.hpp"
#include "unit_bytes.hpp"

namespace faro::testing {
namespace axes_family_kernel_test {

using kernels::FamilyForm;

struct Called {
  FamilyForm form;
  std::vector<std::uint64_t> extents;  // all of them, the input's
  std::uint64_t skew = 0;              // bytes past an aligned address, of both arrays
  std::uint64_t grid = 3;

  std::string text() const {
    std::string text = std::to_string(form.element_bytes) + " bytes, axes";
    for (int a = 0; a < form.axes; ++a) {
      const auto& axis = form.axis[a];
      text += " " + std::to_string(extents[static_cast<std::size_t>(a)]) + (axis.free >= 0 ? "*" : "") +
              (axis.flipped ? "-" : "") + (axis.shift != 0 ? "+" + std::to_string(axis.shift) : "");
    }
    text += " to";
    for (int a = 0; a < form.axes; ++a) text += " " + std::to_string(form.order[a]);
    return text + ", skew " + std::to_string(skew);
  }
};

std::uint64_t count_of(const std::vector<std::uint64_t>& extents) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : extents) count *= extent;
  return count;
}

// out[o] = in[i], index by index.
std::vector<std::uint8_t> expected(const Called& call, const std::vector<std::uint8_t>& in) {
  const auto n = static_cast<std::size_t>(call.form.axes);
  const std::uint64_t width = call.form.element_bytes;
  std::vector<std::uint8_t> out(in.size());
  for (std::uint64_t x = 0; x < count_of(call.extents); ++x) {
    std::vector<std::uint64_t> index(n);
    std::uint64_t left = x;
    for (std::size_t a = n; a-- > 0;) {  // of the input
      index[a] = left % call.extents[a];
      left /= call.extents[a];
      const auto& axis = call.form.axis[a];
      if (axis.flipped) index[a] = call.extents[a] - 1 - index[a];
      index[a] = (index[a] + axis.shift) % call.extents[a];
    }
    std::uint64_t to = 0;
    for (std::size_t place = 0; place < n; ++place) {
      const auto a = static_cast<std::size_t>(call.form.order[place]);
      to = to * call.extents[a] + index[a];
    }
    std::memcpy(out.data() + to * width, in.data() + x * width, width);
  }
  return out;
}

template <int kUnitBytes>
void move(const Called& call, const std::byte* in, std::byte* out, bool on_device, const Emulation& how) {
  std::vector<std::int64_t> wide;
  for (int a = 0; a < call.form.axes; ++a) {
    if (call.form.axis[a].free >= 0)
      wide.push_back(static_cast<std::int64_t>(call.extents[static_cast<std::size_t>(a)]));
  }
  const std::vector<std::int32_t> narrow(wide.begin(), wide.end());
  for (std::uint32_t part = 0; part < call.form.parts(); ++part) {
    if (on_device) {
      kernels::MoveFamily<kUnitBytes, true> kernel;
      kernel.what.form = call.form;
      if (call.grid % 2 == 0) {
        kernel.what.extents.narrow = narrow.data();
      } else {
        kernel.what.extents.wide = wide.data();
      }
      kernel.what.part = part;
      kernel.in = in;
      kernel.out = out;
      kernel.grid = call.grid;
      emulate(kernel, how);
      continue;
    }
    kernels::FamilyView view;
    ASSERT_TRUE(kernels::family_view(call.form, [&](int i) { return wide[static_cast<std::size_t>(i)]; }, part, view));
    kernels::normalise(view);
    if (view.axes == 1 && view.axis[0].extent == 0) continue;
    ASSERT_EQ(kernels::cut_into_units(view, call.form.element_bytes, kUnitBytes), kUnitBytes);
    kernels::MoveFamily<kUnitBytes, false> kernel;
    kernel.what = kernels::make_family_box(view, kUnitBytes, call.skew, call.skew);
    kernel.in = in;
    kernel.out = out;
    kernel.grid = std::min(call.grid, kernel.what.tiles);
    emulate(kernel, how);
  }
}

// The widest unit that the call allows on the host; on a device the element's own.
std::uint64_t unit_of(const Called& call, bool on_device) {
  const std::uint64_t own = std::min<std::uint64_t>(16, call.form.element_bytes & (~call.form.element_bytes + 1));
  std::uint64_t most = own;
  if (!on_device && call.skew == 0) most = 16;
  std::uint64_t unit = 16;
  for (std::uint32_t part = 0; part < call.form.parts(); ++part) {
    kernels::FamilyView view;
    std::vector<std::int64_t> free;
    for (int a = 0; a < call.form.axes; ++a) {
      if (call.form.axis[a].free >= 0)
        free.push_back(static_cast<std::int64_t>(call.extents[static_cast<std::size_t>(a)]));
    }
    kernels::family_view(call.form, [&](int i) { return free[static_cast<std::size_t>(i)]; }, part, view);
    kernels::normalise(view);
    unit = std::min(unit, kernels::cut_into_units(view, call.form.element_bytes, most));
  }
  return unit;
}

void expect_moved(const Called& call, bool on_device, const Emulation& how = {}) {
  SCOPED_TRACE(call.text() + (on_device ? ", extents on the device" : ""));
  const std::uint64_t bytes = count_of(call.extents) * call.form.element_bytes;
  constexpr std::uint64_t kGuard = 64;
  std::vector<std::uint8_t> in(bytes);
  std::mt19937 random(static_cast<unsigned>(bytes + 1));
  for (std::uint8_t& byte : in) byte = static_cast<std::uint8_t>(random());
  struct alignas(16) Line {
    std::uint8_t bytes[16];
  };
  const std::size_t lines = (bytes + 2 * kGuard + call.skew) / 16 + 2;
  std::vector<Line> from(lines);
  std::vector<Line> to(lines);
  auto* const in_bytes = reinterpret_cast<std::uint8_t*>(from.data()) + kGuard + call.skew;
  auto* const out_bytes = reinterpret_cast<std::uint8_t*>(to.data()) + kGuard + call.skew;
  std::memset(static_cast<void*>(to.data()), 0xa5, lines * 16);
  std::copy(in.begin(), in.end(), in_bytes);
  faro::detail::by_unit_bytes(unit_of(call, on_device), [&](auto unit) {
    move<unit()>(call, reinterpret_cast<const std::byte*>(in_bytes), reinterpret_cast<std::byte*>(out_bytes),
                 on_device, how);
  });
  const std::vector<std::uint8_t> wanted = expected(call, in);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), out_bytes));
  const auto* const first = reinterpret_cast<const std::uint8_t*>(to.data());
  const auto poisoned = [](std::uint8_t byte) { return byte == 0xa5; };
  EXPECT_TRUE(std::all_of(first, static_cast<const std::uint8_t*>(out_bytes), poisoned));
  EXPECT_TRUE(std::all_of(static_cast<const std::uint8_t*>(out_bytes) + bytes, first + lines * 16, poisoned));
}

Called called(std::uint64_t element_bytes, const std::vector<std::uint64_t>& extents, const std::vector<int>& order,
              unsigned free_axes) {
  Called call{.form = {}, .extents = extents};
  FamilyForm& form = call.form;
  form.element_bytes = element_bytes;
  form.axes = static_cast<std::int32_t>(extents.size());
  for (std::size_t a = 0; a < extents.size(); ++a) {
    const bool is_free = (free_axes >> a & 1) != 0;
    form.axis[a].extent = is_free ? std::max<std::uint64_t>(2 * extents[a], 8) : extents[a];
    form.axis[a].free = is_free ? form.extents++ : -1;
    form.order[a] = order[a];
  }
  return call;
}

TEST(AxesFamilyKernel, MovesWhatIsUsual) {
  for (const std::uint64_t width : {1, 2, 4, 8, 16, 3, 12, 40}) {
    for (const bool on_device : {false, true}) {
      for (const Called& call : {called(width, {}, {}, 0), called(width, {1}, {0}, 1), called(width, {300}, {0}, 1),
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

TEST(AxesFamilyKernel, ReadsAndWritesWordsOfNarrowUnits) {
  for (const std::uint64_t width : {1, 2}) {
    for (const std::uint64_t skew : {0, 4, 2}) {
      Called call = called(width, {136, 264}, {1, 0}, 3);
      call.skew = skew;
      kernels::FamilyView view;
      kernels::family_view(call.form, [&](int i) { return static_cast<std::int64_t>(call.extents[static_cast<std::size_t>(i)]); }, 0, view);
      kernels::normalise(view);
      const kernels::FamilyBox box = kernels::make_family_box(view, static_cast<int>(width), skew, skew);
      EXPECT_EQ(box.in_units, skew % 4 == 0 ? 4 / width : 1);
      EXPECT_EQ(box.out_units, box.in_units);
      for (const bool on_device : {false, true}) expect_moved(call, on_device);
    }
  }
}

TEST(AxesFamilyKernel, MovesDrawnFamilies) {
  std::mt19937 random(46);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  int direct = 0;
  int staged = 0;
  for (int n = 0; n < 400; ++n) {
    constexpr std::uint64_t widths[] = {1, 2, 4, 8, 16, 3, 6, 12, 24};
    const unsigned rank = 1 + below(5);
    std::vector<std::uint64_t> extents;
    std::uint64_t left = 6000;
    for (unsigned a = 0; a < rank; ++a) {
      std::uint64_t extent = below(12) == 0 ? below(2) : 1 + below(below(3) == 0 ? 200 : 9);
      extent = std::min(extent, left);
      if (extent > 0) left /= extent;
      extents.push_back(extent);
    }
    std::vector<int> order(rank);
    for (unsigned a = 0; a < rank; ++a) order[a] = static_cast<int>(a);
    std::shuffle(order.begin(), order.end(), random);
    Called call = called(widths[below(9)], extents, order, below(64));
    call.skew = below(3) == 0 ? call.form.element_bytes & (~call.form.element_bytes + 1) & 15 : 0;
    call.grid = 1 + below(4);
    for (unsigned a = 0; a < rank; ++a) {
      call.form.axis[a].flipped = below(4) == 0;
      if (below(6) != 0) continue;
      call.form.axis[a].shift = 1 + below(300);
      ++call.form.rolled;
    }
    const Emulation how{.order = n % 3 == 0 ? Order::backward : n % 3 == 1 ? Order::forward : Order::shuffled};
    for (const bool on_device : {false, true}) expect_moved(call, on_device, how);
    kernels::FamilyView view;
    std::vector<std::int64_t> free;
    for (unsigned a = 0; a < rank; ++a) {
      if (call.form.axis[a].free >= 0) free.push_back(static_cast<std::int64_t>(extents[a]));
    }
    kernels::family_view(call.form, [&](int i) { return free[static_cast<std::size_t>(i)]; }, 0, view);
    kernels::normalise(view);
    (kernels::make_family_box(view, 1, 0, 0).direct ? direct : staged) += 1;
  }
  EXPECT_GT(direct, 50);
  EXPECT_GT(staged, 50);
}

TEST(AxesFamilyKernel, MovesNothingPastTheMost) {
  Called call = called(4, {5, 7}, {1, 0}, 3);
  for (const std::int64_t extent : {std::int64_t{-1}, std::int64_t{17}, std::int64_t{1} << 40}) {
    const std::int64_t extents[] = {5, extent};
    std::vector<std::uint32_t> in(512, 1);
    std::vector<std::uint32_t> out(512, 7);
    kernels::MoveFamily<4, true> kernel;
    kernel.what.form = call.form;
    kernel.what.extents.wide = extents;
    kernel.in = reinterpret_cast<const std::byte*>(in.data());
    kernel.out = reinterpret_cast<std::byte*>(out.data());
    emulate(kernel);
    EXPECT_EQ(out, std::vector<std::uint32_t>(512, 7));
  }
}

}  // namespace axes_family_kernel_test
}  // namespace faro::testing
