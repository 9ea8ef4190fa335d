#include "reproduce/offline_times.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "cuda/shared_permutation.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"

namespace faro::reproduce {
namespace {

constexpr std::uint64_t kTimedElements = kOfflineElements;
static_assert(kTimedElements == cuda::kPermutedElements);

// One repeat takes about this, or a few times it, for as many blocks as run side by side.
constexpr double kRepeatNs = 200;
constexpr double kLongRunNs = 4e6;  // so that an event's few microseconds are nothing
constexpr std::uint32_t kLongOverShort = 5;
constexpr std::size_t kRounds = 7;
constexpr int kWarmingRounds = 2;

class Bench {
 public:
  explicit Bench(std::span<const OfflineContestant> contestants) : contestants_(contestants) {
    std::uint64_t most_blocks = 1;
    for (const OfflineContestant& c : contestants) {
      most_blocks = std::max<std::uint64_t>(most_blocks, c.blocks);
      benches_.emplace_back(c.permutation, c.way);
    }
    words_ = kTimedElements * most_blocks;
    in_.emplace(4 * words_);
    out_.emplace(4 * words_);
    std::vector<std::uint32_t> numbers(words_);
    std::iota(numbers.begin(), numbers.end(), 1U);
    in_->upload(numbers.data());
  }

  // Every block's array, after an even number of repeats and then an odd one.
  void verify() {
    std::vector<std::uint32_t> out(words_);
    for (std::size_t c = 0; c < contestants_.size(); ++c) {
      const OfflineContestant& contestant = contestants_[c];
      for (const std::uint32_t repeats : {2U, 3U}) {
        std::fill(out.begin(), out.end(), 0U);
        out_->upload(out.data());
        static_cast<void>(milliseconds(c, repeats));
        out_->download(out.data());
        check(contestant, out);
      }
    }
  }

  double nanoseconds(std::size_t c, std::uint32_t waves) {
    const auto long_run = static_cast<std::uint32_t>(std::max(kLongRunNs / (kRepeatNs * waves), 100.0));
    const std::uint32_t short_run = long_run / kLongOverShort;
    const double long_ms = milliseconds(c, long_run);
    return (long_ms - milliseconds(c, short_run)) / (long_run - short_run) * 1e6;
  }

 private:
  double milliseconds(std::size_t c, std::uint32_t repeats) {
    return clock_.milliseconds(1, [&](Stream stream) {
      benches_[c].run(in_->data(), out_->data(), contestants_[c].blocks, repeats, stream);
    });
  }

  static void check(const OfflineContestant& contestant, std::span<const std::uint32_t> out) {
    for (std::uint64_t b = 0; b < contestant.blocks; ++b) {
      for (std::uint64_t i = 0; i < kTimedElements; ++i) {
        const std::uint64_t to = contestant.way == PermuteWay::copy ? i : contestant.permutation[i];
        const std::uint64_t got = out[b * kTimedElements + to];
        const std::uint64_t wanted = b * kTimedElements + i + 1;
        if (got == wanted) continue;
        fail(ErrorCode::verification, "time " + std::string(name_of(contestant.way)) + " on a GPU",
             "element " + std::to_string(got) + " at place " + std::to_string(b * kTimedElements + to),
             "element " + std::to_string(wanted), "please report it");
      }
    }
  }

  std::span<const OfflineContestant> contestants_;
  std::vector<cuda::SharedPermutationBench> benches_;
  std::uint64_t words_ = 0;
  std::optional<cuda::DeviceArray> in_;
  std::optional<cuda::DeviceArray> out_;
  cuda::StreamClock clock_;
};

}  // namespace

std::optional<OfflineDevice> offline_device() {
  if (!cuda::status().available) return std::nullopt;
  const cuda::BlockRoom room = cuda::permutation_block_room();
  return OfflineDevice{.name = cuda::target().name,
                       .multiprocessors = static_cast<std::uint32_t>(room.multiprocessors),
                       .blocks_each = static_cast<std::uint32_t>(std::max(1, room.blocks_each))};
}

std::vector<double> offline_times_ns(std::span<const OfflineContestant> contestants) {
  const cuda::BlockRoom room = cuda::permutation_block_room();
  const auto side_by_side = static_cast<std::uint32_t>(std::max(1, room.multiprocessors * room.blocks_each));
  Bench bench(contestants);
  bench.verify();
  std::vector<std::array<double, kRounds>> times(contestants.size());
  for (int round = -kWarmingRounds; round < static_cast<int>(kRounds); ++round) {
    for (std::size_t c = 0; c < contestants.size(); ++c) {
      const std::uint32_t waves = (contestants[c].blocks + side_by_side - 1) / side_by_side;
      const double ns = bench.nanoseconds(c, waves);
      if (round >= 0) times[c][static_cast<std::size_t>(round)] = ns;  // before that the clocks rise
    }
  }
  std::vector<double> medians;
  for (std::array<double, kRounds>& of_one : times) {
    std::nth_element(of_one.begin(), of_one.begin() + kRounds / 2, of_one.end());
    medians.push_back(of_one[kRounds / 2]);
  }
  return medians;
}

}  // namespace faro::reproduce
