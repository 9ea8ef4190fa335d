#include "faro/plan/plan.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "faro/kernels/affine_tile_params.hpp"

namespace faro {
namespace {

using f2::Matrix;
using f2::Word;

int log2_floor(std::uint64_t x) { return static_cast<int>(std::bit_width(x)) - 1; }

[[noreturn]] void refuse(ErrorCode code, std::string got, std::string wanted, std::string remedy = "") {
  throw Error({.code = code,
               .operation = "plan",
               .got = std::move(got),
               .wanted = std::move(wanted),
               .remedy = std::move(remedy)});
}

void check(const Problem& problem) {
  if (!f2::is_power_of_two(problem.element_bytes) || problem.element_bytes > kMaxElementBytes) {
    refuse(ErrorCode::value, "elements of " + std::to_string(problem.element_bytes) + " bytes",
           "a power of two from 1 to " + std::to_string(kMaxElementBytes));
  }
  const int n = std::get<Affine>(problem.permutation).bits();
  if (n > kMaxProblemBits) {
    refuse(ErrorCode::value, "n = " + std::to_string(n),
           "at most " + std::to_string(kMaxProblemBits) + " index bits");
  }
  if (problem.placement == Placement::in_place) {
    refuse(ErrorCode::unsupported, "placement in place", "out of place: in place is not yet supported",
           "give a second array for the result");
  }
}

// Whether the low `s` bits of every index stay where they are.
bool moves_segments_whole(const Affine& map, int s) {
  const Word low = f2::low_mask(s);
  if ((map.complement() & low) != 0) return false;
  for (int j = 0; j < map.bits(); ++j) {
    const Word column = map.matrix().column(j);
    if (j < s ? column != f2::unit(j) : (column & low) != 0) return false;
  }
  return true;
}

class Planner {
 public:
  Planner(const Affine& map, std::uint64_t unit_bytes, const Target& target)
      : map_(map), target_(target), unit_bits_(log2_floor(unit_bytes)) {}

  Pass main_pass() const {
    Pass pass;
    pass.map = map_;
    const int n = map_.bits();
    const std::uint64_t bytes = std::uint64_t{1} << (n + unit_bits_);
    const int vector = std::max(0, log2_floor(target_.vector_bytes) - unit_bits_);
    if (map_.is_identity()) {
      pass.kind = PassKind::copy;
      pass.segment_bytes = bytes;
    } else if (n < vector || bytes <= target_.direct_bytes_max) {
      pass.kind = PassKind::direct;
      pass.segment_bytes = std::uint64_t{1} << unit_bits_;
    } else if (const int whole = whole_segment_bits(); whole >= vector) {
      pass.kind = PassKind::segments;
      pass.tile = layout::make_tile(map_, {.segment_bits = whole, .near_bits = near_bits(whole)});
      pass.segment_bytes = std::uint64_t{1} << (whole + unit_bits_);
    } else {
      pass.kind = PassKind::tile;
      const int s = segment_bits(vector);
      pass.tile = layout::make_tile(map_, {.segment_bits = s, .near_bits = near_bits(s)});
      pass.segment_bytes = std::uint64_t{1} << (s + unit_bits_);
      if (target_.banks > 0) pass.placement = placement(pass.tile);
    }
    return pass;
  }

 private:
  // The longest segments that change places whole.
  int whole_segment_bits() const {
    int s = std::min(map_.bits(), log2_floor(kWholeSegmentBytesMax) - unit_bits_);
    while (s > 0 && !moves_segments_whole(map_, s)) --s;
    return s;
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

  // Threads access shared memory by whole vectors when they write it and by units when they read it.
  layout::Xor placement(const layout::Tile& tile) const {
    const int vector_bits = std::min(log2_floor(kernels::kMaxVectorBytes) - unit_bits_, tile.segment_bits);
    return kernels::make_tile_layout(tile,
                                     {.width_bits = unit_bits_,
                                      .segment_bits = tile.segment_bits,
                                      .row_bits = tile.row_bits,
                                      .vector_bits = vector_bits,
                                      .thread_bits = tile.tile_bits() - vector_bits},
                                     {.banks = target_.banks, .bank_bytes = target_.bank_bytes});
  }

  const Affine& map_;
  const Target& target_;
  int unit_bits_;
};

void count_traffic(Pass& pass, std::uint64_t bytes) {
  pass.bytes_read = bytes;
  pass.bytes_written = bytes;
  pass.segments_read = bytes / pass.segment_bytes;
  pass.segments_written = pass.segments_read;
}

// How many bits of the batch become index bits: enough that an array reaches `wanted` bytes.
int batch_bits_to_fold(std::uint64_t batch, std::uint64_t bytes, std::uint64_t wanted) {
  if (bytes >= wanted) return 0;
  return std::min(log2_floor(batch), log2_floor(wanted) - log2_floor(bytes));
}

}  // namespace

const char* name(PassKind kind) noexcept {
  switch (kind) {
    case PassKind::copy:
      return "copy";
    case PassKind::segments:
      return "segments";
    case PassKind::tile:
      return "tile";
    case PassKind::direct:
      return "direct";
  }
  return "direct";
}

const char* name(Engine engine) noexcept {
  switch (engine) {
    case Engine::automatic:
      return "auto";
    case Engine::cpu:
      return "cpu";
    case Engine::cuda:
      return "cuda";
  }
  return "auto";
}

Plan::Plan(const Problem& problem, Target target) : problem_(problem), target_(std::move(target)) {
  check(problem_);
  array_bytes_ = total_bytes(problem_);
  unit_bytes_ = std::min(problem_.element_bytes, target_.unit_bytes_max);
  unit_bits_per_element_ = log2_floor(problem_.element_bytes) - log2_floor(unit_bytes_);
  if (problem_.batch == 0) return;

  const Affine one = direct_sum(Affine(unit_bits_per_element_), std::get<Affine>(problem_.permutation));
  const std::uint64_t one_bytes = array_bytes_ / problem_.batch;
  folded_batch_bits_ = batch_bits_to_fold(problem_.batch, one_bytes, target_.tile_bytes_max);
  // An identity is a copy of everything at once, however many arrays there are.
  const bool is_copy = one.is_identity();
  if (is_copy) folded_batch_bits_ = 0;

  const Affine folded = direct_sum(one, Affine(folded_batch_bits_));
  Pass pass = Planner(folded, unit_bytes_, target_).main_pass();
  pass.arrays = problem_.batch >> folded_batch_bits_;
  if (is_copy) pass.segment_bytes = array_bytes_;
  count_traffic(pass, (one_bytes << folded_batch_bits_) * pass.arrays);
  passes_.push_back(std::move(pass));

  const std::uint64_t rest = problem_.batch - (passes_.front().arrays << folded_batch_bits_);
  if (rest != 0) {
    Pass tail;
    tail.kind = PassKind::direct;
    tail.map = one;
    tail.arrays = rest;
    tail.segment_bytes = unit_bytes_;
    count_traffic(tail, one_bytes * rest);
    passes_.push_back(std::move(tail));
  }
}

}  // namespace faro
