#include "engines/cpu/tile/affine_passes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/tile/kernel.hpp"
#include "faro/error.hpp"
#include "unit_bytes.hpp"

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

struct CopyProgram {
  std::uint64_t bytes;
};

// What a pass runs with.
struct AffineRun {
  int threads = 1;
  bool streamed = false;
};

void run_program(const CopyProgram& p, AffineRun run, const std::byte* in, std::byte* out) {
  copy_shared(in, out, p.bytes, {.threads = run.threads, .streamed = run.streamed});
}

void run_program(const SegmentProgram& p, AffineRun run, const std::byte* in, std::byte* out) {
  share_out(p.segments, run.threads, [&](std::uint64_t begin, std::uint64_t end) {
    p.run(begin, end, run.streamed, in, out);
    if (run.streamed) finish_streams();
  });
}

void run_program(const TileProgram& p, AffineRun run, const std::byte* in, std::byte* out) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(out) % kMaxVectorBytes == 0;
  const StoreKind stores = run.streamed && aligned ? StoreKind::streamed : StoreKind::cached;
  share_out(p.tiles(), run.threads, [&](std::uint64_t begin, std::uint64_t end) {
    run_tiles(p, {.begin = begin, .end = end, .fetches_ahead = run.streamed}, stores, in, out);
  });
}

void run_program(const DirectProgram& p, AffineRun /*run*/, const std::byte* in, std::byte* out) {
  p.run(in, out);
}

template <typename Wrapped>
class AffineProgram final : public PassProgram {
 public:
  AffineProgram(Wrapped program, const CpuPass& pass)
      : program_(std::move(program)), run_{.threads = pass.threads, .streamed = pass.streamed} {}

  void run(const Step& step) const override { run_program(program_, run_, step.in, step.out); }

 private:
  Wrapped program_;
  AffineRun run_;
};

template <typename Wrapped>
Program wrapped(Wrapped program, const Pass& pass) {
  return std::make_unique<AffineProgram<Wrapped>>(std::move(program), *pass.cpu);
}

Program tile_program(const Pass& pass, const detail::CpuAffine& affine) {
  const std::uint64_t unit = affine.unit_bytes;
  TileProgram tiles(pass, unit, std::min(widest_vector_bytes(unit), affine.vector_bytes));
  if (affine.in_runs) tiles.read_and_write_in_runs();
  return wrapped(std::move(tiles), pass);
}

}  // namespace

void copy_shared(const std::byte* in, std::byte* out, std::uint64_t bytes, CopyTeam team) {
  const std::uint64_t lines = (bytes + kLineBytes - 1) / kLineBytes;
  share_out(lines, team.threads, [&](std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t from = begin * kLineBytes;
    const std::uint64_t length = std::min(end * kLineBytes, bytes) - from;
    copy_bytes(in + from, out + from, length, team.streamed);
    if (team.streamed) finish_streams();
  });
}

Program affine_program(const Pass& pass) {
  const auto& affine = std::get<detail::CpuAffine>(pass.cpu->kernel);
  const std::uint64_t unit = affine.unit_bytes;
  switch (pass.kind) {
    case PassKind::copy:
      return wrapped(CopyProgram{pass.bytes_read}, pass);
    case PassKind::segments:
      return wrapped(SegmentProgram(pass, unit), pass);
    case PassKind::tile:
      return tile_program(pass, affine);
    case PassKind::direct:
      return wrapped(DirectProgram(pass, unit), pass);
    default:
      FARO_CHECK(false);  // others are not affine
      return nullptr;
  }
}

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
  detail::by_unit_bytes(unit_bytes, [&](auto bytes) { run_direct<bytes()>(*this, count, in, out); });
}

}  // namespace faro::cpu
