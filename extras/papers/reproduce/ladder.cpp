#include "reproduce/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "faro/engines/cuda_emitted.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/engines/nvrtc.hpp"
#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "reproduce/device_check.hpp"

namespace faro::reproduce {
namespace {

using emit::Rung;

constexpr std::uint64_t kRandomMaps = 5;
constexpr std::uint64_t kLadderElementBytes = 4;
constexpr int kLeastBits = 12;  // of an array on a device with next to no memory

// A sample begins with a call that is not timed: it pays for what the contestant before left in the cache to
// be written.
TimedRun timed(const cuda::StreamClock& clock, std::function<void(Stream)> queue) {
  return [&clock, queue = std::move(queue)](int calls) {
    static_cast<void>(clock.milliseconds(1, queue));
    return clock.milliseconds(calls, queue);
  };
}

// One rung of one map: the factors' kernels, through the workspace, or a single one.
struct Chain {
  std::size_t first = 0;  // among all kernels
  std::size_t count = 1;  // 1 or 2
};

std::vector<Affine> factors_of(Family family, const Affine& map, Rung rung) {
  if (family != Family::random_bmmc || (rung != Rung::tile && rung != Rung::banks)) return {map};
  const f2::UlpFactors factors = f2::factor_ulp(map.matrix());
  const f2::Matrix reversal = f2::reversal(map.bits());
  return {Affine(reversal * factors.lower * factors.permutation, 0),
          Affine(factors.upper * reversal, map.complement())};
}

}  // namespace

const char* name(Family family) noexcept {
  switch (family) {
    case Family::random_bpc:
      return "random BPC";
    case Family::bit_reversal:
      return "bit reversal";
    case Family::transpose:
      return "transpose";
    case Family::random_bmmc:
      break;
  }
  return "random BMMC";
}

std::vector<Rung> rungs_of(Family family) {
  if (family == Family::random_bmmc)
    return {Rung::naive, Rung::tile, Rung::banks, Rung::two_pass, Rung::one_pass};
  return {Rung::naive, Rung::tile, Rung::banks, Rung::iters, Rung::two_pass, Rung::one_pass};
}

Rung published_rung(Family family) { return family == Family::random_bmmc ? Rung::banks : Rung::iters; }

std::vector<NamedAffine> maps_of(Family family, int bits, std::uint64_t seed) {
  const std::string n = std::to_string(bits);
  if (family == Family::bit_reversal) return {{"bit_reversal(" + n + ")", maps::bit_reversal(bits)}};
  std::vector<NamedAffine> maps;
  maps.reserve(kRandomMaps);
  for (std::uint64_t i = 0; i < kRandomMaps; ++i) {
    const std::string arguments = "(" + n + ", " + std::to_string(seed + i) + ")";
    if (family == Family::random_bpc) {
      maps.push_back({"random_bpc" + arguments, maps::random_bpc(bits, seed + i)});
    } else {
      maps.push_back({"random_bmmc" + arguments, maps::random_bmmc(bits, seed + i)});
    }
  }
  return maps;
}

const Timing& MapTimes::of(Rung rung) const {
  const auto found =
      std::find_if(rungs.begin(), rungs.end(), [rung](const auto& entry) { return entry.first == rung; });
  FARO_CHECK(found != rungs.end());
  return found->second;
}

// --- the bench

struct LadderBench::State {
  int bits;
  std::string device;
  cuda::DeviceArray in;
  cuda::DeviceArray out;
  cuda::DeviceArray workspace;
  DeviceCheck check;
  cuda::StreamClock clock;

  State(int index_bits, std::string name)
      : bits(index_bits),
        device(std::move(name)),
        in(kLadderElementBytes << index_bits),
        out(kLadderElementBytes << index_bits),
        workspace(kLadderElementBytes << index_bits) {}

  void run(std::span<const cuda::EmittedExecutor> chain, Stream stream = {}) const;

