// Arrays that come one after another from a pipe, and go to another in their order.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "faro/error.hpp"
#include "faro/file.hpp"
#include "file/checksums.hpp"
#include "file/pipeline.hpp"
#include "file/sweep.hpp"
#include "io/buffer.hpp"
#include "size_text.hpp"

namespace faro::file {
namespace {

constexpr std::uint64_t kStreamBuffers = 3;  // as many as a sweep's, of which one is not used

// Moves so many bytes by move(place, bytes), which is read(2) or write(2): those behind `before` of `all`.
template <typename Move>
void move_all(std::byte* data, std::uint64_t bytes, std::uint64_t before, std::uint64_t all,
              const std::string& operation, const Move& move) {
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t moved = move(data + done, bytes - done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) {
      fail(ErrorCode::file, operation, io::error_text(errno), "a stream that goes on");
    }
    if (moved == 0) {
      fail(ErrorCode::file, operation, fmt::format("its end after {} bytes of data", before + done),
           fmt::format("all {}", all));
    }
    done += static_cast<std::uint64_t>(moved);
  }
}

// A sweep over whole arrays. Errors: those of permute_stream() that are known before anything is read.
Sweep stream_sweep(const Problem& asked, const Options& options) {
  if (options.resume)
    fail(ErrorCode::unsupported, "permute a stream", "--resume", "files, or a run from the beginning");
  const std::uint64_t memory = options.memory_bytes != 0 ? options.memory_bytes : default_memory_bytes();
  const Problem problem = in_small_arrays(asked, memory / kStreamBuffers);
  Sweep sweep(problem, options);
  if (sweep.facts().tiles > 0 && !sweep.state().whole_arrays) {
    fail(ErrorCode::unsupported, "permute a stream",
         fmt::format("arrays of {} and memory for {}", size_text(sweep.state().out_bytes / problem.batch),
                     size_text(memory / kStreamBuffers)),
         "memory for a whole array and its copy", "from file to file any array takes one sweep");
  }
  return sweep;
}

}  // namespace

void require_stream(const Problem& problem, const Options& options) {
  static_cast<void>(stream_sweep(problem, options));
}

Report permute_stream(const Problem& asked, int in, int out, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const Sweep sweep = stream_sweep(asked, options);
  const Sweep::State& state = sweep.state();
  const Problem& problem = *state.problem;
  Report report;
  report.facts = sweep.facts();
  report.io = "streams in order";
  Teller teller(options, 2 * state.facts.moved_bytes);
  if (state.facts.tiles > 0) {
    const std::unique_ptr<Tiles> tiles = state.tiles();
    const io::Buffer from(tiles->tile_bytes);
    const io::Buffer to(tiles->tile_bytes);
    std::optional<Checksums> sums;
    if (auto sources = options.verify ? gather_sources_of(problem) : std::nullopt) {
      sums.emplace(*std::move(sources), false, problem.element_bytes, state.text, options.threads);
    } else if (options.verify) {
      sums.emplace(destinations_of(problem), problem.element_bytes, state.text, options.threads);
    }
    for (std::uint64_t number = 0; number < tiles->count() && !teller.stopped(); ++number) {
      const TileWork work = tiles->tile(number);
      const std::uint64_t bytes = work.in.total_bytes();
      move_all(from.data(), bytes, report.read_bytes, state.in_bytes, "read the input",
               [in](std::byte* data, std::uint64_t rest) { return read(in, data, rest); });
      teller.advance(bytes);
      report.read_bytes += bytes;
      work.move->run(from.data(), to.data());
      if (sums) {
        // Before any of it is written.
        sums->add_read(work, from.data());
        sums->add_written(work.out, to.data());
        sums->require_alike();
      }
      move_all(to.data(), bytes, report.written_bytes, state.out_bytes, "write the output",
               [out](const std::byte* data, std::uint64_t rest) { return write(out, data, rest); });
      teller.advance(bytes);
      report.written_bytes += bytes;
    }
  }
  report.finished = !teller.stopped();
  report.verified = report.finished && options.verify;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (report.finished && options.done) options.done(report);
  return report;
}

}  // namespace faro::file
