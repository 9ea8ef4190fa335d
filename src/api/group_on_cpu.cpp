// Groups on the cores of a CPU: large arrays by all threads one after another, the others each by one
// thread, the heaviest first.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "api/array_checks.hpp"
#include "api/group_state.hpp"
#include "api/planning.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/small_move.hpp"
#include "engines/cpu/team.hpp"
#include "faro/error.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "size_text.hpp"

namespace faro {
namespace {

using detail::GroupPointers;
using detail::GroupProblem;
using detail::GroupWork;
using detail::kRunningGroup;
using detail::of_member;

// What a thread does with an array of a problem.
class CpuWork {
 public:
  CpuWork(const GroupProblem& of, int threads) {
    const PlanOptions options{.engine = Engine::cpu, .threads = threads};
    if (of.arithmetic != nullptr) {
      if (of.problem.view) {
        runs_.emplace<ExecutableArithmetic>(faro::plan(*of.problem.view, *of.arithmetic, options));
      } else {
        runs_.emplace<ExecutableArithmetic>(faro::plan(of.problem, *of.arithmetic, options));
      }
      return;
    }
    in_place_ = of.in_place();
    const detail::Decision decision = detail::decide(of.problem, options);
    if (const auto move = cpu::small_move(of.problem)) {
      runs_ = *move;
    } else {
      runs_.emplace<cpu::Executor>(decision.plan);
    }
  }

  std::uint64_t workspace_bytes() const {
    const auto* const executor = std::get_if<cpu::Executor>(&runs_);
    return executor == nullptr ? 0 : executor->workspace_bytes();
  }

  std::optional<cpu::SmallMove> small_move() const {
    const auto* const move = std::get_if<cpu::SmallMove>(&runs_);
    return move == nullptr ? std::nullopt : std::optional(*move);
  }

  void run(const std::byte* in, std::byte* out, std::byte* workspace) const {
    if (const auto* const move = std::get_if<cpu::SmallMove>(&runs_))
      return cpu::ReadyMove(*move).run(in, out);
    if (const auto* const arithmetic = std::get_if<ExecutableArithmetic>(&runs_))
      return detail::run_arithmetic(*arithmetic, in, out, {});
    const auto& executor = std::get<cpu::Executor>(runs_);
    if (in_place_) return executor.run_in_place(out, workspace);
    executor.run(in, out, workspace);
  }

 private:
  std::variant<std::monostate, cpu::Executor, ExecutableArithmetic, cpu::SmallMove> runs_;
  bool in_place_ = false;
};

// A part that one thread moves, all that it takes in a row with others: thousands of programs would be read
// from wherever they lie.
struct SmallPart {
  GroupWork work;
  std::optional<cpu::SmallMove> move;  // instead of its program
};

// Parts that one thread moves in a row.
struct CpuBatch {
  std::size_t begin = 0;  // of State::small
  std::size_t end = 0;
};

struct CpuState final : Group::State {
  std::vector<std::optional<CpuWork>> by_one;   // of problems, by one thread
  std::vector<std::optional<CpuWork>> by_team;  // or by all
  std::vector<std::size_t> large;               // parts, one after another
  std::vector<SmallPart> small;                 // the heaviest first
  std::vector<CpuBatch> batches;
  int team = 1;                    // of threads that move these
  std::uint64_t thread_bytes = 0;  // of workspace, of each of them

  void plan_work() override {
    by_one.resize(problems.size());
    by_team.resize(problems.size());
    const std::uint64_t all = moved_bytes;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const GroupWork& part = parts[i];
      if (!part.has_problem() || is_large(part, all)) {
        large.push_back(i);
      } else {
        small.push_back({.work = part, .move = {}});
      }
      if (!part.has_problem()) continue;
      std::optional<CpuWork>& work = (is_large(part, all) ? by_team : by_one)[part.problem];
      if (work) continue;
      const bool by_all = is_large(part, all);
      of_member(part.member, [&] { work.emplace(problems[part.problem], by_all ? threads : 1); });
      if (!by_all) thread_bytes = std::max(thread_bytes, work->workspace_bytes());
    }
    std::erase_if(small, [&](const SmallPart& part) { return part.work.moved_bytes == 0; });
    std::erase_if(large, [&](std::size_t i) { return parts[i].moved_bytes == 0; });
    for (SmallPart& part : small) part.move = by_one[part.work.problem]->small_move();
    std::stable_sort(small.begin(), small.end(), [](const SmallPart& a, const SmallPart& b) {
      return a.work.moved_bytes > b.work.moved_bytes;
    });
    make_batches(all);
  }

