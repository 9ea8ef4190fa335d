// What an emitted kernel is held to: the oracle, its own prediction, and the law of its rung.
//
//     EmittedBatch batch;
//     batch.add({.map = map, .options = {.rung = emit::Rung::tile}});    any number, one compilation
//     batch.check();                                                     runs and judges them all
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emitted/emitted_run.hpp"
#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"

namespace faro::testing {

/// What to emit, and what it should do.
struct EmittedCase {
  Affine map;
  emit::Options options = {};
  /// f of an element's bytes and its indices, in place; empty: nothing.
  std::function<void(std::byte* v, std::uint64_t x, std::uint64_t y)> function = {};
  /// The input's byte i; empty: random bytes.
  std::function<std::vector<std::byte>(std::uint64_t elements)> input = {};
};

/// The command that prints the same text.
inline std::string describe(const EmittedCase& c) {
  const emit::Options& o = c.options;
  std::string text = "faro emit '" + to_text(Permutation(c.map)) + "'";
  text +=
      o.language == emit::Language::cpp ? " --target cpp" : std::string(" --kernel ") + emit::name(o.rung);
  text += " --element " + o.element;
  if (o.tile_bits != 0) text += " --n-tile " + std::to_string(o.tile_bits);
  if (o.rung == emit::Rung::iters) text += " --n-iter " + std::to_string(o.iteration_bits);
  if (o.both_factors) text += " --factors";
  if (!o.map.empty()) text += " --map '" + o.map + "'";
  text += " --name " + o.name;
  return o.turned_rows ? text : text + " with rows as they are";
}

inline std::string to_text(const machine::GlobalCounts& c) {
  return std::to_string(c.requests) + " requests, " + std::to_string(c.bytes) + " bytes, " +
         std::to_string(c.sectors) + " sectors, " + std::to_string(c.lines) + " lines";
}
inline std::string to_text(const machine::SharedCounts& c) {
  return std::to_string(c.requests) + " requests, " + std::to_string(c.bytes) + " bytes, " +
         std::to_string(c.phases) + " phases, " + std::to_string(c.wavefronts) +
         " wavefronts, congestion up to " + std::to_string(c.max_congestion());
}
inline std::string to_text(const machine::AccessCounts& c) {
  return "\n    global loads  " + to_text(c.global_loads) + "\n    global stores " +
         to_text(c.global_stores) + "\n    shared loads  " + to_text(c.shared_loads) +
         "\n    shared stores " + to_text(c.shared_stores);
}

/// Which kernels a sweep has reached, and what it has seen of them.
struct EmittedTally {
  std::map<std::string, int> runs;  // by rung
  std::map<std::string, int> refused;
  std::set<int> congestions;  // of the tile rung's second phase
  std::set<int> overlaps;     // n_over of the published rungs
  std::set<std::uint64_t> tiles_a_block;
  int vectorised = 0;  // kernels with an access of more than an element
};

/// n_over of a published rung: the tile's columns among its rows. Source bits j < t, and those whose image is
/// spanned by the low t target bits.
inline int overlap_bits(const Affine& map, int t) {
  int over = 0;
  for (int j = 0; j < t; ++j) over += map.matrix().column(j) >> t == 0 ? 1 : 0;
  return over;
}

class EmittedBatch {
 public:
  /// False where emit() refuses it as unsupported.
  bool add(EmittedCase c) {
    c.options.name = "k" + std::to_string(cases_.size());
    try {
      Emitted emitted{.asked = c, .source = emit::emit(c.map, c.options)};
      library_.add(c.options.name, emitted.source);
      cases_.push_back(std::move(emitted));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) {
        ADD_FAILURE() << error.what() << "\n  " << describe(c);
      }
      ++tally_.refused[emit::name(c.options.rung)];
      return false;
    }
    return true;
  }
  std::size_t size() const { return cases_.size(); }

