#include "store/relayout_run.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <utility>

#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file/file_run.hpp"
#include "io/buffer.hpp"
#include "io/file_system.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"
#include "size_text.hpp"
#include "store/output_folder.hpp"
#include "store/region_journal.hpp"
#include "store/scratch.hpp"
#include "store/store_formats.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

// Tells of bytes as they are done, some MiB at a time, by one thread at a time.
class Teller {
 public:
  Teller(const Options& options, std::uint64_t total_bytes) : options_(options), progress_{0, total_bytes} {}

  Advance advance() {
    return [this](std::uint64_t bytes) {
      const std::lock_guard lock(mutex_);
      constexpr std::uint64_t kStep = std::uint64_t{4} << 20;
      const std::uint64_t before = progress_.done_bytes;
      progress_.done_bytes += bytes;
      if (before / kStep == progress_.done_bytes / kStep && before != 0) return !stopped_;
      if (options_.progress) options_.progress(progress_);
      if (options_.cancelled && options_.cancelled()) stopped_ = true;
      return !stopped_;
    };
  }

 private:
  const Options& options_;
  std::mutex mutex_;
  Progress progress_;
  bool stopped_ = false;
};

void sync_descriptor(int descriptor, const std::string& operation) {
  if (const int error = io::sync_file(descriptor); error != 0)
    fail(ErrorCode::file, operation, io::error_text(error), "a disk that takes what is written");
}

// A file that is one run between what comes before and behind it.
class RunFile final : public CreatedStore {
 public:
  RunFile(const fs::path& path, RunOutput output, io::Unfinished unfinished)
      : path_(path),
        output_(std::move(output)),
        file_(path, unfinished),
        sink_(output_sink(file_.descriptor(), path, output_)) {}

  const fs::path& path() const override { return path_; }
  Sink& sink() override { return *sink_; }
  void begin(Leftover leftover) override {
    if (leftover == Leftover::removed && ftruncate(file_.descriptor(), 0) != 0)
      fail(ErrorCode::file, file_.operation(), io::error_text(errno), "a file that can be written to");
    const std::uint64_t end = std::max<std::uint64_t>(output_.header.size(), end_of(output_));
    file_.reserve(end + output_.tail.size());
    file_.write(output_.header, 0);
    file_.write(output_.tail, end);
  }
  void sync() override { sync_descriptor(file_.descriptor(), file_.operation()); }
  void finish() override {
    if (output_.finish) output_.finish(file_.descriptor());
    file_.finish();
  }
  void commit() override { file_.commit(); }
  void discard() noexcept override { file_.discard(); }

 private:
  fs::path path_;
  RunOutput output_;
  io::OutputFile file_;
  std::unique_ptr<Sink> sink_;
};

// What is not encoded has to have room.
void require_room(const Work& work) {
  const auto& codecs = work.wanted.codecs;
  if (codecs ? !codecs->empty() : work.format->has_chunks()) return;
  struct statvfs space {};
  const fs::path folder = folder_above(work.out.path);
  if (statvfs(folder.c_str(), &space) != 0 || space.f_blocks == 0) return;
  const std::uint64_t free = space.f_bavail * std::uint64_t{space.f_frsize};
  const std::uint64_t bytes = volume(work.wanted.shape) * work.wanted.type.bytes;
  if (bytes > free) {
    fail(ErrorCode::file, "write `" + work.out.path.string() + "`", size_text(free) + " free on its disk",
         "room for " + size_text(bytes));
  }
}

// How an array is kept.
std::string form_text(const ArrayFacts& array) {
  return fmt::format("{} {} {} ({}) {} {} ({}) ({}) {} {} {}", array.name, array.format, array.dtype,
                     fmt::join(array.shape, " "), array.big_endian, array.codec, fmt::join(array.chunks, " "),
                     fmt::join(array.shards, " "), fmt::join(array.dimensions, " "), array.attributes,
                     array.bytes);
}

