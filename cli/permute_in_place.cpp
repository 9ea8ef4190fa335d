// The file that is written is made beside the one that was read, whose name it takes when it is whole:
//
//     read header  ->  plan  ->  reserve  ->  copy the data  ->  permute it there  ->  verify  ->  rename
//
// --no-backup maps the file itself, and has no more than the array to permute it by.
#include "cli/permute_in_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cli/host_run.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "engines/cpu.hpp"
#include "io/npy_update.hpp"
#include "measure.hpp"

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

// `transpose(rows, columns)` says what shape it takes; other words that move the same elements do not.
bool names_a_shape(const std::string& spec) {
  constexpr const char* blanks = " \t\r\n";
  const std::size_t start = spec.find_first_not_of(blanks);
  return start != std::string::npos && spec.compare(start, 9, "transpose") == 0;
}

// A shape of two axes that the permutation transposes, turned round; any other as it is. Errors:
// ErrorCode::value where the permutation names another.
Shape shape_after(const PermuteOptions& options, const Plan& plan, const io::NpyHeader& header) {
  const Problem& problem = plan.problem();
  const Shape& shape = header.shape;
  if (shape.size() != 2 || problem.batch != 1 || problem.element_bytes != header.item_bytes) return shape;
  const bool is_named = names_a_shape(options.spec);
  // A row, a column and no elements at all stay where they are: only the words tell.
  const bool rests = shape[0] <= 1 || shape[1] <= 1;
  if (rests && !is_named) return shape;
  if (normal_form(problem.permutation) == normal_form(maps::transpose_any(shape[0], shape[1])))
    return {shape[1], shape[0]};
  if (is_named) {
    fail(ErrorCode::value, operation_of(options), "shape " + shape_text(shape),
         fmt::format("the {} of {}", options.inverse ? "columns x rows" : "rows x columns", options.spec),
         fmt::format("`transpose({}, {})` is this array's", shape[0], shape[1]));
  }
  return shape;
}

double milliseconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Of one file: what was done, for the report.
struct Done {
  std::optional<ExecutablePlan> plan;
  Problem problem;
  Shape shape;
  double plan_ms = 0;
  Outcome outcome;
};

class Work {
 public:
  Work(const PermuteOptions& options, Progress& progress) : options_(options), progress_(progress) {}

  Done on_a_copy() {
    progress_.step("reading " + options_.in);
    const io::NpyInput input(options_.in);
    io::require_writable(options_.in);
    const std::span<const std::byte> in = input.data();
    Done done = planned(input.header());
    progress_.step("reserving " + size_text(in.size()));
    io::NpyOutput output(options_.in, input.header().descr, done.shape, input.header().item_bytes);
    const std::span<std::byte> data = output.data();
    progress_.step("permuting " + size_text(in.size()));
    run_timed(done, in, data);
    if (options_.verify) {
      progress_.step("verifying");
      verify(done.problem, in.data(), data.data(), threads_);
    }
    progress_.step("writing " + options_.in);
    output.commit();
    return done;
  }

  Done on_the_file() {
    progress_.step("mapping " + options_.in);
    io::NpyUpdate file(options_.in);
    Done done = planned(file.header());
    if (done.shape != file.header().shape) file.set_shape(done.shape);
    progress_.step("permuting " + size_text(file.data().size()));
    done.outcome.milliseconds = milliseconds_of([&] { run(done, file.data()); });
    progress_.step("writing " + options_.in);
    file.commit();
    return done;
  }

 private:
  Done planned(const io::NpyHeader& header) {
    Done done;
    done.problem = problem_of(options_, header);
    PlanOptions plan_options = options_.common.plan_options(done.problem.element_bytes);
    plan_options.index_choice = options_.index.choice();
    threads_ = plan_options.threads;
    staging_ = staging_options(options_, plan_options);
    progress_.step("planning " + options_.spec);
    done.plan_ms = milliseconds_of([&] { done.plan.emplace(faro::plan(done.problem, plan_options)); });
    done.shape = shape_after(options_, done.plan->plan(), header);
    done.outcome.pieces = done.plan->engine() == Engine::cuda ? 1 : 0;
    return done;
  }

  void run(const Done& done, std::span<std::byte> data) const {
    done.plan->run_staged(data.data(), data.data(), data.size(), staging_);
  }

  // Beside a plain copy of the array, which it starts with. Arrays that are moved in a few milliseconds take
  // turns with it, for one run says little.
  void run_timed(Done& done, std::span<const std::byte> in, std::span<std::byte> data) const {
    constexpr std::uint64_t kRepeatedBytes = std::uint64_t{64} << 20;
    constexpr double kBudgetMs = 30;
    const std::function<void()> copy = [&] { cpu::copy(in.data(), data.data(), in.size(), threads_); };
    const std::function<void()> permute = [&] { run(done, data); };
    double copy_ms = 0;
    const bool report = !options_.quiet || options_.common.json;
    if (report && in.size() <= kRepeatedBytes) {
      const auto timings = measure_alternating(std::array{permute, copy}, {.budget_ms = kBudgetMs});
      done.outcome.milliseconds = timings[0].median_ms;
      copy_ms = timings[1].median_ms;
      copy();
      permute();
    } else {
      copy_ms = milliseconds_of(copy);
      done.outcome.milliseconds = milliseconds_of(permute);
    }
    done.outcome.copy_gb_per_s = gb_per_s(in.size(), copy_ms);
    if (done.outcome.copy_gb_per_s > 0) {
      done.outcome.share_of_copy =
          gb_per_s(in.size(), done.outcome.milliseconds) / done.outcome.copy_gb_per_s;
    }
  }

  const PermuteOptions& options_;
  Progress& progress_;
  int threads_ = 0;
  cuda::StagingOptions staging_;
};

void print_line(const PermuteOptions& options, const Done& done, double rate) {
  const Plan& plan = done.plan->plan();
  std::string text = fmt::format("{}; {:.3g} ms", plan_line(options, plan), done.outcome.milliseconds);
  if (done.outcome.pieces > 0) text += fmt::format(" whole through {}", plan.target().name);
  text += fmt::format(", {:.3g} GB/s", rate);
  if (done.outcome.copy_gb_per_s > 0)
    text += fmt::format(", {:.0f}% of copy", 100 * done.outcome.share_of_copy);
  if (options.verify) text += ", verified";
  note(fmt::format("{}; {}: {}", text, name(done.plan->engine()), done.plan->engine_reason()));
}

void print_json(const PermuteOptions& options, const Done& done, double rate) {
  const Plan& plan = done.plan->plan();
  Json json = new_json();
  json["spec"] = to_text(done.problem.permutation);
  json["file"] = options.in;
  json["backup"] = !options.no_backup;
  json["shape"] = done.shape;
  json["elements"] = element_count(done.problem.permutation);
  json["element_bytes"] = done.problem.element_bytes;
  json["batch"] = done.problem.batch;
  json["bytes"] = total_bytes(done.problem);
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

}  // namespace

void permute_in_place(const PermuteOptions& options) {
  check_options(options);
  Done done;
  {
    Progress progress(options.quiet ? Verbosity::quiet : Verbosity::normal);
    Work work(options, progress);
    done = options.no_backup ? work.on_the_file() : work.on_a_copy();
  }
  const double rate = gb_per_s(total_bytes(done.problem), done.outcome.milliseconds);
  if (options.common.json) return print_json(options, done, rate);
  if (!options.quiet) print_line(options, done, rate);
}

}  // namespace faro::cli
