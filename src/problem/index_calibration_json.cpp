// An IndexCalibration as JSON, and the file that keeps it (docs/guide/json.md, "tune"). The file may be from
// anywhere: nothing in it is believed that would make a curve that is none.
#include <cctype>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "faro/error.hpp"
#include "faro/problem/target.hpp"
#include "io/npy.hpp"
#include "permutation/text.hpp"
#include "problem/cache_folder.hpp"

namespace faro {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int kSchema = 1;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 50;
constexpr double kLeastMicroseconds = 1e-6;  // so that no ratio of two times overflows
constexpr double kMostMicroseconds = 1e15;
constexpr int kMostWidth = 4096;
constexpr double kMostFactor = 1e6;
constexpr int kMostBits = 40;
constexpr std::uint64_t kMostFileBytes = std::uint64_t{16} << 20;

constexpr IndexKernel kKernels[] = {
    IndexKernel::gather,        IndexKernel::scatter,  IndexKernel::spread,
    IndexKernel::collect,       IndexKernel::place,    IndexKernel::pick,
    IndexKernel::window,        IndexKernel::runs,     IndexKernel::copy,
    IndexKernel::schedule,      IndexKernel::check,    IndexKernel::tile,
    IndexKernel::streamed_tile, IndexKernel::segments, IndexKernel::streamed_segments};

constexpr const char* kTuneRemedy = "`faro tune` writes it anew";

// Reads one file's text, naming what is wrong and where.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  const Json& member(const Json& object, const std::string& key) const {
    if (!object.is_object() || !object.contains(key))
      fail(ErrorCode::file, detail::reading(file_), "no `" + key + "`", "that key", kTuneRemedy);
    return object.at(key);
  }

  int small(const Json& object, const std::string& key, int least, int most) const {
    const Json& value = member(object, key);
    if (!value.is_number_integer() || value < least || value > most) {
      fail(ErrorCode::file, detail::reading(file_), "`" + key + "` of " + short_text(value),
           "a number from " + std::to_string(least) + " to " + std::to_string(most), kTuneRemedy);
    }
    return value.get<int>();
  }

  std::string text(const Json& object, const std::string& key) const {
    const Json& value = member(object, key);
    if (!value.is_string())
      fail(ErrorCode::file, detail::reading(file_), "`" + key + "` of " + short_text(value), "text",
           kTuneRemedy);
    return value.get<std::string>();
  }

  const Json& list(const Json& object, const std::string& key) const {
    const Json& value = member(object, key);
    if (!value.is_array())
      fail(ErrorCode::file, detail::reading(file_), "`" + key + "` of " + short_text(value), "a list",
           kTuneRemedy);
    return value;
  }

  IndexKernel kernel(const Json& object) const {
    const std::string given = text(object, "kernel");
    for (const IndexKernel each : kKernels) {
      if (given == name(each)) return each;
    }
    fail(ErrorCode::file, detail::reading(file_), "`kernel` of " + short_text(given), "the name of a kernel",
         kTuneRemedy);
  }

  PriceFactor factor(const Json& given) const {
    const bool is_factor = given.is_array() && given.size() == 3 && given[0].is_string() &&
                           given[1].is_string() && given[2].is_number() && given[2].get<double>() > 0 &&
                           given[2].get<double>() <= kMostFactor;
    if (!is_factor) {
      fail(ErrorCode::file, detail::reading(file_), "`axes` with " + short_text(given),
           "lists of a kind, a count and a factor above 0, at most 1e6", kTuneRemedy);
    }
    return {.kind = given[0].get<std::string>(),
            .count = given[1].get<std::string>(),
            .factor = given[2].get<double>()};
  }

  TimeCurve curve(const Json& object) const {
    TimeCurve curve;
    for (const Json& each : list(object, "points")) {
      const bool pair =
          each.is_array() && each.size() == 2 && each[0].is_number_unsigned() && each[1].is_number();
      const auto elements = pair ? each[0].get<std::uint64_t>() : 0;
      const double microseconds = pair ? each[1].get<double>() : 0;
      const std::uint64_t before = curve.empty() ? 0 : curve.points.back().elements;
      if (!pair || elements <= before || elements > kMostElements || !(microseconds >= kLeastMicroseconds) ||
          !(microseconds < kMostMicroseconds)) {
        fail(ErrorCode::file, detail::reading(file_), "`points` with " + short_text(each),
             "pairs of elements, ascending, and microseconds from 1e-6 to 1e15", kTuneRemedy);
      }
      curve.points.push_back({.elements = elements, .microseconds = microseconds});
    }
    return curve;
  }

 private:
  static std::string short_text(const Json& value) {
    constexpr std::size_t kMost = 40;
    return detail::printable(value.dump(-1, ' ', true, Json::error_handler_t::replace), kMost);
  }

  std::string file_;
};

