#include "store/shared_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "faro/error.hpp"
#include "io/output_file.hpp"
#include "store/relayout_run.hpp"

namespace faro::store {
namespace {

// Half a sweep that keeps places and types as they are.
SweepJob plain_job(const Source& source, Sink& sink, const Shape& shape, const ElementType& type) {
  return {.source = source,
          .sink = sink,
          .shape = shape,
          .axes = AxisChoice::identity(shape.size()),
          .type = type,
          .region = shape};
}

// What a half that has no other side is given for it.
class NoSource final : public Source {
 public:
  std::vector<Box> boxes(const Box& /*region*/) const override { return {}; }
  Loaded load(const Box& /*box*/, Workspace& /*workspace*/) const override { return {}; }
  Cost cost(const Shape& /*region*/) const override { return 0; }
  std::uint64_t workspace_bytes(const Shape& /*region*/) const override { return 0; }
  Shape unit() const override { return {}; }
};

bool is_as_in_memory(const RunForm& run) {
  return run.strides == dense_strides(run.shape, c_order(run.shape.size())) &&
         (run.byte_order == ByteOrder::little || run.type.bytes == 1);
}

}  // namespace

std::optional<PlainRun> plain_run(const StoredArray& array) {
  if (!array.run || !is_as_in_memory(array.run->form)) return std::nullopt;
  return PlainRun{.path = array.run->path, .offset = array.run->form.offset};
}

void load_box(const StoredArray& array, const Box& box, std::span<std::byte> to, int threads) {
  const std::unique_ptr<Source> source = array.source();
  const std::unique_ptr<Sink> unused = run_sink(-1, {}, dense_run(array.shape, array.type, 0));
  SweepJob job = plain_job(*source, *unused, array.shape, array.type);
  job.threads = threads;
  job.memory = to.data();
  load_region(job, box);
}

Shape unit_of(const StoredArray& array) { return array.source()->unit(); }

SharedOutput::SharedOutput(Work work) : work_(std::move(work)) {
  const std::unique_ptr<Sink> sink = planned_sink(work_, left_out_);
  // Chunks that are stored together have one owner.
  unit_ = work_.wanted.shards.empty() ? sink->unit() : work_.wanted.shards;
}

std::filesystem::path SharedOutput::make() {
  std::vector<std::string> known;
  made_ = created(work_, io::Unfinished::kept, known);
  try {
    made_->begin(Leftover::removed);
  } catch (...) {
    made_->discard();
    throw;
  }
  place_ = made_->place();
  return place_;
}

void SharedOutput::join(const std::filesystem::path& place) {
  place_ = place;
  std::vector<std::string> known;
  const auto run = only_output(work_, known);
  joined_.reset(open(place.c_str(), (run ? O_RDWR : O_RDONLY | O_DIRECTORY) | O_CLOEXEC | O_NOFOLLOW));
  if (!joined_.is_open()) {
    fail(ErrorCode::file, "write `" + place.string() + "`", io::error_text(errno),
         "what another process of this run made", "every process needs the same files");
  }
  sink_ = run ? output_sink(joined_.get(), place, *run) : work_.format->joined_sink(work_.wanted, place);
}

std::optional<PlainRun> SharedOutput::plain() const {
  std::vector<std::string> known;
  const auto run = only_output(work_, known);
  if (!run || run->tiles || !is_as_in_memory(run->form)) return std::nullopt;
  return PlainRun{.path = place_, .offset = run->form.offset};
}

void SharedOutput::store(const Box& box, std::span<std::byte> elements, int threads, Sums* sums) {
  const NoSource none;
  SweepJob job = plain_job(none, made_ ? made_->sink() : *sink_, work_.wanted.shape, work_.wanted.type);
  job.threads = threads;
  job.memory = elements.data();
  job.stored = sums;
  store_region(job, box);
}

void SharedOutput::finish() {
  if (made_) {
    made_->sink().finish();
    return made_->finish();
  }
  struct stat status {};
  const bool is_folder = fstat(joined_.get(), &status) == 0 && S_ISDIR(status.st_mode);
  const int error = is_folder ? io::sync_file_system(joined_.get()) : io::sync_file(joined_.get());
  if (error != 0)
    fail(ErrorCode::file, "write `" + place_.string() + "`", io::error_text(error), "room on the disk");
}

void SharedOutput::commit() { made_->commit(); }
void SharedOutput::discard() noexcept {
  if (made_) made_->discard();
}

}  // namespace faro::store
