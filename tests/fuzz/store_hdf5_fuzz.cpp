// HDF5 of all forms that we write and read: what bytes draw is written, read again, and says the same. Not
// files of any bytes, for what is in those is the library's to find; but any bytes within the datasets.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "store/store_formats.hpp"

namespace {

using namespace faro;

void require(bool condition) {
  if (!condition) std::abort();
}

// Numbers of the input, and zeros behind its end.
class Draws {
 public:
  Draws(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  std::uint64_t below(std::uint64_t bound) {
    if (left_ == 0) return 0;
    --left_;
    return *data_++ % bound;
  }
  std::string text() {
    std::string drawn;
    for (std::uint64_t letter = below(6); letter > 0; --letter) drawn += static_cast<char>(below(256));
    return drawn;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

store::Json value_of(Draws& draws, int depth = 0) {
  switch (draws.below(7)) {
    case 0:
      return draws.text();
    case 1:
      return static_cast<std::int64_t>(draws.below(256)) - 128;
    case 2:
      return static_cast<double>(draws.below(256)) / 7;
    case 3:
      return draws.below(2) == 1;
    case 4:
      return nullptr;
    default: {
      store::Json list = store::Json::array();
      for (std::uint64_t item = draws.below(4); item > 0 && depth < 3; --item)
        list.push_back(value_of(draws, depth + 1));
      return list;
    }
  }
}

store::WantedArray array_of(Draws& draws) {
  constexpr std::array kTypes{"int8",    "uint16",  "int32", "uint64",    "float16",
                              "float32", "float64", "bool",  "complex64", "S3"};
  constexpr std::array kCodecs{"none", "gzip:1", "shuffle+gzip:9", "szip", "shuffle", "zstd:1"};
  store::WantedArray array{.name = draws.text(),
                           .type = store::known_element_type(kTypes.at(draws.below(kTypes.size())))};
  for (std::uint64_t axis = draws.below(4); axis > 0; --axis) array.shape.push_back(draws.below(9));
  if (draws.below(2) == 1 && !array.shape.empty()) {
    for (std::size_t axis = 0; axis < array.shape.size(); ++axis) array.chunks.push_back(1 + draws.below(9));
    array.codecs = store::parse_codecs(kCodecs.at(draws.below(kCodecs.size())), array.type.bytes);
  }
  if (draws.below(2) == 1) {
    array.notes.fill = store::Bytes(array.type.bytes);
    for (std::byte& each : *array.notes.fill)
      each = static_cast<std::byte>(array.type.name == "bool" ? draws.below(2) : draws.below(256));
  }
  for (std::uint64_t key = draws.below(3); key > 0; --key)
    array.notes.attributes[draws.text()] = value_of(draws);
  if (draws.below(2) == 1) {
    for (std::size_t axis = 0; axis < array.shape.size(); ++axis)
      array.notes.dimension_names.push_back(draws.below(3) == 0 ? store::Json() : store::Json(draws.text()));
  }
  return array;
}

// Nothing of what is written may be refused where it is read.
void read_again(const store::WantedStore& wanted, const std::string& path) noexcept {
  const std::vector<store::StoredArray> found = store::hdf5_format().arrays(path);
  for (const store::WantedArray& array : wanted.arrays) {
    const std::string name = "/" + (array.name.empty() ? std::string("data") : array.name);
    for (const store::StoredArray& each : found) {
      if (each.name != name) continue;
      require(!each.refusal && each.shape == array.shape && each.type == array.type);
      require(each.chunks.has_value() == (!array.chunks.empty() && !store::is_empty(array.shape)));
      require(!array.notes.fill || each.notes.fill == array.notes.fill);
    }
  }
  static_cast<void>(store::hdf5_format().groups(path));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  store::WantedStore wanted;
  for (std::uint64_t array = 1 + draws.below(3); array > 0; --array) wanted.arrays.push_back(array_of(draws));
  for (std::uint64_t group = draws.below(3); group > 0; --group)
    wanted.groups.push_back({.name = draws.text(), .attributes = {{draws.text(), value_of(draws)}}});
  std::vector<std::string> left_out;
  std::vector<store::RunOutput> outputs;
  try {
    outputs = *store::hdf5_format().run_outputs(wanted, left_out);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::unsupported || error.code() == ErrorCode::value);
    require(std::string(error.what()).find('\n') == std::string::npos);
    return 0;
  }
  // With a name, which the library looks for.
  static std::string path = (std::filesystem::temp_directory_path() / "faro-fuzz-XXXXXX").string();
  static const int file = mkstemp(path.data());
  require(ftruncate(file, 0) == 0);
  store::Workspace workspace;
  for (const store::RunOutput& output : outputs) {
    const std::uint64_t begin =
        output.form.offset - std::min<std::uint64_t>(output.form.offset, output.header.size());
    require(pwrite(file, output.header.data(), output.header.size(), static_cast<off_t>(begin)) ==
            static_cast<ssize_t>(output.header.size()));
  }
  const store::RunOutput& last = outputs.back();
  const std::uint64_t end = std::max<std::uint64_t>(store::end_of(last), last.header.size());
  require(pwrite(file, last.tail.data(), last.tail.size(), static_cast<off_t>(end)) ==
          static_cast<ssize_t>(last.tail.size()));
  for (const store::RunOutput& output : outputs) {
    const store::Shape& shape = wanted.arrays[output.array].shape;
    if (store::is_empty(shape)) continue;
    const auto sink = store::output_sink(file, path, output);
    for (const store::Box& box : sink->boxes({.origin = store::Shape(shape.size(), 0), .extents = shape})) {
      store::Bytes elements(sink->room(box).bytes);
      for (std::byte& each : elements) each = static_cast<std::byte>(draws.below(2));
      sink->store(box, elements, workspace);
    }
    sink->finish();
  }
  for (const store::RunOutput& output : outputs) {
    if (output.finish) output.finish(file);
  }
  read_again(wanted, path);
  return 0;
}
