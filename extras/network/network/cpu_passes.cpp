#include "network/cpu_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "network/cpu_chunks.hpp"
#include "size_text.hpp"
#include "tell/margin_text.hpp"

namespace faro::network {
namespace {

constexpr std::uint64_t kNetworkLine = 64;

// Below this a thread costs more than it brings.
constexpr std::uint64_t kBytesPerThread = std::uint64_t{64} << 10;
// Arrays smaller than this are run several at once, so that a tile's fixed costs are shared.
constexpr std::uint64_t kFoldedBytes = std::uint64_t{16} << 10;

std::uint64_t bytes_of_one(const Plan& plan) {
  return plan.problem().element.bytes() << plan.normal_form().bits;
}

const char* words_of(cpu::Kernel kernel) {
  using cpu::Kernel;
  static constexpr const char* kNames[] = {
      "minima and maxima",    "minima and maxima",    "minima and maxima",    "sums and differences",
      "sums and differences", "sums and differences", "sums and differences", "butterflies",
      "butterflies",          "pairs one by one"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Kernel::scalar) + 1);
  return kNames[static_cast<std::size_t>(kernel)];
}

// "minima and maxima in vectors of 64 bytes, pairs one by one": each kind of visit once.
std::string kernel_of(const std::vector<cpu::Chunk>& chunks, const cpu::Vectors& vectors) {
  std::vector<std::string> kinds;
  for (const cpu::Chunk& chunk : chunks) {
    const bool alone =
        chunk.kernel == cpu::Kernel::scalar && is_elementwise(chunk.steps.front().layer->op.kind);
    std::string kind = alone ? "elements one by one" : words_of(chunk.kernel);
    if (chunk.kernel != cpu::Kernel::scalar) {
      kind += fmt::format(" in vectors of {}", size_text(vectors.vector_bytes));
    }
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(std::move(kind));
  }
  return kinds.empty() ? "rows in, rows out" : fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace

CpuTeam team_of(const Plan& plan, const Pass& pass, const Target& target) {
  const std::uint64_t batch = plan.problem().batch;
  const int block_bits = pass.tile.block_bits();
  CpuTeam team{.streamed = plan.array_bytes() > target.streaming_bytes};
  while (block_bits == 0 && bytes_of_one(plan) << (team.fold_bits + 1) <= kFoldedBytes &&
         std::uint64_t{1} << team.fold_bits < batch) {
    ++team.fold_bits;
  }
  team.buffer_bits = std::max(pass.tile.tile_bits() + team.fold_bits,
                              cpu::group_bits(plan.problem().element, cpu::vectors()));
  const std::uint64_t folded =
      (batch >> team.fold_bits) + ((batch & f2::low_mask(team.fold_bits)) != 0 ? 1 : 0);
  team.tiles = folded << block_bits;
  const std::uint64_t useful = std::min(team.tiles, 1 + plan.array_bytes() / kBytesPerThread);
  const auto most = static_cast<std::uint64_t>(std::max(1, target.threads));
  team.threads = static_cast<int>(std::clamp<std::uint64_t>(useful, 1, most));
  return team;
}

std::vector<CpuPassFacts> cpu_pass_facts(const Plan& plan, const Target& target) {
  const std::uint64_t element_bytes = plan.problem().element.bytes();
  std::vector<CpuPassFacts> facts;
  for (const Pass& pass : plan.passes()) {
    CpuPassFacts made{.pass = facts.size(),
                      .layers = pass.layers.size(),
                      .kernel = {},
                      .team = team_of(plan, pass, target),
                      .bytes_read = plan.array_bytes()};
    const cpu::Vectors vectors = cpu::vectors();
    const std::vector<cpu::Chunk> chunks = cpu::make_chunks(
        pass, plan.problem().element, made.team.buffer_bits, vectors, cpu::TwiddleTables::left_out);
    made.visits = chunks.size();
    made.kernel = kernel_of(chunks, vectors);
    const std::uint64_t run_bytes = element_bytes << pass.tile.segment_bits;
    made.runs = plan.array_bytes() / run_bytes;
    made.lines = made.runs * ((run_bytes + kNetworkLine - 1) / kNetworkLine);
    made.least_us =
        curves_of(target).predict_us(IndexKernel::copy, element_bytes, plan.array_bytes() / element_bytes);
    facts.push_back(std::move(made));
  }
  return facts;
}

std::string explain(const Plan& plan, const std::vector<CpuPassFacts>& passes, const Target& target) {
  constexpr double us_per_ms = 1e3;
  faro::detail::MarginText text;
  for (const CpuPassFacts& pass : passes) {
    const CpuTeam& team = pass.team;
    text.line(fmt::format("on a CPU {}", pass.pass + 1),
              fmt::format("pass {}; layers: {}; visits to the buffer: {}", pass.pass + 1, pass.layers,
                          pass.visits));
    text.line("  kernel", pass.kernel);
    text.line(
        "  threads",
        fmt::format(
            "{}, each by way of {}{}; {} in all{}", count_text(static_cast<std::uint64_t>(team.threads)),
            size_text(plan.problem().element.bytes() << team.buffer_bits),
            team.streamed ? ", written past the caches" : "", count_text(team.tiles, "tile"),
            team.fold_bits == 0
                ? std::string()
                : fmt::format(", of {} each", count_text(std::uint64_t{1} << team.fold_bits, "array"))));
    text.line("  moves", fmt::format("reads {} and writes as much", size_text(pass.bytes_read)));
    text.line("  lines", fmt::format("reads {} of {} bytes in {} and writes as many", count_text(pass.lines),
                                     kNetworkLine, count_text(pass.runs, "run")));
    if (!pass.least_us) continue;
    text.line("  time", fmt::format("{:.4g} ms at least, which a copy takes, by the curves of {}",
                                    *pass.least_us / us_per_ms, rates_of(target)));
  }
  return text.take();
}

std::string rates_of(const Target& target) { return curves_of(target).source; }

}  // namespace faro::network
