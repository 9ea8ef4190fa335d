// The curves of this machine: every kernel on arrays of several sizes, all of one size in turns.
#include <algorithm>
#include <bit>
#include <chrono>
#include <ctime>
#include <functional>
#include <string>

#include "engines/cpu.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/tune_affine.hpp"
#include "engines/cpu/tune_axes.hpp"
#include "faro/measure.hpp"
#include "io/buffer.hpp"

namespace faro::cpu {
namespace {

using schedule::IndexSchedule;

constexpr std::uint64_t kSeed = 1;
constexpr std::uint32_t kWindow = 1024;
constexpr int kRounds = 3;       // of a size: a busy moment spoils one of them
constexpr int kLargeRounds = 2;  // of calls that are long enough to be a round

// Curves of other widths end earlier.
constexpr std::uint64_t kLongestWidth = 4;
constexpr int kLargestBits = 20;
constexpr std::uint64_t kCopyWidth = 16;  // of copies that are measured on larger arrays

// What is measured: widths, chunks and runs that stand for the others.
struct Contest {
  std::vector<std::uint64_t> widths;
  std::vector<int> size_bits;
  std::uint64_t most_bytes;  // of one array
  double budget_ms;          // of one size
};

Contest contest(bool quick) {
  if (quick) {
    return {.widths = {4},
            .size_bits = {10, 14, 18, 20, 22},
            .most_bytes = std::uint64_t{64} << 20,
            .budget_ms = 150};
  }
  return {.widths = {1, 4, 8, 16},
          .size_bits = {10, 14, 18, 20, 22, 24},
          .most_bytes = std::uint64_t{64} << 20,
          .budget_ms = 80};
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16] = {};
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%d", &parts)};
}

SharedSchedule shared(IndexSchedule schedule) {
  return std::make_shared<const IndexSchedule>(std::move(schedule));
}

// Runs of 2^run_bits elements, each somewhere else.
Indexed shuffled_runs(int bits, int run_bits) {
  const Indexed order = Indexed::random(std::uint64_t{1} << (bits - run_bits), kSeed);
  std::vector<std::uint32_t> entries(std::size_t{1} << bits);
  const std::uint32_t mask = (std::uint32_t{1} << run_bits) - 1;
  for (std::uint32_t i = 0; i < entries.size(); ++i)
    entries[i] = order.entries32()[i >> run_bits] << run_bits | (i & mask);
  return {std::move(entries), Direction::scatter};
}

// Every block of kWindow elements shuffled.
Indexed shuffled_windows(int bits) {
  const std::uint64_t block = std::min(std::uint64_t{kWindow}, std::uint64_t{1} << bits);
  const Indexed order = Indexed::random(block, kSeed);
  std::vector<std::uint32_t> entries(std::size_t{1} << bits);
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i] = static_cast<std::uint32_t>(i / block * block) + order.entries32()[i % block];
  return {std::move(entries), Direction::scatter};
}

// A partition whose first level has runs of 2^run_bits elements, longer where the array is too small for it.
schedule::PartitionShape shape_with_runs(int bits, int chunk_bits, int run_bits) {
  schedule::PartitionShape shape{
      .count = std::uint64_t{1} << bits, .chunk_bits = chunk_bits, .level_bits = {}};
  const int rest = std::max(1, bits - chunk_bits);
  const int first = std::min(rest, chunk_bits - run_bits);
  shape.level_bits.push_back(first);
  for (int left = rest - first; left > 0; left -= shape.level_bits.back())
    shape.level_bits.push_back(std::min(left, schedule::kMaxLevelBits));
  return shape;
}

// One kernel of one size: its curve's name, and what runs it; nothing runs for the copy.
struct Contestant {
  IndexCurve curve;
  PassSequence passes;
};

// Arrays of one size, on this machine.
struct Job {
  std::uint64_t count = 0;
  std::uint64_t element_bytes = 4;
  const Target& machine;

