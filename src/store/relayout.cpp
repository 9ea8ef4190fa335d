// From one store to another: what is wanted is worked out, a way is chosen, and it is gone.
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <utility>

#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "faro/store.hpp"
#include "faro/threads.hpp"
#include "io/buffer.hpp"
#include "io/file_system.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"
#include "size_text.hpp"
#include "store/axis_choice.hpp"
#include "store/output_folder.hpp"
#include "store/regions.hpp"
#include "store/scratch.hpp"
#include "store/store_formats.hpp"
#include "store/sweep.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

ArrayFacts facts_of(const StoredArray& array) {
  ArrayFacts facts{.name = array.name, .format = array.format};
  if (array.refusal) {
    facts.refusal = Error(*array.refusal).what();
    return facts;
  }
  facts.shape = array.shape;
  facts.dtype = array.type.name;
  facts.big_endian = array.byte_order == ByteOrder::big;
  facts.bytes = volume(array.shape) * array.type.bytes;
  facts.codec = "none";
  if (array.chunks) {
    facts.chunks = array.chunks->form.chunk;
    facts.shards = array.chunks->shard;
    facts.codec = to_text(array.chunks->form.codecs);
  }
  for (const Json& name : array.notes.dimension_names)
    facts.dimensions.push_back(name.is_string() ? name.get<std::string>() : "");
  facts.attributes = strict_json_text(array.notes.attributes);
  return facts;
}

// All that follows from both paths and the options.
struct Work {
  std::string operation;
  StoredArray in = {};
  Place out = {};
  const Format* format = nullptr;
  AxisChoice axes = {};
  std::optional<ElementMap> map = {};  // instead
  WantedArray wanted = {};
  std::optional<Arithmetic> arithmetic = {};
  std::uint64_t memory_bytes = 0;
  int threads = 1;
};

StoredArray raw_input(const std::string& path, const Options& options) {
  const std::string operation = "read `" + path + "`";
  const ElementType type = element_type_or_fail(options.raw_dtype, operation);
  const ByteOrder order = byte_order_named(options.raw_dtype).value_or(ByteOrder::little);
  StoredArray array = run_array(raw_format(), "", path, dense_run(options.raw_shape, type, 0, order));
  if (const std::uint64_t bytes = file_bytes(path); bytes != end_of(array.run->form)) {
    fail(ErrorCode::file, operation, fmt::format("a file of {} bytes", bytes),
         fmt::format("the {} of its shape and dtype", end_of(array.run->form)));
  }
  return array;
}

const Format& format_of_output(const Place& out, const Options& options, const std::string& operation) {
  if (options.format == "zarr2") return zarr_v2_format();
  if (options.format == "zarr3") return zarr_v3_format();
  if (!options.format.empty())
    fail(ErrorCode::value, operation, "the format " + options.format, "zarr2 or zarr3");
  if (const Format* const format = format_meant(out.path)) return *format;
  fail(ErrorCode::value, operation, "the output `" + out.path.string() + "`",
       "a name that tells its format: .zarr, .npy, .safetensors, .h5, .fits, .raw",
       "--format zarr2 or zarr3 names Zarr's");
}

// Nothing: the format's choice, as where the input has no codecs that the output's format knows.
std::optional<std::vector<Codec>> codecs_wanted(const Work& work, const Options& options) {
  if (!options.codec.empty()) return parse_codecs(options.codec, work.wanted.type.bytes);
  if (!work.in.chunks || !work.in.format.starts_with("Zarr")) return std::nullopt;
  std::vector<Codec> codecs = work.in.chunks->form.codecs;
  const bool is_known = work.in.format == work.format->name() ||
                        std::all_of(codecs.begin(), codecs.end(), [](const Codec& codec) {
                          return codec.kind == CodecKind::zstd || codec.kind == CodecKind::gzip ||
                                 codec.kind == CodecKind::blosc;
                        });
  if (!is_known) return std::nullopt;
  for (Codec& codec : codecs) {
    if (codec.kind == CodecKind::blosc)
      codec.shuffled_bytes = std::min<std::uint64_t>(work.wanted.type.bytes, 255);
  }
  return codecs;
}

