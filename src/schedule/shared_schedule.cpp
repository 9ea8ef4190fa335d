#include <algorithm>
#include <limits>
#include <string>

#include "faro/device/conflict_free.hpp"
#include "faro/error.hpp"
#include "faro/schedule/conflict_free.hpp"
#include "schedule/edge_colouring.hpp"

namespace faro::schedule {
namespace {

constexpr std::uint64_t kMostElements = (std::uint64_t{1} << 32) - 16;
}  // namespace

BankRule bank_rule(int element_bytes, const device::MemoryGeometry& geometry) {
  const int access_bytes = device::shared_access_bytes(element_bytes);
  if (access_bytes == 0) {
    fail(ErrorCode::unsupported, "schedule a permutation of shared memory",
         "elements of " + std::to_string(element_bytes) + " bytes", "1, 2, 4, 8, 12 or 16 bytes",
         "pad the elements, or permute their parts as arrays of their own");
  }
  // An odd number of words goes through every bank in turn, wherever the words come in pairs or fours not.
  if (access_bytes != element_bytes && access_bytes != geometry.bank_bytes) {
    fail(ErrorCode::unsupported, "schedule a permutation of shared memory",
         "elements of " + std::to_string(element_bytes) + " bytes on banks of " +
             std::to_string(geometry.bank_bytes),
         "banks of " + std::to_string(access_bytes) + " bytes");
  }
  if (access_bytes > geometry.bank_row_bytes()) {
    fail(ErrorCode::unsupported, "schedule a permutation of shared memory",
         "elements of " + std::to_string(element_bytes) + " bytes",
         "at most the " + std::to_string(geometry.bank_row_bytes()) + " bytes of one row of banks");
  }
  const int words = std::max(1, access_bytes / geometry.bank_bytes);
  return {.element_bytes = element_bytes,
          .classes = static_cast<std::uint32_t>(geometry.banks / words),
          .sharing = static_cast<std::uint32_t>(std::max(1, geometry.bank_bytes / access_bytes))};
}

SharedSchedule shared_schedule(std::span<const std::uint32_t> permutation, int element_bytes,
                               const device::MemoryGeometry& geometry) {
  const BankRule rule = bank_rule(element_bytes, geometry);
  if (permutation.size() >= kMostElements) {
    fail(ErrorCode::value, "schedule a permutation of shared memory",
         std::to_string(permutation.size()) + " elements", "fewer than 2^32 - 16");
  }
  check_permutation(permutation);
  const std::uint64_t n = permutation.size();
  std::vector<std::uint32_t> from_class(n);
  std::vector<std::uint32_t> to_class(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    from_class[i] = rule.class_of(i);
    to_class[i] = rule.class_of(permutation[i]);
  }
  const EdgeColouring colouring = colour_edges(
      {.left_nodes = rule.classes, .right_nodes = rule.classes, .left = from_class, .right = to_class});
  const std::uint64_t slots = std::uint64_t{colouring.colours} * rule.classes;
  SharedSchedule schedule{.count = static_cast<std::uint32_t>(n),
                          .rule = rule,
                          .source = std::vector<std::uint32_t>(slots, kIdle),
                          .target = std::vector<std::uint32_t>(slots, kIdle)};
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t slot = std::uint64_t{colouring.colour[i]} * rule.classes + from_class[i];
    schedule.source[slot] = static_cast<std::uint32_t>(i);
    schedule.target[slot] = permutation[i];
  }
  return schedule;
}

