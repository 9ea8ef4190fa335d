#include "engines/cpu/simple_passes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engines/cpu/copy_kernel.hpp"

namespace faro::cpu {
namespace {

using f2::Word;

std::vector<Word> columns(const f2::Matrix& a) { return {a.column_span().begin(), a.column_span().end()}; }

template <std::size_t kUnitBytes>
void run_direct(const DirectProgram& p, std::uint64_t count, const std::byte* in, std::byte* out) {
  for (std::uint64_t array = 0; array < count; ++array) {
    Word y = p.targets.at(0);
    for (Word x = 0;;) {
      std::memcpy(out + y * kUnitBytes, in + x * kUnitBytes, kUnitBytes);
      if (++x == p.units) break;
      y = p.targets.next(y, x);
    }
    in += p.units * kUnitBytes;
    out += p.units * kUnitBytes;
  }
}

}  // namespace

SegmentProgram::SegmentProgram(const Pass& pass, std::uint64_t unit_bytes)
    : array_bytes(unit_bytes << pass.map.bits()),
      segment_bytes(pass.segment_bytes),
      segments(pass.arrays << pass.tile.block_bits()),
      block_bits(pass.tile.block_bits()),
      sources(pass.tile.block_sources, 0, std::countr_zero(unit_bytes)),
      targets(pass.tile.block_targets, pass.tile.complement, std::countr_zero(unit_bytes)) {}

void SegmentProgram::run(std::uint64_t begin, std::uint64_t end, bool streamed, const std::byte* in,
                         std::byte* out) const {
  const auto cursor = [&](const BlockWalk& walk, std::uint64_t segment) {
    return TileCursor(walk, block_bits, array_bytes, segment);
  };
  const bool whole_lines =
      segment_bytes % kLineBytes == 0 && reinterpret_cast<std::uintptr_t>(out) % kLineBytes == 0;
  if (streamed && whole_lines) {
    // Long segments are fetched ahead by the processor itself.
    constexpr std::uint64_t kBytesAhead = 8192;
    const std::uint64_t ahead = std::max<std::uint64_t>(1, kBytesAhead / segment_bytes);
    const bool fetches = segment_bytes < kBytesAhead && end - begin > ahead;
    move_segments({.segment_bytes = segment_bytes,
                   .source = cursor(sources, begin),
                   .target = cursor(targets, begin),
                   .ahead = cursor(sources, fetches ? begin + ahead : begin),
                   .count = end - begin,
                   .count_ahead = fetches ? end - begin - ahead : 0},
                  in, out);
    return;
  }
  TileCursor source = cursor(sources, begin);
  TileCursor target = cursor(targets, begin);
  for (std::uint64_t s = begin; s < end; ++s) {
    copy_cached(in + source.array() + source.value(), out + target.array() + target.value(), segment_bytes);
    source.advance();
    target.advance();
  }
}

DirectProgram::DirectProgram(const Pass& pass, std::uint64_t unit)
    : unit_bytes(unit),
      arrays(pass.arrays),
      units(f2::unit(pass.map.bits())),
      targets(columns(pass.map.matrix()), pass.map.complement(), 0) {}

void DirectProgram::run_arrays(std::uint64_t count, const std::byte* in, std::byte* out) const {
  switch (unit_bytes) {
    case 1:
      return run_direct<1>(*this, count, in, out);
    case 2:
      return run_direct<2>(*this, count, in, out);
    case 4:
      return run_direct<4>(*this, count, in, out);
    case 8:
      return run_direct<8>(*this, count, in, out);
    default:
      return run_direct<16>(*this, count, in, out);
  }
}

}  // namespace faro::cpu
