// Schedules of every kind: each is the permutation that it was made from, in both directions, or refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "refusal.hpp"

namespace faro::schedule {
namespace schedule_index_test {

using Entries = std::vector<std::uint64_t>;

Entries identity(std::uint64_t count) {
  Entries entries(count);
  std::iota(entries.begin(), entries.end(), std::uint64_t{0});
  return entries;
}

Entries shuffled(std::uint64_t count, std::uint64_t seed) {
  Entries entries = identity(count);
  std::mt19937_64 random(seed);
  std::shuffle(entries.begin(), entries.end(), random);
  return entries;
}

// Nothing moves further than `window`; blocks of window + 1 are shuffled, from a place that varies.
Entries jostled(std::uint64_t count, std::uint32_t window, std::uint64_t seed) {
  Entries entries = identity(count);
  std::mt19937_64 random(seed);
  const std::uint64_t block = window + std::uint64_t{1};
  for (std::uint64_t begin = 0, end = seed % block; begin < count; begin = end, end += block) {
    std::shuffle(entries.begin() + static_cast<std::ptrdiff_t>(begin),
                 entries.begin() + static_cast<std::ptrdiff_t>(std::min(end, count)), random);
  }
  return entries;
}

// Runs of up to `longest` elements in random order.
Entries in_runs(std::uint64_t count, std::uint64_t longest, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
  for (std::uint64_t begin = 0; begin < count;) {
    const std::uint64_t size = std::min(1 + random() % longest, count - begin);
    runs.emplace_back(begin, size);
    begin += size;
  }
  std::shuffle(runs.begin(), runs.end(), random);
  Entries entries;
  for (const auto& [begin, size] : runs) {
    for (std::uint64_t i = 0; i < size; ++i) entries.push_back(begin + i);
  }
  return entries;
}

Indexed indexed(const Entries& entries, Direction direction, bool is_wide) {
  if (is_wide) return {entries, direction};
  return {std::vector<std::uint32_t>(entries.begin(), entries.end()), direction};
}

// The array moved by the entries as the direction says, in one loop.
std::vector<std::byte> moved(const Entries& entries, Direction direction, const std::vector<std::byte>& in,
                             std::uint64_t bytes) {
  std::vector<std::byte> out(in.size());
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    const std::uint64_t from = direction == Direction::scatter ? i : entries[i];
    const std::uint64_t to = direction == Direction::scatter ? entries[i] : i;
    std::memcpy(out.data() + to * bytes, in.data() + from * bytes, bytes);
  }
  return out;
}

std::vector<std::byte> noise(std::uint64_t bytes) {
  std::vector<std::byte> result(bytes);
  std::mt19937 random(static_cast<unsigned>(bytes));
  for (std::byte& each : result) each = static_cast<std::byte>(random());
  return result;
}

using Make = std::function<IndexSchedule(const Indexed&)>;

// Either direction, either width of entries: entries, result, inverse, fingerprint.
void expect_right(const Entries& entries, const Make& make) {
  const std::uint64_t bytes = 1 + entries.size() % 5;
  const std::vector<std::byte> in = noise(entries.size() * bytes);
  for (const Direction direction : {Direction::scatter, Direction::gather}) {
    for (const bool is_wide : {false, true}) {
      const Indexed array = indexed(entries, direction, is_wide);
      const IndexSchedule made = make(array);
      ASSERT_NO_THROW(check_schedule(made, 2));
      ASSERT_EQ(made.count, entries.size());
      ASSERT_EQ(made.applied, direction);
      ASSERT_EQ(made.fingerprint, fingerprint(array));
      ASSERT_EQ(entries_of(made), entries);
      std::vector<std::byte> out(in.size());
      run_by_definition(made, in.data(), out.data(), bytes);
      ASSERT_EQ(out, moved(entries, direction, in, bytes));
      std::vector<std::byte> back(in.size());
      run_by_definition(made.inverse(), out.data(), back.data(), bytes);
      ASSERT_EQ(back, in);
      ASSERT_EQ(made.inverse().inverse().applied, direction);
    }
  }
}

Make with_window(std::uint32_t window) {
  return [window](const Indexed& array) { return window_schedule(array, window, 2); };
}

// --- examples by hand

TEST(IndexSchedule, WindowByHand) {
  // Forwards a b c d goes to b a d c, shifted by -1 and 1.
  const IndexSchedule made = window_schedule(indexed({1, 0, 3, 2}, Direction::scatter, false), 1);
  EXPECT_EQ(std::get<WindowSchedule>(made.what).shift, (std::vector<std::uint16_t>{2, 0, 2, 0}));
  // A cycle of three is not its own inverse: element 0 goes to 1, 1 to 2, 2 to 0.
  const IndexSchedule cycle = window_schedule(indexed({1, 2, 0}, Direction::scatter, false), 2);
  EXPECT_EQ(std::get<WindowSchedule>(cycle.what).shift, (std::vector<std::uint16_t>{4, 1, 1}));
  const IndexSchedule gather = window_schedule(indexed({1, 2, 0}, Direction::gather, false), 2);
  EXPECT_EQ(std::get<WindowSchedule>(gather.what).shift, (std::vector<std::uint16_t>{4, 1, 1}));
  EXPECT_EQ(gather.applied, Direction::gather);
  EXPECT_EQ(gather.bytes(), 6U);
}

TEST(IndexSchedule, RunsByHand) {
  const IndexSchedule made = runs_schedule(indexed({4, 5, 0, 1, 2, 3}, Direction::scatter, false));
  const RunsSchedule& runs = std::get<RunsSchedule>(made.what);
  EXPECT_EQ(runs.source, (std::vector<std::uint64_t>{0, 2, 6}));
  EXPECT_EQ(runs.target, (std::vector<std::uint64_t>{4, 0}));
  EXPECT_EQ(made.bytes(), 40U);
}

TEST(IndexSchedule, RowColumnHasTheNearestSquare) {
  const auto sides = [](std::uint64_t count, std::uint64_t most) {
    const IndexSchedule made = row_column_schedule(indexed(identity(count), Direction::scatter, false), most);
    const RowColumnSchedule& lists = std::get<RowColumnSchedule>(made.what);
    return std::pair(lists.rows, lists.columns);
  };
  EXPECT_EQ(sides(64, 1 << 16), std::pair(8U, 8U));
  EXPECT_EQ(sides(128, 1 << 16), std::pair(8U, 16U));
  EXPECT_EQ(sides(128, 8), std::pair(16U, 8U));
  EXPECT_EQ(sides(1000, 1 << 16), std::pair(25U, 40U));
  EXPECT_EQ(sides(7, 100), std::pair(1U, 7U));
  EXPECT_EQ(sides(1, 1), std::pair(1U, 1U));
  EXPECT_EQ(sides(0, 1), std::pair(0U, 0U));
}

TEST(IndexSchedule, FingerprintIsOfCountAndEntries) {
  const auto of = [](const Entries& entries, Direction direction, bool is_wide) {
    return fingerprint(indexed(entries, direction, is_wide));
  };
  const Entries entries = shuffled(10001, 3);
  EXPECT_EQ(of(entries, Direction::scatter, false), of(entries, Direction::gather, true));
  Entries changed = entries;
  std::swap(changed[9998], changed[9999]);
  EXPECT_NE(of(entries, Direction::scatter, false), of(changed, Direction::scatter, false));
  EXPECT_NE(of({}, Direction::scatter, false), of({0}, Direction::scatter, false));
}

// --- sweeps

TEST(IndexSchedule, EveryKindAtEveryLengthTo130) {
  for (std::uint64_t count = 0; count <= 130; ++count) {
    const Entries entries = shuffled(count, count);
    expect_right(entries, direct_schedule);
    expect_right(entries, runs_schedule);
    expect_right(entries, with_window(static_cast<std::uint32_t>(count)));
    expect_right(entries, [](const Indexed& array) { return row_column_schedule(array); });
    const PartitionShape shape{.count = count, .chunk_bits = 2, .level_bits = even_levels(count, 2, 3)};
    expect_right(entries, [&](const Indexed& array) { return partition_index_schedule(array, shape, 2); });
    const auto window = static_cast<std::uint32_t>(count % 9);
    expect_right(jostled(count, window, count), with_window(window));
    expect_right(in_runs(count, 12, count), runs_schedule);
    if (HasFatalFailure()) FAIL() << count << " elements";
  }
}

TEST(IndexSchedule, LongArrays) {
  // More than one piece, by several threads; runs that cross the pieces' ends.
  for (const std::uint64_t count : {65535ULL, 65537ULL, 200000ULL}) {
    expect_right(jostled(count, 1000, count), with_window(1000));
    expect_right(jostled(count, 32767, count), with_window(32767));
    expect_right(in_runs(count, 5000, count), runs_schedule);
    expect_right(shuffled(count, count), runs_schedule);
    expect_right(identity(count), runs_schedule);
    if (HasFatalFailure()) FAIL() << count << " elements";
  }
  expect_right(shuffled(std::uint64_t{96} * 200, 1),
               [](const Indexed& array) { return row_column_schedule(array, 96); });
}

// --- refusals

std::string refusal(const std::function<void()>& call, ErrorCode code = ErrorCode::value) {
  return test::message_of(code, call);
}

void expect_refused(const std::function<void()>& work, const std::string& part) {
  const std::string said = refusal(work);
  EXPECT_NE(said.find(part), std::string::npos) << said << "\nhas no: " << part;
}

TEST(IndexScheduleErrors, Window) {
  Entries entries = identity(100000);
  std::swap(entries[70000], entries[70009]);
  std::swap(entries[90000], entries[90500]);
  const Indexed array = indexed(entries, Direction::gather, false);
  expect_refused([&] { window_schedule(array, 8, 2); }, "entry 70000 = 70009");
  expect_refused([&] { window_schedule(array, 9, 2); }, "entry 90000 = 90500");
  EXPECT_NO_THROW(window_schedule(array, 500, 2));
  expect_refused([&] { window_schedule(array, 32768); }, "a window of 32768");
}

TEST(IndexScheduleErrors, RowColumn) {
  const Indexed prime = indexed(identity(65537), Direction::scatter, false);
  EXPECT_NE(refusal([&] { row_column_schedule(prime); }, ErrorCode::unsupported).find("65537 elements"),
            std::string::npos);
  const Indexed square = indexed(identity(64), Direction::scatter, false);
  EXPECT_NE(refusal([&] { row_column_schedule(square, 0); }, ErrorCode::unsupported).find("0 columns"),
            std::string::npos);
}

TEST(IndexScheduleErrors, ArraysOfADevice) {
  std::uint32_t entry = 0;
  const Indexed there = Indexed::on_device(&entry, 1, {}, Direction::scatter, 2, nullptr);
  expect_refused([&] { direct_schedule(there); }, "device 2");
  expect_refused([&] { window_schedule(there, 1); }, "device 2");
  expect_refused([&] { runs_schedule(there); }, "device 2");
  expect_refused([&] { row_column_schedule(there); }, "device 2");
  expect_refused([&] { partition_index_schedule(there, {.count = 1, .chunk_bits = 4, .level_bits = {}}); },
                 "device 2");
  expect_refused([&] { fingerprint(there); }, "device 2");
}

// A schedule with something changed, checked.
template <typename Kind, typename Change>
std::function<void()> changed(const IndexSchedule& good, const Change& change) {
  return [good, change] {
    IndexSchedule schedule = good;
    change(std::get<Kind>(schedule.what));
    check_schedule(schedule, 2);
  };
}

TEST(IndexScheduleErrors, ChangedWindow) {
  const IndexSchedule good = window_schedule(indexed(jostled(200, 5, 3), Direction::scatter, false), 5);
  const auto of = [&](auto change) { return changed<WindowSchedule>(good, change); };
  EXPECT_NO_THROW(of([](WindowSchedule&) {})());
  expect_refused(of([](WindowSchedule& w) { w.shift[0] = 4; }), "shift 4 for element 0");
  expect_refused(of([](WindowSchedule& w) { w.shift[199] = 6; }), "shift 6 for element 199");
  expect_refused(of([](WindowSchedule& w) { w.shift[50] = 11; }), "shift 11 for element 50");
  expect_refused(of([](WindowSchedule& w) { w.shift[50] = 65535; }), "shift 65535");
  expect_refused(of([](WindowSchedule& w) { w.shift[100] = w.shift[100] == 5 ? 4 : 5; }), "was taken before");
  expect_refused(of([](WindowSchedule& w) { w.shift.pop_back(); }), "199 shifts");
  expect_refused(of([](WindowSchedule& w) { w.count = 199; }), "199 elements");
  expect_refused(of([](WindowSchedule& w) { w.window = 40000; }), "a window of 40000");
}

TEST(IndexScheduleErrors, ChangedRuns) {
  const IndexSchedule good = runs_schedule(indexed({4, 5, 0, 1, 2, 3}, Direction::scatter, false));
  const auto of = [&](auto change) { return changed<RunsSchedule>(good, change); };
  EXPECT_NO_THROW(of([](RunsSchedule&) {})());
  expect_refused(of([](RunsSchedule& r) { r.source[0] = 1; }), "run 0 from 1");
  expect_refused(of([](RunsSchedule& r) { r.source[1] = 0; }), "run 0 from 0 to 0");
  expect_refused(of([](RunsSchedule& r) { r.source[1] = 3; }), "run 0 to 4");
  expect_refused(of([](RunsSchedule& r) { r.source[2] = 7; }), "7 elements before the end");
  expect_refused(of([](RunsSchedule& r) { r.target[1] = 1; }), "run 1 to 1, wanted a run to 0");
  expect_refused(of([](RunsSchedule& r) { r.target[0] = ~std::uint64_t{0}; }), "wanted a run to 4");
  expect_refused(of([](RunsSchedule& r) { r.target.pop_back(); }), "3 sources of runs");
  expect_refused(of([](RunsSchedule& r) { r.source.clear(); }), "0 sources of runs");
}

TEST(IndexScheduleErrors, ChangedRowColumn) {
  const IndexSchedule good = row_column_schedule(indexed(shuffled(24, 1), Direction::scatter, false));
  const auto of = [&](auto change) { return changed<RowColumnSchedule>(good, change); };
  EXPECT_NO_THROW(of([](RowColumnSchedule&) {})());
  expect_refused(of([](RowColumnSchedule& l) { l.first[7] = 6; }),
                 "first step, row 1: place 6 for element 1");
  expect_refused(of([](RowColumnSchedule& l) { l.middle[5] = l.middle[4]; }), "middle step, column 1: place");
  expect_refused(of([](RowColumnSchedule& l) { l.last[23] = l.last[22]; }), "last step, row 3: place");
  expect_refused(of([](RowColumnSchedule& l) { l.rows = 3; }), "18 elements in rows x columns");
  expect_refused(of([](RowColumnSchedule& l) { l.last.clear(); }), "0 places of the last step");
  expect_refused(of([](RowColumnSchedule& l) { l.rows = 1 << 17; }), "131072 rows");
}

TEST(IndexScheduleErrors, CountsThatDiffer) {
  for (IndexSchedule schedule :
       {direct_schedule(indexed(identity(9), Direction::scatter, false)),
        partition_index_schedule(indexed(identity(9), Direction::scatter, false),
                                 {.count = 9, .chunk_bits = 2, .level_bits = {2}})}) {
    schedule.count = 10;
    expect_refused([&] { check_schedule(schedule); }, "wanted 10");
  }
}

}  // namespace schedule_index_test
}  // namespace faro::schedule
