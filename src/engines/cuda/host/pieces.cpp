#include "engines/cuda/host/pieces.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "faro/error.hpp"
#include "plan/planners.hpp"

namespace faro::cuda {
namespace {

using f2::Word;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

// A problem of so many pieces keeps copies, kernels and threads busy at once for most of its time.
constexpr std::uint64_t kPiecesWanted = 16;
// Smaller pieces are all overhead; of larger ones, the first upload and the last download, which nothing
// overlaps, and the pinning of their buffers cost more than longer segments bring.
constexpr std::uint64_t kLeastPieceBytes = 8 * kMebibyte;
constexpr std::uint64_t kMostPieceBytes = 64 * kMebibyte;
// One piece is gathered or scattered while two are on their way up, on the device, or on their way down.
constexpr int kMostInFlight = 3;

const Affine& map_of(const Problem& problem) { return affine(problem.permutation, "run staged"); }

std::uint64_t bytes_of_one(const Problem& problem) {
  return element_count(problem.permutation) * problem.element_bytes;
}

// The longest segments whose tile fits, by theorem 1 it is 2^(s + rank gamma) elements and grows with s;
// -1 where a single element does not fit.
int segment_bits(const Affine& map, int capacity_bits) {
  int s = -1;
  while (s < map.bits() && s + 1 + map.rank_gamma(s + 1) <= capacity_bits) ++s;
  return s;
}

std::string text(std::uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

[[noreturn]] void fail_piece(std::uint64_t got, std::uint64_t wanted, const std::string& of_what) {
  fail(ErrorCode::unsupported, "cut a host array in pieces for the device", text(got) + of_what,
       "at least " + text(wanted) + ", for host segments of " + std::to_string(kLeastSegmentBytes) + " bytes",
       "grant larger pieces and more device memory, or use engine cpu");
}

}  // namespace

std::uint64_t least_piece_bytes(const Problem& problem, std::uint64_t segment_bytes) {
  const int width_bits = detail::log2_floor(problem.element_bytes);
  const int s = std::max(0, detail::log2_floor(std::bit_ceil(segment_bytes)) - width_bits);
  const Affine& map = map_of(problem);
  if (s >= map.bits()) return bytes_of_one(problem);
  return std::uint64_t{1} << (s + map.rank_gamma(s) + width_bits);
}

Pieces::Pieces(const Problem& problem, const PieceLimits& limits)
    : width_bits_(detail::log2_floor(problem.element_bytes)), array_bytes_(bytes_of_one(problem)) {
  FARO_CHECK(f2::is_power_of_two(problem.element_bytes));
  if (total_bytes(problem) == 0) return;
  if (array_bytes_ <= limits.piece_bytes) {
    take_whole_arrays(problem, limits.piece_bytes);
    return;
  }
  const int s = limits.piece_bytes < problem.element_bytes
                    ? -1
                    : segment_bits(map_of(problem), detail::log2_floor(limits.piece_bytes) - width_bits_);
  if (s < 0 || problem.element_bytes << s < limits.segment_bytes) {
    fail_piece(limits.piece_bytes, least_piece_bytes(problem, limits.segment_bytes), " a piece");
  }
  cut_arrays(problem, s);
}

void Pieces::take_whole_arrays(const Problem& problem, std::uint64_t piece_bytes) {
  // A power of two, so that a plan can fold all arrays of a piece; where one piece is enough, all of them.
  const std::uint64_t fitting = piece_bytes / array_bytes_;
  arrays_per_piece_ = problem.batch <= fitting ? problem.batch : std::bit_floor(fitting);
  piece_bytes_ = arrays_per_piece_ * array_bytes_;
  const std::uint64_t rest = problem.batch % arrays_per_piece_;
  count_ = problem.batch / arrays_per_piece_ + (rest != 0 ? 1 : 0);
  kinds_.push_back(problem);
  kinds_.back().batch = arrays_per_piece_;
  if (rest == 0) return;
  kinds_.push_back(problem);
  kinds_.back().batch = rest;
}

void Pieces::cut_arrays(const Problem& problem, int segment_bits) {
  tile_ = layout::make_tile(map_of(problem), {.segment_bits = segment_bits});
  count_ = problem.batch << tile_.block_bits();
  piece_bytes_ = problem.element_bytes << tile_.tile_bits();
  shifts_ = tile_.complement;
  for (const Word target : tile_.block_targets) shifts_ |= target;
  shifts_ &= f2::low_mask(segment_bits);
  kinds_.push_back({.permutation = Affine(tile_.local, shifts_),
                    .element_bytes = problem.element_bytes,
                    .batch = 1,
                    .placement = problem.placement});
}

std::uint64_t Pieces::segment_bytes() const {
  return arrays_per_piece_ != 0 ? piece_bytes_ : std::uint64_t{1} << (width_bits_ + tile_.segment_bits);
}

Piece Pieces::operator[](std::uint64_t index) const {
  FARO_CHECK(index < count_);
  Piece piece;
  if (arrays_per_piece_ != 0) {
    piece.kind = index + 1 == count_ ? kinds_.size() - 1 : 0;
    piece.segment_bytes = kinds_[piece.kind].batch * array_bytes_;
    piece.array_bytes = index * piece_bytes_;
    return piece;
  }
  const Word block = index & f2::low_mask(tile_.block_bits());
  const Word columns = f2::low_mask(tile_.segment_bits);
  const Word target = tile_.block_target(block);
  piece.rows = std::uint64_t{1} << tile_.row_bits;
  piece.segment_bytes = segment_bytes();
  piece.array_bytes = (index >> tile_.block_bits()) * array_bytes_;
  piece.source_bytes = tile_.block_source(block) << width_bits_;
  piece.target_bytes = (target & ~columns) << width_bits_;
  piece.target_shift = (target & columns) ^ shifts_;
  return piece;
}

StagingSizes choose_sizes(const Problem& problem, std::uint64_t device_bytes, std::uint64_t piece_bytes) {
  const std::uint64_t good = least_piece_bytes(problem, kGoodSegmentBytes);
  const std::uint64_t least = least_piece_bytes(problem, kLeastSegmentBytes);
  const std::uint64_t total = total_bytes(problem);
  std::uint64_t wanted = piece_bytes;
  if (wanted == 0) {
    const std::uint64_t share = std::bit_ceil(total / kPiecesWanted + 1);
    wanted = std::max(std::clamp(share, kLeastPieceBytes, kMostPieceBytes), std::min(good, kMostPieceBytes));
  }
  // Long segments before many pieces in flight.
  for (const std::uint64_t needed : {std::min(good, wanted), least}) {
    for (int in_flight = kMostInFlight; in_flight >= 1; --in_flight) {
      const std::uint64_t share = device_bytes / (2 * static_cast<std::uint64_t>(in_flight));
      if (share < needed || wanted < least) continue;
      const std::uint64_t most = std::min(share, wanted);
      const std::uint64_t count = Pieces(problem, {.piece_bytes = most}).count();
      return {.piece_bytes = most,
              .in_flight = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(in_flight),
                                                                    std::max<std::uint64_t>(count, 1)))};
    }
  }
  if (wanted < least) fail_piece(wanted, least, " a piece");
  fail_piece(device_bytes, 2 * least, " of device memory for two arrays of one piece");
}

}  // namespace faro::cuda