// What tells a run from others, for its journal.
std::string identity_of(const Work& work, const Way& way, const Facts& facts, const std::string& source) {
  std::string text =
      fmt::format("{}; {}; {}; axes ({}) flipped ({}); order {}; regions ({})", source, form_text(facts.in),
                  form_text(facts.out), fmt::join(work.axes.from, " "), fmt::join(work.axes.flipped, " "),
                  work.wanted.fortran_order ? "F" : "C", fmt::join(facts.region, " "));
  for (const Shape& inner : work.wanted.inner_shards)
    text += fmt::format("; shards within ({})", fmt::join(inner, " "));
  if (way.scratch) text += fmt::format("; scratch ({})", fmt::join(way.scratch->written, " "));
  return text + "; " + work.out.path.string() + "; " +
         work.wanted.notes.attributes.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A run from one store to another, which may go on with what an earlier one left.
class Relayout {
 public:
  // `out`: where it is made already.
  Relayout(const Work& work, const Options& options, std::unique_ptr<CreatedStore> out = nullptr)
      : work_(work),
        options_(options),
        unfinished_(unfinished_of(options)),
        source_(work.in.source()),
        identity_(source_->identity()),
        out_(out ? std::move(out) : created(work, unfinished_, report_.left_out)),
        way_(way_or_nothing()) {
    report_.facts = facts_of(work, way_, *source_, out_->sink());
    report_.left_out.insert(report_.left_out.end(), work.in.notes.left_out.begin(),
                            work.in.notes.left_out.end());
    if (unfinished_ == io::Unfinished::removed) return;
    journal_.emplace(out_->path(), identity_of(work, way_, report_.facts, identity_),
                     options.checkpoint_seconds);
  }

  Report run() {
    try {
      run_or_throw();
    } catch (...) {
      forget_what_is_of_no_use();
      throw;
    }
    if (!report_.finished) forget_what_is_of_no_use();
    return std::move(report_);
  }

 private:
  void run_or_throw() {
    begin_or_resume();
    Teller teller(options_, report_.facts.read_bytes + report_.facts.written_bytes);
    report_.finished = way_.scratch ? sweep_through_scratch(teller) : sweep_directly(teller);
    require_unchanged();
    if (!report_.finished) return;
    if (options_.verify && sums_.read != sums_.stored) {
      fail(ErrorCode::verification, work_.operation, "what was stored differs from what was read",
           "the same elements", "nothing was written; the disk or the memory may be at fault");
    }
    report_.verified = options_.verify;
    out_->sink().finish();
    out_->finish();
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (options_.done) options_.done(report_);
    out_->commit();
    if (journal_) journal_->remove();
  }

  // Where there is no way nothing stays but what an earlier run left to go on with.
  Way way_or_nothing() {
    try {
      return choose_way(relaid_of(work_, *source_, out_->sink()), work_.memory_bytes, work_.threads,
                        work_.operation);
    } catch (...) {
      std::error_code ignored;
      if (!fs::exists(io::partial_path(out_->path()).string() + "-journal", ignored)) out_->discard();
      throw;
    }
  }

  void begin_or_resume() {
    if (options_.resume && journal_->is_of_another()) {
      fail(ErrorCode::file, "resume `" + out_->path().string() + "`",
           "a journal of another input, command, budget of memory or version",
           "the command that was interrupted, and its input as it was", "without --resume it is begun anew");
    }
    goes_on_ = options_.resume && journal_->is_resumable();
    if (!goes_on_) {
      begun_ = true;  // nothing of an earlier run is of use any more
      if (journal_) journal_->begin_anew();
      unlink(io::partial_path(file::scratch_path(out_->path())).c_str());
      require_room(work_);
    }
    begun_ = true;
    out_->begin(goes_on_ ? Leftover::gone_on_with : Leftover::removed);
  }

  // After an error before anything was finished nothing is of use to a later run.
  void forget_what_is_of_no_use() {
    if (!journal_ || !begun_ || journal_->is_resumable()) return;
    journal_->remove();
    out_->discard();
  }

  void require_unchanged() const {
    if (source_->identity() == identity_) return;
    fail(ErrorCode::file, work_.operation, "an input that was written to meanwhile",
         "one that nobody changes meanwhile");
  }

  SweepJob job(const Source& source, Sink& sink, Teller& teller) {
    return {.source = source,
            .sink = sink,
            .shape = work_.wanted.shape,
            .axes = AxisChoice::identity(work_.wanted.shape.size()),
            .type = work_.wanted.type,
            .region = way_.direct.extents,
            .threads = way_.threads,
            .sums_arithmetic = work_.arithmetic,
            .advance = teller.advance(),
            .journal = journal_ ? &*journal_ : nullptr,
            .sync = [this] { out_->sync(); },
            .resumed = &report_.resumed_regions};
  }

  std::uint64_t region_bytes(const Shape& region) const {
    return volume(cut_to(region, work_.wanted.shape)) * work_.wanted.type.bytes;
  }
  Sums* sums() { return options_.verify ? &sums_ : nullptr; }

  // Reads from the input, whose axes and numbers may become others.
  void take_input(SweepJob& first) {
    first.axes = work_.axes;
    first.arithmetic = work_.arithmetic;
    first.read = sums();
  }

  bool sweep_directly(Teller& teller) {
    SweepJob only = job(*source_, out_->sink(), teller);
    take_input(only);
    only.stored = sums();
    const io::Buffer memory(region_bytes(only.region), io::PageKind::huge, io::PageTouch::as_used);
    only.memory = memory.data();
    return sweep(only);
  }

  bool sweep_through_scratch(Teller& teller) {
    // Never gets its name.
    io::OutputFile scratch(file::scratch_path(out_->path()), unfinished_);
    scratch.reserve(volume(work_.wanted.shape) * work_.wanted.type.bytes);
    const ScratchForm form{.shape = work_.wanted.shape,
                           .element_bytes = work_.wanted.type.bytes,
                           .written = way_.scratch->written,
                           .read = way_.scratch->read};
    const io::Buffer memory(std::max(region_bytes(form.written), region_bytes(form.read)), io::PageKind::huge,
                            io::PageTouch::as_used);
    const auto to = scratch_sink(scratch.descriptor(), form);
    const auto from = scratch_source(scratch.descriptor(), form);
    SweepJob first = job(*source_, *to, teller);
    take_input(first);
    first.region = form.written;
    first.memory = memory.data();
    first.sync = [&] { sync_descriptor(scratch.descriptor(), scratch.operation()); };
    SweepJob second = job(*from, out_->sink(), teller);
    second.region = form.read;
    second.memory = memory.data();
    second.stored = sums();
    bool finished = false;
    try {
      finished = sweep(first) && sweep(second);
    } catch (...) {
      if (journal_ && !journal_->is_resumable()) scratch.discard();
      throw;
    }
    if (finished || (journal_ && !journal_->is_resumable())) scratch.discard();
    return finished;
  }

  const Work& work_;
  const Options& options_;
  Report report_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  io::Unfinished unfinished_;
  std::unique_ptr<Source> source_;
  std::string identity_;  // of the input
  std::unique_ptr<CreatedStore> out_;
  Way way_;
  std::optional<RegionJournal> journal_;
  Sums sums_;
  bool begun_ = false;  // what an earlier run left is ours by now
  bool goes_on_ = false;
};

// What a map of all elements needs between three sweeps: plain files in a folder of their own.
class PlainFiles {
 public:
  // `identity`: of the whole run.
  PlainFiles(const Work& work, const Options& options, const std::string& identity)
      : is_kept_(unfinished_of(options) == io::Unfinished::kept),
        folder_(file::scratch_path(work.out.path), unfinished_of(options)) {
    constexpr std::uint64_t kMostLabelBytes = std::uint64_t{1} << 20;
    const fs::path label = folder_.folder() / "run";
    std::error_code ignored;
    const bool is_there = options.resume && fs::exists(label, ignored);
    if (is_there && read_small_file(label.string(), kMostLabelBytes) == identity) return;
    if (is_there) {
      fail(ErrorCode::file, "resume `" + work.out.path.string() + "`",
           "what a run of another input, command or version left",
           "the command that was interrupted, and its input as it was", "without --resume it is begun anew");
    }
    folder_.clear();
    if (is_kept_) io::write_file(label, identity);
  }
  ~PlainFiles() {
    if (is_kept_ && is_of_no_use()) folder_.discard();
  }
  PlainFiles(const PlainFiles&) = delete;
  PlainFiles& operator=(const PlainFiles&) = delete;

  fs::path in() const { return folder_.folder() / "in.raw"; }
  fs::path out() const { return folder_.folder() / "out.raw"; }
  bool has_in() const { return has(in()); }
  bool has_out() const { return has(out()); }
  void discard() noexcept { folder_.discard(); }

 private:
  static bool has(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
  }
  // Nothing but its label.
  bool is_of_no_use() const {
    std::error_code failed;
    return std::distance(fs::directory_iterator(folder_.folder(), failed), fs::directory_iterator()) <= 1;
  }

  bool is_kept_;
  OutputFolder folder_;
};

// A map of all elements, from a plain file to a plain file.
Report mapped(const Work& work, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  explain_work(work);  // what cannot be written is refused before anything is
  const auto source = work.in.source();
  const std::string identity =
      fmt::format("{}; {}; {}; {} of {} numbers, batch {}; {} ({})", work.out.path.string(),
                  source->identity(), form_text(facts_of(work.in)), to_text(work.map->permutation),
                  work.map->items, work.map->batch, work.wanted.type.name, fmt::join(work.wanted.shape, " "));
  PlainFiles plain(work, options, identity);
  Options inner{.memory_bytes = work.memory_bytes,
                .threads = options.threads,
                .verify = options.verify,
                .keep_unfinished = options.keep_unfinished,
                .resume = options.resume,
                .checkpoint_seconds = options.checkpoint_seconds,
                .cancelled = options.cancelled};
  // Elements of this machine's byte order, in C order.
  Work first = work;
  first.out = {.path = plain.in()};
  first.format = &raw_format();
  first.axes = AxisChoice::identity(work.in.shape.size());
  first.wanted = {.shape = work.in.shape, .type = work.in.type};
  first.arithmetic.reset();
  if (!plain.has_in() && !plain.has_out()) {
    Report report = Relayout(first, inner).run();
    if (!report.finished) return report;
  }
  const Problem problem{.permutation = work.map->permutation,
                        .element_bytes = work.in.type.bytes * work.map->items,
                        .batch = work.map->batch};
  file::Options file_options{.memory_bytes = work.memory_bytes,
                             .threads = options.threads,
                             .verify = options.verify,
                             .keep_unfinished = options.keep_unfinished,
                             .resume = options.resume,
                             .checkpoint_seconds = options.checkpoint_seconds,
                             .cancelled = options.cancelled};
  if (!plain.has_out() &&
      !file::run(problem, {.path = plain.in()}, {.path = plain.out()}, file_options).finished)
    return {};
  fs::remove(plain.in());
  Work last = last_of_mapped(work);
  last.in.run = {.path = plain.out(), .form = dense_run(work.wanted.shape, work.in.type, 0)};
  Report report;
  inner.progress = options.progress;
  inner.done = [&](Report done) {
    done.facts = facts_of_mapped(work, std::move(done.facts));
    done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    report = done;
    if (options.done) options.done(done);
  };
  report.finished = Relayout(last, inner).run().finished;
  if (report.finished) plain.discard();
  return report;
}

}  // namespace

std::unique_ptr<CreatedStore> created(const Work& work, io::Unfinished unfinished,
                                      std::vector<std::string>& left_out) {
  if (auto run = only_output(work, left_out))
    return std::make_unique<RunFile>(work.out.path, std::move(*run), unfinished);
  return work.format->create(work.out.path, work.wanted, unfinished);
}

io::Unfinished unfinished_of(const Options& options) {
  return options.keep_unfinished || options.resume ? io::Unfinished::kept : io::Unfinished::removed;
}

Report run_relayout(const Work& work, const Options& options) {
  return work.map ? mapped(work, options) : Relayout(work, options).run();
}

Report run_relayout(const Work& work, const Options& options, std::unique_ptr<CreatedStore> out) {
  return Relayout(work, options, std::move(out)).run();
}

}  // namespace faro::store
