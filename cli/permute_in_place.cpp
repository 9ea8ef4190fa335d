// The file that is written is made beside the one that was read, whose name it takes when it is whole:
//
//     read header  ->  plan  ->  reserve  ->  copy the data  ->  permute it there  ->  verify  ->  rename
//
// --no-backup maps the file itself, and has no more than the array to permute it by.
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "cli/file_problem.hpp"
#include "cli/host_run.hpp"
#include "cli/permute_ways.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "engines/cpu.hpp"
#include "faro/measure.hpp"
#include "io/npy_update.hpp"

namespace faro::cli {
namespace {

using Shape = std::vector<std::uint64_t>;

std::string operation_of(const PermuteOptions& options) { return "permute `" + options.in + "` in place"; }

void check_options(const PermuteOptions& options) {
  const std::string operation = operation_of(options);
  if (options.has_out) {
    fail(ErrorCode::usage, operation, "a second file, `" + options.out + "`", "SPEC FILE.npy",
         "without --in-place the result is a file of its own");
  }
  if (!options.map.empty() || !options.element.empty())
    fail(ErrorCode::value, operation, "--map", "a permutation alone",
         "a function is fused into the way to a second array");
  if (!options.plan_cache.empty())
    fail(ErrorCode::value, operation, "--plan-cache", "no file of a schedule",
         "no permutation in place needs one");
  if (options.no_backup && options.verify) {
    fail(ErrorCode::value, operation, "--verify with --no-backup", "one of them",
         "without a second array there is nothing left to check the result against");
  }
  check_spec_file(options, options.in, "FILE");
}

double milliseconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// What was done with one file, for the report.
struct Done {
  std::optional<ExecutablePlan> plan;
  FileProblem asked;
  Shape shape;
  double plan_ms = 0;
  Outcome outcome;
};

void print_json(const PermuteOptions& options, const Done& done) {
  const Plan& plan = done.plan->plan();
  const double rate = gb_per_s(total_bytes(done.asked.problem), done.outcome.milliseconds);
  Json json = new_json();
  json["spec"] = to_text(done.asked.problem.permutation);
  json["file"] = options.in;
  json["backup"] = !options.no_backup;
  json["shape"] = done.shape;
  json["elements"] = element_count(done.asked.problem.permutation);
  json["element_bytes"] = done.asked.problem.element_bytes;
  json["batch"] = done.asked.problem.batch;
  json["bytes"] = total_bytes(done.asked.problem);
  json["plan"] = plan_line(options, plan);
  json["plan_ms"] = done.plan_ms;
  json["workspace_bytes"] = done.plan->workspace_bytes();
  json["engine"] = name(done.plan->engine());
  json["engine_reason"] = done.plan->engine_reason();
  json["device"] = plan.target().name;
  json["ms"] = done.outcome.milliseconds;
  json["gb_per_s"] = rate;
  json["copy_gb_per_s"] = done.outcome.copy_gb_per_s;
  json["share_of_copy"] = done.outcome.share_of_copy;
  json["verified"] = options.verify;
  print(json);
}

void print_line(const PermuteOptions& options, const Done& done, double total_ms) {
  RunFacts facts{.elements = done.asked.elements,
                 .milliseconds = done.outcome.milliseconds,
                 .total_ms = total_ms,
                 .pieces = done.outcome.pieces,
                 .plan_cache = {},
                 .shape = {}};
  if (done.shape != done.asked.shape) facts.shape = "shape " + shape_text(done.shape);
  note(run_line(options, done.plan->plan(), facts));
}

class Work {
 public:
  Work(const PermuteOptions& options, Progress& progress)
      : start_(std::chrono::steady_clock::now()), options_(options), progress_(progress) {}

  void on_a_copy() {
    const io::HeldFile held(options_.in, operation_of(options_), true);
    progress_.step("reading " + options_.in, bytes_of_file(options_.in));
    const io::NpyInput input(options_.in, progress_.advance());
    io::require_writable(options_.in);
    const std::span<const std::byte> in = input.data();
    Done done = planned(input.header());
    const InterruptNote interrupted("nothing was written, `" + options_.in + "` is as it was");
    progress_.step("reserving " + size_text(in.size()));
    io::NpyOutput output(options_.in, input.header().descr, done.shape, input.header().item_bytes);
    const std::span<std::byte> data = output.data();
    run_timed(done, in, data);
    if (options_.verify) {
      progress_.step("verifying");
      verify(done.asked.problem, in.data(), data.data(), threads_);
    }
    progress_.step("writing " + options_.in, data.size());
    output.finish(progress_.advance());
    report(done);
    held.require_unchanged();
    output.commit();
  }

