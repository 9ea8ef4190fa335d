// gpu_rows_bench: rows taken, put, added and routed on a GPU, as plans move them, beside a cudaMemcpy of what
// is written in the same rounds. `gpu_rows_bench --help` lists the options.
//
// Every result is verified on the device before it is timed. Figures are shares of the copy; the first run of
// every turn is left out, for it pays for what the other left in the caches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_rows/peers.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"
#include "faro/rows.hpp"
#include "gpu/index_oracle.hpp"

namespace faro::bench::gpu {
namespace {

constexpr const char* kUsage =
    R"(gpu_rows_bench: rows on a GPU beside cudaMemcpy

  --parts LIST     of rows,narrow,reused,odd,put,tables,tokens,add,multiply (default all)
  --bytes SIZE     of the result of the parts rows, odd and put      (default 4GiB)
  --rounds NUMBER  of turns of each row of a table                   (default 7)
  --out FILE       the tables, in Markdown
  --help
)";

struct RowsBenchOptions : PageOptions {
  std::vector<std::string> parts = {};  // none: all
  std::uint64_t bytes = std::uint64_t{4} << 30;
};

RowsBenchOptions parse(const CommandLine& line) {
  RowsBenchOptions options{{.rounds = 7}};
  const auto read_parts = [&](const Argument& list) {
    for (const Argument& part : split(list)) options.parts.emplace_back(part.text);
  };
  options.read(line, {{"--parts", read_parts},
                      {"--bytes", [&](const Argument& a) { options.bytes = parse_bytes(a, 1 << 20); }}});
  return options;
}

using Contestant = std::function<void(Stream)>;

// Medians in milliseconds, contestants by turns.
std::vector<double> medians(const std::vector<Contestant>& contestants, std::uint64_t bytes, int rounds) {
  const int calls = static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{1} << 31) / bytes, 1, 50));
  const cuda::StreamClock clock;
  std::vector<std::vector<double>> samples(contestants.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      static_cast<void>(clock.milliseconds(1, contestants[i]));
      samples[i].push_back(clock.milliseconds(calls, contestants[i]) / calls);
    }
  }
  std::vector<double> made;
  made.reserve(samples.size());
  for (const std::vector<double>& each : samples) made.push_back(median(each));
  return made;
}

cuda::DeviceArray uploaded(const std::vector<std::uint32_t>& words) {
  cuda::DeviceArray array(words.size() * sizeof(std::uint32_t));
  array.upload(words.data());
  return array;
}

// Random with repeats.
std::vector<std::uint32_t> random_entries(std::uint64_t count, std::uint64_t rows) {
  std::vector<std::uint32_t> entries(count);
#pragma omp parallel for
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    entries[i] = static_cast<std::uint32_t>((x ^ x >> 31) % rows);
  }
  return entries;
}

// Distinct: an affine map of the largest power of two of rows, the rest as they are.
std::vector<std::uint32_t> distinct_entries(std::uint64_t count) {
  std::vector<std::uint32_t> entries(count);
  std::uint64_t whole = 1;
  while (whole * 2 <= count) whole *= 2;
#pragma omp parallel for
  for (std::uint64_t i = 0; i < count; ++i)
    entries[i] = static_cast<std::uint32_t>(i < whole ? (i * 0x9e3779b1U + 12345) % whole : i);
  return entries;
}

class RowsBench {
 public:
  explicit RowsBench(const RowsBenchOptions& options) : options_(options) {}

