// A sweep from file to file: its files, the journal of what is finished, and the sums that verify it. The
// loop is Pipeline's.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include "faro/error.hpp"
#include "faro/file.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "file/checksums.hpp"
#include "file/journal.hpp"
#include "file/pipeline.hpp"
#include "file/sweep.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"

namespace faro::file {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

class Run {
 public:
  Run(const Sweep::State& sweep, const Input& in, const Output& out, const Options& options)
      : sweep_(sweep),
        options_(options),
        choice_(options.io),
        source_(in, sweep.in_bytes),
        target_(out.path,
                options.keep_unfinished || options.resume ? io::Unfinished::kept : io::Unfinished::removed),
        label_(out.path.string()),
        in_offset_(in.offset),
        out_offset_(out.header.size()),
        teller_(options, 2 * sweep.facts.moved_bytes) {
    if (options.keep_unfinished || options.resume) journal_.emplace(out.path, identity(out));
    if (options.verify) sums_.emplace(*sweep.problem, options.threads);
  }

  Report run(const Output& out) {
    Report report;
    report.facts = sweep_.facts;
    report.io = "nothing to move";
    report.finished = true;
    const std::uint64_t first = begin_or_resume(out);
    if (sweep_.facts.tiles > 0) sweep(first, report);
    if (report.finished) {
      source_.require_unchanged();
      verify();
      target_.finish();
    }
    report.verified = report.finished && options_.verify;
    report.seconds = seconds_since(begin_);
    if (report.finished) {
      if (options_.done) options_.done(report);
      target_.commit();
      if (journal_) journal_->remove();
    }
    return report;
  }

  /// After an error before any tile was finished: nothing is of use to a later run.
  void discard_unless_resumable() noexcept {
    if (!journal_ || !begun_ || !journal_->finished().empty()) return;
    journal_->remove();
    target_.discard();
  }

 private:
  std::string identity(const Output& out) const {
    std::string text =
        fmt::format("{}; {} bytes; batch {}; from {} of {}; behind {} to {}; {} tiles of {}", sweep_.text,
                    sweep_.element_bytes, sweep_.to_run.batch, in_offset_, source_.identity(),
                    out.header.size(), sweep_.out_bytes, sweep_.facts.tiles, sweep_.facts.tile_bytes);
    text += fmt::format("; header {:016x}", checksum(out.header, 1));
    if (const auto* const indexed =
            sweep_.problem ? std::get_if<Indexed>(&sweep_.problem->permutation) : nullptr) {
      text += fmt::format("; indices {:016x}", schedule::fingerprint(*indexed));
    }
    return fmt::format("{:016x} {}", checksum(std::as_bytes(std::span(text)), 1), source_.identity());
  }

  // The output's file at its length, with its header. Returns how many tiles an earlier run says it finished.
  std::uint64_t begin_or_resume(const Output& out) {
    const bool goes_on = options_.resume && !journal_->finished().empty();
    if (options_.resume && journal_->is_of_another()) {
      fail(ErrorCode::file, "resume `" + label_ + "`",
           "a journal of another problem, input, budget of memory or version",
           "the command that was interrupted, and its input as it was", "without --resume it is begun anew");
    }
    if (journal_ && !goes_on) {
      journal_->restart(0);
      // Of a run that is not gone on with nothing may stay.
      if (ftruncate(target_.descriptor(), 0) != 0) target_.refuse(errno, "a file that can be written to");
    }
    begun_ = true;
    target_.reserve(out.header.size() + sweep_.out_bytes);
    target_.write(out.header, 0);
    return goes_on ? journal_->finished().size() : 0;
  }

  void sweep(std::uint64_t first, Report& report) {
    const std::unique_ptr<Tiles> tiles = sweep_.tiles();
    using Use = io::TransferFile::Use;
    const io::TransferFile in(source_.descriptor(), Use::read, choice_.mode_for(tiles->read_run_bytes),
                              source_.path());
    const io::TransferFile out(target_.descriptor(), Use::update, choice_.mode_for(tiles->write_run_bytes),
                               label_);
    const std::string reads = choice_.text(in, tiles->read_run_bytes);
    const std::string writes = choice_.text(out, tiles->write_run_bytes);
    report.io = reads == writes ? reads : "reads " + reads + "; writes " + writes;
    Machinery machinery(options_, choice_.mode(), tiles->tile_bytes);
    Pipeline pipeline(
        machinery, teller_, {.file = &in, .offset = in_offset_}, {.file = &out, .offset = out_offset_},
        {.permute = [this](TileWork& work, const std::byte* x, std::byte* y) { permute(work, x, y); },
         .writing = sums_ ? [this](std::span<const io::Piece> pieces) { cover(pieces); }
                          : std::function<void(std::span<const io::Piece>)>(),
         .written = [this] { note_written(); }});
    if (first > 0) report.resumed_tiles = verified_tiles(first, *tiles, pipeline, machinery, in, out);
    report.finished = pipeline.run(*tiles, report.resumed_tiles);
    if (!report.finished) checkpoint();
    report.read_bytes = pipeline.read_bytes();
    report.written_bytes = pipeline.written_bytes();
  }

