#include "cli/permute_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <variant>

#include "cli/file_options.hpp"
#include "cli/file_problem.hpp"
#include "cli/file_report.hpp"
#include "cli/ordered_input.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "engines/cpu.hpp"
#include "faro/file.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "file/disk.hpp"
#include "file/fortran_order.hpp"
#include "file/sweep.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"
#include "io/npy_update.hpp"
#include "io/output_file.hpp"
#include "io/transfers.hpp"
#include "plan/form_to_run.hpp"

namespace faro::cli {
namespace {

// Why only memory will do; empty where files will.
std::string needs_memory(const PermuteOptions& options) {
  if (!options.map.empty()) return "--map";
  if (!options.plan_cache.empty()) return "--plan-cache";
  return "";
}

// What is swept, and what becomes of it.
struct FileWork {
  std::optional<file::Sweep> sweep;
  bool needs_order = false;         // what is swept is the data in C order
  bool is_turned = false;           // the result comes into its order by one sweep more
  std::optional<Problem> by_index;  // instead: elements are distributed by their places
  std::string spec;                 // canonical
  std::string key;       // of what is put into its order afterwards: spec, and what an index array is
  std::string elements;  // "2^30 elements of 4 bytes"
  std::uint64_t count = 0;
  std::uint64_t width = 0;
  std::uint64_t batch = 1;
  std::vector<std::uint64_t> shape_before;
  std::vector<std::uint64_t> shape;
  io::MemoryOrder order = io::MemoryOrder::c;
};

// What is done to the numbers of the result, of which work has the shape.
std::optional<file::Numbers> result_numbers(const PermuteOptions& options, const FileWork& work,
                                            const std::optional<NumberChange>& change) {
  if (!change) return std::nullopt;
  // What is turned into Fortran order has its numbers changed before that.
  return change->of_result(file_operation(options), work.shape,
                           work.is_turned ? io::MemoryOrder::c : work.order);
}

FileWork work_of(FileRequest& request, const file::Options& file_options,
                 const std::optional<NumberChange>& change) {
  const PermuteOptions& options = request.options;
  const io::NpyHeader& header = request.header;
  FileWork work;
  work.shape_before = header.shape;
  FileProblem asked = request.problem();
  work.order = options.order == "F" ? io::MemoryOrder::fortran : io::MemoryOrder::c;
  bool is_flipped = false;  // as a view of the data as it lies
  if (!options.view && (header.fortran_order || work.order == io::MemoryOrder::fortran)) {
    if (auto flipped = flipped_view(header, asked, work.order)) {
      asked = *std::move(flipped);
      is_flipped = true;
    } else if (work.order == io::MemoryOrder::fortran) {
      auto turned = in_fortran_order(header, asked, Widths::any);
      work.is_turned = !turned;
      if (turned) asked = *std::move(turned);
    }
  }
  work.spec = to_text(asked.problem);
  work.count = element_count(asked.problem);
  work.width = asked.problem.element_bytes;
  work.batch = asked.problem.batch;
  work.elements = asked.elements;
  if (work.is_turned) {
    work.key = fmt::format("{}; {}; {} bytes; batch {}", work.spec, work.elements, work.width, work.batch);
    // The text of an index array is a label, which others have, too.
    if (const auto* const indexed = std::get_if<Indexed>(&asked.problem.permutation))
      work.key += fmt::format("; indices {:016x}", schedule::fingerprint(*indexed));
  }
  // The shape is that of what an index array was recognised as.
  work.shape = asked.shape_after(plan_of_shape(asked.problem, file_options.threads));
  if (asked.problem.view) {
    work.needs_order = header.fortran_order && !is_flipped;
    work.sweep.emplace(*asked.problem.view, asked.problem.element_bytes, file_options,
                       result_numbers(options, work, change));
    return work;
  }
  if (header.fortran_order) {
    const auto from_there = on_fortran_data(header, asked, Widths::any);
    work.needs_order = !from_there;
    if (from_there) asked.problem.permutation = *from_there;
  }
  if (std::holds_alternative<Indexed>(asked.problem.permutation))
    asked.problem.permutation = normal_form(asked.problem.permutation, file_options.threads);
  if (!change && file::is_distributed(asked.problem, file_options)) {
    work.by_index = asked.problem;
    return work;
  }
  work.sweep.emplace(asked.problem, file_options, result_numbers(options, work, change));
  if (const auto& numbers = work.sweep->state().numbers)
    work.key += fmt::format("; {}; added {}", numbers->identity(), change->added);
  return work;
}

// Options of every run over files, but for what each sets of its own.
file::Options options_of(const PermuteOptions& options, std::uint64_t item_bytes, std::uint64_t budget) {
  file::Options made{.memory_bytes = budget,
                     .threads = options.common.plan_options(item_bytes).threads,
                     .engine = options.common.plan_options(item_bytes).engine,
                     .device = options.common.plan_options(item_bytes).device,
                     .io = io_of(options.io),
                     .verify = options.verify,
                     .keep_unfinished = true,
                     .resume = options.resume};
  if (!options.checkpoint.empty()) made.checkpoint_seconds = checkpoint_seconds(options);
  file::choose_requests(options.in_place ? options.in : options.out, made);
  return made;
}

FileTold told_of(const PermuteOptions& options, const FileWork& work, std::uint64_t budget) {
  return {.label = options.label(),
          .spec = work.spec,
          .elements = work.elements,
          .count = work.count,
          .width = work.width,
          .batch = work.batch,
          .shape_before = work.shape_before,
          .shape = work.shape,
          .budget = budget};
}

// The header of a result, in whole blocks of the disk; none of a raw file.
std::vector<std::byte> header_of_result(const PermuteOptions& options, const std::string& descr,
                                        const std::vector<std::uint64_t>& shape, io::MemoryOrder order) {
  if (!options.raw.empty()) return {};
  return io::npy_header_bytes(descr, shape, order, io::kTransferBlock);
}

// What is held in memory by other ways may be in the page cache.
enum class Fits : std::uint8_t { no, yes };

void sweep(FileRequest& request, std::uint64_t budget, const std::optional<NumberChange>& change, Fits fits) {
  const PermuteOptions& options = request.options;
  const io::NpyHeader& header = request.header;
  FileWatch watch(options);
  watch.step("planning " + options.spec);
  file::Options file_options = options_of(options, header.item_bytes, budget);
  if (fits == Fits::yes && file_options.io == file::Io::automatic) file_options.io = file::Io::buffered;
  const FileWork work = work_of(request, file_options, change);
  const std::string& descr = change ? change->descr : header.descr;
  const std::uint64_t item_bytes = change ? bytes_of(change->arithmetic.to) : header.item_bytes;
  const InterruptNote interrupted(resumable_text(options, budget));
  const file::Output out{.path = options.out,
                         .header = header_of_result(options, descr, work.shape, work.order)};
  watch.watch("permuting " + options.in, told_of(options, work, budget), file_options);
  io::NpyHeader as_read = header;
  as_read.fortran_order = work.needs_order;
  // What it refuses is refused before anything is written.
  std::optional<file::Sweep> turn;
  if (work.is_turned && header.data_bytes() != 0)
    turn.emplace(file::into_fortran_order(work.shape, item_bytes), file_options);
  const OrderedInput ordered(options, as_read, file_options);
  if (ordered.is_cancelled()) return;
  const auto permute = [&work](const file::Input& from, const file::Output& to, const file::Options& chosen) {
    return work.by_index ? file::permute_indexed(*work.by_index, from, to, chosen)
                         : file::run(*work.sweep, from, to, chosen);
  };
  if (!turn) {
    permute(ordered.input(), out, file_options);
    return;
  }
  const OrderedInput made(options, ordered.input(), work.key, header.item_count() * item_bytes, permute,
                          file_options);
  if (made.is_cancelled()) return;
  file::run(*turn, made.input(), out, file_options);
}

// Index arrays in files that memory does not hold beside the array, read as they are needed.
void by_index_files(const PermuteOptions& options, const io::NpyHeader& header, const file::IndexFiles& index,
                    std::uint64_t budget) {
  if (options.order == "F") fail_order(options, options.label() + ", larger than the memory for it");
  const FileRecords records = file_records_of(options, header, index.count);
  file::IndexText text{.text = options.spec, .inverse = options.inverse, .batch = records.batch};
  text.parse.direction = options.index.direction(options.spec);
  text.parse.shape = records.shape;
  run_records(options, header,
              {.count = records.count,
               .record_bytes = records.record_bytes,
               .batch = records.batch,
               .elements = records.elements,
               .budget = budget},
              [&](const file::Input& in, const file::Output& out, const file::Options& file_options) {
                if (records.batch == 0 || records.count == 0) {
                  const Problem nothing{.permutation = maps::roll(records.count, 0),
                                        .element_bytes = records.record_bytes,
                                        .batch = records.batch};
                  file::run(file::Sweep(nothing, file_options), in, out, file_options);
                  return;
                }
                file::permute_by_index_text(text, records.record_bytes, in, out, file_options);
              });
}

// A file in Fortran order permuted where it lies: in that order where it may stay so, else into C order.
struct FortranProblem {
  Problem problem;
  io::MemoryOrder order = io::MemoryOrder::c;
};

FortranProblem on_fortran_file(const PermuteOptions& options, const io::NpyHeader& header,
                               const FileProblem& asked, const std::vector<std::uint64_t>& shape) {
  if (shape == header.shape) {
    if (auto problem = within_fortran_data(header, asked))
      return {.problem = *std::move(problem), .order = io::MemoryOrder::fortran};
  }
  auto permutation = on_fortran_data(header, asked, Widths::any);
  if (!permutation) {
    fail(ErrorCode::unsupported, file_operation(options),
         options.label() + " over data in Fortran order, larger than the memory for it",
         "a permutation of one axis, of axes, or an affine map of extents that are powers of two",
         "from one file to another it takes two sweeps; `axes(0 1 ...)` from file to file puts the data into "
         "C "
         "order");
  }
  FortranProblem found{.problem = asked.problem};
  found.problem.permutation = *std::move(permutation);
  return found;
}

// What an index array in files takes beside the arrays that are read and written: its entries, and the file
// that they are read from; two more while some are composed.
std::uint64_t memory_beside(const std::string& spec, const file::IndexFiles& index) {
  const bool is_composed =
      spec.find("compose(") != std::string::npos || spec.find("power(") != std::string::npos;
  const std::uint64_t entry_bytes = index.count > std::uint64_t{1} << 32 ? 8 : 4;
  return (index.count * entry_bytes + index.bytes) * (is_composed ? 2 : 1);
}

// Bytes of the result: a view may repeat elements, and leave gaps.
std::uint64_t bytes_written(const PermuteOptions& options, const io::NpyHeader& header) {
  if (!options.view) return header.data_bytes();
  return out_elements(view_of(options, header)) * header.item_bytes;
}

bool fits_beside(FileRequest& request, const file::IndexFiles& index, std::uint64_t room) {
  if (index.files > 0) return memory_beside(request.options.spec, index) <= room;
  // A text may make one.
  const auto* const indexed = std::get_if<Indexed>(&request.problem().problem.permutation);
  return indexed == nullptr || indexed->count() * (indexed->entries32().empty() ? 8 : 4) <= room;
}

// An affine map of elements that no kernel takes, which sweeps move.
bool needs_any_width(FileRequest& request, const file::IndexFiles& index) {
  const PermuteOptions& options = request.options;
  if (index.files > 0 || options.view || !needs_memory(options).empty()) return false;
  if (std::has_single_bit(request.header.item_bytes) && options.common.element_bytes.empty()) return false;
  const Problem problem = for_kernels(options, request.problem()).problem;
  const auto* const map = std::get_if<Affine>(&problem.permutation);
  return map != nullptr && !std::has_single_bit(problem.element_bytes) && !detail::form_of_any_width(*map);
}

}  // namespace

Plan plan_of_shape(Problem problem, int threads) {
  problem.placement = Placement::out_of_place;
  if (std::holds_alternative<Affine>(problem.permutation)) problem.element_bytes = 1;
  return {problem, cpu::target(threads)};
}

void run_records(const PermuteOptions& options, const io::NpyHeader& header, const RecordRun& run,
                 const RecordMove& move) {
  const InterruptNote interrupted(resumable_text(options, run.budget));
  FileWatch watch(options);
  file::Options file_options = options_of(options, header.item_bytes, run.budget);
  watch.watch("permuting " + options.in,
              {.label = options.label(),
               .spec = options.spec,
               .elements = run.elements,
               .count = run.count,
               .width = run.record_bytes,
               .batch = run.batch,
               .shape_before = header.shape,
               .shape = header.shape,
               .budget = run.budget},
              file_options);
  const OrderedInput ordered(options, header, file_options);
  if (ordered.is_cancelled()) return;
  move(ordered.input(),
       {.path = options.out,
        .header = header_of_result(options, header.descr, header.shape, io::MemoryOrder::c)},
       file_options);
}

bool permute_in_place_by_file(const PermuteOptions& options, const io::NpyHeader& header) {
  const std::uint64_t budget = memory_budget(options.memory);
  if (options.raw.empty() && header.data_bytes() <= budget / 2) return false;
  const std::string reason = options.has_out ? "a second file" : needs_memory(options);
  if (!reason.empty()) {
    if (options.memory.empty() && options.raw.empty()) return false;
    fail(ErrorCode::unsupported, file_operation(options), reason, "one file",
         "with enough --memory for the whole array all options work together");
  }
  FileWatch watch(options);
  watch.step("planning " + options.spec);
  FileWork work;
  FileProblem asked = file_problem_of(options, header, Widths::any);
  work.spec = to_text(asked.problem.permutation);
  work.elements = asked.elements;
  work.count = element_count(asked.problem.permutation);
  work.width = asked.problem.element_bytes;
  work.batch = asked.problem.batch;
  work.shape_before = header.shape;
  file::Options file_options = options_of(options, header.item_bytes, budget);
  work.shape = asked.shape_after(plan_of_shape(asked.problem, file_options.threads));
  io::MemoryOrder order = io::MemoryOrder::c;
  if (header.fortran_order) {
    const FortranProblem found = on_fortran_file(options, header, asked, work.shape);
    asked.problem = found.problem;
    order = found.order;
  }
  file::InPlaceFile in_place{.path = options.in, .offset = header.data_offset};
  if (options.raw.empty()) {
    io::require_writable(options.in);
    const bool keeps_order = header.fortran_order == (order == io::MemoryOrder::fortran);
    if (work.shape != header.shape || !keeps_order)
      in_place.header = io::npy_header_of_file(options.in, work.shape, order);
  }
  const InterruptNote interrupted("`" + options.in + "` is permuted in part: `faro recover " + options.in +
                                  "` finishes it, or takes it back with --undo");
  watch.watch("permuting in place", told_of(options, work, budget), file_options);
  file::permute_in_place(asked.problem, in_place, file_options);
  return true;
}

bool permute_by_file(FileRequest& request) {
  const PermuteOptions& options = request.options;
  const io::NpyHeader& header = request.header;
  const std::uint64_t bytes = header.data_bytes();
  const std::optional<NumberChange> change = options.numbers.change(file_operation(options), header);
  // What is mapped and what is written, which of a view may be more; for data in Fortran order, and for a
  // result in it, once more.
  const std::uint64_t copies = 2U + (header.fortran_order ? 1U : 0U) + (options.order == "F" ? 1U : 0U);
  const std::uint64_t arrays = (copies - 1) * bytes + bytes_written(options, header);
  const std::uint64_t budget = memory_budget(options.memory);
  const file::IndexFiles index = file::index_files(options.spec);
  const bool is_raw = !options.raw.empty();
  const bool fits = arrays <= budget && fits_beside(request, index, budget - arrays);
  if (!is_raw && fits && !change && !needs_any_width(request, index)) return false;
  const std::string reason = needs_memory(options);
  if (!reason.empty()) {
    const bool by_memory = options.memory.empty() && !is_raw;
    if (by_memory && io::fits_in_memory(bytes)) return false;
    fail(ErrorCode::unsupported, file_operation(options),
         fmt::format("{} with {} of {}", reason, is_raw ? "a raw file" : "an array", size_text(bytes)),
         is_raw      ? "a .npy file"
         : by_memory ? "one that fits in the memory that is free, " + size_text(io::available_memory_bytes())
                     : fmt::format("one that --memory {} holds {} times", options.memory, copies),
         "without it the array is permuted from file to file");
  }
  // Index arrays are known better in memory, where there is room for what recognises them.
  constexpr std::uint64_t kIndexShare = 4;
  if (index.bytes <= budget / kIndexShare) {
    sweep(request, budget, change, !is_raw && fits ? Fits::yes : Fits::no);
  } else if (change) {
    fail(ErrorCode::unsupported, file_operation(options),
         options.numbers.first() + " with an index array of " + size_text(index.bytes),
         "one that a quarter of --memory holds",
         "`faro permute 'roll(0)' IN.npy OUT.npy` with the options changes the numbers first");
  } else {
    by_index_files(options, header, index, budget);
  }
  return true;
}

}  // namespace faro::cli
