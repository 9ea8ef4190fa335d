#include "cli/ordered_input.hpp"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <xxhash.h>

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

// The ending of a kept file's name, of one length whatever it is known by.
std::string ending_of(std::string_view kind, const std::string& known_by) {
  return fmt::format("-{}-{:016x}", kind, XXH3_64bits(known_by.data(), known_by.size()));
}

// Whether a name is `partial` with such an ending. Outputs may have names that only begin like that.
bool is_kept_beside(const std::string& partial, std::string_view kind, std::string_view name) {
  const std::string ending = ending_of(kind, "");
  if (name.size() != partial.size() + ending.size() || !name.starts_with(partial)) return false;
  name.remove_prefix(partial.size());
  const std::size_t hash = ending.rfind('-') + 1;
  return name.substr(0, hash) == std::string_view(ending).substr(0, hash) &&
         name.find_first_not_of("0123456789abcdef", hash) == std::string_view::npos;
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
  const std::string beside = partial.filename().string();
  const fs::path directory = partial.has_parent_path() ? partial.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (is_kept_beside(beside, kOrdered, name) || is_kept_beside(beside, kPermuted, name))
      kept.push_back(entry->path());
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
      options, ending_of(kOrdered, stamp_of(options.in)), header.data_bytes(),
      [&](const file::Input& in, const file::Output& out, const file::Options& chosen) {
        return file::run(file::Sweep(problem, chosen), in, out, chosen);
      },
      run);
}

OrderedInput::OrderedInput(const PermuteOptions& options, const file::Input& in, const std::string& what,
                           std::uint64_t bytes, const Made& sweep, const file::Options& run)
    : input_(in), partial_(io::partial_path(options.out)) {
  make(options, ending_of(kPermuted, stamp_of(options.in) + " " + what), bytes, sweep, run);
}

void OrderedInput::make(const PermuteOptions& options, const std::string& ending, std::uint64_t bytes,
                        const Made& sweep, const file::Options& run) {
  const fs::path path = partial_.string() + ending;
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
