// Packed elements in files, whole in memory or, of large matrices, by panels, whichever takes fewer requests:
//
//     of columns     a piece of every row, read row by row; written in one piece
//     of rows        read in one piece; a piece of every row of the output, written row by row
//
// Other axes and affine maps go by tiles (file_tiles.hpp).
//
// Every byte is read once and written once. Panels of rows keep to few buffers, whose pages are cleared once,
// also where memory has room for both arrays.
#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <string>

#include "engines/cpu/team.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/file.hpp"
#include "faro/packed.hpp"
#include "faro/threads.hpp"
#include "io/buffer.hpp"
#include "io/output_file.hpp"
#include "packed/bit_axes.hpp"
#include "packed/bit_runs.hpp"
#include "packed/file_tiles.hpp"
#include "packed/input_file.hpp"
#include "rounding.hpp"

namespace faro {
namespace {

using packed::InputFile;

void verify_packed(const PackedProblem& problem, std::span<const std::byte> in,
                   std::span<const std::byte> out, int threads) {
  const std::string mismatch = find_packed_mismatch(problem, in, out, threads);
  if (!mismatch.empty())
    fail(ErrorCode::verification, "permute packed elements", mismatch, "every element in its place");
}

PackedOptions plan_options(const PackedFileOptions& options) {
  return {.threads = options.threads, .engine = options.engine, .device = options.device};
}

// Of arrays of the host, by the engine of the options.
void run_on_engine(const PackedPlan& plan, std::span<const std::byte> in, std::span<std::byte> out,
                   const PackedFileOptions& options) {
  if (options.engine != Engine::cuda || in.empty()) return plan.run(in, out);
  cuda::DeviceArray from(in.size(), options.device);
  cuda::DeviceArray to(out.size(), options.device);
  from.upload(in.data());
  to.upload(out.data());  // pads stay
  plan.run({from.data(), from.size()}, {to.data(), to.size()});
  to.download(out.data());
}

void permute_whole(const PackedPlan& plan, const InputFile& in, io::OutputFile& out,
                   std::uint64_t header_bytes, const PackedFileOptions& options) {
  const io::Buffer from(plan.in_bytes(), io::PageKind::huge, io::PageTouch::as_used);
  const io::Buffer to(plan.out_bytes());
  in.require(in.read_by_all(from.span(), 0, detail::thread_count(options.threads)));
  run_on_engine(plan, from.span(), to.span(), options);
  if (options.verify) verify_packed(plan.problem(), from.span(), to.span(), options.threads);
  out.write(to.span(), header_bytes);
}

// A matrix of two axes, its strides in bits.
struct FileMatrix {
  std::uint64_t rows = 0;  // of the input
  std::uint64_t columns = 0;
  std::uint64_t in_pitch = 0;
  std::uint64_t out_pitch = 0;
};

std::optional<FileMatrix> matrix_of(const PackedProblem& problem) {
  if (problem.element_bits > 4 || packed::kBitsOfByte % problem.element_bits != 0) return std::nullopt;
  const auto axes = packed::bit_axes(problem);
  if (!axes || axes->parts.size() != 1 || problem.out.first_bit != 0) return std::nullopt;
  const detail::AxisMap& part = axes->parts.front();
  const auto element = static_cast<std::int64_t>(problem.element_bits);
  if (part.axes.size() != 2 || part.axes[1].in != element || part.axes[0].out != element ||
      part.axes[0].in < 0) {
    return std::nullopt;
  }
  return FileMatrix{.rows = part.axes[0].extent,
                    .columns = part.axes[1].extent,
                    .in_pitch = static_cast<std::uint64_t>(part.axes[0].in),
                    .out_pitch = static_cast<std::uint64_t>(part.axes[1].out)};
}

class PanelSweep {
 public:
  PanelSweep(const PackedProblem& problem, const FileMatrix& matrix, const PackedFileOptions& options)
      : problem_(problem),
        matrix_(matrix),
        options_(options),
        threads_(detail::thread_count(options.threads)) {}

  /// Whether panels of rows, whole bytes on both sides, take fewer requests than those of columns.
  bool is_by_rows(std::uint64_t memory_bytes) const {
    if ((problem_.in.first_bit | matrix_.in_pitch | matrix_.out_pitch) % packed::kBitsOfByte != 0)
      return false;
    return matrix_.columns * detail::ceil_div(matrix_.rows, panel_rows(memory_bytes)) <
           matrix_.rows * detail::ceil_div(matrix_.columns, panel_columns(memory_bytes));
  }

