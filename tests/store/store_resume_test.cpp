// Relayouts that were ended in the middle, and what goes on behind them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/store.hpp"
#include "io/npy.hpp"

namespace faro {
namespace store_resume_test {

namespace fs = std::filesystem;

class ResumedStores : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "faro-resume-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    write("in.npy", random_text(24 * 30 * 20 * 4, 1));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static std::string random_text(std::size_t bytes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text(bytes, '\0');
    for (char& letter : text) letter = static_cast<char>(random());
    return text;
  }
  // Writes 24 x 30 x 20 numbers of 4 bytes.
  void write(const std::string& name, const std::string& data) const {
    const std::vector<std::uint64_t> shape{24, 30, 20};
    const auto header = io::npy_header_bytes("'<u4'", shape);
    std::ofstream file(path(name), std::ios::binary);
    file.write(reinterpret_cast<const char*>(header.data()), static_cast<std::streamsize>(header.size()));
    file << data;
  }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> left_over() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(".faro-")) names.push_back(name);
    }
    return names;
  }

  // A byte of a chunk of the input is another, as a disk may have it, and then again what it was.
  void flip_last_byte(const std::string& name) const {
    const auto time = fs::last_write_time(path(name));
    std::string text = content(name);
    text.back() = static_cast<char>(text.back() ^ 1);
    std::fstream(path(name), std::ios::binary | std::ios::in | std::ios::out) << text;
    fs::last_write_time(path(name), time);
  }

  // Whether a run that ends at a chunk that is damaged left anything to go on with.
  bool ends_at(const std::string& chunk, const std::string& out, store::Options options) const {
    options.keep_unfinished = true;
    options.checkpoint_seconds = 0;
    flip_last_byte(chunk);
    EXPECT_THROW(store::relayout(path("in.zarr"), path(out), options), Error);
    flip_last_byte(chunk);
    EXPECT_FALSE(fs::exists(path(out)));
    return !left_over().empty();
  }

  ErrorCode refusal(const std::string& out, const store::Options& options) const {
    try {
      store::relayout(path("in.zarr"), path(out), options);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.code();
    }
    ADD_FAILURE() << out << " was not refused";
    return ErrorCode::internal;
  }

 private:
  fs::path folder_;
};