void want_chunks(Work& work, const Options& options) {
  WantedArray& wanted = work.wanted;
  const std::size_t rank = wanted.shape.size();
  for (const auto* const extents : {&options.chunks, &options.shards}) {
    const bool fits = extents->empty() || (extents->size() == rank && !is_empty(*extents));
    if (fits) continue;
    fail(ErrorCode::value, work.operation,
         fmt::format("{} ({})", extents == &options.chunks ? "chunks" : "shards", fmt::join(*extents, ", ")),
         fmt::format("{} numbers above 0, one an axis", rank));
  }
  const bool asks_for_chunks = !options.chunks.empty() || !options.shards.empty() || !options.codec.empty();
  if (!work.format->has_chunks()) {
    if (!asks_for_chunks) return;
    fail(ErrorCode::value, work.operation, std::string("chunks, shards or a codec of ") + work.format->name(),
         "them where the output is Zarr");
  }
  wanted.chunks = options.chunks;
  wanted.shards = options.shards;
  const bool keeps_chunks = wanted.chunks.empty() && work.in.chunks && !work.map;
  if (keeps_chunks) wanted.chunks = work.axes.extents(work.in.chunks->form.chunk);
  wanted.codecs = codecs_wanted(work, options);
  require_shape(wanted.chunks, wanted.type.bytes, work.operation);
}

Work work_of(const std::string& in, const std::string& out, const Options& options) {
  Work work{.operation = "lay `" + in + "` out anew"};
  work.in = options.raw_dtype.empty() ? open_array(place_of(in)) : raw_input(in, options);
  work.out = place_of(out);
  while (!work.out.path.has_filename() && work.out.path.has_parent_path())
    work.out.path = work.out.path.parent_path();
  work.format = &format_of_output(work.out, options, work.operation);
  if (io::same_target(place_of(in).path, work.out.path))
    fail(ErrorCode::value, work.operation, "the same store as the output", "two stores");
  WantedArray& wanted = work.wanted;
  wanted.name = work.out.array;
  wanted.notes = work.in.notes;
  wanted.byte_order = work.in.byte_order;
  wanted.fortran_order = options.fortran_order;
  if (options.map) {
    const ElementMap& map = *options.map;
    const std::uint64_t count = element_count(map.permutation) * map.batch * map.items;
    if (count != volume(work.in.shape)) {
      fail(ErrorCode::value, work.operation, fmt::format("a map of {} elements", count),
           fmt::format("one of {}", volume(work.in.shape)));
    }
    const auto choice = options.map->batch == 1 && options.map->items == 1
                            ? axis_choice_of(options.map->permutation, work.in.shape)
                            : std::nullopt;
    if (choice && choice->extents(work.in.shape) == options.map->shape) {
      work.axes = *choice;
    } else {
      work.map = options.map;
    }
  } else {
    work.axes = axis_choice_of(options.axes, work.in.shape.size(), work.operation);
  }
  if (work.map) {
    wanted.shape = work.map->shape;
    wanted.notes.dimension_names.clear();
  } else {
    wanted.shape = work.axes.extents(work.in.shape);
    auto& names = wanted.notes.dimension_names;
    for (std::size_t a = 0; a < names.size(); ++a)
      names[a] = work.in.notes.dimension_names[work.axes.from[a]];
  }
  wanted.type = options.dtype.empty() ? work.in.type : element_type_or_fail(options.dtype, work.operation);
  if (wanted.type != work.in.type) {
    if (!wanted.type.number || !work.in.type.number) {
      fail(ErrorCode::unsupported, work.operation,
           fmt::format("{} converted to {}", work.in.type.name, wanted.type.name), "numbers on both sides");
    }
    if (options.verify) {
      fail(ErrorCode::unsupported, work.operation, "verification of numbers that are converted",
           "it without --dtype");
    }
    work.arithmetic = Arithmetic{.from = *work.in.type.number, .to = *wanted.type.number};
    if (wanted.notes.fill) wanted.notes.fill = converted(*wanted.notes.fill, work.in.type, wanted.type);
    wanted.byte_order = ByteOrder::little;
  }
  if (const auto order = byte_order_named(options.dtype)) wanted.byte_order = *order;
  want_chunks(work, options);
  work.memory_bytes = options.memory_bytes != 0 ? options.memory_bytes : file::default_memory_bytes();
  work.threads = faro::detail::thread_count(options.threads);
  return work;
}

