// The boxes of a family's call, by arithmetic that a thread of a GPU can do as well as the host
// (kernels/axes_family.hpp moves them).
//
//     form      what all calls have in common: axes, their order, flips, rolls, and which extents are fixed
//     view      what a call's extents make of it: an extent and two strides in bytes for each axis
//     box       the view in normal form, cut into boxes that a block moves
//
// A box (layout/strided_box.hpp tells more) is a run along the input's fastest axes times a run along the
// output's. Its axes are of three groups: of both runs, of the input's alone, of the output's alone.
//
//     axes(3 4 5; 2 1 0), runs of 8           input's run      axes 2 and half of 1
//                                             output's run     axes 0 and, of both, the half of 1
//
// Only the slowest axis of each run is cut, so that what is left of a box at an array's end is a prefix of
// what each group counts. A roll of an axis is two views, one before and one behind where the axis goes
// round.
#pragma once

#include <cstdint>

#include "faro/require_cxx20.hpp"

namespace faro::kernels {

inline constexpr int kFamilyAxes = 16;  // at most

/// What all calls of a family have in common.
struct FamilyForm {
  struct Axis {
    std::uint64_t extent = 1;  // or the most that a free one may be
    std::int32_t free = -1;    // the number of the extent among a call's; -1: fixed
    bool flipped = false;
    std::int64_t shift = 0;       // below 2^62; an axis is rolled by the rest modulo its extent
    std::int64_t in_stride = 0;   // bytes, where strides are given
    std::int64_t out_stride = 0;  // of the output's axis that it becomes
  };
  Axis axis[kFamilyAxes];                // the input's, slowest first
  std::int32_t order[kFamilyAxes] = {};  // the output's axes, slowest first
  std::int32_t axes = 0;
  std::int32_t extents = 0;  // that are free
  std::int32_t rolled = 0;   // axes
  bool dense_in = true;      // strides are those of the extents
  bool dense_out = true;
  std::uint32_t wanted = 0;  // units of a run that suit the largest call; 0: they are looked for
  std::uint64_t element_bytes = 1;

