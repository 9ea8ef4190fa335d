#include "file/file_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "faro/error.hpp"
#include "io/npy.hpp"

namespace faro::file {
namespace {

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

void require_two_files(const Input& in, const Output& out) {
  if (io::same_target(in.path, out.path))
    fail(ErrorCode::value, "permute `" + in.path.string() + "`", "the same file as output", "two files");
}

}  // namespace

std::filesystem::path scratch_path(const std::filesystem::path& out) { return out.string() + "-scratch"; }

FileRun::FileRun(const Input& in, const Output& out, const Options& options, const Sizes& sizes,
                 const std::string& work)
    : out_((require_two_files(in, out), out)),
      options_(options),
      unfinished_(options.keep_unfinished || options.resume ? io::Unfinished::kept : io::Unfinished::removed),
      choice_(options.io),
      source_(in, sizes.in_bytes),
      target_(out.path, unfinished_),
      label_(out.path.string()),
      in_offset_(in.offset),
      out_offset_(out.header.size()),
      out_bytes_(sizes.out_bytes),
      teller_(options, sizes.told_bytes) {
  if (unfinished_ != io::Unfinished::kept) return;
  const std::string text =
      fmt::format("{}; from {} of {}; behind {} to {}; header {:016x}", work, in_offset_, source_.identity(),
                  out.header.size(), sizes.out_bytes, checksum(out.header, 1));
  journal_.emplace(
      out.path, fmt::format("{:016x} {}", checksum(std::as_bytes(std::span(text)), 1), source_.identity()));
}

void FileRun::verify_by(Destinations destinations, std::uint64_t element_bytes, const std::string& what) {
  sums_.emplace(std::move(destinations), element_bytes, what, options_.threads);
}

io::TransferFile FileRun::input(std::uint64_t run_bytes) const { return choice_.input(source_, run_bytes); }

io::TransferFile FileRun::output(std::uint64_t run_bytes) const {
  return {target_.descriptor(), io::TransferFile::Use::update, choice_.mode_for(run_bytes), label_};
}

Report FileRun::run(const Facts& facts, const std::function<bool()>& body) {
  report_.facts = facts;
  report_.io = "nothing to move";
  try {
    return run_or_throw(body);
  } catch (...) {
    // After an error before any tile was finished nothing is of use to a later run.
    if (journal_ && begun_ && !is_resumable()) {
      journal_->remove();
      target_.discard();
    }
    throw;
  }
}

Report FileRun::run_or_throw(const std::function<bool()>& body) {
  begin_or_resume();
  report_.finished = body();
  if (report_.finished) {
    source_.require_unchanged();
    if (sums_) {
      sums_->add_covered(covered_);
      sums_->require_equal(out_bytes_);
    }
    target_.finish();
  }
  report_.verified = report_.finished && sums_.has_value();
  report_.seconds = seconds_since(begin_);
  if (report_.finished) {
    if (options_.done) options_.done(report_);
    target_.commit();
    if (journal_) journal_->remove();
  }
  return std::move(report_);  // nothing may fail once the output has its name
}

// The output's file at its length, with its header, and what an earlier run left of it where that is gone on
// with.
void FileRun::begin_or_resume() {
  goes_on_ = options_.resume && is_resumable();
  if (options_.resume && journal_->is_of_another()) {
    fail(ErrorCode::file, "resume `" + label_ + "`",
         "a journal of another problem, input, budget of memory or version",
         "the command that was interrupted, and its input as it was", "without --resume it is begun anew");
  }
  if (journal_ && !goes_on_) {
    begun_ = true;  // nothing of an earlier run is of use any more
    journal_->restart(0);
    // Nothing may stay of a run that is not gone on with.
    if (ftruncate(target_.descriptor(), 0) != 0)
      fail(ErrorCode::file, target_.operation(), io::error_text(errno), "a file that can be written to");
    unlink(io::partial_path(scratch_path(out_.path)).c_str());
  }
  begun_ = true;
  target_.reserve(out_.header.size() + out_bytes_);
  target_.write(out_.header, 0);
}

bool FileRun::sweep(const Stage& stage) {
  Tiles& tiles = stage.tiles;
  const std::string reads = choice_.text(stage.in, tiles.read_run_bytes);
  const std::string writes = choice_.text(stage.out, tiles.write_run_bytes);
  report_.io = reads == writes ? reads : "reads " + reads + "; writes " + writes;
  Machinery machinery(options_, choice_.mode(), tiles.tile_bytes, tiles.placement, stage.memory);
  const int written_to = stage.out.buffered();
  const auto cover = [this, &stage](std::span<const io::Piece> pieces) {
    for (const io::Piece& piece : pieces)
      covered_ += sums_->covered(piece.offset - stage.out_offset, piece.bytes);
  };
  Pipeline pipeline(
      machinery, teller_, {.file = &stage.in, .offset = stage.in_offset},
      {.file = &stage.out, .offset = stage.out_offset},
      {.permute = [&](TileWork& work, std::byte* x, std::byte* y) { permuted(stage, work, x, y); },
       .writing = sums_ && stage.sums_written ? cover : std::function<void(std::span<const io::Piece>)>(),
       .written = [&] { note_written(written_to); }},
      stage.added);
  const std::uint64_t noted = journal_ && goes_on_ ? journal_->finished().size() : 0;
  std::uint64_t first = 0;
  if (noted > tiles_before_) first = verified_tiles(noted - tiles_before_, stage, pipeline, machinery);
  report_.resumed_tiles += first;
  const bool finished = pipeline.run(tiles, first);
  if (finished) {
    not_noted_ = permuted_.size();  // the last was written
  }
  checkpoint(written_to);
  permuted_.clear();
  tiles_before_ += tiles.count();
  report_.read_bytes += pipeline.read_bytes();
  report_.written_bytes += pipeline.written_bytes();
  return finished;
}

// How many of the tiles that an earlier run finished are there as its journal says.
std::uint64_t FileRun::verified_tiles(std::uint64_t finished, const Stage& stage, Pipeline& pipeline,
                                      const Machinery& machinery) {
  std::byte* const buffer = machinery.buffers[0];
  std::uint64_t tile = 0;
  for (; tile < std::min(finished, stage.tiles.count()) && !teller_.stopped(); ++tile) {
    TileWork work = stage.tiles.tile(tile);
    if (stage.found && !stage.found(work)) break;
    pipeline.read(stage.out, stage.out_offset, work.out, buffer);
    const std::uint64_t sum = checksum({buffer, work.out.total_bytes()}, options_.threads);
    if (sum != journal_->finished()[tiles_before_ + tile]) break;
    if (sums_ && stage.sums_written) {
      sums_->add_written(work.out, buffer);
      sums_->add_covered(sums_->covered(work.out));
    }
    if (sums_ && stage.sums_read) {
      pipeline.read(work, buffer);
      sums_->add_read(work, buffer);
    }
    teller_.advance(work.read_bytes() + work.out.total_bytes());
  }
  if (tile < finished && tile < stage.tiles.count()) journal_->restart(tiles_before_ + tile);
  return tile;
}

void FileRun::permuted(const Stage& stage, TileWork& work, std::byte* x, std::byte* y) {
  if (sums_ && stage.sums_read) sums_->add_read(work, x);
  stage.permute(work, x, y);
  if (sums_ && stage.sums_written) sums_->add_written(work.out, y);
  if (journal_) permuted_.push_back(checksum({y, work.out.total_bytes()}, options_.threads));
}

// The oldest tile of permuted_ that was not yet is written.
void FileRun::note_written(int descriptor) {
  if (!journal_) return;
  ++not_noted_;
  if (seconds_since(noted_) >= options_.checkpoint_seconds) checkpoint(descriptor);
}

// Brings what was written to the disk, and then the journal.
void FileRun::checkpoint(int descriptor) {
  if (!journal_ || not_noted_ == 0) return;
  if (const int error = io::sync_file(descriptor); error != 0)
    fail(ErrorCode::file, target_.operation(), io::error_text(error), "a disk that takes what is written");
  for (std::size_t tile = 0; tile < not_noted_; ++tile) journal_->add(permuted_[tile]);
  permuted_.erase(permuted_.begin(), permuted_.begin() + static_cast<std::ptrdiff_t>(not_noted_));
  not_noted_ = 0;
  journal_->sync();
  noted_ = std::chrono::steady_clock::now();
}

}  // namespace faro::file
