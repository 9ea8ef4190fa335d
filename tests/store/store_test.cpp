// Stores laid out anew, against the obvious loop; and headers of strangers, which are refused in one line.
#include "faro/store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "io/npy.hpp"
#include "refusal.hpp"
#include "store/axis_choice.hpp"
#include "store/nifti_notes.hpp"
#include "store/regions.hpp"
#include "store/store_formats.hpp"
#include "store/zarr_chunks.hpp"
#include "store/zarr_metadata.hpp"

namespace faro {
namespace store_test {

namespace fs = std::filesystem;
using store::Bytes;
using store::Shape;

class Stores : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "faro-stores-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  void write_npy(const std::string& name, const Shape& shape, const Bytes& data,
                 const std::string& descr) const {
    const auto header = io::npy_header_bytes("'" + descr + "'", shape);
    std::string text(header.size() + data.size(), '\0');
    std::memcpy(text.data(), header.data(), header.size());
    std::memcpy(text.data() + header.size(), data.data(), data.size());
    write(name, text);
  }
  Bytes data_of(const std::string& name) const {
    const io::NpyHeader header = io::read_npy_header(path(name));
    std::ifstream file(path(name), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(header.data_offset));
    Bytes data(header.data_bytes());
    file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
    return data;
  }

  // The error's code, after a check of its text. Nothing new is in the folder.
  ErrorCode refusal(const std::string& in, const std::string& out, const store::Options& options = {}) const {
    const std::size_t before = entries();
    try {
      store::relayout(path(in), path(out), options);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      EXPECT_EQ(entries(), before) << error.what();
      return error.code();
    }
    ADD_FAILURE() << in << " was not refused";
    return ErrorCode::internal;
  }

 private:
  fs::path folder_;
};

Bytes random_elements(std::mt19937_64& random, std::uint64_t bytes) {
  Bytes data(bytes);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random() % 7);
  // Chunks of nothing but the fill value are left out.
  if (random() % 3 == 0)
    std::fill(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(bytes / 2), std::byte{0});
  return data;
}

// out[i_axes[0], i_axes[1], …] = in[i_0, i_1, …]: the obvious loop.
Bytes transposed(const Bytes& in, const Shape& shape, const std::vector<int>& axes, std::uint64_t width) {
  Bytes out(in.size());
  Shape index(shape.size(), 0);
  if (store::is_empty(shape)) return out;
  std::uint64_t x = 0;
  do {
    std::uint64_t y = 0;
    for (const int axis : axes)
      y = y * shape[static_cast<std::size_t>(axis)] + index[static_cast<std::size_t>(axis)];
    std::memcpy(out.data() + y * width, in.data() + x++ * width, width);
  } while (store::advance(index, shape));
  return out;
}

