#include "plan/planners.hpp"

#include <algorithm>
#include <bit>

#include "kernels/affine_params.hpp"

namespace faro::detail {

int log2_floor(std::uint64_t x) { return static_cast<int>(std::bit_width(x)) - 1; }

machine::MemoryGeometry geometry_of(const Target& target) {
  return {.banks = target.banks, .bank_bytes = target.bank_bytes};
}

int whole_segment_bits(const Work& work) {
  int s = std::min(work.map.bits(), log2_floor(kWholeSegmentBytesMax) - work.unit_bits);
  while (s > 0 && !kernels::keeps_low_bits(work.map, s)) --s;
  return s;
}

void require_units(const Work& work, int thread_bits) {
  const std::string bytes = std::to_string(1 << work.unit_bits) + " bytes";
  if (1 << work.unit_bits > kernels::kMaxVectorBytes) {
    fail(ErrorCode::unsupported, "plan", "units of " + bytes,
         "at most " + std::to_string(kernels::kMaxVectorBytes) + " bytes on a GPU");
  }
  const int most = kernels::kMaxBlockBits + thread_bits;
  if (work.map.bits() > most) {
    fail(ErrorCode::unsupported, "plan",
         "2^" + std::to_string(work.map.bits()) + " units of " + bytes + " an array",
         "at most 2^" + std::to_string(most) + " on a GPU");
  }
}

Pass make_pass(PassKind kind, const Affine& map, int unit_bits, std::uint64_t arrays,
               std::uint64_t segment_bytes) {
  Pass pass;
  pass.kind = kind;
  pass.map = map;
  pass.arrays = arrays;
  pass.segment_bytes = segment_bytes;
  pass.bytes_read = arrays << (map.bits() + unit_bits);
  pass.bytes_written = pass.bytes_read;
  pass.segments_read = pass.bytes_read / segment_bytes;
  pass.segments_written = pass.segments_read;
  return pass;
}

}  // namespace faro::detail
