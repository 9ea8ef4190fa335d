#include "plan/gpu/value_box_shape.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

#include "kernels/value_arrays.hpp"
#include "layout/shared_geometry.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kValueRunBytes = 256;    // what memory likes to be read and written by
constexpr std::uint64_t kBoxTraffic = 64 << 10;  // bytes that a box reads and writes
constexpr std::uint64_t kRunMultiple = 16;       // what a cut run is a multiple of

// A box that grows.
struct ValueBoxGrowth {
  const std::vector<ValueAxis>& axes;
  std::vector<std::uint64_t> box;

  std::uint64_t count() const {
    return std::accumulate(box.begin(), box.end(), std::uint64_t{1}, std::multiplies<>());
  }

  static std::vector<std::uint64_t> least(const std::vector<ValueAxis>& axes) {
    std::vector<std::uint64_t> box(axes.size());
    std::transform(axes.begin(), axes.end(), box.begin(),
                   [](const ValueAxis& axis) { return axis.whole ? axis.extent : 1; });
    return box;
  }

  // Until a run along `order` has `wanted` numbers, or the box `most`.
  void grow(const std::vector<std::size_t>& order, std::uint64_t wanted, std::uint64_t most) {
    std::uint64_t run = 1;
    for (const std::size_t i : order) {
      if (run >= wanted) return;
      const std::uint64_t room = std::max<std::uint64_t>(most / (count() / box[i]), 1);
      const std::uint64_t multiple = kRunMultiple / std::gcd(kRunMultiple, run);
      const std::uint64_t most_here = std::min(axes[i].extent, std::bit_floor(room));
      const std::uint64_t take = std::min(most_here, ceil_div(wanted, run * multiple) * multiple);
      // In parts that are nearly equal.
      const std::uint64_t parts = ceil_div(axes[i].extent, std::max(take, box[i]));
      const std::uint64_t part = ceil_div(axes[i].extent, parts * multiple) * multiple;
      box[i] = std::max(box[i], std::min({part, most_here, axes[i].extent}));
      run *= box[i];
      if (box[i] < axes[i].extent) return;
    }
  }

  // Along further axes, by divisors of theirs, so that no more are cut.
  void fill(std::uint64_t most) {
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (box[i] != 1) continue;
      for (std::uint64_t part = std::min(axes[i].extent, most / count()); part > 1; --part) {
        if (axes[i].extent % part != 0) continue;
        box[i] = part;
        break;
      }
      if (count() * 2 > most) return;
    }
  }
};

// What boxes are compared by: the bytes of each side, of which short runs take more, those that are read and
// share a granule of memory, too; and boxes that stand out of the array, leave threads without a vector, or
// are small or large. Fitted to 11,000 boxes of an H200, of TTC's shapes and of drawn ones, each half held
// against the other (docs/notes/cuda-experiments.md).
class BoxPrice {
 public:
  explicit BoxPrice(const ValueBoxSides& of) : of_(of), writes_long_(writes_long(of)) {}

  double operator()(const std::vector<std::uint64_t>& box) const {
    constexpr double kOfGaps = 0.2;
    constexpr double kOfSmall = 2700;
    constexpr double kOfLarge = 75 << 10;
    constexpr double kOfIdle = 0.1;
    constexpr double kOfLast = 0.1;
    double gaps = 1;
    std::uint64_t count = 1;
    for (std::size_t a = 0; a < box.size(); ++a) {
      const std::uint64_t extent = of_.axes[a].extent;
      gaps *= static_cast<double>(round_up(extent, box[a])) / static_cast<double>(extent);
      count *= box[a];
    }
    const auto held = static_cast<double>(held_bytes(box, count));
    const double idle = idle_of(box, of_.in_order, of_.in_bytes) + idle_of(box, of_.out_order, of_.out_bytes);
    const double last = last_of(count * of_.in_bytes) + last_of(count * of_.out_bytes);
    return bytes_of_number(box) * (1 + kOfGaps * (gaps - 1)) * (1 + kOfSmall / held) * (1 + held / kOfLarge) *
           (1 + kOfIdle * idle) * (1 + kOfLast * last);
  }

