#include "layout/box_choice.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "faro/error.hpp"
#include "layout/box_search.hpp"
#include "rounding.hpp"

namespace faro::layout {
namespace {

using detail::at;
using detail::BoxSearch;
using detail::contains;
using detail::kBoxSector;
using detail::kBoxVector;
using detail::magnitude;
using faro::detail::ceil_div;

constexpr std::uint32_t kBoxUnitsMost = 60000;
constexpr std::uint32_t kBoxPlaces = 1 << 16;   // places have 16 bits
constexpr std::uint64_t kBoxLongTrial = 2048;   // bytes of a run, where it alone makes a box
constexpr std::uint64_t kBoxEntriesMost = 640;  // rows of both sides, among the kernel's parameters

BoxSearch search_of(const std::vector<StridedAxis>& axes, int unit_bytes, const BoxLimits& limits) {
  BoxSearch search{.axes = axes, .unit_bytes = unit_bytes, .limits = limits};
  search.out_order.resize(axes.size());
  std::iota(search.out_order.begin(), search.out_order.end(), 0);
  search.in_order = search.out_order;
  std::stable_sort(search.in_order.begin(), search.in_order.end(), [&](int a, int b) {
    const std::uint64_t of_a = magnitude(axes[at(a)].in);
    const std::uint64_t of_b = magnitude(axes[at(b)].in);
    return of_a != 0 && (of_b == 0 || of_a < of_b);
  });
  search.in_moving = static_cast<std::size_t>(
      std::count_if(axes.begin(), axes.end(), [](const StridedAxis& axis) { return axis.in != 0; }));
  return search;
}

// --- one box

// Whether the axis in this place of both orders is one, and what is faster than it is the same on both sides:
// an axis of arrays that follow one another, each of which is permuted in itself.
bool is_of_arrays(const BoxSearch& search, std::size_t place) {
  if (place == 0 || place >= search.in_moving || search.in_order[place] != search.out_order[place])
    return false;
  return std::all_of(search.in_order.begin(), search.in_order.begin() + static_cast<std::ptrdiff_t>(place),
                     [&](int axis) {
                       const auto end = search.out_order.begin() + static_cast<std::ptrdiff_t>(place);
                       return std::find(search.out_order.begin(), end, axis) != end;
                     });
}

// Bytes of what is faster than that place.
std::uint64_t faster_bytes(const BoxSearch& search, std::size_t place) {
  std::uint64_t units = 1;
  for (std::size_t i = 0; i < place; ++i) units *= search.axes[at(search.in_order[i])].extent;
  return search.bytes64(units);
}

// How far a run goes without a gap.
template <typename StrideOf>
std::uint64_t contiguous_units(const StridedBox& box, const std::vector<int>& run, const StrideOf& stride) {
  std::int64_t units = 1;
  for (const int axis : run) {
    if (stride(box.axes[at(axis)]) != units) break;
    units *= box.extent[at(axis)];
    if (box.extent[at(axis)] < box.axes[at(axis)].extent) break;
  }
  return static_cast<std::uint64_t>(units);
}

// Longer runs have fewer rows, where they are no longer than lanes.
constexpr std::uint32_t kBoxLongRun = 256;
constexpr std::uint32_t kBoxLongRead = 512;
// Rows of ragged boxes that are shorter than a line are joined to the next where these follow them, for a
// row's first and last vector are mostly others'.
constexpr std::uint64_t kBoxShortRow = 128;    // bytes
constexpr std::uint32_t kBoxJoinedRow = 8192;  // units

// A run goes along the first axes up to `last`, and on while it is short; along `most_axes` at most.
template <typename StrideOf>
BoxWalk walk(const StridedBox& box, const std::vector<int>& order, const std::vector<int>& other_order,
             std::size_t last, std::size_t most_axes, std::uint32_t longest, const StrideOf& stride) {
  BoxWalk result;
  result.run.reserve(order.size());
  result.rest.reserve(other_order.size());
  const auto whole = [&](int axis) { return box.extent[at(axis)] == box.axes[at(axis)].extent; };
  for (std::size_t i = 0; i < std::min(order.size(), most_axes); ++i) {
    const int axis = order[i];
    const std::uint32_t extent = box.extent[at(axis)];
    if (i > last && (extent == 1 || !whole(order[i - 1]) || result.units * extent > longest)) break;
    result.run.push_back(axis);
    result.units *= extent;
  }
  for (const int axis : other_order) {
    if (box.extent[at(axis)] > 1 && stride(box.axes[at(axis)]) != 0 && !contains(result.run, axis)) {
      result.rest.push_back(axis);
    }
  }
  result.contiguous = contiguous_units(box, order, stride);
  return result;
}

// None where the input has stride 0.
int first_axis(const BoxWalk& walk) { return walk.run.empty() ? -1 : walk.run.front(); }

std::int64_t in_stride(const StridedAxis& axis) { return axis.in; }
std::int64_t out_stride(const StridedAxis& axis) { return axis.out; }

// Whether every run of a walk begins and ends at vectors of so many units.
template <typename StrideOf>
bool vectors_fit(const StridedBox& box, const BoxWalk& walk, std::uint64_t vector, const StrideOf& stride) {
  if (walk.contiguous < walk.units || walk.units % vector != 0) return false;
  std::uint64_t inner = 1;  // units of a step along the run's slowest axis
  for (std::size_t i = 0; i + 1 < walk.run.size(); ++i) inner *= box.extent[at(walk.run[i])];
  for (std::size_t a = 0; a < box.axes.size(); ++a) {
    const int axis = static_cast<int>(a);
    const std::uint64_t step = magnitude(stride(box.axes[a]));
    if (!contains(walk.run, axis)) {
      if (step % vector != 0) return false;
    } else if (axis == walk.run.back() && box.cut(axis)) {
      if (box.axes[a].extent * inner % vector != 0 || box.extent[a] * step % vector != 0) return false;
    }
  }
  return true;
}

// How far what lies together is aligned, in units.
template <typename StrideOf>
std::uint64_t run_alignment(const StridedBox& box, const BoxWalk& side, const StrideOf& stride) {
  std::uint64_t common = 0;
  for (std::size_t a = 0; a < box.axes.size(); ++a) {
    const std::uint64_t step = magnitude(stride(box.axes[a]));
    const bool inside = step < side.contiguous;
    if (!inside) common = std::gcd(common, step);
    if (inside && box.cut(static_cast<int>(a))) common = std::gcd(common, step * box.extent[a]);
  }
  return common;
}

// Whether the output is better written from single units than in the pieces that words leave of it, which are
// apart: where neighbouring pieces share sectors, which are then written in parts. `pieces`: the run without
// the word's axis.
bool units_suit(const StridedBox& box, const BoxWalk& pieces) {
  const auto bytes = [&](std::uint64_t units) { return units * static_cast<unsigned>(box.unit_bytes); };
  const std::uint64_t vector = kBoxVector / static_cast<unsigned>(box.unit_bytes);
  return pieces.units < box.out.contiguous && bytes(pieces.units) % kBoxSector != 0 &&
         bytes(run_alignment(box, box.out, out_stride)) % kBoxSector == 0 &&
         vectors_fit(box, box.in, vector, in_stride) && vectors_fit(box, box.out, vector, out_stride);
}

// The widest accesses of both sides, and whether units are moved as words.
void choose_vectors(const BoxSearch& search, StridedBox& box) {
  const auto unit = static_cast<std::uint32_t>(box.unit_bytes);
  if (!search.limits.vectors) return;
  const int first_in = first_axis(box.in);
  const int first_out = box.out.run.front();
  const auto widest = [&](const BoxWalk& side, const auto& stride, std::uint32_t least) {
    for (std::uint32_t bytes = kBoxVector; bytes > least; bytes /= 2) {
      if (unit < 4 && bytes != 4 && bytes != kBoxVector) continue;  // words, or vectors
      if (vectors_fit(box, side, bytes / unit, stride)) return static_cast<int>(bytes / unit);
    }
    return 1;
  };
  if (unit < 4) {
    const std::uint32_t words = 4 / unit;
    if (first_in < 0 || first_in == first_out || box.extent[at(first_in)] % words != 0 ||
        box.axes[at(first_in)].extent % words != 0) {
      return;
    }
    const int in_vector = widest(box.in, in_stride, unit);
    if (in_vector == 1) return;
    // The units of a word are apart in the output, and so outside of its run.
    BoxWalk out = box.out;
    const auto cut_off = std::find(out.run.begin(), out.run.end(), first_in);
    if (cut_off != out.run.end()) {
      if (box.cut(box.q) && contains(out.run, box.q)) return;
      for (auto axis = cut_off; axis != out.run.end(); ++axis) out.units /= box.extent[at(*axis)];
      out.rest.insert(out.rest.begin(), cut_off, out.run.end());
      out.run.erase(cut_off, out.run.end());
    }
    if (units_suit(box, out)) {
      box.in.vector = box.out.vector = static_cast<int>(kBoxVector / unit);
      return;
    }
    out.vector = widest(out, out_stride, unit);
    while (out.vector > 1 && box.extent[at(first_out)] % static_cast<unsigned>(out.vector) != 0) {
      out.vector = out.vector * box.unit_bytes == 16 ? 4 / box.unit_bytes : 1;
    }
    if (out.vector == 1) return;
    box.out = std::move(out);
    box.in.vector = in_vector;
    box.words = static_cast<int>(words);
    return;
  }
  box.out.vector = widest(box.out, out_stride, unit);
  // Lanes that write single units read one row, which rows at vectors do not let them do at once.
  if (box.out.vector > 1 && first_in >= 0) box.in.vector = widest(box.in, in_stride, unit);
}

// The parts in the order in which the input is read.
void make_parts(StridedBox& box) {
  const auto vector = static_cast<std::uint32_t>(box.in.vector);
  const int first_in = first_axis(box.in);
  const int first_out = box.out.run.front();
  box.clean = first_in < 0 || box.extent[at(first_in)] % vector == 0;
  std::uint64_t inside = 1;
  box.parts.reserve(2 * box.axes.size());  // an axis has two at most
  const auto push = [&](int axis, std::uint32_t extent, std::uint32_t step, bool pad) {
    if (extent > 1) box.parts.push_back({.axis = axis, .extent = extent, .step = step, .pad = pad});
  };
  const auto out_vector = static_cast<std::uint32_t>(box.out.vector);
  const auto words = static_cast<std::uint32_t>(box.words);
  const auto push_axis = [&](int axis, bool pad) {
    const std::uint32_t extent = box.extent[at(axis)];
    if (axis == first_in) return push(axis, extent / words, words, pad);
    if (axis != first_out || out_vector == 1 || extent % out_vector != 0) return push(axis, extent, 1, pad);
    push(axis, out_vector, 1, pad);
    push(axis, extent / out_vector, out_vector, pad);
  };
  for (const int axis : box.in.run) {
    const std::uint32_t extent = box.extent[at(axis)];
    const bool joint = inside % vector == 0 && axis != first_in;
    inside *= extent;
    if (axis != first_in || !box.clean || vector == words) {
      push_axis(axis, joint);
      continue;
    }
    push(axis, vector / words, words, false);
    push(axis, extent / vector, vector, false);
  }
  for (const int axis : box.in.rest) push_axis(axis, true);
  // Single units of a word have rows that follow one another in the output.
  box.near = 1;
  if (box.unit_bytes < 4 && words == 1) return;
  // Where the axes of a vector are the fastest of the output's rows, rows follow one another as its words do.
  std::size_t together = 0;
  for (std::uint64_t units = 1; together < box.in.run.size() && (together == 0 || units % vector != 0);) {
    units *= box.extent[at(box.in.run[together++])];
  }
  const std::vector<int>& rest = box.out.rest;
  box.near = together <= rest.size() &&
                     std::equal(box.in.run.begin(),
                                box.in.run.begin() + static_cast<std::ptrdiff_t>(together), rest.begin())
                 ? box.grain()
                 : 1;
}

// Whether both sides of a box go by whole vectors, or by words that are turned to them.
bool by_vectors(const StridedBox& box) {
  const int least = box.words > 1 ? 4 : static_cast<int>(kBoxVector);  // bytes
  const auto wide = [&](const BoxWalk& side) { return side.vector * box.unit_bytes >= least; };
  return wide(box.in) && wide(box.out);
}

// Large boxes leave a multiprocessor few blocks, which more threads each keep busy.
std::uint32_t threads_of(const BoxSearch& search, const StridedBox& box, bool ragged) {
  const BoxLimits& limits = search.limits;
  const auto is_wide = [&](const BoxWalk& side) { return side.vector > 1 || box.unit_bytes == 16; };
  const bool has_kernel = box.unit_bytes >= 4 && (ragged || (is_wide(box.in) && is_wide(box.out)));
  const std::uint32_t large = ragged ? limits.large_ragged_bytes : limits.large_bytes;
  return has_kernel && search.bytes64(box.units()) > large ? limits.large_threads : limits.threads;
}

// --- trying

// Before anything is allocated: whether the box is neither too large nor too small.
bool is_sized(const BoxSearch& search, std::size_t ip, std::uint64_t bp, std::size_t iq, std::uint64_t bq) {
  const std::uint64_t most = std::min<std::uint64_t>(
      kBoxUnitsMost, search.limits.most_bytes / static_cast<unsigned>(search.unit_bytes));
  std::uint64_t units = 1;
  for (std::size_t i = 0; i <= ip && search.in_moving > 0; ++i) {
    units *= i == ip ? bp : search.axes[at(search.in_order[i])].extent;
    if (units > most) return false;
  }
  for (std::size_t i = 0; i <= iq; ++i) {
    const int axis = search.out_order[i];
    const std::uint64_t whole = search.axes[at(axis)].extent;
    const std::uint64_t wanted = i == iq ? bq : whole;
    // What the input's run has of it already.
    const auto place = static_cast<std::size_t>(
        std::find(search.in_order.begin(), search.in_order.end(), axis) - search.in_order.begin());
    const std::uint64_t has = search.in_moving == 0 || place > ip ? 1 : place == ip ? bp : whole;
    if (wanted > has) units = units / has * wanted;
    if (units > most) return false;
  }
  return search.bytes64(units) >= search.least_bytes;
}

// A box whose walks are known, with its lanes, parts and price; nothing where those do not fit.
std::optional<StridedBox> finished(const BoxSearch& search, StridedBox box, bool ragged) {
  box.threads = threads_of(search, box, ragged);
  if (ragged) {
    detail::make_ragged(box);
  } else {
    for (BoxWalk* const walk : {&box.in, &box.out}) {
      if (walk->vector == 1 && box.unit_bytes < 16) walk->spread = box.unit_bytes == 8 ? 2 : 4;
    }
    make_parts(box);
  }
  if (box.in.slots() > box.threads || box.out.slots() * box.near > box.threads) return std::nullopt;
  const std::uint64_t units = box.units();
  const std::uint64_t entries =
      units / box.in.units + units / box.out.units / static_cast<unsigned>(box.words);
  if (entries > kBoxEntriesMost) return std::nullopt;
  detail::price(search, box);
  return box;
}

std::optional<StridedBox> try_box(const BoxSearch& search, std::size_t ip, std::uint64_t bp, std::size_t iq,
                                  std::uint64_t bq) {
  if (!is_sized(search, ip, bp, iq, bq)) return std::nullopt;
  StridedBox box;
  box.axes = search.axes;
  box.unit_bytes = search.unit_bytes;
  box.extent.assign(search.axes.size(), 1);
  const auto widen = [&](int axis, std::uint64_t to) {
    box.extent[at(axis)] = std::max(box.extent[at(axis)], static_cast<std::uint32_t>(to));
  };
  box.q = search.out_order[iq];
  box.p = search.in_moving == 0 ? box.q : search.in_order[ip];
  for (std::size_t i = 0; i < ip; ++i) widen(search.in_order[i], search.axes[at(search.in_order[i])].extent);
  if (search.in_moving > 0) widen(box.p, bp);
  for (std::size_t i = 0; i < iq; ++i)
    widen(search.out_order[i], search.axes[at(search.out_order[i])].extent);
  widen(box.q, bq);
  const std::uint64_t units = box.units();
  // A part that the other side widens is another box.
  if (box.p != box.q && (box.extent[at(box.p)] != bp || box.extent[at(box.q)] != bq)) return std::nullopt;
  const std::vector<int> moving(search.in_order.begin(),
                                search.in_order.begin() + static_cast<std::ptrdiff_t>(search.in_moving));
  const auto take_walks = [&](std::size_t in_last, std::size_t out_last, std::size_t most_axes) {
    box.in = walk(box, moving, search.out_order, in_last, most_axes, kBoxLongRead, in_stride);
    box.out = walk(box, search.out_order, search.in_order, out_last, most_axes, kBoxLongRun, out_stride);
  };
  // Where there are many small arrays, each is some rows of both sides where vectors fit. Else they are one
  // run, which is slow where arrays are as large as runs (docs/notes/axes-experiments.md).
  const bool arrays_are_rows = ip == iq && is_of_arrays(search, ip) && search.bytes64(units) > kBoxLongTrial;
  if (arrays_are_rows) {
    take_walks(0, 0, ip);
  } else {
    for (const std::size_t place : {ip, iq}) {
      if (is_of_arrays(search, place) && faster_bytes(search, place) > kBoxLongTrial) return std::nullopt;
    }
    take_walks(ip, iq, search.axes.size());
  }
  const auto slowest = [&](int axis, const BoxWalk& own, const BoxWalk& other) {
    if (!box.cut(axis)) return true;
    if (own.run.empty() || other.run.empty()) return true;  // the input has stride 0
    if (arrays_are_rows)
      return box.extent[at(axis)] == 1 || (own.rest.back() == axis && other.rest.back() == axis);
    if (own.run.back() != axis) return false;
    if (box.p == box.q) return other.run.back() == axis;
    return !contains(other.run, axis) &&
           (other.rest.empty() || !contains(other.rest, axis) || other.rest.back() == axis);
  };
  if (!slowest(box.p, box.in, box.out) || !slowest(box.q, box.out, box.in)) return std::nullopt;
  choose_vectors(search, box);
  if (!slowest(box.p, box.in, box.out) || !slowest(box.q, box.out, box.in)) return std::nullopt;
  box.in.alignment = run_alignment(box, box.in, in_stride);
  box.out.alignment = run_alignment(box, box.out, out_stride);
  box.triples = detail::triples_of(search, box);
  const bool ragged = detail::suits_ragged(search, box);
  if (arrays_are_rows && (ragged || !by_vectors(box))) return std::nullopt;
  StridedBox plain = box;
  plain.triples = 1;
  std::optional<StridedBox> aligned = finished(search, std::move(plain), false);
  if (!ragged) return aligned;
  const auto is_short = [&](const BoxWalk& side) {
    return search.bytes64(side.units) < kBoxShortRow && side.contiguous > side.units;
  };
  if (is_short(box.in) || is_short(box.out)) {
    StridedBox joined = box;
    const auto join = [&](BoxWalk& side, BoxWalk longer) {
      longer.alignment = side.alignment;
      if (is_short(side)) side = std::move(longer);
    };
    join(joined.in, walk(box, moving, search.out_order, ip, search.axes.size(), kBoxJoinedRow, in_stride));
    join(joined.out,
         walk(box, search.out_order, search.in_order, iq, search.axes.size(), kBoxJoinedRow, out_stride));
    if (slowest(box.p, joined.in, joined.out) && slowest(box.q, joined.out, joined.in) &&
        detail::suits_ragged(search, joined))
      box = std::move(joined);
  }
  std::optional<StridedBox> by_parts = finished(search, std::move(box), true);
  return !aligned || (by_parts && by_parts->cost <= aligned->cost) ? by_parts : aligned;
}

// Parts of an axis whose step is `inner` units: all of it, and what makes runs of about so many bytes.
std::vector<std::uint64_t> parts_to_try(const BoxSearch& search, std::uint64_t extent, std::uint64_t inner,
                                        std::uint64_t most_bytes) {
  const std::uint64_t step = search.bytes64(inner);
  const std::uint64_t grain = kBoxSector / std::gcd(step, std::uint64_t{kBoxSector});
  std::vector<std::uint64_t> parts;
  if (extent * step <= search.limits.most_bytes) parts.push_back(extent);
  for (const std::uint64_t bytes : {32, 64, 96, 128, 192, 256, 320, 384, 512, 768, 1024, 1536, 2048, 4096,
                                    8192, 12288, 16384, 24576, 32768}) {
    if (bytes > most_bytes) break;
    const std::uint64_t wanted = bytes / step;
    if (wanted == 0 || wanted >= extent) continue;
    const std::uint64_t alike = ceil_div(extent, ceil_div(extent, wanted));
    for (const std::uint64_t part : {wanted / grain * grain, ceil_div(alike, grain) * grain, alike}) {
      if (part > 0 && part < extent) parts.push_back(part);
    }
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  if (parts.empty()) parts.push_back(1);
  return parts;
}

struct Trial {
  std::size_t axis;
  std::uint64_t part;
};

std::vector<Trial> trials(const BoxSearch& search, const std::vector<int>& order, std::size_t count) {
  std::vector<Trial> result;
  std::uint64_t inner = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t extent = search.axes[at(order[i])].extent;
    const bool of_arrays = is_of_arrays(search, i);
    const std::uint64_t most = of_arrays ? search.limits.best_bytes : kBoxLongTrial;
    for (const std::uint64_t part : parts_to_try(search, extent, inner, most)) result.push_back({i, part});
    if (extent >= search.limits.most_bytes) break;
    inner *= extent;
    const bool arrays_follow =
        is_of_arrays(search, i + 1) && search.bytes64(inner) < search.limits.best_bytes;
    if (search.bytes64(inner) > kBoxLongTrial && !arrays_follow) break;
  }
  return result;
}

// Boxes are large and many, so that of each only its price is kept: those that are looked at are made again.
struct PricedTrial {
  double cost;
  Trial p;
  Trial q;
};

std::optional<StridedBox> try_box(const BoxSearch& search, const PricedTrial& trial) {
  return try_box(search, trial.p.axis, trial.p.part, trial.q.axis, trial.q.part);
}

// In the order in which they are tried.
std::vector<PricedTrial> priced_trials(const BoxSearch& search) {
  std::vector<PricedTrial> found;
  // Where the input has stride 0, one unit is its run.
  std::vector<Trial> of_input = trials(search, search.in_order, search.in_moving);
  if (of_input.empty()) of_input.push_back({.axis = 0, .part = 1});
  const std::vector<Trial> of_output = trials(search, search.out_order, search.axes.size());
  for (const Trial& p : of_input) {
    for (const Trial& q : of_output) {
      PricedTrial trial{.cost = 0, .p = p, .q = q};
      const auto box = try_box(search, trial);
      if (!box) continue;
      trial.cost = box->cost;
      found.push_back(trial);
    }
  }
  return found;
}

// The cheapest first. Small boxes only where there are no others.
std::vector<PricedTrial> all_trials(BoxSearch& search) {
  const BoxLimits& limits = search.limits;
  std::uint64_t left =
      std::uint64_t{limits.many_boxes} * limits.best_bytes / static_cast<unsigned>(search.unit_bytes);
  for (const StridedAxis& axis : search.axes) left /= axis.extent;
  if (left == 0) search.least_bytes = limits.least_bytes != 0 ? limits.least_bytes : limits.best_bytes / 6;
  std::vector<PricedTrial> found = priced_trials(search);
  search.least_bytes = 0;
  if (found.empty()) found = priced_trials(search);
  std::stable_sort(found.begin(), found.end(),
                   [](const PricedTrial& a, const PricedTrial& b) { return a.cost < b.cost; });
  return found;
}

void check_boxed(const std::vector<StridedAxis>& axes, int unit_bytes) {
  FARO_CHECK(!axes.empty() &&
             (unit_bytes == 1 || unit_bytes == 2 || unit_bytes == 4 || unit_bytes == 8 || unit_bytes == 16));
}

}  // namespace

std::vector<StridedBox> box_candidates(const std::vector<StridedAxis>& axes, int unit_bytes,
                                       const BoxLimits& limits) {
  check_boxed(axes, unit_bytes);
  BoxSearch search = search_of(axes, unit_bytes, limits);
  std::vector<StridedBox> boxes;
  for (const PricedTrial& trial : all_trials(search)) boxes.push_back(*try_box(search, trial));
  return boxes;
}

StridedBox choose_box(const std::vector<StridedAxis>& axes, int unit_bytes, const BoxLimits& limits) {
  // A box whose banks no pads part gives way to one that costs little more, of a few that are looked at.
  constexpr int most_looked_at = 8;
  constexpr double little = 0.03;
  check_boxed(axes, unit_bytes);
  BoxSearch search = search_of(axes, unit_bytes, limits);
  int looked_at = 0;
  std::optional<StridedBox> best;
  for (const PricedTrial& trial : all_trials(search)) {
    if (best && (trial.cost >= best->cost || looked_at == most_looked_at)) break;
    StridedBox box = *try_box(search, trial);
    const auto list_bytes = static_cast<std::uint32_t>(detail::ragged_list_bytes(box));
    const std::uint32_t shared =
        box.triples > 1 ? std::min(limits.ragged_shared, detail::kTriplesMost * 5 / 4) : limits.ragged_shared;
    const std::uint32_t with_pads = box.ragged ? shared - list_bytes : limits.most_bytes * 5 / 4;
    const std::uint32_t most = std::min(kBoxPlaces, with_pads / static_cast<std::uint32_t>(box.word_bytes()));
    if (!detail::lay_out(box, most)) continue;
    ++looked_at;
    const double turns = detail::price_of_turns(box);
    box.cost += turns;
    if (!best || box.cost < best->cost) best = std::move(box);
    if (turns <= little) break;
  }
  if (best) return *std::move(best);
  // Rows that begin anywhere may need more room than any box has.
  FARO_CHECK(limits.ragged);
  BoxLimits plain = limits;
  plain.ragged = false;
  return choose_box(axes, unit_bytes, plain);
}

}  // namespace faro::layout
