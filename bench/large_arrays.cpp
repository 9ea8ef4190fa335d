#include "bench/large_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>

#include "bench/gather_tile.hpp"
#include "engines/cpu.hpp"
#include "faro/faro.hpp"
#include "oracle.hpp"

namespace faro::bench {
namespace {

struct Arrays {
  const std::byte* in;
  std::byte* out;
  std::uint64_t bytes;

  void copy() const { cpu::copy(in, out, bytes); }
};

// Large enough for every cache and table of translations to be too small, and four times faster than 1 GiB.
constexpr std::uint64_t kTrialBytes = std::uint64_t{256} << 20;

int index_bits(std::uint64_t bytes, std::uint64_t element_bytes) {
  return std::countr_zero(bytes / element_bytes);
}

double milliseconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

// Bytes without a pattern: one that is a byte off differs from its neighbours almost surely, even alone.
void fill(const io::Buffer& buffer) {
  const auto words = static_cast<std::int64_t>(buffer.size() / sizeof(std::uint64_t));
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < words; ++i) {
    std::uint64_t word = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;  // SplitMix64's finaliser
    word ^= word >> 27;
    std::memcpy(buffer.data() + static_cast<std::size_t>(i) * sizeof(word), &word, sizeof(word));
  }
}

// Whether in[x] is at out[pi(x)] for 2^20 places x all over the array. Checking all of them would take longer
// than all of the timing.
bool holds_at_samples(const Affine& map, std::uint64_t element_bytes, const Arrays& arrays) {
  constexpr std::int64_t kSamples = 1 << 20;
  std::atomic<bool> good{true};
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < kSamples; ++i) {
    std::uint64_t x = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 32)) & f2::low_mask(map.bits());
    const std::byte* const wanted = arrays.in + x * element_bytes;
    if (std::memcmp(arrays.out + map(x) * element_bytes, wanted, element_bytes) != 0) good = false;
  }
  return good;
}

enum class Check { samples, everything };

void verify(const std::string& kernel, const NamedMap& map, std::uint64_t element_bytes, const Arrays& arrays,
            const std::function<void()>& run, Check check) {
  arrays.copy();  // so that what another contestant left cannot pass
  run();
  bool good = holds_at_samples(map.map, element_bytes, arrays);
  if (check == Check::everything) {
    const Problem problem{.permutation = map.map, .element_bytes = element_bytes};
    good = good && !find_mismatch(problem, arrays.in, arrays.out);
  }
  if (good) return;
  fail(ErrorCode::verification, fmt::format("verify {} of {}", kernel, map.spec),
       fmt::format("a wrong result for elements of {} bytes", element_bytes), "out[pi(x)] = in[x]",
       "this is a bug; please report it with the command");
}

// The two shapes whose median over three maps is shortest. A map's time counts relative to its best one.
std::vector<GatherTile::Shape> best_shapes(std::uint64_t element_bytes, const Arrays& arrays) {
  constexpr std::size_t kKept = 2;
  constexpr int kTries = 2;
  if (!GatherTile::available()) return {};
  const int n = index_bits(arrays.bytes, element_bytes);
  const std::vector<GatherTile::Shape> shapes = GatherTile::shapes(element_bytes);
  std::vector<std::vector<double>> relative(shapes.size());
  for (const NamedMap& map : make_maps({.random_bpc = 0, .random_bmmc = 1}, n)) {
    std::vector<double> best_ms(shapes.size(), 1e300);
    for (int attempt = 0; attempt < kTries; ++attempt) {
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        const GatherTile tile(map.map, element_bytes, shapes[i]);
        best_ms[i] = std::min(best_ms[i], milliseconds_of([&] { tile.run(arrays.in, arrays.out); }));
      }
    }
    const double fastest_ms = *std::min_element(best_ms.begin(), best_ms.end());
    for (std::size_t i = 0; i < shapes.size(); ++i) relative[i].push_back(best_ms[i] / fastest_ms);
  }
  std::vector<std::size_t> order(shapes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return median(relative[a]) < median(relative[b]); });
  std::vector<GatherTile::Shape> kept;
  for (std::size_t i = 0; i < std::min(kKept, order.size()); ++i) kept.push_back(shapes[order[i]]);
  return kept;
}

// Every element of one result for each width; the samples have to do for the others.
void verify_in_full(std::uint64_t element_bytes, const Arrays& arrays) {
  const auto maps = make_maps({.bit_reversal = 0, .transpose = 0, .random_bpc = 0, .random_bmmc = 1},
                              index_bits(arrays.bytes, element_bytes));
  const NamedMap& map = maps.front();
  const ExecutablePlan plan =
      faro::plan({.permutation = map.map, .element_bytes = element_bytes}, {.engine = Engine::cpu});
  verify(
      "faro", map, element_bytes, arrays, [&] { plan.run(arrays.in, arrays.out, arrays.bytes); },
      Check::everything);
}

