#include "shard/runs.hpp"

#include <algorithm>
#include <numeric>

#include "rounding.hpp"

namespace faro::detail {
namespace {

std::int64_t moved_by(std::uint64_t places, std::int64_t step) {
  return static_cast<std::int64_t>(places) * step;
}

SideOfRuns side_from(const LocalRuns& runs, std::uint64_t k, std::uint64_t place, std::uint64_t repeats) {
  return {.local = runs.local_start(k) + moved_by(place - runs.start(k), runs.step),
          .step = runs.step,
          .local_stride = moved_by(repeats, runs.local_stride)};
}

class Sharing {
 public:
  Sharing(const LocalRuns& source, const LocalRuns& target) : source_(source), target_(target) {
    if (source.count > 1 && target.count > 1) {
      const std::uint64_t divisor = std::gcd(source.stride, target.stride);
      source_period_ = target.stride / divisor;
      target_period_ = source.stride / divisor;
    } else if (source.count > 1) {
      source_period_ = 1;  // the target's single run is met by each of the source's once
    } else if (target.count > 1) {
      target_period_ = 1;
    }
  }

  std::vector<SharedRuns> all() {
    if (source_.count == 1 || target_.count == 1) {
      inside_one_run();
    } else {
      periods();
    }
    std::sort(made_.begin(), made_.end(),
              [](const SharedRuns& a, const SharedRuns& b) { return a.begin < b.begin; });
    return joined();
  }

 private:
  struct Pair {
    std::uint64_t source = 0;  // number of the run
    std::uint64_t target = 0;
  };

  // What a pair of runs share, that and the pairs a period on `count` times.
  void add(const Pair& pair, std::uint64_t count) {
    const std::uint64_t begin = std::max(source_.start(pair.source), target_.start(pair.target));
    const std::uint64_t end =
        std::min(source_.start(pair.source) + source_.length, target_.start(pair.target) + target_.length);
    if (begin >= end || count == 0) return;
    SharedRuns shared{.begin = begin,
                      .length = end - begin,
                      .count = count,
                      .stride = 0,
                      .source = side_from(source_, pair.source, begin, source_period_),
                      .target = side_from(target_, pair.target, begin, target_period_)};
    if (count == 1) {
      shared.source.local_stride = shared.target.local_stride = 0;
    } else {
      shared.stride = source_period_ > 0 ? source_period_ * source_.stride : target_period_ * target_.stride;
      // Along a single run.
      if (source_period_ == 0) shared.source.local_stride = moved_by(shared.stride, source_.step);
      if (target_period_ == 0) shared.target.local_stride = moved_by(shared.stride, target_.step);
    }
    made_.push_back(shared);
  }

  // One side is a single run: the first and the last run of the other may reach over its ends.
  void inside_one_run() {
    const bool one_source = source_.count == 1;
    const LocalRuns& one = one_source ? source_ : target_;
    const LocalRuns& many = one_source ? target_ : source_;
    const Range met = runs_met(many, one.begin, one.begin + one.length);
    if (met.first >= met.end) return;
    const auto pair = [&](std::uint64_t k) {
      return one_source ? Pair{.source = 0, .target = k} : Pair{.source = k, .target = 0};
    };
    const std::uint64_t last = met.end - 1;
    add(pair(met.first), 1);
    if (last == met.first) return;
    add(pair(met.first + 1), last - met.first - 1);
    add(pair(last), 1);
  }

  // Pairs whose predecessors, a period before, are none.
  void periods() {
    const std::uint64_t period = source_period_ * source_.stride;
    const std::uint64_t end = std::max(source_.begin, target_.begin) + period;
    for (std::uint64_t i = 0; i < source_.count && source_.start(i) < end; ++i) {
      const Range met = runs_met(target_, source_.start(i), source_.start(i) + source_.length);
      for (std::uint64_t k = met.first; k < met.end; ++k) {
        if (i >= source_period_ && k >= target_period_) continue;
        add({.source = i, .target = k}, std::min(ceil_div(source_.count - i, source_period_),
                                                 ceil_div(target_.count - k, target_period_)));
      }
    }
  }