  constexpr std::uint32_t parts() const { return std::uint32_t{1} << rolled; }
};

struct FamilyAxis {
  std::uint64_t extent = 1;
  std::int64_t in = 0;  // bytes
  std::int64_t out = 0;
};

/// What one call moves, or a part of it.
struct FamilyView {
  FamilyAxis axis[kFamilyAxes + 1];  // room for the units of an element
  std::int32_t axes = 0;
  std::int64_t in_first = 0;  // bytes, where all coordinates are 0
  std::int64_t out_first = 0;
};

/// The view of a call, the input's axes slowest first; nothing of it is in normal form. `extent_of(i)`: the
/// call's i-th extent. `part`: a bit for each rolled axis, whether it is what goes round. Gives false for an
/// extent past the most, or below 0. Requires: strides that fit 63 bits, as check() sees to.
template <typename ExtentOf>
constexpr bool family_view(const FamilyForm& form, const ExtentOf& extent_of, std::uint32_t part,
                           FamilyView& view) {
  view.axes = form.axes;
  view.in_first = view.out_first = 0;
  std::uint64_t extents[kFamilyAxes] = {};
  bool fits = true;
  for (int a = 0; a < form.axes; ++a) {
    const FamilyForm::Axis& axis = form.axis[a];
    extents[a] = axis.free < 0 ? axis.extent : static_cast<std::uint64_t>(extent_of(axis.free));
    fits = fits && extents[a] <= axis.extent;  // below 0 is past every most
  }
  if (!fits) return false;
  const auto dense = [](std::int64_t& step, std::uint64_t extent) {
    const std::int64_t stride = step;
    step *= static_cast<std::int64_t>(extent == 0 ? 1 : extent);
    return stride;
  };
  auto step = static_cast<std::int64_t>(form.element_bytes);
  for (int a = form.axes - 1; a >= 0; --a)
    view.axis[a] = {.extent = extents[a],
                    .in = form.dense_in ? dense(step, extents[a]) : form.axis[a].in_stride};
  step = static_cast<std::int64_t>(form.element_bytes);
  for (int place = form.axes - 1; place >= 0; --place) {
    const int a = form.order[place];
    view.axis[a].out = form.dense_out ? dense(step, extents[a]) : form.axis[a].out_stride;
  }
  int bit = 0;
  for (int a = 0; a < form.axes; ++a) {
    FamilyAxis& axis = view.axis[a];
    const auto last = static_cast<std::int64_t>(axis.extent) - 1;
    if (axis.in < 0 && last > 0) view.in_first -= axis.in * last;  // arrays begin at their lowest element
    if (axis.out < 0 && last > 0) view.out_first -= axis.out * last;
    if (form.axis[a].flipped && axis.extent > 0) {
      view.in_first += axis.in * last;
      axis.in = -axis.in;
    }
    if (form.axis[a].shift == 0) continue;
    const bool goes_round = (part >> bit & 1) != 0;
    ++bit;
    std::uint64_t shift = 0;
    if (axis.extent > 0) {
      const auto extent = static_cast<std::int64_t>(axis.extent);
      shift = static_cast<std::uint64_t>((form.axis[a].shift % extent + extent) % extent);
    }
    // From j = shift on the input is read from its beginning; before, from where it goes round.
    if (goes_round) {
      view.in_first += axis.in * static_cast<std::int64_t>(axis.extent - shift);
      axis.extent = shift;
    } else {
      view.out_first += axis.out * static_cast<std::int64_t>(shift);
      axis.extent -= shift;
    }
  }
  return true;
}

/// Normal form: axes of one element dropped, none backwards in the output, the output's fastest first, joined
/// where one continues another. Of no elements: one axis of extent 0.
constexpr void normalise(FamilyView& view) {
  int kept = 0;
  for (int a = 0; a < view.axes; ++a) {
    FamilyAxis axis = view.axis[a];
    if (axis.extent == 0) {
      view.axis[0] = {.extent = 0};
      view.axes = 1;
      return;
    }
    if (axis.extent == 1) continue;
    if (axis.out < 0) {
      view.in_first += axis.in * static_cast<std::int64_t>(axis.extent - 1);
      view.out_first += axis.out * static_cast<std::int64_t>(axis.extent - 1);
      axis.in = -axis.in;
      axis.out = -axis.out;
    }
    int at = kept++;
    for (; at > 0 && view.axis[at - 1].out > axis.out; --at) view.axis[at] = view.axis[at - 1];
    view.axis[at] = axis;
  }
  int joined = 0;
  for (int a = 0; a < kept; ++a) {
    const FamilyAxis axis = view.axis[a];
    if (joined > 0) {
      FamilyAxis& inner = view.axis[joined - 1];
      const auto steps = static_cast<std::int64_t>(inner.extent);
      if (inner.in * steps == axis.in && inner.out * steps == axis.out) {
        inner.extent *= axis.extent;
        continue;
      }
    }
    view.axis[joined++] = axis;
  }
  view.axes = joined;
}

/// Cuts the elements of a normal form into units, as wide as `most` allows, whose lowest bit counts, and all
/// strides, firsts and rows that stay. Gives their bytes.
constexpr std::uint64_t cut_into_units(FamilyView& view, std::uint64_t element_bytes, std::uint64_t most) {
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  if (view.axes == 0 || view.axis[0].in != bytes || view.axis[0].out != bytes) {
    for (int a = view.axes++; a > 0; --a) view.axis[a] = view.axis[a - 1];
    view.axis[0] = {.extent = 1, .in = bytes, .out = bytes};
  }
  const std::uint64_t row_bytes = view.axis[0].extent * element_bytes;
  std::uint64_t bits = most | row_bytes;
  bits |= static_cast<std::uint64_t>(view.in_first) | static_cast<std::uint64_t>(view.out_first);
  for (int a = 1; a < view.axes; ++a)
    bits |= static_cast<std::uint64_t>(view.axis[a].in) | static_cast<std::uint64_t>(view.axis[a].out);
  const std::uint64_t unit = bits & (~bits + 1);
  view.axis[0] = {.extent = row_bytes / unit,
                  .in = static_cast<std::int64_t>(unit),
                  .out = static_cast<std::int64_t>(unit)};
  if (view.axis[0].extent == 1) {
    for (int a = 1; a < view.axes; ++a) view.axis[a - 1] = view.axis[a];
    --view.axes;
  }
  return unit;
}

/// a / b, by the division of 32 bits where it does.
constexpr std::uint64_t short_quotient(std::uint64_t a, std::uint64_t b) {
  if ((a | b) >> 32 == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}
constexpr std::uint64_t short_quotient_up(std::uint64_t a, std::uint64_t b) {
  return short_quotient(a + b - 1, b);
}

/// Division of numbers below 2^16 by one, for a reciprocal that takes one division to make:
/// x / d = x m >> 32, m = floor(2^32 / d) + 1, which exceeds 2^32 / d by at most 1, and x d < 2^32.
class FamilyDivision {
 public:
  constexpr FamilyDivision() = default;
  explicit constexpr FamilyDivision(std::uint32_t divisor)
      : divisor_(divisor), factor_((std::uint64_t{1} << 32) / divisor + 1) {}

  /// Leaves x % divisor in x and gives the quotient.
  constexpr std::uint32_t divide(std::uint32_t& x) const {
    const auto quotient = static_cast<std::uint32_t>(x * factor_ >> 32);
    x -= quotient * divisor_;
    return quotient;
  }

 private:
  std::uint32_t divisor_ = 1;
  std::uint64_t factor_ = (std::uint64_t{1} << 32) + 1;
};

/// A view cut into boxes.
struct FamilyBox {
  enum Group : std::uint8_t { kBoth, kColumns, kRows, kNone };
  struct Axis {
    std::uint64_t extent = 1;
    std::int64_t in = 0;  // bytes
    std::int64_t out = 0;
    std::uint32_t box = 1;  // of the axis
    Group group = kNone;
  };
  Axis axis[kFamilyAxes + 1];                  // the output's fastest first
  std::int8_t by_input[kFamilyAxes + 1] = {};  // axes that are not repeated, the input's fastest first
  std::int32_t axes = 0;
  std::int32_t read_axes = 0;
  std::int32_t cut_in = -1;  // the axes that are cut; or one of both
  std::int32_t cut_out = -1;
  std::int64_t in_first = 0;
  std::int64_t out_first = 0;
  std::uint64_t tiles = 0;
  std::uint32_t count[3] = {1, 1, 1};  // entries of a group's list
  std::uint32_t run = 1;               // units of the output's: of both and of rows
  std::uint32_t pitch = 1;             // units from column to column in shared memory
  std::uint32_t in_units = 1;          // of an access
  std::uint32_t out_units = 1;
  std::uint32_t wanted = 1;  // units of a run, as it was looked for
  bool direct = false;       // without shared memory
  Group read_first = kBoth;  // the group of the input's fastest axis
  FamilyDivision of_first;   // accesses along it
  FamilyDivision of_second;  // entries of the next group
  FamilyDivision of_run;     // accesses of the output's run

  /// Units in shared memory from one row of the output's fastest axis to the next.
  constexpr std::uint32_t step() const { return axis[0].box == run ? run : axis[0].box | 1; }
  constexpr std::uint32_t units() const { return count[kBoth] * count[kColumns] * count[kRows]; }
  constexpr Group read_second() const { return read_first == kBoth ? kColumns : kBoth; }
  /// Entries of a group's list that are left where the cut axes have so many.
  constexpr std::uint32_t left(Group group, const std::uint32_t (&ends)[2]) const {
    std::uint32_t entries = count[group];
    if (cut_in >= 0 && axis[cut_in].group == group) entries = entries / axis[cut_in].box * ends[0];
    if (cut_out >= 0 && cut_out != cut_in && axis[cut_out].group == group)
      entries = entries / axis[cut_out].box * ends[1];
    return entries;
  }
  constexpr std::uint32_t left_of_run(const std::uint32_t (&ends)[2]) const {
    return cut_out < 0 ? run : run / axis[cut_out].box * ends[1];
  }
};

namespace family {

inline constexpr std::uint32_t kMostRun = 256;      // units
inline constexpr std::uint32_t kMostWanted = 2048;  // units of a box, where they are worth longer runs
inline constexpr std::uint32_t kMostDirect = 4096;  // units of a box without shared memory
inline constexpr std::uint32_t kWord = 4;           // bytes that narrow units are moved by together

/// Units of a run that are wanted, as far as a box has room.
constexpr std::uint32_t wanted_run(int unit_bytes) {
  return unit_bytes <= 2 ? 128 : unit_bytes == 16 ? 32 : 64;
}
/// Bytes of a box in shared memory, with the pads.
constexpr std::uint32_t most_bytes(int unit_bytes) {
  return static_cast<std::uint32_t>(unit_bytes <= 2 ? 33 << 10 : 18 << 10);
}

/// Grows a box along an axis towards a run of `wanted` units, of which the axes before have `run`. Gives
/// whether the run may go on.
constexpr bool grow(FamilyBox::Axis& axis, std::uint64_t wanted, std::uint64_t& run, std::uint32_t grain) {
  constexpr std::uint64_t many_parts = 8;  // a sliver at the end of so many costs little
  const std::uint64_t needed = short_quotient_up(wanted, run);
  std::uint64_t part = axis.extent;
  if (4 * axis.extent > 5 * needed) {
    const std::uint64_t parts = short_quotient_up(axis.extent, needed);
    part = parts < many_parts ? short_quotient_up(axis.extent, parts) : needed;
    if (run == 1) part = (part + grain - 1) / grain * grain;
    if (part > needed) part = needed;
  }
  if (part > axis.box) axis.box = static_cast<std::uint32_t>(part);
  run *= axis.box;
  return axis.box == axis.extent;
}

/// Boxes of about such runs: the group of each axis, the cut ones and counts.
constexpr void choose(FamilyBox& box, std::uint64_t wanted, int unit_bytes) {
  const std::uint32_t grain = 32U / static_cast<std::uint32_t>(unit_bytes);
  for (int a = 0; a < box.axes; ++a) {
    box.axis[a].box = 1;
    box.axis[a].group = FamilyBox::kNone;
  }
  // A run ends where it is long enough: what the other side has of the axes beyond is that side's alone.
  box.cut_in = box.cut_out = -1;
  std::uint64_t run = 1;
  for (int i = 0; i < box.read_axes && run < wanted && box.cut_in < 0; ++i) {
    FamilyBox::Axis& axis = box.axis[box.by_input[i]];
    const bool goes_on = grow(axis, wanted, run, grain);
    if (axis.box == 1) break;
    axis.group = FamilyBox::kColumns;
    if (!goes_on) box.cut_in = std::int32_t{box.by_input[i]};
  }
  run = 1;
  for (int a = 0; a < box.axes && run < wanted && box.cut_out < 0; ++a) {
    FamilyBox::Axis& axis = box.axis[a];
    const bool goes_on = grow(axis, wanted, run, grain);
    if (axis.box == 1) break;
    axis.group = axis.group == FamilyBox::kColumns ? FamilyBox::kBoth : FamilyBox::kRows;
    if (!goes_on) box.cut_out = a;
  }
  for (std::uint32_t& count : box.count) count = 1;
  for (int a = 0; a < box.axes; ++a) {
    if (box.axis[a].group != FamilyBox::kNone) box.count[box.axis[a].group] *= box.axis[a].box;
  }
  box.run = box.count[FamilyBox::kBoth] * box.count[FamilyBox::kRows];
  if (box.run == 1) {
    box.pitch = 1;
    return;
  }
  box.pitch = box.run / box.axis[0].box * box.step();
  if (box.count[FamilyBox::kColumns] > 1) box.pitch |= 1;
}

/// Whether boxes have room, in shared memory, if they go through it, and in lists.
constexpr bool fits(const FamilyBox& box, int unit_bytes) {
  const std::uint32_t bytes =
      box.count[FamilyBox::kColumns] * box.pitch * static_cast<std::uint32_t>(unit_bytes);
  return box.run <= kMostRun && box.count[FamilyBox::kBoth] * box.count[FamilyBox::kColumns] <= kMostRun &&
         (box.direct ? box.units() <= kMostDirect : bytes <= most_bytes(unit_bytes));
}

/// Units of an access of a side that begins there, of which `fastest` is the axis that lies together.
constexpr std::uint32_t access_units(const FamilyBox& box, int fastest, int unit_bytes, std::uint64_t begin,
                                     std::int64_t FamilyBox::Axis::*stride) {
  const auto unit = static_cast<std::uint32_t>(unit_bytes);
  if (unit >= kWord || fastest < 0 || box.axis[fastest].*stride != unit_bytes) return 1;
  std::uint64_t bits = begin | box.axis[fastest].extent * unit | std::uint64_t{box.axis[fastest].box} * unit;
  for (int a = 0; a < box.axes; ++a) {
    if (a != fastest) bits |= static_cast<std::uint64_t>(box.axis[a].*stride);
  }
  return bits % kWord == 0 ? kWord / unit : 1;
}

}  // namespace family

/// The boxes of a view in normal form that is cut into such units, wherever `box` is. `in_begin`,
/// `out_begin`: the arrays' addresses, of which the lowest bits count. `known_wanted`: runs as another
/// call's, or 0. Requires: all multiples of a unit; a box that is new.   Cost: some hundred operations.
constexpr void set_family_box(FamilyBox& box, const FamilyView& view, int unit_bytes, std::uint64_t in_begin,
                              std::uint64_t out_begin, std::uint32_t known_wanted) {
  box.axes = view.axes;
  box.in_first = view.in_first;
  box.out_first = view.out_first;
  const auto size = [](std::int64_t stride) { return stride < 0 ? -stride : stride; };
  for (int a = 0; a < view.axes; ++a) {
    const FamilyAxis& axis = view.axis[a];
    box.axis[a].extent = axis.extent;
    box.axis[a].in = axis.in;
    box.axis[a].out = axis.out;
    if (axis.extent == 0) return;
    if (axis.in == 0) continue;
    int at = box.read_axes++;
    for (; at > 0 && size(box.axis[box.by_input[at - 1]].in) > size(axis.in); --at)
      box.by_input[at] = box.by_input[at - 1];
    box.by_input[at] = static_cast<std::int8_t>(a);
  }
  const int first = box.read_axes > 0 ? box.by_input[0] : -1;
  constexpr std::uint64_t sector = 32;
  const auto together = [&](std::int64_t stride) {
    return size(stride) == unit_bytes &&
           box.axis[0].extent * static_cast<std::uint64_t>(unit_bytes) >= sector;
  };
  box.direct = first < 0 || (first == 0 && together(box.axis[0].in) && together(box.axis[0].out));
  // Runs as long as wanted, or as there is room for; of boxes that are small all the same, longer ones.
  std::uint64_t wanted = known_wanted != 0 ? known_wanted : family::wanted_run(unit_bytes);
  family::choose(box, wanted, unit_bytes);
  while (!family::fits(box, unit_bytes) && wanted > 1) family::choose(box, wanted /= 2, unit_bytes);
  while (known_wanted == 0 && box.units() < family::kMostWanted && wanted < family::kMostRun) {
    const std::uint32_t before = box.units();
    family::choose(box, wanted * 2, unit_bytes);
    if (!family::fits(box, unit_bytes)) {
      family::choose(box, wanted, unit_bytes);
      break;
    }
    wanted *= 2;
    if (box.units() == before && before > 1) break;
  }
  box.wanted = static_cast<std::uint32_t>(wanted);
  const bool is_read = first >= 0 && box.axis[first].group < FamilyBox::kRows;
  if (is_read) box.read_first = box.axis[first].group;
  if (!box.direct) {
    box.in_units =
        family::access_units(box, is_read ? first : -1, unit_bytes,
                             in_begin | static_cast<std::uint64_t>(box.in_first), &FamilyBox::Axis::in);
    box.out_units = family::access_units(
        box, 0, unit_bytes, out_begin | static_cast<std::uint64_t>(box.out_first), &FamilyBox::Axis::out);
  }
  box.of_first = FamilyDivision(box.count[box.read_first] / box.in_units);
  box.of_second = FamilyDivision(box.count[box.read_second()]);
  box.of_run = FamilyDivision(box.run / box.out_units);
  box.tiles = 1;
  for (int a = 0; a < box.axes; ++a) box.tiles *= short_quotient_up(box.axis[a].extent, box.axis[a].box);
}

constexpr FamilyBox make_family_box(const FamilyView& view, int unit_bytes, std::uint64_t in_begin,
                                    std::uint64_t out_begin) {
  FamilyBox box;
  set_family_box(box, view, unit_bytes, in_begin, out_begin, 0);
  return box;
}

}  // namespace faro::kernels
