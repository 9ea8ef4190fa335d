#include "kernels/affine_segments_params.hpp"

#include <algorithm>
#include <string>

#include "faro/error.hpp"
#include "faro/machine/access_counts.hpp"

namespace faro::kernels {
namespace {

using f2::Word;
void require_fit(const Affine& map, int vector_bits, std::uint64_t batch) {
  if (batch == 0)
    fail(ErrorCode::value, "fit the kernel of whole segments", "a batch of 0", "at least one array");
  if (!keeps_low_bits(map, vector_bits)) {
    fail(ErrorCode::unsupported, "fit the kernel of whole segments",
         "a map that moves elements inside 2^" + std::to_string(vector_bits),
         "low index bits that stay as they are", "take shorter vectors or the tile kernel");
  }
  constexpr int most = kMaxBlockBits + kSegmentsThreadBits;
  if (map.bits() - vector_bits > most) {
    fail(ErrorCode::unsupported, "fit the kernel of whole segments",
         "2^" + std::to_string(map.bits() - vector_bits) + " vectors an array",
         "at most 2^" + std::to_string(most));
  }
  constexpr int max_total_bits = 63;
  if (batch > std::uint64_t{1} << (max_total_bits - map.bits())) {
    fail(ErrorCode::unsupported, "fit the kernel of whole segments", "a batch of " + std::to_string(batch),
         "at most 2^63 elements in all", "split the batch");
  }
}

}  // namespace

bool keeps_low_bits(const Affine& map, int bits) {
  const Word low = f2::low_mask(bits);
  if (bits > map.bits() || (map.complement() & low) != 0) return false;
  for (int j = 0; j < map.bits(); ++j) {
    const Word column = map.matrix().column(j);
    if (j < bits ? column != f2::unit(j) : (column & low) != 0) return false;
  }
  return true;
}

AffineSegmentsParams make_affine_segments_params(const Affine& map, int vector_bits, std::uint64_t batch) {
  FARO_CHECK(vector_bits >= 0 && vector_bits <= machine::log2_exact(kMaxVectorBytes));
  require_fit(map, vector_bits, batch);
  const int n = map.bits() - vector_bits;
  // Where bit j of a vector's number leads; above n it is the array's number.
  const auto image = [&](int j) {
    return j < n ? map.matrix().column(vector_bits + j) >> vector_bits : f2::unit(j);
  };
  AffineSegmentsParams params{};
  for (int j = 0; j < kSegmentsThreadBits; ++j) params.thread_target[j] = image(j);
  params.block_bits = std::max(0, n - kSegmentsThreadBits);
  for (int bit = 0; bit < params.block_bits; ++bit) {
    const int digit = bit / kBlockDigitBits;
    const int bit_of_digit = 1 << bit % kBlockDigitBits;
    for (int value = 0; value < kBlockDigitValues; ++value) {
      if ((value & bit_of_digit) != 0) params.block_target[digit][value] ^= image(kSegmentsThreadBits + bit);
    }
  }
  params.complement = map.complement() >> vector_bits;
  params.vectors = batch << n;
  return params;
}

}  // namespace faro::kernels