TEST_F(Stores, ThereAndBackByRandomGridsAxesCodecsAndBudgets) {
  constexpr std::array kCodecs{"none", "zstd:1", "gzip:1", "blosc:lz4:3:shuffle", "zstd:1+crc32c"};
  int swept = 0;
  int by_scratch = 0;
  int nested = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t rank = random() % 5;
    Shape shape;
    std::vector<int> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random);
    for (std::size_t a = 0; a < rank; ++a) shape.push_back(random() % 20 == 0 ? 0 : 1 + random() % 13);
    const std::uint64_t width = std::array{1, 2, 4, 8, 16}[random() % 5];
    const std::string descr =
        std::array{"|u1", "<i2", "<f4", "<i8", "<c16"}[static_cast<std::size_t>(std::countr_zero(width))];
    const Bytes data = random_elements(random, store::volume(shape) * width);
    write_npy("in.npy", shape, data, descr);
    const auto grid = [&](const Shape& of) {
      Shape cell;
      for (const std::uint64_t extent : of) cell.push_back(1 + random() % (extent + 2));
      return cell;
    };
    store::Options first{.chunks = grid(shape), .codec = kCodecs.at(random() % kCodecs.size())};
    if (random() % 3 == 0) {
      first.shards = first.chunks;
      for (std::uint64_t level = rank == 0 ? 0 : random() % 4; level > 0; --level) {
        for (std::uint64_t& extent : first.shards) extent *= 1 + random() % 3;
        if (level > 1) first.inner_shards.insert(first.inner_shards.begin(), first.shards);
      }
      if (!first.inner_shards.empty()) ++nested;
    }
    first.fortran_order = random() % 4 == 0;
    first.verify = random() % 2 == 0;
    store::relayout(path("in.npy"), path("a.zarr"), first);
    store::Options second{.axes = axes, .format = "zarr2"};
    second.chunks = grid(store::axis_choice_of(axes, rank, "test").extents(shape));
    second.codec = std::array{"none", "lz4", "zstd:3"}[random() % 3];
    second.threads = 1 + static_cast<int>(random() % 3);
    second.verify = random() % 2 == 0;
    second.memory_bytes = 1 << 20;
    // As little memory as is taken.
    std::uint64_t budget = 64;
    for (store::Options trial = second; random() % 4 != 0; budget *= 2) {
      trial.memory_bytes = budget;
      try {
        store::explain(path("a.zarr"), path("b.zarr"), trial);
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::value) << error.what();
        continue;
      }
      second.memory_bytes = budget;
      break;
    }
    const store::Report report = store::relayout(path("a.zarr"), path("b.zarr"), second);
    EXPECT_LE(report.facts.memory_bytes, second.memory_bytes) << report.facts.text();
    EXPECT_EQ(report.verified, second.verify);
    ++(report.facts.uses_scratch ? by_scratch : swept);
    store::relayout(path("b.zarr"), path("out.npy"), {});
    ASSERT_EQ(data_of("out.npy"), transposed(data, shape, axes, width)) << report.facts.text();
    EXPECT_EQ(io::read_npy_header(path("out.npy")).shape,
              store::axis_choice_of(axes, rank, "test").extents(shape));
    EXPECT_EQ(entries(), 4U);  // in.npy, a.zarr, b.zarr, out.npy
    fs::remove_all(path("a.zarr"));
    fs::remove_all(path("b.zarr"));
  }
  EXPECT_GT(swept, 0);
  EXPECT_GT(by_scratch, 0);
  EXPECT_GT(nested, 10);
}

// One thread writes the last chunk of a shard, and the shard's index, while another verifies its own.
TEST_F(Stores, AChunkIsReadWhileItsShardIsFinished) {
  constexpr std::uint64_t kShards = 500;
  const store::ShardForm form{.shape = {2 * kShards}, .shard = {2}, .levels = {{.chunk = {1}}}};
  const auto files = store::shard_files(path("shards"), {}, form);
  const auto write_and_read = [&](std::uint64_t first) {
    for (std::uint64_t chunk = first; chunk < 2 * kShards; chunk += 2) {
      const Bytes stored(1 + chunk % 9, static_cast<std::byte>(chunk));
      files->write({chunk}, stored);
      Bytes got;
      ASSERT_TRUE(files->read({chunk}, got, stored.size()));
      ASSERT_EQ(got, stored) << chunk;
    }
  };
  std::jthread other([&] { EXPECT_NO_THROW(write_and_read(1)); });
  EXPECT_NO_THROW(write_and_read(0));
  other.join();
  EXPECT_TRUE(files->is_settled());
}

TEST_F(Stores, MapsOfAllElementsGoByPlainFiles) {
  Bytes data(1024 * 4);
  for (std::uint32_t x = 0; x < 1024; ++x) std::memcpy(data.data() + 4 * x, &x, 4);
  write_npy("in.npy", {32, 32}, data, "<u4");
  store::relayout(path("in.npy"), path("a.zarr"), {.chunks = {7, 5}});
  const Permutation reversal = maps::bit_reversal(10);
  const store::Options mapped{.map = store::ElementMap{.permutation = reversal, .shape = {32, 32}},
                              .memory_bytes = 20'000};
  const store::Facts told = store::explain(path("a.zarr"), path("b.zarr"), mapped);
  const store::Facts done = store::relayout(path("a.zarr"), path("b.zarr"), mapped).facts;
  EXPECT_EQ(told.text(), done.text());
  EXPECT_EQ(told.read_bytes, done.read_bytes);
  EXPECT_EQ(told.written_bytes, done.written_bytes);
  EXPECT_GE(told.read_bytes, 3 * data.size());
  store::relayout(path("b.zarr"), path("out.npy"), {});
  const Bytes got = data_of("out.npy");
  for (std::uint32_t x = 0; x < 1024; ++x) {
    std::uint32_t value = 0;
    std::memcpy(&value, got.data() + 4 * faro::apply(reversal, x), 4);
    ASSERT_EQ(value, x);
  }
  EXPECT_EQ(entries(), 4U);
}

TEST_F(Stores, WhatNoMapCanWriteIsRefusedBeforeAnythingIs) {
  write_npy("in.npy", {4}, Bytes(32), "<U2");
  const store::Options mapped{.map = store::ElementMap{.permutation = maps::roll(4, 1), .shape = {4}},
                              .keep_unfinished = true};
  const auto relaid = [&] { store::relayout(path("in.npy"), path("out.h5:/t"), mapped); };
  test::expect_refused(ErrorCode::unsupported, {"U2"}, relaid);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Stores, NumbersAreConvertedOnTheWay) {
  Bytes data(12 * 4);
  for (int x = 0; x < 12; ++x) {
    const float value = static_cast<float>(x) * 100 - 300;
    std::memcpy(data.data() + 4 * x, &value, 4);
  }
  write_npy("in.npy", {3, 4}, data, "<f4");
  store::relayout(path("in.npy"), path("out.npy"), {.axes = {1, 0}, .dtype = "int8", .verify = true});
  const Bytes got = data_of("out.npy");
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int wanted = std::clamp((i * 4 + j) * 100 - 300, -128, 127);  // saturated
      EXPECT_EQ(static_cast<std::int8_t>(got[static_cast<std::size_t>(j * 3 + i)]), wanted);
    }
  }
}