// Tells of bytes as they are done, some MiB at a time, by one thread at a time.
class Teller {
 public:
  Teller(const Options& options, std::uint64_t total_bytes) : options_(options), progress_{0, total_bytes} {}

  Advance advance() {
    return [this](std::uint64_t bytes) {
      const std::lock_guard lock(mutex_);
      constexpr std::uint64_t kStep = std::uint64_t{4} << 20;
      const std::uint64_t before = progress_.done_bytes;
      progress_.done_bytes += bytes;
      if (before / kStep == progress_.done_bytes / kStep && before != 0) return !stopped_;
      if (options_.progress) options_.progress(progress_);
      if (options_.cancelled && options_.cancelled()) stopped_ = true;
      return !stopped_;
    };
  }

 private:
  const Options& options_;
  std::mutex mutex_;
  Progress progress_;
  bool stopped_ = false;
};

// A file that is one run between what comes before and behind it.
class RunFile final : public CreatedStore {
 public:
  RunFile(const fs::path& path, const RunOutput& output) : file_(path) {
    const std::uint64_t end = std::max<std::uint64_t>(output.header.size(), end_of(output.form));
    file_.reserve(end + output.tail.size());
    file_.write(output.header, 0);
    file_.write(output.tail, end);
    sink_ = run_sink(file_.descriptor(), path, output.form);
  }
  Sink& sink() override { return *sink_; }
  void finish() override { file_.finish(); }
  void commit() override { file_.commit(); }

 private:
  io::OutputFile file_;
  std::unique_ptr<Sink> sink_;
};

std::unique_ptr<CreatedStore> created(const Work& work) {
  if (const auto run = work.format->run_output(work.wanted))
    return std::make_unique<RunFile>(work.out.path, *run);
  return work.format->create(work.out.path, work.wanted);
}

// The nearest folder above that is there.
fs::path folder_above(const fs::path& path) {
  std::error_code ignored;
  fs::path folder = io::directory_of(path);
  while (!fs::is_directory(folder, ignored) && folder.has_parent_path() && folder != folder.parent_path())
    folder = io::directory_of(folder);
  return folder;
}

// What is not encoded has to have room.
void require_room(const Work& work) {
  if (work.format->has_chunks() && !(work.wanted.codecs && work.wanted.codecs->empty())) return;
  struct statvfs space {};
  const fs::path folder = folder_above(work.out.path);
  if (statvfs(folder.c_str(), &space) != 0 || space.f_blocks == 0) return;
  const std::uint64_t free = space.f_bavail * std::uint64_t{space.f_frsize};
  const std::uint64_t bytes = volume(work.wanted.shape) * work.wanted.type.bytes;
  if (bytes > free) {
    fail(ErrorCode::file, "write `" + work.out.path.string() + "`", size_text(free) + " free on its disk",
         "room for " + size_text(bytes));
  }
}

Relaid relaid_of(const Work& work, const Source& source, const Sink& sink) {
  return {.source = source,
          .sink = sink,
          .shape = work.wanted.shape,
          .axes = work.axes,
          .element_bytes = work.wanted.type.bytes};
}

Shape cut_to(Shape region, const Shape& shape) {
  for (std::size_t a = 0; a < region.size(); ++a)
    region[a] = std::min(region[a], std::max<std::uint64_t>(shape[a], 1));
  return region;
}