namespace {

void pack_list(std::span<const std::uint32_t> list, int bits, std::span<std::uint32_t> words) {
  const std::uint32_t per_word = device::indices_per_word(bits);
  const std::uint32_t idle = device::idle_index(bits);
  for (std::size_t k = 0; k < list.size(); ++k) {
    const std::uint32_t index = list[k] == kIdle ? idle : list[k];
    words[k / per_word] |= index << static_cast<std::uint32_t>(bits) * (k % per_word);
  }
}

std::vector<std::uint32_t> unpack_list(std::span<const std::uint32_t> words, const PackedSchedule& packed) {
  const std::uint32_t per_word = device::indices_per_word(packed.index_bits);
  const std::uint32_t idle = device::idle_index(packed.index_bits);
  std::vector<std::uint32_t> list(packed.slots);
  for (std::size_t k = 0; k < list.size(); ++k) {
    const std::uint32_t index =
        words[k / per_word] >> static_cast<std::uint32_t>(packed.index_bits) * (k % per_word) & idle;
    if (index >= packed.count && index != idle) {
      fail(ErrorCode::value, "schedule a permutation of shared memory",
           std::to_string(index) + " at slot " + std::to_string(k),
           "a number below " + std::to_string(packed.count));
    }
    list[k] = index < packed.count ? index : kIdle;
  }
  return list;
}

bool holds(int bits, std::uint64_t count, bool has_idle_slots) {
  return count + (has_idle_slots ? 1 : 0) <= std::uint64_t{1} << bits;
}

void check_width(int bits, std::uint64_t count, bool has_idle_slots) {
  if (!device::is_index_width(bits)) {
    fail(ErrorCode::value, "schedule a permutation of shared memory",
         "indices of " + std::to_string(bits) + " bits", "8, 10, 16 or 32 bits");
  }
  if (!holds(bits, count, has_idle_slots)) {
    fail(ErrorCode::value, "schedule a permutation of shared memory",
         "indices of " + std::to_string(bits) + " bits for " + std::to_string(count) + " elements",
         std::to_string(narrowest_index_bits(count, has_idle_slots)) + " bits or more");
  }
}

}  // namespace

int narrowest_index_bits(std::uint64_t count, bool has_idle_slots) {
  for (const int bits : {8, 10, 16}) {
    if (holds(bits, count, has_idle_slots)) return bits;
  }
  return 32;
}

PackedSchedule pack(const SharedSchedule& schedule, int index_bits) {
  if (schedule.source.size() != schedule.target.size() || schedule.slots() < schedule.count ||
      schedule.slots() > std::numeric_limits<std::uint32_t>::max()) {
    fail(ErrorCode::value, "schedule a permutation of shared memory",
         std::to_string(schedule.source.size()) + " sources and " + std::to_string(schedule.target.size()) +
             " targets of " + std::to_string(schedule.count) + " elements",
         "as many sources as targets, no fewer than elements and fewer than 2^32");
  }
  const bool has_idle_slots = schedule.idle_slots() != 0;
  const int bits = index_bits == 0 ? narrowest_index_bits(schedule.count, has_idle_slots) : index_bits;
  check_width(bits, schedule.count, has_idle_slots);
  for (const auto* list : {&schedule.source, &schedule.target}) {
    for (const std::uint32_t index : *list) {
      if (index >= schedule.count && index != kIdle) {
        fail(ErrorCode::value, "schedule a permutation of shared memory",
             std::to_string(index) + " in a list", "a number below " + std::to_string(schedule.count));
      }
    }
  }
  const std::uint64_t list_words = device::packed_list_words(schedule.slots(), bits);
  PackedSchedule packed{.count = schedule.count,
                        .slots = static_cast<std::uint32_t>(schedule.slots()),
                        .index_bits = bits,
                        .words = std::vector<std::uint32_t>(2 * list_words)};
  pack_list(schedule.source, bits, std::span(packed.words).first(list_words));
  pack_list(schedule.target, bits, std::span(packed.words).last(list_words));
  return packed;
}

SharedSchedule unpack(const PackedSchedule& packed, const BankRule& rule) {
  check_width(packed.index_bits, packed.count, packed.slots > packed.count);
  const std::uint64_t list_words = device::packed_list_words(packed.slots, packed.index_bits);
  if (packed.words.size() != 2 * list_words) {
    fail(ErrorCode::value, "schedule a permutation of shared memory",
         std::to_string(packed.words.size()) + " words",
         std::to_string(2 * list_words) + " for " + std::to_string(packed.slots) + " slots");
  }
  const std::span<const std::uint32_t> words(packed.words);
  return {.count = packed.count,
          .rule = rule,
          .source = unpack_list(words.first(list_words), packed),
          .target = unpack_list(words.last(list_words), packed)};
}

}  // namespace faro::schedule
