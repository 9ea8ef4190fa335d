#include "engines/cpu/in_place_passes.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "engines/cpu/in_place_kernel.hpp"
#include "engines/cpu/team.hpp"
#include "faro/error.hpp"

namespace faro::cpu {
namespace {

// What a pass runs with.
struct Run {
  Fetch fetch = Fetch::none;
  int team = 1;
};

// Threads take turns at runs of tiles.
template <typename Move>
void take_turns(std::uint64_t tiles, int team, const Move& move) {
  constexpr std::uint64_t kTurnsPerThread = 32;
  constexpr std::uint64_t kTilesPerTurn = 64;
  const std::uint64_t turns = team <= 1 ? 1 : static_cast<std::uint64_t>(team) * kTurnsPerThread;
  const std::uint64_t length = std::max(kTilesPerTurn, (tiles + turns - 1) / turns);
  std::atomic<std::uint64_t> next{0};
  share_out(static_cast<std::uint64_t>(team), team, [&](std::uint64_t, std::uint64_t) {
    for (;;) {
      const std::uint64_t begin = next.fetch_add(length, std::memory_order_relaxed);
      if (begin >= tiles) return;
      move(TileRange{.begin = begin, .end = std::min(tiles, begin + length)});
    }
  });
}

void run_program(const SegmentOrbits& p, Run run, std::byte* data) {
  take_turns(p.orbits.tiles(), run.team,
             [&](TileRange range) { move_segment_orbits(p, range, run.fetch, data); });
}

void run_program(const TileOrbits& p, Run run, std::byte* data) {
  take_turns(p.orbits.tiles(), run.team,
             [&](TileRange range) { move_tile_orbits(p, range, run.fetch, data); });
}

// As many arrays at a time as a buffer holds.
void run_program(const DirectProgram& p, Run /*run*/, std::byte* data) {
  std::byte buffer[kMaxTileBytes];
  const std::uint64_t array_bytes = p.units * p.unit_bytes;
  const std::uint64_t most = kMaxTileBytes / array_bytes;
  for (std::uint64_t done = 0; done < p.arrays;) {
    const std::uint64_t count = std::min(most, p.arrays - done);
    std::memcpy(buffer, data, count * array_bytes);
    p.run_arrays(count, buffer, data);
    data += count * array_bytes;
    done += count;
  }
}

}  // namespace

InPlacePasses::InPlacePasses(const Plan& plan)
    : streaming_bytes_(plan.target().streaming_bytes), threads_(std::max(1, plan.target().threads)) {
  FARO_CHECK(plan.target().engine == Engine::cpu && plan.problem().placement == Placement::in_place);
  const std::uint64_t unit = plan.unit_bytes();
  for (const Pass& pass : plan.passes()) {
    const auto add = [&](auto program) {
      passes_.push_back({std::move(program), pass.offset, pass.bytes_read});
    };
    switch (pass.kind) {
      case PassKind::segments:
        add(SegmentOrbits(pass, unit));
        break;
      case PassKind::tile:
        add(TileOrbits(pass, unit, std::min(widest_vector_bytes(unit), plan.target().vector_bytes)));
        break;
      case PassKind::direct:
        FARO_CHECK(unit << pass.map.bits() <= kMaxTileBytes);
        add(DirectProgram(pass, unit));
        break;
      case PassKind::copy:  // nothing moves
        break;
      default:
        FARO_CHECK(false);  // others are a GPU's
    }
  }
}

void InPlacePasses::run(std::byte* data) const {
  for (const PassProgram& pass : passes_) {
    std::byte* const arrays = data + pass.offset;
    const Run run{.fetch = pass.bytes > streaming_bytes_ ? Fetch::ahead : Fetch::none,
                  .team = useful_threads(threads_, pass.bytes)};
    std::visit([&](const auto& program) { run_program(program, run, arrays); }, pass.program);
  }
}

}  // namespace faro::cpu