  std::uint64_t array_bytes() const { return count * element_bytes; }
  std::vector<CpuPass> passes_of(const IndexSchedule& schedule) const {
    return detail::solve({.count = count,
                          .element_bytes = element_bytes,
                          .way = detail::way_of(schedule.applied),
                          .form = detail::form_of(schedule),
                          .threads = machine.threads,
                          .streaming_bytes = machine.streaming_bytes,
                          .caches = detail::core_caches(machine)});
  }
  // The only pass, or one of several by itself, from the input to the output.
  PassSequence pass_of(const SharedSchedule& schedule, std::size_t number = 0) const {
    CpuPass pass = passes_of(*schedule).at(number);
    pass.source = PassBuffer::input;
    pass.target = PassBuffer::output;
    pass.run.arrays_at_once = 0;
    pass.run.workspace.between_bytes = 0;
    return PassSequence({std::move(pass)}, schedule);
  }
};

std::vector<Contestant> contestants_of(const Job& job, int bits) {
  std::vector<Contestant> made;
  const auto add = [&](IndexKernel kernel, int chunk_bits, int run_bits, PassSequence passes) {
    made.push_back({.curve = {.kernel = kernel,
                              .element_bytes = static_cast<int>(job.element_bytes),
                              .chunk_bits = chunk_bits,
                              .run_bits = run_bits,
                              .curve = {}},
                    .passes = std::move(passes)});
  };
  const int threads = job.machine.threads;
  const Indexed random = Indexed::random(job.count, kSeed);
  const Indexed other = random.inverse();
  const bool is_gather = random.direction() == Direction::gather;
  add(IndexKernel::gather, 0, 0, job.pass_of(shared(schedule::direct_schedule(is_gather ? random : other))));
  add(IndexKernel::scatter, 0, 0, job.pass_of(shared(schedule::direct_schedule(is_gather ? other : random))));
  add(IndexKernel::window, 0, 0,
      job.pass_of(shared(schedule::window_schedule(shuffled_windows(bits), kWindow, threads))));
  for (const int run_bits : {4, 8})
    add(IndexKernel::runs, 0, run_bits,
        job.pass_of(shared(schedule::runs_schedule(shuffled_runs(bits, run_bits)))));
  // Chunks of 64 and 128 KiB, the longer runs with either.
  const int width_bits = static_cast<int>(std::bit_width(job.element_bytes)) - 1;
  const int preferred = std::min(16 - width_bits, schedule::kMaxChunkBits);
  const auto add_level = [&](int chunk_bits, int run_bits, bool with_last) {
    const IndexSchedule there =
        schedule::partition_index_schedule(random, shape_with_runs(bits, chunk_bits, run_bits), threads);
    const IndexSchedule as_scatter = there.applied == Direction::scatter ? there : there.inverse();
    const SharedSchedule forwards = shared(as_scatter);
    const SharedSchedule backwards = shared(as_scatter.inverse());
    const auto levels =
        static_cast<std::size_t>(std::get<schedule::PartitionSchedule>(forwards->what).shape.levels());
    // Backwards the passes are in the opposite order.
    add(IndexKernel::spread, chunk_bits, run_bits, job.pass_of(forwards, 0));
    add(IndexKernel::collect, chunk_bits, run_bits, job.pass_of(backwards, levels));
    if (!with_last) return;
    add(IndexKernel::place, chunk_bits, 0, job.pass_of(forwards, levels));
    add(IndexKernel::pick, chunk_bits, 0, job.pass_of(backwards, 0));
  };
  add_level(preferred, preferred - 6, true);
  add_level(preferred, preferred - 9, false);
  if (preferred < schedule::kMaxChunkBits) add_level(preferred + 1, preferred + 1 - 10, true);
  return made;
}

// Copies of more than is measured otherwise: what memory takes.
IndexCurve copy_curve(int threads, bool quick) {
  const int most_bits = quick ? 25 : 28;  // of bytes
  const io::Buffer in(std::uint64_t{1} << most_bits);
  const io::Buffer out(std::uint64_t{1} << most_bits);
  IndexCurve made{.kernel = IndexKernel::copy, .element_bytes = static_cast<int>(kCopyWidth), .curve = {}};
  for (int bits = 14; bits <= most_bits; ++bits) {
    const std::uint64_t bytes = std::uint64_t{1} << bits;
    const std::vector<std::function<void()>> copies{[&] { copy(in.data(), out.data(), bytes, threads); }};
    const std::vector<double> ms = quietest_medians_ms(copies, kRounds, {.budget_ms = 20, .min_samples = 1});
    made.curve.points.push_back({.elements = bytes / kCopyWidth, .microseconds = ms.front() * 1e3});
  }
  return made;
}

