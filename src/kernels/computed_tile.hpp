// Computed maps on a GPU: parts (computed_parts.hpp) through shared memory, some to a block.
//
//     ordered side    | part 0 | part 1 | ...       consecutive
//     other side      runs of a part                some ten to some hundred bytes each
//
// A block first lists where its runs are and how its leaves stand, a thread each, by the formula; then it
// reads the one side, and writes the other. An element of a part costs a look-up or two in shared memory on
// each side.
//
// Elements of several units lie together in shared memory; arrays of a batch are further parts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/block_array.hpp"

namespace faro::kernels {

/// Where a block's lists and its stage are in shared memory, in bytes.
struct ComputedRoom {
  std::uint32_t leaves = 0;  // runs are at 0
  std::uint32_t orders = 0;
  std::uint32_t stage = 0;
  std::uint32_t end = 0;
};

template <typename Parts, int kBytes>
struct MoveComputedParts {
  using Element = device::Packet<kBytes>;  // a unit
  using Run = typename Parts::Run;
  using Leaf = typename Parts::Leaf;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  /// Elements of a thread that are on their way at a time.
  static constexpr std::uint32_t kAhead = kBytes == 16 ? 4 : 8;

  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  Parts parts;
  device::Division64 of_array;  // parts
  std::uint64_t all = 0;        // parts of all arrays
  std::uint32_t together = 1;   // parts of a block
  device::Division32 units;     // of an element
  bool gathers = false;         // whether parts are consecutive in the output

  constexpr std::uint64_t blocks() const { return (all + together - 1) / together; }
  constexpr std::uint32_t shared_bytes() const { return room().end; }
  constexpr ComputedRoom room() const {
    constexpr std::uint32_t kAligned = 16;
    const auto after = [](std::uint32_t begin, std::uint64_t bytes) {
      return (begin + static_cast<std::uint32_t>(bytes) + kAligned - 1) / kAligned * kAligned;
    };
    ComputedRoom made;
    made.leaves = after(0, sizeof(Run) * (std::uint64_t{together} << parts.run_bits()));
    made.orders = after(made.leaves, sizeof(Leaf) * (std::uint64_t{together} << leaves_bits()));
    made.stage = after(made.orders, std::uint64_t{1} << parts.leaf_bits());
    made.end = after(made.stage, std::uint64_t{together} * part_places() * units.divisor() * kBytes);
    return made;
  }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    move(block, BlockArray<const Element>{reinterpret_cast<const Element*>(in)},
         BlockArray<Element>{reinterpret_cast<Element*>(out)});
  }
  /// The same from any array to any other.
  template <typename Block, typename From, typename To>
  constexpr void move(Block& block, const From& from, const To& to) const {
    const ComputedRoom at = room();
    std::byte* const shared = block.shared();
    const Lists<BlockArray<Run>, BlockArray<Leaf>, BlockArray<std::uint8_t>> lists{
        {reinterpret_cast<Run*>(shared)},
        {reinterpret_cast<Leaf*>(shared + at.leaves)},
        {reinterpret_cast<std::uint8_t*>(shared + at.orders)}};
    const BlockArray<Element> stage{reinterpret_cast<Element*>(shared + at.stage)};
    const Work work = work_of(block.index());
    list(work, block.thread(), lists);
    block.barrier();
    read(work, block.thread(), lists, stage, from);
    block.barrier();
    write(work, block.thread(), lists, stage, to);
  }

  // --- phases

  template <typename Runs, typename Leaves, typename Orders>
  struct Lists {
    Runs runs;
    Leaves leaves;
    Orders orders;
  };
  /// What a block does.
  struct Work {
    std::uint64_t first = 0;  // part
    std::uint32_t parts = 0;
    std::uint32_t units = 0;
  };
  constexpr Work work_of(std::uint64_t block) const {
    Work work;
    work.first = block * together;
    work.parts = all - work.first < together ? static_cast<std::uint32_t>(all - work.first) : together;
    work.units = (work.parts << parts.part_bits()) * units.divisor();
    return work;
  }

  template <typename Of>
  constexpr void list(const Work& work, std::uint32_t thread, const Of& lists) const {
    each(std::uint32_t{1} << parts.leaf_bits(), thread, lists.orders,
         [&](std::uint32_t k) { return parts.order(k); });
    each(work.parts << parts.run_bits(), thread, lists.runs, [&](std::uint32_t i) {
      std::uint64_t part = work.first + (i >> parts.run_bits());
      const std::uint64_t array = of_array.divide(part);
      Run run = parts.run(part, i & mask(parts.run_bits()));
      run.place += array * of_array.divisor() << parts.part_bits();
      return run;
    });
    each(work.parts << leaves_bits(), thread, lists.leaves, [&](std::uint32_t i) {
      std::uint64_t part = work.first + (i >> leaves_bits());
      of_array.divide(part);
      return parts.leaf(part, i & mask(leaves_bits()));
    });
  }