// Chunks that wait for the library in slots, and those that lie where they stay; arrays beside each other.
TEST_F(Stores, Hdf5ByRandomChunksAndCodecs) {
  constexpr std::array kCodecs{"none", "gzip:1", "shuffle+gzip:2", "shuffle", "zlib:1"};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t rank = 1 + random() % 3;
    Shape shape;
    store::Options options{.codec = kCodecs.at(random() % kCodecs.size())};
    for (std::size_t a = 0; a < rank; ++a) {
      shape.push_back(random() % 20 == 0 ? 0 : 1 + random() % 13);
      options.chunks.push_back(1 + random() % 15);
    }
    std::vector<int> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random);
    const Bytes data = random_elements(random, store::volume(shape) * 4);
    write_npy("in.npy", shape, data, "<i4");
    options.axes = axes;
    options.verify = random() % 2 == 0;
    options.threads = 1 + static_cast<int>(random() % 3);
    options.resume = random() % 2 == 0;
    try {
      store::relayout(path("in.npy"), path("a.h5:/g/x"), options);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::unsupported) GTEST_SKIP() << error.what();
      throw;
    }
    const Shape turned = store::axis_choice_of(axes, rank, "test").extents(shape);
    const store::ArrayFacts facts = store::arrays(path("a.h5")).front();
    EXPECT_EQ(facts.name, "/g/x");
    EXPECT_EQ(facts.chunks.empty(), store::is_empty(turned));
    store::relayout(path("a.h5"), path("out.npy"), {.verify = true});
    ASSERT_EQ(data_of("out.npy"), transposed(data, shape, axes, 4));
    // Kept by the same format, and beside another array.
    store::relayout(path("a.h5"), path("b.h5"), {});
    EXPECT_EQ(store::arrays(path("b.h5")).front().chunks, facts.chunks);
    EXPECT_EQ(store::arrays(path("b.h5")).front().codec, facts.codec);
    store::relayout(path("in.npy"), path("two.zarr/y"), {.chunks = Shape(rank, 4), .codec = "gzip:3"});
    store::relayout(path("out.npy"), path("two.zarr/z"), {.chunks = Shape(rank, 2), .codec = "none"});
    store::relayout(path("two.zarr"), path("c.h5"), {.chunks = Shape(rank, 3), .codec = options.codec});
    store::relayout(path("c.h5:z"), path("out.npy"), {});
    ASSERT_EQ(data_of("out.npy"), transposed(data, shape, axes, 4));
    store::relayout(path("c.h5:y"), path("out.npy"), {});
    ASSERT_EQ(data_of("out.npy"), data);
    EXPECT_EQ(entries(), 6U);
    fs::remove_all(path("two.zarr"));
  }
}

