// The curves of affine tiles and segments: by one thread, whose processor time other programs hardly change.
#include "engines/cpu/tune_affine.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "engines/cpu.hpp"
#include "faro/measure.hpp"
#include "io/buffer.hpp"
#include "plan/cpu/affine_cost.hpp"

namespace faro::cpu {
namespace {

using detail::Crowded;

constexpr double kUsOfMs = 1e3;
double thread_us() { return kUsOfMs * clock_ms(true); }

class AffineContest {
 public:
  AffineContest(AffineTuning tuning, const Target& machine)
      : tuning_(tuning),
        tile_bits_(static_cast<int>(std::bit_width(machine.tile_bytes_max)) - 1),
        in_(std::uint64_t{1} << most_bits()),
        out_(std::uint64_t{1} << most_bits()) {
    cached_ = machine;
    cached_.threads = 1;
    cached_.index_calibration = nullptr;
    streamed_ = cached_;
    cached_.streaming_bytes = std::numeric_limits<std::uint64_t>::max();
    streamed_.streaming_bytes = 0;
  }

  std::vector<IndexCurve> curves() {
    std::vector<IndexCurve> made;
    for (int unit_bits = 0; unit_bits <= kWidestUnit; ++unit_bits) {
      for (int exchanged = 1; exchanged <= kLineBits - unit_bits; ++exchanged) {
        if (tuning_.brief && exchanged != kLineBits - unit_bits) continue;
        for (const Crowded crowded : {Crowded::none, Crowded::source, Crowded::target, Crowded::both}) {
          detail::TileSample sample{
              .unit_bits = unit_bits, .exchanged = exchanged, .crowded = crowded, .tile_bits = tile_bits_};
          const auto map = [&](int bits) { return detail::tile_sample(bits - unit_bits, sample); };
          IndexCurve empty{.element_bytes = 1 << unit_bits,
                           .chunk_bits = exchanged,
                           .run_bits = static_cast<int>(crowded),
                           .curve = {}};
          add_both(made, empty, IndexKernel::tile, IndexKernel::streamed_tile, map);
          // Past the caches no line is fetched that is written, and tiles apart take hardly longer but where
          // lines come from many rows.
          sample.apart = true;
          empty.run_bits += detail::kApart;
          empty.kernel = IndexKernel::tile;
          made.push_back(curve_of(empty, cached_bits(false), cached_, map));
          empty.kernel = IndexKernel::streamed_tile;
          if (exchanged == kLineBits - unit_bits && !tuning_.brief)
            made.push_back(curve_of(std::move(empty), {22, most_bits()}, streamed_, map));
        }
      }
    }
    for (const int run_bits : {6, 8, 10, 12}) {
      // The bits of whole segments backwards.
      const auto map = [&](int bits) -> std::optional<Affine> {
        constexpr int kUnit = 4;
        std::vector<int> to;
        to.reserve(static_cast<std::size_t>(bits));
        for (int bit = 0; bit < bits - kUnit; ++bit)
          to.push_back(bit < run_bits - kUnit ? bit : bits - kUnit - 1 - (bit - (run_bits - kUnit)));
        return maps::permute_bits(to);
      };
      const IndexCurve empty{.element_bytes = 1, .chunk_bits = 0, .run_bits = run_bits, .curve = {}};
      add_both(made, empty, IndexKernel::segments, IndexKernel::streamed_segments, map);
    }
    return made;
  }

 private:
  static constexpr int kWidestUnit = 4;
  static constexpr int kLineBits = 6;

  int most_bits() const { return tuning_.brief ? 24 : 26; }
  // Segments are written through the caches at all sizes, since they tell how far these reach.
  std::vector<int> cached_bits(bool of_segments) const {
    if (tuning_.brief) return {20, 23};
    return of_segments ? std::vector<int>{16, 20, 21, 22, 23, 24, 26} : std::vector<int>{16, 20, 21, 23, 24};
  }
  std::vector<int> streamed_bits() const {
    return tuning_.brief ? std::vector<int>{20, 24} : std::vector<int>{20, 22, 23, 24, 25, 26};
  }

  template <typename MapOf>
  void add_both(std::vector<IndexCurve>& made, IndexCurve empty, IndexKernel cached, IndexKernel streamed,
                const MapOf& map_of) {
    empty.kernel = cached;
    made.push_back(curve_of(empty, cached_bits(cached == IndexKernel::segments), cached_, map_of));
    empty.kernel = streamed;
    made.push_back(curve_of(std::move(empty), streamed_bits(), streamed_, map_of));
  }

  template <typename MapOf>
  IndexCurve curve_of(IndexCurve curve, const std::vector<int>& sizes, const Target& machine,
                      const MapOf& map_of) {
    for (const int bits : sizes) {
      const std::optional<Affine> map = map_of(bits);
      if (!map) continue;
      const std::uint64_t bytes = std::uint64_t{1} << bits;
      const std::uint64_t unit_bytes = bytes >> map->bits();
      const Executor engine(Plan({.permutation = *map, .element_bytes = unit_bytes}, machine));
      const auto us = round_us([&] { engine.run(in_.data(), out_.data()); }, bytes);
      curve.curve.points.push_back(
          {.elements = bytes / static_cast<std::uint64_t>(curve.element_bytes), .microseconds = us});
    }
    return curve;
  }

  // The mean of a few calls after one that warms. Before each the arrays are copied, so that they lie where
  // others leave them: what the caches hold is written past them more slowly. Small ones are called in a row.
  template <typename Run>
  double round_us(const Run& run, std::uint64_t bytes) const {
    constexpr std::uint64_t kRoundBytes = std::uint64_t{8} << 20;
    constexpr std::uint64_t kSmall = std::uint64_t{256} << 10;
    constexpr std::uint64_t kMostCopied = 4;
    const bool in_a_row = bytes <= kSmall;
    const std::uint64_t calls = std::max<std::uint64_t>(1, kRoundBytes / bytes);
    const std::uint64_t samples = in_a_row ? 1 : std::min(calls, kMostCopied);
    run();
    double us = 0;
    for (std::uint64_t sample = 0; sample < samples; ++sample) {
      copy(in_.data(), out_.data(), bytes, 1);
      const double begin = thread_us();
      for (std::uint64_t call = 0; call < (in_a_row ? calls : 1); ++call) run();
      us += thread_us() - begin;
    }
    return us / static_cast<double>(in_a_row ? calls : samples);
  }

  AffineTuning tuning_;
  int tile_bits_;
  io::Buffer in_;
  io::Buffer out_;
  Target cached_;
  Target streamed_;
};

}  // namespace

// The least of several rounds, seconds apart: a moment in which others take the memory spoils one of them.
std::vector<IndexCurve> tune_affine(AffineTuning tuning, const Target& machine) {
  constexpr int kRounds = 2;
  AffineContest contest(tuning, machine);
  std::vector<IndexCurve> least = contest.curves();
  for (int round = 1; round < kRounds; ++round) {
    const std::vector<IndexCurve> again = contest.curves();
    for (std::size_t curve = 0; curve < least.size(); ++curve) {
      for (std::size_t point = 0; point < least[curve].curve.points.size(); ++point) {
        double& us = least[curve].curve.points[point].microseconds;
        us = std::min(us, again[curve].curve.points[point].microseconds);
      }
    }
  }
  return least;
}

}  // namespace faro::cpu