  /// Whether everything worked.
  bool run() {
    page_.add("# Rows on a GPU\n\n" + setting_table(make_setting(options_.command)) +
              "\nEvery result was verified before it was timed. Medians of alternating rounds; shares of the "
              "cudaMemcpy of\nwhat is written, in the same rounds.\n");
    part("rows", "Rows taken, random with repeats", [&] {
      for (const std::uint64_t width : {16U, 32U, 64U, 128U, 256U, 512U, 1024U, 4096U, 14336U})
        take(width, options_.bytes);
    });
    part("odd", "Rows of odd widths taken", [&] {
      for (const std::uint64_t width : {12U, 20U, 33U, 100U, 129U, 500U, 1001U, 4097U, 14337U})
        take(width, options_.bytes);
    });
    part("put", "Rows put, each once", [&] {
      for (const std::uint64_t width : {16U, 64U, 256U, 1024U, 4097U, 14336U}) put(width, options_.bytes);
    });
    part("narrow", "Elements of 4 bytes taken, random with repeats", [&] {
      for (const int bits : {24, 26, 28, 29, 30}) take(4, std::uint64_t{4} << bits);
    });
    part("reused", "Elements of 4 bytes taken by a schedule, random with repeats", [&] {
      for (const int bits : {24, 26, 28, 29, 30}) take(4, std::uint64_t{4} << bits, true);
    });
    part("tables", "Blocks of 64 tensors by one table, one launch", [&] {
      for (const std::uint64_t width : {4096U, 32768U}) take_many(width);
    });
    part("tokens", "Tokens to experts and back: 4096 and fewer x top-8 x 7168 bf16, 256 experts", [&] {
      for (const std::uint64_t count : {4096U, 512U, 128U, 32U}) tokens(count);
    });
    part("add", "Numbers of 4 bytes added, random with repeats", [&] {
      add_numbers(std::uint64_t{1} << 26, std::uint64_t{1} << 20);
      add_numbers(std::uint64_t{1} << 26, std::uint64_t{1} << 26);
      add_numbers(std::uint64_t{1} << 29, std::uint64_t{1} << 29);
    });
    part("multiply", "Multiplication modulo a count", [&] {
      for (const std::uint64_t bytes : {8, 4}) {
        for (const std::int64_t factor : {5, 25, 125, 15625, 37221, 65535})
          multiply(bytes, std::uint64_t{1} << 16, factor, 4096);
        for (const std::int64_t factor : {3, 12345677, 178956971})
          multiply(bytes, std::uint64_t{1} << 28, factor, 1);
        multiply(bytes, 100000007, 31337, 2);
      }
    });
    return failures_ == 0;
  }

 private:
  template <typename Body>
  void part(const std::string& name, const std::string& title, const Body& body) {
    const auto& parts = options_.parts;
    if (!parts.empty() && std::find(parts.begin(), parts.end(), name) == parts.end()) return;
    page_.add("\n## " + title +
              "\n\n| row bytes | rows | ms | share of a copy | beside |\n|---|---|---|---|---|\n");
    body();
  }

  template <typename Body>
  void row(const std::string& text, const Body& body) {
    std::fprintf(stderr, "%s\n", text.c_str());
    try {
      page_.add("| " + text + " | " + body() + " |\n");
    } catch (const std::exception& error) {
      ++failures_;
      page_.add(fmt::format("| {} | failed: {} |\n", text, error.what()));
    }
  }

  void take(std::uint64_t width, std::uint64_t bytes, bool reused = false) {
    const std::uint64_t count = bytes / width;
    row(fmt::format("{} | {}", width, count), [&] {
      const cuda::DeviceArray entries = uploaded(random_entries(count, count));
      const cuda::DeviceArray in(count * width);
      const cuda::DeviceArray out(count * width);
      testing::fill_bytes(in.data(), in.size(), 1, {});
      testing::fill_bytes(out.data(), out.size(), 2, {});
      const ExecutableRows plan =
          plan_rows(Take{.from = RowNumbers(entries.data(), count, {.bytes = 4}), .rows = count},
                    {.row_bytes = width}, {.reused = reused});
      const auto* const from = reinterpret_cast<const std::uint32_t*>(entries.data());
      std::vector<Contestant> contestants = run_and_copy(plan,
                                                         {.entries = entries.data(),
                                                          .entry_bytes = 4,
                                                          .forwards = false,
                                                          .count = count,
                                                          .element_bytes = width},
                                                         in, out);
      if (thrust_gather(from, count, width, in.data(), out.data(), {})) {
        contestants.emplace_back(
            [&](Stream stream) { thrust_gather(from, count, width, in.data(), out.data(), stream); });
      }
      return timed(contestants, in.size(),
                   plan.is_scheduled() ? "by a schedule" : plan.plan().passes().back().text);
    });
  }

