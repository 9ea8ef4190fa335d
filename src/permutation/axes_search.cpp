#include "axes_search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "faro/permutation/split_mix.hpp"
#include "permutation/cyclic_axes.hpp"

namespace faro::detail {
namespace {

// Ascending. Cost: sqrt(count) divisions.
std::vector<std::uint64_t> divisors(std::uint64_t count) {
  std::vector<std::uint64_t> result{1};
  const auto multiply = [&](std::uint64_t prime, int power) {
    const std::size_t before = result.size();
    std::uint64_t factor = 1;
    for (int k = 0; k < power; ++k) {
      factor *= prime;
      for (std::size_t i = 0; i < before; ++i) result.push_back(result[i] * factor);
    }
  };
  std::uint64_t left = count;
  for (std::uint64_t prime = 2; prime * prime <= left; ++prime) {
    int power = 0;
    for (; left % prime == 0; left /= prime) ++power;
    multiply(prime, power);
  }
  if (left > 1) multiply(left, 1);
  std::sort(result.begin(), result.end());
  return result;
}

// Axes from the input to the output, the fastest first, if their steps are those of a permutation.
std::optional<Axes> ordered(const std::vector<StridedAxis>& axes) {
  const AxisMap map{.axes = axes};
  const auto is_forwards = [](const StridedAxis& axis) { return axis.out > 0; };
  if (!std::all_of(axes.begin(), axes.end(), is_forwards) || !whole(map)) return std::nullopt;
  return Axes(map);
}

// "4 3 2": of the slowest axis first, as shapes are written.
template <typename Number>
std::string listed(const std::vector<StridedAxis>& fastest_first, Number StridedAxis::*what) {
  std::string text;
  for (std::size_t axis = fastest_first.size(); axis-- > 0;) {
    text += (text.empty() ? "" : " ") + std::to_string(fastest_first[axis].*what);
  }
  return text;
}

}  // namespace

AxesSearch find_axes(IndexReader& reader) {
  const std::uint64_t count = reader.count();
  const std::vector<std::uint64_t> all = divisors(count);
  std::vector<StridedAxis> axes;
  for (std::uint64_t place = 1; place < count;) {
    const std::uint64_t left = count / place;
    std::vector<std::uint64_t> extents;  // candidates, 1 for the step itself; all that is left needs no probe
    std::vector<std::uint64_t> positions;
    for (const std::uint64_t divisor : all) {
      if (divisor >= left) break;
      if (left % divisor != 0) continue;
      extents.push_back(divisor);
      positions.push_back(place * divisor);
    }
    const std::vector<std::uint64_t> entries = reader.at(positions);
    const std::uint64_t step = entries.front();
    const auto is_on_line = [&](std::size_t k) {
      return step == 0 || extents[k] > (count - 1) / step ? false : entries[k] == extents[k] * step;
    };
    std::size_t k = 1;
    while (k < extents.size() && is_on_line(k)) ++k;
    const std::uint64_t extent = k < extents.size() ? extents[k] : left;
    axes.push_back(
        {.extent = extent, .in = static_cast<std::int64_t>(place), .out = static_cast<std::int64_t>(step)});
    place *= extent;
  }
  auto candidate = ordered(axes);
  std::string why;
  if (!candidate) {
    why = "extents " + listed(axes, &StridedAxis::extent) + " would step by " +
          listed(axes, &StridedAxis::out) + ", which no order of axes does";
  }
  return {.candidate = std::move(candidate), .why = std::move(why)};
}

namespace {

// What a step along an axis adds, by the first few of which one may go round.
std::optional<std::int64_t> step_of(const std::vector<std::int64_t>& steps) {
  if (steps.size() == 1) return steps[0];
  if (steps.size() == 2) {
    if (steps[0] == steps[1] || steps[1] == -2 * steps[0]) return steps[0];
    if (steps[0] == -2 * steps[1]) return steps[1];
    return std::nullopt;
  }
  if (steps[0] == steps[1] || steps[0] == steps[2]) return steps[0];
  if (steps[1] == steps[2]) return steps[1];
  return std::nullopt;
}

// The axis of elements `place` apart, so many of them, whose steps are `step`: from the output, where these
// are its strides, back to the input.
std::optional<StridedAxis> moved_axis(IndexReader& reader, std::uint64_t place, std::uint64_t extent,
                                      std::int64_t step, std::uint64_t zero) {
  const auto value = [&](std::uint64_t digit) {
    const std::uint64_t position = digit * place;
    return static_cast<std::int64_t>(reader.at(std::span(&position, 1)).front() - zero);
  };
  const auto count = static_cast<std::int64_t>(reader.count());
  if (step == 0 || step <= -count || step >= count) return std::nullopt;
  const auto is_straight = [&](std::uint64_t digit) {
    return value(digit) == step * static_cast<std::int64_t>(digit);
  };
  // The first digit that has gone round; the last one has, or none.
  std::uint64_t round = extent;
  if (!is_straight(extent - 1)) {
    std::uint64_t straight = 0;
    round = extent - 1;
    while (straight + 1 < round) {
      const std::uint64_t middle = straight + (round - straight) / 2;
      (is_straight(middle) ? straight : round) = middle;
    }
  }
  SplitMix64 random(extent);
  constexpr int kTried = 12;
  for (int k = 0; k < kTried; ++k) {
    const std::uint64_t digit = k == 0 ? extent - 1 : k == 1 ? round % extent : random.next() % extent;
    const auto gone = digit >= round ? static_cast<std::int64_t>(extent) : 0;
    if (value(digit) != step * (static_cast<std::int64_t>(digit) - gone)) return std::nullopt;
  }
  return StridedAxis{
      .extent = extent, .in = step, .out = static_cast<std::int64_t>(place), .shift = round % extent};
}

// The axes that may begin with steps of `place`, the longest first: what is shorter is mostly a part of it.
// The last elements of all are read at once: most extents are not looked at any further.
std::vector<StridedAxis> moved_axes(IndexReader& reader, std::uint64_t place, std::uint64_t zero) {
  std::vector<std::uint64_t> extents = divisors(reader.count() / place);
  extents.erase(extents.begin());  // 1
  std::vector<std::uint64_t> positions;
  positions.reserve(extents.size() + 3);
  for (const std::uint64_t extent : extents) positions.push_back((extent - 1) * place);
  for (std::uint64_t digit = 1; digit < 4 && digit < extents.back(); ++digit)
    positions.push_back(digit * place);
  std::vector<std::uint64_t> entries = reader.at(positions);
  for (std::uint64_t& entry : entries) entry -= zero;
  const auto* const first = reinterpret_cast<const std::int64_t*>(entries.data()) + extents.size();
  std::vector<StridedAxis> found;
  for (std::size_t k = extents.size(); k-- > 0;) {
    const std::uint64_t extent = extents[k];
    std::vector<std::int64_t> steps{first[0]};
    for (std::uint64_t digit = 2; digit < extent && digit < 4; ++digit)
      steps.push_back(first[digit - 1] - first[digit - 2]);
    const auto step = step_of(steps);
    const auto last = static_cast<std::int64_t>(entries[k]);
    if (!step || (last != *step * static_cast<std::int64_t>(extent - 1) && last != -*step)) continue;
    if (const auto axis = moved_axis(reader, place, extent, *step, zero)) found.push_back(*axis);
  }
  return found;
}

// Extents by trial: a few short axes together can look like the beginning of a longer one that is rolled,
// which only the axes after them tell.
class CyclicAxesWalk {
 public:
  explicit CyclicAxesWalk(IndexReader& reader) : reader_(reader) {
    constexpr std::uint64_t kFirst = 0;
    zero_ = reader.at(std::span(&kFirst, 1)).front();
  }

