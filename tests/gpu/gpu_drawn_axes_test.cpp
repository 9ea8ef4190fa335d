// Axes and views on a GPU, drawn for as long as --seconds says: shapes of up to 64 axes, orders, strides that
// are negative, zero and overlapping, elements of 1 to 4096 bytes, and wider ones as an axis of their own,
// batches, arrays that begin anywhere, and arrays past 2^31 and 2^32 elements. Each is held against the
// definition on the device, byte by byte, together with what it must leave as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/axes.hpp"
#include "gpu/axes_oracle.hpp"
#include "gpu/gpu_support.hpp"
#include "kernels/partition_params.hpp"

namespace faro::testing {
namespace {

constexpr std::uint64_t kDrawnGuard = 256;
constexpr std::uint64_t kDrawnBytes = std::uint64_t{64} << 20;  // of an array, at most
constexpr std::uint64_t kDrawnSkew = 256;                       // past an aligned address, less than

// Arrays that all cases of a test use, each with room for skews and guard zones.
class DrawnArrays {
 public:
  explicit DrawnArrays(std::uint64_t bytes) : in_(room(bytes)), out_(room(bytes)), wanted_(room(bytes)) {}

  /// move(in, out) of arrays that begin after the skews: whether all bytes are those of the definition.
  template <typename Move>
  void check(const AxesOracle& oracle, std::uint64_t in_bytes, std::uint64_t out_bytes, std::uint64_t in_skew,
             std::uint64_t out_skew, const Move& move) {
    const OwnStream stream;
    const std::uint64_t around = out_skew + out_bytes + 2 * kDrawnGuard;
    draw_bytes(in_.data() + in_skew, std::max<std::uint64_t>(in_bytes, 1), 3, stream);
    draw_bytes(out_.data(), around, 4, stream);
    draw_bytes(wanted_.data(), around, 4, stream);
    move(static_cast<const std::byte*>(in_.data() + in_skew), out_.data() + kDrawnGuard + out_skew,
         Stream(stream));
    move_elements(in_.data() + in_skew, wanted_.data() + kDrawnGuard + out_skew, oracle, stream);
    EXPECT_EQ(different_bytes(out_.data(), wanted_.data(), around, stream), 0U);
  }

 private:
  static std::uint64_t room(std::uint64_t bytes) { return bytes + kDrawnSkew + 2 * kDrawnGuard; }

  cuda::DeviceArray in_;
  cuda::DeviceArray out_;
  cuda::DeviceArray wanted_;
};

class GpuDrawnAxes : public GpuTest {
 protected:
  std::mt19937_64 random{settings().seed};

  std::uint64_t below(std::uint64_t limit) { return random() % std::max<std::uint64_t>(limit, 1); }
  bool one_in(std::uint64_t many) { return below(many) == 0; }

  // Every order of magnitude as likely as the next.
  std::uint64_t of_any_size(std::uint64_t most) {
    const auto bits = static_cast<std::uint64_t>(std::bit_width(most));
    return std::min(most, (std::uint64_t{1} << below(bits)) + below(std::uint64_t{1} << below(bits)));
  }

  std::uint64_t width() {
    constexpr std::uint64_t usual[] = {1, 2, 4, 8, 16};
    constexpr std::uint64_t odd[] = {3, 5, 6, 7, 12, 24, 48};
    constexpr std::uint64_t wide[] = {64, 100, 255, 1000, 2048, 4095, 4096};
    switch (below(8)) {
      case 0:
        return 1 + below(4096);
      case 1:
        return wide[below(std::size(wide))];
      case 2:
      case 3:
        return odd[below(std::size(odd))];
      default:
        return usual[below(std::size(usual))];
    }
  }

  // Primes, powers of two, multiples of vectors, and what is next to a tile's side.
  std::uint64_t extent(std::uint64_t most) {
    constexpr std::uint64_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 61, 67, 127, 131, 257, 997};
    std::uint64_t drawn = 1;
    switch (below(5)) {
      case 0:
        drawn = primes[below(std::size(primes))];
        break;
      case 1:
        drawn = std::uint64_t{1} << below(11);
        break;
      case 2:
        drawn = 8 * (1 + below(40));
        break;
      case 3:
        drawn = (std::uint64_t{16} << below(6)) + below(3) - 1;
        break;
      default:
        drawn = 1 + below(200);
        break;
    }
    return std::clamp<std::uint64_t>(drawn, 1, std::max<std::uint64_t>(most, 1));
  }

