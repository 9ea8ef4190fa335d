// gpu_swizzle_bench: kernels from swizzles that were found, on a GPU. Convolutions beside a shared-memory
// kernel, a direct one and NPP; products of polynomials with 6, 8 and 10 accumulates.
// `gpu_swizzle_bench --help` lists the options.
//
// Every output is verified on the device before its kernel is timed; a plain copy of the same bytes stands in
// the same rounds.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_swizzle/kernels.hpp"
#include "bench/gpu_swizzle/npp.hpp"
#include "bench/gpu_swizzle/polynomials.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "io/npy.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;

constexpr const char* kUsage =
    R"(gpu_swizzle_bench: kernels from swizzles that were found, on a GPU, beside others and a plain copy

  --size NUMBER      sides of the largest image                                (default 8192)
  --products COUNT   of polynomials                                            (default 262144)
  --rounds COUNT     turns of every kernel and the copy                        (default 11)
  --out FILE         the tables, in Markdown
  --help
)";

struct Options {
  std::uint64_t size = 8192;
  std::uint64_t products = std::uint64_t{1} << 18;
  std::uint64_t rounds = 11;
  std::string out = {};
  std::string command = {};
};

Options parse(const CommandLine& line) {
  constexpr std::uint64_t least_size = 64, most_size = 32768;
  constexpr std::uint64_t most_products = std::uint64_t{1} << 22;
  constexpr std::uint64_t most_rounds = 1000;
  Options options;
  options.command = line.text();
  line.read({{"--size", [&](const Argument& a) { options.size = parse_count(a, least_size, most_size); }},
             {"--products", [&](const Argument& a) { options.products = parse_count(a, 1, most_products); }},
             {"--rounds", [&](const Argument& a) { options.rounds = parse_count(a, 1, most_rounds); }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}});
  return options;
}

/// One way to do a row's work, and the times it took.
struct Timed {
  std::function<void(Stream)> queue;
  std::string note = {};  // behind its share
  std::vector<double> milliseconds = {};

  double at(double part) const {
    std::vector<double> sorted = milliseconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
  }
  double median() const { return at(1.0 / 2); }
};

/// A table's cell: the fastest of some ways, or a word.
struct Cell {
  std::vector<Timed> ways = {};
  std::string word = {};
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  void run() {
    page_.add(
        "# Swizzles that were found, on a GPU\n\n" + setting_table(make_setting(options_.command)) +
        fmt::format(
            "\nEvery output was verified before it was timed. Medians of {} alternating rounds, quarter to\n"
            "three-quarter of them in brackets; shares of the cudaMemcpy of the same bytes in the same "
            "rounds.\n",
            options_.rounds));
    convolutions();
    products();
    if (!options_.out.empty()) io::write_file(options_.out, page_.text());
  }

 private:
  [[noreturn]] static void refuse_wrong(std::uint64_t wrong, const std::string& what) {
    fail(ErrorCode::verification, "gpu_swizzle_bench", fmt::format("{} wrong words, {}", wrong, what),
         "every word right");
  }

  /// All ways in each round, after the copy.
  void measure(Timed& copy, std::vector<Cell>& cells) const {
    const auto once = [&](Timed& way) { way.milliseconds.push_back(clock_.milliseconds(1, way.queue)); };
    for (std::uint64_t round = 0; round < options_.rounds; ++round) {
      once(copy);
      for (Cell& cell : cells)
        for (Timed& way : cell.ways) once(way);
    }
  }

  static std::string cell_text(const Cell& cell, double copy_ms) {
    if (cell.ways.empty()) return " " + cell.word + " |";
    const Timed& best =
        *std::min_element(cell.ways.begin(), cell.ways.end(),
                          [](const Timed& a, const Timed& b) { return a.median() < b.median(); });
    constexpr double percent = 100;
    return fmt::format(" {:.1f}% ({:.0f}–{:.0f}){} |", percent * copy_ms / best.median(),
                       percent * copy_ms / best.at(3.0 / 4), percent * copy_ms / best.at(1.0 / 4), best.note);
  }

  // Convolutions.

  void convolutions() {
    page_.add(
        "\n## Convolution of a float image, without its border\n\n"
        "`found` is the kernel of `conv-2d`'s swizzles, `found, lines` that of `conv-1d`'s with four columns "
        "a lane;\nin square brackets the rows of outputs a warp, the best of five.\n");
    const int size = static_cast<int>(options_.size);
    for (const int taps : {3, 7}) {
      const NppFilter npp(taps);
      page_.add(fmt::format("\n{} x {} weights. NPP: {}.\n\n", taps, taps, npp.reason()));
      page_.add(
          "| image | copy, GB/s | copy, µs | found | found, lines | shared memory | direct | NPP |\n"
          "|---|---|---|---|---|---|---|---|\n");
      const int quarter = size / 4;
      for (const auto& [width, height] : {std::pair{size, size}, std::pair{size - 2, size / 2 + 3},
                                          std::pair{size / 2, size / 2}, std::pair{quarter + 1, quarter - 1}})
        convolution(taps, width, height, npp);
    }
  }

