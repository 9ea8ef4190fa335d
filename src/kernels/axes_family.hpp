// Axes whose extents the kernel learns when it runs: the boxes of family_box.hpp, made by the host where it
// knows the extents. Where they lie in the device's memory the first thread of each block makes them, and as
// few blocks are started as fill the device, each of which moves many boxes.
//
//     group     e.g. axes(3 4 5; 2 1 0)     place in shared memory
//     both      axis 1, 2 digits            row number in the output's run
//     columns   axis 2, 5                   a pitch each: an odd number of units, of no more banks
//     rows      axis 0, 3                   row number in the output's run
//
// Places on all three sides are sums of one entry of each group's list, which the block works out once. Units
// of one and two bytes are read and written four bytes at a time where both sides are aligned so. Where both
// sides have the same fastest axis, and enough of it, nothing goes through shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "faro/device/memory.hpp"
#include "kernels/family_box.hpp"

namespace faro::kernels {

/// The extents of a call: of either width, the other null.
struct FamilyExtents {
  const std::int32_t* narrow = nullptr;
  const std::int64_t* wide = nullptr;

  constexpr std::int64_t operator()(int i) const { return narrow != nullptr ? narrow[i] : wide[i]; }
};

/// Moves a part of a family's call. `kOnDevice`: its extents lie in the device's memory; else `box` is made.
/// An extent out of bounds moves nothing.
template <int kUnitBytes, bool kOnDevice>
struct MoveFamily {
  using Unit = device::Packet<kUnitBytes>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr int kAhead = kUnitBytes == 16 ? 4 : 8;  // accesses of a thread that are on their way

  struct OnDevice {
    FamilyForm form;
    FamilyExtents extents;
    std::uint32_t part = 0;
  };
  std::conditional_t<kOnDevice, OnDevice, FamilyBox> what;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint64_t grid = 1;

  constexpr std::uint64_t blocks() const { return grid; }
  constexpr std::uint32_t shared_bytes() const {
    if constexpr (kOnDevice) {
      return kBoxBegin + family::most_bytes(kUnitBytes);
    } else {
      return kBoxBegin + (what.direct ? 0 : what.count[FamilyBox::kColumns] * what.pitch * kUnitBytes);
    }
  }

  template <typename B>
  constexpr void operator()(B& block) const {
    const FamilyBox* made = nullptr;
    if constexpr (kOnDevice) {
      auto* const own = shared<FamilyBox>(block, 0);
      if (block.thread() == 0) plan(*own, *shared<FamilyView>(block, kBoxBegin));
      block.barrier();
      made = own;
    } else {
      made = &what;
    }
    const FamilyBox& box = *made;
    if (block.index() >= box.tiles) return;  // all threads of the block
    list_places(block, box);
    if (block.thread() == 0) origins(block)[0] = origin_of(box, block.index());
    std::uint32_t turn = 0;
    for (std::uint64_t tile = block.index(); tile < box.tiles; tile += block.blocks(), turn ^= 1) {
      block.barrier();
      const Origin at = origins(block)[turn];
      const std::uint64_t next = tile + block.blocks();
      if (block.thread() == 0 && next < box.tiles) origins(block)[turn ^ 1] = origin_of(box, next);
      if (box.direct) {
        move_directly(block, box, at);
        continue;
      }
      by_units(box.in_units, [&](auto units) { read_box<decltype(units)::value>(block, box, at); });
      block.barrier();
      by_units(box.out_units, [&](auto units) { write_box<decltype(units)::value>(block, box, at); });
    }
  }

 private:
  static constexpr std::int64_t kNowhere = std::int64_t{1} << 62;
  static constexpr int kWordUnits = kUnitBytes < 4 ? 4 / kUnitBytes : 1;

  // Of an access: one, or those of a word.
  template <typename Use>
  static constexpr void by_units(std::uint32_t units, const Use& use) {
    if constexpr (kWordUnits > 1) {
      if (units > 1) return use(std::integral_constant<int, kWordUnits>());
    }
    use(std::integral_constant<int, 1>());
  }

