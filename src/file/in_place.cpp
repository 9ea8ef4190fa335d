// A file permuted where it lies: passes of steps, each written to the journal before it is written in place.
//
//     step t       read, permuted in memory, in the journal        while step t-1 is written in place
//     then         step t-1's bytes are on the disk                and step t+1 is read
//
// Pipeline's order of work is just what the journal wants (in_place_journal.hpp): a slot is taken again only
// after written() has brought the step before to the disk.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "faro/error.hpp"
#include "faro/file.hpp"
#include "file/checksums.hpp"
#include "file/in_place_journal.hpp"
#include "file/in_place_steps.hpp"
#include "file/pipeline.hpp"
#include "io/file_system.hpp"

namespace faro::file {
namespace {

constexpr const char* kRecoverRemedy = "`faro recover` finishes it when that is put right, or takes it back";

std::string in_place_operation(const std::filesystem::path& path) {
  return "permute `" + path.string() + "` in place";
}

// Steps of one pass in a row, forward or each taken back.
class StepTiles final : public Tiles {
 public:
  StepTiles(Steps& pass, std::uint64_t first, std::uint64_t count, bool is_undone)
      : pass_(pass), first_(first), count_(count), is_undone_(is_undone) {
    tile_bytes = pass.step_bytes;
    read_run_bytes = pass.run_bytes;
    write_run_bytes = pass.run_bytes;
  }
  std::uint64_t count() const override { return count_; }
  TileWork tile(std::uint64_t number) override { return pass_.step(step(number), is_undone_); }
  std::uint64_t step(std::uint64_t number) const { return is_undone_ ? first_ - number : first_ + number; }

 private:
  Steps& pass_;
  std::uint64_t first_;
  std::uint64_t count_;
  bool is_undone_;
};

class InPlaceRun {
 public:
  using Passes = std::vector<std::unique_ptr<Steps>>;

  InPlaceRun(const io::HeldFile& file, std::string label, InPlaceJournal& journal, Passes passes,
             const Options& options, const IoChoice& choice, std::uint64_t told_bytes)
      : descriptor_(file.descriptor()),
        label_(std::move(label)),
        journal_(journal),
        passes_(std::move(passes)),
        choice_(choice),
        options_(options),
        teller_(options, told_bytes),
        machinery_(options, choice.mode(), journal.intent().step_bytes) {}

  // Writes what the journal has, which the file may have in part. Returns how many steps are done.
  std::uint64_t make_whole() {
    std::uint64_t state = 0;
    for (const InPlaceJournal::Record& record : journal_.records(machinery_.buffers[0])) {
      const auto [pass, step] = place_of(record.step);
      const TileWork work = passes_[pass]->step(step, record.is_undone != 0);
      if (work.out.total_bytes() != record.bytes)
        fail(ErrorCode::file, in_place_operation(label_), "a journal whose steps have other sizes",
             "the version of faro that wrote it", kRecoverRemedy);
      const io::TransferFile file = transfers(pass);
      Pipeline pipeline = pipeline_of(file, {});
      journal_.read(record, machinery_.buffers[0]);
      pipeline.write(file, journal_.intent().offset, work.out, machinery_.buffers[0]);
      state = record.state;
    }
    sync();
    return state;
  }

  // Returns whether nobody stopped it.
  bool go(std::uint64_t state, std::uint64_t goal, Report& report) {
    while (state != goal) {
      const bool is_undone = goal < state;
      const auto [pass, step] = place_of(is_undone ? state - 1 : state);
      const std::uint64_t before = state - (is_undone ? step + 1 : step);  // steps of the passes before
      const std::uint64_t count = is_undone ? std::min(step + 1, state - goal)
                                            : std::min(passes_[pass]->count() - step, goal - state);
      StepTiles tiles(*passes_[pass], step, count, is_undone);
      const io::TransferFile file = transfers(pass);
      report.io = choice_.text(file, passes_[pass]->run_bytes);
      std::uint64_t permuted = 0;
      auto sums = options_.verify && !is_undone ? sums_of(passes_[pass]->problem()) : std::nullopt;
      Pipeline pipeline =
          pipeline_of(file, {.permute =
                                 [&](TileWork& work, std::byte* x, std::byte* y) {
                                   work.move->run(x, y);
                                   if (sums) verify(*sums, work, x, y);
                                   const std::uint64_t number = before + tiles.step(permuted++);
                                   journal_.write({.state = is_undone ? number : number + 1,
                                                   .step = number,
                                                   .is_undone = is_undone ? std::uint64_t{1} : 0},
                                                  {y, work.out.total_bytes()});
                                 },
                             .written = [this] { sync(); }});
      const bool finished = pipeline.run(tiles);
      report.read_bytes += pipeline.read_bytes();
      report.written_bytes += pipeline.written_bytes();
      report.journal_bytes = journal_.written_bytes();
      if (!finished) return false;
      sync();
      state = is_undone ? state - count : state + count;
    }
    return true;
  }