  // How many of the tiles that an earlier run finished are there as its journal says.
  std::uint64_t verified_tiles(std::uint64_t finished, Tiles& tiles, Pipeline& pipeline,
                               const Machinery& machinery, const io::TransferFile& in,
                               const io::TransferFile& out) {
    std::byte* const buffer = machinery.buffers[0]->data();
    std::uint64_t tile = 0;
    for (; tile < std::min(finished, tiles.count()) && !teller_.stopped(); ++tile) {
      const TileWork work = tiles.tile(tile);
      pipeline.read(out, out_offset_, work.out, buffer);
      if (checksum({buffer, work.out.total_bytes()}, options_.threads) != journal_->finished()[tile]) break;
      if (sums_) {
        sums_->add_written(work.out, buffer);
        for (std::uint64_t row = 0; row < work.out.count; ++row)
          sums_->add_covered(sums_->covered(work.out.offset(row), work.out.bytes));
        pipeline.read(in, in_offset_, work.in, buffer);
        sums_->add_read(work.in, buffer);
      }
      teller_.advance(work.in.total_bytes() + work.out.total_bytes());
    }
    journal_->restart(tile);
    return tile;
  }

  void permute(const TileWork& work, const std::byte* x, std::byte* y) {
    if (sums_) sums_->add_read(work.in, x);
    work.move->run(x, y);
    if (sums_) sums_->add_written(work.out, y);
    if (journal_) permuted_.push_back(checksum({y, work.out.total_bytes()}, options_.threads));
  }

  void cover(std::span<const io::Piece> pieces) {
    for (const io::Piece& piece : pieces) covered_ += sums_->covered(piece.offset - out_offset_, piece.bytes);
  }

  // The oldest tile of permuted_ was written.
  void note_written() {
    if (!journal_) return;
    ++not_noted_;
    if (seconds_since(noted_) >= options_.checkpoint_seconds) checkpoint();
  }

  // Brings what was written to the disk, and then the journal.
  void checkpoint() {
    if (!journal_ || not_noted_ == 0) return;
    if (const int error = io::sync_file(target_.descriptor()); error != 0)
      target_.refuse(error, "a disk that takes what is written");
    for (std::size_t tile = 0; tile < not_noted_; ++tile) journal_->add(permuted_[tile]);
    permuted_.erase(permuted_.begin(), permuted_.begin() + static_cast<std::ptrdiff_t>(not_noted_));
    not_noted_ = 0;
    journal_->sync();
    noted_ = Clock::now();
  }

  void verify() {
    if (!sums_) return;
    sums_->add_covered(covered_);
    sums_->require_equal(sweep_.out_bytes);
  }

  const Sweep::State& sweep_;
  const Options& options_;
  IoChoice choice_;
  bool begun_ = false;  // what an earlier run left is ours by now
  SourceFile source_;
  io::OutputFile target_;
  std::string label_;
  std::uint64_t in_offset_;
  std::uint64_t out_offset_;
  Teller teller_;
  std::optional<Journal> journal_;
  std::optional<Checksums> sums_;
  std::vector<std::uint64_t> permuted_;  // checksums of tiles that the journal does not have yet
  std::size_t not_noted_ = 0;            // of them are written
  std::atomic<std::uint64_t> covered_{0};
  Clock::time_point begin_ = Clock::now();
  Clock::time_point noted_ = begin_;
};

}  // namespace

Report run(const Sweep& sweep, const Input& in, const Output& out, const Options& options) {
  if (io::same_target(in.path, out.path))
    fail(ErrorCode::value, "permute `" + in.path.string() + "`", "the same file as output", "two files");
  if (options.verify && !sweep.state().problem)
    fail(ErrorCode::unsupported, "verify", "a strided view over files", "a permutation");
  if (options.verify && std::holds_alternative<Indexed>(sweep.state().problem->permutation) &&
      std::get<Indexed>(sweep.state().problem->permutation).direction() == Direction::gather)
    fail(ErrorCode::unsupported, "verify", "a gather's index array over files", "a scatter's");
  Run work(sweep.state(), in, out, options);
  try {
    return work.run(out);
  } catch (...) {
    work.discard_unless_resumable();
    throw;
  }
}

Report permute(const Problem& problem, const std::filesystem::path& in, const std::filesystem::path& out,
               const Options& options, const std::optional<std::vector<std::uint64_t>>& shape) {
  const io::NpyHeader header = io::read_npy_header(in);
  const std::string operation = "permute `" + in.string() + "`";
  if (header.fortran_order)
    fail(ErrorCode::unsupported, operation, "data in Fortran order", "data in C order");
  if (header.data_bytes() != total_bytes(problem)) {
    fail(ErrorCode::value, operation, fmt::format("a file of {} bytes of data", header.data_bytes()),
         fmt::format("the {} of the problem", total_bytes(problem)));
  }
  const std::vector<std::uint64_t>& result = shape ? *shape : header.shape;
  return run(Sweep(problem, options), {.path = in, .offset = header.data_offset},
             {.path = out,
              .header = io::npy_header_bytes(header.descr, result, io::MemoryOrder::c, io::kTransferBlock)},
             options);
}

}  // namespace faro::file
