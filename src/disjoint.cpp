#include "disjoint.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"

namespace faro::detail {
namespace {

__extension__ using Wide = __int128;  // addresses times extents
__extension__ using Natural = unsigned __int128;

// A term of an equation: step x, 0 <= x <= most.
struct Term {
  Natural step;
  Natural most;
};

// sum of step x + u = wanted, 0 <= u <= slack. All steps are positive: a negative one is counted from its
// other end.
class BoundedSum {
 public:
  BoundedSum(std::vector<Term> terms, Natural slack) : terms_(std::move(terms)), slack_(slack) {
    std::erase_if(terms_, [](const Term& term) { return term.most == 0; });
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.step > b.step; });
    for (std::size_t k = 1; k < terms_.size();) {  // two of one step are one
      if (terms_[k].step != terms_[k - 1].step) {
        ++k;
        continue;
      }
      terms_[k - 1].most += terms_[k].most;
      terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    reach_.resize(terms_.size() + 1, slack_);
    divisor_.resize(terms_.size() + 1, 0);
    for (std::size_t k = terms_.size(); k-- > 0;) {
      reach_[k] = reach_[k + 1] + terms_[k].step * terms_[k].most;
      divisor_[k] = gcd(divisor_[k + 1], terms_[k].step);
    }
  }

  bool has_solution(Wide wanted) {
    steps_ = 0;
    return wanted >= 0 && has_solution_from(0, static_cast<Natural>(wanted));
  }

 private:
  static Natural gcd(Natural a, Natural b) {
    while (b != 0) a = std::exchange(b, a % b);
    return a;
  }

  bool has_solution_from(std::size_t k, Natural wanted) {
    constexpr int kMostSteps = 1 << 14;
    if (++steps_ > kMostSteps) return true;
    if (wanted > reach_[k]) return false;
    if (wanted <= slack_) return true;
    if (k == terms_.size() || wanted % divisor_[k] > slack_) return false;
    const Term& term = terms_[k];
    const Natural rest = reach_[k + 1];
    const Natural least = wanted <= rest ? 0 : (wanted - rest + term.step - 1) / term.step;
    for (Natural x = std::min(term.most, wanted / term.step) + 1; x-- > least;) {
      if (has_solution_from(k + 1, wanted - x * term.step)) return true;
    }
    return false;
  }

  std::vector<Term> terms_;  // the greatest step first
  Natural slack_;
  std::vector<Natural> reach_;    // the greatest sum of terms k and on
  std::vector<Natural> divisor_;  // of their steps
  int steps_ = 0;
};

struct ByteRange {
  Wide begin = 0;
  Wide end = 0;  // none where both are equal
};

ByteRange range_of(const LaidArray& array) {
  ByteRange range;
  range.begin = range.end = static_cast<Wide>(reinterpret_cast<std::uintptr_t>(array.address));
  if (array.element_bytes == 0) return range;
  for (std::size_t axis = 0; axis < array.extents.size(); ++axis) {
    if (array.extents[axis] == 0) return {range.begin, range.begin};
  }
  range.end += static_cast<Wide>(array.element_bytes);
  for (std::size_t axis = 0; axis < array.extents.size(); ++axis) {
    const Wide reach =
        static_cast<Wide>(array.stride_bytes[axis]) * static_cast<Wide>(array.extents[axis] - 1);
    (reach < 0 ? range.begin : range.end) += reach;
  }
  return range;
}

Natural size_of(std::int64_t stride) {
  return stride < 0 ? Natural{0} - static_cast<Natural>(static_cast<Wide>(stride))
                    : static_cast<Natural>(stride);
}

void append_terms(std::vector<Term>& terms, const LaidArray& array) {
  for (std::size_t axis = 0; axis < array.extents.size(); ++axis) {
    if (array.stride_bytes[axis] != 0)
      terms.push_back({size_of(array.stride_bytes[axis]), array.extents[axis] - 1});
  }
}

// Requires: ranges that meet.
bool share_within_ranges(const LaidArray& a, const ByteRange& a_range, const LaidArray& b,
                         const ByteRange& b_range) {
  // From a's lowest byte up by its strides, and down by b's from the highest of b: a.begin + … + u = b.end -
  // 1 - … - v.
  std::vector<Term> terms;
  append_terms(terms, a);
  append_terms(terms, b);
  const Natural slack = static_cast<Natural>(a.element_bytes - 1) + static_cast<Natural>(b.element_bytes - 1);
  return BoundedSum(std::move(terms), slack).has_solution(b_range.end - 1 - a_range.begin);
}

bool meet(const ByteRange& a, const ByteRange& b) {
  return a.begin < a.end && b.begin < b.end && a.begin < b.end && b.begin < a.end;
}

[[noreturn]] void refuse_shared(const char* operation, const RunArray& output, const RunArray& other,
                                const char* remedy) {
  const bool is_one = output.laid.address == other.laid.address;
  fail(ErrorCode::value, operation,
       is_one ? std::string("one array as ") + other.name + " and " + output.name
              : std::string("overlapping arrays, ") + output.name + " and " + other.name,
       "two disjoint arrays", remedy);
}

[[noreturn]] void refuse_own(const char* operation, const RunArray& output, const char* remedy) {
  fail(ErrorCode::value, operation, std::string(output.name) + " whose own elements overlap",
       "an array whose elements are disjoint", remedy);
}

}  // namespace

