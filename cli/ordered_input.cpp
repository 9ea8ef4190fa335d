#include "cli/ordered_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <string_view>
#include <system_error>
#include <vector>

#include "faro/error.hpp"
#include "io/file_system.hpp"
#include "io/output_file.hpp"
#include "permutation/rows.hpp"

namespace faro::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOrdered = "ordered";
constexpr std::string_view kPermuted = "permuted";

// Tells the file from others, and from itself after a change.
std::string stamp_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "none";
  return fmt::format("{:x}-{:x}-{:x}-{:x}", status.st_dev, status.st_ino, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Whether what stands behind `KIND-` in a name is a stamp, and of what was permuted a hash. Outputs may have
// names that only begin like that.
bool is_ending_of(std::string_view kind, std::string_view ending) {
  const std::ptrdiff_t words = kind == kOrdered ? 4 : 5;
  if (std::count(ending.begin(), ending.end(), '-') != words - 1) return false;
  for (;;) {
    const std::size_t end = ending.find('-');
    if (!is_hexadecimal(ending.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    ending.remove_prefix(end + 1);
  }
}

bool is_being_written(const fs::path& path) {
  const io::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return file.is_open() && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

// What interrupted runs to the same output left, which no run goes on with any more.
void remove_kept(const fs::path& partial) {
  if (is_being_written(partial)) return;  // its run reads them
  std::error_code failed;
  std::vector<fs::path> kept;
  const fs::path directory = partial.has_parent_path() ? partial.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    for (const std::string_view kind : {kOrdered, kPermuted}) {
      const std::string prefix = fmt::format("{}-{}-", partial.filename().string(), kind);
      if (name.starts_with(prefix) && is_ending_of(kind, std::string_view(name).substr(prefix.size())))
        kept.push_back(entry->path());
    }
  }
  for (const fs::path& path : kept) fs::remove(path, failed);
}

}  // namespace

OrderedInput::OrderedInput(const PermuteOptions& options, const io::NpyHeader& header,
                           const file::Options& run)
    : input_{.path = options.in, .offset = header.data_offset}, partial_(io::partial_path(options.out)) {
  if (!options.resume) remove_kept(partial_);
  if (!header.fortran_order || header.data_bytes() == 0) return;
  std::vector<int> order(header.shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  const std::uint64_t units = widening_for(header.item_bytes, kMaxElementBytes);
  const Problem problem{
      .permutation = widened(Permutation(Axes({header.shape.rbegin(), header.shape.rend()}, order)), units),
      .element_bytes = header.item_bytes / units};
  make(
      options, fmt::format("{}-{}", kOrdered, stamp_of(options.in)), header.data_bytes(),
      [&](const file::Input& in, const file::Output& out, const file::Options& chosen) {
        return file::run(file::Sweep(problem, chosen), in, out, chosen);
      },
      run);
}

OrderedInput::OrderedInput(const PermuteOptions& options, const file::Input& in, const std::string& what,
                           std::uint64_t bytes, const Made& sweep, const file::Options& run)
    : input_(in), partial_(io::partial_path(options.out)) {
  const std::string name =
      fmt::format("{}-{}-{:016x}", kPermuted, stamp_of(options.in), std::hash<std::string>()(what));
  make(options, name, bytes, sweep, run);
}

void OrderedInput::make(const PermuteOptions& options, const std::string& name, std::uint64_t bytes,
                        const Made& sweep, const file::Options& run) {
  const fs::path path = partial_.string() + "-" + name;
  std::error_code failed;
  const bool is_kept = options.resume && fs::file_size(path, failed) == bytes && !failed;
  if (options.resume && !is_kept) {
    // The journal is of a sweep over another such file: that would be refused when this one is written.
    const std::uintmax_t recorded = fs::file_size(partial_.string() + "-journal", failed);
    if (!failed && recorded > 0) {
      fail(ErrorCode::file, "resume `" + options.out + "`", "a journal of another problem, input or version",
           "the command that was interrupted, and its input as it was", "without --resume it is begun anew");
    }
  }
  is_ours_ = true;
  if (!is_kept) {
    file::Options chosen = run;
    chosen.keep_unfinished = chosen.resume = false;
    chosen.done = nullptr;
    is_cancelled_ = !sweep(input_, {.path = path}, chosen).finished;
  }
  input_ = {.path = path};
}

OrderedInput::~OrderedInput() {
  std::error_code ignored;
  if (is_ours_ && !fs::exists(partial_, ignored)) fs::remove(input_.path, ignored);
}

}  // namespace faro::cli
