#include "store/relayout_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "faro/file.hpp"
#include "faro/threads.hpp"
#include "file/disk.hpp"
#include "io/npy.hpp"
#include "store/axis_choice.hpp"
#include "store/nifti_notes.hpp"
#include "store/store_formats.hpp"

namespace faro::store {
namespace {

StoredArray raw_input(const std::string& path, const Options& options) {
  const std::string operation = "read `" + path + "`";
  const ElementType type = element_type_or_fail(options.raw_dtype, operation);
  const ByteOrder order = byte_order_named(options.raw_dtype).value_or(ByteOrder::little);
  constexpr std::uint64_t kMostOffset = std::uint64_t{1} << 62;
  const std::uint64_t offset = options.raw_offset.value_or(0);
  require_shape(options.raw_shape, type.bytes, operation);
  if (offset > kMostOffset)
    fail(ErrorCode::value, operation, fmt::format("an offset of {}", offset), "less than 2^62");
  StoredArray array = run_array(raw_format(), "", path, dense_run(options.raw_shape, type, offset, order));
  if (const std::uint64_t bytes = file_bytes(path); !options.raw_offset && bytes != end_of(array.run->form)) {
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
       "a name that tells its format: .zarr, .npy, .npz, .safetensors, .gguf, .h5, .nii, .fits, .tif, "
       ".arrow, .raw",
       "--format zarr2 or zarr3 names Zarr's");
}

// Nothing: the format's choice, as where the input has no codecs that the output's format knows.
std::optional<std::vector<Codec>> codecs_wanted(const Work& work, const Options& options) {
  if (!options.codec.empty()) return parse_codecs(options.codec, work.wanted.type.bytes);
  const bool is_same = work.in.format == work.format->name();
  if (!work.in.chunks || (!is_same && !work.in.format.starts_with("Zarr"))) return std::nullopt;
  std::vector<Codec> codecs = work.in.chunks->form.codecs;
  const bool are_known = is_same || std::all_of(codecs.begin(), codecs.end(), [&](const Codec& codec) {
                           return work.format->knows(codec);
                         });
  if (!are_known) return std::nullopt;
  for (Codec& codec : codecs) {
    const std::uint64_t bytes = work.wanted.type.bytes;
    if (codec.kind == CodecKind::blosc) codec.shuffled_bytes = std::min<std::uint64_t>(bytes, 255);
    if (codec.kind == CodecKind::shuffle) codec.shuffled_bytes = bytes;
  }
  return codecs;
}

void want_chunks(Work& work, const Options& options) {
  WantedArray& wanted = work.wanted;
  const std::size_t rank = wanted.shape.size();
  const auto require_extents = [&](const char* what, const Shape& extents) {
    if (extents.size() == rank && !is_empty(extents)) return;
    fail(ErrorCode::value, work.operation, fmt::format("{} ({})", what, fmt::join(extents, ", ")),
         fmt::format("{} numbers above 0, one an axis", rank));
  };
  if (!options.chunks.empty()) require_extents("chunks", options.chunks);
  if (!options.shards.empty()) require_extents("shards", options.shards);
  for (const Shape& inner : options.inner_shards) require_extents("shards", inner);
  constexpr std::size_t kMostInner = 3;
  if (options.inner_shards.size() > kMostInner || (options.shards.empty() && !options.inner_shards.empty())) {
    fail(ErrorCode::value, work.operation,
         fmt::format("{} shards within shards", options.inner_shards.size()),
         fmt::format("at most {}, within shards", kMostInner));
  }
  const Format& format = *work.format;
  const bool is_coded = !options.codec.empty() && options.codec != "none";
  const char* const refused = !options.shards.empty() && !format.has_chunks()  ? "shards"
                              : !options.codec.empty() && !format.has_codecs() ? "a codec"
                              : !options.chunks.empty() && !format.has_chunks() && !format.has_tiles()
                                  ? "chunks"
                                  : nullptr;
  if (refused != nullptr) {
    fail(ErrorCode::value, work.operation, fmt::format("{} of {}", refused, format.name()),
         "chunks, shards and a codec where the output is Zarr, chunks and a codec of HDF5, or tiles of TIFF");
  }
  wanted.chunks = options.chunks;
  wanted.shards = options.shards;
  wanted.inner_shards = options.inner_shards;
  // Where chunks are a choice, those of the same format are kept, and a codec needs some.
  const bool has_some = format.has_chunks() || is_coded ||
                        (format.has_codecs() && work.in.format == format.name() && options.codec.empty());
  const bool keeps_chunks = has_some && wanted.chunks.empty() && work.in.chunks && !work.map;
  if (keeps_chunks) wanted.chunks = work.axes.extents(work.in.chunks->form.chunk);
  if (is_coded && wanted.chunks.empty()) wanted.chunks = usual_chunks(wanted.shape, wanted.type.bytes);
  if (format.has_codecs() && (format.has_chunks() || !wanted.chunks.empty()))
    wanted.codecs = codecs_wanted(work, options);
  if (format.has_chunks() && !wanted.codecs) wanted.codecs = usual_codecs();
  require_shape(wanted.chunks, wanted.type.bytes, work.operation);
}

// Disk and coding one after another: the time of the disk by its curve, of coding by what a thread takes.
void predict(Facts& facts, const Work& work) {
  const auto curve = file::kept_disk_curve(folder_above(work.out.path));
  if (!curve) return;
  constexpr std::uint64_t kLongRun = std::uint64_t{1} << 20;
  constexpr double kBytesASecond = 4e9;  // as codecs are counted in
  const auto run = [&](const Shape& chunk, const ElementType& type) {
    return chunk.empty() ? kLongRun : std::min(kLongRun, volume(chunk) * type.bytes);
  };
  const double decoding = work.in.chunks ? decode_cost(work.in.chunks->form.codecs) : 0;
  const double coded =
      static_cast<double>(facts.in.bytes) * facts.decoded * decoding +
      static_cast<double>(facts.out.bytes) * encode_cost(work.wanted.codecs.value_or(std::vector<Codec>{}));
  facts.predicted_seconds =
      curve->predict_read_seconds(facts.read_bytes, run(facts.in.chunks, work.in.type)) +
      curve->predict_write_seconds(facts.written_bytes, run(facts.out.chunks, work.wanted.type)) +
      coded / kBytesASecond / facts.threads;
  facts.prediction_source = curve->source;
}

// A plain file that is not there yet: it only counts.
class PlannedRun final : public Source {
 public:
  explicit PlannedRun(RunForm form) : run_(run_sink(-1, {}, std::move(form))) {}

