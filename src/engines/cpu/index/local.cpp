// What is local already: elements that move less than a window, and long runs.
#include <algorithm>

#include "engines/cpu/index/chunk_moves.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/team.hpp"

namespace faro::cpu {
namespace {

using schedule::RunsSchedule;
using schedule::WindowSchedule;

constexpr std::uint64_t kLongRunBytes = 512;  // from here on lines are streamed

// One pass in order; what a window away holds is in the caches.
class WindowProgram final : public ElementProgram {
 public:
  WindowProgram(const CpuPass& pass, SharedSchedule schedule)
      : ElementProgram(pass),
        way_(std::get<detail::CpuWindow>(pass.kernel).way),
        schedule_(std::move(schedule)),
        window_(std::get<WindowSchedule>(schedule_->what)) {}

  void run(const Step& step) const override {
    share_out_by_rank(step.arrays * count(), threads(), [&](Share share) {
      std::byte* const stage = part(step, share.rank);
      for_each_array(share.begin, share.end, count(),
                     [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
                       const std::uint64_t at = array * array_bytes();
                       with_width(element_bytes(), [&](auto width) {
                         if (way_ == Way::forwards) {
                           gather(width, {first, last}, step.in + at, step.out + at, stage);
                         } else {
                           scatter(width, {first, last}, step.in + at, step.out + at);
                         }
                       });
                     });
      finish_streams();
    });
  }

 private:
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
  };

  std::uint64_t other(std::uint64_t i) const { return i + window_.shift[i] - window_.window; }

  template <typename Width>
  void gather(Width width, Range range, const std::byte* in, std::byte* out, std::byte* stage) const {
    const std::uint64_t bytes = width.bytes();
    write_in_order(range.last - range.first, bytes, streamed(), stage, out + range.first * bytes,
                   [&](std::uint64_t first, std::uint64_t last, std::byte* to) {
                     for (std::uint64_t i = first; i < last; ++i, to += bytes)
                       width.move(in + other(range.first + i) * bytes, to);
                   });
  }

  template <typename Width>
  void scatter(Width width, Range range, const std::byte* in, std::byte* out) const {
    const std::uint64_t bytes = width.bytes();
    for (std::uint64_t i = range.first; i < range.last; ++i)
      width.move(in + i * bytes, out + other(i) * bytes);
  }

  Way way_;
  SharedSchedule schedule_;
  const WindowSchedule& window_;
};

class RunsProgram final : public ElementProgram {
 public:
  RunsProgram(const CpuPass& pass, SharedSchedule schedule)
      : ElementProgram(pass),
        way_(std::get<detail::CpuRuns>(pass.kernel).way),
        schedule_(std::move(schedule)),
        runs_(std::get<RunsSchedule>(schedule_->what)) {}

  void run(const Step& step) const override {
    share_out(step.arrays * count(), threads(), [&](std::uint64_t begin, std::uint64_t end) {
      for_each_array(begin, end, count(), [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
        const std::uint64_t at = array * array_bytes();
        run_part(first, last, step.in + at, step.out + at);
      });
      finish_streams();
    });
  }

 private:
  // Elements [first, last) in the order of the sources, runs cut at both ends.
  void run_part(std::uint64_t first, std::uint64_t last, const std::byte* in, std::byte* out) const {
    constexpr std::size_t kEntriesAhead = 8;
    const bool forwards = way_ == Way::forwards;
    const std::uint64_t width = element_bytes();
    const auto found = std::upper_bound(runs_.source.begin(), runs_.source.end(), first);
    auto r = static_cast<std::size_t>(found - runs_.source.begin()) - 1;
    for (; first < last; ++r) {
      const std::uint64_t end = std::min(last, runs_.source[r + 1]);
      const std::uint64_t target = runs_.target[r] + (first - runs_.source[r]);
      if (r + kEntriesAhead < runs_.target.size())
        __builtin_prefetch((forwards ? out : in) + runs_.target[r + kEntriesAhead] * width);
      const std::byte* const from = in + (forwards ? first : target) * width;
      std::byte* const to = out + (forwards ? target : first) * width;
      const std::uint64_t bytes = (end - first) * width;
      copy_bytes(from, to, bytes, streamed() && bytes >= kLongRunBytes);
      first = end;
    }
  }

  Way way_;
  SharedSchedule schedule_;
  const RunsSchedule& runs_;
};

}  // namespace

Program window_program(const CpuPass& pass, const SharedSchedule& schedule) {
  return std::make_unique<WindowProgram>(pass, schedule);
}

Program runs_program(const CpuPass& pass, const SharedSchedule& schedule) {
  return std::make_unique<RunsProgram>(pass, schedule);
}

}  // namespace faro::cpu