  /// Whether these write whole pages, and there are several.
  bool has_pages(std::uint64_t memory_bytes) const {
    const std::uint64_t rows = panel_rows(memory_bytes);
    return rows * problem_.element_bits >= kPageBits && rows < matrix_.rows;
  }

  /// Requires: is_by_rows() (unchecked).
  void run_by_rows(const InputFile& in, io::OutputFile& out, std::uint64_t header_bytes,
                   std::uint64_t memory_bytes) const {
    const std::uint64_t tall = std::min(panel_rows(memory_bytes), matrix_.rows);
    std::atomic<bool> read_all = true;
    // Each thread has panels of its own, so that one reads while the file is another's to write.
    cpu::share_out(
        detail::ceil_div(matrix_.rows, tall), panel_threads(), [&](std::uint64_t begin, std::uint64_t end) {
          const io::Buffer from(strip_rows(tall) * row_bytes(), io::PageKind::huge, io::PageTouch::as_used);
          const io::Buffer to((matrix_.columns + 1) * pitch_bytes(tall), io::PageKind::huge,
                              io::PageTouch::as_used);
          for (std::uint64_t i = begin; i < end; ++i) {
            const std::uint64_t rows = std::min(tall, matrix_.rows - i * tall);
            if (!fill_panel(in, i * tall, rows, from.span(), to.span())) read_all = false;
            write_panel(out, header_bytes, i * tall, rows, to.span());
          }
        });
    in.require(read_all);
  }

  /// Columns of a panel: whole bytes of both sides.
  std::uint64_t panel_columns(std::uint64_t memory_bytes) const {
    const std::uint64_t bits = matrix_.rows * problem_.element_bits + matrix_.out_pitch;
    const std::uint64_t columns = memory_bytes / detail::ceil_div(bits, packed::kBitsOfByte);
    return std::max<std::uint64_t>(columns / kColumns * kColumns, kColumns);
  }

  void run(const InputFile& in, io::OutputFile& out, std::uint64_t header_bytes,
           std::uint64_t memory_bytes) const {
    const std::uint64_t wide = panel_columns(memory_bytes);
    for (std::uint64_t first = 0; first < matrix_.columns; first += wide) {
      const std::uint64_t columns = std::min(wide, matrix_.columns - first);
      const PackedPlan plan(panel(columns), plan_options(options_));
      const io::Buffer from(plan.in_bytes());
      const io::Buffer to(plan.out_bytes());
      read_panel(in, first, columns, from.span());
      run_on_engine(plan, from.span(), to.span(), options_);
      if (options_.verify) verify_packed(plan.problem(), from.span(), to.span(), options_.threads);
      out.write(to.span(), header_bytes + first * matrix_.out_pitch / packed::kBitsOfByte);
    }
  }

 private:
  static constexpr std::uint64_t kColumns =
      512;  // a panel's columns are a multiple: lines of the rows' pieces
  static constexpr std::uint64_t kPageBits = std::uint64_t{8} * 4096;

  // Rows of a panel: pages of the output's rows, where there is memory for one.
  std::uint64_t panel_rows(std::uint64_t memory_bytes) const {
    const std::uint64_t memory = memory_bytes / static_cast<std::uint64_t>(panel_threads());
    const std::uint64_t strip = is_by_strips() ? strip_rows(matrix_.rows) * row_bytes() : memory / 2;
    const std::uint64_t held = std::max(memory / 2, memory - std::min(memory, strip));
    const std::uint64_t row = detail::ceil_div(matrix_.columns * problem_.element_bits, packed::kBitsOfByte);
    const std::uint64_t rows = held / row;
    const std::uint64_t page = kPageBits / problem_.element_bits;
    return rows >= page ? rows / page * page : std::max<std::uint64_t>(rows / kColumns * kColumns, kColumns);
  }

  // A GPU takes a panel at once, and no other meanwhile.
  bool is_by_strips() const { return options_.engine != Engine::cuda; }
  int panel_threads() const { return is_by_strips() ? threads_ : 1; }

  // Rows that are read and turned at a time, as long as the second level of the caches has them.
  std::uint64_t strip_rows(std::uint64_t rows) const {
    constexpr std::uint64_t kStripBytes = std::uint64_t{1} << 20;
    if (!is_by_strips()) return rows;
    return std::min(rows, std::max(kStripBytes / row_bytes() / kColumns * kColumns, kColumns));
  }