TEST_F(Stores, RefusesChunksAndCodecsThatFormatsHaveNot) {
  write_npy("in.npy", {4, 6}, Bytes(24), "|u1");
  EXPECT_EQ(refusal("in.npy", "a.h5", {.codec = "zstd:3"}), ErrorCode::unsupported);
  EXPECT_EQ(refusal("in.npy", "a.h5", {.chunks = {2, 2}, .shards = {4, 4}}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "a.tif", {.codec = "gzip:1"}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.npy", {.chunks = {2, 2}}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "a.zarr", {.codec = "shuffle"}), ErrorCode::unsupported);
  EXPECT_EQ(refusal("in.npy", "a.gguf"), ErrorCode::unsupported);  // no uint8
}

TEST_F(Stores, GgufIsWrittenAsItWas) {
  // Version 3, two tensors, a key of each kind, aligned to 64.
  std::string keys;
  const auto number = [](std::uint64_t value, std::size_t width) {
    std::string bytes(width, '\0');
    std::memcpy(bytes.data(), &value, width);
    return bytes;
  };
  const auto text = [&](const std::string& value) { return number(value.size(), 8) + value; };
  keys += text("general.alignment") + number(4, 4) + number(64, 4);
  keys += text("list") + number(9, 4) + number(8, 4) + number(2, 8) + text("a") + text("bc");
  keys += text("small") + number(1, 4) + number(0xfd, 1);
  keys += text("float") + number(6, 4) + number(0x3dcccccd, 4);
  std::string file = "GGUF" + number(3, 4) + number(2, 8) + number(4, 8) + keys;
  file += text("w") + number(2, 4) + number(3, 8) + number(2, 8) + number(0, 4) + number(0, 8);
  file += text("v") + number(1, 4) + number(5, 8) + number(24, 4) + number(64, 8);
  file.resize((file.size() + 63) / 64 * 64);
  for (char letter = 0; letter < 24; ++letter) file += letter;
  file.resize((file.size() + 63) / 64 * 64);
  file += "abcde";
  file.resize((file.size() + 63) / 64 * 64);
  write("a.gguf", file);
  store::relayout(path("a.gguf"), path("b.gguf"), {.verify = true});
  const auto bytes_of = [&](const std::string& name) {
    std::ifstream read(path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(read), {});
  };
  EXPECT_EQ(bytes_of("b.gguf"), file);
  EXPECT_EQ(store::arrays(path("b.gguf:w")).front().shape, (Shape{2, 3}));
  // By way of Zarr types of keys are chosen anew; the alignment is this file's.
  store::relayout(path("a.gguf"), path("c.zarr"), {});
  const store::Report report = store::relayout(path("c.zarr"), path("d.gguf"), {});
  EXPECT_EQ(report.left_out, (std::vector<std::string>{"attribute `general.alignment` of the store"}));
  store::relayout(path("d.gguf"), path("e.npz"), {});
  EXPECT_EQ(store::arrays(path("e.npz")).size(), 2U);
}

TEST(StoreNotes, AffineMapsFollowTheAxes) {
  store::Json attributes{{"nifti_affine", {2, 0.5, 0, 7, 0, 3, 0.25, 8, 1, 0, 4, 9, 0, 0, 0, 1}},
                         {"nifti_pixdim", {2, 3, 4, 5}}};
  const store::Json before = attributes;
  const Shape shape{3, 4, 5, 6};
  std::vector<std::string> left_out;
  const store::AxisChoice axes{.from = {2, 0, 1, 3}, .flipped = {true, false, true, false}};
  store::turn_nifti_notes(attributes, &axes, shape, left_out);
  EXPECT_TRUE(left_out.empty());
  EXPECT_EQ(attributes["nifti_pixdim"], (store::Json{4, 2, 3, 5}));
  const auto place = [](const store::Json& notes, std::array<double, 3> index, std::size_t row) {
    double sum = notes["nifti_affine"][4 * row + 3].get<double>();
    for (std::size_t a = 0; a < 3; ++a) sum += notes["nifti_affine"][4 * row + a].get<double>() * index[a];
    return sum;
  };
  for (std::size_t row = 0; row < 3; ++row)
    EXPECT_DOUBLE_EQ(place(attributes, {5 - 1 - 4, 1, 4 - 1 - 2}, row), place(before, {1, 2, 4}, row));
  // Time among the first three: what cannot be said is told.
  const store::AxisChoice mixed{.from = {3, 0, 1, 2}, .flipped = {false, false, false, false}};
  store::turn_nifti_notes(attributes, &mixed, shape, left_out);
  EXPECT_FALSE(attributes.contains("nifti_affine"));
  EXPECT_EQ(left_out.size(), 1U);
}

TEST(StoreShards, WithinShardsAreKeptByTheirMetadata) {
  const std::string text = R"({"zarr_format": 3, "node_type": "array", "shape": [8, 8], "data_type": "int16",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8, 4]}}, "fill_value": 0,
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "codecs": [
      {"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 4], "index_location": "start",
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}], "codecs": [
          {"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 1], "codecs": [{"name": "bytes",
            "configuration": {"endian": "little"}}], "index_codecs": [{"name": "bytes", "configuration":
            {"endian": "little"}}, {"name": "crc32c"}]}}]}}]})";
  const store::ZarrArray array = store::read_zarr_v3(store::parse_json_object(text, "test"), "test");
  EXPECT_EQ(array.form.chunk, (Shape{2, 1}));
  EXPECT_EQ(array.shards->shard, (Shape{8, 4}));
  ASSERT_EQ(array.shards->levels.size(), 2U);
  const store::ZarrArray again = store::read_zarr_v3(store::zarr_v3_of(array, "test"), "test");
  EXPECT_EQ(again.shards->levels[0].chunk, (Shape{4, 4}));
  EXPECT_FALSE(again.shards->levels[0].index_at_end);
  EXPECT_FALSE(again.shards->levels[0].index_has_checksum);
  EXPECT_EQ(again.shards->levels[0].index_order, store::ByteOrder::big);
  EXPECT_TRUE(again.shards->levels[1].index_at_end);
  EXPECT_EQ(again.shards->chunk(), (Shape{2, 1}));
}