bool share_bytes(const LaidArray& a, const LaidArray& b) {
  const ByteRange first = range_of(a);
  const ByteRange second = range_of(b);
  return meet(first, second) && share_within_ranges(a, first, b, second);
}

bool shares_own_bytes(const LaidArray& array) {
  const ByteRange range = range_of(array);
  if (range.begin == range.end) return false;
  std::vector<Term> terms;
  for (std::size_t axis = 0; axis < array.extents.size(); ++axis) {
    if (array.extents[axis] > 1)
      terms.push_back({size_of(array.stride_bytes[axis]), array.extents[axis] - 1});
  }
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.step < b.step; });
  // Two elements whose indices differ by d share a byte where the sum of step d is less than an element's
  // width, up or down. The axis of the greatest step whose indices differ is k, and its d is 1 or more; d of
  // the axes below has any sign, so that d + most is counted, from 0 to 2 most.
  std::vector<Term> below;
  Natural reach = array.element_bytes - 1;
  for (const Term& term : terms) {
    if (term.step == 0) return true;
    if (term.step <= reach) {
      std::vector<Term> all = below;
      all.push_back({term.step, term.most - 1});
      Wide wanted = static_cast<Wide>(reach) - static_cast<Wide>(term.step);
      if (BoundedSum(std::move(all), 2 * static_cast<Natural>(array.element_bytes - 1)).has_solution(wanted))
        return true;
    }
    below.push_back({term.step, 2 * term.most});
    reach += term.step * term.most;
  }
  return false;
}

void check_disjoint(const char* operation, std::span<const RunArray> outputs,
                    std::span<const RunArray> inputs, const char* remedy) {
  struct Ranged {
    ByteRange range;
    const RunArray* array;
    bool is_output;
  };
  std::vector<Ranged> all;
  all.reserve(outputs.size() + inputs.size());
  const auto append = [&all](std::span<const RunArray> arrays, bool is_output) {
    for (const RunArray& each : arrays) {
      const ByteRange range = range_of(each.laid);
      if (range.begin < range.end) all.push_back({range, &each, is_output});
    }
  };
  append(outputs, true);
  append(inputs, false);
  for (const Ranged& each : all) {
    if (each.is_output && shares_own_bytes(each.array->laid)) refuse_own(operation, *each.array, remedy);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Ranged& a, const Ranged& b) { return a.range.begin < b.range.begin; });
  std::vector<const Ranged*> open;  // those that end behind where the next begins
  for (const Ranged& each : all) {
    std::erase_if(open, [&each](const Ranged* before) { return before->range.end <= each.range.begin; });
    for (const Ranged* before : open) {
      if (!each.is_output && !before->is_output) continue;
      if (!share_within_ranges(each.array->laid, each.range, before->array->laid, before->range)) continue;
      const bool is_written = each.is_output;
      refuse_shared(operation, is_written ? *each.array : *before->array,
                    is_written ? *before->array : *each.array, remedy);
    }
    open.push_back(&each);
  }
}

void check_disjoint(const char* operation, const RunArray& output, std::initializer_list<RunArray> inputs,
                    const char* remedy) {
  if (shares_own_bytes(output.laid)) refuse_own(operation, output, remedy);
  for (const RunArray& input : inputs) {
    if (share_bytes(output.laid, input.laid)) refuse_shared(operation, output, input, remedy);
  }
}

}  // namespace faro::detail