 private:
  // That a number takes, as if runs were so much longer.
  double bytes_of_number(const std::vector<std::uint64_t>& box) const {
    constexpr double kOfRead = 18;
    constexpr double kOfGranule = 8;
    constexpr double kOfWritten = 17;
    constexpr double kOfAdded = 8;
    constexpr double kOfAlignedRead = 2;
    constexpr double kOfUnalignedWritten = 60;
    constexpr std::uint64_t kGranule = 64;
    const std::uint64_t in = run_of(box, of_.in_order);
    const std::uint64_t out = run_of(box, of_.out_order);
    double read = kOfRead + (in * of_.in_bytes % kGranule == 0 ? 0 : kOfGranule);
    double written = kOfWritten + (of_.addend_bytes == 0 ? 0 : kOfAdded);
    if (writes_long_) {
      read = kOfAlignedRead;
      written = kOfUnalignedWritten;
    }
    return static_cast<double>(of_.in_bytes + of_.out_bytes + of_.addend_bytes) +
           read / static_cast<double>(in) + written / static_cast<double>(out);
  }

  // Runs that begin anywhere are read by sectors that neighbours find in the second-level cache, but written
  // in parts of sectors: on an H200 1001 x 999 numbers are transposed from f16 to f32 at 77% of a copy's rate
  // by 32 runs of 128, 66 by 64 of 64, 55 by 128 of 64. From wider numbers to narrower ones at 62, 74 and 72.
  static bool writes_long(const ValueBoxSides& of) {
    const auto begins_anywhere = [&](const ValueAxis& axis) {
      const std::uint64_t bytes = stride_magnitude(axis.strides.out) * of.out_bytes;
      return bytes > of.out_bytes && bytes % layout::kGeometry.sector_bytes != 0;
    };
    return of.aligned && of.in_bytes <= of.out_bytes &&
           std::any_of(of.axes.begin(), of.axes.end(), begins_anywhere);
  }

  // Aligned copies have room for a vector and a half beside each run.
  std::uint64_t held_bytes(const std::vector<std::uint64_t>& box, std::uint64_t count) const {
    const std::uint64_t bytes = count * (of_.in_bytes + of_.addend_bytes);
    return writes_long_ ? bytes + count / run_of(box, of_.in_order) * kValueVectorBytes * 3 / 2 : bytes;
  }

  // Numbers of a box that lie together.
  std::uint64_t run_of(const std::vector<std::uint64_t>& box, const std::vector<std::size_t>& order) const {
    std::uint64_t run = 1;
    for (const std::size_t a : order) {
      run *= box[a];
      if (box[a] < of_.axes[a].extent) break;
    }
    return run;
  }

  // How many threads, of those with a vector of a side's first axis, have none.
  static double idle_of(const std::vector<std::uint64_t>& box, const std::vector<std::size_t>& order,
                        std::uint64_t bytes) {
    constexpr std::uint64_t kAtOnce = 16;  // vectors of a run that a block takes
    const std::uint64_t first = order.empty() ? 1 : box[order.front()];
    const std::uint64_t vectors = ceil_div(first * bytes, kValueVectorBytes);
    const std::uint64_t slots = round_up(vectors, std::min(kAtOnce, std::bit_ceil(vectors)));
    return static_cast<double>(slots) / static_cast<double>(vectors) - 1;
  }

  // How much of the vectors that a block's threads have time for is missing, of so many bytes.
  static double last_of(std::uint64_t bytes) {
    constexpr std::uint64_t kTurnBytes = kernels::kValueThreads * kValueVectorBytes;
    return static_cast<double>(round_up(bytes, kTurnBytes)) / static_cast<double>(bytes) - 1;
  }