// "NVIDIA H200" is "nvidia-h200".
std::string fit_for_a_file(const std::string& machine) {
  constexpr std::size_t kMost = 100;
  std::string text;
  for (const char c : machine) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) != 0) {
      text += static_cast<char>(std::tolower(byte));
    } else if (!text.empty() && text.back() != '-') {
      text += '-';
    }
  }
  while (text.ends_with('-')) text.pop_back();
  return text.empty() ? "machine" : text.substr(0, kMost);
}

}  // namespace

std::string IndexCalibration::to_json() const {
  Json json = {{"schema", kSchema}, {"source", source}, {"curves", Json::array()}};
  for (const IndexCurve& each : curves) {
    Json points = Json::array();
    for (const TimeCurve::Point& point : each.curve.points) {
      points.push_back({point.elements, point.microseconds});
    }
    json["curves"].push_back({{"kernel", name(each.kernel)},
                              {"element_bytes", each.element_bytes},
                              {"chunk_bits", each.chunk_bits},
                              {"run_bits", each.run_bits},
                              {"points", std::move(points)}});
  }
  for (const PriceFactor& each : axes) json["axes"].push_back({each.kind, each.count, each.factor});
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

IndexCalibration IndexCalibration::from_json(const std::string& text, const std::string& name) {
  const Reader reader(name);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    fail(ErrorCode::file, detail::reading(name), "no JSON", "what `faro tune` writes", kTuneRemedy);
  static_cast<void>(reader.small(json, "schema", kSchema, kSchema));
  IndexCalibration calibration{.source = reader.text(json, "source"), .curves = {}};
  for (const Json& each : reader.list(json, "curves")) {
    calibration.curves.push_back({.kernel = reader.kernel(each),
                                  .element_bytes = reader.small(each, "element_bytes", 1, kMostWidth),
                                  .chunk_bits = reader.small(each, "chunk_bits", 0, kMostBits),
                                  .run_bits = reader.small(each, "run_bits", 0, kMostBits),
                                  .curve = reader.curve(each)});
  }
  if (json.contains("axes")) {
    for (const Json& each : reader.list(json, "axes")) calibration.axes.push_back(reader.factor(each));
  }
  return calibration;
}

std::optional<fs::path> detail::cache_folder() {
  const auto set = [](const char* variable) -> std::optional<fs::path> {
    const char* const value = secure_getenv(variable);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return fs::path(value);
  };
  if (auto own = set("FARO_CACHE")) return own;
  if (const auto user = set("XDG_CACHE_HOME"); user && user->is_absolute()) return *user / "faro";
  if (const auto home = set("HOME")) return *home / ".cache" / "faro";
  return std::nullopt;
}

std::optional<fs::path> calibration_path(const std::string& machine) {
  const auto folder = detail::cache_folder();
  if (!folder) return std::nullopt;
  return *folder / ("tune-" + fit_for_a_file(machine) + ".json");
}

std::optional<IndexCalibration> kept_calibration(const std::string& machine) {
  const auto path = calibration_path(machine);
  std::error_code ignored;
  if (!path || !fs::exists(*path, ignored)) return std::nullopt;
  if (!fs::is_regular_file(*path, ignored))
    fail(ErrorCode::file, detail::reading(path->string()), "no regular file", "one", kTuneRemedy);
  const std::uint64_t bytes = fs::file_size(*path, ignored);
  if (!ignored && bytes > kMostFileBytes)
    fail(ErrorCode::file, detail::reading(path->string()), std::to_string(bytes) + " bytes",
         "at most 16 MiB of curves", kTuneRemedy);
  std::ifstream file(*path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad())
    fail(ErrorCode::file, detail::reading(path->string()), "a file that cannot be read", "one that can",
         kTuneRemedy);
  return IndexCalibration::from_json(text, path->string());
}

fs::path keep_calibration(const std::string& machine, const IndexCalibration& calibration) {
  const auto path = calibration_path(machine);
  if (!path) {
    fail(ErrorCode::file, "keep the measured curves", "neither FARO_CACHE nor XDG_CACHE_HOME nor HOME",
         "a folder to keep them in", "set FARO_CACHE");
  }
  std::error_code failure;
  fs::create_directories(path->parent_path(), failure);
  if (failure) {
    fail(ErrorCode::file, "make the folder `" + path->parent_path().string() + "`", failure.message(),
         "a folder to keep the measured curves in", "set FARO_CACHE to another");
  }
  io::write_file(*path, calibration.to_json() + "\n");
  return *path;
}

std::shared_ptr<const IndexCalibration> calibration_for(const std::string& machine,
                                                        const IndexCalibration& built_in) {
  try {
    if (auto kept = kept_calibration(machine)) {
      return std::make_shared<const IndexCalibration>(std::move(*kept));
    }
    return std::make_shared<const IndexCalibration>(built_in);
  } catch (const Error& error) {
    IndexCalibration without = built_in;
    without.source += std::string("; the measured ones were left out (") + error.what() + ")";
    return std::make_shared<const IndexCalibration>(std::move(without));
  }
}

}  // namespace faro
