// The planner for machines whose tiles have any size: the longest segments whose tile fits the capacity.
#include <algorithm>
#include <utility>

#include "plan/planners.hpp"

namespace faro::detail {
namespace {

// Of arrays that are taken as one, all of `work`.
class Planner {
 public:
  Planner(const Work& work, const Target& target)
      : work_(work), map_(work.map), unit_bits_(work.unit_bits), target_(target) {}

  Pass main_pass() const {
    const int vector = std::max(0, log2_floor(target_.vector_bytes) - unit_bits_);
    if (map_.bits() < vector || work_.array_bytes() <= target_.direct_bytes_max) {
      return make_pass(PassKind::direct, map_, unit_bits_, work_.arrays, std::uint64_t{1} << unit_bits_);
    }
    const int whole = whole_segment_bits(work_);
    if (whole >= vector) return pass_of_tiles(PassKind::segments, whole);
    return pass_of_tiles(PassKind::tile, segment_bits(vector));
  }

 private:
  Pass pass_of_tiles(PassKind kind, int s) const {
    Pass pass = make_pass(kind, map_, unit_bits_, work_.arrays, std::uint64_t{1} << (s + unit_bits_));
    pass.tile = layout::make_tile(map_, {.segment_bits = s, .near_bits = near_bits(s)});
    return pass;
  }

  // The longest segments whose tile fits the capacity. A longer segment never has a smaller tile, since
  // dim T = dim(S + A^-1 S) grows with S.
  int segment_bits(int least) const {
    int s = least;
    const int most = std::min(map_.bits(), log2_floor(target_.segment_bytes_max) - unit_bits_);
    const int capacity = log2_floor(target_.tile_bytes_max) - unit_bits_;
    while (s < most && s + 1 + map_.rank_gamma(s + 1) <= capacity) ++s;
    return s;
  }

  // The largest run of index bits whose rows, read and written, fit the translations held at once.
  int near_bits(int s) const {
    int near = std::min(map_.bits(), log2_floor(target_.page_bytes) - unit_bits_);
    while (near > s && (std::uint64_t{2} << map_.rank_gamma(near)) > target_.page_entries) --near;
    return std::max(near, 0);
  }

  const Work& work_;
  const Affine& map_;
  int unit_bits_;
  const Target& target_;
};

// How many bits of the batch become index bits: enough that an array reaches a tile's size.
int batch_bits_to_fold(const Work& work, const Target& target) {
  if (work.array_bytes() >= target.tile_bytes_max) return 0;
  return std::min(log2_floor(work.arrays),
                  log2_floor(target.tile_bytes_max) - log2_floor(work.array_bytes()));
}

}  // namespace

Planned plan_for_cpu(const Work& work, const Target& target) {
  Planned planned;
  const int folded_bits = batch_bits_to_fold(work, target);
  planned.folded_batch_bits = folded_bits;
  const Affine map = direct_sum(work.map, Affine(folded_bits));
  const Work folded{.map = map, .unit_bits = work.unit_bits, .arrays = work.arrays >> folded_bits};
  planned.passes.push_back(Planner(folded, target).main_pass());
  const std::uint64_t rest = work.arrays - (folded.arrays << folded_bits);
  if (rest != 0) {
    planned.passes.push_back(
        make_pass(PassKind::direct, work.map, work.unit_bits, rest, std::uint64_t{1} << work.unit_bits));
  }
  return planned;
}

}  // namespace faro::detail