  const ValueBoxSides& of_;
  bool writes_long_;
};

// How long runs are to be, and how large a box may be, in bytes.
struct BoxWish {
  std::uint64_t in = 64;
  std::uint64_t out = 64;
  std::uint64_t held = 12 << 10;
};

std::vector<BoxWish> box_wishes() {
  constexpr std::uint64_t kRuns[] = {64, 96, 128, 192, 256, 384, 512, 768, 1024};
  constexpr std::uint64_t kHeld[] = {12 << 10, 16 << 10, 24 << 10, 36 << 10};
  std::vector<BoxWish> wishes;
  for (const std::uint64_t held : kHeld) {
    for (const std::uint64_t in : kRuns) {
      for (const std::uint64_t out : kRuns) wishes.push_back({.in = in, .out = out, .held = held});
    }
  }
  return wishes;
}

std::vector<std::uint64_t> box_as_wished(const ValueBoxSides& of, const BoxWish& wish) {
  const std::uint64_t most =
      std::min(wish.held / (of.in_bytes + of.addend_bytes), kBoxTraffic / (of.in_bytes + of.out_bytes));
  ValueBoxGrowth growth{of.axes, ValueBoxGrowth::least(of.axes)};
  growth.grow(of.in_order, std::max<std::uint64_t>(wish.in / of.in_bytes, 1), most);
  growth.grow(of.out_order, std::max<std::uint64_t>(wish.out / of.out_bytes, 1), most);
  growth.fill(most);
  return growth.box;
}

}  // namespace

std::vector<std::size_t> lying_together(const std::vector<ValueAxis>& axes,
                                        std::int64_t ValueStrides::*stride) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].strides.*stride != 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return stride_magnitude(axes[a].strides.*stride) < stride_magnitude(axes[b].strides.*stride);
  });
  std::uint64_t next = 1;
  std::size_t count = 0;
  for (; count < order.size(); ++count) {
    const ValueAxis& axis = axes[order[count]];
    if (stride_magnitude(axis.strides.*stride) != next) break;
    next *= axis.extent;
  }
  order.resize(count);
  return order;
}

std::vector<std::uint64_t> box_of_runs(const std::vector<ValueAxis>& axes,
                                       const std::vector<std::size_t>& common, std::uint64_t most) {
  ValueBoxGrowth growth{axes, std::vector<std::uint64_t>(axes.size(), 1)};
  growth.grow(common, most, most);
  std::vector<std::size_t> others;  // rows, those that follow in the output
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (growth.box[i] == 1) others.push_back(i);
  }
  growth.grow(others, most / growth.count(), most);
  return growth.box;
}

std::vector<std::uint64_t> box_of_sides(const ValueBoxSides& of) {
  ValueBoxGrowth growth{of.axes, ValueBoxGrowth::least(of.axes)};
  const std::uint64_t most =
      std::min(kValueHeldBytes / of.held_bytes, kBoxTraffic / (of.in_bytes + of.out_bytes));
  for (std::uint64_t longer = 1; longer <= most; longer *= 2) {
    growth.grow(of.in_order, longer * kValueRunBytes / of.in_bytes, most);
    growth.grow(of.out_order, longer * kValueRunBytes / of.out_bytes, most);
    if (growth.count() * 2 > most) break;
  }
  growth.fill(most);
  return growth.box;
}

std::vector<std::uint64_t> box_of_copies(const ValueBoxSides& of) {
  const BoxPrice price(of);
  std::vector<std::uint64_t> best;
  double least = 0;
  for (const BoxWish& wish : box_wishes()) {
    std::vector<std::uint64_t> box = box_as_wished(of, wish);
    const double cost = price(box);
    if (!best.empty() && cost >= least) continue;
    least = cost;
    best = std::move(box);
  }
  return best;
}

}  // namespace faro::detail
