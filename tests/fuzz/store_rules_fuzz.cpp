// Any text as the rules of a checkpoint, JSON or TOML, and as its index: rules that are what they say, or one
// line.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "faro/error.hpp"
#include "store/checkpoint_files.hpp"
#include "store/checkpoint_rules.hpp"

namespace {

using namespace faro;

void require(bool condition) {
  if (!condition) std::abort();
}

template <typename Read>
void try_reading(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::file || error.code() == ErrorCode::unsupported ||
            error.code() == ErrorCode::value);
    require(std::string(error.what()).find('\n') == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_reading([&] {
    for (const store::Rule& rule : store::parse_rules(text).rules) {
      require(!rule.patterns.empty());
      for (const store::NamePattern& pattern : rule.patterns) static_cast<void>(pattern.match(text));
    }
  });
  static const std::filesystem::path folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "faro-index-XXXXXX").string();
    return std::filesystem::path(mkdtemp(name.data()));
  }();
  const std::filesystem::path index = folder / "model.safetensors.index.json";
  std::ofstream(index, std::ios::binary | std::ios::trunc) << text;
  try_reading([&] { static_cast<void>(store::open_checkpoint(folder)); });
  return 0;
}
