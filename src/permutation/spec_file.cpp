#include "spec_file.hpp"

#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "faro/error.hpp"
#include "faro/permutation/affine_json.hpp"
#include "faro/permutation/qasm.hpp"
#include "text.hpp"

namespace faro::detail {
namespace {

// A circuit of some millions of gates. What is longer was meant for something else.
constexpr std::size_t kLargestFileBytes = std::size_t{64} << 20;
constexpr std::size_t kChunkBytes = std::size_t{1} << 16;

// A path is quoted whole: it is what the user has to look at.
constexpr std::size_t kLongestPathBytes = 300;

[[noreturn]] void refuse(ErrorCode code, const std::string& path, std::string got, std::string wanted) {
  throw Error({.code = code,
               .operation = "read " + in_quotes(path, kLongestPathBytes),
               .got = std::move(got),
               .wanted = std::move(wanted),
               .remedy = ""});
}

// Read in chunks up to the limit: the size that a file states may be a pipe's 0, or a device's.
std::string content_of(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string chunk(kChunkBytes, '\0');
  while (file.good() && text.size() <= kLargestFileBytes) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk, 0, static_cast<std::size_t>(file.gcount()));
  }
  if (text.size() > kLargestFileBytes) refuse(ErrorCode::file, path, "more than 64 MiB", "at most 64 MiB");
  if (!file.eof()) {
    const int fault = errno != 0 ? errno : EIO;
    refuse(ErrorCode::file, path, std::generic_category().message(fault), "a readable file");
  }
  return text;
}

}  // namespace

Affine read_spec_file(const std::string& path) {
  const std::string_view name = path;
  if (name.ends_with(".qasm")) return parse_qasm(content_of(path), path);
  if (name.ends_with(".json")) return parse_affine_json(content_of(path), path);
  if (name.ends_with(".npy")) {
    refuse(ErrorCode::unsupported, path, "an index array",
           "a .qasm or .json file; index arrays are not yet supported");
  }
  refuse(ErrorCode::spec, path, "a file of unknown kind", "a name that ends in .qasm or .json");
}

}  // namespace faro::detail
