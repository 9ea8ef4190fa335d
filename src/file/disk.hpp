// How fast a disk reads and writes segments at random, by their length: what times of sweeps are predicted
// by.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "faro/file.hpp"

namespace faro::file {

struct DiskCurve {
  using Point = SegmentRate;

  std::string source;  // "`faro tune --disk`, io_uring with O_DIRECT"
  /// The fewest requests that reach the best rate of short segments: by io_uring those of each of the usual
  /// threads, else the threads. 0: not measured.
  int queue_depth = 0;
  int io_threads = 0;
  std::vector<Point> points;  // by ascending segments

  /// Seconds to read `bytes` in runs of read_run_bytes and write as many; rates between two points are
  /// interpolated. Requires: points (checked).
  double predict_seconds(std::uint64_t bytes, std::uint64_t read_run_bytes,
                         std::uint64_t write_run_bytes) const;
  /// The same of what is only read, and only written. Requires: points (checked).
  double predict_read_seconds(std::uint64_t bytes, std::uint64_t read_run_bytes) const;
  double predict_write_seconds(std::uint64_t bytes, std::uint64_t write_run_bytes) const;

  /// The shortest segments that are read and written nearly as fast as any. Requires: points (checked).
  std::uint64_t enough_segment_bytes() const;

  std::string to_json() const;
  /// Errors: ErrorCode::file.
  static DiskCurve from_json(const std::string& text, const std::string& name);
};

/// What runs are chosen by where no disk was measured: rates of which only the proportions count.
DiskCurve usual_disk();

/// Measures the disk of a folder by a nameless file of `bytes` in it, which is gone afterwards.
/// Errors: ErrorCode::file.   Cost: the file is written and read once for each of eight segments.
DiskCurve tune_disk(const std::filesystem::path& folder, std::uint64_t bytes, Io io = Io::automatic);

/// Takes queue depth, threads, segments and rates that the options leave open from the curve of the disk of a
/// file's folder, where there is one. A curve that cannot be read is none.
void choose_requests(const std::filesystem::path& file, Options& options);

/// Where a folder's disk's curve is kept, by the number of its device; nothing as calibration_path().
/// Errors: ErrorCode::file for a folder that is not there.
std::optional<std::filesystem::path> disk_curve_path(const std::filesystem::path& folder);
/// Nothing where there is none. Errors: as from_json.
std::optional<DiskCurve> kept_disk_curve(const std::filesystem::path& folder);

}  // namespace faro::file