  /// From either side into shared memory.
  template <typename Of, typename Stage, typename From>
  constexpr void read(const Work& work, std::uint32_t thread, const Of& lists, const Stage& stage,
                      const From& from) const {
    if (gathers) {
      fetch(work, thread, ByRuns<Of>{*this, work, lists}, stage, from);
    } else {
      fetch(work, thread, ByLeaves<Of>{*this, work, lists}, stage, from);
    }
  }
  /// From there to the other side.
  template <typename Of, typename Stage, typename To>
  constexpr void write(const Work& work, std::uint32_t thread, const Of& lists, const Stage& stage,
                       const To& to) const {
    if (gathers) {
      send(work, thread, ByLeaves<Of>{*this, work, lists}, stage, to);
    } else {
      send(work, thread, ByRuns<Of>{*this, work, lists}, stage, to);
    }
  }

 private:
  static constexpr std::uint32_t mask(int bits) { return (std::uint32_t{1} << bits) - 1; }
  constexpr int leaves_bits() const { return parts.part_bits() - parts.leaf_bits(); }
  constexpr std::uint32_t part_places() const {
    return parts.pitch() << (parts.part_bits() - parts.line_bits());
  }

  // A list's entries, all lanes of a warp at the same time.
  template <typename List, typename Entry>
  static constexpr void each(std::uint32_t number, std::uint32_t thread, const List& list,
                             const Entry& entry) {
    for (std::uint32_t first = 0; first < number; first += kThreads) {
      if (first + thread < number) {
        list.put(first + thread, entry(first + thread));
      } else {
        list.skip();
      }
    }
  }

  // A unit in its array, and in shared memory.
  struct Spot {
    std::uint64_t place = 0;
    std::uint32_t slot = 0;
  };
  // Unit i of a block in the order of the runs.
  template <typename Of>
  struct ByRuns {
    const MoveComputedParts& kernel;
    const Work& work;
    const Of& lists;

    constexpr Spot operator()(std::uint32_t i) const {
      const Parts& parts = kernel.parts;
      std::uint32_t unit = i;
      const std::uint32_t element = kernel.units.divide(unit);
      const std::uint32_t part = element >> parts.part_bits();
      const std::uint32_t line = (element & mask(parts.part_bits())) >> parts.line_bits();
      const std::uint32_t x = element & mask(parts.line_bits());
      const Run run = lists.runs.get((part << parts.run_bits()) + parts.run_of(line, x));
      const std::uint32_t at = part * kernel.part_places() + line * parts.pitch() + x;
      return {run.at(x) * kernel.units.divisor() + unit, at * kernel.units.divisor() + unit};
    }
    constexpr void skip() const { lists.runs.skip(); }
  };
  // In that of the ordered side.
  template <typename Of>
  struct ByLeaves {
    const MoveComputedParts& kernel;
    const Work& work;
    const Of& lists;

    constexpr Spot operator()(std::uint32_t i) const {
      const Parts& parts = kernel.parts;
      std::uint32_t unit = i;
      const std::uint32_t element = kernel.units.divide(unit);
      const std::uint32_t part = element >> parts.part_bits();
      const Leaf leaf = lists.leaves.get(element >> parts.leaf_bits());
      const std::uint32_t order = lists.orders.get(parts.entry(leaf, element & mask(parts.leaf_bits())));
      const std::uint32_t at = part * kernel.part_places() + parts.at(leaf, order);
      const std::uint64_t first = work.first << parts.part_bits();
      return {first * kernel.units.divisor() + i, at * kernel.units.divisor() + unit};
    }
    constexpr void skip() const {
      lists.leaves.skip();
      lists.orders.skip();
    }
  };

  template <typename Order, typename Stage, typename From>
  constexpr void fetch(const Work& work, std::uint32_t thread, const Order& order, const Stage& stage,
                       const From& from) const {
    for (std::uint32_t first = thread; first < work.units; first += kAhead * kThreads) {
      decltype(fetched(from, 0)) held[kAhead] = {};
      std::uint32_t slot[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (first + k * kThreads < work.units) {
          const Spot spot = order(first + k * kThreads);
          held[k] = fetched(from, spot.place);
          slot[k] = spot.slot;
        } else {
          order.skip();
          from.skip();
        }
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (first + k * kThreads < work.units) {
          stage.put(slot[k], made_of(from, held[k]));
        } else {
          stage.skip();
        }
      }
    }
  }
  template <typename Order, typename Stage, typename To>
  constexpr void send(const Work& work, std::uint32_t thread, const Order& order, const Stage& stage,
                      const To& to) const {
    for (std::uint32_t i = thread; i < work.units; i += kThreads) {
      const Spot spot = order(i);
      to.put(spot.place, stage.get(spot.slot));
    }
  }
};

}  // namespace faro::kernels
