// Arrays that come one after another from a pipe, and go to another in their order.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "faro/error.hpp"
#include "faro/file.hpp"
#include "file/pipeline.hpp"
#include "file/sweep.hpp"
#include "io/buffer.hpp"

namespace faro::file {
namespace {

// Moves all of it by move(place, bytes), which is read(2) or write(2).
template <typename Move>
void move_all(std::byte* data, std::uint64_t bytes, const std::string& operation, const Move& move) {
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t moved = move(data + done, bytes - done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) {
      fail(ErrorCode::file, operation, io::error_text(errno), "a stream that goes on");
    }
    if (moved == 0) {
      fail(ErrorCode::file, operation, fmt::format("its end, {} bytes too early", bytes - done),
           "all of the arrays");
    }
    done += static_cast<std::uint64_t>(moved);
  }
}

}  // namespace

Report permute_stream(const Problem& problem, int in, int out, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  if (options.verify || options.resume)
    fail(ErrorCode::unsupported, "permute a stream", "--verify or --resume", "neither");
  const Sweep sweep(problem, options);
  const Sweep::State& state = sweep.state();
  Report report;
  report.facts = sweep.facts();
  report.io = "streams in order";
  if (state.facts.tiles > 0 && !state.whole_arrays) {
    fail(ErrorCode::unsupported, "permute a stream",
         fmt::format("arrays of {} and memory for {}", io::size_text(state.out_bytes / problem.batch),
                     io::size_text(state.budget.tile_bytes)),
         "memory for a whole array and its copy", "from file to file any array takes one sweep");
  }
  Teller teller(options, 2 * state.facts.moved_bytes);
  if (state.facts.tiles > 0) {
    const std::unique_ptr<Tiles> tiles = state.tiles();
    const io::Buffer from(tiles->tile_bytes);
    const io::Buffer to(tiles->tile_bytes);
    for (std::uint64_t number = 0; number < tiles->count() && !teller.stopped(); ++number) {
      const TileWork work = tiles->tile(number);
      const std::uint64_t bytes = work.in.total_bytes();
      move_all(from.data(), bytes, "read the input",
               [in](std::byte* data, std::uint64_t rest) { return read(in, data, rest); });
      teller.advance(bytes);
      report.read_bytes += bytes;
      work.move->run(from.data(), to.data());
      move_all(to.data(), bytes, "write the output",
               [out](const std::byte* data, std::uint64_t rest) { return write(out, data, rest); });
      teller.advance(bytes);
      report.written_bytes += bytes;
    }
  }
  report.finished = !teller.stopped();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (report.finished && options.done) options.done(report);
  return report;
}

}  // namespace faro::file