  struct Range {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };
  // The runs that have places from begin to before end.
  static Range runs_met(const LocalRuns& runs, std::uint64_t begin, std::uint64_t end) {
    if (end <= runs.begin) return {};
    if (runs.count == 1) return {.first = 0, .end = begin < runs.begin + runs.length ? 1U : 0U};
    const std::uint64_t first =
        begin < runs.begin + runs.length ? 0 : (begin - runs.begin - runs.length) / runs.stride + 1;
    return {.first = first, .end = std::min(runs.count, ceil_div(end - runs.begin, runs.stride))};
  }

  // Single runs of one length at one distance on all sides are one that repeats.
  std::vector<SharedRuns> joined() const {
    std::vector<SharedRuns> made;
    for (const SharedRuns& each : made_) {
      if (!made.empty() && continues(made.back(), each)) {
        SharedRuns& last = made.back();
        last.stride = (each.begin - last.begin) / last.count;
        last.source.local_stride =
            (each.source.local - last.source.local) / static_cast<std::int64_t>(last.count);
        last.target.local_stride =
            (each.target.local - last.target.local) / static_cast<std::int64_t>(last.count);
        ++last.count;
      } else {
        made.push_back(each);
      }
    }
    return made;
  }
  static bool continues(const SharedRuns& runs, const SharedRuns& next) {
    if (next.count != 1 || next.length != runs.length) return false;
    if (runs.count == 1) return true;
    const auto count = static_cast<std::int64_t>(runs.count);
    return next.begin == runs.begin + runs.count * runs.stride &&
           next.source.local == runs.source.local + count * runs.source.local_stride &&
           next.target.local == runs.target.local + count * runs.target.local_stride;
  }

  const LocalRuns& source_;
  const LocalRuns& target_;
  std::uint64_t source_period_ = 0;  // runs of each in a common period
  std::uint64_t target_period_ = 0;
  std::vector<SharedRuns> made_;
};

}  // namespace

LocalRuns flipped(const LocalRuns& runs, std::uint64_t extent) {
  LocalRuns made = runs;
  made.begin = extent - (runs.start(runs.count - 1) + runs.length);
  made.local = runs.local_start(runs.count - 1) + moved_by(runs.length - 1, runs.step);
  made.step = -runs.step;
  made.local_stride = -runs.local_stride;
  return made;
}

std::vector<LocalRuns> rolled(const LocalRuns& runs, std::uint64_t shift, std::uint64_t extent) {
  if (shift == 0) return {runs};
  std::vector<LocalRuns> made;
  const std::uint64_t turn = extent - shift;  // from here on places begin at 0 again
  const auto add = [&](std::uint64_t first, std::uint64_t end, std::uint64_t begin) {
    if (first >= end) return;
    LocalRuns part = runs;
    part.begin = begin;
    part.count = end - first;
    part.local = runs.local_start(first);
    made.push_back(part);
  };
  std::uint64_t before = 0;  // runs that end before the turn
  if (runs.begin + runs.length <= turn) {
    before = runs.count == 1 ? 1 : std::min(runs.count, (turn - runs.begin - runs.length) / runs.stride + 1);
  }
  add(0, before, runs.begin + shift);
  std::uint64_t behind = before;
  if (before < runs.count && runs.start(before) < turn) {
    const std::uint64_t begin = runs.start(before);
    const std::uint64_t length = turn - begin;
    LocalRuns head = runs;
    head.begin = begin + shift;
    head.length = length;
    head.count = 1;
    head.local = runs.local_start(before);
    LocalRuns tail = head;
    tail.begin = 0;
    tail.length = runs.length - length;
    tail.local += moved_by(length, runs.step);
    made.push_back(head);
    made.push_back(tail);
    ++behind;
  }
  if (behind < runs.count) add(behind, runs.count, runs.start(behind) - turn);
  return made;
}

std::vector<SharedRuns> shared_runs(const LocalRuns& source, const LocalRuns& target) {
  return Sharing(source, target).all();
}

}  // namespace faro::detail
