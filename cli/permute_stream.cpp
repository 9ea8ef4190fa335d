#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "cli/file_options.hpp"
#include "cli/file_problem.hpp"
#include "cli/file_report.hpp"
#include "cli/permute_ways.hpp"
#include "cli/report.hpp"
#include "engines/cpu.hpp"
#include "faro/file.hpp"
#include "file/fortran_order.hpp"
#include "io/file_system.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"

namespace faro::cli {
namespace {

std::string stream_operation(const PermuteOptions& options) { return "permute `" + options.in + "`"; }

// So many bytes more of a stream; fewer where it ends.
void read_more(int descriptor, std::vector<std::byte>& bytes, std::size_t count) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + count);
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = read(descriptor, bytes.data() + begin + done, count - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(begin + done);
}

// The header that a stream begins with; it is left at its data.
io::NpyHeader header_of_stream(int descriptor) {
  constexpr std::size_t kBeforeLength = 8;
  constexpr std::size_t kMostDictionary = std::size_t{1} << 24;
  std::vector<std::byte> bytes;
  read_more(descriptor, bytes, kBeforeLength);
  const bool is_first = bytes.size() < kBeforeLength || bytes[6] == std::byte{1};
  const std::size_t of_length = is_first ? 2 : 4;
  read_more(descriptor, bytes, of_length);
  std::size_t length = 0;
  for (std::size_t i = bytes.size(); i-- > std::min(bytes.size(), kBeforeLength);)
    length = length << 8 | std::to_integer<std::size_t>(bytes[i]);
  read_more(descriptor, bytes, std::min(length, kMostDictionary));
  return io::parse_npy_stream_header(bytes, "standard input");
}

void require_streamable(const PermuteOptions& options) {
  const std::string option =
      first_given({{"--in-place", options.in_place},
                   {"--resume or --checkpoint", options.resume || !options.checkpoint.empty()},
                   {"--map", !options.map.empty()},
                   {"--plan-cache", !options.plan_cache.empty()},
                   {"--method, --chunk-bits or --levels", options.index.has_choice()},
                   {"--measure", options.common.measure},
                   {"--order F", options.order == "F"},
                   {"--json", options.common.json && options.out == kStream},
                   {"--engine cuda", options.common.plan_options(1).engine == Engine::cuda}});
  if (!option.empty())
    fail(ErrorCode::unsupported, stream_operation(options), option + " with `-`",
         "files with that option, or `-` without it");
  if (options.out == kStream && isatty(STDOUT_FILENO) == 1)
    fail(ErrorCode::value, stream_operation(options), "a terminal as OUT", "a pipe or a file");
}

void require_end(int descriptor, const PermuteOptions& options, const io::NpyHeader& header) {
  std::vector<std::byte> more;
  read_more(descriptor, more, 1);
  if (more.empty()) return;
  const std::string said = options.raw.empty()
                               ? "its header says"
                               : fmt::format("--shape {} of {} says", options.shape, options.raw);
  fail(ErrorCode::file, stream_operation(options), "more data than " + said,
       count_text(header.data_bytes(), "byte"), "what was written is the result of the first so many");
}

}  // namespace

void permute_stream(const PermuteOptions& options) {
  require_streamable(options);
  if (!options.has_out)
    fail(ErrorCode::usage, stream_operation(options), "no OUT", "SPEC IN OUT, of which either may be `-`");
  io::Descriptor file;
  int in = STDIN_FILENO;
  io::NpyHeader header;
  if (options.in != kStream) {
    require_whole(options.in);
    header = header_of_input(options);
    file.reset(open(options.in.c_str(), O_RDONLY | O_CLOEXEC));
    in = file.get();
    if (!file.is_open() || lseek(in, static_cast<off_t>(header.data_offset), SEEK_SET) < 0)
      fail(ErrorCode::file, stream_operation(options), io::error_text(errno), "a readable file");
  } else {
    header = options.raw.empty() ? header_of_stream(in) : header_of_input(options);
  }
  FileProblem asked = file_problem_of(options, header);
  if (header.fortran_order) {
    const auto permutation = on_fortran_data(header, asked);
    if (!permutation) {
      fail(ErrorCode::unsupported, stream_operation(options),
           "data in Fortran order with `-` and " + options.label(), "axes or an affine map of such data",
           "from a file all is read; numpy.ascontiguousarray(data) is in C order");
    }
    asked.result_shape = asked.shape_after(Plan(asked.problem, cpu::target(1)));
    asked.problem.permutation = *permutation;
  }
  FileWatch watch(options);
  const std::uint64_t budget = memory_budget(options.memory);
  file::Options file_options{.memory_bytes = budget,
                             .threads = options.common.plan_options(header.item_bytes).threads,
                             .verify = options.verify};
  const auto shape = asked.shape_after(Plan(asked.problem, cpu::target(file_options.threads)));
  const FileTold told{.label = options.label(),
                      .spec = to_text(asked.problem.permutation),
                      .elements = asked.elements,
                      .count = element_count(asked.problem.permutation),
                      .width = asked.problem.element_bytes,
                      .batch = asked.problem.batch,
                      .shape_before = header.shape,
                      .shape = shape,
                      .budget = budget};
  watch.watch("permuting " + asked.elements, told, file_options);
  const std::vector<std::byte> begin =
      options.raw.empty() ? io::npy_header_bytes(header.descr, shape) : std::vector<std::byte>();
  std::optional<io::OutputFile> output;
  int out = STDOUT_FILENO;
  if (options.out != kStream) {
    if (options.raw.empty()) require_npy_name(stream_operation(options), options.out);
    out = output.emplace(options.out).descriptor();
    output->reserve(begin.size() + total_bytes(asked.problem));
  }
  const auto told_when_done = file_options.done;
  file_options.done = [&](const file::Report& report) {
    if (options.skip.empty()) require_end(in, options, header);
    if (output) output->finish();
    told_when_done(report);
  };
  // What cannot be permuted is reported before the header is out.
  file::require_stream(asked.problem, file_options);
  std::size_t done = 0;
  while (done < begin.size()) {
    const ssize_t written = write(out, begin.data() + done, begin.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      fail(ErrorCode::file, stream_operation(options), io::error_text(errno),
           "an output that takes what is written");
    done += static_cast<std::size_t>(written);
  }
  file::permute_stream(asked.problem, in, out, file_options);
  if (output) output->commit();
}

}  // namespace faro::cli