  void write_header(std::span<const std::byte> header) {
    if (const int error = io::write_at(descriptor_, header, 0); error != 0)
      fail(ErrorCode::file, in_place_operation(label_), io::error_text(error),
           "a disk that takes what is written", kRecoverRemedy);
    sync();
  }

 private:
  // The pass of a step of all, and its number in it.
  std::pair<std::size_t, std::uint64_t> place_of(std::uint64_t step) const {
    std::size_t pass = 0;
    for (; step >= passes_[pass]->count(); ++pass) step -= passes_[pass]->count();
    return {pass, step};
  }

  io::TransferFile transfers(std::size_t pass) const {
    return {descriptor_, io::TransferFile::Use::update, choice_.mode_for(passes_[pass]->run_bytes), label_};
  }

  std::optional<Checksums> sums_of(const Problem& pass) const {
    const std::string what = to_text(pass.permutation) + " in place";
    if (auto sources = gather_sources_of(pass))
      return Checksums(*std::move(sources), false, pass.element_bytes, what, options_.threads);
    return Checksums(destinations_of(pass), pass.element_bytes, what, options_.threads);
  }

  // A step writes the ranges that it read, and to each place what the pass has there: known before any of it
  // is written, to the journal or to the file.
  static void verify(Checksums& sums, const TileWork& work, const std::byte* x, const std::byte* y) {
    sums.add_read(work, x);
    sums.add_written(work.out, y);
    sums.add_covered(sums.covered(work.out) - sums.covered(work.in));
    sums.require_alike();
  }

  Pipeline pipeline_of(const io::TransferFile& file, Pipeline::Hooks hooks) {
    const Pipeline::Side side{.file = &file, .offset = journal_.intent().offset};
    return {machinery_, teller_, side, side, std::move(hooks)};
  }

  void sync() {
    if (const int error = io::sync_file(descriptor_); error != 0)
      fail(ErrorCode::file, in_place_operation(label_), io::error_text(error),
           "a disk that takes what is written", kRecoverRemedy);
  }

