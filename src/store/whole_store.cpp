#include "store/whole_store.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>
#include <utility>

#include "faro/error.hpp"
#include "file/checksums.hpp"
#include "file/journal.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"
#include "store/output_folder.hpp"
#include "store/relayout_run.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

// HDF5's names begin with a slash.
std::string bare_name(const std::string& name) { return name.starts_with('/') ? name.substr(1) : name; }

// Names become paths of folders, which may not leave the store, nor lie in each other or in its metadata.
void require_names(const std::vector<StoredArray>& arrays, const std::string& operation) {
  std::set<std::string> names;
  for (const StoredArray& array : arrays) {
    const std::string name = bare_name(array.name);
    bool fits = !name.empty() && name.find('\0') == std::string::npos && names.insert(name).second;
    for (std::size_t begin = 0; begin <= name.size() && fits;) {
      const std::size_t end = std::min(name.find('/', begin), name.size());
      const std::string part = name.substr(begin, end - begin);
      fits = !part.empty() && !part.starts_with('.') && part != "zarr.json";
      begin = end + 1;
    }
    if (fits) continue;
    fail(ErrorCode::unsupported, operation, "an array `" + array.name + "`",
         "names of their own, of parts that do not begin with a point", "IN:NAME takes one array");
  }
  for (const std::string& name : names) {
    for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
      if (names.contains(name.substr(0, at)))
        fail(ErrorCode::unsupported, operation, "an array `" + name + "` within an array",
             "arrays in groups");
    }
  }
}

std::string identity_of_whole(const WholeStore& store, const Options& options, const WantedStore& wanted) {
  std::string text = fmt::format("{} to {}; {}{}; memory {}, verified {}", store.in.path.string(),
                                 store.out.path.string(), store.format->name(),
                                 options.fortran_order ? " F" : "", options.memory_bytes, options.verify);
  for (const Work& work : store.works) {
    text += fmt::format("; {} {} {} ({}) {} ({}) ({}) {}", work.in.name, work.in.source()->identity(),
                        work.in.type.name, fmt::join(work.in.shape, " "), work.wanted.type.name,
                        fmt::join(work.wanted.chunks, " "), fmt::join(work.axes.from, " "),
                        to_text(work.wanted.codecs.value_or(std::vector<Codec>{})));
  }
  for (const Group& group : wanted.groups)
    text += "; " + group.name + group.attributes.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text;
}

// What the arrays are put into, and which of them are there.
class Container {
 public:
  virtual ~Container() = default;
  virtual const fs::path& path() const = 0;
  /// Before any array. Errors: ErrorCode::file.
  virtual void begin(Leftover leftover) = 0;
  /// An array's place. Errors: ErrorCode::file.
  virtual std::unique_ptr<CreatedStore> place(std::size_t number) = 0;
  virtual void finish() = 0;
  virtual void commit() = 0;
  virtual void discard() noexcept = 0;
  std::vector<std::string> left_out = {};
};

// A file's. Journals of single arrays are beside the file, too.
class PartOfFile final : public CreatedStore {
 public:
  PartOfFile(io::OutputFile& file, fs::path label, const RunOutput& output)
      : file_(file), label_(std::move(label)), sink_(output_sink(file.descriptor(), label_, output)) {}

  const fs::path& path() const override { return label_; }
  Sink& sink() override { return *sink_; }
  void begin(Leftover /*leftover*/) override {}
  void sync() override {
    if (const int error = io::sync_file(file_.descriptor()); error != 0)
      fail(ErrorCode::file, file_.operation(), io::error_text(error), "a disk that takes what is written");
  }
  void finish() override { sync(); }
  void commit() override {}
  void discard() noexcept override {}

 private:
  io::OutputFile& file_;
  fs::path label_;
  std::unique_ptr<Sink> sink_;
};

class FileOfArrays final : public Container {
 public:
  FileOfArrays(const WholeStore& store, std::vector<RunOutput> outputs, io::Unfinished unfinished)
      : path_(store.out.path),
        outputs_(std::move(outputs)),
        places_(outputs_.size()),
        file_(path_, unfinished) {
    for (std::size_t o = 0; o < outputs_.size(); ++o) places_[outputs_[o].array] = o;
  }

  const fs::path& path() const override { return path_; }

  void begin(Leftover leftover) override {
    if (leftover == Leftover::removed && ftruncate(file_.descriptor(), 0) != 0)
      fail(ErrorCode::file, file_.operation(), io::error_text(errno), "a file that can be written to");
    const RunOutput& last = outputs_.back();
    const std::uint64_t end =
        std::max<std::uint64_t>(end_of(last), begin_of_header(last) + last.header.size());
    file_.reserve(end + last.tail.size());
    for (const RunOutput& output : outputs_) file_.write(output.header, begin_of_header(output));
    file_.write(last.tail, end);
  }

  std::unique_ptr<CreatedStore> place(std::size_t number) override {
    return std::make_unique<PartOfFile>(file_, path_.string() + fmt::format("-{}", number),
                                        outputs_[places_[number]]);
  }