// In folders of a thousand names each, of files that have many.
TEST_F(Stores, OfAMillionChunksAreOpenedInASecond) {
  constexpr std::uint64_t kMostNames = 60'000;  // of a file
  fs::create_directories(path("a.zarr/c"));
  write("a.zarr/zarr.json",
        R"({"zarr_format": 3, "node_type": "array", "shape": [1000, 1000], "data_type": "uint8",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1]}}, "fill_value": 0,
    "codecs": [{"name": "bytes"}]})");
  std::string file;
  for (std::uint64_t chunk = 0; chunk < 1'000'000; ++chunk) {
    const std::string folder = path("a.zarr/c/" + std::to_string(chunk / 1000));
    if (chunk % 1000 == 0) fs::create_directory(folder);
    const std::string name = folder + "/" + std::to_string(chunk % 1000);
    if (chunk % kMostNames == 0) {
      file = name;
      std::ofstream(file) << "x";
    } else {
      ASSERT_EQ(link(file.c_str(), name.c_str()), 0);
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(store::arrays(path("a.zarr")).front().shape, (Shape{1000, 1000}));
  EXPECT_EQ(store::explain(path("a.zarr"), path("b.npy"), {.memory_bytes = 1 << 20}).decoded, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST_F(Stores, FlipsAreAxes) {
  const Shape shape{3, 4, 5};
  const auto flipped = store::axis_choice_of(maps::flip(60), shape);
  ASSERT_TRUE(flipped.has_value());
  EXPECT_EQ(flipped->from, store::c_order(3));
  EXPECT_EQ(flipped->flipped, (std::vector<bool>{true, true, true}));
  EXPECT_FALSE(store::axis_choice_of(maps::roll(60, 7), shape).has_value());
  Bytes data(60);
  for (std::size_t x = 0; x < 60; ++x) data[x] = static_cast<std::byte>(x);
  write_npy("in.npy", shape, data, "|u1");
  store::relayout(path("in.npy"), path("a.zarr"), {.chunks = {2, 3, 2}, .codec = "none"});
  store::relayout(
      path("a.zarr"), path("out.npy"),
      {.map = store::ElementMap{.permutation = maps::flip(60), .shape = shape}, .memory_bytes = 80});
  std::reverse(data.begin(), data.end());
  EXPECT_EQ(data_of("out.npy"), data);
}

TEST_F(Stores, DamagedChunksAreRefusedAndNothingIsWritten) {
  std::mt19937_64 random(3);
  write_npy("in.npy", {16, 16}, random_elements(random, 1024), "<f4");
  Bytes ones(1024, std::byte{1});
  write_npy("in.npy", {16, 16}, ones, "<f4");
  store::relayout(path("in.npy"), path("a.zarr"), {.chunks = {8, 8}, .codec = "zstd:1+crc32c"});
  const std::string chunk = path("a.zarr/c/1/0");
  const auto whole = fs::file_size(chunk);
  fs::resize_file(chunk, whole - 1);
  EXPECT_EQ(refusal("a.zarr", "b.zarr"), ErrorCode::file);
  EXPECT_EQ(refusal("a.zarr", "b.npy"), ErrorCode::file);
  fs::resize_file(chunk, whole);
  EXPECT_EQ(refusal("a.zarr", "b.zarr"), ErrorCode::file);  // its checksum
  fs::resize_file(chunk, 1 << 20);
  EXPECT_EQ(refusal("a.zarr", "b.zarr"), ErrorCode::file);
  fs::remove(chunk);  // missing: the fill value
  store::relayout(path("a.zarr"), path("b.npy"), {});
  const Bytes got = data_of("b.npy");
  EXPECT_EQ(got[8 * 16 * 4], std::byte{0});
  EXPECT_EQ(got[0], std::byte{1});
}

TEST_F(Stores, RefusesWhatDoesNotFit) {
  write_npy("in.npy", {16, 16}, Bytes(1024), "<f4");
  store::relayout(path("in.npy"), path("a.zarr"), {.chunks = {8, 8}});
  EXPECT_EQ(refusal("in.npy", "a.zarr", {}), ErrorCode::file);  // there already
  EXPECT_EQ(refusal("a.zarr", "a.zarr", {}), ErrorCode::value);
  EXPECT_EQ(refusal("none.npy", "b.zarr", {}), ErrorCode::file);
  EXPECT_EQ(refusal("in.npy", "b.xyz", {}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.axes = {0}}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.axes = {0, 0}}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.axes = {0, 2}}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.chunks = {8}}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.chunks = {8, 0}}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.chunks = {8, 8}, .shards = {12, 8}}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.npy", {.chunks = {8, 8}}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.codec = "zst"}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.dtype = "float31"}), ErrorCode::unsupported);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.chunks = {16, 16}, .memory_bytes = 500}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.chunks = {std::uint64_t{1} << 40, std::uint64_t{1} << 40}}),
            ErrorCode::file);
}

