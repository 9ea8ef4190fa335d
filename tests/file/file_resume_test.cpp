// Sweeps that are interrupted and gone on with, and two runs on one output.
#include <gtest/gtest.h>

#include <filesystem>

#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file_sweep_support.hpp"
#include "io/output_file.hpp"
#include "oracle.hpp"
#include "refusal.hpp"

namespace faro {
namespace file_resume_test {

using testing::budget;
using testing::Bytes;
using testing::FileSweep;
using testing::random_bytes;
constexpr auto read_file = testing::read_bytes;
constexpr auto write_file = testing::write_bytes;
namespace fs = std::filesystem;

class FileResume : public FileSweep {
 protected:
  void SetUp() override {
    FileSweep::SetUp();
    data_ = random_bytes(total_bytes(problem_), 3);
    write_file(directory_ / "in", data_);
    expected_.resize(data_.size());
    permute_naively(problem_, data_.data(), expected_.data(), 1);
    options_ = budget(3 << 12);
    options_.keep_unfinished = true;
    options_.checkpoint_seconds = 0;
  }

  // Cancels when `part` of the bytes are done.
  file::Report run(double part, bool resume) {
    file::Options options = options_;
    options.resume = resume;
    double done = 0;
    options.progress = [&](const file::Progress& progress) {
      done = static_cast<double>(progress.done_bytes) / static_cast<double>(progress.total_bytes);
    };
    options.cancelled = [&] { return done > part; };
    return file::run(file::Sweep(problem_, options), {directory_ / "in", 0}, {directory_ / "out"}, options);
  }

  Problem problem_{.permutation = maps::random_bmmc(15, 9), .element_bytes = 4};
  Bytes data_;
  Bytes expected_;
  file::Options options_;
};

TEST_F(FileResume, GoesOnBehindTheFinishedTiles) {
  for (const bool verify : {false, true}) {
    options_.verify = verify;
    EXPECT_FALSE(run(0.4, false).finished);
    EXPECT_FALSE(fs::exists(directory_ / "out"));
    EXPECT_FALSE(run(0.7, true).finished);
    const file::Report report = run(2, true);
    EXPECT_TRUE(report.finished);
    EXPECT_GT(report.resumed_tiles, report.facts.tiles / 2);
    EXPECT_LT(report.written_bytes, data_.size() / 2);
    EXPECT_TRUE(read_file(directory_ / "out") == expected_);
    EXPECT_EQ(files(), 2U);
    fs::remove(directory_ / "out");
  }
}

TEST_F(FileResume, TilesThatChangedAreMadeAgain) {
  EXPECT_FALSE(run(0.8, false).finished);
  Bytes partial = read_file(directory_ / ".faro-partial-out");
  partial[partial.size() / 2] ^= std::byte{4};
  for (std::size_t at = 0; at < partial.size(); at += 20000) partial[at] ^= std::byte{1};
  write_file(directory_ / ".faro-partial-out", partial);
  const file::Report report = run(2, true);
  EXPECT_TRUE(report.finished);
  EXPECT_EQ(report.resumed_tiles, 0U);
  EXPECT_TRUE(read_file(directory_ / "out") == expected_);
}

TEST_F(FileResume, AnotherProblemIsRefusedAndWithoutResumeBegunAnew) {
  EXPECT_FALSE(run(0.5, false).finished);
  problem_.permutation = maps::bit_reversal(15);
  permute_naively(problem_, data_.data(), expected_.data(), 1);
  EXPECT_EQ(test::code_of([&] { run(2, true); }), ErrorCode::file);
  EXPECT_EQ(files(), 3U);
  EXPECT_TRUE(run(2, false).finished);
  EXPECT_TRUE(read_file(directory_ / "out") == expected_);
  EXPECT_EQ(files(), 2U);
}

TEST_F(FileResume, TwoRunsOnOneOutputExcludeEachOther) {
  file::Options options = options_;
  ErrorCode second = ErrorCode::internal;
  ErrorCode in_memory = ErrorCode::internal;
  options.progress = [&](const file::Progress&) {
    if (second != ErrorCode::internal) return;
    second = test::code_of([&] { run(2, false); });
    // As a run writes its result that memory held.
    in_memory = test::code_of([&] { const io::OutputFile file(directory_ / "out"); });
  };
  EXPECT_TRUE(file::run(file::Sweep(problem_, options), {directory_ / "in", 0}, {directory_ / "out"}, options)
                  .finished);
  EXPECT_EQ(second, ErrorCode::file);
  EXPECT_EQ(in_memory, ErrorCode::file);
  EXPECT_TRUE(read_file(directory_ / "out") == expected_);
  // What an interrupted run left keeps nobody from writing.
  EXPECT_FALSE(run(0.5, false).finished);
  EXPECT_NO_THROW(io::OutputFile(directory_ / "out"));
}

}  // namespace file_resume_test
}  // namespace faro
