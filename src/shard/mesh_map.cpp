#include "shard/mesh_map.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "permutation/axis_map.hpp"
#include "permutation/cyclic_axes.hpp"

namespace faro::detail {
namespace {

// Index bits that change places, some of them flipped, as axes of two places.
std::optional<AxisMap> axes_of_bits(const Affine& map) {
  AxisMap made;
  for (int i = 0; i < map.bits(); ++i) {
    const f2::Word image = map.matrix().column(i);
    if (!std::has_single_bit(image)) return std::nullopt;
    const bool is_flipped = (map.complement() & image) != 0;
    const auto stride = static_cast<std::int64_t>(f2::unit(i));
    made.axes.push_back(
        {.extent = 2, .in = is_flipped ? -stride : stride, .out = static_cast<std::int64_t>(image)});
    if (is_flipped) made.in_first += stride;
  }
  return normal_form(std::move(made));
}

std::optional<AxisMap> axes_of(const Permutation& permutation) {
  if (auto map = axis_map(permutation)) return normal_form(*std::move(map));
  const std::optional<Affine> affine = affine_form(permutation);
  return affine ? axes_of_bits(*affine) : std::nullopt;
}

// Elements of one place of each axis, and at last 1 for the fastest.
std::vector<std::uint64_t> inner_extents(const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> inner(shape.size(), 1);
  for (std::size_t a = shape.size(); a-- > 1;) inner[a - 1] = inner[a] * shape[a];
  return inner;
}

std::uint64_t magnitude(std::int64_t stride) {
  return static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
}

// Splits axes until none lies across one of these, of `side`. Returns whether that can be.
bool split_at(std::vector<StridedAxis>& axes, const std::vector<std::uint64_t>& bounds,
              std::int64_t StridedAxis::*side) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (const std::uint64_t bound : bounds) {
      const std::uint64_t stride = magnitude(axes[i].*side);
      if (bound <= stride || bound >= stride * axes[i].extent) continue;
      if (bound % stride != 0) return false;
      const auto parts = split(axes[i], bound / stride);
      if (!parts) return false;
      axes[i] = parts->first;
      axes.push_back(parts->second);
    }
  }
  return true;
}

IndexDigit::Side side_of(std::uint64_t stride, const std::vector<std::uint64_t>& shape,
                         const std::vector<std::uint64_t>& inner) {
  for (std::size_t a = shape.size(); a-- > 0;) {
    if (stride < inner[a] * shape[a]) return {.axis = a, .weight = stride / inner[a]};
  }
  FARO_CHECK(false);
  return {};
}

// All choices of one of each list.
template <typename Item, typename Use>
void for_product(const std::vector<std::vector<Item>>& lists, const Use& use) {
  std::vector<std::size_t> at(lists.size(), 0);
  for (const std::vector<Item>& list : lists) {
    if (list.empty()) return;
  }
  for (;;) {
    use(at);
    std::size_t i = lists.size();
    while (i > 0 && ++at[i - 1] == lists[i - 1].size()) at[--i] = 0;
    if (i == 0) return;
  }
}

std::uint64_t elements_of(const std::vector<SharedBox>& boxes) {
  std::uint64_t sum = 0;
  for (const SharedBox& box : boxes) {
    std::uint64_t product = 1;
    for (const SharedRuns& runs : box) product *= runs.length * runs.count;
    sum += product;
  }
  return sum;
}