TEST_F(Stores, RefusesPlacesThatAreNone) {
  write_npy("in.npy", {4, 6}, Bytes(96), "<f4");
  store::relayout(path("in.npy"), path("in.zarr"), {.chunks = {2, 3}});
  EXPECT_EQ(refusal("in.zarr", "in.zarr/b.zarr"), ErrorCode::value);
  fs::create_directory_symlink(path("in.zarr"), path("link"));
  EXPECT_EQ(refusal("link", "link/c/b.npy"), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "new.zarr/../other.zarr"), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.safetensors:__metadata__"), ErrorCode::value);
  const Shape all{4, 6};
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.chunks = {1, 1}, .shards = all, .inner_shards = {{2, 4}}}),
            ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.chunks = {1, 1}, .shards = all, .inner_shards = {{2}}}),
            ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.chunks = {1, 1}, .inner_shards = {{2, 2}}}), ErrorCode::value);
  EXPECT_EQ(refusal("in.npy", "b.zarr", {.chunks = {1, 1}, .shards = {8192, 4096}}), ErrorCode::value);
}

// Chunks would make the folder again, without those that were there.
TEST_F(Stores, AFolderThatIsTakenAwayMeanwhileIsAnError) {
  write_npy("in.npy", {64, 64}, Bytes(16384, std::byte{1}), "<f4");
  const auto remove = [&](const store::Progress&) {
    for (const auto& entry : fs::directory_iterator(path(""))) {
      if (entry.path().filename().string().starts_with(".faro-")) fs::remove_all(entry.path());
    }
  };
  EXPECT_EQ(refusal("in.npy", "a.zarr", {.chunks = {8, 8}, .memory_bytes = 8192, .progress = remove}),
            ErrorCode::file);
}