  // A shape of about `count` elements, or fewer.
  std::vector<std::uint64_t> shape(std::size_t rank, std::uint64_t count) {
    std::vector<std::uint64_t> all(rank);
    std::vector<std::size_t> turns(rank);
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    std::shuffle(turns.begin(), turns.end(), random);
    for (const std::size_t a : turns) {
      const bool last = a == turns.back();
      all[a] = last && !one_in(3)                   ? std::max<std::uint64_t>(count, 1)
               : rank > 10 && !one_in(rank / 6 + 1) ? 1 + below(3)
                                                    : extent(count);
      all[a] = std::min(all[a], std::max<std::uint64_t>(count, 1));
      count /= all[a];
    }
    return all;
  }

  std::size_t rank() { return one_in(10) ? 9 + below(56) : 1 + below(8); }

  std::vector<int> order(std::size_t n) {
    std::vector<int> all(n);
    std::iota(all.begin(), all.end(), 0);
    if (one_in(4)) {
      std::reverse(all.begin(), all.end());
    } else {
      std::shuffle(all.begin(), all.end(), random);
    }
    return all;
  }

  // Half of all arrays begin at aligned addresses, the others at any unit.
  std::uint64_t skew(std::uint64_t element_bytes) {
    const std::uint64_t unit = kernels::units_of_element(element_bytes).unit_bytes;
    return one_in(2) ? 0 : below(kDrawnSkew / unit) * unit;
  }

  // Strides of one side, in elements, and where it begins: nested in any order, with gaps, flipped.
  void stride(std::vector<std::int64_t>& strides, std::uint64_t& offset,
              const std::vector<std::uint64_t>& extents, bool of_input) {
    const std::size_t n = extents.size();
    std::vector<std::size_t> turns(n);
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    if (!one_in(3)) std::shuffle(turns.begin(), turns.end(), random);
    strides.assign(n, 0);
    offset = one_in(2) ? 0 : below(40);
    auto next = static_cast<std::int64_t>(one_in(5) ? 2 + below(3) : 1);
    const bool gaps = one_in(2);
    for (std::size_t i = n; i-- > 0;) {
      const std::size_t a = turns[i];
      const auto extent = static_cast<std::int64_t>(extents[a]);
      const bool stands = of_input && one_in(8);
      const bool overlaps = of_input && one_in(12);  // a sliding window
      std::int64_t step = stands ? 0 : overlaps ? static_cast<std::int64_t>(1 + below(5)) : next;
      if (one_in(4)) step = -step;
      strides[a] = step;
      if (step < 0) offset += static_cast<std::uint64_t>((extent - 1) * -step);
      if (stands || overlaps) continue;
      next = next * extent + static_cast<std::int64_t>(gaps && one_in(2) ? below(20) : 0);
    }
  }

  /// Runs draw() for the time that was asked for, at least `least` times.
  template <typename Draw>
  void for_some_time(int least, const Draw& draw) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(settings().seconds);
    int rounds = 0;
    for (; rounds < least || std::chrono::steady_clock::now() < end; ++rounds) {
      draw();
      if (HasFailure()) FAIL() << "seed " << settings().seed << ", round " << rounds;
    }
    std::printf("%d cases\n", rounds);
    for (const auto& [kernel, times] : reached_) std::printf("  %6d %s\n", times, kernel.c_str());
  }

  void note(const std::string& kernel) { ++reached_[kernel.substr(0, kernel.find(','))]; }
  std::size_t reached() const { return reached_.size(); }

  void check_axes(DrawnArrays& arrays, const std::vector<std::uint64_t>& extents,
                  const std::vector<int>& turns, std::uint64_t element_bytes, std::uint64_t batch,
                  std::uint64_t in_skew, std::uint64_t out_skew) {
    const Axes axes(extents, turns);
    const Problem problem{.permutation = axes, .element_bytes = element_bytes, .batch = batch};
    SCOPED_TRACE(to_text(axes) + " of " + std::to_string(element_bytes) + " bytes, batch " +
                 std::to_string(batch) + ", " + std::to_string(in_skew) + " and " + std::to_string(out_skew) +
                 " bytes past an aligned address");
    const Plan planned(problem, cuda::target());
    if (!planned.passes().empty()) {
      const auto& launch = planned.passes().front().launch;
      note(launch && !launch->kernel.empty() ? launch->kernel : name(planned.passes().front().kind));
    }
    const std::uint64_t bytes = total_bytes(problem);
    const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
    arrays.check(
        axes_oracle(extents, turns, element_bytes, batch), bytes, bytes, in_skew, out_skew,
        [&](const std::byte* in, std::byte* out, Stream stream) { plan.run(in, out, bytes, stream); });
  }

