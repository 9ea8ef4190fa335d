// Conversions of layouts held to the layouts' definitions: a warp with every register, lane and byte told
// apart.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "faro/exchange/conversion.hpp"

namespace faro::testing {

/// The 32-bit registers of all lanes, lane by lane: byte j of element x of warp `warp` is byte (x, j) of
/// `data`.
inline std::vector<std::uint32_t> held_registers(const exchange::Layout& layout, int element, int words,
                                                 std::uint32_t warp, const std::vector<std::uint8_t>& data) {
  const auto bytes = static_cast<std::size_t>(element / 8);
  const std::size_t lanes = std::size_t{1} << layout.lanes.size();
  std::vector<std::uint32_t> registers(lanes * static_cast<std::size_t>(words), 0);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    for (std::size_t r = 0; r < std::size_t{1} << layout.registers.size(); ++r) {
      const std::size_t x = layout.element(r, lane, warp);
      for (std::size_t j = 0; j < bytes; ++j) {
        const std::size_t byte = r * bytes + j;
        registers[lane * static_cast<std::size_t>(words) + byte / 4] |= std::uint32_t{data[x * bytes + j]}
                                                                        << 8 * (byte % 4);
      }
    }
  }
  return registers;
}

/// Bits of a register that a layout fills: all, but where a lane has less than a word.
inline std::uint32_t filled_bits(const exchange::Layout& layout, int element) {
  const std::size_t bits = static_cast<std::size_t>(element) << layout.registers.size();
  return bits >= 32 ? ~0U : (1U << bits) - 1;
}

inline std::vector<std::uint8_t> random_bytes(const exchange::Layout& layout, int element,
                                              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> data((std::size_t{1} << layout.element_bits()) *
                                 static_cast<std::size_t>(element / 8));
  for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
  return data;
}

/// What a layout in memory has at its offsets.
inline std::vector<std::uint8_t> held_bytes(const exchange::Layout& layout, int element,
                                            const std::vector<std::uint8_t>& data) {
  const auto bytes = static_cast<std::size_t>(element / 8);
  std::vector<std::uint8_t> memory;
  for (std::size_t r = 0; r < std::size_t{1} << layout.registers.size(); ++r)
    for (std::size_t j = 0; j < bytes; ++j) memory.push_back(data[layout.element(r, 0) * bytes + j]);
  return memory;
}

/// Runs the program in every warp.
inline void expect_converts(const exchange::Conversion& c, std::uint64_t seed = 7) {
  const std::vector<std::uint8_t> data = random_bytes(c.from, c.element, seed);
  for (std::uint32_t warp = 0; warp < 1U << c.from.warps.size(); ++warp) {
    const auto got = c.program.run(held_registers(c.from, c.element, c.words_from, warp, data));
    const auto wanted = held_registers(c.to, c.element, c.words_to, warp, data);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i] & filled_bits(c.to, c.element), wanted[i])
          << c.from.name << " -> " << c.to.name << ", " << c.element << " bits, seed " << seed << ", warp "
          << warp << ", lane " << i / static_cast<std::size_t>(c.words_to) << ", register "
          << i % static_cast<std::size_t>(c.words_to);
    }
  }
}

/// Every layout that has a name, with its width; families with the numbers 8 to 64 for tiles and 1 to 4 else.
inline std::vector<std::pair<exchange::Layout, int>> all_named_layouts() {
  std::vector<std::pair<exchange::Layout, int>> all;
  const auto is_alias = [](const std::string& name) {
    return name.starts_with("mma.m16n8k") && name.ends_with(".C");
  };
  for (const exchange::LayoutName& entry : exchange::layout_names()) {
    const std::size_t star = entry.name.find('*');
    if (is_alias(entry.name)) continue;
    if (star == std::string::npos) {
      all.emplace_back(exchange::parse_layout(entry.name, entry.element), entry.element);
      continue;
    }
    const std::vector<int> numbers =
        entry.name.starts_with("wgmma") ? std::vector<int>{8, 16, 64} : std::vector<int>{1, 2, 4};
    for (const int number : numbers) {
      std::string name = entry.name;
      name.replace(star, 1, std::to_string(number));
      all.emplace_back(exchange::parse_layout(name, entry.element), entry.element);
    }
  }
  return all;
}

/// A layout of 2^registers elements a lane by an invertible matrix.
inline exchange::Layout random_layout(int registers, int lanes, std::mt19937_64& random) {
  const int bits = registers + lanes;
  exchange::Layout layout;
  layout.name = "drawn";
  layout.axes = {{"i", bits}};
  f2::Subspace span(bits);
  std::vector<f2::Word> columns;
  const bool is_permutation = random() % 3 == 0;
  while (static_cast<int>(columns.size()) < bits) {
    f2::Word column = random() & f2::low_mask(bits);
    if (is_permutation) column = f2::unit(static_cast<int>(random() % static_cast<std::uint64_t>(bits)));
    if (span.insert(column)) columns.push_back(column);
  }
  layout.registers.assign(columns.begin(), columns.begin() + registers);
  layout.lanes.assign(columns.begin() + registers, columns.end());
  return layout;
}

/// A layout over the warps of a block, and one that has some of its bits elsewhere.
inline std::pair<exchange::Layout, exchange::Layout> random_block_layouts(std::mt19937_64& random) {
  const int warps = static_cast<int>(1 + random() % 3);
  const int registers = static_cast<int>(1 + random() % 4);
  exchange::Layout from = random_layout(registers, 5 + warps, random);
  const auto split = [&](exchange::Layout& layout) {
    layout.warps.assign(layout.lanes.begin() + 5, layout.lanes.end());
    layout.lanes.resize(5);
  };
  exchange::Layout to = from;
  if (random() % 2 == 0) {
    to = random_layout(registers, 5 + warps, random);
  } else {
    std::shuffle(to.lanes.begin(), to.lanes.end(), random);
    std::swap(to.registers.back(), to.lanes.back());
  }
  split(from);
  split(to);
  return {from, to};
}

}  // namespace faro::testing
