#include "schedule/plan_file.hpp"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <type_traits>
#include <utility>

#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "io/buffer.hpp"
#include "io/output_file.hpp"

namespace faro::schedule {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20;  // hashed while it is in a cache

class Checksum {
 public:
  Checksum() { XXH3_64bits_reset(&state_); }
  void add(std::span<const std::byte> bytes) { XXH3_64bits_update(&state_, bytes.data(), bytes.size()); }
  std::uint64_t value() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

// --- the arrays of each kind, in the file's order: use(vector) for each

template <typename Schedule, typename Use>
void each_array(Schedule& schedule, const Use& use) {
  using Kind = std::remove_const_t<Schedule>;
  if constexpr (std::is_same_v<Kind, WindowSchedule>) use(schedule.shift);
  if constexpr (std::is_same_v<Kind, RunsSchedule>) {
    use(schedule.source);
    use(schedule.target);
  }
  if constexpr (std::is_same_v<Kind, PartitionSchedule>) {
    for (auto& level : schedule.levels) {
      use(level.places);
      use(level.starts);
      use(level.offsets);
    }
    use(schedule.last);
  }
  if constexpr (std::is_same_v<Kind, RowColumnSchedule>) {
    use(schedule.first);
    use(schedule.middle);
    use(schedule.last);
  }
}

template <typename Use>
void each_array(const DirectSchedule& direct, const Use& use) {
  if (direct.indexed.entries64().empty()) return use(direct.indexed.entries32());
  use(direct.indexed.entries64());
}

// --- reading

// Bytes in order, added to the checksum on their way.
class Reader {
 public:
  explicit Reader(PlanSource& source) : source_(source) {}

  void read(std::span<std::byte> to) {
    for (std::uint64_t begin = 0; begin < to.size(); begin += kPieceBytes) {
      const auto piece = to.subspan(begin, std::min<std::uint64_t>(kPieceBytes, to.size() - begin));
      source_.read(piece);
      checksum_.add(piece);
    }
  }

  // An array and what fills it up.
  template <typename T>
  void read_array(std::vector<T>& values, std::uint64_t bytes) {
    values.resize(bytes / sizeof(T));
    read(std::as_writable_bytes(std::span(values)));
    std::array<std::byte, 8> padding{};
    read(std::span(padding).first(padding_of(bytes)));
  }

  std::uint64_t checksum() const { return checksum_.value(); }

 private:
  PlanSource& source_;
  Checksum checksum_;
};

template <typename Entry>
DirectSchedule read_direct(Reader& reader, const PlanHeader& header, const auto& verify) {
  std::vector<Entry> entries;
  reader.read_array(entries, array_bytes(header).front());
  verify();
  return {Indexed(std::move(entries), header.applied)};
}

template <typename Schedule>
Schedule read_arrays(Schedule schedule, Reader& reader, const PlanHeader& header, const auto& verify) {
  const std::vector<std::uint64_t> bytes = array_bytes(header);
  auto next = bytes.begin();
  each_array(schedule, [&](auto& values) { reader.read_array(values, *next++); });
  verify();
  return schedule;
}

PartitionSchedule empty_partition(const PlanHeader& header) {
  PartitionSchedule schedule;
  schedule.shape.count = header.count;
  schedule.shape.chunk_bits = static_cast<int>(header.sizes[0]);
  const auto levels = static_cast<std::ptrdiff_t>(header.sizes[1]);
  schedule.shape.level_bits.assign(header.level_bits.begin(), header.level_bits.begin() + levels);
  schedule.levels.resize(header.sizes[1]);
  return schedule;
}

// verify() compares the checksum, between the arrays and anything that believes them.
decltype(IndexSchedule::what) read_kind(Reader& reader, const PlanHeader& header, const auto& verify) {
  const auto size = [&](int i) {
    return static_cast<std::uint32_t>(header.sizes[static_cast<std::size_t>(i)]);
  };
  switch (header.kind) {
    case PlanKind::direct:
      if (header.sizes[0] == 4) return read_direct<std::uint32_t>(reader, header, verify);
      return read_direct<std::uint64_t>(reader, header, verify);
    case PlanKind::window:
      return read_arrays(WindowSchedule{.count = header.count, .window = size(0), .shift = {}}, reader,
                         header, verify);
    case PlanKind::runs:
      return read_arrays(RunsSchedule{.count = header.count, .source = {}, .target = {}}, reader, header,
                         verify);
    case PlanKind::partition:
      return read_arrays(empty_partition(header), reader, header, verify);
    case PlanKind::row_column:
      return read_arrays(
          RowColumnSchedule{.rows = size(0), .columns = size(1), .first = {}, .middle = {}, .last = {}},
          reader, header, verify);
  }
  FARO_CHECK(false);
  return WindowSchedule{};
}

class FileSource final : public PlanSource {
 public:
  explicit FileSource(const std::filesystem::path& path) : name_(path.string()) {
    // O_NONBLOCK: opening a pipe that nobody writes to must not hang before it can be refused.
    file_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file_.is_open() || fstat(file_.get(), &status) != 0) {
      fail(ErrorCode::file, "read `" + name_ + "`", io::error_text(errno), "a readable plan file");
    }
    if (S_ISDIR(status.st_mode)) fail(ErrorCode::file, "read `" + name_ + "`", "a directory", "a plan file");
    if (!S_ISREG(status.st_mode))
      fail(ErrorCode::file, "read `" + name_ + "`", "a pipe or device", "a regular file");
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  std::uint64_t size() const override { return size_; }

