#include "faro/machine/congestion.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "faro/error.hpp"

namespace faro::machine {

TurnCounter::TurnCounter(std::uint64_t width) : width_(width), is_power_of_two_(std::has_single_bit(width)) {
  if (width == 0 || width > kMaxWidth) {
    fail(ErrorCode::value, "make a memory machine", "a width of " + std::to_string(width),
         "1 to " + std::to_string(kMaxWidth) + " banks");
  }
  shift_ = std::countr_zero(width);
  slots_.resize(width);
}

// One turn of the memory: the first item that comes to a slot takes it, items equal to that one are served
// with it, the others are left over, in order. `others` may be `items`. There is no branch on the data, which
// in a random access nothing could predict.
template <typename SlotOf>
TurnCounter::Served TurnCounter::serve(const std::uint64_t* items, std::size_t count, std::uint64_t* others,
                                       const SlotOf& slot_of) {
  const std::uint64_t turn = ++turn_;
  Slot* const slots = slots_.data();
  Served served;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t item = items[i];
    Slot& slot = slots[slot_of(item)];
    const bool is_free = slot.turn != turn;
    const std::uint64_t taken_by = is_free ? item : slot.item;
    slot = {.item = taken_by, .turn = turn};
    others[served.others] = item;
    served.others += taken_by != item ? 1 : 0;
    served.slots += is_free ? 1 : 0;
  }
  return served;
}

namespace {

// Where a turn leaves this much, turns would be many: then sorting is faster.
bool is_crowded(std::size_t left, std::size_t before) {
  constexpr std::size_t few = 8;
  return left > few && left > before / 4 * 3;
}

}  // namespace

std::uint32_t TurnCounter::by_bank(std::span<const std::uint64_t> addresses) {
  if (addresses.empty()) return 0;
  if (others_.size() < addresses.size()) others_.resize(addresses.size());
  const auto bank = [this, mask = width_ - 1](std::uint64_t address) {
    return is_power_of_two_ ? address & mask : address % width_;
  };
  std::size_t before = addresses.size();
  std::size_t left = serve(addresses.data(), before, others_.data(), bank).others;
  std::uint32_t turns = 1;
  while (left > 0) {
    if (is_crowded(left, before)) return turns + worst_bank(left);
    before = left;
    left = serve(others_.data(), before, others_.data(), bank).others;
    ++turns;
  }
  return turns;
}

// The congestion of others_[0 .. count).
std::uint32_t TurnCounter::worst_bank(std::size_t count) {
  const auto begin = others_.begin();
  auto end = begin + static_cast<std::ptrdiff_t>(count);
  // Where all that met went to one bank, as in a stride by the width, they are in order already.
  if (!std::is_sorted(begin, end)) std::sort(begin, end);
  end = std::unique(begin, end);
  const std::uint64_t turn = ++turn_;
  std::uint64_t worst = 0;
  for (auto address = begin; address != end; ++address) {
    Slot& slot = slots_[bank_of(*address)];
    slot = {.item = slot.turn == turn ? slot.item + 1 : 1, .turn = turn};
    worst = std::max(worst, slot.item);
  }
  return static_cast<std::uint32_t>(worst);
}

std::uint32_t TurnCounter::by_group(std::span<const std::uint64_t> addresses) {
  if (addresses.empty()) return 0;
  // Neighbours in one group are one.
  if (groups_.size() < addresses.size()) groups_.resize(addresses.size());
  std::size_t count = 0;
  std::uint64_t last = 0;
  for (const std::uint64_t address : addresses) {
    const std::uint64_t group = is_power_of_two_ ? address >> shift_ : address / width_;
    groups_[count] = group;
    count += count == 0 || group != last ? 1 : 0;
    last = group;
  }
  if (count == 1) return 1;

  // Hashed into four times as many slots, few different groups meet.
  const int slot_bits = static_cast<int>(std::bit_width(count)) + 2;
  if (slots_.size() < std::size_t{1} << slot_bits) slots_.resize(std::size_t{1} << slot_bits);
  const auto hash = [slot_bits](std::uint64_t group) {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    return group * kGoldenRatio >> (64 - slot_bits);
  };
  std::size_t groups = 0;
  while (count > 0) {
    const Served served = serve(groups_.data(), count, groups_.data(), hash);
    groups += served.slots;
    if (is_crowded(served.others, count)) {
      const auto begin = groups_.begin();
      const auto end = begin + static_cast<std::ptrdiff_t>(served.others);
      std::sort(begin, end);
      return static_cast<std::uint32_t>(groups + static_cast<std::size_t>(std::unique(begin, end) - begin));
    }
    count = served.others;
  }
  return static_cast<std::uint32_t>(groups);
}

}  // namespace faro::machine