  void on_the_file() {
    progress_.step("mapping " + options_.in, bytes_of_file(options_.in));
    io::NpyUpdate file(options_.in, progress_.advance());
    Done done = planned(file.header());
    if (done.shape != file.header().shape) file.set_shape(done.shape);
    const std::string mixture = "`" + options_.in + "` is permuted in part, and of no use";
    if (!options_.quiet && isatty(STDERR_FILENO) == 1)
      note("`" + options_.in + "` is permuted where it lies: an interruption leaves a mixture");
    const InterruptNote interrupted(mixture);
    {
      const ShownRun shown(progress_, "permuting", done.plan->engine(), file.data().size());
      done.outcome.milliseconds = milliseconds_of([&] { run(done, file.data()); });
    }
    progress_.step("writing " + options_.in);
    file.commit();
    report(done);
  }

 private:
  // Once all is on the disk, and a copy has not yet taken the file's place.
  void report(const Done& done) {
    progress_.end();
    try {
      if (options_.common.json) {
        print_json(options_, done);
      } else if (!options_.quiet) {
        print_line(options_, done, milliseconds_since(start_));
      }
    } catch (const std::exception&) {
      if (!options_.no_backup) throw;  // the copy has not taken the file's place, and will not
      throw Verdict{.exit_status = kNotReported,
                    .line = "`" + options_.in + "` is permuted; the report could not be written"};
    }
  }

  Done planned(const io::NpyHeader& header) {
    Done done;
    done.asked = file_problem_of(options_, header);
    PlanOptions plan_options = options_.common.plan_options(done.asked.problem.element_bytes);
    plan_options.index_choice = options_.index.choice();
    threads_ = plan_options.threads;
    staging_ = staging_options(options_, plan_options);
    progress_.step("planning " + options_.spec);
    done.plan_ms = milliseconds_of([&] { done.plan.emplace(faro::plan(done.asked.problem, plan_options)); });
    done.shape = done.asked.shape_after(done.plan->plan());
    done.outcome.pieces = done.plan->engine() == Engine::cuda ? 1 : 0;
    return done;
  }

  void run(const Done& done, std::span<std::byte> data) const {
    done.plan->run_staged(data.data(), data.data(), data.size(), staging_);
  }

  // Starts with a plain copy of the array. With --json arrays that are moved in a few milliseconds take turns
  // with it, for one run says little.
  void run_timed(Done& done, std::span<const std::byte> in, std::span<std::byte> data) {
    progress_.step("copying " + size_text(in.size()));
    constexpr std::uint64_t kRepeatedBytes = std::uint64_t{64} << 20;
    constexpr double kBudgetMs = 30;
    const std::function<void()> copy = [&] { cpu::copy(in.data(), data.data(), in.size(), threads_); };
    const std::function<void()> permute = [&] { run(done, data); };
    if (!options_.common.json || in.size() > kRepeatedBytes) {
      copy();
      const ShownRun shown(progress_, "permuting", done.plan->engine(), in.size());
      done.outcome.milliseconds = milliseconds_of(permute);
      return;
    }
    progress_.step("permuting " + size_text(in.size()));
    const auto timings = measure_alternating(std::array{permute, copy}, {.budget_ms = kBudgetMs});
    done.outcome.milliseconds = timings[0].median_ms;
    const double copy_ms = timings[1].median_ms;
    copy();
    permute();
    done.outcome.copy_gb_per_s = gb_per_s(in.size(), copy_ms);
    if (done.outcome.copy_gb_per_s > 0) {
      done.outcome.share_of_copy =
          gb_per_s(in.size(), done.outcome.milliseconds) / done.outcome.copy_gb_per_s;
    }
  }

  std::chrono::steady_clock::time_point start_;
  const PermuteOptions& options_;
  Progress& progress_;
  int threads_ = 0;
  cuda::StagingOptions staging_;
};

}  // namespace

void permute_in_place(const PermuteOptions& options) {
  check_options(options);
  Progress progress(options.quiet ? Verbosity::quiet : Verbosity::normal);
  Work work(options, progress);
  if (options.no_backup) {
    work.on_the_file();
  } else {
    work.on_a_copy();
  }
}

}  // namespace faro::cli