  std::vector<Box> boxes(const Box& region) const override { return run_->boxes(region); }
  Loaded load(const Box& /*box*/, Workspace& /*workspace*/) const override {
    FARO_CHECK(false);
    return {};
  }
  Cost cost(const Shape& region) const override { return run_->cost(region); }
  std::uint64_t workspace_bytes(const Shape& region) const override { return run_->workspace_bytes(region); }
  Shape unit() const override { return run_->unit(); }

 private:
  std::unique_ptr<Sink> run_;
};

// A folder of chunks is another one with what is made in it.
void require_apart(const Place& in, const Place& out, const std::string& operation) {
  std::error_code failed;
  std::string name = in.array;
  name.erase(0, name.find_first_not_of('/'));
  const auto folder = std::filesystem::canonical(in.path / name, failed);
  if (failed || !std::filesystem::is_directory(folder, failed)) return;
  const auto made = std::filesystem::weakly_canonical(std::filesystem::absolute(out.path, failed), failed);
  if (std::mismatch(folder.begin(), folder.end(), made.begin(), made.end()).first == folder.end())
    fail(ErrorCode::value, operation, "an output within the input's folder", "two stores beside each other");
}

}  // namespace

Place output_place(const std::string& text) {
  Place place = place_of(text);
  while (!place.path.has_filename() && place.path.has_parent_path()) place.path = place.path.parent_path();
  return place;
}

const Format& require_output(const Place& in, const Place& out, const Options& options,
                             const std::string& operation) {
  const Format& format = format_of_output(out, options, operation);
  if (io::same_target(in.path, out.path))
    fail(ErrorCode::value, operation, "the same store as the output", "two stores");
  return format;
}

Work work_of(const std::string& in, const std::string& out, const Options& options) {
  const std::string operation = "lay `" + in + "` out anew";
  StoredArray array = options.raw_dtype.empty() ? open_array(place_of(in)) : raw_input(in, options);
  const Place to = output_place(out);
  const Format& format = require_output(place_of(in), to, options, operation);
  if (array.chunks) require_apart(place_of(in), to, operation);
  return work_between(std::move(array), to, format, operation, options);
}

Work work_between(StoredArray in, const Place& out, const Format& format, const std::string& operation,
                  const Options& options) {
  Work work{.operation = operation, .in = std::move(in), .out = out, .format = &format};
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
  turn_nifti_notes(wanted.notes.attributes, work.map ? nullptr : &work.axes, work.in.shape,
                   work.in.notes.left_out);
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

Facts facts_of(const Work& work, const Way& way, const Source& source, const Sink& sink) {
  Facts facts{.in = facts_of(work.in)};
  const std::uint64_t in_bytes = volume(work.in.shape) * work.in.type.bytes;
  const std::uint64_t out_bytes = volume(work.wanted.shape) * work.wanted.type.bytes;
  facts.out = {
      .name = work.out.array,
      .format = work.format->name(),
      .shape = work.wanted.shape,
      .dtype = work.wanted.type.name,
      .big_endian = work.wanted.byte_order == ByteOrder::big,
      .bytes = out_bytes,
      .chunks = work.format->has_chunks() && work.wanted.chunks.empty() ? sink.unit() : work.wanted.chunks,
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

std::optional<RunOutput> only_output(const Work& work, std::vector<std::string>& left_out) {
  auto outputs = work.format->run_outputs({.arrays = {work.wanted}}, left_out);
  if (!outputs) return std::nullopt;
  return std::move(outputs->front());
}

std::unique_ptr<Sink> planned_sink(const Work& work, std::vector<std::string>& left_out) {
  const auto run = only_output(work, left_out);
  return run ? output_sink(-1, work.out.path, *run) : work.format->joined_sink(work.wanted, {});
}

std::filesystem::path folder_above(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::path folder = io::directory_of(path);
  while (!std::filesystem::is_directory(folder, ignored) && folder.has_parent_path() &&
         folder != folder.parent_path())
    folder = io::directory_of(folder);
  return folder;
}

Work last_of_mapped(const Work& work) {
  Work last = work;
  last.in = {.format = raw_format().name(), .shape = work.wanted.shape, .type = work.in.type};
  last.in.notes.left_out = work.in.notes.left_out;
  last.axes = AxisChoice::identity(work.wanted.shape.size());
  last.map.reset();
  return last;
}

Facts facts_of_mapped(const Work& work, Facts last) {
  last.in = facts_of(work.in);
  last.sweeps += 2;
  last.uses_scratch = true;
  last.read_bytes += 2 * last.in.bytes;
  last.written_bytes += 2 * last.in.bytes;
  return last;
}

Facts explain_work(const Work& work) {
  const Work swept = work.map ? last_of_mapped(work) : work;
  const std::unique_ptr<Source> source =
      work.map ? std::make_unique<PlannedRun>(dense_run(swept.in.shape, swept.in.type, 0)) : work.in.source();
  std::vector<std::string> left_out;
  const std::unique_ptr<Sink> sink = planned_sink(swept, left_out);
  const Relaid relaid = relaid_of(swept, *source, *sink);
  Facts facts =
      facts_of(swept, choose_way(relaid, swept.memory_bytes, swept.threads, swept.operation), *source, *sink);
  if (work.map) facts = facts_of_mapped(work, std::move(facts));
  predict(facts, work);
  return facts;
}

}  // namespace faro::store
