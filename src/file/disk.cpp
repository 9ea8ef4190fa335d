#include "file/disk.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <system_error>
#include <utility>

#include "faro/error.hpp"
#include "faro/problem/target.hpp"
#include "file/pipeline.hpp"
#include "io/output_file.hpp"

namespace faro::file {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLeastSegment = std::uint64_t{16} << 10;
constexpr std::uint64_t kMostSegment = std::uint64_t{2} << 20;
constexpr std::uint64_t kMostRequests = 1024;
constexpr std::uint64_t kMostCurveBytes = std::uint64_t{1} << 20;

// Segments of a file in an order that is far from ascending: each once.
class SegmentOrder {
 public:
  explicit SegmentOrder(std::uint64_t count) : count_(count), step_(count * 5 / 13 | 1) {
    while (std::gcd(step_, count_) != 1) step_ += 2;
  }
  std::uint64_t operator()(std::uint64_t i) const { return i * step_ % count_; }

 private:
  std::uint64_t count_;
  std::uint64_t step_;
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Rates grow with the logarithm of the segment, as a rule.
template <typename RateOf>
double rate_at(const std::vector<DiskCurve::Point>& points, std::uint64_t run_bytes, const RateOf& rate_of) {
  FARO_CHECK(!points.empty());
  if (run_bytes <= points.front().segment_bytes) {
    // A request takes as long as the shortest one that was measured.
    return rate_of(points.front()) * static_cast<double>(std::max<std::uint64_t>(run_bytes, 1)) /
           static_cast<double>(points.front().segment_bytes);
  }
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (run_bytes > points[i].segment_bytes) continue;
    const double from = std::log2(static_cast<double>(points[i - 1].segment_bytes));
    const double to = std::log2(static_cast<double>(points[i].segment_bytes));
    const double part = (std::log2(static_cast<double>(run_bytes)) - from) / (to - from);
    return rate_of(points[i - 1]) + part * (rate_of(points[i]) - rate_of(points[i - 1]));
  }
  return rate_of(points.back());
}

void require_curve(bool is_curve, const std::string& name) {
  if (!is_curve)
    fail(ErrorCode::file, "read `" + name + "`", "no curve of a disk", "what `faro tune --disk` writes");
}

}  // namespace

double DiskCurve::predict_seconds(std::uint64_t bytes, std::uint64_t read_run_bytes,
                                  std::uint64_t write_run_bytes) const {
  return predict_read_seconds(bytes, read_run_bytes) + predict_write_seconds(bytes, write_run_bytes);
}

double DiskCurve::predict_read_seconds(std::uint64_t bytes, std::uint64_t read_run_bytes) const {
  return static_cast<double>(bytes) /
         rate_at(points, read_run_bytes, [](const Point& p) { return p.read_bytes_per_s; });
}

double DiskCurve::predict_write_seconds(std::uint64_t bytes, std::uint64_t write_run_bytes) const {
  return static_cast<double>(bytes) /
         rate_at(points, write_run_bytes, [](const Point& p) { return p.write_bytes_per_s; });
}

std::uint64_t DiskCurve::enough_segment_bytes() const {
  FARO_CHECK(!points.empty());
  constexpr double kNearly = 1.05;
  double best_read = 0;
  double best_write = 0;
  for (const Point& point : points) {
    best_read = std::max(best_read, point.read_bytes_per_s);
    best_write = std::max(best_write, point.write_bytes_per_s);
  }
  const auto found = std::find_if(points.begin(), points.end(), [&](const Point& point) {
    return point.read_bytes_per_s * kNearly >= best_read && point.write_bytes_per_s * kNearly >= best_write;
  });
  return (found == points.end() ? points.back() : *found).segment_bytes;
}

