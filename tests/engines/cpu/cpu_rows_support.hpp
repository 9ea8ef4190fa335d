// What the tests of rows on the CPU share: entries of every type and pattern, and runs between guard zones.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "drawn.hpp"
#include "engines/cpu.hpp"
#include "faro/rows.hpp"

namespace cpu_rows_support {

using namespace faro;

using Bytes = std::vector<std::byte>;
inline constexpr std::uint64_t kGuard = 67;  // odd, so that arrays lie at any address

using faro::test::random_bytes;

// Entries of one of the four types, and what they say: -1 is no row.
struct Entries {
  std::vector<std::int64_t> rows;
  Bytes bytes;
  IndexType type;
  std::optional<std::uint64_t> marker;

  Entries(std::vector<std::int64_t> of, IndexType as) : rows(std::move(of)), type(as) {
    const auto width = static_cast<std::size_t>(type.bytes);
    // At an odd address, and unsigned ones with a marker.
    bytes.resize(1 + rows.size() * width);
    if (!type.is_signed) marker = type.bytes == 4 ? 0xffffffffU : ~std::uint64_t{0};
    for (std::size_t i = 0; i < rows.size(); ++i) std::memcpy(bytes.data() + 1 + i * width, &rows[i], width);
  }
  RowNumbers numbers() const { return {bytes.data() + 1, rows.size(), type}; }
};

inline constexpr std::array<IndexType, 4> kTypes{{{.bytes = 4, .is_signed = false},
                                                  {.bytes = 4, .is_signed = true},
                                                  {.bytes = 8, .is_signed = false},
                                                  {.bytes = 8, .is_signed = true}}};

// The arrays between guards; `run` moves from one to the other, and the guards have to stay.
inline Bytes run_guarded(const RowPlan& plan, const Bytes& in, const Bytes& before) {
  Bytes guarded(before.size() + 2 * kGuard, std::byte{0xa5});
  std::copy(before.begin(), before.end(), guarded.begin() + kGuard);
  Bytes shifted(in.size() + 1);
  std::copy(in.begin(), in.end(), shifted.begin() + 1);
  cpu::run_rows(plan, shifted.data() + 1, guarded.data() + kGuard);
  for (std::uint64_t i = 0; i < kGuard; ++i) {
    EXPECT_EQ(guarded[i], std::byte{0xa5}) << "before, at " << i;
    EXPECT_EQ(guarded[guarded.size() - 1 - i], std::byte{0xa5}) << "behind, at " << i;
  }
  return {guarded.begin() + kGuard, guarded.end() - kGuard};
}

struct Pattern {
  const char* name;
  std::vector<std::int64_t> (*make)(std::mt19937_64&, std::uint64_t count, std::uint64_t rows);
};

inline const std::array<Pattern, 6> kPatterns{{
    {"random with repeats and omissions",
     [](std::mt19937_64& random, std::uint64_t count, std::uint64_t rows) {
       std::vector<std::int64_t> made(count);
       for (auto& row : made) row = static_cast<std::int64_t>(random() % (rows + 1)) - 1;
       return made;
     }},
    {"all for one row",
     [](std::mt19937_64& random, std::uint64_t count, std::uint64_t rows) {
       return std::vector<std::int64_t>(count, static_cast<std::int64_t>(random() % rows));
     }},
    {"all absent", [](std::mt19937_64&, std::uint64_t count,
                      std::uint64_t) { return std::vector<std::int64_t>(count, -1); }},
    {"in order",
     [](std::mt19937_64&, std::uint64_t count, std::uint64_t rows) {
       std::vector<std::int64_t> made(count);
       for (std::uint64_t i = 0; i < count; ++i) made[i] = static_cast<std::int64_t>(i % rows);
       return made;
     }},
    {"backwards",
     [](std::mt19937_64&, std::uint64_t count, std::uint64_t rows) {
       std::vector<std::int64_t> made(count);
       for (std::uint64_t i = 0; i < count; ++i) made[i] = static_cast<std::int64_t>(rows - 1 - i % rows);
       return made;
     }},
    {"runs, some absent",
     [](std::mt19937_64& random, std::uint64_t count, std::uint64_t rows) {
       std::vector<std::int64_t> made;
       while (made.size() < count) {
         const std::uint64_t length = 1 + random() % 40;
         const std::int64_t first = static_cast<std::int64_t>(random() % (rows + 1)) - 1;
         for (std::uint64_t i = 0; i < length && made.size() < count; ++i) {
           const bool past =
               first < 0 || first + static_cast<std::int64_t>(i) >= static_cast<std::int64_t>(rows);
           made.push_back(past ? -1 : first + static_cast<std::int64_t>(i));
         }
       }
       return made;
     }},
}};

struct Shape {
  std::uint64_t outer;
  std::uint64_t count;
  std::uint64_t rows;
  std::uint64_t row_bytes;

  std::string text() const {
    return std::to_string(outer) + " arrays, " + std::to_string(count) + " entries, " + std::to_string(rows) +
           " rows of " + std::to_string(row_bytes) + " bytes";
  }
};

}  // namespace cpu_rows_support
