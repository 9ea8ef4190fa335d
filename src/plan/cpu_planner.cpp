// The planner for machines whose tiles have any size: the longest segments whose tile fits the capacity.
#include <algorithm>

#include "plan/cpu/cpu_pass.hpp"
#include "plan/planners.hpp"

namespace faro::detail {
namespace {

// Plans arrays that are taken as one, all of `work`.
class CpuPlanner {
 public:
  CpuPlanner(const Work& work, const Target& target)
      : work_(work), map_(work.map), unit_bits_(work.unit_bits), target_(target) {}

  Pass main_pass() const {
    const int vector = vector_bits(work_, target_);
    if (map_.bits() < vector || work_.array_bytes() <= target_.direct_bytes_max) {
      return make_pass(PassKind::direct, map_, unit_bits_, work_.arrays, std::uint64_t{1} << unit_bits_);
    }
    const int whole = whole_segment_bits(work_);
    if (whole >= vector) return pass_of_tiles(PassKind::segments, whole);
    const int capacity = log2_floor(tile_bytes()) - unit_bits_;
    return pass_of_tiles(PassKind::tile, longest_segment_bits(map_, unit_bits_, vector, capacity, target_));
  }

 private:
  // Rows of a line of pairs of bytes want to be written two at a time where lines are (cpu_pass.hpp).
  std::uint64_t tile_bytes() const {
    constexpr int kPairBits = 1;
    constexpr std::uint64_t kTwoLinesOfPairs = 8192;
    const bool in_runs = core_caches(target_).has_large_second_level();
    return unit_bits_ == kPairBits && in_runs ? std::max(target_.tile_bytes_max, kTwoLinesOfPairs)
                                              : target_.tile_bytes_max;
  }

  Pass pass_of_tiles(PassKind kind, int s) const {
    Pass pass = make_pass(kind, map_, unit_bits_, work_.arrays, std::uint64_t{1} << (s + unit_bits_));
    const int near = near_bits(map_, unit_bits_, s, target_);
    pass.tile = layout::make_tile(map_, {.segment_bits = s, .near_bits = near});
    return pass;
  }

  const Work& work_;
  const Affine& map_;
  int unit_bits_;
  const Target& target_;
};

}  // namespace

int batch_bits_to_fold(const Work& work, const Target& target) {
  // Larger tiles gain nothing where all of an array is one, and leave more arrays over.
  constexpr std::uint64_t kFoldedBytesMax = 4096;
  const std::uint64_t folded_bytes = std::min(target.tile_bytes_max, kFoldedBytesMax);
  if (work.array_bytes() >= folded_bytes) return 0;
  return std::min(log2_floor(work.arrays), log2_floor(folded_bytes) - log2_floor(work.array_bytes()));
}

int vector_bits(const Work& work, const Target& target) {
  return std::max(0, log2_floor(target.vector_bytes) - work.unit_bits);
}

int longest_segment_bits(const Affine& map, int unit_bits, int least, int tile_bits, const Target& target) {
  int s = least;
  const int most = std::min(map.bits(), log2_floor(target.segment_bytes_max) - unit_bits);
  while (s < most && s + 1 + map.rank_gamma(s + 1) <= tile_bits) ++s;
  return s;
}

int near_bits(const Affine& map, int unit_bits, int segment_bits, const Target& target) {
  int near = std::min(map.bits(), log2_floor(target.page_bytes) - unit_bits);
  while (near > segment_bits && (std::uint64_t{2} << map.rank_gamma(near)) > target.page_entries) --near;
  return std::max(near, 0);
}

Planned plan_for_cpu(const Work& work, const Target& target) {
  Planned planned;
  const int folded_bits = batch_bits_to_fold(work, target);
  planned.folded_batch_bits = folded_bits;
  const Affine map = direct_sum(work.map, Affine(folded_bits));
  const Work folded{.map = map, .unit_bits = work.unit_bits, .arrays = work.arrays >> folded_bits};
  planned.passes.push_back(CpuPlanner(folded, target).main_pass());
  const std::uint64_t rest = work.arrays - (folded.arrays << folded_bits);
  if (rest != 0) {
    planned.passes.push_back(
        make_pass(PassKind::direct, work.map, work.unit_bits, rest, std::uint64_t{1} << work.unit_bits));
    planned.passes.back().offset = (work.arrays - rest) * work.array_bytes();
  }
  return planned;
}

}  // namespace faro::detail
