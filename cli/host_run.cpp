#include "cli/host_run.hpp"

#include <array>
#include <chrono>
#include <functional>

#include "cli/report.hpp"
#include "engines/cpu.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/measure.hpp"
#include "oracle.hpp"

namespace faro::cli {

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

HostRun::HostRun(const ExecutablePlan& plan, const cuda::StagingOptions& options)
    : plan_(plan), options_(options) {
  if (plan.engine() != Engine::cuda || !plan.map().empty() || plan.plan().way() != nullptr || is_of_view())
    return;
  const auto start = std::chrono::steady_clock::now();
  staged_.emplace(plan.plan(), options);
  setup_ms_ = milliseconds_since(start);
}

void HostRun::operator()(std::span<const std::byte> in, std::span<std::byte> out) const {
  if (staged_) {
    staged_->run(in.data(), out.data());
  } else if (is_of_view() && plan_.engine() == Engine::cuda) {
    run_view_on_device(in, out);
  } else if (is_of_view()) {
    plan_.run(in, out);
  } else {
    plan_.run_staged(in.data(), out.data(), in.size(), options_);
  }
}

// Both arrays travel whole, the output as it is where no index reaches it.
void HostRun::run_view_on_device(std::span<const std::byte> in, std::span<std::byte> out) const {
  const Plan& plan = plan_.plan();
  if (plan.array_bytes() == 0) return;
  const std::uint64_t width = plan.given().element_bytes;
  cuda::DeviceArray from(in.size(), plan.target().device);
  cuda::DeviceArray to(out.size(), plan.target().device);
  from.upload(in.data());
  to.upload(out.data());
  plan_.run(from.data(), in.size() / width, to.data(), out.size() / width);
  to.download(out.data());
}

ShownRun::ShownRun(Progress& progress, const std::string& doing, Engine engine, std::uint64_t bytes) {
  // Smaller ones are done before anything would be shown.
  constexpr std::uint64_t kShownBytes = std::uint64_t{64} << 20;
  const bool is_shown = engine == Engine::cpu && bytes > kShownBytes;
  progress.step(is_shown ? doing : doing + " " + size_text(bytes), is_shown ? bytes : 0);
  if (is_shown) watch_.emplace(bytes, progress.advance());
}

std::uint64_t HostRun::pieces() const {
  if (staged_) return staged_->pieces();
  return plan_.engine() == Engine::cuda ? 1 : 0;
}

Outcome run_once(const HostRun& permute, std::span<const std::byte> in, std::span<std::byte> out) {
  Outcome outcome{.pieces = permute.pieces(), .setup_ms = permute.setup_ms()};
  const auto start = std::chrono::steady_clock::now();
  permute(in, out);
  outcome.milliseconds = milliseconds_since(start);
  return outcome;
}

Outcome run_timed(const HostRun& permute, std::span<const std::byte> in, std::span<std::byte> out,
                  int threads) {
  constexpr std::uint64_t kRepeatedBytes = std::uint64_t{64} << 20;
  constexpr double kBudgetMs = 30;
  if (in.size() > kRepeatedBytes || permute.is_of_view()) return run_once(permute, in, out);
  const std::function<void()> run = [&] { permute(in, out); };
  const std::function<void()> copy = [&] { cpu::copy(in.data(), out.data(), in.size(), threads); };
  Outcome outcome{.pieces = permute.pieces(), .setup_ms = permute.setup_ms()};
  const auto timings = measure_alternating(std::array{run, copy}, {.budget_ms = kBudgetMs});
  outcome.milliseconds = timings[0].median_ms;
  run();  // the last word is the permutation's
  outcome.copy_gb_per_s = gb_per_s(in.size(), timings[1].median_ms);
  if (outcome.copy_gb_per_s > 0) {
    outcome.share_of_copy = gb_per_s(in.size(), outcome.milliseconds) / outcome.copy_gb_per_s;
  }
  return outcome;
}

void verify(const Problem& problem, const std::byte* in, const std::byte* out, int threads,
            const std::string& plan_file) {
  const auto mismatch = find_mismatch(problem, in, out, threads);
  if (!mismatch) return;
  fail(ErrorCode::verification, "verify " + to_text(problem), to_text(*mismatch), "the oracle's result",
       plan_file.empty() ? "no result was written; this is a bug in faro, please report it with the command"
                         : "no result was written; the plan in `" + plan_file +
                               "` is not this permutation's: delete it to have it made anew");
}

}  // namespace faro::cli