  void check_view(DrawnArrays& arrays, const Strided& view, std::uint64_t element_bytes,
                  std::uint64_t in_skew, std::uint64_t out_skew) {
    SCOPED_TRACE(to_text(view) + " of " + std::to_string(element_bytes) + " bytes, " +
                 std::to_string(in_skew) + " and " + std::to_string(out_skew) +
                 " bytes past an aligned address");
    const ExecutablePlan plan = faro::plan(view, element_bytes, {.engine = Engine::cuda});
    const std::uint64_t in_count = in_elements(view);
    const std::uint64_t out_count = out_elements(view);
    arrays.check(axes_oracle(view, element_bytes), in_count * element_bytes, out_count * element_bytes,
                 in_skew, out_skew, [&](const std::byte* in, std::byte* out, Stream stream) {
                   plan.run(in, in_count, out, out_count, stream);
                 });
  }

  // Nothing where an array is larger than `most` bytes.
  std::optional<Strided> drawn_view(std::uint64_t count, std::uint64_t element_bytes, std::uint64_t most) {
    Strided view;
    view.extents = shape(std::min<std::size_t>(rank(), 20), count);
    stride(view.in_strides, view.in_offset, view.extents, true);
    stride(view.out_strides, view.out_offset, view.extents, false);
    if (std::max(in_elements(view), out_elements(view)) > most / element_bytes) return std::nullopt;
    return view;
  }

 private:
  std::map<std::string, int> reached_;
};

TEST_F(GpuDrawnAxes, Permutations) {
  DrawnArrays arrays(kDrawnBytes);
  for_some_time(300, [&] {
    const std::uint64_t element_bytes = width();
    const std::uint64_t batch = one_in(4) ? 1 + below(6) : 1;
    const std::uint64_t most = kDrawnBytes / element_bytes / batch;
    const std::uint64_t count = one_in(3) ? of_any_size(most) : most / 32 + below(most / 4);
    std::vector<std::uint64_t> extents = shape(rank(), count);
    std::vector<int> turns = order(extents.size());
    if (one_in(10) && extents.size() < 60) {  // elements of several of these, which stay together
      turns.push_back(static_cast<int>(extents.size()));
      extents.push_back(1 + below(std::max<std::uint64_t>(most / std::max<std::uint64_t>(count, 1), 1)));
    }
    check_axes(arrays, extents, turns, element_bytes, batch, skew(element_bytes), skew(element_bytes));
  });
  EXPECT_GE(reached(), 8U) << "kinds of kernels";
}

TEST_F(GpuDrawnAxes, Views) {
  DrawnArrays arrays(kDrawnBytes);
  for_some_time(300, [&] {
    const std::uint64_t element_bytes = width();
    const std::uint64_t most = kDrawnBytes / element_bytes;
    const std::uint64_t count = one_in(3) ? of_any_size(most / 2) : most / 64 + below(most / 8);
    const auto view = drawn_view(count, element_bytes, kDrawnBytes);
    if (view) check_view(arrays, *view, element_bytes, skew(element_bytes), skew(element_bytes));
  });
}

TEST_F(GpuDrawnAxes, WiderElementsAreRefused) {
  EXPECT_THROW(
      faro::plan({.permutation = Axes({30, 40}, {1, 0}), .element_bytes = 4097}, {.engine = Engine::cuda}),
      Error);
  EXPECT_THROW(faro::plan(parse_strided("strided(30 40; 40 1; 1 30)"), 4097, {.engine = Engine::cuda}),
               Error);
}

// An address between units is refused by one line, before anything is written.
TEST_F(GpuDrawnAxes, AddressesBetweenUnitsAreRefused) {
  DrawnArrays arrays(kDrawnBytes / 64);
  for (int round = 0; round < 60; ++round) {
    constexpr std::uint64_t widths[] = {2, 4, 8, 12, 16, 48, 4096};
    const std::uint64_t element_bytes = widths[below(std::size(widths))];
    const std::uint64_t unit = kernels::units_of_element(element_bytes).unit_bytes;
    const std::vector<std::uint64_t> extents =
        shape(1 + below(5), 1 + below(kDrawnBytes / 128 / element_bytes));
    const Axes axes(extents, order(extents.size()));
    if (axes.count() < 2) continue;
    const Problem problem{.permutation = axes, .element_bytes = element_bytes};
    const std::uint64_t bytes = total_bytes(problem);
    const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
    if (plan.plan().passes().front().kind == PassKind::copy) continue;
    const bool of_input = one_in(2);
    const std::uint64_t past = 1 + below(unit - 1);
    SCOPED_TRACE(to_text(axes) + " of " + std::to_string(element_bytes) + " bytes, " + std::to_string(past));
    AxesOracle nothing = axes_oracle(extents, order(extents.size()), element_bytes, 0);
    arrays.check(nothing, bytes, bytes, of_input ? past : 0, of_input ? 0 : past,
                 [&](const std::byte* in, std::byte* out, Stream stream) {
                   EXPECT_THROW(plan.run(in, out, bytes, stream), Error);
                 });
    if (HasFailure()) return;
  }
}

