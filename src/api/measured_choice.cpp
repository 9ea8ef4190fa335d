#include "api/measured_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "faro/error.hpp"
#include "faro/measure.hpp"

namespace faro::detail {
namespace {

// The ways that differ from `best` in one thing.
using Vary = std::function<std::vector<CpuChoice>(const CpuChoice& best)>;

std::vector<Vary> variations(const Target& target, const std::vector<IndexMethod>& methods) {
  constexpr std::uint64_t kLeastSegment = 64;
  constexpr std::uint64_t kMostSegment = 4096;
  const auto sizes = [](std::uint64_t least, std::uint64_t most, std::uint64_t CpuChoice::*size) {
    return [=](const CpuChoice& best) {
      std::vector<CpuChoice> made;
      for (std::uint64_t bytes = least; bytes <= most; bytes *= 2) {
        made.push_back(best);
        made.back().*size = bytes;
      }
      return made;
    };
  };
  std::vector<Vary> all;
  all.push_back([methods](const CpuChoice& best) {
    std::vector<CpuChoice> made;
    for (const IndexMethod method : methods) {
      made.push_back(best);
      made.back().method = method;
    }
    return made;
  });
  all.push_back([](const CpuChoice& best) {
    std::vector<CpuChoice> made(2, best);
    made[0].stores = Stores::cached;
    made[1].stores = Stores::streamed;
    return made;
  });
  all.push_back(sizes(kLeastSegment, kMostSegment, &CpuChoice::segment_bytes));
  all.push_back(sizes(target.tile_bytes_max / 4, target.tile_bytes_max, &CpuChoice::tile_bytes));
  all.push_back([threads = target.threads](const CpuChoice& best) {
    std::vector<CpuChoice> made;
    for (int fewer = 1; fewer < threads; fewer *= 2) {
      made.push_back(best);
      made.back().threads = fewer;
    }
    return made;
  });
  return all;
}

}  // namespace

std::string to_text(const CpuChoice& choice) {
  std::vector<std::string> parts;
  if (choice.method) parts.push_back(std::string("method ") + name(*choice.method));
  if (choice.stores != Stores::planned)
    parts.push_back(choice.stores == Stores::cached ? "written through the caches"
                                                    : "written past the caches");
  if (choice.segment_bytes != 0)
    parts.push_back(fmt::format("segments of at most {} bytes", choice.segment_bytes));
  if (choice.tile_bytes != 0) parts.push_back(fmt::format("tiles of at most {} bytes", choice.tile_bytes));
  if (choice.threads != 0)
    parts.push_back(choice.threads == 1 ? "one thread" : fmt::format("{} threads", choice.threads));
  return parts.empty() ? "as planned" : fmt::format("{}", fmt::join(parts, ", "));
}

Target chosen(Target target, const CpuChoice& choice) {
  if (choice.stores == Stores::cached) target.streaming_bytes = std::numeric_limits<std::uint64_t>::max();
  if (choice.stores == Stores::streamed) target.streaming_bytes = 0;
  if (choice.segment_bytes != 0) target.segment_bytes_max = choice.segment_bytes;
  if (choice.tile_bytes != 0) target.tile_bytes_max = std::min(target.tile_bytes_max, choice.tile_bytes);
  if (choice.threads != 0) target.threads = std::min(target.threads, choice.threads);
  return target;
}

CpuChoice measured_choice(const Target& target, const std::vector<IndexMethod>& methods,
                          const std::function<ReadyPlan(const CpuChoice&)>& make) {
  constexpr double kBudgetMs = 300;  // of one thing that is varied
  constexpr int kRounds = 3;
  constexpr double kWorthIt = 0.97;  // less is noise
  CpuChoice best;
  for (const Vary& vary : variations(target, methods)) {
    std::vector<CpuChoice> choices{best};
    std::vector<ReadyPlan> ready;
    ready.push_back(make(best));
    for (const CpuChoice& each : vary(best)) {
      try {
        ReadyPlan made = make(each);
        const auto same = [&](const ReadyPlan& other) { return other.signature == made.signature; };
        if (std::any_of(ready.begin(), ready.end(), same)) continue;
        ready.push_back(std::move(made));
        choices.push_back(each);
      } catch (const Error&) {  // a method that does not apply
      }
    }
    if (ready.size() == 1 && best.microseconds > 0) continue;
    std::vector<std::function<void()>> runs;
    runs.reserve(ready.size());
    for (const ReadyPlan& each : ready) runs.push_back(each.run);
    const std::vector<double> ms = quietest_medians_ms(runs, kRounds, {.budget_ms = kBudgetMs});
    const auto least = static_cast<std::size_t>(std::min_element(ms.begin(), ms.end()) - ms.begin());
    const std::size_t winner = ms[least] < kWorthIt * ms[0] ? least : 0;
    best = choices[winner];
    constexpr double kUsInMs = 1e3;
    best.microseconds = ms[winner] * kUsInMs;
  }
  return best;
}

}  // namespace faro::detail
