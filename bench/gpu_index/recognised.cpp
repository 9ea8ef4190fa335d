// What recognition costs a run: the same maps named, and as index arrays whose name nobody tells.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "bench/gpu_index/baselines.hpp"
#include "bench/gpu_index/race.hpp"
#include "engines/cuda_index.hpp"
#include "faro/faro.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;

constexpr std::uint64_t kEntryBytes = 4;

// Maps of about 2^bits elements, at least one of every family that recognition knows by a kernel of its own.
std::vector<std::string> maps(int bits) {
  const std::uint64_t count = std::uint64_t{1} << bits;
  const std::uint64_t side = std::uint64_t{1} << bits / 2;
  std::vector<std::string> all = {fmt::format("bit_reversal({})", bits),
                                  fmt::format("transpose({}, {})", count / side, side),
                                  fmt::format("gray({})", bits),
                                  fmt::format("random_bpc({}, 1)", bits),
                                  fmt::format("random_bmmc({}, 1)", bits),
                                  fmt::format("random_bmmc({}, 2)", bits),
                                  fmt::format("roll({}, {})", count - 5, count / 3),
                                  fmt::format("flip({})", count - 5),
                                  fmt::format("transpose({}, {})", side + 37, count / (side + 37)),
                                  fmt::format("transpose({}, 3)", count / 3),
                                  fmt::format("aos_to_soa({}, 12)", count / 12),
                                  fmt::format("axes({} 100 3 50; 2 0 3 1)", count / 15000),
                                  fmt::format("axes({} 500 100; 0 2 1)", count / 50000)};
  return all;
}

std::string row_of(const std::string& text, std::uint64_t element_bytes, double budget_ms) {
  const Permutation permutation = parse_permutation(text);
  const ExecutablePlan named =
      plan({.permutation = permutation, .element_bytes = element_bytes}, {.engine = Engine::cuda});
  const std::uint64_t bytes = total_bytes(named.plan().problem());
  const std::uint64_t count = bytes / element_bytes;

  // Where every number goes, as the map puts it: out[pi(x)] = x is the array of a gather.
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  DeviceArray entries(count * kEntryBytes);
  {
    DeviceArray in_order(count * kEntryBytes);
    in_order.upload(numbers.data());
    plan({.permutation = permutation, .element_bytes = kEntryBytes}, {.engine = Engine::cuda})
        .run(in_order.data(), entries.data(), count * kEntryBytes);
    entries.download(numbers.data());
  }
  const ExecutablePlan found =
      plan({.permutation = cuda::indexed_on_device(entries.data(), count, {kEntryBytes}, Direction::gather),
            .element_bytes = element_bytes},
           {.engine = Engine::cuda});

  const DeviceArray in(bytes);
  const DeviceArray out(bytes);
  const DeviceArray workspace(std::max(named.workspace_bytes(), found.workspace_bytes()));
  fill(in.data(), bytes);
  const auto queue = [&](const ExecutablePlan& with) {
    return [&](Stream stream) {
      with.run(in.data(), out.data(), bytes, {workspace.data(), workspace.size()}, stream);
    };
  };
  for (const ExecutablePlan* with : {&named, &found}) {
    const auto run = queue(*with);
    run({});
    const std::uint64_t wrong =
        misplaced({entries.data(), kEntryBytes, count, element_bytes}, true, in.data(), out.data());
    if (wrong > 0) {
      fail(ErrorCode::verification, "gpu_index_bench",
           fmt::format("{} elements of {} elsewhere", wrong, text), "every element in its place");
    }
  }
  const std::vector<Timing> t =
      race({{"named", queue(named)},
            {"found", queue(found)},
            {"copy", [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); }}},
           budget_ms);
  const double copy = t[2].median_ms;
  return fmt::format("| {} | {} | {:.4f} | {:.4f} | {:.1f}% | {:.1f}% | {:.1f}% |\n", text, element_bytes,
                     t[0].median_ms, t[1].median_ms, 100 * copy / t[0].median_ms, 100 * copy / t[1].median_ms,
                     100 * t[0].median_ms / t[1].median_ms);
}

}  // namespace

std::string recognised_table(int bits, const std::vector<std::uint64_t>& widths, double budget_ms) {
  std::string table =
      "| map | bytes | named, ms | index array, ms | named, of copy | index array, of copy | of named "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const std::uint64_t width : widths) {
    for (const std::string& text : maps(bits)) table += row_of(text, width, budget_ms);
  }
  return table;
}

}  // namespace faro::bench::gpu