  std::uint64_t row_bytes() const { return matrix_.in_pitch / packed::kBitsOfByte; }

  // From one column of a panel to the next: so that they do not share sets of the caches.
  std::uint64_t pitch_bytes(std::uint64_t rows) const {
    constexpr std::uint64_t kLine = 64;
    return detail::round_up(piece_bytes(rows), kLine) + kLine;
  }

  // Returns whether all was read.
  bool fill_panel(const InputFile& in, std::uint64_t first, std::uint64_t rows, std::span<std::byte> from,
                  std::span<std::byte> to) const {
    const std::uint64_t pitch = pitch_bytes(rows);
    for (std::uint64_t c = 0; c < matrix_.columns; ++c) to[c * pitch + piece_bytes(rows) - 1] = std::byte{};
    for (std::uint64_t done = 0; done < rows; done += strip_rows(rows)) {
      const std::uint64_t some = std::min(strip_rows(rows), rows - done);
      PackedOptions options = plan_options(options_);
      if (is_by_strips()) options.threads = 1;
      const PackedPlan plan({.permutation = maps::transpose_any(some, matrix_.columns),
                             .element_bits = problem_.element_bits,
                             .in = {.row_elements = matrix_.columns,
                                    .pitch_bits = matrix_.in_pitch,
                                    .order = problem_.in.order},
                             .out = {.row_elements = some,
                                     .pitch_bits = pitch * packed::kBitsOfByte,
                                     .first_bit = done * problem_.element_bits,
                                     .order = problem_.out.order}},
                            options);
      const std::span<std::byte> read = from.first(plan.in_bytes());
      const std::span<std::byte> turned = to.first(plan.out_bytes());
      const std::uint64_t at = problem_.in.first_bit / packed::kBitsOfByte + (first + done) * row_bytes();
      if (!(is_by_strips() ? in.read(read, at) : in.read_by_all(read, at, threads_))) return false;
      run_on_engine(plan, read, turned, options_);
      if (options_.verify) verify_packed(plan.problem(), read, turned, options.threads);
    }
    return true;
  }

  void write_panel(io::OutputFile& out, std::uint64_t header_bytes, std::uint64_t first, std::uint64_t rows,
                   std::span<const std::byte> from) const {
    const std::uint64_t pitch = pitch_bytes(rows);
    for (std::uint64_t c = 0; c < matrix_.columns; ++c) {
      const std::uint64_t bit = c * matrix_.out_pitch + first * problem_.element_bits;
      out.write(from.subspan(c * pitch, piece_bytes(rows)), header_bytes + bit / packed::kBitsOfByte);
    }
  }

  std::uint64_t piece_bytes(std::uint64_t columns) const {
    return packed::bytes_of_bits(columns * problem_.element_bits);
  }

  PackedProblem panel(std::uint64_t columns) const {
    PackedProblem problem{
        .permutation = maps::transpose_any(matrix_.rows, columns),
        .element_bits = problem_.element_bits,
        .in = {.row_elements = columns,
               .pitch_bits = piece_bytes(columns) * packed::kBitsOfByte,
               .order = problem_.in.order},
        .out = {.row_elements = matrix_.rows, .pitch_bits = matrix_.out_pitch, .order = problem_.out.order},
        .pads = PadBits::zero};
    return problem;
  }

  void read_panel(const InputFile& in, std::uint64_t first, std::uint64_t columns,
                  std::span<std::byte> to) const {
    std::atomic<bool> read_all = true;
    const std::uint64_t bytes = piece_bytes(columns);
    cpu::share_out(matrix_.rows, threads_, [&](std::uint64_t begin, std::uint64_t end) {
      std::vector<std::byte> piece(bytes + 1);
      for (std::uint64_t row = begin; row < end; ++row) {
        const std::uint64_t bit =
            problem_.in.first_bit + row * matrix_.in_pitch + first * problem_.element_bits;
        const std::uint64_t in_byte = bit % packed::kBitsOfByte;
        const std::uint64_t bits = columns * problem_.element_bits;
        const std::span<std::byte> read = std::span(piece).first(packed::bytes_of_bits(in_byte + bits));
        if (!in.read(read, bit / packed::kBitsOfByte)) read_all = false;
        packed::load_run(piece.data(), in_byte, bits, problem_.in.order, to.data() + row * bytes);
      }
    });
    in.require(read_all);
  }