  const EmittedTally& check() {
    build();
    for (const Emitted& emitted : cases_) {
      const std::string name = emit::name(emitted.asked.options.rung);
      SCOPED_TRACE(describe(emitted.asked));
      try {
        check(emitted);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
      ++tally_.runs[name];
      if (::testing::Test::HasFailure()) break;
    }
    return tally_;
  }

 private:
  struct Emitted {
    EmittedCase asked;
    emit::Source source;
  };
  using Counts = machine::AccessCounts;

  static constexpr std::size_t kGuard = 128;
  static constexpr std::byte kPoisoned{0xa5};

  // A compiler's complaint names functions; the command that emits the first of them is put in front.
  void build() {
    try {
      library_.build();
    } catch (const std::runtime_error& error) {
      const std::string what = error.what();
      std::smatch found;
      std::string command;
      if (std::regex_search(what, found, std::regex("\\bk([0-9]+)_"))) {
        command = describe(cases_.at(std::stoul(found[1])).asked) + "\n";
      }
      throw std::runtime_error(command + what);
    }
  }

  void check(const Emitted& emitted) {
    const EmittedCase& c = emitted.asked;
    const emit::Source& source = emitted.source;
    const std::uint64_t width = source.element_bytes;
    const std::uint64_t count = std::uint64_t{1} << c.map.bits();
    std::vector<std::byte> in = c.input ? c.input(count) : std::vector<std::byte>(count * width);
    if (!c.input) {
      for (std::byte& b : in) b = static_cast<std::byte>(random_());
    }
    const std::vector<std::byte> kept = in;
    std::vector<std::byte> from = in;
    std::vector<std::byte> out;
    Affine done(c.map.bits());
    const bool is_pair = c.options.rung == emit::Rung::two_pass || c.options.both_factors;
    ASSERT_EQ(source.kernels.size(), is_pair ? 2U : 1U);
    EXPECT_EQ(source.workspace_bytes, is_pair ? in.size() : 0U);
    for (const emit::Kernel& kernel : source.kernels) {
      out.assign(in.size() + 2 * kGuard, kPoisoned);
      const Counts counts = run_counted(library_, kernel, from, std::span(out).subspan(kGuard, in.size()));
      EXPECT_TRUE(counts == kernel.predicted)
          << kernel.name << "\n  counted" << to_text(counts) << "\n  predicted" << to_text(kernel.predicted);
      ASSERT_TRUE(poisoned(out, 0) && poisoned(out, kGuard + in.size())) << "written outside the output";
      check_law(emitted, kernel, counts);
      from.assign(out.begin() + kGuard, out.end() - kGuard);
      done = compose(kernel.map, done);
    }
    EXPECT_EQ(done, c.map) << "the kernels' maps do not compose to the map";
    EXPECT_EQ(in, kept) << "the input changed";
    std::vector<std::byte> v(width);
    for (std::uint64_t x = 0; x < count; ++x) {
      const std::uint64_t y = c.map(x);
      std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(x * width), width, v.begin());
      if (c.function) c.function(v.data(), x, y);
      ASSERT_EQ(std::memcmp(v.data(), &from[y * width], width), 0)
          << "in[" << x << "] is not at out[" << y << "]";
    }
  }