// The places from begin to before end of digits of such weights, the slowest first, as boxes of a range of
// each: what is left of a place of the slow digit at both ends, and whole ones in between.
using PlaceRanges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
struct DigitShape {
  std::uint64_t extent = 1;
  std::uint64_t weight = 1;
};
void cut_range(std::uint64_t begin, std::uint64_t end, const std::vector<DigitShape>& digits, std::size_t at,
               PlaceRanges& taken, std::vector<PlaceRanges>& made) {
  if (begin >= end) return;
  if (at == digits.size()) return made.push_back(taken);
  const std::uint64_t weight = digits[at].weight;
  const auto add = [&](std::uint64_t first, std::uint64_t last, std::uint64_t from, std::uint64_t to) {
    taken.emplace_back(first, last);
    cut_range(from, to, digits, at + 1, taken, made);
    taken.pop_back();
  };
  const std::uint64_t first = begin / weight;
  const std::uint64_t last = (end - 1) / weight;
  if (first == last) return add(first, first + 1, begin - first * weight, end - first * weight);
  const std::uint64_t whole_first = begin % weight == 0 ? first : first + 1;
  const std::uint64_t whole_end = end % weight == 0 ? last + 1 : last;
  if (whole_first != first) add(first, first + 1, begin % weight, weight);
  if (whole_first < whole_end) add(whole_first, whole_end, 0, weight);
  if (whole_end == last) add(last, last + 1, 0, end - last * weight);
}

}  // namespace

std::uint64_t MetCell::elements() const { return elements_of(boxes); }

std::optional<std::vector<IndexDigit>> index_digits(const Permutation& permutation,
                                                    const std::vector<std::uint64_t>& in_shape,
                                                    const std::vector<std::uint64_t>& out_shape) {
  std::optional<AxisMap> map = axes_of(permutation);
  if (!map) return std::nullopt;
  FARO_CHECK(map->unit == 1);
  const std::vector<std::uint64_t> in_inner = inner_extents(in_shape);
  const std::vector<std::uint64_t> out_inner = inner_extents(out_shape);
  if (!split_at(map->axes, in_inner, &StridedAxis::in) || !split_at(map->axes, out_inner, &StridedAxis::out))
    return std::nullopt;
  std::sort(map->axes.begin(), map->axes.end(),
            [](const StridedAxis& a, const StridedAxis& b) { return magnitude(a.in) > magnitude(b.in); });
  std::vector<IndexDigit> digits;
  digits.reserve(map->axes.size());
  for (const StridedAxis& axis : map->axes) {
    digits.push_back({.extent = axis.extent,
                      .in = side_of(magnitude(axis.in), in_shape, in_inner),
                      .out = side_of(magnitude(axis.out), out_shape, out_inner),
                      .is_flipped = axis.in < 0,
                      .shift = axis.shift});
  }
  return digits;
}

MeshMap::MeshMap(std::vector<IndexDigit> digits, const Holdings& in, const Holdings& out)
    : digits_(std::move(digits)), in_(in), out_(out) {
  find_components();
}

void MeshMap::find_components() {
  const std::size_t in_dials = in_.dials();
  const std::size_t dials = in_dials + out_.dials();
  std::vector<std::size_t> root(dials);
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto dial_of = [&](std::size_t digit, End end) {
    const std::size_t axis = side(digit, end).axis;
    const Holdings& of = holdings(end);
    const std::size_t dial = of.dials() == of.shape().size() ? axis : 0;
    return end == End::in ? dial : in_dials + dial;
  };
  for (std::size_t d = 0; d < digits_.size(); ++d) {
    const std::size_t from = root[dial_of(d, End::in)];
    const std::size_t to = root[dial_of(d, End::out)];
    std::replace(root.begin(), root.end(), from, to);
  }
  for (std::size_t each = 0; each < dials; ++each) {
    Component component;
    for (std::size_t dial = 0; dial < dials; ++dial) {
      if (root[dial] != each) continue;
      if (dial < in_dials) {
        component.in_dials.push_back(dial);
      } else {
        component.out_dials.push_back(dial - in_dials);
      }
    }
    if (component.in_dials.empty() && component.out_dials.empty()) continue;
    for (std::size_t d = 0; d < digits_.size(); ++d) {
      if (root[dial_of(d, End::in)] == each) component.digits.push_back(d);
    }
    components_.push_back(std::move(component));
  }
}

std::vector<std::size_t> MeshMap::digits_of(std::size_t axis, End end) const {
  std::vector<std::size_t> made;
  for (std::size_t d = 0; d < digits_.size(); ++d) {
    if (side(d, end).axis == axis) made.push_back(d);
  }
  std::sort(made.begin(), made.end(),
            [&](std::size_t a, std::size_t b) { return side(a, end).weight > side(b, end).weight; });
  return made;
}