Facts facts_of(const Work& work, const Way& way, const Source& source, const Sink& sink) {
  Facts facts{.in = facts_of(work.in)};
  const std::uint64_t in_bytes = volume(work.in.shape) * work.in.type.bytes;
  const std::uint64_t out_bytes = volume(work.wanted.shape) * work.wanted.type.bytes;
  facts.out = {.name = work.out.array,
               .format = work.format->name(),
               .shape = work.wanted.shape,
               .dtype = work.wanted.type.name,
               .big_endian = work.wanted.byte_order == ByteOrder::big,
               .bytes = out_bytes,
               .chunks = work.format->has_chunks() ? sink.unit() : Shape(),
               .shards = work.wanted.shards,
               .codec = to_text(work.wanted.codecs.value_or(std::vector<Codec>{}))};
  facts.uses_scratch = way.scratch.has_value();
  facts.sweeps = way.scratch ? 2 : 1;
  facts.region = cut_to(way.scratch ? way.scratch->read : way.direct.extents, work.wanted.shape);
  facts.memory_bytes = way.memory_bytes;
  facts.threads = way.threads;
  if (!way.scratch && work.in.chunks && !is_empty(work.wanted.shape)) {
    const Cost once = source.cost(work.in.shape);
    facts.decoded = source.cost(work.axes.extents_back(way.direct.extents)) / once;
  }
  facts.read_bytes = static_cast<std::uint64_t>(static_cast<double>(in_bytes) * facts.decoded) +
                     (way.scratch ? out_bytes : 0);
  facts.written_bytes = out_bytes * (way.scratch ? 2 : 1);
  return facts;
}

// A sweep of its own by way of `memory`.
bool run_sweep(const Work& work, const Way& way, const Source& source, Sink& sink, Sums* sums,
               const Advance& advance) {
  SweepJob job{.source = source,
               .sink = sink,
               .shape = work.wanted.shape,
               .axes = work.axes,
               .type = work.wanted.type,
               .arithmetic = work.arithmetic,
               .region = way.direct.extents,
               .threads = way.threads,
               .read = sums,
               .stored = sums,
               .advance = advance};
  const auto bytes_of_region = [&](const Shape& region) {
    return volume(cut_to(region, work.wanted.shape)) * work.wanted.type.bytes;
  };
  if (!way.scratch) {
    const io::Buffer memory(bytes_of_region(job.region), io::PageKind::huge, io::PageTouch::as_used);
    job.memory = memory.data();
    return sweep(job);
  }
  io::OutputFile scratch(folder_above(work.out.path) / "faro-scratch");  // never gets its name
  scratch.reserve(volume(work.wanted.shape) * work.wanted.type.bytes);
  const ScratchForm form{.shape = work.wanted.shape,
                         .element_bytes = work.wanted.type.bytes,
                         .written = way.scratch->written,
                         .read = way.scratch->read};
  const io::Buffer memory(std::max(bytes_of_region(form.written), bytes_of_region(form.read)),
                          io::PageKind::huge, io::PageTouch::as_used);
  job.memory = memory.data();
  const auto between = scratch_sink(scratch.descriptor(), form);
  SweepJob first{.source = source,
                 .sink = *between,
                 .shape = job.shape,
                 .axes = job.axes,
                 .type = job.type,
                 .arithmetic = job.arithmetic,
                 .region = form.written,
                 .threads = job.threads,
                 .memory = job.memory,
                 .read = sums,
                 .advance = advance};
  if (!sweep(first)) return false;
  const auto from = scratch_source(scratch.descriptor(), form);
  SweepJob second{.source = *from,
                  .sink = sink,
                  .shape = job.shape,
                  .axes = AxisChoice::identity(job.shape.size()),
                  .type = job.type,
                  .region = form.read,
                  .threads = job.threads,
                  .memory = job.memory,
                  .stored = sums,
                  .advance = advance};
  return sweep(second);
}

Report relaid(const Work& work, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  require_room(work);
  const std::unique_ptr<Source> source = work.in.source();
  const std::unique_ptr<CreatedStore> out = created(work);
  const Way way =
      choose_way(relaid_of(work, *source, out->sink()), work.memory_bytes, work.threads, work.operation);
  Report report{.facts = facts_of(work, way, *source, out->sink())};
  Teller teller(options, report.facts.read_bytes + report.facts.written_bytes);
  Sums sums;
  report.finished =
      run_sweep(work, way, *source, out->sink(), options.verify ? &sums : nullptr, teller.advance());
  source->require_unchanged();
  if (!report.finished) return report;
  if (options.verify && sums.read != sums.stored) {
    fail(ErrorCode::verification, work.operation, "what was stored differs from what was read",
         "the same elements", "nothing was written; the disk or the memory may be at fault");
  }
  report.verified = options.verify;
  out->sink().finish();
  out->finish();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (options.done) options.done(report);
  out->commit();
  return report;
}