  // Where a box lies, and what of it there is.
  struct Origin {
    std::int64_t in = 0;
    std::int64_t out = 0;
    std::uint32_t left[3] = {1, 1, 1};
    std::uint32_t run = 1;
  };
  // An entry of a group's list. Without shared memory a place is a byte of the output.
  struct Entry {
    std::int64_t in = 0;
    std::int64_t place = 0;
  };
  struct RunEntry {
    std::int64_t out = 0;
    std::int64_t place = 0;
  };
  // Shared memory: the box, two origins, the groups' lists, places of the output's run and of its columns.
  static constexpr std::uint32_t kOriginsBegin = (sizeof(FamilyBox) + 15) / 16 * 16;
  static constexpr std::uint32_t kListsBegin = kOriginsBegin + 2 * sizeof(Origin);
  static constexpr std::uint32_t kMostEntries = 2 * family::kMostRun + 1;
  static constexpr std::uint32_t kRunBegin = kListsBegin + kMostEntries * sizeof(Entry);
  static constexpr std::uint32_t kColumnsBegin = kRunBegin + family::kMostRun * sizeof(RunEntry);
  static constexpr std::uint32_t kBoxBegin = kColumnsBegin + family::kMostRun * 8;
  static_assert(kBoxBegin % 16 == 0 && sizeof(Origin) % 8 == 0);
  // What any kernel may take without asking for more.
  static_assert(kBoxBegin + family::most_bytes(kUnitBytes) <= 48 << 10);
  static_assert(sizeof(FamilyView) <= family::most_bytes(kUnitBytes));

  template <typename T, typename B>
  static constexpr T* shared(B& block, std::uint32_t begin) {
    return reinterpret_cast<T*>(block.shared() + begin);
  }
  template <typename B>
  static constexpr Origin* origins(B& block) {
    return shared<Origin>(block, kOriginsBegin);
  }
  template <typename B>
  static constexpr Entry* list(B& block, const FamilyBox& box, FamilyBox::Group group) {
    std::uint32_t before = 0;
    for (int g = 0; g < group; ++g) before += box.count[g];
    return shared<Entry>(block, kListsBegin) + before;
  }

  // In shared memory, both: local memory of one thread has a line of a cache for each word.
  constexpr void plan(FamilyBox& box, FamilyView& view) const {
    box = {};
    view = {};
    if (!family_view(what.form, what.extents, what.part, view)) return;
    normalise(view);
    if (view.axes == 1 && view.axis[0].extent == 0) return;
    if (cut_into_units(view, what.form.element_bytes, kUnitBytes) != kUnitBytes) return;
    set_family_box(box, view, kUnitBytes, begin_of(in), begin_of(out), what.form.wanted);
  }
  static constexpr std::uint64_t begin_of(const std::byte* array) {
    return reinterpret_cast<std::uintptr_t>(array) % family::kWord;
  }

  static constexpr Origin origin_of(const FamilyBox& box, std::uint64_t tile) {
    Origin at{.in = box.in_first, .out = box.out_first};
    std::uint32_t ends[2] = {1, 1};
    for (int a = 0; a < box.axes; ++a) {
      const FamilyBox::Axis& axis = box.axis[a];
      const std::uint64_t boxes = short_quotient_up(axis.extent, axis.box);
      const std::uint64_t before = short_quotient(tile, boxes);
      const std::uint64_t first = (tile - before * boxes) * axis.box;
      tile = before;
      at.in += static_cast<std::int64_t>(first) * axis.in;
      at.out += static_cast<std::int64_t>(first) * axis.out;
      const std::uint64_t rest = axis.extent - first;
      const auto end = static_cast<std::uint32_t>(rest < axis.box ? rest : axis.box);
      if (a == box.cut_in) ends[0] = end;
      if (a == box.cut_out) ends[1] = end;
    }
    for (const auto group : {FamilyBox::kBoth, FamilyBox::kColumns, FamilyBox::kRows})
      at.left[group] = box.left(group, ends);
    at.run = box.left_of_run(ends);
    return at;
  }

