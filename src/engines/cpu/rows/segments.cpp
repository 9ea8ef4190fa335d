// Segments of any lengths, taken whole: the output's bytes are shared out in equal parts, whatever the
// lengths.
#include "engines/cpu/rows/segments.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "disjoint.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/team.hpp"
#include "faro/engines/cpu_routes.hpp"
#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "permutation/index_rows.hpp"
#include "permutation/route_checks.hpp"

namespace faro {
namespace {

constexpr const char* kTaking = "take segments";
constexpr std::uint64_t kMostSegmentBytes = std::uint64_t{1} << 62;

[[noreturn]] void refuse_segment(const RowNumbers& from, std::uint64_t segment, std::uint64_t position,
                                 std::uint64_t segments) {
  const std::string number =
      from.type.is_signed ? std::to_string(static_cast<std::int64_t>(segment)) : std::to_string(segment);
  fail(ErrorCode::value, kTaking, "segment " + number + " at position " + std::to_string(position),
       segments == 0 ? "no entry: there are no segments"
                     : "segments from 0 to " + std::to_string(segments - 1));
}

// Refuses offsets that go down, or past what an array holds.
void require_offsets(const Segments& segments, const detail::RowReader& reader, std::uint64_t most) {
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < segments.offsets.count; ++i) {
    const std::uint64_t offset = reader.entry(i);
    if (offset < before || offset > most) {
      fail(
          ErrorCode::value, kTaking,
          "offset " + std::to_string(static_cast<std::int64_t>(offset)) + " at position " + std::to_string(i),
          "offsets that never go down, from " + std::to_string(before) + " on");
    }
    before = offset;
  }
}

}  // namespace

cpu::SegmentMoves::SegmentMoves(const Segments& segments, const RowNumbers& from)
    : element_bytes_(segments.element_bytes) {
  const RowNumbers& offsets = segments.offsets;
  if (offsets.count == 0 || offsets.data == nullptr)
    fail(ErrorCode::value, kTaking, "no offsets", "one more than there are segments");
  if (!faro::detail::is_entry_width(offsets.type.bytes) || element_bytes_ == 0)
    fail(ErrorCode::value, kTaking, "entries or elements of another width",
         "offsets of 1, 2, 4 or 8 bytes, elements of at least one");
  const faro::detail::RowReader reader(Take{.from = offsets, .rows = kMostSegmentBytes});
  const std::uint64_t most = kMostSegmentBytes / element_bytes_;
  require_offsets(segments, reader, most);
  least_elements_ = reader.entry(offsets.count - 1);
  const Take take{.from = from, .rows = offsets.count - 1};
  faro::detail::require_row_move(take);
  const faro::detail::RowReader taken{RowMove(take)};
  begins_.resize(from.count + 1);
  sources_.resize(from.count);
  for (std::uint64_t i = 0; i < from.count; ++i) {
    const std::uint64_t segment = taken.entry(i);
    if (segment >= take.rows) refuse_segment(from, segment, i, take.rows);
    sources_[i] = reader.entry(segment);
    begins_[i + 1] = begins_[i] + (reader.entry(segment + 1) - sources_[i]);
    if (begins_[i + 1] > most)
      fail(ErrorCode::value, kTaking, "segments of more than 2^62 bytes", "fewer of them");
  }
}

void cpu::SegmentMoves::run(const std::byte* in, std::byte* out, int threads) const {
  const Target here = target(threads);
  const std::uint64_t all = begins_.back() * element_bytes_;
  const bool streamed = all > here.streaming_bytes;
  constexpr std::uint64_t kShareBytes = 4096;
  constexpr std::uint64_t kAloneBytes = 65536;
  share_out(
      (all + kShareBytes - 1) / kShareBytes, all < kAloneBytes ? 1 : here.threads,
      [&](std::uint64_t first, std::uint64_t last) {
        std::uint64_t begin = first * kShareBytes;
        const std::uint64_t end = std::min<std::uint64_t>(last * kShareBytes, all);
        if (begin >= end) return;
        // The last segment that begins at or before `begin`; empty ones before it are passed over.
        auto i = static_cast<std::uint64_t>(
            std::upper_bound(begins_.begin(), begins_.end(), begin / element_bytes_) - begins_.begin() - 1);
        for (; begin < end; ++i) {
          const std::uint64_t at = begin - begins_[i] * element_bytes_;
          const std::uint64_t bytes = std::min(begins_[i + 1] * element_bytes_, end) - begin;
          copy_bytes(in + sources_[i] * element_bytes_ + at, out + begin, bytes, streamed);
          begin += bytes;
        }
        finish_streams();
      });
}

std::vector<std::uint64_t> taken_offsets(const Segments& segments, const RowNumbers& from) {
  return cpu::SegmentMoves(segments, from).begins();
}

void take_segments(const Segments& segments, const RowNumbers& from, std::span<const std::byte> in,
                   std::span<std::byte> out, int threads) {
  const cpu::SegmentMoves moves(segments, from);
  const std::uint64_t least = moves.least_elements() * segments.element_bytes;
  const std::uint64_t taken = moves.begins().back() * segments.element_bytes;
  if (in.size() < least || out.size() != taken) {
    fail(ErrorCode::value, kTaking,
         "arrays of " + std::to_string(in.size()) + " and " + std::to_string(out.size()) + " bytes",
         "at least " + std::to_string(least) + " and " + std::to_string(taken) + " bytes");
  }
  if (out.empty()) return;
  if (in.data() == nullptr || out.data() == nullptr)
    fail(ErrorCode::value, kTaking, "a null pointer", "arrays");
  detail::check_disjoint(kTaking, detail::RunArray{"output", detail::laid(out)},
                         {{"input", detail::laid(in)},
                          {"offsets", detail::laid(segments.offsets)},
                          {"segments", detail::laid(from)}});
  moves.run(in.data(), out.data(), threads);
}

}  // namespace faro