std::vector<MeshMap::DigitBox> MeshMap::boxes_along(std::size_t axis, std::uint64_t place, End end) const {
  const std::vector<LocalRuns> all = holdings(end).runs(axis, place);
  const std::vector<std::size_t> digits = digits_of(axis, end);
  std::vector<DigitBox> made;
  if (digits.empty()) {  // an axis of one place
    if (!all.empty()) made.emplace_back();
    return made;
  }
  std::vector<DigitShape> shapes;
  shapes.reserve(digits.size());
  for (const std::size_t d : digits)
    shapes.push_back({.extent = digits_[d].extent, .weight = side(d, end).weight});
  for (const LocalRuns& runs : all) {
    if (digits.size() == 1) {
      made.push_back({{.of = digits[0], .runs = runs}});
      continue;
    }
    for (std::uint64_t k = 0; k < runs.count; ++k) {
      std::vector<PlaceRanges> boxes;
      PlaceRanges taken;
      cut_range(runs.start(k), runs.start(k) + runs.length, shapes, 0, taken, boxes);
      const std::int64_t moved = runs.local_start(k) - static_cast<std::int64_t>(runs.start(k));
      for (const PlaceRanges& box : boxes) {
        DigitBox& digit_box = made.emplace_back();
        for (std::size_t i = 0; i < digits.size(); ++i) {
          const auto weight = static_cast<std::int64_t>(shapes[i].weight);
          const auto [first, last] = box[i];
          digit_box.push_back(
              {.of = digits[i],
               .runs = {.begin = first,
                        .length = last - first,
                        .local = static_cast<std::int64_t>(first) * weight + (i == 0 ? moved : 0),
                        .step = weight}});
        }
      }
    }
  }
  return made;
}

std::vector<MeshMap::DigitBox> MeshMap::boxes_of(std::size_t dial, std::uint64_t place, End end) const {
  std::vector<std::vector<DigitBox>> lists;
  for (const std::size_t axis : holdings(end).axes_of(dial)) lists.push_back(boxes_along(axis, place, end));
  if (lists.size() == 1) return std::move(lists.front());
  std::vector<DigitBox> made;
  for_product(lists, [&](const std::vector<std::size_t>& at) {
    DigitBox& box = made.emplace_back();
    for (std::size_t i = 0; i < lists.size(); ++i)
      box.insert(box.end(), lists[i][at[i]].begin(), lists[i][at[i]].end());
  });
  return made;
}

// Boxes of the input by the output's places.
std::vector<MeshMap::DigitBox> MeshMap::by_output(const std::vector<DigitBox>& boxes) const {
  std::vector<DigitBox> made;
  for (const DigitBox& box : boxes) {
    std::vector<DigitBox> turned{{}};
    for (const DigitRuns& each : box) {
      const IndexDigit& digit = digits_[each.of];
      const LocalRuns runs = digit.is_flipped ? flipped(each.runs, digit.extent) : each.runs;
      std::vector<DigitBox> longer;
      for (const LocalRuns& part : rolled(runs, digit.shift, digit.extent)) {
        for (const DigitBox& begun : turned) {
          longer.push_back(begun);
          longer.back().push_back({.of = each.of, .runs = part});
        }
      }
      turned = std::move(longer);
    }
    made.insert(made.end(), turned.begin(), turned.end());
  }
  return made;
}