  // One Timing for the copy, and one for each chain.
  std::vector<Timing> time(const NamedAffine& map,
                           const std::vector<std::span<const cuda::EmittedExecutor>>& chains,
                           double budget_ms) const;
};

std::string LadderBench::why_not() {
  const cuda::Status status = cuda::status();
  if (!status.available) return status.reason;
  const cuda::NvrtcStatus compiler = cuda::nvrtc_status();
  return compiler.available ? "" : compiler.reason;
}

LadderBench::LadderBench(int bits) {
  const Target target = cuda::target();
  const std::vector<cuda::Device> devices = cuda::devices();
  const std::uint64_t free_bytes = devices.at(static_cast<std::size_t>(target.device)).free_memory_bytes;
  while (bits > kLeastBits && 3 * (kLadderElementBytes << bits) >= free_bytes) --bits;
  state_ = std::make_unique<State>(bits, target.name);
}

LadderBench::~LadderBench() = default;

int LadderBench::bits() const { return state_->bits; }
const std::string& LadderBench::device() const { return state_->device; }

void LadderBench::State::run(std::span<const cuda::EmittedExecutor> chain, Stream stream) const {
  if (chain.size() == 1) return chain.front().run(in.data(), out.data(), workspace.data(), stream);
  chain.front().run(in.data(), workspace.data(), nullptr, stream);
  chain.back().run(workspace.data(), out.data(), nullptr, stream);
}

std::vector<Timing> LadderBench::State::time(
    const NamedAffine& map, const std::vector<std::span<const cuda::EmittedExecutor>>& chains,
    double budget_ms) const {
  constexpr double kLeastSampleMs = 0.5;  // a thousand times the clock's resolution
  const int n = map.map.bits();
  const std::uint64_t bytes = kLadderElementBytes << n;
  std::vector<TimedRun> contestants;
  contestants.reserve(chains.size() + 1);
  contestants.push_back(
      timed(clock, [this, bytes](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); }));
  for (const auto chain : chains) {
    check.poison(out.data(), n);
    run(chain);
    check.require_permuted(map.map, out.data(),
                           "verify " + chain.front().source().kernels.front().name + " of " + map.spec);
    contestants.push_back(timed(clock, [this, chain](Stream stream) { run(chain, stream); }));
  }
  return measure_alternating(contestants,
                             {.budget_ms = budget_ms, .min_samples = 5, .min_sample_ms = kLeastSampleMs});
}

std::vector<MapTimes> LadderBench::measure(const std::function<bool(Family, Rung)>& wanted, int bits,
                                           std::uint64_t seed, double budget_ms) const {
  std::vector<Asked> asked;
  for (const Family family : kFamilies) {
    for (const NamedAffine& map : maps_of(family, bits, seed)) {
      Asked each{.family = family, .map = map, .rungs = {}};
      for (const Rung rung : rungs_of(family)) {
        if (wanted(family, rung)) each.rungs.push_back(rung);
      }
      asked.push_back(std::move(each));
    }
  }
  return measure(asked, bits, budget_ms);
}

std::vector<MapTimes> LadderBench::measure(const std::vector<Asked>& asked, int bits,
                                           double budget_ms) const {
  FARO_CHECK(bits <= state_->bits);
  struct Entry {
    MapTimes times;
    NamedAffine map;
    std::vector<Chain> chains;
  };
  std::vector<Entry> entries;
  std::vector<emit::Source> sources;
  for (const Asked& each : asked) {
    Entry entry{.times = {.family = each.family, .spec = each.map.spec, .copy = {}, .rungs = {}},
                .map = each.map,
                .chains = {}};
    for (const Rung rung : each.rungs) {
      const std::vector<Affine> factors = factors_of(each.family, each.map.map, rung);
      entry.chains.push_back({.first = sources.size(), .count = factors.size()});
      entry.times.rungs.emplace_back(rung, Timing{});
      for (const Affine& factor : factors)
        sources.push_back(
            emit::emit(factor, {.rung = rung, .name = "kernel_" + std::to_string(sources.size())}));
    }
    entries.push_back(std::move(entry));
  }
  const std::vector<cuda::EmittedExecutor> kernels = cuda::make_emitted_executors(std::move(sources));
  state_->check.fill(state_->in.data(), bits);
  std::vector<MapTimes> all;
  all.reserve(entries.size());
  for (Entry& entry : entries) {
    std::vector<std::span<const cuda::EmittedExecutor>> chains;
    for (const Chain& chain : entry.chains)
      chains.push_back(std::span(kernels).subspan(chain.first, chain.count));
    const std::vector<Timing> timings = state_->time(entry.map, chains, budget_ms);
    entry.times.copy = timings.front();
    for (std::size_t i = 0; i < chains.size(); ++i) entry.times.rungs[i].second = timings[i + 1];
    all.push_back(std::move(entry.times));
  }
  return all;
}

std::unique_ptr<LadderBench> make_bench(Table& table, int bits) {
  const std::string reason = LadderBench::why_not();
  if (!reason.empty()) {
    table.notes.push_back("no times: " + reason);
    return nullptr;
  }
  auto bench = std::make_unique<LadderBench>(bits);
  table.notes.push_back("measured on " + bench->device());
  if (bench->bits() < bits) {
    table.notes.push_back(
        fmt::format("2^{} elements: three arrays of 2^{} do not fit its memory", bench->bits(), bits));
  }
  return bench;
}

Row timed_row(const std::string& subject, const std::string& quantity, const Value& paper,
              std::optional<double> here, const char* unit) {
  return {.subject = subject,
          .quantity = quantity,
          .paper = paper,
          .here = here ? Value(*here) : Value(),
          .unit = unit,
          .criterion = here ? kOtherHardware : kNeedsGpu};
}

}  // namespace faro::reproduce