// A map of all elements, from a plain file to a plain file.
Report mapped(const Work& work, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const OutputFolder scratch(folder_above(work.out.path) / (io::temporary_name() + "-scratch"));
  const fs::path plain_in = scratch.folder() / "in.raw";
  const fs::path plain_out = scratch.folder() / "out.raw";
  Options inner{.memory_bytes = work.memory_bytes,
                .threads = options.threads,
                .verify = options.verify,
                .cancelled = options.cancelled};
  // Elements of this machine's byte order, in C order.
  Work first = work;
  first.out = {.path = plain_in};
  first.format = &raw_format();
  first.axes = AxisChoice::identity(work.in.shape.size());
  first.wanted = {.shape = work.in.shape, .type = work.in.type};
  first.arithmetic.reset();
  Report report = relaid(first, inner);
  if (!report.finished) return report;
  const Problem problem{.permutation = work.map->permutation,
                        .element_bytes = work.in.type.bytes * work.map->items,
                        .batch = work.map->batch};
  file::Options file_options{.memory_bytes = work.memory_bytes,
                             .threads = options.threads,
                             .verify = options.verify,
                             .cancelled = options.cancelled};
  if (!file::run(problem, {.path = plain_in}, {.path = plain_out}, file_options).finished) return {};
  fs::remove(plain_in);
  Work last = work;
  last.in = run_array(raw_format(), "", plain_out, dense_run(work.wanted.shape, work.in.type, 0));
  last.axes = AxisChoice::identity(work.wanted.shape.size());
  inner.progress = options.progress;
  inner.done = [&](Report done) {
    done.facts.sweeps += 2;
    done.facts.uses_scratch = true;
    done.facts.in = facts_of(work.in);
    done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    report = done;
    if (options.done) options.done(done);
  };
  report.finished = relaid(last, inner).finished;
  return report;
}

}  // namespace

std::string Facts::text() const {
  std::string text = sweeps == 1 ? "one sweep" : fmt::format("{} sweeps through scratch space", sweeps);
  text += fmt::format(" in regions of {}",
                      region.empty() ? "one element" : fmt::format("{}", fmt::join(region, " x ")));
  if (!in.chunks.empty())
    text +=
        decoded < 1.005 ? ", each chunk decoded once" : fmt::format(", chunks decoded {:.3g} times", decoded);
  return text + ", " + size_text(memory_bytes) + " of memory";
}

std::vector<ArrayFacts> arrays(const std::string& path) {
  const Place place = place_of(path);
  std::vector<ArrayFacts> found;
  if (!place.array.empty()) return {facts_of(open_array(place))};
  for (const StoredArray& array : format_of(place.path).arrays(place.path)) found.push_back(facts_of(array));
  return found;
}

Facts explain(const std::string& in, const std::string& out, const Options& options) {
  const Work work = work_of(in, out, options);
  const std::unique_ptr<Source> source = work.in.source();
  std::unique_ptr<Sink> sink;
  if (const auto run = work.format->run_output(work.wanted)) {
    sink = run_sink(-1, work.out.path, run->form);
  } else {
    sink = work.format->planned_sink(work.wanted);
  }
  return facts_of(
      work, choose_way(relaid_of(work, *source, *sink), work.memory_bytes, work.threads, work.operation),
      *source, *sink);
}

Report relayout(const std::string& in, const std::string& out, const Options& options) {
  const Work work = work_of(in, out, options);
  return work.map ? mapped(work, options) : relaid(work, options);
}

bool is_store(const std::string& path) {
  const Place place = place_of(path);
  std::error_code ignored;
  const Format* format = nullptr;
  if (fs::exists(place.path, ignored)) {
    try {
      format = &format_of(place.path);
    } catch (const Error&) {
      return false;
    }
  } else {
    format = format_meant(place.path);
  }
  return format != nullptr && format != &npy_format() && format != &raw_format();
}

}  // namespace faro::store
