// The conflict-free schedules: the paper's example, congestion 1 for every permutation and width, remainders,
// packed lists, and refusals.
// Sanitized: never, the same few lines, tables or texts.
#include "faro/schedule/conflict_free.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "engine_support.hpp"
#include "faro/device/conflict_free.hpp"
#include "faro/error.hpp"
#include "faro/machine/congestion.hpp"
#include "refusal.hpp"
#include "shared_schedule_support.hpp"

namespace faro::schedule {
namespace conflict_free_test {

using testing::adversarial_list;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::identity_list;
using testing::List;
using testing::named_lists;
using testing::random_list;

const List kExample{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};

// The first fault of lists that should be P in groups of w, one element of every bank on either side.
std::string fault_of(const List& permutation, std::uint64_t w, const ConflictFreeSchedule& schedule) {
  if (schedule.source.size() != permutation.size() || schedule.target.size() != permutation.size()) {
    return "lists of another length";
  }
  std::vector<bool> moved(permutation.size());
  machine::TurnCounter turns(w);
  for (std::size_t k = 0; k < permutation.size(); ++k) {
    const std::uint32_t source = schedule.source[k];
    if (source >= permutation.size() || moved[source]) return "source " + std::to_string(source);
    moved[source] = true;
    if (schedule.target[k] != permutation[source]) return "target of slot " + std::to_string(k);
  }
  for (std::size_t group = 0; group < permutation.size(); group += w) {
    const auto begin = static_cast<std::ptrdiff_t>(group);
    const auto end = begin + static_cast<std::ptrdiff_t>(w);
    const std::vector<std::uint64_t> from(schedule.source.begin() + begin, schedule.source.begin() + end);
    const std::vector<std::uint64_t> to(schedule.target.begin() + begin, schedule.target.begin() + end);
    if (turns.by_bank(from) != 1) return "reads of group " + std::to_string(group / w);
    if (turns.by_bank(to) != 1) return "writes of group " + std::to_string(group / w);
  }
  return "";
}

// Lists, and warp 1's banks, as the paper prints them.
TEST(MatchedSchedule, IsThePapersExample) {
  const ConflictFreeSchedule schedule = matched_conflict_free_schedule(kExample, 4);
  EXPECT_THAT(schedule.source, ElementsAre(0, 5, 10, 15, 1, 6, 11, 12, 2, 7, 8, 13, 3, 4, 9, 14));
  EXPECT_THAT(schedule.target, ElementsAre(0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11));
  List banks;
  for (std::size_t k = 4; k < 8; ++k) banks.push_back(schedule.source[k] % 4);
  for (std::size_t k = 4; k < 8; ++k) banks.push_back(schedule.target[k] % 4);
  EXPECT_THAT(banks, ElementsAre(1, 2, 3, 0, 0, 1, 2, 3));
}

TEST(MatchedSchedule, KeepsTheLaw) {
  for (const std::uint32_t w : {1U, 2U, 3U, 4U, 8U, 12U, 32U}) {
    for (const std::uint32_t rows : {0U, 1U, 2U, 5U, 32U}) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const List list = seed == 0 ? adversarial_list(rows * w, w) : random_list(rows * w, seed);
        EXPECT_EQ(fault_of(list, w, matched_conflict_free_schedule(list, w)), "")
            << "w " << w << " rows " << rows << " seed " << seed;
      }
    }
  }
}

