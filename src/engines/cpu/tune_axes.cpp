// Drawn permutations of axes, each timed on one thread, whose processor time other programs hardly change.
//
//     2 to 5 axes of any extents, in any order; now and then rows of either side with room behind them, or an
//     axis along which the input repeats, where little is read and all is written
//
// Half of them are of arrays that the caches hold, and half of larger ones.
#include "engines/cpu/tune_axes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "engines/cpu.hpp"
#include "faro/measure.hpp"
#include "faro/permutation/split_mix.hpp"
#include "faro/plan/plan.hpp"
#include "io/buffer.hpp"
#include "tell/axes_cost.hpp"

namespace faro::cpu {
namespace {

struct DrawnView {
  Strided view;
  std::uint64_t element_bytes = 1;
};

class ViewDraw {
 public:
  DrawnView next(std::uint64_t bytes) {
    static constexpr std::array<std::uint64_t, 16> kWidths{1, 2,  3,  4,  4,  4,  6,   8,
                                                           8, 12, 16, 24, 32, 64, 128, 256};
    DrawnView drawn{.view = {}, .element_bytes = kWidths.at(below(kWidths.size()))};
    const std::size_t rank = 2 + below(4);
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = rank; i-- > 1;) std::swap(order[i], order[below(i + 1)]);
    drawn.view.extents = extents_of(rank, bytes / drawn.element_bytes);
    drawn.view.in_strides.resize(rank);
    drawn.view.out_strides.resize(rank);
    std::vector<std::size_t> as_given(rank);
    std::iota(as_given.begin(), as_given.end(), std::size_t{0});
    std::vector<std::uint64_t> held = drawn.view.extents;
    const bool repeats = below(kRepeatsOf) == 0;
    const std::size_t repeated = below(rank);
    if (repeats) held[repeated] = 1;
    lay_out(held, as_given, room(kRoomInOf), drawn.view.in_strides);
    if (repeats) drawn.view.in_strides[repeated] = 0;
    lay_out(drawn.view.extents, order, room(kRoomOutOf), drawn.view.out_strides);
    return drawn;
  }

  // Even in the logarithm.
  std::uint64_t scale(std::uint64_t least, std::uint64_t most) {
    const double ratio = static_cast<double>(most) / static_cast<double>(least);
    return static_cast<std::uint64_t>(static_cast<double>(least) * std::pow(ratio, part()));
  }

 private:
  static constexpr std::uint64_t kRoomInOf = 4;  // one in so many has room
  static constexpr std::uint64_t kRoomOutOf = 8;
  static constexpr std::uint64_t kRepeatsOf = 8;

  std::uint64_t below(std::uint64_t bound) { return random_.next() % bound; }
  double part() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }
  std::uint64_t room(std::uint64_t of) { return below(of) == 0 ? 1 + below(32) : 0; }

  // A third odd, a third multiples of 8 where they are long.
  std::vector<std::uint64_t> extents_of(std::size_t rank, std::uint64_t elements) {
    std::vector<double> cuts(rank);
    double all = 0;
    for (double& cut : cuts) all += cut = 0.15 + part();
    const std::uint64_t kind = below(3);
    std::vector<std::uint64_t> extents(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const double extent = std::pow(static_cast<double>(elements), cuts[axis] / all);
      extents[axis] = std::max<std::uint64_t>(2, static_cast<std::uint64_t>(extent));
      if (kind == 0) extents[axis] |= 1;
      if (kind == 1 && extents[axis] >= 16) extents[axis] = extents[axis] / 8 * 8;
    }
    return extents;
  }

  // Strides of axes in this order, slowest first, with room behind the rows of the fastest.
  static void lay_out(const std::vector<std::uint64_t>& extents, const std::vector<std::size_t>& order,
                      std::uint64_t room, std::vector<std::int64_t>& strides) {
    std::uint64_t stride = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      strides[order[i]] = static_cast<std::int64_t>(stride);
      stride *= extents[order[i]] + (i + 1 == order.size() ? room : 0);
    }
  }

  detail::SplitMix64 random_{1};
};

class AxesContest {
 public:
  AxesContest(AxesTuning tuning, const Target& machine)
      : tuning_(tuning), machine_(machine), in_(room()), out_(room()) {
    machine_.threads = 1;
    machine_.index_calibration = nullptr;
  }