  // In the order in which the input is read.
  struct Lists {
    const Entry* first;
    const Entry* second;
    const Entry* rows;
  };
  template <typename B>
  static constexpr Lists lists_of(B& block, const FamilyBox& box) {
    return {.first = list(block, box, box.read_first),
            .second = list(block, box, box.read_second()),
            .rows = list(block, box, FamilyBox::kRows)};
  }

  // Lists: those of what is read in the input's order, of rows, of the output's run and of columns.
  template <typename B>
  constexpr void list_places(B& block, const FamilyBox& box) const {
    const auto step_of = [&](int axis) {  // of an axis of the output's run in shared memory
      std::int64_t step = axis == 0 ? 1 : box.step();
      for (int a = 1; a < axis; ++a) step *= box.axis[a].box;
      return step * kUnitBytes;
    };
    const auto in_run = [](FamilyBox::Group of) { return of == FamilyBox::kBoth || of == FamilyBox::kRows; };
    const auto each = [&](std::uint32_t count, const auto& entry_of) {
      for (std::uint32_t i = block.thread(); i < count; i += kThreads) entry_of(i);
    };
    // Digits of number i along the axes of a group: in the input's order, or the output's.
    const auto digits = [&](std::uint32_t i, bool by_input, const auto& is_of, const auto& take) {
      const int all = by_input ? box.read_axes : box.axes;
      for (int k = 0; k < all; ++k) {
        const int a = by_input ? box.by_input[k] : k;
        if (!is_of(box.axis[a].group)) continue;
        take(a, static_cast<std::int64_t>(i % box.axis[a].box));
        i /= box.axis[a].box;
      }
    };
    for (const auto group : {FamilyBox::kBoth, FamilyBox::kColumns, FamilyBox::kRows}) {
      Entry* const entries = list(block, box, group);
      const bool by_input = group != FamilyBox::kRows;
      each(box.count[group], [&](std::uint32_t i) {
        Entry entry;
        if (group == FamilyBox::kColumns && !box.direct)
          entry.place = i * static_cast<std::int64_t>(box.pitch) * kUnitBytes;
        digits(
            i, by_input, [&](FamilyBox::Group of) { return of == group; },
            [&](int a, std::int64_t digit) {
              entry.in += digit * box.axis[a].in;
              if (box.direct) entry.place += digit * box.axis[a].out;
              if (!box.direct && group != FamilyBox::kColumns) entry.place += digit * step_of(a);
            });
        entries[i] = entry;
      });
    }
    if (box.direct) return;
    auto* const run = shared<RunEntry>(block, kRunBegin);
    each(box.run, [&](std::uint32_t i) {
      RunEntry entry;
      digits(i, false, in_run, [&](int a, std::int64_t digit) {
        entry.out += digit * box.axis[a].out;
        entry.place += digit * step_of(a);
      });
      run[i] = entry;
    });
    auto* const columns = shared<std::int64_t>(block, kColumnsBegin);
    each(box.count[FamilyBox::kColumns], [&](std::uint32_t i) {
      std::int64_t place = 0;
      digits(
          i, true, [](FamilyBox::Group of) { return of == FamilyBox::kColumns; },
          [&](int a, std::int64_t digit) { place += digit * box.axis[a].out; });
      columns[i] = place;
    });
  }

  // Where an access is: in the lists of the group that is read first, of the next one and of rows. Without
  // shared memory a place is a byte of the output.
  struct Place {
    std::int64_t in = 0;
    std::int64_t place = 0;
    std::uint32_t first = 0;  // in the first list
    bool some = false;
  };
  template <int kUnits>
  constexpr Place place_of(const Lists& lists, const FamilyBox& box, const Origin& at,
                           std::uint32_t number) const {
    std::uint32_t first = number;
    std::uint32_t second = box.of_first.divide(first);
    first *= kUnits;
    const std::uint32_t row = box.of_second.divide(second);
    Place place;
    place.first = first;
    place.some = first < at.left[box.read_first] && second < at.left[box.read_second()] &&
                 row < at.left[FamilyBox::kRows];
    if (!place.some) return place;
    place.in = at.in + lists.first[first].in + lists.second[second].in + lists.rows[row].in;
    place.place = lists.second[second].place + lists.rows[row].place;
    if (kUnits == 1) place.place += lists.first[first].place;
    return place;
  }

