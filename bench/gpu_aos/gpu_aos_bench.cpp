// gpu_aos_bench: arrays of structures on a GPU, read and written through registers by faro/device/aos.hpp,
// beside direct access, C2R by shuffles, and a plain copy of the same bytes in the same rounds.
// `gpu_aos_bench --help` lists the options.
//
// Every output is verified on the device before its kernel is timed. Figures are shares of the
// copy's speed: bytes of the structs once read and once written over the time, of sums those of the structs
// once read and of the sums; indices are not counted as bytes.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_aos/kernels.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "io/npy.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;

constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kWordBytes = 4;
constexpr std::uint64_t kStructsOfVector = 4;

constexpr const char* kUsage =
    R"(gpu_aos_bench: arrays of structures on a GPU, read and written through registers and directly

  --bytes SIZE     bytes of each of two arrays, a power of two                 (default 2GiB)
  --rounds COUNT   turns of every way and the copy                             (default 7)
  --out FILE       the tables, in Markdown
  --help
)";

struct Options : PageOptions {
  std::uint64_t bytes = std::uint64_t{2} << 30;
};

Options parse(const CommandLine& line) {
  Options options{{.rounds = 7}};
  options.read(line, {{"--bytes", [&](const Argument& a) { options.bytes = parse_bytes(a, kLeastBytes); }}});
  return options;
}

struct Column {
  Way way;
  const char* title;
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options), in_(options.bytes), out_(options.bytes), index_(options.bytes / kMostWords) {}

  void run() {
    page_.add("# Arrays of structures on a GPU\n\n" + setting_table(make_setting(options_.command)) +
              fmt::format(
                  "\n{} of structs. Every output was verified before it was timed. Medians of {} alternating "
                  "rounds;\nshares of the cudaMemcpy of the same bytes in the same rounds.\n",
                  size_text(options_.bytes), options_.rounds));
    queue_fill(in_.data(), options_.bytes / kWordBytes, {});
    const std::vector<Column> contiguous{{Way::direct, "direct"},
                                         {Way::column_row_column, "C2R"},
                                         {Way::row_column_row, "row-column-row"},
                                         {Way::chosen, "aos.hpp"}};
    std::vector<Column> with_planes = contiguous;
    with_planes.push_back({Way::planes, "to_planes"});
    with_planes.push_back({Way::pairs, "aos.hpp, 2 a thread"});
    with_planes.push_back({Way::quads, "aos.hpp, 4 a thread"});
    table("Load: each thread its struct, then stored as planes", Job::load, with_planes);
    with_planes[contiguous.size()].title = "from_planes";
    table("Store: from planes, each thread its struct", Job::store, with_planes);
    table("Load: each thread the sum of its struct's words", Job::sum, contiguous);
    std::vector<Column> with_vectors = contiguous;
    with_vectors.push_back({Way::direct_vectors, "direct, aligned to 16"});
    with_vectors.push_back({Way::chosen_vectors, "aos.hpp, aligned to 16"});
    table("Load and store: structs to structs, words rotated by one", Job::step, with_vectors);
    queue_index(reinterpret_cast<std::uint32_t*>(index_.data()), options_.bytes / (kMostWords * kWordBytes),
                {});
    table("Gather of 64-byte structs at random, stored in order", Job::gather, with_vectors);
    table("Scatter of 64-byte structs, read in order", Job::scatter, with_vectors);
    if (!options_.out.empty()) io::write_file(options_.out, page_.text());
  }

 private:
  void table(const char* title, Job job, const std::vector<Column>& columns) {
    std::string head = fmt::format("\n## {}\n\n| words | copy, GB/s |", title);
    std::string rule = "|---|---|";
    for (const Column& column : columns) {
      head += fmt::format(" {} |", column.title);
      rule += "---|";
    }
    page_.add(head + "\n" + rule + "\n");
    const bool is_random = job == Job::gather || job == Job::scatter;
    for (int words = is_random ? kMostWords : kFewestWords; words <= kMostWords; ++words)
      row(job, words, columns);
  }

  void row(Job job, int words, const std::vector<Column>& columns) {
    const std::uint64_t struct_bytes = kWordBytes * static_cast<std::uint64_t>(words);
    const std::uint64_t count = options_.bytes / struct_bytes / kStructsOfVector * kStructsOfVector;
    const std::uint64_t bytes = count * struct_bytes;
    std::vector<Call> calls;
    std::vector<bool> is_there;
    for (const Column& column : columns) {
      calls.push_back({.job = job,
                       .way = column.way,
                       .words = words,
                       .count = count,
                       .in = in_.data(),
                       .out = out_.data(),
                       .index = reinterpret_cast<const std::uint32_t*>(index_.data())});
      is_there.push_back(verified(calls.back(), column.title));
    }
    std::vector<double> copying;
    std::vector<std::vector<double>> times(calls.size());
    for (int round = 0; round < options_.rounds; ++round) {
      copying.push_back(
          clock_.milliseconds(1, [&](Stream stream) { cuda::copy(in_.data(), out_.data(), bytes, stream); }));
      for (std::size_t c = 0; c < calls.size(); ++c) {
        if (!is_there[c]) continue;
        times[c].push_back(
            clock_.milliseconds(1, [&](Stream stream) { static_cast<void>(queue(calls[c], stream)); }));
      }
    }
    // A sum's share of the words that a copy reads and writes.
    const double share = job == Job::sum ? (words + 1.0) / (2.0 * words) : 1.0;
    constexpr double percent = 100;
    constexpr double per_ms_to_giga = 1e6;
    const double copy_ms = median(copying);
    std::string line =
        fmt::format("| {} | {:.0f} |", words, 2 * static_cast<double>(bytes) / copy_ms / per_ms_to_giga);
    for (std::size_t c = 0; c < calls.size(); ++c) {
      line += is_there[c] ? fmt::format(" {:.1f}% |", percent * share * copy_ms / median(times[c]))
                          : std::string(" |");
    }
    page_.add(line + "\n");
  }

  // Whether there is such a kernel. A copy of the input takes the place of what another way left.
  bool verified(const Call& call, const char* way) {
    cuda::copy(in_.data(), out_.data(), call.count * kWordBytes * static_cast<std::uint64_t>(call.words), {});
    if (!queue(call, {})) return false;
    const std::uint64_t wrong = wrong_words(call, {});
    if (wrong == 0) return true;
    fail(ErrorCode::verification, "gpu_aos_bench",
         fmt::format("{} wrong words of {} structs of {} words, {}", wrong, call.count, call.words, way),
         "every word in its place");
  }

  Options options_;
  DeviceArray in_;
  DeviceArray out_;
  DeviceArray index_;
  cuda::StreamClock clock_;
  Page page_;
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_bench<gpu::Bench>(count, words, gpu::kUsage, gpu::parse);
}
