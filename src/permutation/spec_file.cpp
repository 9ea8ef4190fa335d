#include "spec_file.hpp"

#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>

#include "faro/error.hpp"
#include "permutation/qasm.hpp"
#include "permutation/spec_file.hpp"
#include "text.hpp"

namespace faro::detail {
namespace {

// A circuit of some millions of gates. What is longer was meant for something else.
constexpr std::size_t kLargestFileBytes = std::size_t{64} << 20;
}  // namespace

Affine read_spec_file(const std::string& path, std::vector<std::string>& notes) {
  const std::string_view name = path;
  if (name.ends_with(".qasm")) return parse_qasm(read_text_file(path, kLargestFileBytes), path, &notes);
  if (name.ends_with(".json")) return parse_affine_json(read_text_file(path, kLargestFileBytes), path);
  fail(ErrorCode::spec, reading(path), "a file of unknown kind", "a name that ends in .qasm, .json or .npy");
}

namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 16;
}  // namespace

// Read in chunks up to the limit: the size that a file states may be a pipe's 0, or a device's.
std::string read_text_file(const std::string& path, std::size_t largest_bytes) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string chunk(kChunkBytes, '\0');
  while (file.good() && text.size() <= largest_bytes) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk, 0, static_cast<std::size_t>(file.gcount()));
  }
  if (text.size() > largest_bytes) {
    const std::string most = std::to_string(largest_bytes >> 20) + " MiB";
    fail(ErrorCode::file, reading(path), "more than " + most, "at most " + most);
  }
  if (!file.eof()) {
    const int fault = errno != 0 ? errno : EIO;
    fail(ErrorCode::file, reading(path), std::generic_category().message(fault), "a readable file");
  }
  return text;
}

}  // namespace faro::detail