// The places of an axis that boxes may have, more where that is simpler. Boxes go by the output's places.
std::vector<LocalRuns> MeshMap::projected(const std::vector<DigitBox>& boxes, std::size_t axis,
                                          End end) const {
  const std::vector<std::size_t> digits = digits_of(axis, end);
  if (digits.empty()) return {{.begin = 0, .length = 1}};
  std::vector<LocalRuns> made;
  for (const DigitBox& box : boxes) {
    LocalRuns hull{.begin = 0, .length = 1};
    for (const DigitRuns& each : box) {
      const auto of_axis = std::find(digits.begin(), digits.end(), each.of);
      if (of_axis == digits.end()) continue;
      const IndexDigit& digit = digits_[each.of];
      std::vector<LocalRuns> parts{each.runs};
      if (end == End::in) {
        parts = rolled(each.runs, (digit.extent - digit.shift) % digit.extent, digit.extent);
        if (digit.is_flipped)
          for (LocalRuns& part : parts) part = flipped(part, digit.extent);
      }
      if (digits.size() == 1) {
        made.insert(made.end(), parts.begin(), parts.end());
        continue;
      }
      std::uint64_t first = digit.extent;
      std::uint64_t last = 0;
      for (const LocalRuns& part : parts) {
        first = std::min(first, part.begin);
        last = std::max(last, part.start(part.count - 1) + part.length - 1);
      }
      hull.begin += first * side(each.of, end).weight;
      hull.length += (last - first) * side(each.of, end).weight;
    }
    if (digits.size() > 1) made.push_back(hull);
  }
  return made;
}

std::vector<SharedBox> MeshMap::shared(const Component& component, const std::vector<DigitBox>& sources,
                                       const std::vector<DigitBox>& targets) const {
  std::vector<SharedBox> made;
  const auto runs_of = [](const DigitBox& box, std::size_t digit) -> const LocalRuns& {
    return std::find_if(box.begin(), box.end(), [&](const DigitRuns& each) { return each.of == digit; })
        ->runs;
  };
  for (const DigitBox& source : sources) {
    for (const DigitBox& target : targets) {
      std::vector<SharedBox> lists;
      bool is_empty = false;
      for (const std::size_t digit : component.digits) {
        lists.push_back(shared_runs(runs_of(source, digit), runs_of(target, digit)));
        is_empty = lists.back().empty();
        if (is_empty) break;
      }
      if (is_empty) continue;
      for_product(lists, [&](const std::vector<std::size_t>& at) {
        SharedBox& box = made.emplace_back();
        for (std::size_t i = 0; i < lists.size(); ++i) box.push_back(lists[i][at[i]]);
      });
    }
  }
  return made;
}

std::vector<MeshMap::Meeting> MeshMap::meetings(const Component& component, const Cell& fixed,
                                                End end) const {
  const End other = end == End::in ? End::out : End::in;
  const std::vector<std::size_t>& own_dials = end == End::in ? component.in_dials : component.out_dials;
  const std::vector<std::size_t>& other_dials = end == End::in ? component.out_dials : component.in_dials;
  // The boxes of several dials are all choices of one of each.
  const auto joined = [&](const std::vector<std::vector<DigitBox>>& lists, End of) {
    std::vector<DigitBox> boxes;
    for_product(lists, [&](const std::vector<std::size_t>& at) {
      DigitBox& box = boxes.emplace_back();
      for (std::size_t i = 0; i < lists.size(); ++i)
        box.insert(box.end(), lists[i][at[i]].begin(), lists[i][at[i]].end());
    });
    return of == End::in ? by_output(boxes) : boxes;
  };
  std::vector<std::vector<DigitBox>> own;
  own.reserve(own_dials.size());
  for (const std::size_t dial : own_dials) own.push_back(boxes_of(dial, fixed[dial], end));
  const std::vector<DigitBox> mine = joined(own, end);
  std::vector<Meeting> made;
  if (mine.empty()) return made;

  struct Candidate {
    std::uint64_t place = 0;
    std::vector<DigitBox> boxes;
  };
  std::vector<std::vector<Candidate>> candidates;
  for (const std::size_t dial : other_dials) {
    std::vector<std::vector<LocalRuns>> wanted;
    for (const std::size_t axis : holdings(other).axes_of(dial))
      wanted.push_back(projected(mine, axis, other));
    candidates.emplace_back();
    for (const std::uint64_t place : holdings(other).met(dial, wanted)) {
      std::vector<DigitBox> boxes = boxes_of(dial, place, other);
      if (!boxes.empty()) candidates.back().push_back({.place = place, .boxes = std::move(boxes)});
    }
  }
  for_product(candidates, [&](const std::vector<std::size_t>& at) {
    Meeting meeting;
    std::vector<std::vector<DigitBox>> lists;
    for (std::size_t i = 0; i < at.size(); ++i) {
      meeting.places.push_back(candidates[i][at[i]].place);
      lists.push_back(candidates[i][at[i]].boxes);
    }
    const std::vector<DigitBox> theirs = joined(lists, other);
    meeting.boxes = end == End::in ? shared(component, mine, theirs) : shared(component, theirs, mine);
    if (!meeting.boxes.empty()) made.push_back(std::move(meeting));
  });
  return made;
}

