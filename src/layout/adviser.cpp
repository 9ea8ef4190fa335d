#include "faro/layout/adviser.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "faro/error.hpp"
#include "layout/candidates.hpp"

namespace faro::layout {
namespace {

// The first access set that was recorded and follows no rule.
const AccessSet* unruly_access(const AdviceRequest& request) {
  for (const AccessSet& set : request.accesses) {
    if (set.recorded && !phases_up_to_shift(request.array, set).linear) return &set;
  }
  return nullptr;
}

std::string memory_text(const Candidate& candidate) {
  if (candidate.extra_bytes == 0) return "takes no more memory";
  return fmt::format("takes {} bytes more", candidate.extra_bytes);
}

// What a candidate is, after "it is ".
std::string virtue_of(const Candidate& candidate) {
  const bool holds = std::all_of(candidate.costs.begin(), candidate.costs.end(),
                                 [](const AccessCost& cost) { return cost.holds_always; });
  switch (candidate.placement.kind) {
    case PlacementKind::raw:
      return "the natural order";
    case PlacementKind::cute:
      return "an exclusive or of two fields of the index, which CuTe has as well";
    case PlacementKind::exclusive_or:
      return "an exclusive or of index bits, more than one Swizzle can do";
    case PlacementKind::padded:
      return fmt::format("rows of {} elements", candidate.placement.array.columns + candidate.placement.pad);
    case PlacementKind::rap:
      break;
  }
  return holds ? "random turns, and the figures hold for every seed" : "random turns, counted for many seeds";
}

std::string reason_for(const Advice& advice, const AccessSet* unruly) {
  const Candidate& chosen = advice.chosen();
  const std::string virtue = virtue_of(chosen);
  if (chosen.placement.kind == PlacementKind::raw && chosen.worst() <= 1) {
    return "the natural order is free of conflicts already";
  }
  if (chosen.placement.kind == PlacementKind::rap && unruly != nullptr) {
    return fmt::format(
        "{} follows no rule, and no fixed layout is free of conflicts on it; {} has the same few expected "
        "conflicts "
        "for every access, also for those of the next run",
        unruly->text, chosen.placement.name());
  }
  const std::string proof = chosen.proven_by_ranks ? " (counted, and proven by ranks)" : " (counted)";
  if (chosen.worst() <= 1) {
    return fmt::format("free of conflicts{}; it {}; it is {}", proof, memory_text(chosen), virtue);
  }
  return fmt::format("no candidate is free of conflicts; this one has the least worst congestion, {}: {}",
                     chosen.worst(), virtue);
}

void add_remarks(Advice& advice, XorVerdict verdict) {
  const Candidate& natural = advice.candidates.front();
  if (natural.worst() > 1 && verdict != XorVerdict::found) {
    advice.remarks.push_back(
        verdict == XorVerdict::impossible
            ? "no exclusive or of the banks with higher index bits is free of conflicts: the search was "
              "exhaustive"
            : "no exclusive or that is free of conflicts was found; the search was cut short");
  }
  if (const Index widest = widest_vector(advice.request); widest > 1) {
    advice.remarks.push_back(
        fmt::format("every layout keeps vectors of {} elements whole and aligned", widest));
  }
  for (const AccessSet& set : advice.request.accesses) {
    if (set.vector_elements * advice.request.array.element_bytes >= 4 || advice.chosen().worst() <= 1)
      continue;
    advice.remarks.push_back(
        fmt::format("{} moves less than a word a lane; a wider vector would need fewer banks", set.text));
    break;
  }
}

}  // namespace

Advice advise(const AdviceRequest& request) {
  if (request.accesses.empty()) {
    fail(ErrorCode::value, "advise on a layout", "no access",
         "what the kernel does with the array, such as row and column");
  }
  Advice advice{.request = request, .candidates = {}, .choice = 0, .reason = {}, .cute = {}, .remarks = {}};
  advice.candidates.push_back(natural_candidate(request));
  LinearCandidates linear = linear_candidates(request, advice.candidates.front());
  std::optional<Candidate> padded = padded_candidate(request, advice.candidates.front());
  if (linear.cute && !linear.exclusive_or) advice.cute = linear.cute->placement.cute;
  for (std::optional<Candidate>* candidate : {&linear.cute, &linear.exclusive_or, &padded}) {
    if (*candidate) advice.candidates.push_back(std::move(**candidate));
  }
  const std::size_t fixed = advice.candidates.size();
  // Rounded up to whole bank rows, the array may be too large.
  Candidate rap = rap_candidate(request);
  if (request.array.bytes() + rap.extra_bytes <= kMaxSharedBytes) advice.candidates.push_back(std::move(rap));

  for (std::size_t k = 1; k < advice.candidates.size(); ++k) {
    if (is_better(advice.candidates[k], advice.chosen())) advice.choice = k;
  }
  const AccessSet* const unruly = unruly_access(request);
  const bool some_fixed_is_free =
      std::any_of(advice.candidates.begin(), advice.candidates.begin() + static_cast<std::ptrdiff_t>(fixed),
                  [](const Candidate& candidate) { return candidate.worst() <= 1; });
  if (unruly != nullptr && !some_fixed_is_free && fixed < advice.candidates.size()) advice.choice = fixed;
  advice.reason = reason_for(advice, unruly);
  add_remarks(advice, linear.verdict);
  return advice;
}

}  // namespace faro::layout