  void put(std::uint64_t width, std::uint64_t bytes) {
    const std::uint64_t count = bytes / width;
    row(fmt::format("{} | {}", width, count), [&] {
      const cuda::DeviceArray entries = uploaded(distinct_entries(count));
      const cuda::DeviceArray in(count * width);
      const cuda::DeviceArray out(count * width);
      testing::fill_bytes(in.data(), in.size(), 1, {});
      testing::fill_bytes(out.data(), out.size(), 2, {});
      const ExecutableRows plan = plan_rows(
          Put{.to = RowNumbers(entries.data(), count, {.bytes = 4}), .rows = count}, {.row_bytes = width});
      const std::vector<Contestant> contestants = run_and_copy(plan,
                                                               {.entries = entries.data(),
                                                                .entry_bytes = 4,
                                                                .forwards = true,
                                                                .count = count,
                                                                .element_bytes = width},
                                                               in, out);
      return timed(contestants, in.size(), plan.plan().passes().back().text);
    });
  }

  void take_many(std::uint64_t width) {
    constexpr std::uint64_t kTensors = 64;
    constexpr std::uint64_t kBlocks = 2048;
    const std::uint64_t count = 512;
    row(fmt::format("{} | {} x {}", width, kTensors, count), [&] {
      const cuda::DeviceArray entries = uploaded(random_entries(count, kBlocks));
      std::vector<cuda::DeviceArray> in;
      std::vector<cuda::DeviceArray> out;
      std::vector<RowColumn> columns;
      for (std::uint64_t t = 0; t < kTensors; ++t) {
        in.emplace_back(kBlocks * width);
        out.emplace_back(count * width);
        testing::fill_bytes(in.back().data(), in.back().size(), t, {});
        columns.push_back({.in = {in.back().data(), in.back().size()},
                           .out = {out.back().data(), out.back().size()},
                           .row_bytes = width});
      }
      const ExecutableRows plan =
          plan_rows(Take{.from = RowNumbers(entries.data(), count, {.bytes = 4}), .rows = kBlocks},
                    {.row_bytes = width});
      const cuda::DeviceArray whole_in(kTensors * count * width);
      const cuda::DeviceArray whole_out(whole_in.size());
      const std::vector<Contestant> contestants{
          [&](Stream stream) { plan.run(columns, stream); },
          [&](Stream stream) { cuda::copy(whole_in.data(), whole_out.data(), whole_in.size(), stream); }};
      contestants[0]({});
      plan.check();
      for (std::uint64_t t = 0; t < kTensors; ++t) {
        require_right({.entries = entries.data(),
                       .entry_bytes = 4,
                       .forwards = false,
                       .count = count,
                       .element_bytes = width},
                      in[t], out[t]);
      }
      return timed(contestants, whole_in.size(), "one launch");
    });
  }