std::vector<MetCell> MeshMap::met(const Cell& fixed, End end) const {
  const End other = end == End::in ? End::out : End::in;
  std::vector<std::vector<Meeting>> all;
  all.reserve(components_.size());
  for (const Component& component : components_) all.push_back(meetings(component, fixed, end));
  std::vector<MetCell> made;
  for_product(all, [&](const std::vector<std::size_t>& at) {
    MetCell& met = made.emplace_back();
    met.cell.resize(holdings(other).dials());
    std::vector<std::vector<SharedBox>> lists;
    for (std::size_t c = 0; c < at.size(); ++c) {
      const Meeting& meeting = all[c][at[c]];
      const auto& dials = end == End::in ? components_[c].out_dials : components_[c].in_dials;
      for (std::size_t i = 0; i < dials.size(); ++i) met.cell[dials[i]] = meeting.places[i];
      lists.push_back(meeting.boxes);
    }
    for_product(lists, [&](const std::vector<std::size_t>& chosen) {
      SharedBox& box = met.boxes.emplace_back(digits_.size());
      for (std::size_t c = 0; c < chosen.size(); ++c) {
        for (std::size_t i = 0; i < components_[c].digits.size(); ++i)
          box[components_[c].digits[i]] = lists[c][chosen[c]][i];
      }
    });
  });
  return made;
}

std::vector<MetCell> MeshMap::met_targets(const Cell& source) const { return met(source, End::in); }
std::vector<MetCell> MeshMap::met_sources(const Cell& target) const { return met(target, End::out); }

std::uint64_t MeshMap::most_boxes() const {
  constexpr std::uint64_t most_places = 16;
  std::uint64_t product = 1;
  const auto count = [&](End end, std::size_t dial) {
    std::size_t most = 1;
    for (std::uint64_t place = 0; place < std::min(most_places, holdings(end).places(dial)); ++place)
      most = std::max(most, boxes_of(dial, place, end).size());
    constexpr std::uint64_t enough = 1U << 20;
    product = std::min(enough, product * most);
  };
  for (const Component& component : components_) {
    if (component.digits.size() < 2) continue;
    for (const std::size_t dial : component.in_dials) count(End::in, dial);
    for (const std::size_t dial : component.out_dials) count(End::out, dial);
  }
  return product;
}

const std::vector<MeshMap::CountedPlaces>& MeshMap::counted(std::size_t component, const Cell& source,
                                                            KeptCounts& kept) const {
  Cell places;
  for (const std::size_t dial : components_[component].in_dials) places.push_back(source[dial]);
  const auto [at, is_new] = kept.try_emplace({component, std::move(places)});
  if (is_new) {
    for (const Meeting& meeting : meetings(components_[component], source, End::in))
      at->second.push_back({.places = meeting.places, .elements = elements_of(meeting.boxes)});
  }
  return at->second;
}

std::vector<MeshMap::Counted> MeshMap::counted_targets(const Cell& source, KeptCounts& kept) const {
  std::vector<Counted> made{{.cell = Cell(out_.dials()), .elements = 1}};
  for (std::size_t c = 0; c < components_.size(); ++c) {
    const std::vector<CountedPlaces>& lists = counted(c, source, kept);
    std::vector<Counted> longer;
    longer.reserve(made.size() * lists.size());
    for (const Counted& begun : made) {
      for (const CountedPlaces& each : lists) {
        Counted& next = longer.emplace_back(begun);
        for (std::size_t i = 0; i < each.places.size(); ++i)
          next.cell[components_[c].out_dials[i]] = each.places[i];
        next.elements *= each.elements;
      }
    }
    made = std::move(longer);
  }
  return made;
}

}  // namespace faro::detail
