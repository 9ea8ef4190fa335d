// What is local already: elements that move less than a window, and long runs.
#include <algorithm>

#include "engines/cpu/chunk_moves.hpp"
#include "engines/cpu/index_program.hpp"
#include "engines/cpu/team.hpp"

namespace faro::cpu {
namespace {

using schedule::RunsSchedule;
using schedule::WindowSchedule;

constexpr std::uint64_t kLongRunBytes = 512;  // from here on lines are streamed

// One pass in order; what a window away holds is in the caches.
class WindowProgram final : public IndexProgram {
 public:
  WindowProgram(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule)
      : IndexProgram(job),
        schedule_(std::move(schedule)),
        window_(std::get<WindowSchedule>(schedule_->what)) {}

  std::uint64_t workspace_bytes() const override {
    return stage_bytes() * static_cast<std::uint64_t>(job().threads);
  }

  void run(const std::byte* in, std::byte* out, std::byte* workspace) const override {
    const int team = useful_threads(job().threads, job().total_bytes());
    share_out_by_rank(job().batch * job().count, team, [&](Share share) {
      std::byte* const stage = workspace + share.rank * stage_bytes();
      for_each_array(share.begin, share.end, job().count,
                     [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
                       const std::uint64_t at = array * job().array_bytes();
                       with_width(job().element_bytes, [&](auto width) {
                         if (schedule_->applied == Direction::scatter) {
                           gather(width, {first, last}, in + at, out + at, stage);
                         } else {
                           scatter(width, {first, last}, in + at, out + at);
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

  std::uint64_t stage_bytes() const {
    return faro::detail::whole_pages(faro::detail::stage_bytes(job().element_bytes));
  }

  std::uint64_t other(std::uint64_t i) const { return i + window_.shift[i] - window_.window; }

  template <typename Width>
  void gather(Width width, Range range, const std::byte* in, std::byte* out, std::byte* stage) const {
    const std::uint64_t bytes = width.bytes();
    write_in_order(range.last - range.first, bytes, job().streamed(), stage, out + range.first * bytes,
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

  std::shared_ptr<const schedule::IndexSchedule> schedule_;
  const WindowSchedule& window_;
};

class RunsProgram final : public IndexProgram {
 public:
  RunsProgram(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule)
      : IndexProgram(job), schedule_(std::move(schedule)), runs_(std::get<RunsSchedule>(schedule_->what)) {}

  void run(const std::byte* in, std::byte* out, std::byte* /*workspace*/) const override {
    const int team = useful_threads(job().threads, job().total_bytes());
    share_out(job().batch * job().count, team, [&](std::uint64_t begin, std::uint64_t end) {
      for_each_array(begin, end, job().count,
                     [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
                       const std::uint64_t at = array * job().array_bytes();
                       run_part(first, last, in + at, out + at);
                     });
      finish_streams();
    });
  }

 private:
  // Elements [first, last) in the order of the sources, runs cut at both ends.
  void run_part(std::uint64_t first, std::uint64_t last, const std::byte* in, std::byte* out) const {
    constexpr std::size_t kEntriesAhead = 8;
    const bool forwards = schedule_->applied == Direction::scatter;
    const std::uint64_t width = job().element_bytes;
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
      copy_bytes(from, to, bytes, job().streamed() && bytes >= kLongRunBytes);
      first = end;
    }
  }

  std::shared_ptr<const schedule::IndexSchedule> schedule_;
  const RunsSchedule& runs_;
};

}  // namespace

Program window_program(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule) {
  return std::make_unique<WindowProgram>(job, std::move(schedule));
}

Program runs_program(const IndexJob& job, std::shared_ptr<const schedule::IndexSchedule> schedule) {
  return std::make_unique<RunsProgram>(job, std::move(schedule));
}

}  // namespace faro::cpu