TEST_F(ResumedStores, GoOnBehindWhatIsFinished) {
  struct Case {
    std::string out;
    store::Options options;
  };
  const std::vector<Case> cases{
      {"a.zarr", {.axes = {0, 2, 1}, .chunks = {6, 5, 30}, .memory_bytes = 60'000, .threads = 1}},
      {"b.zarr",
       {.axes = {0, 2, 1},
        .chunks = {3, 20, 10},
        .shards = {6, 20, 30},
        .memory_bytes = 60'000,
        .threads = 1}},
      {"c.npy", {.axes = {0, 2, 1}, .memory_bytes = 45'000, .threads = 1}},
      {"d.zarr",
       {.axes = {2, 1, 0}, .chunks = {1, 30, 24}, .codec = "none", .memory_bytes = 35'000, .threads = 1}},
      {"e.npy", {.axes = {0, 2, 1}, .dtype = "float32", .memory_bytes = 45'000, .threads = 1}}};
  store::relayout(path("in.npy"), path("in.zarr"), {.chunks = {4, 30, 20}, .codec = "zstd:1+crc32c"});
  int by_scratch = 0;
  for (const Case& each : cases) {
    SCOPED_TRACE(each.out);
    store::Options plain = each.options;
    plain.memory_bytes = 0;
    store::relayout(path("in.zarr"), path("wanted-" + each.out), plain);
    store::relayout(path("wanted-" + each.out), path("wanted.npy"));
    std::uint64_t resumed = 0;
    for (int chunk = 1; chunk < 6; ++chunk) {
      if (!ends_at("in.zarr/c/" + std::to_string(chunk) + "/0/0", each.out, each.options)) continue;
      store::Options more = each.options;
      more.resume = true;
      more.verify = chunk % 2 == 0;
      const store::Report report = store::relayout(path("in.zarr"), path(each.out), more);
      by_scratch += report.facts.uses_scratch ? 1 : 0;
      EXPECT_EQ(report.verified, more.verify);
      resumed += report.resumed_regions;
      EXPECT_TRUE(left_over().empty()) << left_over().front();
      store::relayout(path(each.out), path("got.npy"));
      EXPECT_EQ(content("got.npy"), content("wanted.npy"));
      fs::remove_all(path(each.out));
    }
    EXPECT_GT(resumed, 0U);
  }
  EXPECT_GT(by_scratch, 0);
}

TEST_F(ResumedStores, RefuseAnotherInputAndAnotherCommand) {
  store::Options options{.axes = {0, 2, 1}, .chunks = {4, 20, 30}, .memory_bytes = 72'000, .threads = 1};
  store::relayout(path("in.npy"), path("in.zarr"), {.chunks = {4, 30, 20}, .codec = "zstd:1+crc32c"});
  ASSERT_TRUE(ends_at("in.zarr/c/4/0/0", "out.zarr", options));
  options.resume = true;
  store::Options other = options;
  other.chunks = {2, 20, 30};
  EXPECT_EQ(refusal("out.zarr", other), ErrorCode::file);
  const auto time = fs::last_write_time(path("in.zarr/c/0/0/0"));
  fs::last_write_time(path("in.zarr/c/0/0/0"), time + std::chrono::seconds(1));
  EXPECT_EQ(refusal("out.zarr", options), ErrorCode::file);
  fs::last_write_time(path("in.zarr/c/0/0/0"), time);
  EXPECT_GT(store::relayout(path("in.zarr"), path("out.zarr"), options).resumed_regions, 0U);
}

TEST_F(ResumedStores, WhatCannotBeDoneLeavesNothing) {
  store::relayout(path("in.npy"), path("in.zarr"), {.chunks = {4, 30, 20}});
  for (const char* const out : {"out.zarr", "out.npy"}) {
    EXPECT_EQ(refusal(out, {.memory_bytes = 500, .keep_unfinished = true}), ErrorCode::value);
    EXPECT_TRUE(left_over().empty()) << left_over().front();
  }
}

TEST_F(ResumedStores, BeginAnewWhereWhatIsThereIsDamaged) {
  store::Options options{
      .axes = {0, 2, 1}, .chunks = {4, 20, 30}, .codec = "none", .memory_bytes = 50'000, .threads = 1};
  store::relayout(path("in.npy"), path("in.zarr"), {.chunks = {4, 30, 20}, .codec = "zstd:1+crc32c"});
  store::relayout(path("in.zarr"), path("wanted.zarr"), options);
  for (const bool is_cut : {false, true}) {
    ASSERT_TRUE(ends_at("in.zarr/c/4/0/0", "out.zarr", options));
    const std::string chunk = ".faro-partial-out.zarr/c/1/0/0";
    is_cut ? fs::resize_file(path(chunk), 7) : flip_last_byte(chunk);
    options.resume = true;
    EXPECT_EQ(store::relayout(path("in.zarr"), path("out.zarr"), options).resumed_regions, 0U);
    for (int c = 0; c < 6; ++c) {
      const std::string name = ".zarr/c/" + std::to_string(c) + "/0/0";
      EXPECT_EQ(content("out" + name), content("wanted" + name));
    }
    fs::remove_all(path("out.zarr"));
  }
}

TEST_F(ResumedStores, AnInputThatChangesMeanwhileIsRefused) {
  store::relayout(path("in.npy"), path("in.zarr"), {.chunks = {4, 30, 20}});
  bool is_first = true;
  const auto touch = [&](const store::Progress&) {
    if (!std::exchange(is_first, false)) return;
    const std::string chunk = path("in.zarr/c/2/0/0");
    fs::last_write_time(chunk, fs::last_write_time(chunk) + std::chrono::seconds(1));
  };
  EXPECT_EQ(refusal("out.zarr", {.chunks = {2, 30, 20}, .progress = touch}), ErrorCode::file);
  EXPECT_FALSE(fs::exists(path("out.zarr")));
  EXPECT_TRUE(left_over().empty());
}

}  // namespace store_resume_test
}  // namespace faro