  template <typename B>
  constexpr void move_directly(B& block, const FamilyBox& box, const Origin& at) const {
    const Lists lists = lists_of(block, box);
    std::byte* const to = out + at.out;
    const std::uint32_t all = box.units();
    FARO_NO_UNROLL
    for (std::uint32_t base = block.thread(); base < all; base += kAhead * kThreads) {
      Unit unit[kAhead];
      std::int64_t target[kAhead];
      FARO_UNROLL
      for (int k = 0; k < kAhead; ++k) {
        const std::uint32_t number = base + static_cast<std::uint32_t>(k) * kThreads;
        target[k] = kNowhere;
        if (number >= all) continue;
        const Place place = place_of<1>(lists, box, at, number);
        if (!place.some) continue;
        target[k] = place.place;
        unit[k] = *reinterpret_cast<const Unit*>(in + place.in);
      }
      FARO_UNROLL
      for (int k = 0; k < kAhead; ++k) {
        if (target[k] != kNowhere) *reinterpret_cast<Unit*>(to + target[k]) = unit[k];
      }
    }
  }

  template <int kUnits, typename B>
  constexpr void read_box(B& block, const FamilyBox& box, const Origin& at) const {
    using Access = device::Packet<kUnits * kUnitBytes>;
    const Lists lists = lists_of(block, box);
    std::byte* const data = block.shared() + kBoxBegin;
    const std::uint32_t all = box.units() / kUnits;
    FARO_NO_UNROLL
    for (std::uint32_t base = block.thread(); base < all; base += kAhead * kThreads) {
      Access access[kAhead];
      std::int32_t target[kAhead];
      std::uint32_t first[kAhead];  // of several units
      FARO_UNROLL
      for (int k = 0; k < kAhead; ++k) {
        const std::uint32_t number = base + static_cast<std::uint32_t>(k) * kThreads;
        target[k] = -1;
        if (number >= all) continue;
        const Place place = place_of<kUnits>(lists, box, at, number);
        if (!place.some) continue;
        target[k] = static_cast<std::int32_t>(place.place);
        first[k] = place.first;
        access[k] = *reinterpret_cast<const Access*>(in + place.in);
      }
      FARO_UNROLL
      for (int k = 0; k < kAhead; ++k) {
        if (target[k] < 0) continue;
        if constexpr (kUnits == 1) {
          *reinterpret_cast<Unit*>(data + target[k]) = access[k];
        } else {
          FARO_UNROLL
          for (std::uint32_t u = 0; u < kUnits; ++u) {
            const Unit one{static_cast<typename Unit::Unit>(access[k].unit[0] >> (8 * kUnitBytes * u))};
            *reinterpret_cast<Unit*>(data + target[k] + lists.first[first[k] + u].place) = one;
          }
        }
      }
    }
  }

  template <int kUnits, typename B>
  constexpr void write_box(B& block, const FamilyBox& box, const Origin& at) const {
    using Access = device::Packet<kUnits * kUnitBytes>;
    const std::byte* const data = block.shared() + kBoxBegin;
    const auto* const run = shared<RunEntry>(block, kRunBegin);
    const auto* const columns = shared<std::int64_t>(block, kColumnsBegin);
    const std::uint32_t all = box.units() / kUnits;
    FARO_NO_UNROLL
    for (std::uint32_t number = block.thread(); number < all; number += kThreads) {
      std::uint32_t row = number;
      const std::uint32_t column = box.of_run.divide(row);
      row *= kUnits;
      if (row >= at.run || column >= at.left[FamilyBox::kColumns]) continue;
      const std::byte* const from = data + std::size_t{column} * box.pitch * kUnitBytes + run[row].place;
      Access access{};
      FARO_UNROLL
      for (int u = 0; u < kUnits; ++u)
        device::insert(
            access, u,
            *reinterpret_cast<const Unit*>(from + std::size_t{kUnitBytes} * static_cast<std::size_t>(u)));
      *reinterpret_cast<Access*>(out + at.out + run[row].out + columns[column]) = access;
    }
  }
};

}  // namespace faro::kernels