// Making a partition's schedule, page faults and all, as it is for a plan that runs once.
IndexCurve schedule_curve(const Contest& sizes, int threads) {
  constexpr int kChunkBits = 14;
  IndexCurve made{.kernel = IndexKernel::schedule,
                  .element_bytes = sizeof(std::uint32_t),
                  .chunk_bits = kChunkBits,
                  .run_bits = 0,
                  .curve = {}};
  for (const int bits : sizes.size_bits) {
    const Indexed random = Indexed::random(std::uint64_t{1} << bits, kSeed);
    const schedule::PartitionShape shape = shape_with_runs(bits, kChunkBits, kChunkBits - 8);
    double least = 0;
    for (int round = 0; round < (bits > kLargestBits ? kLargeRounds : kRounds); ++round) {
      const auto begin = std::chrono::steady_clock::now();
      static_cast<void>(schedule::partition_index_schedule(random, shape, threads));
      const double us =
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
      least = round == 0 ? us : std::min(least, us);
    }
    made.curve.points.push_back({.elements = random.count(), .microseconds = least});
  }
  return made;
}

}  // namespace

IndexCalibration tune(int threads, bool quick) {
  const Target machine = target(threads);
  const Contest sizes = contest(quick);
  IndexCalibration calibration{.source = machine.name + ", `faro tune`, " + today(), .curves = {}};
  for (const std::uint64_t width : sizes.widths) {
    const std::size_t first_curve = calibration.curves.size();
    for (const int bits : sizes.size_bits) {
      const Job job{.count = std::uint64_t{1} << bits, .element_bytes = width, .machine = machine};
      if (job.array_bytes() > sizes.most_bytes || (bits > kLargestBits && width != kLongestWidth)) break;
      std::vector<Contestant> contestants = contestants_of(job, bits);
      contestants.reserve(contestants.size() + 1);  // with the copy, while `runs` refers to them
      std::uint64_t workspace_bytes = 0;
      for (const Contestant& each : contestants)
        workspace_bytes = std::max(workspace_bytes, each.passes.workspace_bytes());
      const io::Buffer in(job.array_bytes());
      const io::Buffer out(job.array_bytes());
      const io::Buffer workspace(workspace_bytes);
      std::vector<std::function<void()>> runs;
      runs.reserve(contestants.size() + 1);
      for (const Contestant& each : contestants)
        runs.emplace_back([&] { each.passes.run(in.data(), out.data(), workspace.data()); });
      if (width != kCopyWidth) {
        runs.emplace_back([&] { copy(in.data(), out.data(), job.array_bytes(), machine.threads); });
        contestants.push_back({.curve = {.kernel = IndexKernel::copy,
                                         .element_bytes = static_cast<int>(width),
                                         .chunk_bits = 0,
                                         .run_bits = 0,
                                         .curve = {}},
                               .passes = {}});
      }
      const bool large = bits > kLargestBits;
      const std::vector<double> times =
          quietest_medians_ms(runs, large ? kLargeRounds : kRounds,
                              {.budget_ms = sizes.budget_ms, .min_samples = large ? 1 : kRounds});
      for (std::size_t i = 0; i < contestants.size(); ++i) {
        if (calibration.curves.size() == first_curve + i) calibration.curves.push_back(contestants[i].curve);
        calibration.curves[first_curve + i].curve.points.push_back(
            {.elements = job.count, .microseconds = times[i] * 1e3});
      }
    }
  }
  calibration.curves.push_back(copy_curve(machine.threads, quick));
  calibration.curves.push_back(schedule_curve(sizes, machine.threads));
  for (IndexCurve& each : tune_affine({.brief = quick}, machine))
    calibration.curves.push_back(std::move(each));
  calibration.axes = tune_axes({.brief = quick}, machine);
  return calibration;
}

}  // namespace faro::cpu
