// Files that texts name: affine maps in JSON, index arrays of every type, and the error of every bad file.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/permutation.hpp"
#include "io/npy.hpp"
#include "parsed_text_support.hpp"
#include "permutation/text.hpp"

namespace faro {
namespace permutation_files_test {

using parsed_text::parsed;
using parsed_text::refusal;

// A file that is gone when the test ends.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& content)
      : path_(std::filesystem::temp_directory_path() /
              (std::to_string(std::random_device{}()) + "_" + name)) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};
TEST(JsonFiles, Read) {
  const TemporaryFile file("a.json", R"({"n": 4, "columns": ["0x8", 4, "6", "2^0"], "complement": "0x2"})");
  const Affine map = parsed("affine(4; 0x8 0x4 0x6 0x1; 0x2)");
  EXPECT_EQ(parsed("@" + file.path()), map);
  EXPECT_EQ(parsed("@\"" + file.path() + "\""), map);
  EXPECT_EQ(parsed("compose(@" + file.path() + ", inverse(@" + file.path() + "))"), Affine(4));
}

TEST(JsonFiles, FileErrorsNameThePath) {
  const TemporaryFile file("b.json", R"({"n": 4})");
  const ErrorReport report = refusal("compose(@" + file.path() + ", gray(4))");
  EXPECT_EQ(report.operation, "read `" + file.path() + "`");
  EXPECT_EQ(refusal("@" + std::filesystem::temp_directory_path().string() + "/no.json").code,
            ErrorCode::file);
  const auto directory =
      std::filesystem::temp_directory_path() / (std::to_string(std::random_device{}()) + ".json");
  std::filesystem::create_directory(directory);
  EXPECT_EQ(refusal("@" + directory.string()).code, ErrorCode::file);
  std::filesystem::remove(directory);
}

// A NumPy file of these items.
template <typename Word>
std::string npy(const std::string& descr, const std::vector<Word>& items,
                const std::vector<std::uint64_t>& shape) {
  const auto header = io::npy_header_bytes(descr, shape);
  std::string content(reinterpret_cast<const char*>(header.data()), header.size());
  return content.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Word));
}

TEST(IndexFiles, OfEveryType) {
  const auto read = [](const std::string& content) {
    const TemporaryFile file("index.npy", content);
    const Permutation map = parse_permutation("@" + file.path());
    EXPECT_EQ(to_text(map), "@" + file.path());
    EXPECT_EQ(parse_permutation(to_text(map)), map);
    return map;
  };
  const Permutation wanted = parse_permutation("indices(2 0 3 1)");
  EXPECT_EQ(read(npy<std::uint32_t>("'<u4'", {2, 0, 3, 1}, {4})), wanted);
  EXPECT_EQ(read(npy<std::int32_t>("'<i4'", {2, 0, 3, 1}, {4})), wanted);
  EXPECT_EQ(read(npy<std::uint64_t>("'<u8'", {2, 0, 3, 1}, {4})), wanted);
  EXPECT_EQ(read(npy<std::int64_t>("\"<i8\"", {2, 0, 3, 1}, {4})), wanted);
  EXPECT_EQ(element_count(read(npy<std::int64_t>("'<i8'", {}, {0}))), 0U);
}

TEST(IndexFiles, SayTheirDirection) {
  const TemporaryFile file("index.npy", npy<std::uint32_t>("'<u4'", {2, 0, 1}, {3}));
  const std::string path = file.path();
  const Permutation scattered = parse_permutation("indices(2 0 1)");
  const Permutation gathered = parse_permutation("indices(1 2 0)");
  const ParseOptions as_gather{
      .bare_bits = {}, .direction = Direction::gather, .most_index_elements = Indexed::kMaxCount};
  EXPECT_EQ(parse_permutation("@" + path), scattered);
  EXPECT_EQ(parse_permutation("@" + path, as_gather), gathered);
  EXPECT_EQ(to_text(parse_permutation("@" + path, as_gather)), "gather(@" + path + ")");
  for (const ParseOptions& options : {ParseOptions{}, as_gather}) {
    EXPECT_EQ(parse_permutation("scatter(@" + path + ")", options), scattered);
    EXPECT_EQ(parse_permutation("gather( @" + path + " )", options), gathered);
    EXPECT_EQ(parse_permutation("inverse(gather(@\"" + path + "\"))", options), scattered);
  }
  EXPECT_EQ(to_text(parse_permutation("inverse(@" + path + ")")), "inverse(@" + path + ")");
  EXPECT_EQ(parse_permutation("compose(@" + path + ", gather(@" + path + "))"),
            parse_permutation("indices(0 1 2)"));
}

