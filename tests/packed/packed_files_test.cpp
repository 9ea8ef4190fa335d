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
#include "packed_support.hpp"

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

// Boxes of axes, rolled and flipped, and tiles of affine maps, where memory holds less than an array.
TEST_F(PackedFiles, TilesAreTheSameAsTheWhole) {
  using namespace packed_support;
  for (int trial = 0; trial < 120; ++trial) {
    const std::uint32_t bits = small_bits(random_);
    PackedProblem problem;
    if (trial % 3 == 0) {
      const int n = 3 + static_cast<int>(random_() % 12);
      problem.permutation = trial % 2 == 0 ? maps::random_bmmc(n, random_()) : maps::random_bpc(n, random_());
      problem.in = {.first_bit = 8 * (random_() % 3), .order = an_order(random_)};
      problem.out = {.first_bit = 8 * (random_() % 3), .order = an_order(random_)};
    } else {
      std::vector<std::uint64_t> shape(1 + random_() % 4);
      for (std::uint64_t& extent : shape) extent = 1 + random_() % (shape.size() < 3 ? 300 : 40);
      const DrawnAxes axes = drawn_axes(shape, random_);
      problem.permutation = axes.permutation;
      problem.in = a_layout(axes.row_before, bits, random_);
      problem.out = a_layout(axes.row_after, bits, random_);
    }
    problem.element_bits = bits;
    problem.batch = 1 + random_() % 2;
    problem.pads = PadBits::zero;
    const PackedPlan plan(problem);
    const Bytes in = drawn(plan.in_bytes());
    Bytes wanted(plan.out_bytes());
    plan.run(in, wanted);
    const PackedFile from{.path = write("in.bin", in)};
    const std::uint64_t memory = 64 + random_() % (plan.in_bytes() + 1);
    try {
      permute_packed_file(problem, from, folder_ / "out.bin", {}, {.memory_bytes = memory, .verify = true});
    } catch (const Error& error) {
      // Axes that go across rows have no boxes.
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(plan.explain().find("element by element"), std::string::npos) << text(problem, plan);
      continue;
    }
    ASSERT_TRUE(read("out.bin") == wanted) << text(problem, plan) << " in " << memory;
  }
}

// Runs of elements that lie across bytes.
TEST_F(PackedFiles, BoxesOfWiderElements) {
  for (const std::uint32_t bits : {3U, 6U, 12U}) {
    const PackedProblem problem{.permutation = Axes({13, 17, 29}, {1, 0, 2}), .element_bits = bits};
    const PackedPlan plan(problem);
    const Bytes in = drawn(plan.in_bytes());
    Bytes wanted(plan.out_bytes());
    plan.run(in, wanted);
    permute_packed_file(problem, {.path = write("in.bin", in)}, folder_ / "out.bin", {},
                        {.memory_bytes = 900, .verify = true});
    EXPECT_TRUE(read("out.bin") == wanted) << bits;
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
  const auto permuted = [&](const Permutation& permutation, std::uint64_t memory_bytes) {
    return failure([&] {
      permute_packed_file({.permutation = permutation}, in, folder_ / "b.bed", {},
                          {.memory_bytes = memory_bytes});
    });
  };
  EXPECT_EQ(permuted(maps::bit_reversal(7), 2), ErrorCode::unsupported);
  EXPECT_EQ(permuted(maps::flip(128), 1), ErrorCode::unsupported);
  EXPECT_EQ(permuted(Indexed::random(128, 1), 64), ErrorCode::unsupported);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b.bed"));
  permute_packed_file({.permutation = maps::bit_reversal(7)}, in, folder_ / "b.bed", {},
                      {.memory_bytes = 128});
  EXPECT_TRUE(std::filesystem::exists(folder_ / "b.bed"));
}

}  // namespace
}  // namespace faro