  int descriptor_;
  std::string label_;
  InPlaceJournal& journal_;
  Passes passes_;
  IoChoice choice_;
  const Options& options_;
  Teller teller_;
  Machinery machinery_;
};

std::uint64_t steps_of(const InPlaceRun::Passes& passes) {
  std::uint64_t steps = 0;
  for (const auto& pass : passes) steps += pass->count();
  return steps;
}

Facts facts_of(const InPlaceRun::Passes& passes, std::uint64_t bytes) {
  Facts facts{.tiles = steps_of(passes), .moved_bytes = bytes, .sweeps = 0, .in_place = true};
  for (const auto& pass : passes) {
    if (pass->count() == 0) continue;
    ++facts.sweeps;
    facts.tile_bytes = std::max(facts.tile_bytes, pass->step_bytes);
    facts.read_run_bytes =
        facts.read_run_bytes == 0 ? pass->run_bytes : std::min(facts.read_run_bytes, pass->run_bytes);
  }
  facts.write_run_bytes = facts.read_run_bytes;
  facts.memory_bytes = 3 * facts.tile_bytes;
  return facts;
}

// The first bytes of a file, as they are.
std::vector<std::byte> head_of(int descriptor, std::uint64_t bytes, const std::filesystem::path& path) {
  std::vector<std::byte> head(bytes);
  const io::ReadAt read = io::read_at(descriptor, head, 0);
  if (read.bytes < bytes)
    fail(ErrorCode::file, in_place_operation(path),
         read.error != 0 ? io::error_text(read.error) : "a file that was cut", "a file that can be read");
  return head;
}

double seconds_from(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Facts in_place_facts(const Problem& problem, const Options& options) {
  return facts_of(in_place_passes(problem, options), total_bytes(problem));
}

bool is_permuted_in_part(const std::filesystem::path& path) {
  struct stat status {};
  return lstat(in_place_journal_path(path).c_str(), &status) == 0;
}

Report permute_in_place(const Problem& problem, const InPlaceFile& file, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string operation = in_place_operation(file.path);
  if (options.resume) {
    fail(ErrorCode::unsupported, operation, "--resume", "a run from the beginning",
         "`faro recover` goes on where a run in place was interrupted");
  }
  if (file.header.size() > file.offset) {
    fail(ErrorCode::value, operation, fmt::format("a header of {} bytes", file.header.size()),
         fmt::format("at most the {} before the data", file.offset));
  }
  const std::uint64_t bytes = total_bytes(problem);
  const io::HeldFile held(file.path, operation, false);
  const auto file_bytes = static_cast<std::uint64_t>(held.status().st_size);
  if (file_bytes < file.offset || file_bytes - file.offset < bytes) {
    fail(ErrorCode::file, operation,
         fmt::format("{} bytes from byte {} on", file_bytes - std::min(file_bytes, file.offset), file.offset),
         fmt::format("at least {}", bytes));
  }
  Options chosen = options;
  if (chosen.memory_bytes == 0) chosen.memory_bytes = default_memory_bytes();
  InPlaceRun::Passes passes = in_place_passes(problem, chosen);
  Report report;
  report.facts = facts_of(passes, bytes);
  report.io = "nothing to move";
  const std::uint64_t steps = report.facts.tiles;
  const IoChoice choice(options.io);
  const InPlaceIntent intent{.permutation = to_text(problem.permutation),
                             .element_bytes = problem.element_bytes,
                             .batch = problem.batch,
                             .offset = file.offset,
                             .memory_bytes = chosen.memory_bytes,
                             .segment_bytes = chosen.segment_bytes,
                             .file_bytes = file_bytes,
                             .steps = steps,
                             .step_bytes = report.facts.tile_bytes,
                             .header_before = head_of(held.descriptor(), file.header.size(), file.path),
                             .header_after = file.header};
  held.require_unchanged();
  const auto journal = InPlaceJournal::create(file.path, intent, choice.mode());
  try {
    InPlaceRun run(held, file.path.string(), *journal, std::move(passes), options, choice,
                   2 * bytes * static_cast<std::uint64_t>(report.facts.sweeps));
    report.finished = run.go(0, steps, report);
    if (report.finished) run.write_header(intent.header_after);
  } catch (const Error& error) {
    if (journal->is_unused()) {
      journal->remove();
      throw;
    }
    const ErrorReport& told = error.report();
    fail(told.code, told.operation, told.got, told.wanted,
         "`" + file.path.string() + "` is permuted in part: `faro recover` finishes it, or takes it back");
  }
  report.verified = report.finished && options.verify;
  if (report.finished || journal->is_unused()) journal->remove();
  report.seconds = seconds_from(begin);
  if (report.finished && options.done) options.done(report);
  return report;
}

Report recover(const std::filesystem::path& path, Recovery recovery, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string operation = "recover `" + path.string() + "`";
  const io::HeldFile held(path, operation, false);
  const IoChoice choice(options.io);
  if (InPlaceJournal::remove_unbegun(path, choice.mode())) {
    Report whole;
    whole.io = "nothing to move";
    whole.finished = true;
    whole.seconds = seconds_from(begin);
    return whole;
  }
  const auto journal = InPlaceJournal::open(path, choice.mode());
  const InPlaceIntent& intent = journal->intent();
  if (static_cast<std::uint64_t>(held.status().st_size) != intent.file_bytes) {
    fail(ErrorCode::file, operation, fmt::format("a file of {} bytes", held.status().st_size),
         fmt::format("the one of {} that the journal is of", intent.file_bytes));
  }
  const Problem problem{.permutation = parse_permutation(intent.permutation),
                        .element_bytes = intent.element_bytes,
                        .batch = intent.batch};
  Options chosen = options;
  chosen.memory_bytes = intent.memory_bytes;
  chosen.segment_bytes = intent.segment_bytes;
  InPlaceRun::Passes passes = in_place_passes(problem, chosen);
  Report report;
  report.facts = facts_of(passes, total_bytes(problem));
  if (report.facts.tiles != intent.steps || report.facts.tile_bytes != intent.step_bytes) {
    fail(ErrorCode::file, operation, "a journal of other steps than this version of faro makes",
         "the version that wrote it");
  }
  const std::uint64_t goal = recovery == Recovery::finish ? intent.steps : 0;
  InPlaceRun run(held, path.string(), *journal, std::move(passes), options, choice,
                 2 * total_bytes(problem) * static_cast<std::uint64_t>(report.facts.sweeps));
  const std::uint64_t state = run.make_whole();
  report.resumed_tiles = recovery == Recovery::finish ? state : intent.steps - state;
  report.io = "nothing to move";
  report.finished = run.go(state, goal, report);
  if (report.finished) {
    run.write_header(recovery == Recovery::finish ? intent.header_after : intent.header_before);
    journal->remove();
  }
  report.seconds = seconds_from(begin);
  if (report.finished && options.done) options.done(report);
  return report;
}

}  // namespace faro::file
