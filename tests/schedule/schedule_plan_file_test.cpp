// Plan files: what is saved loads as it was; what is no plan file, or no permutation, is refused by name.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "refusal.hpp"
#include "schedule/plan_file.hpp"

namespace faro::schedule {
namespace schedule_plan_file_test {

namespace fs = std::filesystem;
using Bytes = std::vector<char>;

constexpr std::size_t kHeaderBytes = kPlanHeaderBytes;

// A file's bytes without a file.
class MemorySource final : public PlanSource {
 public:
  explicit MemorySource(const Bytes& bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::span<std::byte> to) override {
    ASSERT_LE(to.size(), bytes_.size() - at_);
    std::memcpy(to.data(), bytes_.data() + at_, to.size());
    at_ += to.size();
  }

 private:
  const Bytes& bytes_;
  std::size_t at_ = 0;
};

IndexSchedule parsed(const Bytes& bytes) {
  MemorySource source(bytes);
  return read_plan(source, "b.plan");
}

class PlanFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "faro-plan-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  fs::path path(const std::string& name = "a.plan") const { return directory_ / name; }

  Bytes saved(const IndexSchedule& schedule) const {
    save(schedule, path());
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // What is said of these bytes; empty if they are taken.
  std::string refusal(const Bytes& bytes, ErrorCode code = ErrorCode::file) const {
    try {
      parsed(bytes);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    return "";
  }

  void expect_refused(const Bytes& bytes, const std::string& part, ErrorCode code = ErrorCode::file) const {
    const std::string said = refusal(bytes, code);
    EXPECT_NE(said.find(part), std::string::npos) << said << "\nhas no: " << part;
  }

 private:
  fs::path directory_;
};

std::vector<std::uint32_t> shuffled(std::uint64_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> entries(count);
  std::iota(entries.begin(), entries.end(), 0U);
  std::mt19937_64 random(seed);
  std::shuffle(entries.begin(), entries.end(), random);
  return entries;
}

PartitionShape shape_of(std::uint64_t count) {
  return {.count = count, .chunk_bits = 3, .level_bits = even_levels(count, 3, 2)};
}

std::vector<IndexSchedule> every_kind(std::uint64_t count, Direction direction) {
  const std::vector<std::uint32_t> entries = shuffled(count, count);
  const Indexed indexed(entries, direction);
  const Indexed wide(std::vector<std::uint64_t>(entries.begin(), entries.end()), direction);
  return {direct_schedule(indexed),
          direct_schedule(wide),
          window_schedule(indexed, static_cast<std::uint32_t>(count)),
          runs_schedule(indexed),
          partition_index_schedule(indexed, shape_of(count)),
          partition_index_schedule(indexed, {.count = count, .chunk_bits = 16, .level_bits = {}}),
          row_column_schedule(indexed)};
}

void put(Bytes& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
  std::memcpy(bytes.data() + at, &value, size);
}

// The same bytes with a checksum that fits.
Bytes sealed(Bytes bytes) {
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), bytes.size() - 8);
  put(bytes, bytes.size() - 8, checksum, 8);
  return bytes;
}

TEST_F(PlanFile, LoadsWhatWasSaved) {
  for (const std::uint64_t count : {0ULL, 1ULL, 2ULL, 3ULL, 7ULL, 8ULL, 100ULL, 1000ULL, 4099ULL}) {
    for (const Direction direction : {Direction::scatter, Direction::gather}) {
      for (const IndexSchedule& schedule : every_kind(count, direction)) {
        const Bytes bytes = saved(schedule);
        const IndexSchedule again = load(path());
        ASSERT_EQ(again.what.index(), schedule.what.index());
        ASSERT_EQ(again.count, count);
        ASSERT_EQ(again.applied, direction);
        ASSERT_EQ(again.fingerprint, schedule.fingerprint);
        ASSERT_EQ(again.bytes(), schedule.bytes());
        ASSERT_EQ(entries_of(again), entries_of(schedule));
        ASSERT_EQ(saved(again), bytes) << "kind " << schedule.what.index() << ", count " << count;
        ASSERT_GE(bytes.size(), kHeaderBytes + 8 + schedule.bytes());
        ASSERT_LT(bytes.size(), kHeaderBytes + 8 + schedule.bytes() + 8 * 40);
      }
    }
  }
}

TEST_F(PlanFile, KeepsTheShape) {
  const Indexed indexed(shuffled(1000, 5), Direction::gather);
  const PartitionShape shape{.count = 1000, .chunk_bits = 4, .level_bits = {3, 1, 2}};
  save(partition_index_schedule(indexed, shape), path());
  EXPECT_EQ(std::get<PartitionSchedule>(load(path()).what).shape, shape);
}

// The layout that docs/guide/plan-files.md describes, byte for byte: 0 1 2 … to 2 0 1 as a scatter.
TEST_F(PlanFile, BytesByHand) {
  const Indexed indexed(std::vector<std::uint32_t>{2, 0, 1}, Direction::gather);
  IndexSchedule schedule = direct_schedule(indexed);
  schedule.fingerprint = 0x1122334455667788;
  Bytes wanted(kHeaderBytes + 16 + 8);
  std::memcpy(wanted.data(),
              "\x89"
              "faroP\r\n",
              8);
  put(wanted, 8, 1, 4);   // version
  put(wanted, 12, 0, 1);  // direct
  put(wanted, 13, 1, 1);  // gather
  put(wanted, 16, 3, 8);
  put(wanted, 24, 0x1122334455667788, 8);
  put(wanted, 32, 4, 8);  // bytes of an entry
  put(wanted, 80, 2, 4);
  put(wanted, 84, 0, 4);
  put(wanted, 88, 1, 4);
  EXPECT_EQ(saved(schedule), sealed(wanted));
}

TEST_F(PlanFile, ReplacesWholeAndLeavesNothingBehind) {
  const auto kinds = every_kind(100, Direction::scatter);
  save(kinds.front(), path());
  save(kinds.back(), path());
  EXPECT_EQ(load(path()).what.index(), kinds.back().what.index());
  EXPECT_EQ(std::distance(fs::directory_iterator(path().parent_path()), fs::directory_iterator{}), 1);
  test::expect_refused(ErrorCode::file, [&] { save(kinds.front(), path("missing") / "a.plan"); });
}

TEST_F(PlanFile, RefusesWhatIsNoFile) {
  const auto code_of = [](const fs::path& where) {
    try {
      load(where);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code_of(path("missing")), ErrorCode::file);
  EXPECT_EQ(code_of(path().parent_path()), ErrorCode::file);
  EXPECT_EQ(code_of("/dev/null"), ErrorCode::file);
}

TEST_F(PlanFile, RefusesOtherFiles) {
  const Bytes good = saved(every_kind(100, Direction::scatter)[4]);
  EXPECT_EQ(refusal(good), "");
  expect_refused({}, "0 bytes");
  expect_refused(Bytes(200, 'x'), "does not begin as plan files do");
  Bytes changed = good;
  changed[8] = 3;
  expect_refused(sealed(changed), "version 3");
  changed[8] = 2;  // which has blocks
  expect_refused(sealed(changed), "blocks");
  changed = good;
  changed[12] = 5;
  expect_refused(sealed(changed), "kind 5");
  changed = good;
  changed[13] = 2;
  expect_refused(sealed(changed), "direction 2");
  changed = good;
  changed[14] = 1;
  expect_refused(sealed(changed), "reserved");
  changed = good;
  changed.push_back('\0');
  expect_refused(changed, "too long");
  changed = good;
  changed[good.size() - 20] = static_cast<char>(changed[good.size() - 20] ^ 4);
  expect_refused(changed, "checksum");
}

TEST_F(PlanFile, RefusesEveryTruncation) {
  for (const IndexSchedule& schedule : every_kind(20, Direction::scatter)) {
    const Bytes good = saved(schedule);
    for (std::size_t size = 0; size < good.size(); ++size) {
      const std::string said = refusal({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
      ASSERT_NE(said.find(size < kHeaderBytes + 8 ? "bytes" : "truncated"), std::string::npos) << said;
    }
  }
}

TEST_F(PlanFile, RefusesATruncatedFile) {
  save(every_kind(100, Direction::scatter)[4], path());
  fs::resize_file(path(), fs::file_size(path()) - 8);
  test::expect_refused(ErrorCode::file, {"truncated", path().string()}, [&] { load(path()); });
}

TEST_F(PlanFile, RefusesEveryFlippedBit) {
  for (const IndexSchedule& schedule : every_kind(9, Direction::scatter)) {
    const Bytes good = saved(schedule);
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      Bytes changed = good;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
      ASSERT_NE(refusal(changed), "") << "bit " << bit;
    }
  }
}

// Sizes that promise more than memory holds are refused by the file's length, before anything is allocated.
TEST_F(PlanFile, RefusesSizesThatTheFileDoesNotBearOut) {
  const auto kinds = every_kind(100, Direction::scatter);
  for (const IndexSchedule& schedule : kinds) {
    Bytes changed = saved(schedule);
    // Runs say how many they are, whatever the count.
    const bool is_runs = std::holds_alternative<RunsSchedule>(schedule.what);
    put(changed, 16, std::uint64_t{1} << 40, 8);
    EXPECT_NE(refusal(sealed(changed), is_runs ? ErrorCode::value : ErrorCode::file), "");
    put(changed, 16, ~std::uint64_t{0}, 8);
    expect_refused(sealed(changed), "18446744073709551615 elements");
  }
  Bytes runs = saved(kinds[3]);
  put(runs, 16, std::uint64_t{1} << 40, 8);
  put(runs, 32, std::uint64_t{1} << 40, 8);
  expect_refused(sealed(runs), "truncated");
  put(runs, 32, std::uint64_t{1} << 62, 8);
  expect_refused(sealed(runs), "sizes that no schedule");
  Bytes partition = saved(kinds[4]);
  put(partition, 32, 0xFFFFFFFF00000003, 8);
  expect_refused(sealed(partition), "sizes that no schedule");
  partition = saved(kinds[4]);
  put(partition, 40, 33, 8);
  expect_refused(sealed(partition), "sizes that no schedule");
  partition = saved(kinds[4]);
  partition[79] = 1;
  expect_refused(sealed(partition), "sizes that no schedule");
}

// An intact file that is no permutation: every byte of the arrays changed in turn, and sealed again.
TEST_F(PlanFile, RefusesIntactFilesThatAreNoPermutation) {
  int refused = 0;
  int taken = 0;
  for (const IndexSchedule& schedule : every_kind(37, Direction::gather)) {
    const Bytes good = saved(schedule);
    for (std::size_t at = kHeaderBytes; at < good.size() - 8; ++at) {
      Bytes changed = good;
      changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
      try {
        // What is taken is a permutation: only bytes that fill up arrays may differ.
        std::vector<std::uint64_t> entries = entries_of(parsed(sealed(changed)));
        ASSERT_EQ(entries, entries_of(schedule));
        ++taken;
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::value) << error.what();
        ASSERT_NE(error.report().operation.find("`b.plan`"), std::string::npos) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(taken, 100);
}

TEST_F(PlanFile, DirectOnADeviceIsRefused) {
  std::uint32_t entry = 0;
  const IndexSchedule there{
      .what = DirectSchedule{Indexed::on_device(&entry, 1, {}, Direction::scatter, 2, nullptr)},
      .count = 1,
      .applied = Direction::scatter,
      .fingerprint = 0};
  test::expect_refused(ErrorCode::value, "device 2", [&] { save(there, path()); });
  EXPECT_FALSE(fs::exists(path()));
}

}  // namespace schedule_plan_file_test
}  // namespace faro::schedule
