// Codecs of chunks: what is encoded is decoded, damage and what is no codec are refused; and the file between
// two sweeps, in which every piece has a place of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "store/box.hpp"
#include "store/codecs.hpp"
#include "store/scratch.hpp"
#include "store/sides.hpp"

namespace faro {
namespace store_codecs_test {

namespace fs = std::filesystem;
using store::Bytes;
using store::Shape;

Bytes compressible(std::mt19937_64& random, std::uint64_t bytes) {
  Bytes data(bytes);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random() % 7);
  return data;
}

TEST(StoreCodecs, ChecksumOfRfc3720) {
  const std::string digits = "123456789";
  EXPECT_EQ(store::crc32c(std::as_bytes(std::span(digits))), 0xE3069283U);
  EXPECT_EQ(store::crc32c({}), 0U);
  Bytes zeros(32);
  EXPECT_EQ(store::crc32c(zeros), 0x8A9136AAU);
}

TEST(StoreCodecs, WhatIsEncodedIsDecodedAndDamageIsFound) {
  std::mt19937_64 random(1);
  for (const char* const text :
       {"none", "gzip:1", "zlib:9", "zstd:3", "zstd:-5+crc32c", "blosc:lz4:5:shuffle",
        "blosc:zstd:1:bitshuffle", "blosc:zlib:3:noshuffle", "lz4", "crc32c", "gzip:5+crc32c"}) {
    const auto codecs = store::parse_codecs(text, 4);
    EXPECT_EQ(store::parse_codecs(store::to_text(codecs), 4), codecs) << text;
    for (const std::uint64_t bytes : {1, 4, 1000, 70'000}) {
      const Bytes data = compressible(random, bytes);
      Bytes stored;
      Bytes between;
      const auto encoded = store::encode(codecs, data, stored, between);
      ASSERT_LE(encoded.size(), store::most_encoded_bytes(codecs, bytes)) << text;
      Bytes decoded(encoded.begin(), encoded.end());
      EXPECT_EQ(store::decode(codecs, decoded, bytes, between), "") << text << " " << bytes;
      EXPECT_EQ(decoded, data) << text;
      for (const std::uint64_t cut : {std::uint64_t{0}, encoded.size() / 2, encoded.size() - 1}) {
        Bytes damaged(encoded.begin(), encoded.begin() + static_cast<std::ptrdiff_t>(cut));
        EXPECT_NE(store::decode(codecs, damaged, bytes, between), "") << text << " cut at " << cut;
      }
      Bytes longer(encoded.begin(), encoded.end());
      EXPECT_NE(store::decode(codecs, longer, bytes - 1, between), "") << text;
      if (codecs.empty() || codecs.back().kind != store::CodecKind::crc32c) continue;
      Bytes flipped(encoded.begin(), encoded.end());
      flipped[random() % flipped.size()] ^= std::byte{1};
      EXPECT_NE(store::decode(codecs, flipped, bytes, between), "") << text;
    }
  }
}

TEST(StoreCodecs, RefusesWhatIsNone) {
  for (const char* const text : {"", "zst", "zstd:23", "gzip:x", "blosc:lz5", "zstd:3+", "crc32c:1", "lz4:0"})
    EXPECT_THROW(static_cast<void>(store::parse_codecs(text, 4)), Error) << text;
}

// Blocks and lines that it has not.
TEST(StoreCodecs, SzipOfOtherBlocksIsRefused) {
  store::Codec codec{.kind = store::CodecKind::szip};
  for (const auto& numbers :
       std::vector<std::array<std::uint32_t, 4>>{{141, 7, 32, 16}, {141, 34, 32, 16}, {141, 16, 32, 4097}}) {
    codec.szip = numbers;
    Bytes data(64);
    Bytes between;
    EXPECT_NE(store::decode({codec}, data, 64, between), "");
    EXPECT_THROW(static_cast<void>(store::encode({codec}, Bytes(64), data, between)), Error);
  }
}

TEST(StoreCodecs, ShuffleIsHdf5s) {
  const std::vector<store::Codec> codecs{{.kind = store::CodecKind::shuffle, .shuffled_bytes = 2}};
  Bytes data{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  Bytes stored;
  Bytes between;
  const auto encoded = store::encode(codecs, data, stored, between);
  const Bytes wanted{std::byte{1}, std::byte{3}, std::byte{2}, std::byte{4}, std::byte{5}};
  EXPECT_TRUE(std::equal(encoded.begin(), encoded.end(), wanted.begin(), wanted.end()));
  Bytes back(encoded.begin(), encoded.end());
  EXPECT_EQ(store::decode(codecs, back, data.size(), between), "");
  EXPECT_EQ(back, data);
}

TEST(StoreScratch, EveryPieceHasAPlaceOfItsOwn) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t rank = random() % 4;
    store::ScratchForm form;
    for (std::size_t a = 0; a < rank; ++a) {
      form.shape.push_back(1 + random() % 9);
      form.written.push_back(1 + random() % 10);
      form.read.push_back(1 + random() % 10);
    }
    const std::string name =
        (fs::temp_directory_path() / ("faro-scratch-test-" + std::to_string(::getpid()))).string();
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ::unlink(name.c_str());
    const auto sink = store::scratch_sink(file, form);
    const auto source = store::scratch_source(file, form);
    store::Workspace workspace;
    const auto places = store::dense_strides(form.shape, store::c_order(rank));
    const Shape corner(rank, 0);
    const auto number = [&](const Shape& place) {
      return static_cast<std::byte>(store::distance(corner, place, places) * 37 + 11);
    };
    const store::Box all{.origin = corner, .extents = form.shape};
    std::uint64_t written = 0;
    store::for_each_part(all, form.written, [&](const store::Box& region, const Shape&) {
      for (const store::Box& box : sink->boxes(region)) {
        Bytes elements;
        Shape step(rank, 0);
        do {
          Shape place = box.origin;
          for (std::size_t a = 0; a < rank; ++a) place[a] += step[a];
          elements.push_back(number(place));
        } while (store::advance(step, box.extents));
        written += elements.size();
        sink->store(box, elements, workspace);
      }
    });
    ASSERT_EQ(written, store::volume(form.shape));
    EXPECT_EQ(fs::file_size("/proc/self/fd/" + std::to_string(file)), written);
    store::for_each_part(all, form.read, [&](const store::Box& region, const Shape&) {
      for (const store::Box& box : source->boxes(region)) {
        const store::Loaded loaded = source->load(box, workspace);
        Shape step(rank, 0);
        do {
          Shape place = box.origin;
          for (std::size_t a = 0; a < rank; ++a) place[a] += step[a];
          ASSERT_EQ(loaded.first[store::distance(corner, step, loaded.strides)], number(place)) << trial;
        } while (store::advance(step, box.extents));
      }
    });
    ::close(file);
  }
}

}  // namespace store_codecs_test
}  // namespace faro