  // Each is timed twice, seconds apart, and the lesser is taken: a moment in which others take the memory
  // spoils one of them.
  std::vector<PriceFactor> prices() {
    IndexCurve copies = copy_curve();
    std::vector<Contestant> all;
    const double begin = clock_ms(true);
    while (clock_ms(true) < begin + (tuning_.brief ? kBriefMs : kMs) / 2) {
      const bool large = all.size() % 2 == 1;
      const std::uint64_t bytes =
          large ? draw_.scale(limit(), most_bytes()) : draw_.scale(kLeastBytes, limit());
      if (auto each = contestant(draw_.next(bytes), large)) all.push_back(*std::move(each));
    }
    std::vector<detail::TimedAxes> timed;
    for (Contestant& each : all) {
      time(each);
      timed.push_back(std::move(each.timed));
    }
    const IndexCurve again = copy_curve();
    for (std::size_t i = 0; i < again.curve.points.size(); ++i) {
      double& us = copies.curve.points[i].microseconds;
      us = std::min(us, again.curve.points[i].microseconds);
    }
    return detail::fitted_prices(timed, {.source = "this machine", .curves = {std::move(copies)}});
  }

 private:
  static constexpr double kMs = 3000;
  static constexpr double kBriefMs = 1000;
  static constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 19;

  // Where the caches end for plans, within what is measured.
  std::uint64_t limit() const {
    return std::clamp(machine_.streaming_bytes, 4 * kLeastBytes, std::uint64_t{32} << 20);
  }
  std::uint64_t most_bytes() const { return std::uint64_t{64} << 20; }
  std::uint64_t room() const { return 3 * most_bytes(); }  // with what lies between rows

  IndexCurve copy_curve() {
    constexpr int kWidth = 16;
    IndexCurve curve{.kernel = IndexKernel::copy, .element_bytes = kWidth, .curve = {}};
    for (std::uint64_t bytes = kLeastBytes / 4; bytes <= most_bytes(); bytes *= 2)
      curve.curve.points.push_back(
          {.elements = bytes / kWidth,
           .microseconds = round_us([&] { copy(in_.data(), out_.data(), bytes, 1); }, bytes)});
    return curve;
  }

  struct Contestant {
    Executor engine;
    std::uint64_t bytes;
    detail::TimedAxes timed;
  };

  void time(Contestant& each) {
    const io::Buffer workspace(std::max<std::uint64_t>(1, each.engine.workspace_bytes()));
    const double us =
        round_us([&] { each.engine.run(in_.data(), out_.data(), workspace.data()); }, each.bytes);
    each.timed.us = std::min(each.timed.us, us);
  }

  // Nothing where it goes by another way than boxes.
  std::optional<Contestant> contestant(const DrawnView& drawn, bool past_caches) {
    const std::uint64_t elements = std::max(in_elements(drawn.view), out_elements(drawn.view));
    if (elements > room() / drawn.element_bytes) return std::nullopt;
    Target target = machine_;
    target.streaming_bytes = past_caches ? 0 : std::numeric_limits<std::uint64_t>::max();
    const Plan plan({.element_bytes = drawn.element_bytes, .view = drawn.view}, target);
    if (plan.passes().size() != 1 || plan.passes().front().cpu == nullptr) return std::nullopt;
    const auto* const axes = std::get_if<detail::CpuAxes>(&plan.passes().front().cpu->kernel);
    if (axes == nullptr) return std::nullopt;
    Contestant made{.engine = Executor(plan),
                    .bytes = plan.array_bytes(),
                    .timed = {.axes = *axes, .us = std::numeric_limits<double>::max()}};
    time(made);
    return made;
  }

  // A round after a call that warms, long enough for the clock; before it the arrays are copied, as for tiles
  // (tune_affine.cpp).
  template <typename Run>
  double round_us(const Run& run, std::uint64_t bytes) {
    constexpr std::uint64_t kRoundBytes = std::uint64_t{8} << 20;
    constexpr double kUsInMs = 1e3;
    const auto calls =
        static_cast<int>(std::max<std::uint64_t>(1, kRoundBytes / std::max<std::uint64_t>(1, bytes)));
    run();
    copy(in_.data(), out_.data(), bytes, 1);
    const double begin = clock_ms(true);
    for (int call = 0; call < calls; ++call) run();
    return kUsInMs * (clock_ms(true) - begin) / calls;
  }

  AxesTuning tuning_;
  Target machine_;
  ViewDraw draw_;
  io::Buffer in_;
  io::Buffer out_;
};

}  // namespace

std::vector<PriceFactor> tune_axes(AxesTuning tuning, const Target& machine) {
  return AxesContest(tuning, machine).prices();
}

}  // namespace faro::cpu