std::string DiskCurve::to_json() const {
  Json json = {{"schema", 1},
               {"source", source},
               {"queue_depth", queue_depth},
               {"io_threads", io_threads},
               {"points", Json::array()}};
  for (const Point& point : points)
    json["points"].push_back({point.segment_bytes, point.read_bytes_per_s, point.write_bytes_per_s});
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

DiskCurve DiskCurve::from_json(const std::string& text, const std::string& name) {
  const Json json = Json::parse(text, nullptr, false);
  require_curve(json.is_object() && json.value("schema", Json()) == 1, name);
  const Json source = json.value("source", Json());
  const Json points = json.value("points", Json());
  require_curve(source.is_string() && points.is_array() && !points.empty(), name);
  DiskCurve curve{.source = source.get<std::string>(), .points = {}};
  const auto small_number = [&](const char* key) {
    const Json value = json.value(key, Json(0));  // none in older curves
    require_curve(value.is_number_unsigned() && value.get<std::uint64_t>() <= kMostRequests, name);
    return value.get<int>();
  };
  curve.queue_depth = small_number("queue_depth");
  curve.io_threads = small_number("io_threads");
  for (const Json& each : points) {
    require_curve(each.is_array() && each.size() == 3 && each[0].is_number_unsigned() &&
                      each[1].is_number() && each[2].is_number(),
                  name);
    const Point point{.segment_bytes = each[0].get<std::uint64_t>(),
                      .read_bytes_per_s = each[1].get<double>(),
                      .write_bytes_per_s = each[2].get<double>()};
    const bool ascends = point.segment_bytes > (curve.points.empty() ? 0 : curve.points.back().segment_bytes);
    require_curve(ascends && point.read_bytes_per_s > 0 && point.write_bytes_per_s > 0, name);
    curve.points.push_back(point);
  }
  return curve;
}

// A request takes as long as 28 KiB do, read or written: the disk's share of it does not depend on its length
// (docs/notes/file-experiments.md).
DiskCurve usual_disk() {
  constexpr double kBytesPerS = 2e9;
  constexpr double kRequestBytes = 28 << 10;
  constexpr std::uint64_t kLongest = std::uint64_t{32} << 20;
  DiskCurve curve{.source = "none", .points = {}};
  for (std::uint64_t segment = 4 << 10; segment <= kLongest; segment *= 2) {
    const auto bytes = static_cast<double>(segment);
    const double rate = kBytesPerS * bytes / (bytes + kRequestBytes);
    curve.points.push_back({.segment_bytes = segment, .read_bytes_per_s = rate, .write_bytes_per_s = rate});
  }
  return curve;
}

namespace {

// A file of so many bytes, swept in segments far from order.
class DiskTrial {
 public:
  DiskTrial(const std::filesystem::path& folder, std::uint64_t bytes, Io io)
      : file_(folder / "faro-tune"),  // never committed
        bytes_(bytes),
        choice_(io),
        transfers_(file_.descriptor(), io::TransferFile::Use::update, choice_.mode(),
                   (folder / "a file of `faro tune`").string()) {
    file_.reserve(bytes);
  }

  std::string io_text() const { return choice_.text(transfers_, kMostSegment); }
  bool is_by_uring() const { return choice_.mode() == io::TransferMode::uring; }

  /// Blocks that are reserved and were not written, as a sweep's output is: writing them costs more.
  void begin_anew() {
    if (ftruncate(file_.descriptor(), 0) != 0)
      fail(ErrorCode::file, file_.operation(), io::error_text(errno), "a file that can be written to");
    file_.reserve(bytes_);
  }

  /// Seconds of a sweep over the first `part` of the bytes.
  double sweep(const Options& options, std::uint64_t segment, bool writes, std::uint64_t part = 1) {
    Machinery machinery(options, choice_.mode(), kMostSegment * kBuffers);
    const std::uint64_t count = bytes_ / part / segment;
    const SegmentOrder order(count);
    // A thread's requests side by side, as many as make two MiB.
    const std::uint64_t together = std::min(kMostSegment / segment, count);
    std::atomic<std::uint64_t> slot{0};
    return seconds_of([&] {
      machinery.team.start(count / together, [&](std::uint64_t item, io::Transfers& requests) {
        std::byte* const memory = machinery.buffers[0] + slot++ % kBuffers * kMostSegment;
        std::vector<io::Piece> pieces;
        for (std::uint64_t i = 0; i < together; ++i) {
          pieces.push_back({.offset = order(item * together + i) * segment,
                            .bytes = segment,
                            .memory = memory + i * segment});
        }
        if (writes) return requests.write(transfers_, pieces);
        requests.read(transfers_, pieces);
      });
      machinery.team.wait();
      if (writes && io::sync_file(file_.descriptor()) != 0)
        fail(ErrorCode::file, file_.operation(), io::error_text(errno), "a disk that takes what is written");
    });
  }

 private:
  static constexpr std::uint64_t kBuffers = 32;  // what threads read into; two at once may share one

  io::OutputFile file_;
  std::uint64_t bytes_;
  IoChoice choice_;
  io::TransferFile transfers_;
};

}  // namespace

DiskCurve tune_disk(const std::filesystem::path& folder, std::uint64_t bytes, Io io) {
  bytes = std::max(bytes / kMostSegment, std::uint64_t{8}) * kMostSegment;
  DiskTrial trial(folder, bytes, io);
  Options options;
  options.io = io;
  DiskCurve curve{.source = "`faro tune --disk`, " + trial.io_text(), .points = {}};
  trial.sweep(options, kMostSegment, true);  // blocks that were only reserved are read without the disk
  // Requests: a rate that is within a thirtieth of the best will do.
  constexpr double kNearBest = 1.03;
  constexpr std::uint64_t kShortSegment = std::uint64_t{32} << 10;
  std::vector<std::pair<int, double>> seconds;
  for (const int requests : {4, 8, 16, 32, 64}) {
    Options asked = options;
    (trial.is_by_uring() ? asked.queue_depth : asked.io_threads) = requests;
    seconds.emplace_back(requests, trial.sweep(asked, kShortSegment, false, 4));
  }
  double best = seconds.front().second;
  for (const auto& each : seconds) best = std::min(best, each.second);
  const auto enough = std::find_if(seconds.begin(), seconds.end(),
                                   [&](const auto& each) { return each.second <= best * kNearBest; });
  (trial.is_by_uring() ? curve.queue_depth : curve.io_threads) = enough->first;
  options.queue_depth = curve.queue_depth;
  options.io_threads = curve.io_threads;
  const auto total = static_cast<double>(bytes);
  for (std::uint64_t segment = kLeastSegment; segment <= kMostSegment; segment *= 2) {
    trial.begin_anew();
    const double write_s = trial.sweep(options, segment, true);
    const double read_s = trial.sweep(options, segment, false);
    // A segment could be moved as two of half its length: where it seems slower, something else was
    // meanwhile.
    const DiskCurve::Point last = curve.points.empty() ? DiskCurve::Point{} : curve.points.back();
    curve.points.push_back({.segment_bytes = segment,
                            .read_bytes_per_s = std::max(last.read_bytes_per_s, total / read_s),
                            .write_bytes_per_s = std::max(last.write_bytes_per_s, total / write_s)});
  }
  return curve;
}

void choose_requests(const std::filesystem::path& file, Options& options) {
  try {
    const auto curve = kept_disk_curve(io::directory_of(file));
    if (!curve) return;
    if (options.queue_depth == 0) options.queue_depth = curve->queue_depth;
    if (options.io_threads == 0) options.io_threads = curve->io_threads;
    if (options.segment_bytes == 0) options.segment_bytes = curve->enough_segment_bytes();
    if (options.segment_rates.empty()) options.segment_rates = curve->points;
  } catch (const Error&) {
    // A damaged curve is reported to who asks for it.
  }
}

std::optional<std::filesystem::path> disk_curve_path(const std::filesystem::path& folder) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    fail(ErrorCode::file, "tune the disk of `" + folder.string() + "`",
         errno == 0 || S_ISREG(status.st_mode) ? "no folder" : io::error_text(errno), "a folder on it");
  return calibration_path(fmt::format("disk {} {}", major(status.st_dev), minor(status.st_dev)));
}

std::optional<DiskCurve> kept_disk_curve(const std::filesystem::path& folder) {
  const auto path = disk_curve_path(folder);
  std::error_code ignored;
  if (!path || !std::filesystem::is_regular_file(*path, ignored)) return std::nullopt;
  require_curve(std::filesystem::file_size(*path, ignored) <= kMostCurveBytes, path->string());
  std::ifstream file(*path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return DiskCurve::from_json(text, path->string());
}

}  // namespace faro::file
