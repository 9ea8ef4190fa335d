// The file of measured choices. It may be from anywhere: nothing in it is believed that would make a plan
// which the planner would refuse, and what else it says only changes how fast a plan is.
#include "faro/wisdom.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <tuple>

#include "api/measured_choice.hpp"
#include "faro/error.hpp"
#include "faro_build_info.hpp"
#include "io/npy.hpp"
#include "permutation/text.hpp"
#include "problem/cache_folder.hpp"

namespace faro {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int kWisdomSchema = 1;
constexpr const char* kKeptRemedy = "`faro wisdom --forget` begins anew";
constexpr const char* kGivenRemedy = "`faro wisdom --export FILE` writes such a file";

using EntryKey = std::tuple<std::string, std::string, std::string>;  // machine, version, problem
using Entries = std::map<EntryKey, detail::CpuChoice>;

const char* stores_name(detail::Stores stores) {
  switch (stores) {
    case detail::Stores::cached:
      return "cached";
    case detail::Stores::streamed:
      return "streamed";
    default:
      return "planned";
  }
}

Json json_of(const Entries& entries) {
  Json json = {{"schema", kWisdomSchema}, {"entries", Json::array()}};
  for (const auto& [key, choice] : entries) {
    Json entry = {{"machine", std::get<0>(key)},
                  {"version", std::get<1>(key)},
                  {"problem", std::get<2>(key)},
                  {"stores", stores_name(choice.stores)},
                  {"segment_bytes", choice.segment_bytes},
                  {"tile_bytes", choice.tile_bytes},
                  {"threads", choice.threads},
                  {"microseconds", choice.microseconds}};
    if (choice.method) entry["method"] = name(*choice.method);
    json["entries"].push_back(std::move(entry));
  }
  return json;
}

// One entry's values, each refused by its name.
class EntryReader {
 public:
  EntryReader(const Json& entry, const std::string& file, const char* remedy)
      : entry_(entry), file_(file), remedy_(remedy) {}

  std::string text(const char* key) const {
    if (!entry_.is_object() || !entry_.contains(key) || !entry_[key].is_string()) refuse(key, "text");
    return entry_[key].get<std::string>();
  }
  std::uint64_t number(const char* key, std::uint64_t most) const {
    const bool is_number = entry_.is_object() && entry_.contains(key) && entry_[key].is_number_unsigned();
    if (!is_number || entry_[key].get<std::uint64_t>() > most)
      refuse(key, fmt::format("a whole number up to {}", most));
    return entry_[key].get<std::uint64_t>();
  }
  // 0, or a power of two up to `most`.
  std::uint64_t size(const char* key, std::uint64_t most) const {
    const std::uint64_t bytes = number(key, most);
    if ((bytes & (bytes - 1)) != 0 || (bytes != 0 && bytes < kLeastSize))
      refuse(key, fmt::format("0, or a power of two from {} to {}", kLeastSize, most));
    return bytes;
  }
  double microseconds() const {
    const char* const key = "microseconds";
    const bool is_number = entry_.is_object() && entry_.contains(key) && entry_[key].is_number();
    if (!is_number || !(entry_[key].get<double>() > 0) || !std::isfinite(entry_[key].get<double>()))
      refuse(key, "a number above 0");
    return entry_[key].get<double>();
  }
  detail::Stores stores() const {
    const std::string given = text("stores");
    for (const auto each : {detail::Stores::planned, detail::Stores::cached, detail::Stores::streamed}) {
      if (given == stores_name(each)) return each;
    }
    refuse("stores", "planned, cached or streamed");
  }
  std::optional<IndexMethod> method() const {
    if (!entry_.contains("method")) return std::nullopt;
    const std::string given = text("method");
    for (int each = 0; each <= static_cast<int>(IndexMethod::row_column_5); ++each) {
      if (given == name(static_cast<IndexMethod>(each))) return static_cast<IndexMethod>(each);
    }
    refuse("method", "the name of a method");
  }

 private:
  static constexpr std::uint64_t kLeastSize = 64;

  [[noreturn]] void refuse(const char* key, const std::string& wanted) const {
    constexpr std::size_t kMost = 40;
    const bool is_there = entry_.is_object() && entry_.contains(key);
    fail(ErrorCode::file, detail::reading(file_),
         is_there ? fmt::format("`{}` of {}", key,
                                detail::printable(
                                    entry_[key].dump(-1, ' ', true, Json::error_handler_t::replace), kMost))
                  : fmt::format("no `{}`", key),
         wanted, remedy_);
  }