  CyclicAxesSearch result() {
    CyclicAxesSearch search;
    search.candidate = from(1);
    if (!search.candidate) search.why = std::move(why_);
    return search;
  }

 private:
  // The axes found so far, and those from steps of `place` on.
  std::optional<CyclicAxes> from(std::uint64_t place) {
    if (place >= reader_.count()) return made();
    const std::vector<StridedAxis> found = moved_axes(reader_, place, zero_);
    if (found.empty())
      return failed("elements " + std::to_string(place) + " apart are neither flipped nor rolled");
    // The longest and the shortest of what goes on straight tell as much as all between.
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (k >= 2 && k + 1 < found.size()) continue;
      if (--trials_left_ < 0) return std::nullopt;
      const StridedAxis& axis = found[k];
      axes_.push_back(axis);
      auto candidate = from(place * axis.extent);
      if (candidate) return candidate;
      axes_.pop_back();
    }
    return std::nullopt;
  }

  std::optional<CyclicAxes> made() {
    if (zero_ >= reader_.count()) return failed("entry 0 is past the end");
    // Digit 0 of an axis that is rolled is some steps behind the first.
    AxisMap back{.axes = axes_, .in_first = static_cast<std::int64_t>(zero_)};
    for (const StridedAxis& axis : axes_)
      back.in_first -= axis.in * static_cast<std::int64_t>((axis.extent - axis.shift) % axis.extent);
    const AxisMap map = normal_form(inverse(std::move(back)));
    if (!whole(map)) return failed("steps and a first entry that no order of the axes has");
    CyclicAxes candidate(map);
    constexpr std::uint64_t kMostViews = 16;
    if (number_of_parts(candidate) > kMostViews) return failed("more than four axes are rolled");
    constexpr std::size_t kMostAxes = 8;
    if (candidate.shape().size() > kMostAxes) return failed("more than eight axes");
    if (!samples_hold(candidate)) return failed("entries between are not those of axes");
    return candidate;
  }

  bool samples_hold(const CyclicAxes& candidate) const {
    constexpr std::size_t kSamples = 256;
    SplitMix64 random(reader_.count());
    std::vector<std::uint64_t> positions(kSamples);
    for (std::uint64_t& position : positions) position = random.next() % reader_.count();
    const std::vector<std::uint64_t> entries = reader_.at(positions);
    for (std::size_t k = 0; k < kSamples; ++k)
      if (candidate(positions[k]) != entries[k]) return false;
    return true;
  }

  // Tells why the first trial, of the longest axes, came to nothing.
  std::nullopt_t failed(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    return std::nullopt;
  }

  IndexReader& reader_;
  std::uint64_t zero_ = 0;
  int trials_left_ = 200;
  std::vector<StridedAxis> axes_;  // the fastest first
  std::string why_;
};

}  // namespace

CyclicAxesSearch find_cyclic_axes(IndexReader& reader) {
  if (reader.count() < 4)
    return {.candidate = std::nullopt, .why = "of so few elements it would be a roll or a flip"};
  return CyclicAxesWalk(reader).result();
}

}  // namespace faro::detail