  void tokens(std::uint64_t count) {
    constexpr std::uint64_t kKeys = 8;
    constexpr std::uint64_t kBuckets = 256;
    constexpr std::uint64_t kRowBytes = 2 * 7168;
    const std::uint64_t items = count * kKeys;
    const std::vector<std::uint32_t> keys = random_entries(items, kBuckets);
    const cuda::DeviceArray device_keys = uploaded(keys);
    const RouteOptions options{.buckets = kBuckets, .keys_per_row = kKeys};
    const ExecutableRoute router = plan_route(RowNumbers(device_keys.data(), items, {.bytes = 4}), options);
    const cuda::DeviceArray places(items * 8);
    const cuda::DeviceArray rows(router.most_places() * 8);
    const cuda::DeviceArray in(count * kRowBytes);
    const cuda::DeviceArray sent(router.most_places() * kRowBytes);
    const cuda::DeviceArray copied(sent.size());
    const cuda::DeviceArray back(in.size());
    const cuda::DeviceArray workspace(router.workspace_bytes() + 16);
    std::vector<std::uint32_t> numbers(in.size() / 4);  // pairs of bf16 between 1 and 2
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = 0x3f803f80U | (static_cast<std::uint32_t>(i * 0x9e3779b1U >> 7) & 0x007f007fU);
    const cuda::DeviceArray tokens_in = uploaded(numbers);
    const std::vector<float> weights(items, 0.125F);
    cuda::DeviceArray device_weights(items * 4);
    device_weights.upload(weights.data());
    const IndexType word{.bytes = 8, .is_signed = true};
    const ExecutableRows take = plan_rows(
        Take{
            .from = RowNumbers(rows.data(), router.most_places(), word), .rows = count, .fill = Fill::zero()},
        {.row_bytes = kRowBytes});
    const ExecutableCombine combining =
        plan_combine({.places = RowNumbers(places.data(), items, word),
                      .rows = router.most_places(),
                      .keys_per_row = kKeys,
                      .weights = {reinterpret_cast<const float*>(device_weights.data()), items},
                      .number = Number::bf16},
                     kRowBytes);
    const auto run_route = [&](Stream stream) {
      router.run({.places = reinterpret_cast<std::int64_t*>(places.data()),
                  .rows = reinterpret_cast<std::int64_t*>(rows.data())},
                 {.data = workspace.data(), .bytes = workspace.size()}, stream);
    };
    const auto run_take = [&](Stream stream) {
      take.run({tokens_in.data(), tokens_in.size()}, {sent.data(), sent.size()}, stream);
    };
    const ExecutableDispatch dispatching = plan_dispatch({.places = RowNumbers(places.data(), items, word),
                                                          .rows = router.most_places(),
                                                          .keys_per_row = kKeys},
                                                         kRowBytes);
    const auto run_dispatch = [&](Stream stream) {
      dispatching.run({tokens_in.data(), tokens_in.size()}, {sent.data(), sent.size()}, stream);
    };
    const auto run_both = [&](Stream stream) {
      router.run_and_send({.places = reinterpret_cast<std::int64_t*>(places.data()),
                           .rows = reinterpret_cast<std::int64_t*>(rows.data())},
                          kRowBytes, {tokens_in.data(), tokens_in.size()}, {sent.data(), sent.size()},
                          stream);
    };
    const auto run_combine = [&](Stream stream) {
      combining.run({sent.data(), sent.size()}, {back.data(), back.size()}, stream);
    };
    run_route({});
    run_take({});
    run_combine({});
    router.check();
    take.check();
    combining.check();
    // The mean of eight equal rows is the row.
    std::vector<std::uint32_t> got(numbers.size());
    back.download(got.data());
    bool right = got == numbers;
    // Dispatched, it is what was taken.
    std::vector<std::uint32_t> taken(sent.size() / 4);
    std::vector<std::uint32_t> dispatched(taken.size());
    sent.download(taken.data());
    cuda::copy(copied.data(), sent.data(), sent.size(), {});
    run_dispatch({});
    dispatching.check();
    sent.download(dispatched.data());
    right = right && taken == dispatched;
    cuda::copy(copied.data(), sent.data(), sent.size(), {});
    run_both({});
    router.check();
    sent.download(dispatched.data());
    right = right && taken == dispatched;
    const std::vector<Contestant> contestants{
        [&](Stream stream) { run_route(stream); },
        [&](Stream stream) { run_take(stream); },
        [&](Stream stream) {
          run_route(stream);
          run_take(stream);
        },
        [&](Stream stream) { run_dispatch(stream); },
        [&](Stream stream) {
          run_route(stream);
          run_dispatch(stream);
        },
        run_both,
        run_combine,
        [&](Stream stream) { cuda::copy(sent.data(), copied.data(), sent.size(), stream); }};
    const std::vector<double> ms = medians(contestants, sent.size(), options_.rounds);
    // What must move at least, at the copy's rate: the larger array once, the smaller one once.
    const double floor_ms =
        ms.back() / 2 * static_cast<double>(sent.size() + in.size()) / static_cast<double>(sent.size());
    constexpr std::array kNames{
        "route",  "take", "route and take", "dispatch", "route and dispatch", "routed and sent at once",
        "combine"};
    if (!right) ++failures_;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      page_.add(fmt::format("| {} | {} | {:.4f} | {:.1f}% of the floor, {:.4f} ms | {} |\n", kNames[i], items,
                            ms[i], i == 0 ? 0 : 100 * floor_ms / ms[i], floor_ms, right ? "right" : "WRONG"));
    }
  }

  void add_numbers(std::uint64_t count, std::uint64_t targets) {
    row(fmt::format("4 | {} to {}", count, targets), [&] {
      const std::vector<std::uint32_t> to = random_entries(count, targets);
      const cuda::DeviceArray entries = uploaded(to);
      std::vector<float> numbers(count);
#pragma omp parallel for
      for (std::uint64_t i = 0; i < count; ++i)
        numbers[i] = static_cast<float>(static_cast<std::int32_t>(to[i] * 0x9e3779b1U + i)) * 0x1p-31F;
      cuda::DeviceArray in(count * 4);
      in.upload(numbers.data());
      cuda::DeviceArray out(targets * 4);
      const std::vector<float> zeros(targets);
      out.upload(zeros.data());
      const auto added = [&](const void* at) {
        return Add{.to = RowNumbers(at, count, {.bytes = 4}), .rows = targets, .number = Number::f32};
      };
      const ExecutableRows plan = plan_rows(added(entries.data()), {.row_bytes = 4});
      const cuda::DeviceArray workspace(plan.plan().workspace_bytes());
      const RowColumn column{.in = {in.data(), in.size()}, .out = {out.data(), out.size()}, .row_bytes = 4};
      const auto run = [&](Stream stream) {
        plan.run(std::span(&column, 1), {.data = workspace.data(), .bytes = workspace.size()}, stream);
      };
      run({});
      plan.check();
      std::vector<float> expected = zeros;
      plan_rows(added(to.data()), {.row_bytes = 4})
          .run(std::as_bytes(std::span(numbers)), std::as_writable_bytes(std::span(expected)));
      const auto require_same = [&](const char* way) {
        std::vector<float> got(targets);
        out.download(got.data());
        if (std::memcmp(got.data(), expected.data(), targets * sizeof(float)) == 0) return;
        fail(ErrorCode::verification, "gpu_rows_bench",
             std::string("other bits than the CPU engine's, ") + way, "the same");
      };
      require_same("sorted");
      const ExecutableRows scheduled = plan_rows(added(entries.data()), {.row_bytes = 4}, {.reused = true});
      const cuda::DeviceArray kept(scheduled.workspace_bytes());
      const auto run_scheduled = [&](Stream stream) {
        scheduled.run(std::span(&column, 1), {.data = kept.data(), .bytes = kept.size()}, stream);
      };
      out.upload(zeros.data());
      run_scheduled({});
      require_same("by a schedule");
      const cuda::DeviceArray copied(count * 4);
      const std::vector<Contestant> contestants{
          run, [&](Stream stream) { cuda::copy(in.data(), copied.data(), in.size(), stream); },
          [&](Stream stream) {
            add_by_atomics(reinterpret_cast<const std::uint32_t*>(entries.data()), count,
                           reinterpret_cast<const float*>(in.data()), reinterpret_cast<float*>(out.data()),
                           stream);
          },
          run_scheduled};
      const std::vector<double> ms = medians(contestants, in.size(), options_.rounds);
      return fmt::format(
          "{:.4f} | {:.1f}% | copy {:.4f} ms, atomics in any order {:.4f} ms, {:.2f} times; by a schedule "
          "{:.4f} ms, "
          "{:.2f} times",
          ms[0], 100 * ms[1] / ms[0], ms[1], ms[2], ms[2] / ms[0], ms[3], ms[2] / ms[3]);
    });
  }

  void multiply(std::uint64_t bytes, std::uint64_t count, std::int64_t factor, std::uint64_t batch) {
    row(fmt::format("{} | {} x mod {}, {} arrays", bytes, factor, count, batch), [&] {
      const Modular map = maps::multiply(count, factor);
      std::vector<std::uint32_t> to(count);
#pragma omp parallel for
      for (std::uint64_t x = 0; x < count; ++x) to[x] = static_cast<std::uint32_t>(map(x));
      const cuda::DeviceArray entries = uploaded(to);
      const cuda::DeviceArray in(count * batch * bytes);
      const cuda::DeviceArray out(in.size());
      testing::fill_bytes(in.data(), in.size(), 1, {});
      testing::fill_bytes(out.data(), out.size(), 2, {});
      const std::vector<Contestant> contestants{
          [&](Stream stream) {
            permute(map, bytes, {in.data(), in.size()}, {out.data(), out.size()}, OnDevice{.stream = stream});
          },
          [&](Stream stream) { cuda::copy(in.data(), out.data(), in.size(), stream); }};
      contestants[0]({});
      require_right({.entries = entries.data(),
                     .entry_bytes = 4,
                     .forwards = true,
                     .count = count,
                     .element_bytes = bytes,
                     .batch = batch},
                    in, out);
      return timed(contestants, in.size(), "one pass");
    });
  }

  static void require_right(const testing::IndexOracle& oracle, const cuda::DeviceArray& in,
                            const cuda::DeviceArray& out) {
    const std::uint64_t wrong = testing::misplaced_bytes(oracle, in.data(), out.data(), {});
    if (wrong > 0)
      fail(ErrorCode::verification, "gpu_rows_bench", fmt::format("{} bytes elsewhere", wrong),
           "every row in its place");
  }

  // The plan, run once and found right, and the copy. All that is given is to outlive them.
  static std::vector<Contestant> run_and_copy(const ExecutableRows& plan, const testing::IndexOracle& oracle,
                                              const cuda::DeviceArray& in, const cuda::DeviceArray& out) {
    const auto workspace = std::make_shared<const cuda::DeviceArray>(plan.workspace_bytes() + 16);
    const RowColumn column{
        .in = {in.data(), in.size()}, .out = {out.data(), out.size()}, .row_bytes = oracle.element_bytes};
    std::vector<Contestant> contestants{
        [&plan, workspace, column](Stream stream) {
          plan.run(std::span(&column, 1), {.data = workspace->data(), .bytes = workspace->size()}, stream);
        },
        [&](Stream stream) { cuda::copy(in.data(), out.data(), in.size(), stream); }};
    contestants[0]({});
    plan.check();
    require_right(oracle, in, out);
    return contestants;
  }

  // Contestants: faro, the copy, and another one.
  std::string timed(const std::vector<Contestant>& contestants, std::uint64_t bytes,
                    const std::string& how) const {
    constexpr double percent = 100;
    const std::vector<double> ms = medians(contestants, bytes, options_.rounds);
    std::string text =
        fmt::format("{:.4f} | {:.1f}% | {}, copy {:.4f} ms", ms[0], percent * ms[1] / ms[0], how, ms[1]);
    if (ms.size() > 2) text += fmt::format(", Thrust's gather {:.1f}%", percent * ms[1] / ms[2]);
    return text;
  }

  RowsBenchOptions options_;
  int failures_ = 0;
  Page page_{options_.out};
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_bench<gpu::RowsBench>(count, words, gpu::kUsage, gpu::parse);
}
