#include "bench/in_cache.hpp"

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "oracle.hpp"

namespace faro::bench {
namespace {

constexpr int kSmallestBits = 4;
constexpr int kLargestBits = 20;
constexpr std::uint64_t kParallelBytes = std::uint64_t{256}
                                         << 10;  // below, the naive loop is one thread anyhow

std::vector<Row> measure_map(const NamedMap& map, std::uint64_t element_bytes) {
  const Problem problem{.permutation = map.map, .element_bytes = element_bytes};
  const std::uint64_t bytes = total_bytes(problem);
  const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cpu});
  const io::Buffer in(bytes);
  const io::Buffer out(bytes);
  for (std::uint64_t x = 0; x < bytes; ++x)
    in.data()[x] = static_cast<std::byte>(x * 0x9e3779b97f4a7c15 >> 56);
  plan.run(in.data(), out.data(), bytes);
  if (const auto mismatch = find_mismatch(problem, in.data(), out.data())) {
    fail(ErrorCode::verification, "verify " + map.spec, to_text(*mismatch), "out[pi(x)] = in[x]",
         "this is a bug; please report it with the command");
  }
  std::vector<std::string> kernels{"faro", "naive"};
  std::vector<std::function<void()>> contestants{[&] { plan.run(in.data(), out.data(), bytes); },
                                                 [&] { permute_naively(problem, in.data(), out.data(), 1); }};
  if (bytes >= kParallelBytes) {
    kernels.emplace_back("naive, all threads");
    contestants.emplace_back([&] { permute_naively(problem, in.data(), out.data()); });
  }
  const auto timings = measure_alternating(
      contestants, {.budget_ms = 40, .min_samples = 5, .max_samples = 1001, .min_sample_ms = 0.02});
  std::vector<Row> rows;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    rows.push_back({.spec = map.spec,
                    .element_bytes = element_bytes,
                    .bytes = bytes,
                    .pages = name(io::PageKind::huge),
                    .kernel = kernels[i],
                    .shape = {},
                    .timing = timings[i]});
  }
  return rows;
}

}  // namespace

std::vector<Row> measure_in_cache(const Options& options) {
  std::vector<Row> rows;
  for (const std::uint64_t element_bytes : options.widths) {
    std::fprintf(stderr, "in cache, %d-byte elements\n", static_cast<int>(element_bytes));
    for (int n = kSmallestBits; n <= kLargestBits; ++n) {
      for (const NamedMap& map : make_maps({.random_bpc = 1, .random_bmmc = 1}, n)) {
        for (Row& row : measure_map(map, element_bytes)) rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

}  // namespace faro::bench