  void finish() override {
    for (const RunOutput& output : outputs_) {
      if (output.finish) output.finish(file_.descriptor());
    }
    file_.finish();
  }
  void commit() override { file_.commit(); }
  void discard() noexcept override { file_.discard(); }

 private:
  static std::uint64_t begin_of_header(const RunOutput& output) {
    return output.form.offset - std::min<std::uint64_t>(output.form.offset, output.header.size());
  }

  fs::path path_;
  std::vector<RunOutput> outputs_;   // in the file's order
  std::vector<std::size_t> places_;  // of an array among them
  io::OutputFile file_;
};

// A folder's: each array is a store within, whole or not there at all.
class FolderOfArrays final : public Container {
 public:
  FolderOfArrays(const WholeStore& store, io::Unfinished unfinished)
      : store_(store), unfinished_(unfinished), folder_(store.out.path, unfinished) {}

  const fs::path& path() const override { return folder_.path(); }

  void begin(Leftover leftover) override {
    if (leftover == Leftover::gone_on_with) return;
    folder_.clear();
    std::set<std::string> made;
    for (const Group& group : store_.groups) make_group(bare_name(group.name), group.attributes, made);
    if (!made.contains("")) make_group("", Json::object(), made);
    // Groups that nothing is said of.
    for (const Work& work : store_.works) {
      const std::string name = bare_name(work.in.name);
      for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
        if (!made.contains(name.substr(0, at))) make_group(name.substr(0, at), Json::object(), made);
      }
    }
  }

  std::unique_ptr<CreatedStore> place(std::size_t number) override {
    const Work& work = store_.works[number];
    const fs::path path = folder_.folder() / bare_name(work.in.name);
    // One that was finished when the journal was not told yet.
    std::error_code ignored;
    fs::remove_all(path, ignored);
    return store_.format->create(path, work.wanted, unfinished_);
  }

  void finish() override {
    const bool is_consolidated = std::any_of(store_.groups.begin(), store_.groups.end(),
                                             [](const Group& group) { return group.is_consolidated; });
    if (is_consolidated) store_.format->consolidate(folder_.folder());
    folder_.finish();
  }
  void commit() override { folder_.commit(); }
  void discard() noexcept override { folder_.discard(); }

 private:
  void make_group(const std::string& name, const Json& attributes, std::set<std::string>& made) {
    const fs::path path = name.empty() ? folder_.folder() : folder_.folder() / name;
    std::error_code failed;
    if (fs::create_directories(path, failed); failed)
      fail(ErrorCode::file, store_.operation, failed.message(), "a folder that can be written to");
    store_.format->write_group(path, attributes);
    made.insert(name);
  }

  const WholeStore& store_;
  io::Unfinished unfinished_;
  OutputFolder folder_;
};

WantedStore wanted_of(const WholeStore& store) {
  WantedStore wanted{.arrays = {}, .groups = store.groups};
  wanted.arrays.reserve(store.works.size());
  for (const Work& work : store.works) wanted.arrays.push_back(work.wanted);
  return wanted;
}

std::unique_ptr<Container> container_of(const WholeStore& store, const WantedStore& wanted,
                                        const Options& options) {
  std::vector<std::string> left_out;
  std::unique_ptr<Container> made;
  if (auto outputs = store.format->run_outputs(wanted, left_out)) {
    made = std::make_unique<FileOfArrays>(store, std::move(*outputs), unfinished_of(options));
  } else {
    made = std::make_unique<FolderOfArrays>(store, unfinished_of(options));
  }
  made->left_out = std::move(left_out);
  return made;
}

class WholeRun {
 public:
  WholeRun(const WholeStore& store, const Options& options)
      : store_(store),
        options_(options),
        facts_(explain_whole(store)),
        wanted_(wanted_of(store)),
        container_(container_of(store, wanted_, options)) {
    if (unfinished_of(options) == io::Unfinished::removed) return;
    const std::string text = identity_of_whole(store, options, wanted_);
    journal_.emplace(container_->path(),
                     fmt::format("{:016x} stores", file::checksum(std::as_bytes(std::span(text)), 1)));
  }

  Report run() {
    Report report{.facts = facts_};
    report.left_out = container_->left_out;
    const auto add = [&](const std::vector<std::string>& more) {
      report.left_out.insert(report.left_out.end(), more.begin(), more.end());
    };
    for (const Group& group : store_.groups) add(group.left_out);
    for (const Work& work : store_.works) add(work.in.notes.left_out);
    begin_or_resume();
    for (std::size_t number = journal_ ? journal_->finished().size() : 0; number < store_.works.size();
         ++number) {
      if (run_array(number, report)) continue;
      forget_what_is_of_no_use(number);
      return report;
    }
    container_->finish();
    report.finished = true;
    report.verified = options_.verify;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (options_.done) options_.done(report);
    container_->commit();
    if (journal_) journal_->remove();
    return report;
  }