TEST_F(Stores, ACancelledRunLeavesNothing) {
  write_npy("in.npy", {64, 64}, Bytes(16384, std::byte{1}), "<f4");
  const store::Report report =
      store::relayout(path("in.npy"), path("a.zarr"), {.chunks = {8, 8}, .cancelled = [] { return true; }});
  EXPECT_FALSE(report.finished);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Stores, HostileHeadersOfSafetensors) {
  const auto file = [&](const std::string& header, std::size_t data) {
    const std::uint64_t bytes = header.size();
    std::string text(8, '\0');
    std::memcpy(text.data(), &bytes, 8);
    write("in.safetensors", text + header + std::string(data, 'x'));
  };
  const auto one = [](const std::string& shape, const std::string& offsets) {
    return R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  file(one("[2]", "[0,8]"), 8);
  store::relayout(path("in.safetensors"), path("out.npy"), {});
  EXPECT_EQ(data_of("out.npy").size(), 8U);
  struct Hostile {
    std::string header;
    std::size_t data;
  };
  const std::vector<Hostile> all{
      {one("[2]", "[0,8]"), 7},
      {one("[2]", "[0,8]"), 9},
      {one("[2]", "[4,12]"), 12},
      {one("[2]", "[8,0]"), 8},
      {one("[2]", "[0,4]"), 8},
      {one("[-2]", "[0,8]"), 8},
      {one("[4611686018427387904,4]", "[0,0]"), 0},
      {one("[18446744073709551615]", "[0,8]"), 8},
      {one("2", "[0,8]"), 8},
      {one("[2.0]", "[0,8]"), 8},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
       8},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
       12},
      {R"({"__metadata__":{"a":1}})", 0},
      {"{", 0},
      {"[]", 0},
      {std::string(100'000, '['), 0},
      {"{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}", 0},
      {"", 0}};
  for (const Hostile& hostile : all) {
    file(hostile.header, hostile.data);
    EXPECT_EQ(refusal("in.safetensors", "o.npy"), ErrorCode::file) << hostile.header.substr(0, 100);
  }
  write("in.safetensors", std::string("\xff\xff\xff\xff\xff\xff\xff\xff{", 9));
  EXPECT_EQ(refusal("in.safetensors", "o.npy"), ErrorCode::file);
  write("in.safetensors", "{");
  EXPECT_EQ(refusal("in.safetensors", "o.npy"), ErrorCode::file);
}

TEST_F(Stores, HostileMetadataOfZarr) {
  const auto v3 = [&](const std::string& from, const std::string& to) {
    std::string json = R"({"zarr_format":3,"node_type":"array","shape":[4,4],"data_type":"float32",)"
                       R"("chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,2]}},)"
                       R"("chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},)"
                       R"("fill_value":1.5,"codecs":[{"name":"bytes","configuration":{"endian":"little"}}]})";
    const std::size_t at = json.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    json.replace(at, from.size(), to);
    fs::create_directories(path("in.zarr"));
    write("in.zarr/zarr.json", json);
  };
  v3("1.5", "1.5");
  store::relayout(path("in.zarr"), path("out.npy"), {});  // no chunks: the fill value
  float first = 0;
  std::memcpy(&first, data_of("out.npy").data(), 4);
  EXPECT_EQ(first, 1.5F);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"[2,2]", "[2]"},
           {"[2,2]", "[0,2]"},
           {"[2,2]", "[4611686018427387904,4611686018427387904]"},
           {"[4,4]", "[4611686018427387904,4611686018427387904]"},
           {"[4,4]", "[-4,4]"},
           {"[4,4]", "\"x\""},
           {"\"/\"", "\"..\""},
           {"\"float32\"", "7"},
           {"\"little\"", "\"middle\""},
           {"\"codecs\":[",
            "\"codecs\":["
            R"({"name":"transpose","configuration":{"order":[0,0]}},)"},
           {"\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]", "\"codecs\":[]"},
           {"\"chunk_grid\"", "\"chunk_grit\""},
           {"{\"zarr_format\"", "{\"zarr_format\":3,\"zarr_format\""},
       }) {
    v3(from, to);
    const ErrorCode code = refusal("in.zarr", "o.npy");
    EXPECT_TRUE(code == ErrorCode::file || code == ErrorCode::unsupported) << from << " -> " << to;
  }
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"float32\"", "\"float31\""},
           {"\"name\":\"bytes\"", "\"name\":\"bites\""},
           {"\"fill_value\":1.5", "\"fill_value\":\"one\""},
           {"\"regular\"", "\"rectilinear\""},
           {"\"shape\"", "\"more\":1,\"shape\""},
       }) {
    v3(from, to);
    EXPECT_EQ(refusal("in.zarr", "o.npy"), ErrorCode::unsupported) << from << " -> " << to;
  }
}

}  // namespace store_test
}  // namespace faro
