#include "spec_file.hpp"

#include <string_view>
#include <utility>

#include "faro/error.hpp"
#include "permutation/affine_json.hpp"
#include "permutation/qasm.hpp"
#include "text.hpp"
#include "text_file.hpp"

namespace faro::detail {
namespace {

// A circuit of some millions of gates. What is longer was meant for something else.
constexpr std::size_t kLargestFileBytes = std::size_t{64} << 20;
}  // namespace

Affine read_spec_file(const std::string& path) {
  const std::string_view name = path;
  if (name.ends_with(".qasm")) return parse_qasm(read_text_file(path, kLargestFileBytes), path);
  if (name.ends_with(".json")) return parse_affine_json(read_text_file(path, kLargestFileBytes), path);
  fail(ErrorCode::spec, reading(path), "a file of unknown kind", "a name that ends in .qasm, .json or .npy");
}

}  // namespace faro::detail