  const PackedProblem& problem_;
  FileMatrix matrix_;
  const PackedFileOptions& options_;
  int threads_;
};

std::uint64_t lines_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail(ErrorCode::file, "read `" + path.string() + "`", "no such file", "a line for each row of the .bed");
  std::uint64_t lines = 0;
  char last = '\n';
  std::array<char, 65536> some{};
  while (file.read(some.data(), some.size()), file.gcount() > 0) {
    const auto* const end = some.data() + file.gcount();
    lines += static_cast<std::uint64_t>(std::count(some.data(), const_cast<char*>(end), '\n'));
    last = end[-1];
  }
  return lines + (last == '\n' ? 0 : 1);
}

}  // namespace

void permute_packed_file(const PackedProblem& problem, const PackedFile& in, const std::filesystem::path& out,
                         std::span<const std::byte> header, const PackedFileOptions& options) {
  const PackedPlan plan(problem, plan_options(options));
  const InputFile input(in);
  input.require_bytes(plan.in_bytes());
  io::OutputFile output(out);
  output.reserve(header.size() + plan.out_bytes());
  output.write(header, 0);
  const std::uint64_t memory =
      options.memory_bytes == 0 ? file::default_memory_bytes() : options.memory_bytes;
  const bool fits = plan.in_bytes() + plan.out_bytes() <= memory;
  if (const auto matrix = matrix_of(plan.problem())) {
    const PanelSweep sweep(plan.problem(), *matrix, options);
    constexpr std::uint64_t kPanelBytes = std::uint64_t{256} << 20;
    const std::uint64_t panels = fits ? std::min(memory, kPanelBytes) : memory;
    if (sweep.is_by_rows(panels) && (!fits || sweep.has_pages(panels))) {
      sweep.run_by_rows(input, output, header.size(), panels);
      return output.commit();
    }
    if (!fits) {
      sweep.run(input, output, header.size(), memory);
      return output.commit();
    }
  }
  if (!fits) {
    if (packed::permute_file_by_tiles(plan.problem(), input, output,
                                      {.header_bytes = header.size(),
                                       .memory_bytes = memory,
                                       .threads = detail::thread_count(options.threads),
                                       .verify = options.verify})) {
      return output.commit();
    }
    fail(ErrorCode::unsupported, "permute `" + in.path.string() + "`",
         to_text(problem.permutation) + " of " + std::to_string(plan.in_bytes()) + " bytes with " +
             std::to_string(memory) + " bytes of memory",
         "axes or an affine map of 1, 2 or 4 bits and memory for a tile of it, or for both arrays");
  }
  permute_whole(plan, input, output, header.size(), options);
  output.commit();
}

void transpose_bed(const std::filesystem::path& in, const std::filesystem::path& out, const BedSize& size,
                   const PackedFileOptions& options) {
  constexpr std::uint64_t kHeaderBytes = 3;
  constexpr std::array<std::byte, 2> kMagic{std::byte{0x6c}, std::byte{0x1b}};
  const InputFile file({.path = in});
  std::array<std::byte, kHeaderBytes> header{};
  if (!file.read(header, 0) || header[0] != kMagic[0] || header[1] != kMagic[1] || header[2] > std::byte{1}) {
    fail(ErrorCode::file, file.operation(), "a file that does not begin with 6c 1b and 00 or 01",
         "a PLINK 1 .bed");
  }
  const auto beside = [&](const char* extension) {
    return lines_of(std::filesystem::path(in).replace_extension(extension));
  };
  const std::uint64_t samples = size.samples == 0 ? beside(".fam") : size.samples;
  const std::uint64_t variants = size.variants == 0 ? beside(".bim") : size.variants;
  const bool variant_major = header[2] == std::byte{1};
  header[2] = variant_major ? std::byte{0} : std::byte{1};
  const std::uint64_t rows = variant_major ? variants : samples;
  const std::uint64_t columns = variant_major ? samples : variants;
  const auto layout = [](std::uint64_t row) {
    return PackedLayout{.row_elements = row, .pitch_bits = detail::round_up(2 * row, packed::kBitsOfByte)};
  };
  permute_packed_file({.permutation = maps::transpose_any(rows, columns),
                       .element_bits = 2,
                       .in = layout(columns),
                       .out = layout(rows),
                       .pads = PadBits::zero},
                      {.path = in, .offset = kHeaderBytes}, out, header, options);
}

}  // namespace faro
