// The JSON of strangers: metadata of stores, read with bounds.
//
// What is read is at most some MiB and 64 levels deep, has no key twice in an object, and is an object. Keys
// keep their order, for what is not understood is written again as it was. NaN and infinities, which JSON has
// not, and libraries of Zarr write in attributes all the same, are texts here that begin with kBareWord.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "store/box.hpp"

namespace faro::store {

using Json = nlohmann::ordered_json;

inline constexpr char kBareWord = '\0';  // "\0NaN", "\0Infinity", "\0-Infinity"

/// Errors: ErrorCode::file, with `operation`.
Json parse_json_object(std::string_view text, const std::string& operation);

/// The value of a key, of the kind that is wanted. Errors: ErrorCode::file, naming key and kind.
const Json& member(const Json& object, const char* key, const std::string& operation);
std::string text_of(const Json& object, const char* key, const std::string& operation);
std::uint64_t number_of_key(const Json& object, const char* key, const std::string& operation);
/// A list of whole numbers from 0 to below 2^63.
Shape shape_of(const Json& object, const char* key, const std::string& operation);

/// Law: parse_json_object(json_text(j)) == j.
std::string json_text(const Json& json);
/// On one line, and JSON: bare words are texts. What is no UTF-8 is replaced.
std::string strict_json_text(const Json& json);

/// Whether JSON can have the text.
bool is_utf8(const std::string& text);

/// A value, on one line and cut short, for an error.
std::string excerpt_of(const Json& value);

/// The whole of a small file. Errors: ErrorCode::file, also for one of more than `most` bytes.
std::string read_small_file(const std::string& path, std::uint64_t most);

/// Refuses shapes that no array has. Errors: ErrorCode::file for more than 64 axes and for 2^62 bytes or
/// more.
void require_shape(const Shape& shape, std::uint64_t element_bytes, const std::string& operation);

}  // namespace faro::store