struct Contestant {
  std::string kernel;
  std::string shape;
  std::function<void()> run;
  int rounds = 0;
  std::vector<double> samples_ms;
};

// Every one once a round, each round beginning one further on, so that nobody always follows the same rival.
void take_turns(std::vector<Contestant>& contestants, int rounds) {
  const std::size_t count = contestants.size();
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      Contestant& contestant = contestants[(i + static_cast<std::size_t>(round)) % count];
      if (round < contestant.rounds) contestant.samples_ms.push_back(milliseconds_of(contestant.run));
    }
  }
}

std::vector<Row> measure_map(const NamedMap& map, std::uint64_t element_bytes, const Arrays& arrays,
                             const std::vector<GatherTile::Shape>& shapes, int rounds) {
  const Problem problem{.permutation = map.map, .element_bytes = element_bytes};
  const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cpu});
  std::vector<Contestant> contestants;
  const auto add = [&](std::string kernel, std::string shape, std::function<void()> run, int turns) {
    contestants.push_back({.kernel = std::move(kernel),
                           .shape = std::move(shape),
                           .run = std::move(run),
                           .rounds = turns,
                           .samples_ms = {}});
  };
  add(
      "faro", "", [&] { plan.run(arrays.in, arrays.out, arrays.bytes); }, rounds);
  for (const GatherTile::Shape shape : shapes) {
    const auto tile = std::make_shared<const GatherTile>(map.map, element_bytes, shape);
    add(
        "gather tile", to_text(shape, element_bytes), [tile, &arrays] { tile->run(arrays.in, arrays.out); },
        rounds);
  }
  add(
      "copy", "", [&] { arrays.copy(); }, rounds);
  if (map.timed_naively) {
    add(
        "naive", "", [&] { permute_naively(problem, arrays.in, arrays.out); }, 1);
  }
  for (const Contestant& contestant : contestants) {  // which also warms them
    if (contestant.kernel == "faro")
      verify("faro", map, element_bytes, arrays, contestant.run, Check::samples);
    if (contestant.kernel == "gather tile") {
      verify("gather tile " + contestant.shape, map, element_bytes, arrays, contestant.run, Check::samples);
    }
  }
  take_turns(contestants, rounds);

  std::vector<Row> rows;
  for (const Contestant& contestant : contestants) {
    rows.push_back({.spec = map.spec,
                    .element_bytes = element_bytes,
                    .bytes = arrays.bytes,
                    .pages = {},
                    .kernel = contestant.kernel,
                    .shape = contestant.shape,
                    .timing = summarise(contestant.samples_ms)});
  }
  return rows;
}

void require_memory(std::uint64_t bytes) {
  const std::uint64_t available = io::available_memory_bytes();
  if (bytes <= available / 2) return;
  fail(ErrorCode::value, "cpu_bench --bytes", fmt::format("two arrays of {} bytes", bytes),
       fmt::format("at most the {} bytes available", available), "smaller arrays: --bytes 256MiB");
}

}  // namespace

std::vector<Row> measure_large_arrays(const Options& options) {
  std::vector<Row> rows;
  require_memory(options.bytes);
  for (const io::PageKind pages : options.pages) {
    const io::Buffer in(options.bytes, pages);
    const io::Buffer out(options.bytes, pages);
    const Arrays arrays{.in = in.data(), .out = out.data(), .bytes = options.bytes};
    const Arrays trial{.in = in.data(), .out = out.data(), .bytes = std::min(options.bytes, kTrialBytes)};
    fill(in);
    for (const std::uint64_t element_bytes : options.widths) {
      std::fprintf(stderr, "%s pages, %d-byte elements: gather tiles", name(pages),
                   static_cast<int>(element_bytes));
      const auto shapes = best_shapes(element_bytes, trial);
      for (const GatherTile::Shape shape : shapes) {
        std::fprintf(stderr, " %s", to_text(shape, element_bytes).c_str());
      }
      std::fputc('\n', stderr);
      if (pages == options.pages.back()) verify_in_full(element_bytes, trial);
      for (const NamedMap& map : make_maps(options.maps, index_bits(options.bytes, element_bytes))) {
        for (Row& row : measure_map(map, element_bytes, arrays, shapes, options.rounds)) {
          row.pages = name(pages);
          std::fprintf(stderr, "  %-28s %-11s %-12s %9.2f ms\n", row.spec.c_str(), row.kernel.c_str(),
                       row.shape.c_str(), row.timing.median_ms);
          rows.push_back(std::move(row));
        }
      }
    }
  }
  return rows;
}

}  // namespace faro::bench
