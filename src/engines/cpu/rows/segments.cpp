// Segments of any lengths, taken whole: the output's bytes are shared out in equal parts, whatever the
// lengths.
#include <algorithm>
#include <string>
#include <vector>

#include "engines/cpu.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/team.hpp"
#include "faro/error.hpp"
#include "faro/rows.hpp"
#include "permutation/index_rows.hpp"
#include "threads.hpp"

namespace faro {
namespace {

constexpr const char* kTaking = "take segments";
constexpr std::uint64_t kMostSegmentBytes = std::uint64_t{1} << 62;

detail::RowReader offsets_reader(const Segments& segments) {
  return detail::RowReader(Take{.from = segments.offsets, .rows = kMostSegmentBytes});
}

}  // namespace

std::vector<std::uint64_t> taken_offsets(const Segments& segments, const RowNumbers& from) {
  const RowNumbers& offsets = segments.offsets;
  if (offsets.count == 0 || offsets.data == nullptr)
    fail(ErrorCode::value, kTaking, "no offsets", "one more than there are segments");
  if (!detail::is_entry_width(offsets.type.bytes) || segments.element_bytes == 0)
    fail(ErrorCode::value, kTaking, "entries or elements of another width",
         "offsets of 1, 2, 4 or 8 bytes, elements of at least one");
  const detail::RowReader reader = offsets_reader(segments);
  const std::uint64_t most = kMostSegmentBytes / segments.element_bytes;
  for (std::uint64_t i = 0; i < offsets.count; ++i) {
    const std::uint64_t before = i == 0 ? 0 : reader.entry(i - 1);
    if (reader.entry(i) < before || reader.entry(i) > most)
      fail(ErrorCode::value, kTaking,
           "offset " + std::to_string(static_cast<std::int64_t>(reader.entry(i))) + " at position " +
               std::to_string(i),
           "offsets that never go down, from " + std::to_string(before) + " on");
  }
  const Take take{.from = from, .rows = offsets.count - 1};
  static_cast<void>(check_rows(take));
  const detail::RowReader taken{RowMove(take)};
  std::vector<std::uint64_t> made(from.count + 1);
  for (std::uint64_t i = 0; i < from.count; ++i) {
    const std::uint64_t segment = taken.entry(i);
    made[i + 1] = made[i] + (reader.entry(segment + 1) - reader.entry(segment));
    if (made[i + 1] > most)
      fail(ErrorCode::value, kTaking, "segments of more than 2^62 bytes", "fewer of them");
  }
  return made;
}

void take_segments(const Segments& segments, const RowNumbers& from, std::span<const std::byte> in,
                   std::span<std::byte> out, int threads) {
  const std::vector<std::uint64_t> to = taken_offsets(segments, from);
  const detail::RowReader reader = offsets_reader(segments);
  const detail::RowReader taken{RowMove(Take{.from = from, .rows = segments.offsets.count - 1})};
  const std::uint64_t width = segments.element_bytes;
  const std::uint64_t least = reader.entry(segments.offsets.count - 1) * width;
  if (in.size() < least || out.size() != to.back() * width) {
    fail(ErrorCode::value, kTaking,
         "arrays of " + std::to_string(in.size()) + " and " + std::to_string(out.size()) + " bytes",
         "at least " + std::to_string(least) + " and " + std::to_string(to.back() * width) + " bytes");
  }
  if (out.empty()) return;
  if (in.data() == nullptr || out.data() == nullptr)
    fail(ErrorCode::value, kTaking, "a null pointer", "arrays");
  if (in.data() < out.data() + out.size() && out.data() < in.data() + in.size())
    fail(ErrorCode::value, kTaking, "arrays that overlap", "arrays that lie apart");
  const Target target = cpu::target(threads);
  const bool streamed = out.size() > target.streaming_bytes;
  constexpr std::uint64_t kShareBytes = 4096;
  cpu::share_out((out.size() + kShareBytes - 1) / kShareBytes, out.size() < 65536 ? 1 : target.threads,
                 [&](std::uint64_t first, std::uint64_t last) {
                   std::uint64_t begin = first * kShareBytes;
                   const std::uint64_t end = std::min<std::uint64_t>(last * kShareBytes, out.size());
                   if (begin >= end) return;
                   // The last segment that begins at or before `begin`; empty ones before it are passed over.
                   auto i = static_cast<std::uint64_t>(std::upper_bound(to.begin(), to.end(), begin / width) -
                                                       to.begin() - 1);
                   for (; begin < end; ++i) {
                     const std::uint64_t at = begin - to[i] * width;
                     const std::uint64_t bytes = std::min(to[i + 1] * width, end) - begin;
                     const std::byte* const source = in.data() + reader.entry(taken.entry(i)) * width + at;
                     cpu::copy_bytes(source, out.data() + begin, bytes, streamed);
                     begin += bytes;
                   }
                   cpu::finish_streams();
                 });
}

}  // namespace faro