  void convolution(int taps, int width, int height, const NppFilter& npp) {
    constexpr int kPitch = 32;
    const Image image{.width = width, .height = height, .pitch = (width + kPitch - 1) / kPitch * kPitch};
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(image.pitch) * static_cast<std::uint64_t>(height) * sizeof(float);
    const DeviceArray in(bytes), out(bytes);
    queue_image(in.data(), image, {});
    const auto verified = [&](const std::function<void(Stream)>& queue, int ring = 0) {
      queue_poison(out.data(), image, {});
      queue({});
      return wrong_pixels(out.data(), image, taps, ring, {});
    };
    const auto cell = [&](ConvolutionWay way, const std::vector<int>& rows) {
      Cell made;
      for (const int of_warp : rows) {
        const Convolution call{
            .way = way, .taps = taps, .image = image, .rows = of_warp, .in = in.data(), .out = out.data()};
        const auto queue_it = [call](Stream stream) { queue(call, stream); };
        if (const std::uint64_t wrong = verified(queue_it); wrong != 0)
          refuse_wrong(wrong, fmt::format("{} x {} taps of {} x {}, way {}, {} rows", taps, taps, width,
                                          height, static_cast<int>(way), of_warp));
        made.ways.push_back({.queue = queue_it, .note = of_warp == 0 ? "" : fmt::format(" [{}]", of_warp)});
      }
      return made;
    };
    const std::vector<int> of_tiles{8, 16, 32, 64, 128};
    std::vector<int> of_lines;
    for (const int about : {8, 16, 32, 64, 128}) of_lines.push_back((about / taps) * taps + 1);
    std::vector<Cell> cells;
    cells.push_back(cell(ConvolutionWay::tiles, of_tiles));
    cells.push_back(cell(ConvolutionWay::lines, of_lines));
    cells.push_back(cell(ConvolutionWay::shared, {0}));
    cells.push_back(cell(ConvolutionWay::direct, {0}));
    cells.push_back({.word = npp.available() ? "wrong" : "not installed"});
    if (npp.available()) {
      const auto queue_it = [&](Stream stream) { npp.queue(image, in.data(), out.data(), stream); };
      // Its 3 x 3 kernel takes pixels beyond the outermost ones for border, which the image does have there.
      const std::uint64_t wrong = verified(queue_it);
      const std::uint64_t wrong_within = wrong == 0 ? 0 : verified(queue_it, 1);
      if (wrong_within == 0)
        cells.back().ways.push_back(
            {.queue = queue_it, .note = wrong == 0 ? "" : ", all but the outermost outputs"});
      if (wrong_within != 0) cells.back().word = fmt::format("{} pixels differ", wrong_within);
    }
    Timed copy{.queue = [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); }};
    measure(copy, cells);
    std::string line = fmt::format("| {} x {} |", width, height) + copy_text(copy, bytes);
    for (const Cell& made : cells) line += cell_text(made, copy.median());
    page_.add(line + "\n");
  }

  /// Two cells that tell of a copy that reads and writes so many bytes.
  static std::string copy_text(const Timed& copy, std::uint64_t bytes) {
    constexpr double per_ms_to_giga = 1e6, micro = 1e3;
    return fmt::format(" {:.0f} | {:.1f} |", 2 * static_cast<double>(bytes) / copy.median() / per_ms_to_giga,
                       micro * copy.median());
  }

  // Products.

  void products() {
    constexpr std::uint32_t kOfBlock = 8;
    std::vector<ProductKernel> kernels = product_kernels(kOfBlock);
    page_.add(
        fmt::format("\n## Products of polynomials over GF(2), 64 words each\n\n"
                    "{} products, a warp each, {} to a block. The kernels are `poly-64`'s solutions, as they "
                    "are emitted.\n\n",
                    options_.products, kOfBlock));
    std::optional<ProductModule> module;
    try {
      module.emplace(std::move(kernels));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::device) throw;
      return page_.add(std::string("Not measured: ") + error.what() + "\n");
    }
    const std::uint64_t factor_bytes = options_.products * kFactorWords * sizeof(std::uint32_t);
    const DeviceArray a(factor_bytes), b(factor_bytes), c(2 * factor_bytes), copied(2 * factor_bytes);
    queue_factors(a.data(), b.data(), options_.products, {});
    std::vector<Cell> cells;
    const auto count = static_cast<std::uint32_t>(options_.products);
    for (std::size_t k = 0; k < module->kernels().size(); ++k) {
      const auto queue_it = [&, k](Stream stream) {
        module->queue(k, a.data(), b.data(), c.data(), count, stream);
      };
      // A copy of the factors takes the place of what another kernel left.
      cuda::copy(a.data(), c.data(), factor_bytes, {});
      cuda::copy(b.data(), c.data() + factor_bytes, factor_bytes, {});
      queue_it({});
      if (const std::uint64_t wrong = wrong_products(a.data(), b.data(), c.data(), options_.products, {});
          wrong != 0)
        refuse_wrong(wrong, "poly-64, " + module->kernels()[k].solution);
      cells.push_back({.ways = {{.queue = queue_it}}});
    }
    Timed copy{
        .queue = [&](Stream stream) { cuda::copy(c.data(), copied.data(), 2 * factor_bytes, stream); }};
    measure(copy, cells);
    page_.add(
        "| solution | accumulates | shuffles | selects | registers | local bytes | copy, µs | time, µs | "
        "share of copy |\n|---|---|---|---|---|---|---|---|---|\n");
    constexpr double micro = 1e3;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const ProductKernel& kernel = module->kernels()[k];
      page_.add(fmt::format("| {} | {} | {} | {} | {} | {} | {:.1f} | {:.1f} |", kernel.solution,
                            kernel.emitted.live_accumulates, kernel.emitted.shuffles, kernel.emitted.selects,
                            module->registers(k), module->local_bytes(k), micro * copy.median(),
                            micro * cells[k].ways.front().median()) +
                cell_text(cells[k], copy.median()) + "\n");
    }
  }

  Options options_;
  cuda::StreamClock clock_;
  Page page_;
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, gpu::kUsage, [](const CommandLine& line) {
    gpu::Bench(gpu::parse(line)).run();
    return 0;
  });
}