 private:
  void begin_or_resume() {
    if (options_.resume && journal_->is_of_another()) {
      fail(ErrorCode::file, "resume `" + container_->path().string() + "`",
           "a journal of another input, command, budget of memory or version",
           "the command that was interrupted, and its input as it was", "without --resume it is begun anew");
    }
    // An array that is not finished has a journal of its own.
    const bool goes_on = options_.resume && (!journal_->finished().empty() || has_journal(0));
    if (journal_ && !goes_on) journal_->restart(0);
    container_->begin(goes_on ? Leftover::gone_on_with : Leftover::removed);
  }

  bool run_array(std::size_t number, Report& report) {
    const std::uint64_t before = told_;
    Options inner = options_;
    inner.done = {};
    inner.map = {};
    if (options_.progress) {
      inner.progress = [&](const Progress& now) {
        told_ = before + now.done_bytes;
        options_.progress({.done_bytes = told_, .total_bytes = facts_.read_bytes + facts_.written_bytes});
      };
    }
    try {
      const Report of_one = run_relayout(store_.works[number], inner, container_->place(number));
      if (!of_one.finished) return false;
      report.resumed_regions += of_one.resumed_regions;
      told_ = before + of_one.facts.read_bytes + of_one.facts.written_bytes;
    } catch (...) {
      forget_what_is_of_no_use(number);
      throw;
    }
    if (journal_) {
      journal_->add(0);
      journal_->sync();
    }
    return true;
  }

  bool has_journal(std::size_t number) {
    std::error_code ignored;
    return fs::exists(io::partial_path(container_->path().string() + fmt::format("-{}", number)).string() +
                          "-journal",
                      ignored) ||
           has_journal_within(number);
  }
  // Whether an array in a folder has a journal.
  bool has_journal_within(std::size_t number) const {
    std::error_code ignored;
    const fs::path array = io::partial_path(container_->path()) / bare_name(store_.works[number].in.name);
    return fs::exists(io::partial_path(array).string() + "-journal", ignored);
  }

  void forget_what_is_of_no_use(std::size_t number) {
    if (!journal_ || !journal_->finished().empty() || has_journal(number)) return;
    journal_->remove();
    container_->discard();
  }

  const WholeStore& store_;
  const Options& options_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Facts facts_;
  WantedStore wanted_;
  std::unique_ptr<Container> container_;
  std::optional<file::Journal> journal_;
  std::uint64_t told_ = 0;
};

}  // namespace

std::optional<WholeStore> whole_store(const std::string& in, const std::string& out, const Options& options) {
  if (!options.raw_dtype.empty() || options.map) return std::nullopt;
  WholeStore store{.operation = "lay `" + in + "` out anew", .in = place_of(in), .out = output_place(out)};
  if (!store.in.array.empty() || !store.out.array.empty()) return std::nullopt;
  const Format& from = format_of(store.in.path);
  std::vector<StoredArray> arrays = from.arrays(store.in.path);
  if (arrays.empty()) return std::nullopt;
  store.format = &require_output(store.in, store.out, options, store.operation);
  if (!store.format->holds_several()) return std::nullopt;
  store.groups = from.groups(store.in.path);
  // A single array is made a file as a whole where the store says something, too.
  const bool is_said = !arrays.front().name.empty() && !store.format->has_chunks() &&
                       std::any_of(store.groups.begin(), store.groups.end(),
                                   [](const Group& group) { return !group.attributes.empty(); });
  if (arrays.size() == 1 && !is_said) return std::nullopt;
  require_names(arrays, store.operation);
  for (StoredArray& array : arrays) {
    if (array.refusal) throw Error(*array.refusal);
    const Place place{.path = store.out.path, .array = bare_name(array.name)};
    const std::string operation = "lay `" + in + ":" + array.name + "` out anew";
    store.works.push_back(work_between(std::move(array), place, *store.format, operation, options));
  }
  return store;
}

Facts explain_whole(const WholeStore& store) {
  if (store.works.size() == 1) return explain_work(store.works.front());
  Facts all{.in = {.format = store.works.front().in.format},
            .out = {.format = store.format->name()},
            .sweeps = 1,
            .decoded = 1,
            .arrays = store.works.size(),
            .predicted_seconds = 0};
  for (const Work& work : store.works) {
    const Facts facts = explain_work(work);
    all.in.bytes += facts.in.bytes;
    all.out.bytes += facts.out.bytes;
    all.sweeps = std::max(all.sweeps, facts.sweeps);
    all.uses_scratch = all.uses_scratch || facts.uses_scratch;
    all.decoded = std::max(all.decoded, facts.decoded);
    all.read_bytes += facts.read_bytes;
    all.written_bytes += facts.written_bytes;
    all.memory_bytes = std::max(all.memory_bytes, facts.memory_bytes);
    all.prediction_source = facts.prediction_source;
    all.predicted_seconds = all.predicted_seconds && facts.predicted_seconds
                                ? std::optional(*all.predicted_seconds + *facts.predicted_seconds)
                                : std::nullopt;
    all.threads = std::max(all.threads, facts.threads);
  }
  return all;
}

Report relayout_whole(const WholeStore& store, const Options& options) {
  return WholeRun(store, options).run();
}

}  // namespace faro::store