// --- past 2^31 and 2^32 elements

// A shape of nearly so many elements: the last axis takes what the others leave.
std::vector<std::uint64_t> large_shape(std::mt19937_64& random, std::uint64_t count) {
  const std::size_t rank = 2 + random() % 4;
  std::vector<std::uint64_t> all(rank, 1);
  std::uint64_t left = count;
  for (std::size_t a = 0; a + 1 < rank; ++a) {
    all[a] = 2 + random() % (a == 0 ? 1500 : 200);
    left /= all[a];
  }
  all[rank - 1] = left + random() % 2;
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

TEST_F(GpuDrawnAxes, PermutationsPastThirtyTwoBits) {
  const std::uint64_t memory = free_device_bytes() / 7 * 2;  // for each of three arrays
  const std::uint64_t element_bytes = memory >> 32 >= 4 ? 4 : memory >> 32 >= 2 ? 2 : 1;
  const std::uint64_t most = (std::uint64_t{1} << 32) + (std::uint64_t{1} << 28);
  if (memory < most) GTEST_SKIP() << "arrays of 2^32 bytes do not fit three times";
  DrawnArrays arrays(std::min(memory, most * element_bytes));
  for_some_time(4, [&] {
    const std::uint64_t bytes = std::uint64_t{1} << below(std::bit_width(element_bytes));
    const std::uint64_t count = (std::uint64_t{1} << (31 + below(2))) + below(1 << 24);
    const std::vector<std::uint64_t> extents = large_shape(random, count);
    const std::uint64_t all =
        std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
    if (all * bytes > std::min(memory, most * element_bytes)) return;
    check_axes(arrays, extents, order(extents.size()), bytes, 1, one_in(2) ? 0 : bytes * below(16),
               one_in(2) ? 0 : bytes * below(16));
  });
}

TEST_F(GpuDrawnAxes, ViewsPastThirtyTwoBits) {
  const std::uint64_t memory = free_device_bytes() / 7 * 2;
  const std::uint64_t most = std::min(memory, std::uint64_t{20} << 30);
  if (memory < std::uint64_t{5} << 30) GTEST_SKIP() << "arrays of 2^32 bytes do not fit three times";
  DrawnArrays arrays(most);
  int large = 0;
  for_some_time(4, [&] {
    const std::uint64_t bytes = std::uint64_t{1} << below(3);
    Strided view;
    view.extents = large_shape(random, (std::uint64_t{1} << (29 + below(4))) + below(1 << 24));
    stride(view.in_strides, view.in_offset, view.extents, true);
    stride(view.out_strides, view.out_offset, view.extents, false);
    const std::uint64_t elements = std::max(in_elements(view), out_elements(view));
    if (elements > most / bytes) return;
    large += elements >> 31 != 0 ? 1 : 0;
    check_view(arrays, view, bytes, one_in(2) ? 0 : bytes * below(16), one_in(2) ? 0 : bytes * below(16));
  });
  std::printf("%d of them past 2^31 elements\n", large);
}

// Few elements, far apart: rows of a large array, from its end to its beginning.
TEST_F(GpuDrawnAxes, SlicesOfArraysPastThirtyTwoBits) {
  const std::uint64_t most = std::uint64_t{13} << 30;
  if (free_device_bytes() / 7 * 2 < most) GTEST_SKIP() << "arrays of 13 GiB do not fit three times";
  DrawnArrays arrays(most);
  constexpr std::int64_t far = (std::int64_t{1} << 31) + 5;
  for (const std::uint64_t bytes : {1U, 2U}) {
    const auto rows = static_cast<std::uint64_t>(most / bytes / static_cast<std::uint64_t>(far));
    const auto back = (rows - 1) * static_cast<std::uint64_t>(far);
    const Strided views[] = {
        {.extents = {rows, 700, 900}, .in_strides = {far, 900, 1}, .out_strides = {630000, 1, 700}},
        {.extents = {rows, 700, 900},
         .in_strides = {-far, 1, 700},
         .out_strides = {630000, 900, 1},
         .in_offset = back},
        {.extents = {rows, 700, 900}, .in_strides = {630000, 1, 700}, .out_strides = {far, 900, 1}},
        {.extents = {rows, 100, 10},
         .in_strides = {1000, -10, 1},
         .out_strides = {-far, 10, 1},
         .in_offset = 990,
         .out_offset = back},
        {.extents = {rows, 100000}, .in_strides = {-far, 1}, .out_strides = {far, 1}, .in_offset = back}};
    for (const Strided& view : views) {
      check_view(arrays, view, bytes, 0, 0);
      check_view(arrays, view, bytes, bytes, 3 * bytes);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace faro::testing
