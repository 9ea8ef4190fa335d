#include "store/json.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "faro/error.hpp"
#include "io/file_system.hpp"

namespace faro::store {
namespace {

constexpr int kMostJsonDepth = 64;
constexpr std::size_t kMostAxes = 64;

constexpr std::array<std::string_view, 3> kBareWords{"NaN", "Infinity", "-Infinity"};

// As dump() writes the text of a bare word.
std::string dumped(std::string_view word) { return fmt::format("\"\\u0000{}\"", word); }

// Bare words as such texts.
std::string with_bare_words_quoted(std::string_view text) {
  std::string quoted;
  bool is_in_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto* const word =
        is_in_text ? kBareWords.end() : std::find_if(kBareWords.begin(), kBareWords.end(), [&](auto each) {
          return text.substr(at).starts_with(each);
        });
    if (word != kBareWords.end()) {
      quoted += dumped(*word);
      at += word->size() - 1;
      continue;
    }
    if (text[at] == '"') is_in_text = !is_in_text;
    quoted += text[at];
    if (is_in_text && text[at] == '\\' && at + 1 < text.size()) quoted += text[++at];
  }
  return quoted;
}

void replace_all(std::string& text, const std::string& old, std::string_view now) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + now.size()))
    text.replace(at, old.size(), now);
}

// Why a text is refused while it is read.
struct Refused {
  std::string got;
};

}  // namespace

Json parse_json_object(std::string_view text, const std::string& operation) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&keys](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMostJsonDepth) throw Refused{fmt::format("JSON of more than {} levels", kMostJsonDepth)};
    switch (event) {
      case Json::parse_event_t::object_start:
        keys.emplace_back();
        break;
      case Json::parse_event_t::object_end:
        keys.pop_back();
        break;
      case Json::parse_event_t::key:
        if (!keys.back().insert(parsed.get<std::string>()).second)
          throw Refused{"JSON that has the key " + excerpt_of(parsed) + " twice"};
        break;
      default:
        break;
    }
    return true;
  };
  std::string got;
  try {
    Json json = Json::parse(with_bare_words_quoted(text), watch);
    if (json.is_object()) return json;
    got = "JSON that is no object";
  } catch (const Refused& refused) {
    got = refused.got;
  } catch (const Json::exception& error) {
    got = "no JSON: " + std::string(error.what()).substr(0, 200);
  }
  std::replace_if(
      got.begin(), got.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  fail(ErrorCode::file, operation, got, "a JSON object");
}

const Json& member(const Json& object, const char* key, const std::string& operation) {
  const auto found = object.find(key);
  if (found == object.end())
    fail(ErrorCode::file, operation, fmt::format("no key `{}`", key), "metadata with it");
  return *found;
}

std::string text_of(const Json& object, const char* key, const std::string& operation) {
  const Json& value = member(object, key, operation);
  if (!value.is_string())
    fail(ErrorCode::file, operation, fmt::format("{} for `{}`", excerpt_of(value), key), "a text");
  return value.get<std::string>();
}

std::uint64_t number_of_key(const Json& object, const char* key, const std::string& operation) {
  const Json& value = member(object, key, operation);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >> 63 != 0)
    fail(ErrorCode::file, operation, fmt::format("{} for `{}`", excerpt_of(value), key),
         "a number from 0 on");
  return value.get<std::uint64_t>();
}

Shape shape_of(const Json& object, const char* key, const std::string& operation) {
  const Json& value = member(object, key, operation);
  const auto is_extent = [](const Json& each) {
    return each.is_number_unsigned() && each.get<std::uint64_t>() >> 63 == 0;
  };
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_extent)) {
    fail(ErrorCode::file, operation, fmt::format("{} for `{}`", excerpt_of(value), key),
         "a list of numbers from 0 on");
  }
  return value.get<Shape>();
}

std::string json_text(const Json& json) {
  std::string text = json.dump(2);
  for (const std::string_view word : kBareWords) replace_all(text, dumped(word), word);
  return text;
}

std::string strict_json_text(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (const std::string_view word : kBareWords) replace_all(text, dumped(word), fmt::format("\"{}\"", word));
  return text;
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

std::string excerpt_of(const Json& value) {
  constexpr std::size_t kMost = 80;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "…";
  return text;
}

std::string read_small_file(const std::string& path, std::uint64_t most) {
  const std::string operation = "read `" + path + "`";
  const io::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.is_open() || fstat(file.get(), &status) != 0)
    fail(ErrorCode::file, operation, io::error_text(errno), "a file that can be read");
  if (!S_ISREG(status.st_mode)) fail(ErrorCode::file, operation, "no regular file", "a regular file");
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes > most)
    fail(ErrorCode::file, operation, fmt::format("{} bytes", bytes), fmt::format("at most {}", most));
  std::string text(bytes, '\0');
  const io::ReadAt read = io::read_at(file.get(), std::as_writable_bytes(std::span(text)), 0);
  if (read.bytes != bytes) fail(ErrorCode::file, operation, "an end before its time", "the file as it was");
  return text;
}

void require_shape(const Shape& shape, std::uint64_t element_bytes, const std::string& operation) {
  if (shape.size() > kMostAxes)
    fail(ErrorCode::file, operation, fmt::format("an array of {} axes", shape.size()), "at most 64");
  std::uint64_t bytes = std::max<std::uint64_t>(element_bytes, 1);
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
  for (const std::uint64_t extent : shape) {
    if (extent != 0 && bytes > kMostBytes / extent)
      fail(ErrorCode::file, operation, "a shape of 2^62 bytes or more", "an array that a disk may hold");
    bytes *= std::max<std::uint64_t>(extent, 1);
  }
}

}  // namespace faro::store