TEST(ConflictFree, CongestionOneOnBothSides) {
  for (const std::uint32_t w : {4U, 8U, 16U, 32U}) {
    for (const std::uint32_t n : {w, 64U, 1024U, 32'768U}) {
      for (const auto& [name, list] : named_lists(n, w)) {
        EXPECT_EQ(fault_of(list, w, conflict_free_schedule(list, w)), "") << name << " w " << w << " n " << n;
      }
    }
  }
}

TEST(ConflictFree, AMillionElements) {
  constexpr std::uint32_t n = 1 << 20;
  for (const std::uint32_t w : {4U, 8U, 16U, 32U}) {
    if (testing::kInstrumented && w > 4) break;
    for (const auto& [name, list] : named_lists(n, w)) {
      EXPECT_EQ(fault_of(list, w, conflict_free_schedule(list, w)), "") << name << " w " << w;
    }
  }
}

// --- the rule of each width

TEST(BankRule, OfEveryWidth) {
  struct Case {
    int element_bytes;
    std::uint32_t classes;
    std::uint32_t sharing;
  };
  for (const Case& c :
       {Case{1, 32, 4}, Case{2, 32, 2}, Case{4, 32, 1}, Case{8, 16, 1}, Case{12, 32, 1}, Case{16, 8, 1}}) {
    const BankRule rule = bank_rule(c.element_bytes);
    EXPECT_EQ(rule.classes, c.classes) << c.element_bytes;
    EXPECT_EQ(rule.sharing, c.sharing) << c.element_bytes;
    EXPECT_EQ(rule.element_bytes, c.element_bytes);
    EXPECT_EQ(rule.class_of(rule.period()), 0U);
    EXPECT_EQ(rule.class_of(rule.period() - 1), c.classes - 1);
  }
  machine::MemoryGeometry four;
  four.warp_size = four.banks = 4;
  EXPECT_EQ(bank_rule(1, four), (BankRule{.element_bytes = 1, .classes = 4, .sharing = 4}));
  EXPECT_EQ(bank_rule(16, four), (BankRule{.element_bytes = 16, .classes = 1, .sharing = 1}));
}

// Groups of one element a class at most, in the order of the source's classes.
std::string fault_of(const List& permutation, const SharedSchedule& schedule) {
  const BankRule& rule = schedule.rule;
  if (schedule.count != permutation.size()) return "another count";
  if (schedule.slots() != schedule.target.size()) return "lists of two lengths";
  std::set<std::uint32_t> moved;
  for (std::size_t group = 0; group < schedule.slots(); group += rule.classes) {
    std::set<std::uint32_t> to;
    std::size_t busy = 0;
    for (std::uint32_t j = 0; j < rule.classes; ++j) {
      const std::uint32_t source = schedule.source[group + j];
      const std::uint32_t target = schedule.target[group + j];
      if ((source == kIdle) != (target == kIdle)) return "half a slot";
      if (source == kIdle) continue;
      ++busy;
      if (source >= permutation.size() || target != permutation[source]) return "not P";
      if (rule.class_of(source) != j) return "a source out of order";
      moved.insert(source);
      to.insert(rule.class_of(target));
    }
    if (busy == 0) return "an empty group";
    if (to.size() != busy) return "two targets of a class";
  }
  return moved.size() == permutation.size() ? "" : "elements not moved";
}

TEST(SharedSchedule, KeepsTheLawForEveryLength) {
  for (const int bytes : {1, 2, 4, 8, 12, 16}) {
    const BankRule rule = bank_rule(bytes);
    for (std::uint32_t n = 0; n <= 270; ++n) {
      const List list = n % 2 == 0 ? random_list(n, n) : adversarial_list(n, rule.classes);
      const SharedSchedule schedule = shared_schedule(list, bytes);
      ASSERT_EQ(fault_of(list, schedule), "") << "n " << n << ", " << bytes << " bytes";
      ASSERT_EQ(schedule.rule, rule);
      ASSERT_LT(schedule.idle_slots(), rule.period()) << n;
      if (n % rule.period() == 0) {
        ASSERT_EQ(schedule.idle_slots(), 0U);
      }
      // As many groups as can be, of words and wider.
      if (rule.sharing == 1) {
        ASSERT_EQ(schedule.slots(), (n + rule.classes - 1) / rule.classes * rule.classes);
      }
    }
  }
}

TEST(SharedSchedule, WorkedRemainder) {
  // Five elements on four banks: bank 0 has two, so there are two groups, and three idle slots.
  machine::MemoryGeometry four;
  four.warp_size = four.banks = 4;
  const SharedSchedule schedule = shared_schedule(List{4, 3, 2, 1, 0}, 4, four);
  EXPECT_EQ(schedule.slots(), 8U);
  EXPECT_EQ(schedule.idle_slots(), 3U);
  EXPECT_EQ(fault_of(List{4, 3, 2, 1, 0}, schedule), "");
}

// --- packed

TEST(Pack, WordsByHand) {
  const SharedSchedule five{
      .count = 5, .rule = bank_rule(4), .source = {1, 2, 3, 4, 0, kIdle}, .target = {4, 3, 2, 1, 0, kIdle}};
  EXPECT_THAT(pack(five).words, ElementsAre(0x04030201, 0x0000'ff00, 0x01020304, 0x0000'ff00));
  EXPECT_EQ(pack(five).index_bits, 8);
  EXPECT_THAT(pack(five, 10).words, ElementsAre(1 | 2 << 10 | 3 << 20, 4 | 0 << 10 | 1023 << 20,
                                                4 | 3 << 10 | 2 << 20, 1 | 0 << 10 | 1023 << 20));
  EXPECT_THAT(pack(five, 16).words,
              ElementsAre(0x0002'0001, 0x0004'0003, 0xffff'0000, 0x0003'0004, 0x0001'0002, 0xffff'0000));
  EXPECT_THAT(pack(five, 32).words, ElementsAre(1, 2, 3, 4, 0, kIdle, 4, 3, 2, 1, 0, kIdle));
  const device::SharedPermutation lists = pack(five, 16).at(100);
  EXPECT_EQ(lists.count, 5U);
  EXPECT_EQ(lists.slots, 6U);
  EXPECT_EQ(lists.sources, 100U);
  EXPECT_EQ(lists.targets, 112U);
}

TEST(Pack, NarrowestWidth) {
  EXPECT_EQ(narrowest_index_bits(0, false), 8);
  EXPECT_EQ(narrowest_index_bits(255, true), 8);
  EXPECT_EQ(narrowest_index_bits(256, false), 8);
  EXPECT_EQ(narrowest_index_bits(256, true), 10);
  EXPECT_EQ(narrowest_index_bits(257, false), 10);
  EXPECT_EQ(narrowest_index_bits(1024, false), 10);
  EXPECT_EQ(narrowest_index_bits(1025, false), 16);
  EXPECT_EQ(narrowest_index_bits(65'536, false), 16);
  EXPECT_EQ(narrowest_index_bits(65'536, true), 32);
  EXPECT_EQ(narrowest_index_bits(65'537, false), 32);
  // Never wider than the length says: what has idle slots is no multiple of a period.
  for (const int bytes : {1, 2, 4, 8, 12, 16}) {
    for (const std::uint32_t n : {1U, 255U, 256U, 257U, 1000U, 1024U, 1025U, 4096U, 65'536U, 65'537U}) {
      const int bits = n <= 256 ? 8 : n <= 1024 ? 10 : n <= 65'536 ? 16 : 32;
      EXPECT_EQ(pack(shared_schedule(random_list(n, n), bytes)).index_bits, bits) << n << " " << bytes;
    }
  }
}

TEST(Pack, RoundTrip) {
  for (const int bytes : {1, 4, 16}) {
    for (const std::uint32_t n : {0U, 1U, 2U, 31U, 32U, 97U, 128U, 255U, 256U, 333U, 1000U, 1024U, 5000U}) {
      const SharedSchedule schedule = shared_schedule(random_list(n, n + 1), bytes);
      for (const int bits : {0, 8, 10, 16, 32}) {
        if (bits != 0 && bits < narrowest_index_bits(n, schedule.idle_slots() != 0)) continue;
        EXPECT_EQ(unpack(pack(schedule, bits), schedule.rule), schedule)
            << n << " elements of " << bytes << " bytes, " << bits << " bits";
      }
    }
  }
}

// --- refusals

using test::message_of;

TEST(ConflictFree, RefusesByName) {
  const auto value = [](const std::function<void()>& call) { return message_of(ErrorCode::value, call); };
  const auto unsupported = [](const std::function<void()>& call) {
    return message_of(ErrorCode::unsupported, call);
  };
  EXPECT_THAT(value([] { matched_conflict_free_schedule(List{0, 1, 1, 2}, 2); }), HasSubstr("1 at place 2"));
  EXPECT_THAT(value([] {
                matched_conflict_free_schedule(List{0, 1, 2}, 2);
              }),
              HasSubstr("3 elements over 2"));
  EXPECT_THAT(value([] { matched_conflict_free_schedule(List{0}, 0); }), HasSubstr("0 banks"));
  EXPECT_THAT(value([] { shared_schedule(List{0, 5, 1}, 4); }), HasSubstr("5 at place 1"));
  for (const int bytes : {-1, 0, 3, 5, 6, 7, 24, 32}) {
    EXPECT_THAT(unsupported([=] { shared_schedule(List{0}, bytes); }), HasSubstr("1, 2, 4, 8, 12 or 16"))
        << bytes;
  }
  machine::MemoryGeometry two;
  two.warp_size = two.banks = 2;
  EXPECT_THAT(unsupported([&] { bank_rule(16, two); }), HasSubstr("8 bytes of one row"));

  const SharedSchedule fine = shared_schedule(identity_list(300), 4);
  EXPECT_THAT(value([&] { pack(fine, 8); }), HasSubstr("10 bits or more"));
  EXPECT_THAT(value([&] { pack(fine, 12); }), HasSubstr("8, 10, 16 or 32"));
  SharedSchedule wrong = fine;
  wrong.target.pop_back();
  EXPECT_THAT(value([&] { pack(wrong); }), HasSubstr("as many sources as targets"));
  wrong = fine;
  wrong.source[3] = 300;
  EXPECT_THAT(value([&] { pack(wrong); }), HasSubstr("300 in a list"));

  PackedSchedule packed = pack(fine);
  packed.words.pop_back();
  EXPECT_THAT(value([&] { unpack(packed, fine.rule); }), HasSubstr("words"));
  packed = pack(fine);
  packed.words[0] |= 400;
  EXPECT_THAT(value([&] { unpack(packed, fine.rule); }), HasSubstr("at slot 0"));
  packed.index_bits = 0;
  EXPECT_THAT(value([&] { unpack(packed, fine.rule); }), HasSubstr("0 bits"));
}

}  // namespace conflict_free_test
}  // namespace faro::schedule
