// Packed elements from file to file, in memory and by panels, and .bed files.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/packed.hpp"

namespace faro {
namespace {

using Bytes = std::vector<std::byte>;

class PackedFiles : public ::testing::Test {
 protected:
  PackedFiles()
      : folder_(std::filesystem::temp_directory_path() /
                ("faro-packed-" + std::to_string(random_device_()))) {
    std::filesystem::create_directories(folder_);
  }
  ~PackedFiles() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const Bytes& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return folder_ / name;
  }
  Bytes read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto* const data = reinterpret_cast<const std::byte*>(text.data());
    return {data, data + text.size()};
  }
  Bytes drawn(std::uint64_t bytes) {
    Bytes made(bytes);
    for (std::byte& byte : made) byte = static_cast<std::byte>(random_());
    return made;
  }

  std::random_device random_device_;
  std::filesystem::path folder_;
  std::mt19937_64 random_{11};
};

TEST_F(PackedFiles, PanelsAreTheSameAsTheWhole) {
  for (int trial = 0; trial < 24; ++trial) {
    const std::uint32_t bits = 1U << (trial % 3);
    const std::uint64_t rows = 2 + random_() % 700;
    const std::uint64_t columns = 2 + random_() % 3000;
    const BitOrder order = trial % 2 == 0 ? BitOrder::low_first : BitOrder::high_first;
    PackedProblem problem{.permutation = maps::transpose_any(rows, columns),
                          .element_bits = bits,
                          .in = {.order = order},
                          .out = {.order = order},
                          .pads = PadBits::zero};
    if (trial % 4 < 2)
      problem.in = {.row_elements = columns, .pitch_bits = columns * bits + trial % 5, .order = order};
    if (trial % 4 == 1)
      problem.out = {.row_elements = rows, .pitch_bits = (rows * bits + 31) / 32 * 32, .order = order};
    const PackedPlan plan(problem);
    const Bytes in = drawn(plan.in_bytes());
    Bytes whole(plan.out_bytes());
    plan.run(in, whole);
    const Bytes header = drawn(17);
    Bytes file = drawn(5);
    file.insert(file.end(), in.begin(), in.end());
    const PackedFile from{.path = write("in.bin", file), .offset = 5};
    Bytes wanted = header;
    wanted.insert(wanted.end(), whole.begin(), whole.end());
    for (const std::uint64_t memory : {std::uint64_t{1}, plan.in_bytes() / 2, 4 * plan.in_bytes() + 4096}) {
      if (memory == 0) continue;
      permute_packed_file(problem, from, folder_ / "out.bin", header,
                          {.memory_bytes = memory, .verify = true});
      ASSERT_TRUE(read("out.bin") == wanted)
          << rows << " x " << columns << " of " << bits << " bits in " << memory;
    }
  }
}

TEST_F(PackedFiles, BedFilesTurnAndTurnBack) {
  for (const auto& [samples, variants] : {std::pair(1, 1), {3, 2}, {5, 4099}, {7, 20'011}, {1030, 611}}) {
    const auto row = static_cast<std::uint64_t>(samples + 3) / 4;
    Bytes bed{std::byte{0x6c}, std::byte{0x1b}, std::byte{1}};
    for (int v = 0; v < variants; ++v) {
      Bytes genotypes = drawn(row);
      if (samples % 4 != 0) genotypes.back() &= static_cast<std::byte>((1U << (2 * (samples % 4))) - 1);
      bed.insert(bed.end(), genotypes.begin(), genotypes.end());
    }
    write("a.bed", bed);
    const auto lines = [&](const char* name, int count) {
      std::ofstream file(folder_ / name);
      for (int i = 0; i < count; ++i) file << "line " << i << (i + 1 < count ? "\n" : "");
    };
    lines("a.fam", samples);
    lines("a.bim", variants);
    transpose_bed(folder_ / "a.bed", folder_ / "b.bed", {}, {.memory_bytes = 20'000, .verify = true});
    const Bytes turned = read("b.bed");
    const std::uint64_t turned_row = static_cast<std::uint64_t>(variants + 3) / 4;
    ASSERT_EQ(turned.size(), 3 + static_cast<std::uint64_t>(samples) * turned_row);
    EXPECT_EQ(turned[2], std::byte{0});
    for (int s = 0; s < samples; ++s) {
      for (int v = 0; v < static_cast<int>(4 * turned_row); ++v) {
        const auto at = [](const Bytes& bytes, std::uint64_t begin, int i) {
          return static_cast<unsigned>(bytes[begin + static_cast<std::uint64_t>(i) / 4]) >> (2 * (i % 4)) &
                 3U;
        };
        const unsigned wanted = v < variants ? at(bed, 3 + static_cast<std::uint64_t>(v) * row, s) : 0;
        ASSERT_EQ(at(turned, 3 + static_cast<std::uint64_t>(s) * turned_row, v), wanted);
      }
    }
    transpose_bed(
        folder_ / "b.bed", folder_ / "c.bed",
        {.samples = static_cast<std::uint64_t>(samples), .variants = static_cast<std::uint64_t>(variants)});
    EXPECT_TRUE(read("c.bed") == bed);
  }
}

ErrorCode failure(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

TEST_F(PackedFiles, RefusesAndLeavesNothing) {
  const auto bed = [&](const Bytes& bytes) {
    write("a.bed", bytes);
    return failure(
        [&] { transpose_bed(folder_ / "a.bed", folder_ / "b.bed", {.samples = 3, .variants = 2}); });
  };
  const std::byte magic0{0x6c};
  const std::byte magic1{0x1b};
  EXPECT_EQ(bed({}), ErrorCode::file);
  EXPECT_EQ(bed({magic0, magic1, std::byte{2}, {}, {}}), ErrorCode::file);
  EXPECT_EQ(bed({magic0, magic0, std::byte{1}, {}, {}}), ErrorCode::file);
  EXPECT_EQ(bed({magic0, magic1, std::byte{1}, {}}), ErrorCode::file);
  EXPECT_EQ(failure([&] { transpose_bed(folder_ / "none.bed", folder_ / "b.bed"); }), ErrorCode::file);
  const PackedFile in{.path = write("in.bin", drawn(64))};
  EXPECT_EQ(failure([&] {
              permute_packed_file({.permutation = maps::bit_reversal(7)}, in, folder_ / "b.bed", {},
                                  {.memory_bytes = 64});
            }),
            ErrorCode::unsupported);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b.bed"));
  permute_packed_file({.permutation = maps::bit_reversal(7)}, in, folder_ / "b.bed", {},
                      {.memory_bytes = 128});
  EXPECT_TRUE(std::filesystem::exists(folder_ / "b.bed"));
}

}  // namespace
}  // namespace faro
