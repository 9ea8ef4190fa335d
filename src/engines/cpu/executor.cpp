#include <algorithm>
#include <optional>
#include <variant>

#include "engines/cpu.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/in_place_passes.hpp"
#include "engines/cpu/simple_passes.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/tile_kernel.hpp"
#include "faro/error.hpp"

namespace faro::cpu {
namespace {

void copy_shared(const std::byte* in, std::byte* out, std::uint64_t bytes, int threads, bool streamed) {
  const std::uint64_t lines = (bytes + kLineBytes - 1) / kLineBytes;
  share_out(lines, threads, [&](std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t from = begin * kLineBytes;
    const std::uint64_t length = std::min(end * kLineBytes, bytes) - from;
    copy_bytes(in + from, out + from, length, streamed);
    if (streamed) finish_streams();
  });
}

struct CopyProgram {
  std::uint64_t bytes;
};

}  // namespace

struct Executor::State {
  struct PassProgram {
    std::variant<CopyProgram, SegmentProgram, TileProgram, DirectProgram> program;
    std::uint64_t offset = 0;  // of the pass's arrays, in bytes
    std::uint64_t bytes = 0;
  };

  std::vector<PassProgram> passes;
  std::optional<InPlacePasses> in_place;  // instead of `passes`
  std::uint64_t streaming_bytes = 0;
  int threads = 1;

  void run(const CopyProgram& p, bool streamed, int team, const std::byte* in, std::byte* out) {
    copy_shared(in, out, p.bytes, team, streamed);
  }
  void run(const SegmentProgram& p, bool streamed, int team, const std::byte* in, std::byte* out) {
    share_out(p.segments, team, [&](std::uint64_t begin, std::uint64_t end) {
      p.run(begin, end, streamed, in, out);
      if (streamed) finish_streams();
    });
  }
  void run(const TileProgram& p, bool streamed, int team, const std::byte* in, std::byte* out) {
    const bool aligned = reinterpret_cast<std::uintptr_t>(out) % kMaxVectorBytes == 0;
    const StoreKind stores = streamed && aligned ? StoreKind::streamed : StoreKind::cached;
    share_out(p.tiles(), team, [&](std::uint64_t begin, std::uint64_t end) {
      run_tiles(p, {begin, end}, stores, in, out);
    });
  }
  void run(const DirectProgram& p, bool /*streamed*/, int /*team*/, const std::byte* in, std::byte* out) {
    p.run(in, out);
  }
};

Executor::Executor(const Plan& plan) : state_(std::make_unique<State>()) {
  FARO_CHECK(plan.target().engine == Engine::cpu);
  static_cast<void>(affine(plan.problem().permutation, "run tiles"));
  if (plan.problem().placement == Placement::in_place) {
    state_->in_place.emplace(plan);
    return;
  }
  const std::uint64_t unit = plan.unit_bytes();
  state_->threads = std::max(1, plan.target().threads);
  state_->streaming_bytes = plan.target().streaming_bytes;
  std::uint64_t offset = 0;
  for (const Pass& pass : plan.passes()) {
    const auto add = [&](auto program) {
      state_->passes.push_back({std::move(program), offset, pass.bytes_read});
    };
    switch (pass.kind) {
      case PassKind::copy:
        add(CopyProgram{pass.bytes_read});
        break;
      case PassKind::segments:
        add(SegmentProgram(pass, unit));
        break;
      case PassKind::tile:
        add(TileProgram(pass, unit, std::min(widest_vector_bytes(unit), plan.target().vector_bytes)));
        break;
      case PassKind::direct:
        add(DirectProgram(pass, unit));
        break;
      default:
        FARO_CHECK(false);  // others are a GPU's
    }
    offset += pass.bytes_read;
  }
}

Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;
Executor::~Executor() = default;

void Executor::run(const void* in, void* out) const {
  FARO_CHECK(!state_->in_place.has_value());
  for (const State::PassProgram& pass : state_->passes) {
    const bool streamed = pass.bytes > state_->streaming_bytes;
    const int team = useful_threads(state_->threads, pass.bytes);
    const std::byte* const from = static_cast<const std::byte*>(in) + pass.offset;
    std::byte* const to = static_cast<std::byte*>(out) + pass.offset;
    std::visit([&](const auto& program) { state_->run(program, streamed, team, from, to); }, pass.program);
  }
}

void Executor::run(void* data) const {
  FARO_CHECK(state_->in_place.has_value());
  state_->in_place->run(static_cast<std::byte*>(data));
}

void copy(const void* in, void* out, std::uint64_t bytes, int threads) {
  const Target machine = target(threads);
  copy_shared(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), bytes,
              useful_threads(machine.threads, bytes), bytes > machine.streaming_bytes);
}

}  // namespace faro::cpu