  static bool poisoned(const std::vector<std::byte>& bytes, std::size_t at) {
    return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       bytes.begin() + static_cast<std::ptrdiff_t>(at + kGuard),
                       [](std::byte b) { return b == kPoisoned; });
  }

  // The sectors that warps of 32 consecutive elements touch when each writes its own, worked out one by one.
  static std::uint64_t scattered_sectors(const Affine& map, std::uint64_t width) {
    std::uint64_t sectors = 0;
    const std::uint64_t count = std::uint64_t{1} << map.bits();
    for (std::uint64_t first = 0; first < count; first += 32) {
      std::set<std::uint64_t> touched;
      for (std::uint64_t x = first; x < std::min(first + 32, count); ++x) touched.insert(map(x) * width / 32);
      sectors += touched.size();
    }
    return sectors;
  }

  void check_law(const Emitted& emitted, const emit::Kernel& kernel, const Counts& counts) {
    const emit::Options& options = emitted.asked.options;
    const std::uint64_t width = emitted.source.element_bytes;
    const int n = kernel.map.bits();
    const std::uint64_t bytes = width << n;
    const std::uint64_t sectors = (bytes + 31) / 32;
    EXPECT_EQ(counts.global_loads.bytes, bytes);
    EXPECT_EQ(counts.global_stores.bytes, bytes);
    if (options.rung == emit::Rung::naive) {
      EXPECT_EQ(counts.global_loads.sectors, sectors) << "naive reads are coalesced";
      EXPECT_EQ(counts.global_stores.sectors, scattered_sectors(kernel.map, width));
      EXPECT_EQ(counts.shared_loads.requests + counts.shared_stores.requests, 0U);
      return;
    }
    const int t = std::min(n, tile_bits(options, width));
    const int over = overlap_bits(kernel.map, t);
    const int worst_congestion = 1 << (t - over);
    // Turned rows are free of conflicts where a row is a warp at most, and passes each bank at most once.
    const int best_congestion = t <= 5 && width << t <= 128 ? 1 : worst_congestion;
    switch (options.rung) {
      case emit::Rung::naive:
        return;
      case emit::Rung::tile:
        tally_.overlaps.insert(over);
        tally_.congestions.insert(counts.shared_loads.max_congestion());
        EXPECT_EQ(counts.shared_stores.max_congestion(), 1);
        EXPECT_LE(counts.shared_loads.max_congestion(), worst_congestion) << "2^(n_tile - n_over)";
        if (width == 4 && t == 5) {
          EXPECT_EQ(counts.shared_loads.max_congestion(), worst_congestion);
        }
        break;
      case emit::Rung::banks:
        tally_.overlaps.insert(over);
        EXPECT_EQ(counts.shared_stores.max_congestion(), 1);
        EXPECT_LE(counts.shared_loads.max_congestion(), best_congestion);
        break;
      case emit::Rung::iters: {
        const int block_bits = n - 2 * t + over;
        const int iteration_bits = std::min(options.iteration_bits, std::max(0, block_bits));
        const std::uint64_t tile_bytes = width << (2 * t - over);
        EXPECT_EQ(kernel.shared_bytes, tile_bytes << iteration_bits) << "2^n_iter tiles a block";
        EXPECT_EQ(kernel.blocks, std::uint64_t{1} << (block_bits - iteration_bits));
        tally_.tiles_a_block.insert(kernel.shared_bytes / tile_bytes);
        EXPECT_EQ(counts.shared_stores.max_congestion(), 1);
        EXPECT_LE(counts.shared_loads.max_congestion(),
                  options.turned_rows ? best_congestion : worst_congestion);
        break;
      }
      case emit::Rung::two_pass:
      case emit::Rung::one_pass:
        EXPECT_LE(counts.shared_stores.max_congestion(), 1);
        EXPECT_LE(counts.shared_loads.max_congestion(), 1);
        break;
    }
    const bool published = options.rung == emit::Rung::tile || options.rung == emit::Rung::banks ||
                           options.rung == emit::Rung::iters;
    if (published) {
      EXPECT_EQ(counts.shared_stores.bytes, bytes);
      EXPECT_EQ(counts.shared_loads.bytes, bytes);
    }
    // Vectors of 16 bytes in and out, in whole lines, for arrays that have enough of them.
    if (!published && options.tile_bits == 0 && bytes >= std::uint64_t{1} << 16) {
      for (const machine::GlobalCounts* global : {&counts.global_loads, &counts.global_stores}) {
        EXPECT_EQ(global->requests, bytes / 512) << "vectors of 16 bytes";
        EXPECT_EQ(global->lines, bytes / 128) << "whole lines";
      }
    }
    const std::uint64_t segment = published ? width << t : 32;
    if (segment >= 32 && options.tile_bits == 0) {
      EXPECT_EQ(counts.global_loads.sectors, sectors) << "every sector is read once";
      EXPECT_EQ(counts.global_stores.sectors, sectors) << "every sector is written once";
    }
    if (published && segment >= 128 && t <= 5) {
      EXPECT_EQ(counts.global_loads.lines, bytes / 128);
      EXPECT_EQ(counts.global_stores.lines, bytes / 128);
    }
  }

  // n_tile as it was asked for, or the default: 128 bytes, at most 32 elements.
  static int tile_bits(const emit::Options& options, std::uint64_t width) {
    if (options.tile_bits != 0) return options.tile_bits;
    return std::min(5, 7 - std::countr_zero(width));
  }

  EmittedLibrary library_;
  std::vector<Emitted> cases_;
  EmittedTally tally_;
  std::mt19937_64 random_{4242};
};

}  // namespace faro::testing
