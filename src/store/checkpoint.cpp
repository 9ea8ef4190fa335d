// A checkpoint changed: planned, laid out in files, swept, journalled, and given its name.
#include "faro/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "faro/error.hpp"
#include "file/file_run.hpp"
#include "io/npy.hpp"
#include "size_text.hpp"
#include "store/checkpoint_output.hpp"
#include "store/checkpoint_plan.hpp"
#include "store/checkpoint_tiles.hpp"
#include "store/json.hpp"
#include "store/safetensors.hpp"
#include "store/store_formats.hpp"

namespace faro::checkpoint {
namespace {

namespace fs = std::filesystem;
using store::CheckpointFiles;
using store::CheckpointPlan;
using store::CheckpointResult;

constexpr std::uint64_t kUsualShardBytes = 5'000'000'000;  // as Transformers saves them
constexpr const char* kIndexName = "model.safetensors.index.json";

// A file of the result: its tensors, and where each begins behind the header.
struct LaidFile {
  store::CheckpointFile file = {};
  std::vector<std::size_t> tensors = {};  // of the plan
  std::vector<std::uint64_t> offsets = {};
};

// All that follows from the rules, the paths and the options.
struct Work {
  CheckpointFiles files = {};
  CheckpointPlan plan = {};
  std::string rules = {};  // as they were given
  std::vector<std::string> rule_texts = {};
  std::vector<LaidFile> laid = {};
  bool is_folder = true;
  std::string index = {};  // the text of the index file; empty: none
};

bool names_a_file(const fs::path& out) { return store::ends_with(out, {".safetensors"}); }

store::Json merged_metadata(const CheckpointFiles& files, const store::Rules& rules) {
  store::Json metadata = files.metadata;
  for (const auto& [key, value] : rules.metadata) {
    if (value) {
      metadata[key] = *value;
    } else {
      metadata.erase(key);
    }
  }
  return metadata;
}

// Tensors by files, in the order of the plan; in a file the wider elements first, so that all are aligned.
std::vector<std::vector<std::size_t>> tensors_by_file(const CheckpointPlan& plan, std::uint64_t most_bytes) {
  std::vector<std::vector<std::size_t>> files(1);
  std::uint64_t bytes = 0;
  for (std::size_t tensor = 0; tensor < plan.tensors.size(); ++tensor) {
    const std::uint64_t more = plan.tensors[tensor].bytes();
    if (!files.back().empty() && bytes + more > most_bytes) {
      files.emplace_back();
      bytes = 0;
    }
    files.back().push_back(tensor);
    bytes += more;
  }
  for (std::vector<std::size_t>& file : files) {
    std::stable_sort(file.begin(), file.end(), [&plan](std::size_t a, std::size_t b) {
      return plan.tensors[a].type.bytes > plan.tensors[b].type.bytes;
    });
  }
  return files;
}

void lay_out(Work& work, const store::Json& metadata, const fs::path& out, std::uint64_t most_bytes) {
  const auto files = tensors_by_file(work.plan, most_bytes);
  for (std::size_t number = 0; number < files.size(); ++number) {
    LaidFile laid{.tensors = files[number]};
    std::vector<store::SafeTensor> tensors;
    std::uint64_t bytes = 0;
    for (const std::size_t index : laid.tensors) {
      const CheckpointResult& tensor = work.plan.tensors[index];
      tensors.push_back({.name = tensor.name, .shape = tensor.shape, .type = tensor.type});
      laid.offsets.push_back(bytes);
      bytes += tensor.bytes();
    }
    laid.file.header = store::safetensors_header(tensors, metadata, io::kTransferBlock);
    laid.file.bytes = laid.file.header.size() + bytes;
    laid.file.name = !work.is_folder ? out.filename().string()
                     : files.size() == 1
                         ? "model.safetensors"
                         : fmt::format("model-{:05}-of-{:05}.safetensors", number + 1, files.size());
    work.laid.push_back(std::move(laid));
  }
}

std::string index_text(const Work& work) {
  nlohmann::json map = nlohmann::json::object();  // sorted, as Transformers writes it
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
  for (const LaidFile& laid : work.laid) {
    for (const std::size_t tensor : laid.tensors) {
      map[work.plan.tensors[tensor].name] = laid.file.name;
      bytes += work.plan.tensors[tensor].bytes();
      elements += store::volume(work.plan.tensors[tensor].shape);
    }
  }
  store::Json metadata = work.files.index_metadata;
  metadata["total_size"] = bytes;
  if (metadata.contains("total_parameters")) metadata["total_parameters"] = elements;
  const nlohmann::json index{{"metadata", metadata}, {"weight_map", map}};
  constexpr int kIndent = 2;
  return index.dump(kIndent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

file::Options sweep_options(const Options& options) {
  return {.memory_bytes = options.memory_bytes,
          .threads = options.threads,
          .io = options.io,
          .verify = options.verify,
          .progress = options.progress,
          .cancelled = options.cancelled};
}

Work work_of(const std::string& rules, const fs::path& in, const fs::path& out, const Options& options) {
  Work work;
  work.rules = rules;
  const store::Rules parsed = store::parse_rules(rules);
  for (const store::Rule& rule : parsed.rules) work.rule_texts.push_back(rule.text());
  work.files = store::open_checkpoint(in);
  const auto is_target = [&out](const fs::path& file) { return io::same_target(file, out); };
  if (is_target(in) || std::any_of(work.files.files.begin(), work.files.files.end(), is_target))
    fail(ErrorCode::value, "change `" + in.string() + "`", "the input as the output", "two checkpoints");
  work.is_folder = !names_a_file(out);
  if (!work.is_folder && options.shard_bytes != 0) {
    fail(ErrorCode::value, "write `" + out.string() + "`", "a size of shards for one file",
         "a folder's name");
  }
  work.plan = store::plan_checkpoint(work.files, parsed, sweep_options(options));
  const std::uint64_t most = options.shard_bytes != 0 ? options.shard_bytes : kUsualShardBytes;
  lay_out(work, merged_metadata(work.files, parsed), out, work.is_folder ? most : ~std::uint64_t{0});
  if (work.is_folder && work.laid.size() > 1) work.index = index_text(work);
  return work;
}

// In the order in which they are written.
std::vector<store::PlacedPiece> placed_pieces(const Work& work) {
  std::vector<store::PlacedPiece> placed;
  for (std::size_t number = 0; number < work.laid.size(); ++number) {
    const LaidFile& laid = work.laid[number];
    for (std::size_t place = 0; place < laid.tensors.size(); ++place) {
      for (const store::CheckpointPiece& piece : work.plan.tensors[laid.tensors[place]].pieces) {
        const store::CheckpointTensor& source = work.files.tensors[piece.source];
        placed.push_back({.sweep = piece.sweep,
                          .in_file = source.file,
                          .out_file = number,
                          .in_offset = source.offset + piece.in_offset,
                          .out_offset = laid.file.header.size() + laid.offsets[place] + piece.out_offset});
      }
    }
  }
  return placed;
}

Facts facts_of(const Work& work) {
  Facts facts;
  facts.in_files = work.files.files.size();
  facts.in_tensors = work.files.tensors.size();
  facts.dropped = work.plan.dropped;
  for (std::size_t rule = 0; rule < work.rule_texts.size(); ++rule)
    facts.rules.push_back({.text = work.rule_texts[rule], .matched = work.plan.matched[rule]});
  std::uint64_t tile_bytes = 0;
  for (const LaidFile& laid : work.laid) {
    facts.files.push_back(laid.file.name);
    for (const std::size_t index : laid.tensors) {
      const CheckpointResult& tensor = work.plan.tensors[index];
      facts.tensors.push_back({.name = tensor.name,
                               .dtype = tensor.type.name,
                               .shape = tensor.shape,
                               .bytes = tensor.bytes(),
                               .file = laid.file.name,
                               .sources = tensor.sources,
                               .changes = tensor.changes});
      for (const store::CheckpointPiece& piece : tensor.pieces) {
        const file::Sweep::State& state = piece.sweep.state();
        facts.tiles += state.facts.tiles;
        facts.read_bytes += state.facts.moved_bytes;
        facts.written_bytes += state.written_bytes();
        tile_bytes = std::max(tile_bytes, state.facts.tile_bytes);
      }
    }
  }
  facts.memory_bytes = file::TileBuffers::bytes(tile_bytes);
  return facts;
}

// A run: its files, its journal, and the tiles that are on their way.
class Run {
 public:
  Run(Work work, const fs::path& out, const Options& options)
      : options_(options),
        file_options_(sweep_options(options)),
        output_path_(without_slash(out)),
        work_(std::move(work)),
        choice_(options.io),
        pieces_(placed_pieces(work_)),
        output_(output_path_, work_.is_folder, files_of(work_)) {
    report_.facts = facts_of(work_);
    sources_.reserve(work_.files.files.size());
    for (const fs::path& path : work_.files.files)
      sources_.push_back(std::make_unique<file::SourceFile>(file::Input{.path = path}, 0));
  }

  Report run() {
    try {
      return run_or_throw();
    } catch (...) {
      const bool is_kept = options_.resume && journal_ && !journal_->finished().empty();
      if (!is_of_another_ && !is_kept) give_up();
      throw;
    }
  }

 private:
  static std::vector<store::CheckpointFile> files_of(const Work& work) {
    std::vector<store::CheckpointFile> files;
    for (const LaidFile& laid : work.laid) files.push_back(laid.file);
    return files;
  }

  static fs::path without_slash(fs::path path) {
    while (!path.empty() && path.filename().empty()) path = path.parent_path();
    return path;
  }

  std::string identity() const {
    std::string text =
        fmt::format("{}; {} tiles in {}; ", work_.rules, report_.facts.tiles, report_.facts.memory_bytes);
    for (const auto& source : sources_) text += source->identity() + "; ";
    for (const LaidFile& laid : work_.laid)
      text += fmt::format("{} {:016x}; ", laid.file.name, file::checksum(laid.file.header, 1));
    return fmt::format("checkpoint {:016x}", file::checksum(std::as_bytes(std::span(text)), 1));
  }

  Report run_or_throw() {
    journal_.emplace(output_path_, identity());
    is_of_another_ = options_.resume && journal_->is_of_another();
    if (is_of_another_) {
      fail(ErrorCode::file, "resume `" + output_path_.string() + "`",
           "a journal of other rules, input, budget of memory or version",
           "the command that was interrupted, and its input as it was", "without --resume it is begun anew");
    }
    const bool goes_on = options_.resume && !journal_->finished().empty();
    output_.begin(goes_on);
    if (!goes_on) journal_->restart(0);
    report_.finished = sweep();
    if (!report_.finished) {
      if (journal_->finished().empty()) give_up();
      return std::move(report_);
    }
    for (const auto& source : sources_) source->require_unchanged();
    output_.finish();
    report_.verified = options_.verify;
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (options_.done) options_.done(report_);
    output_.commit(kIndexName, work_.index);
    journal_->remove();
    return std::move(report_);
  }

  void give_up() noexcept {
    if (journal_) journal_->remove();
    output_.discard();
  }

  bool sweep() {
    if (report_.facts.tiles == 0) return true;
    const std::uint64_t told = report_.facts.read_bytes + report_.facts.written_bytes;
    store::CheckpointTiles tiles(
        pieces_,
        {.open_in = [this](std::size_t file, std::uint64_t run) { return input(file, run); },
         .open_out = [this](std::size_t file, std::uint64_t run) { return output(file, run); },
         .made =
             [this](std::span<const std::byte> rows) {
               made_.push_back(file::checksum(rows, options_.threads));
             }},
        options_.verify, options_.threads);
    file::Machinery machinery(file_options_, choice_.mode(), tiles.tile_bytes);
    file::Teller teller(file_options_, told);
    file::Pipeline pipeline(
        machinery, teller, {}, {},
        {.permute = [](file::TileWork& work, std::byte* x, std::byte* y) { work.move->run(x, y); },
         .written = [&] { note_written(tiles); }});
    const std::uint64_t first = found_tiles(tiles, pipeline, machinery, teller);
    report_.resumed_tiles = first;
    written_ = first;
    noted_ = first;
    const bool finished = first == tiles.count() || pipeline.run(tiles, first);
    note(tiles);
    return finished && !teller.stopped();
  }

  std::shared_ptr<const io::TransferFile> input(std::size_t file, std::uint64_t run_bytes) const {
    return std::make_shared<const io::TransferFile>(choice_.input(*sources_[file], run_bytes));
  }

  std::shared_ptr<const io::TransferFile> output(std::size_t file, std::uint64_t run_bytes) const {
    return std::make_shared<const io::TransferFile>(output_.descriptor(file), io::TransferFile::Use::update,
                                                    choice_.mode_for(run_bytes), output_.label(file));
  }

  // How many of the tiles that an earlier run finished are there as its journal says.
  std::uint64_t found_tiles(store::CheckpointTiles& tiles, file::Pipeline& pipeline,
                            const file::Machinery& machinery, file::Teller& teller) {
    std::byte* const buffer = machinery.buffers[0];
    const auto read = [&](const io::TransferFile& file, const file::Rows& rows) {
      pipeline.read(file, 0, rows, buffer);
    };
    const std::vector<std::uint64_t>& sums = journal_->finished();
    std::uint64_t tile = 0;
    for (; tile < std::min<std::uint64_t>(sums.size(), tiles.count()) && !teller.stopped(); ++tile) {
      const file::TileWork work = tiles.tile(tile);
      read(*work.out_file, work.out);
      if (file::checksum({buffer, work.out.total_bytes()}, options_.threads) != sums[tile]) break;
      tiles.add_found(work, read, buffer);
      teller.advance(work.read_bytes() + work.out.total_bytes());
    }
    if (tile < sums.size()) journal_->restart(tile);
    return tile;
  }

  // The oldest tile that was not yet is written.
  void note_written(const store::CheckpointTiles& tiles) {
    ++written_;
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - noted_at_;
    if (since.count() >= options_.checkpoint_seconds) note(tiles);
  }

  // Brings what was written to the disk, and then the journal.
  void note(const store::CheckpointTiles& tiles) {
    if (noted_ == written_) return;
    std::set<std::size_t> files;
    for (std::uint64_t tile = noted_; tile < written_; ++tile) files.insert(tiles.out_file_of(tile));
    for (const std::size_t file : files) output_.sync(file);
    const auto end = made_.begin() + static_cast<std::ptrdiff_t>(written_ - noted_);
    std::for_each(made_.begin(), end, [this](std::uint64_t sum) { journal_->add(sum); });
    made_.erase(made_.begin(), end);
    noted_ = written_;
    journal_->sync();
    noted_at_ = std::chrono::steady_clock::now();
  }

  const Options& options_;
  file::Options file_options_;
  fs::path output_path_;
  Work work_;
  file::IoChoice choice_;
  std::vector<store::PlacedPiece> pieces_;
  store::CheckpointOutput output_;
  std::vector<std::unique_ptr<file::SourceFile>> sources_;
  std::optional<file::Journal> journal_;
  Report report_;
  bool is_of_another_ = false;
  std::vector<std::uint64_t> made_;  // checksums of tiles that the journal does not have yet
  std::uint64_t written_ = 0;        // tiles
  std::uint64_t noted_ = 0;          // likewise, in the journal
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point noted_at_ = begin_;
};

}  // namespace

std::string Facts::text() const {
  const auto changed = std::count_if(tensors.begin(), tensors.end(),
                                     [](const Tensor& tensor) { return !tensor.changes.empty(); });
  return fmt::format("{} in {}, {} of them changed, {} of memory", count_text(tensors.size(), "tensor"),
                     count_text(files.size(), "file"), changed, size_text(memory_bytes));
}

std::string Facts::json() const {
  store::Json rules_json = store::Json::array();
  for (const RuleFacts& rule : rules)
    rules_json.push_back({{"patterns", rule.text}, {"matched", rule.matched}});
  store::Json tensors_json = store::Json::array();
  for (const Tensor& tensor : tensors) {
    tensors_json.push_back({{"name", tensor.name},
                            {"dtype", tensor.dtype},
                            {"shape", tensor.shape},
                            {"bytes", tensor.bytes},
                            {"file", tensor.file},
                            {"sources", tensor.sources},
                            {"changes", tensor.changes}});
  }
  return store::strict_json_text({{"plan", text()},
                                  {"in_files", in_files},
                                  {"in_tensors", in_tensors},
                                  {"dropped", dropped},
                                  {"rules", std::move(rules_json)},
                                  {"tensors", std::move(tensors_json)},
                                  {"files", files},
                                  {"tiles", tiles},
                                  {"read_bytes", read_bytes},
                                  {"written_bytes", written_bytes},
                                  {"memory_bytes", memory_bytes}});
}

std::string read_rules(const fs::path& path) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
  return store::read_small_file(path.string(), kMostBytes);
}

Facts explain(const std::string& rules, const fs::path& in, const fs::path& out, const Options& options) {
  return facts_of(work_of(rules, in, out, options));
}

Report run(const std::string& rules, const fs::path& in, const fs::path& out, const Options& options) {
  return Run(work_of(rules, in, out, options), out, options).run();
}

}  // namespace faro::checkpoint
