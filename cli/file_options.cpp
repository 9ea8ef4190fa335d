#include "cli/file_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "cli/ordered_input.hpp"
#include "cli/report.hpp"
#include "faro/error.hpp"
#include "io/npy.hpp"

namespace faro::cli {

std::string file_operation(const PermuteOptions& options) { return "permute `" + options.in + "`"; }

namespace {

// What `--raw DTYPE --shape SHAPE` says of a file.
io::NpyHeader raw_header(const PermuteOptions& options) {
  const std::string operation = file_operation(options);
  if (options.shape.empty())
    fail(ErrorCode::value, operation, "--raw without --shape", "--raw DTYPE --shape SHAPE");
  const auto type = io::npy_type_code(options.raw);
  if (!type || type->item_bytes == 0)
    fail(ErrorCode::value, operation, "--raw " + options.raw, "a dtype such as u4, f8, float32 or S32");
  io::NpyHeader header{.descr = "'" + options.raw + "'",
                       .item_bytes = type->item_bytes,
                       .shape = parse_shape(options.shape),
                       .data_offset = skipped_bytes(options),
                       .fortran_order = false};
  constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << 63) - 1;
  std::uint64_t left = kMostBytes / header.item_bytes;
  for (const std::uint64_t extent : header.shape) left = extent == 0 ? left : left / extent;
  if (left == 0) {
    fail(ErrorCode::value, operation, fmt::format("--shape {} of {}", shape_text(header.shape), options.raw),
         "less than 2^63 bytes");
  }
  if (options.in == kStream && !options.skip.empty())
    fail(ErrorCode::unsupported, operation, "--skip with `-`", "a file with --skip, or `-` without it");
  if (options.in == kStream) return header;
  // Behind an array that is not all of the file there may be anything.
  const std::uint64_t bytes = bytes_of_file(options.in);
  const std::uint64_t skipped = header.data_offset;
  if (skipped > bytes || bytes - skipped < header.data_bytes() ||
      (options.skip.empty() && bytes != header.data_bytes())) {
    fail(ErrorCode::file, operation, "a file of " + count_text(bytes, "byte"),
         fmt::format("the {} of {} of {}{}", header.data_bytes(), shape_text(header.shape), options.raw,
                     options.skip.empty() ? "" : " behind " + count_text(skipped, "byte")));
  }
  return header;
}

// "64MiB": what --memory reads as this many bytes.
std::string budget_text(std::uint64_t bytes) {
  constexpr std::array<std::pair<std::string_view, int>, 4> kUnits{
      {{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}}};
  for (const auto& [unit, shift] : kUnits) {
    if (bytes != 0 && bytes % (std::uint64_t{1} << shift) == 0)
      return fmt::format("{}{}", bytes >> shift, unit);
  }
  return std::to_string(bytes);
}

}  // namespace

double checkpoint_seconds(const PermuteOptions& options) {
  constexpr double kMostSeconds = 1e9;
  return parse_measure("--checkpoint", options.checkpoint, kMostSeconds);
}

std::uint64_t memory_budget(const std::string& text) {
  if (!text.empty()) {
    const std::uint64_t bytes = parse_size("--memory", text);
    if (bytes == 0) fail(ErrorCode::value, "read --memory", "0", "memory for some elements");
    return bytes;
  }
  // Two digits, so that a run and the one that resumes it have the same tiles as a rule.
  const std::uint64_t bytes = file::default_memory_bytes();
  const std::uint64_t unit = std::max<std::uint64_t>(std::bit_floor(bytes) / 4, 1);
  return bytes / unit * unit;
}

std::string resumable_text(const PermuteOptions& options, std::uint64_t budget) {
  // As it was typed; the default may be another by then.
  return fmt::format("`{}` is as it was; the same command with --resume{} goes on with what is finished",
                     options.out,
                     options.memory.empty() ? fmt::format(" --memory {}", budget_text(budget)) : "");
}

file::Io io_of(const std::string& text) {
  for (const file::Io io : {file::Io::automatic, file::Io::uring, file::Io::threads, file::Io::buffered}) {
    if (text == file::name(io)) return io;
  }
  fail(ErrorCode::value, "read --io", text, "auto, uring, threads or buffered");
}

io::NpyHeader header_of_input(const PermuteOptions& options) {
  return options.raw.empty() ? io::read_npy_header(options.in) : raw_header(options);
}

void require_whole(const std::string& path) {
  if (!file::is_permuted_in_part(path)) return;
  fail(ErrorCode::file, "read `" + path + "`", "a file that an interrupted run left permuted in part",
       "a whole one", "`faro recover " + path + "` finishes that run, or takes it back with --undo");
}

void add_file_options(CLI::App& command, PermuteOptions& options) {
  add_text(command, "--memory", options.memory, "SIZE",
           "Memory that may be used, such as 16GiB; larger arrays are permuted piece by piece from "
           "file to file. The "
           "default is 60% of the free memory");
  add_journal_options(command, options);
  add_text(command, "--io", options.io, "WAY",
           "For larger files, how they are read and written: auto, uring, threads (both with "
           "O_DIRECT) or buffered");
  add_raw_options(command, options);
}

void add_journal_options(CLI::App& command, PermuteOptions& options) {
  command.add_flag("--resume", options.resume,
                   "For larger files: go on where the same command was interrupted");
  add_text(command, "--checkpoint", options.checkpoint, "SECONDS",
           "For larger files: every so many seconds, such as 0.5, record what is finished, for --resume; the "
           "default is 5");
}

void add_raw_options(CLI::App& command, PermuteOptions& options) {
  add_text(command, "--raw", options.raw, "DTYPE",
           "Read and write files without a header, whose items have this dtype, such as f4; needs --shape");
  add_text(command, "--shape", options.shape, "SHAPE",
           "With --raw or --element-bits: the shape of the input, such as 2^20x64");
  add_text(
      command, "--skip", options.skip, "BYTES",
      "With --raw: so many bytes are before the array in the input, such as 512; what is behind it is left");
}

std::uint64_t skipped_bytes(const PermuteOptions& options) {
  return options.skip.empty() ? 0 : parse_number("--skip", options.skip, 0, std::uint64_t{1} << 62);
}

void check_file_options(const PermuteOptions& options) {
  static_cast<void>(io_of(options.io));
  if (!options.memory.empty()) static_cast<void>(memory_budget(options.memory));
  if (!options.checkpoint.empty()) static_cast<void>(checkpoint_seconds(options));
  if (options.in_place && (options.resume || !options.checkpoint.empty())) {
    fail(ErrorCode::unsupported, file_operation(options), "--resume or --checkpoint with --in-place",
         "neither", "`faro recover` goes on where a run in place was interrupted");
  }
  const bool has_shape = !options.shape.empty() && options.bits.element.empty();
  if (options.raw.empty() && (has_shape || !options.skip.empty()))
    fail(ErrorCode::value, file_operation(options),
         (has_shape ? "--shape" : "--skip") + std::string(" without --raw"), "--raw DTYPE --shape SHAPE");
}

}  // namespace faro::cli