  void read(std::span<std::byte> to) override {
    while (!to.empty()) {
      const ssize_t got = ::read(file_.get(), to.data(), to.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0)
        fail(ErrorCode::file, "read `" + name_ + "`", io::error_text(errno), "a readable plan file");
      if (got == 0)
        fail(ErrorCode::file, "read `" + name_ + "`", "a file that became shorter while it was read",
             "one that is left alone");
      to = to.subspan(static_cast<std::size_t>(got));
    }
  }

 private:
  std::string name_;
  io::Descriptor file_;
  std::uint64_t size_ = 0;
};

// --- writing

// Bytes in order, added to the checksum on their way.
class Writer {
 public:
  explicit Writer(io::OutputFile& file) : file_(file) {}

  void write(std::span<const std::byte> bytes) {
    file_.write(bytes, offset_);
    checksum_.add(bytes);
    offset_ += bytes.size();
  }

  std::uint64_t checksum() const { return checksum_.value(); }

 private:
  io::OutputFile& file_;
  Checksum checksum_;
  std::uint64_t offset_ = 0;
};

IndexSchedule read_and_check(PlanSource& source, const std::string& name) {
  if (source.size() < kPlanHeaderBytes + kPlanChecksumBytes) {
    fail(ErrorCode::file, "read `" + name + "`", std::to_string(source.size()) + " bytes",
         "a plan file, which has at least 88");
  }
  Reader reader(source);
  std::array<std::byte, kPlanHeaderBytes> bytes{};
  reader.read(bytes);
  const PlanHeader header = parse_plan_header(bytes, name);
  if (const std::uint64_t wanted = file_bytes(header); source.size() != wanted) {
    fail(ErrorCode::file, "read `" + name + "`", std::to_string(source.size()) + " bytes",
         std::to_string(wanted) + ", as its header says: the file is " +
             (source.size() < wanted ? "truncated" : "too long"));
  }
  detail::require_memory("read `" + name + "`", "a plan of " + std::to_string(header.count) + " elements",
                         source.size());
  const auto verify = [&] {
    std::uint64_t stored = 0;
    source.read(std::as_writable_bytes(std::span(&stored, 1)));
    if (stored != reader.checksum()) {
      fail(ErrorCode::file, "read `" + name + "`", "contents that its checksum does not fit",
           "a plan file as it was saved", "make the plan again");
    }
  };
  IndexSchedule schedule{.what = read_kind(reader, header, verify),
                         .count = header.count,
                         .applied = header.applied,
                         .fingerprint = header.fingerprint,
                         .blocks = header.blocks};
  check_schedule(schedule);
  return schedule;
}

}  // namespace

IndexSchedule read_plan(PlanSource& source, const std::string& name) {
  const std::string reading = "read `" + name + "`";
  try {
    return read_and_check(source, name);
  } catch (const Error& error) {
    // Checks of what is no permutation know pass, chunk and entry, but no file.
    ErrorReport report = error.report();
    if (report.operation.starts_with(reading)) throw;
    report.operation = reading + ": " + report.operation;
    throw Error(std::move(report));
  }
}

void save(const IndexSchedule& schedule, const std::filesystem::path& path) {
  const PlanHeader header = header_of(schedule);
  const std::vector<std::uint64_t> bytes = array_bytes(header);
  auto next = bytes.begin();
  const auto check = [&](const auto& values) {
    FARO_CHECK(next != bytes.end() && std::as_bytes(std::span(values)).size() == *next++);
  };
  std::visit([&](const auto& what) { each_array(what, check); }, schedule.what);
  FARO_CHECK(next == bytes.end());

  io::OutputFile file(path);
  file.reserve(file_bytes(header));
  Writer writer(file);
  writer.write(to_bytes(header));
  const std::array<std::byte, 8> zeros{};
  const auto write = [&](const auto& values) {
    const auto content = std::as_bytes(std::span(values));
    writer.write(content);
    writer.write(std::span(zeros).first(padding_of(content.size())));
  };
  std::visit([&](const auto& what) { each_array(what, write); }, schedule.what);
  const std::uint64_t checksum = writer.checksum();
  writer.write(std::as_bytes(std::span(&checksum, 1)));
  file.commit();
}

IndexSchedule load(const std::filesystem::path& path) {
  FileSource source(path);
  return read_plan(source, path.string());
}

}  // namespace faro::schedule
