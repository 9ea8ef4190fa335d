// Files larger than memory, for C.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "capi/file_work.hpp"
#include "capi/status.hpp"
#include "faro/file.hpp"

namespace faro::capi {
namespace {

constexpr const char* kFiles = "permute files";

file::Options options_of(const faro_file_options* given) {
  file::Options options;
  if (given == nullptr) return options;
  require_zeros(given->reserved, "set options of files");
  options.memory_bytes = given->memory_bytes;
  options.threads = given->threads;
  options.io_threads = given->io_threads;
  options.queue_depth = given->queue_depth;
  if (given->io < FARO_IO_AUTO || given->io > FARO_IO_BUFFERED) {
    fail(ErrorCode::value, kFiles, "io " + std::to_string(static_cast<int>(given->io)),
         "FARO_IO_AUTO to FARO_IO_BUFFERED");
  }
  options.io = static_cast<file::Io>(given->io);
  options.verify = given->verify != 0;
  options.keep_unfinished = given->keep_unfinished != 0;
  options.resume = given->resume != 0;
  if (given->checkpoint_seconds != 0) options.checkpoint_seconds = std::max(given->checkpoint_seconds, 0.0);
  tell_progress(options, given->progress, given->context);
  return options;
}

file::Input input_of(const faro_file* in) {
  require_argument(in, kFiles, "in");
  require_argument(in->path, kFiles, "in->path");
  return {.path = in->path, .offset = in->offset};
}

file::Output output_of(const faro_file* out) {
  require_argument(out, kFiles, "out");
  require_argument(out->path, kFiles, "out->path");
  file::Output made{.path = out->path, .header = std::vector<std::byte>(out->offset)};
  if (out->header != nullptr) std::memcpy(made.header.data(), out->header, out->offset);
  return made;
}

Problem problem_of(const faro_map* map, std::uint64_t element_bytes, std::uint64_t batch) {
  require_argument(map, kFiles, "map");
  return {.permutation = map->permutation, .element_bytes = element_bytes, .batch = batch};
}

void tell(const file::Report& report, int* finished) {
  if (finished != nullptr) *finished = report.finished ? 1 : 0;
}

}  // namespace
}  // namespace faro::capi

using faro::capi::guarded;
using faro::capi::input_of;
using faro::capi::output_of;
using faro::capi::problem_of;
using faro::capi::require_argument;

faro_status faro_file_permute(const faro_map* map, uint64_t element_bytes, uint64_t batch,
                              const faro_file* in, const faro_file* out, const faro_file_options* options,
                              int* finished) {
  return guarded([&] {
    const faro::file::Options chosen = faro::capi::options_of(options);
    faro::capi::tell(
        faro::file::run(problem_of(map, element_bytes, batch), input_of(in), output_of(out), chosen),
        finished);
  });
}

faro_status faro_file_permute_by_index(const char* index, uint64_t record_bytes, uint64_t batch,
                                       const faro_file* in, const faro_file* out,
                                       const faro_file_options* options, int* finished) {
  return guarded([&] {
    require_argument(index, faro::capi::kFiles, "index");
    const faro::file::IndexText text{.text = index, .batch = batch};
    faro::capi::tell(faro::file::permute_by_index_text(text, record_bytes, input_of(in), output_of(out),
                                                       faro::capi::options_of(options)),
                     finished);
  });
}

faro_status faro_file_permute_in_place(const faro_map* map, uint64_t element_bytes, uint64_t batch,
                                       const faro_file* file, const faro_file_options* options,
                                       int* finished) {
  return guarded([&] {
    const faro::file::Input in = input_of(file);
    faro::capi::tell(
        faro::file::permute_in_place(problem_of(map, element_bytes, batch),
                                     {.path = in.path, .offset = in.offset}, faro::capi::options_of(options)),
        finished);
  });
}

faro_status faro_file_is_permuted_in_part(const char* path, int* in_part) {
  return guarded([&] {
    require_argument(path, faro::capi::kFiles, "path");
    require_argument(in_part, faro::capi::kFiles, "in_part");
    *in_part = faro::file::is_permuted_in_part(path) ? 1 : 0;
  });
}

faro_status faro_file_recover(const char* path, int undo, const faro_file_options* options, int* finished) {
  return guarded([&] {
    require_argument(path, faro::capi::kFiles, "path");
    const auto recovery = undo != 0 ? faro::file::Recovery::undo : faro::file::Recovery::finish;
    faro::capi::tell(faro::file::recover(path, recovery, faro::capi::options_of(options)), finished);
  });
}

faro_status faro_file_shuffle(uint64_t records, uint64_t record_bytes, uint64_t seed, int inverse,
                              const faro_file* in, const faro_file* out, const faro_file_options* options,
                              int* finished) {
  return guarded([&] {
    const faro::file::Shuffle asked{
        .records = records, .record_bytes = record_bytes, .seed = seed, .inverse = inverse != 0};
    faro::capi::tell(
        faro::file::shuffle(asked, input_of(in), output_of(out), faro::capi::options_of(options)), finished);
  });
}
