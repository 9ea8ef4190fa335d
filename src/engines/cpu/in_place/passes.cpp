// Passes in place, ready to run: each goes over the same memory.
//
// Orbits are led by the smaller number of a tile, and leaders crowd the lower numbers: equal shares of the
// tiles would be unequal work. So threads take turns at short runs of tiles, in order.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "engines/cpu/in_place/program.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/tile/affine_passes.hpp"
#include "faro/error.hpp"

namespace faro::cpu {
namespace {

// What a pass runs with.
struct OrbitRun {
  Fetch fetch = Fetch::none;
  int team = 1;
};

// Threads take turns at runs of tiles.
template <typename Move>
void take_turns(std::uint64_t tiles, int team, const Move& move) {
  constexpr std::uint64_t kTurnsPerThread = 32;
  constexpr std::uint64_t kTilesPerTurn = 64;
  const WatchedWork watched(tiles);
  const bool at_once = team <= 1 && !watched.is_watched();
  const std::uint64_t turns = at_once ? 1 : static_cast<std::uint64_t>(std::max(team, 1)) * kTurnsPerThread;
  const std::uint64_t length = std::max(kTilesPerTurn, (tiles + turns - 1) / turns);
  std::atomic<std::uint64_t> next{0};
  share_out(static_cast<std::uint64_t>(team), team, [&](std::uint64_t, std::uint64_t) {
    for (;;) {
      const std::uint64_t begin = next.fetch_add(length, std::memory_order_relaxed);
      if (begin >= tiles) return;
      const std::uint64_t end = std::min(tiles, begin + length);
      move(TileRange{.begin = begin, .end = end});
      watched.did(end - begin);
    }
  });
}

void run_orbits(const SegmentOrbits& p, OrbitRun run, std::byte* data) {
  take_turns(p.orbits.tiles(), run.team,
             [&](TileRange range) { move_segment_orbits(p, range, run.fetch, data); });
}

void run_orbits(const TileOrbits& p, OrbitRun run, std::byte* data) {
  take_turns(p.orbits.tiles(), run.team,
             [&](TileRange range) { move_tile_orbits(p, range, run.fetch, data); });
}

// As many arrays at a time as a buffer holds.
void run_orbits(const DirectProgram& p, OrbitRun /*run*/, std::byte* data) {
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

template <typename Wrapped>
class InPlaceProgram final : public PassProgram {
 public:
  InPlaceProgram(Wrapped program, const CpuPass& pass)
      : program_(std::move(program)),
        run_{.fetch = std::get<detail::CpuAffine>(pass.kernel).fetches_ahead ? Fetch::ahead : Fetch::none,
             .team = pass.threads} {}

  void run(const Step& step) const override { run_orbits(program_, run_, step.out); }

 private:
  Wrapped program_;
  OrbitRun run_;
};

template <typename Wrapped>
Program in_place(Wrapped program, const Pass& pass) {
  return std::make_unique<InPlaceProgram<Wrapped>>(std::move(program), *pass.cpu);
}

}  // namespace

Program affine_in_place_program(const Pass& pass) {
  const auto& affine = std::get<detail::CpuAffine>(pass.cpu->kernel);
  const std::uint64_t unit = affine.unit_bytes;
  switch (pass.kind) {
    case PassKind::segments:
      return in_place(SegmentOrbits(pass, unit), pass);
    case PassKind::tile:
      return in_place(TileOrbits(pass, unit, in_place_vector_bytes(unit, affine.vector_bytes)), pass);
    case PassKind::direct:
      FARO_CHECK(unit << pass.map.bits() <= kMaxTileBytes);
      return in_place(DirectProgram(pass, unit), pass);
    default:
      FARO_CHECK(false);  // others have no orbits
      return nullptr;
  }
}

}  // namespace faro::cpu