// Every integer type in both byte orders, and axes of extent 1 beside the long one.
TEST(IndexFiles, AnyIntegersAndOneLongAxis) {
  const Permutation wanted = parse_permutation("indices(2 0 3 1)");
  const auto swapped = [](std::string content, std::size_t width) {
    for (std::size_t end = content.size(); end > content.size() - 4 * width; end -= width) {
      std::reverse(content.end() - static_cast<std::ptrdiff_t>(content.size() - end + width),
                   content.end() - static_cast<std::ptrdiff_t>(content.size() - end));
    }
    return content;
  };
  const auto expect_read = [&](const std::string& content) {
    const TemporaryFile file("index.npy", content);
    EXPECT_EQ(parse_permutation("@" + file.path()), wanted);
  };
  for (const char kind : {'u', 'i'}) {
    const std::string code(1, kind);
    expect_read(npy<std::uint8_t>("'|" + code + "1'", {2, 0, 3, 1}, {4}));
    expect_read(npy<std::uint16_t>("'<" + code + "2'", {2, 0, 3, 1}, {4}));
    expect_read(npy<std::uint32_t>("'<" + code + "4'", {2, 0, 3, 1}, {1, 4}));
    expect_read(npy<std::uint64_t>("'<" + code + "8'", {2, 0, 3, 1}, {4, 1, 1}));
    expect_read(swapped(npy<std::uint16_t>("'>" + code + "2'", {2, 0, 3, 1}, {4}), 2));
    expect_read(swapped(npy<std::uint32_t>("'>" + code + "4'", {2, 0, 3, 1}, {4, 1}), 4));
    expect_read(swapped(npy<std::uint64_t>("'>" + code + "8'", {2, 0, 3, 1}, {4}), 8));
  }
}

TEST(IndexFiles, PathsThatNeedQuotes) {
  const TemporaryFile file("an index, of (3).npy", npy<std::uint32_t>("'<u4'", {2, 0, 1}, {3}));
  const Permutation map = parse_permutation("gather(@\"" + file.path() + "\")");
  EXPECT_EQ(to_text(map), "gather(@\"" + file.path() + "\")");
  EXPECT_EQ(parse_permutation(to_text(map)), map);
}

TEST(IndexFiles, Refusals) {
  const auto refused = [](const std::string& content) {
    const TemporaryFile file("index.npy", content);
    const ErrorReport report = refusal("compose(@" + file.path() + ", flip(3))");
    EXPECT_EQ(report.operation, "read `" + file.path() + "`");
    return std::string(name(report.code)) + ": " + report.got + " | " + report.wanted + " | " + report.remedy;
  };
  EXPECT_EQ(refused(npy<std::uint32_t>("'<u4'", {0, 1, 3}, {3})),
            "value: entry 2 is 3 | a number below 3 | ");
  EXPECT_EQ(refused(npy<std::int64_t>("'<i8'", {0, -1, 3}, {3})),
            "value: entry 1 is -1 | a number below 3 | ");
  EXPECT_EQ(refused(npy<std::int32_t>("'<i4'", {0, 1, 1}, {3})),
            "value: entry 2 is 1, as is entry 1; 2 is missing | each of 0 .. 2 once | ");
  EXPECT_EQ(refused(npy<float>("'<f4'", {0, 1, 2}, {3})),
            "value: an index array of dtype '<f4' | whole numbers: 'u1' to 'u8' or 'i1' to 'i8', of any byte "
            "order | index.astype('u8') makes whole numbers of it");
  EXPECT_EQ(refused(npy<std::int8_t>("'|i1'", {0, -1, 2}, {3})),
            "value: entry 1 is -1 | a number below 3 | ");
  EXPECT_EQ(refused(npy<std::uint32_t>("'<u4'", {0, 1, 2, 3}, {2, 2})),
            "value: an array of shape (2, 2) | an index array of one axis | index.reshape(-1) flattens it");
  EXPECT_EQ(refused(npy<std::uint32_t>("'<u4'", {0}, {})),
            "value: a single number | an index array of one axis | index.reshape(-1) flattens it");
  EXPECT_EQ(refused("no file of numpy's").substr(0, 5), "file:");
  EXPECT_EQ(refused(npy<std::uint32_t>("'<u4'", {0, 1, 2}, {4})).substr(0, 5), "file:");
}

TEST(JsonFiles, FilesPastTheLimitAreRefused) {
  const TemporaryFile file("c.qasm", "");
  std::filesystem::resize_file(file.path(), (std::uintmax_t{64} << 20) + 1);
  const ErrorReport report = refusal("@" + file.path());
  EXPECT_EQ(report.code, ErrorCode::file);
  EXPECT_EQ(report.wanted, "at most 64 MiB");
}

}  // namespace permutation_files_test
}  // namespace faro