  const Json& entry_;
  const std::string& file_;
  const char* remedy_;
};

Entries entries_of(const std::string& text, const std::string& file, const char* remedy) {
  constexpr std::uint64_t kMostSize = std::uint64_t{1} << 20;
  const Json json = Json::parse(text, nullptr, false);
  const bool is_wisdom = json.is_object() && json.contains("schema") && json["schema"] == kWisdomSchema &&
                         json.contains("entries") && json["entries"].is_array();
  if (!is_wisdom) {
    fail(ErrorCode::file, detail::reading(file), "no wisdom of faro",
         fmt::format("what `faro wisdom --export` writes, schema {}", kWisdomSchema), remedy);
  }
  Entries entries;
  for (const Json& each : json["entries"]) {
    const EntryReader read(each, file, remedy);
    entries[{read.text("machine"), read.text("version"), read.text("problem")}] = {
        .stores = read.stores(),
        .segment_bytes = read.size("segment_bytes", kMostSize),
        .tile_bytes = read.size("tile_bytes", kMostSize),
        .method = read.method(),
        .threads = static_cast<int>(read.number("threads", kMaxThreads)),
        .microseconds = read.microseconds()};
  }
  return entries;
}

// All that is kept; nothing where there is no file.
Entries kept_entries() {
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
  const auto path = wisdom::path();
  std::error_code ignored;
  if (!path || !fs::exists(*path, ignored)) return {};
  if (!fs::is_regular_file(*path, ignored) || fs::file_size(*path, ignored) > kMostBytes) {
    fail(ErrorCode::file, detail::reading(path->string()), "no regular file of at most 64 MiB", "one",
         kKeptRemedy);
  }
  std::ifstream file(*path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    fail(ErrorCode::file, detail::reading(path->string()), "a file that cannot be read", "one that can",
         kKeptRemedy);
  }
  return entries_of(text, path->string(), kKeptRemedy);
}

void keep_entries(const Entries& entries) {
  const auto path = wisdom::path();
  if (!path) {
    fail(ErrorCode::file, "keep what was measured", "neither FARO_CACHE nor XDG_CACHE_HOME nor HOME",
         "a folder to keep it in", "set FARO_CACHE");
  }
  std::error_code failure;
  fs::create_directories(path->parent_path(), failure);
  if (failure) {
    fail(ErrorCode::file, "make the folder `" + path->parent_path().string() + "`", failure.message(),
         "a folder to keep what was measured in", "set FARO_CACHE to another");
  }
  io::write_file(*path, json_of(entries).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::size_t merge_entries(const Entries& more) {
  Entries kept = kept_entries();
  std::size_t changed = 0;
  for (const auto& [key, choice] : more) {
    const auto there = kept.find(key);
    if (there != kept.end() && there->second.microseconds <= choice.microseconds) continue;
    kept.insert_or_assign(key, choice);
    ++changed;
  }
  if (changed > 0) keep_entries(kept);
  return changed;
}

EntryKey entry_key(const detail::WisdomKey& key) { return {key.machine, FARO_VERSION, key.problem}; }

// What this process has found where no file can be written.
struct ProcessWisdom {
  std::mutex mutex;
  Entries entries;
};
ProcessWisdom& process_wisdom() {
  static ProcessWisdom made;
  return made;
}

}  // namespace

namespace wisdom {

std::optional<fs::path> path() {
  const auto folder = detail::cache_folder();
  if (!folder) return std::nullopt;
  return *folder / "wisdom.json";
}

std::string to_json() { return json_of(kept_entries()).dump(1, ' ', false, Json::error_handler_t::replace); }

std::size_t merge(const std::string& json, const std::string& name) {
  return merge_entries(entries_of(json, name, kGivenRemedy));
}

std::size_t forget() {
  {
    const std::lock_guard lock(process_wisdom().mutex);
    process_wisdom().entries.clear();
  }
  const auto at = path();
  std::error_code failure;
  if (!at || !fs::exists(*at, failure)) return 0;
  std::size_t entries = 0;
  try {
    entries = kept_entries().size();
  } catch (const Error&) {  // whatever it was
  }
  if (!fs::remove(*at, failure) || failure)
    fail(ErrorCode::file, "remove `" + at->string() + "`", failure.message(), "a file that can be removed");
  return entries;
}

}  // namespace wisdom

namespace detail {

std::optional<CpuChoice> remembered(const WisdomKey& key) {
  const EntryKey wanted = entry_key(key);
  const Entries kept = kept_entries();
  if (const auto there = kept.find(wanted); there != kept.end()) return there->second;
  const std::lock_guard lock(process_wisdom().mutex);
  const auto there = process_wisdom().entries.find(wanted);
  if (there == process_wisdom().entries.end()) return std::nullopt;
  return there->second;
}

void remember(const WisdomKey& key, const CpuChoice& choice) {
  const EntryKey made = entry_key(key);
  try {
    merge_entries({{made, choice}});
  } catch (const Error&) {  // no folder, or none that can be written to
    const std::lock_guard lock(process_wisdom().mutex);
    process_wisdom().entries.insert_or_assign(made, choice);
  }
}

}  // namespace detail
}  // namespace faro
