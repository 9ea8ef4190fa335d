// Counts the turns that a memory takes to serve one access of a warp: the two cost rules of the memory
// machines.
//
//     w = 4     bank     0   1   2   3            the access 0 1 10 6:
//     group 0            0   1   2   3
//     group 1            4   5   6   7              by bank    0 | 1 | 10 6 |      2 turns: bank 2 twice
//     group 2            8   9  10  11              by group   0 1 | 6 | 10        3 turns: groups 0, 1, 2
//
// *By bank* (the DMM; shared memory): words in different banks, address mod w, are served together; the turns
// are the *congestion*, the largest number of distinct addresses in one bank. *By group* (the UMM; device
// memory): words of one group, address div w, are served together; the turns are the number of distinct
// groups. Lanes that name the same address are merged.
//
// Source: the DMM and UMM papers of Nakano (2012) and of Nakano, Matsumae and Ito (2014).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace faro::machine {

/// Widths past this are refused everywhere: no machine has them, and tables are as long as the width.
inline constexpr std::uint64_t kMaxWidth = std::uint64_t{1} << 20;

/// Counts turns; keeps its tables from call to call, so make one and use it often.
///
/// Requires: 1 <= width <= kMaxWidth (checked, ErrorCode::value). Not safe to share between threads.
/// Cost: a few operations an address, none of which depends on a guess of the processor's; sorting only where
/// most addresses meet in few places.
class TurnCounter {
 public:
  explicit TurnCounter(std::uint64_t width);

  std::uint64_t width() const { return width_; }

  /// The congestion: the largest number of distinct addresses in one bank; 0 for no address.
  std::uint32_t by_bank(std::span<const std::uint64_t> addresses);

  /// The number of distinct address groups.
  std::uint32_t by_group(std::span<const std::uint64_t> addresses);

 private:
  struct Slot {
    std::uint64_t item = 0;  // what took it
    std::uint64_t turn = 0;  // in which turn; older ones are over
  };
  struct Served {
    std::size_t slots = 0;   // taken
    std::size_t others = 0;  // items that found theirs taken by another
  };

  template <typename SlotOf>
  Served serve(const std::uint64_t* items, std::size_t count, std::uint64_t* others, const SlotOf& slot_of);
  std::uint32_t worst_bank(std::size_t count);

  std::uint64_t bank_of(std::uint64_t address) const {
    return is_power_of_two_ ? address & (width_ - 1) : address % width_;
  }

  std::uint64_t width_;
  bool is_power_of_two_;
  int shift_ = 0;  // log2 of a width that is a power of two
  std::uint64_t turn_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> groups_;  // scratch
  std::vector<std::uint64_t> others_;  // scratch
};

}  // namespace faro::machine