  // An array that others could not make up for while one thread moves it.
  bool is_large(const GroupWork& part, std::uint64_t all) const {
    constexpr std::uint64_t kLeast = std::uint64_t{512} << 10;
    constexpr std::uint64_t kLarge = std::uint64_t{16} << 20;
    if (threads <= 1 || part.moved_bytes < kLeast) return false;
    return part.moved_bytes >= kLarge || part.moved_bytes > all / (4 * static_cast<std::uint64_t>(threads));
  }

  void make_batches(std::uint64_t all) {
    constexpr std::uint64_t kBatches = 32;  // a thread
    constexpr std::uint64_t kLeastBatch = std::uint64_t{64} << 10;
    std::uint64_t small_bytes = 0;
    for (const SmallPart& part : small) small_bytes += part.work.moved_bytes;
    team = detail::useful_threads(std::max(1, threads), small_bytes / 2,
                                  detail::core_caches(cpu::target(threads)));
    const std::uint64_t wanted =
        std::max(kLeastBatch, all / (kBatches * static_cast<std::uint64_t>(std::max(1, threads))));
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < small.size(); ++i) {
      if (bytes == 0) batches.push_back({i, i});
      bytes += small[i].work.moved_bytes;
      batches.back().end = i + 1;
      if (bytes >= wanted) bytes = 0;
    }
  }

  void run(const GroupPointers& at, bool /*are_kept*/, Workspace /*workspace*/,
           Stream stream) const override {
    detail::check_stream(Engine::cpu, stream);
    for (const std::size_t i : large) run_large(parts[i], at);
    run_small(at);
  }

  void run_large(const GroupWork& part, const GroupPointers& at) const {
    if (part.plan != nullptr) return detail::run_plan(*part.plan, part.in(at), part.out(at), {}, {});
    if (part.rows != nullptr) return detail::run_rows(*part.rows, part.in(at), part.out(at), {});
    by_team[part.problem]->run(part.in(at), part.out(at), nullptr);
  }

  void run_small(const GroupPointers& at) const {
    if (batches.empty()) return;
    const cpu::WatchedWork watched(batches.size());
    std::vector<std::unique_ptr<std::byte[]>> workspaces(static_cast<std::size_t>(team));
    std::exception_ptr failed;
    std::mutex mutex;
    std::atomic<bool> is_over{false};
    const auto work = [&](std::uint64_t number, std::uint64_t rank) {
      if (is_over.load(std::memory_order_relaxed) || watched.is_ended()) return;
      try {
        if (thread_bytes > 0 && workspaces[rank] == nullptr)
          workspaces[rank] = std::make_unique_for_overwrite<std::byte[]>(thread_bytes);
        std::optional<cpu::ReadyMove> ready;
        for (std::size_t i = batches[number].begin; i < batches[number].end; ++i) {
          const auto& [part, move] = small[i];
          if (move) {
            if (!ready || part.problem != small[i - 1].work.problem) ready.emplace(*move);
            ready->run(part.in(at), part.out(at), next_arrays(i + 1, batches[number].end, at));
          } else {
            by_one[part.problem]->run(part.in(at), part.out(at), workspaces[rank].get());
          }
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failed) failed = std::current_exception();
        is_over.store(true, std::memory_order_relaxed);
      }
      watched.did(1);
      if (rank == 0) watched.ask();
    };
    detail::take_turns_at(batches.size(), team, 1, work);
    if (failed) std::rethrow_exception(failed);
    watched.require_unended();
  }

  // Of what is moved after others by the same thread.
  cpu::NextArrays next_arrays(std::size_t i, std::size_t end, const GroupPointers& at) const {
    if (i == end || !small[i].move) return {};
    const GroupWork& part = small[i].work;
    return {.in = part.in(at), .out = part.out(at), .bytes = part.moved_bytes / 2};
  }

  std::uint64_t launches() const override { return large.size() + (batches.empty() ? 0 : 1); }

  std::optional<double> predicted_us() const override {
    const Target target = cpu::target(threads);
    const std::uint64_t bytes = moved_bytes / 2;
    return curves_of(target).predict_us(IndexKernel::copy, 1, std::max<std::uint64_t>(bytes, 1));
  }

  std::string explain_work() const override {
    std::string text;
    if (!large.empty()) {
      text += fmt::format("{:<14}{} by all {} threads, one after another\n", "large",
                          count_text(large.size(), "array"), threads);
    }
    if (!small.empty()) {
      text += fmt::format("{:<14}{} by one thread each, the heaviest first, in {} turns of {} threads\n",
                          "others", count_text(small.size(), "array"), batches.size(), team);
    }
    return text;
  }
};

}  // namespace

std::unique_ptr<Group::State> detail::group_on_cpu(int threads) {
  auto state = std::make_unique<CpuState>();
  state->threads = threads > 0 ? threads : detail::thread_count();
  return state;
}

}  // namespace faro
