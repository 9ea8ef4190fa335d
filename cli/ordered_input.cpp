#include "cli/ordered_input.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <numeric>
#include <system_error>
#include <vector>

#include "io/output_file.hpp"
#include "permutation/rows.hpp"

namespace faro::cli {
namespace {

// Tells the file from others, and from itself after a change.
std::string stamp_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "none";
  return fmt::format("{:x}-{:x}-{:x}-{:x}", status.st_dev, status.st_ino, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

}  // namespace

OrderedInput::OrderedInput(const PermuteOptions& options, const io::NpyHeader& header,
                           const file::Options& run)
    : input_{.path = options.in, .offset = header.data_offset}, partial_(io::partial_path(options.out)) {
  if (!header.fortran_order || header.data_bytes() == 0) return;
  std::vector<int> order(header.shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  const std::uint64_t units = widening_for(header.item_bytes, kMaxElementBytes);
  const Problem problem{
      .permutation = widened(Permutation(Axes({header.shape.rbegin(), header.shape.rend()}, order)), units),
      .element_bytes = header.item_bytes / units};
  make(
      options, "ordered-" + stamp_of(options.in), header.data_bytes(),
      [&](const file::Input& in, const file::Output& out, const file::Options& chosen) {
        return file::run(file::Sweep(problem, chosen), in, out, chosen);
      },
      run);
}

OrderedInput::OrderedInput(const PermuteOptions& options, const file::Input& in, const std::string& what,
                           std::uint64_t bytes, const Made& sweep, const file::Options& run)
    : input_(in), partial_(io::partial_path(options.out)) {
  const std::string name =
      fmt::format("permuted-{}-{:016x}", stamp_of(options.in), std::hash<std::string>()(what));
  make(options, name, bytes, sweep, run);
}

void OrderedInput::make(const PermuteOptions& options, const std::string& name, std::uint64_t bytes,
                        const Made& sweep, const file::Options& run) {
  const std::filesystem::path path = partial_.string() + "-" + name;
  is_ours_ = true;
  std::error_code failed;
  if (!options.resume || std::filesystem::file_size(path, failed) != bytes || failed) {
    file::Options chosen = run;
    chosen.keep_unfinished = chosen.resume = false;
    chosen.done = nullptr;
    is_cancelled_ = !sweep(input_, {.path = path}, chosen).finished;
  }
  input_ = {.path = path};
}

OrderedInput::~OrderedInput() {
  std::error_code ignored;
  if (is_ours_ && !std::filesystem::exists(partial_, ignored)) std::filesystem::remove(input_.path, ignored);
}

}  // namespace faro::cli
