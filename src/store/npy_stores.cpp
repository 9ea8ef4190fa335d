// .npy files, .npz archives whose arrays are stored uncompressed, and raw bytes.
//
//     .npy    header, data
//     .npz    a ZIP archive of .npy files          | local header, a.npy | … | directory | its end |
//     raw     data, whose type and shape the user says
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "io/file_system.hpp"
#include "io/npy.hpp"
#include "io/transfers.hpp"
#include "store/codecs.hpp"
#include "store/file_numbers.hpp"
#include "store/store_formats.hpp"

namespace faro::store {
namespace {

namespace fs = std::filesystem;

RunForm run_of_npy(const io::NpyHeader& header, std::uint64_t begin, const std::string& operation) {
  const auto code = header.type_code();
  if (!code) {
    fail(ErrorCode::unsupported, operation, "the dtype " + header.descr, "one type for all of an item",
         "`faro permute` from .npy to .npy takes any dtype");
  }
  const ElementType type = element_type_or_fail(code->text(), operation);
  const ByteOrder order = code->big_endian ? ByteOrder::big : ByteOrder::little;
  const std::uint64_t offset = begin + header.data_offset;
  return header.fortran_order ? fortran_run(header.shape, type, offset, order)
                              : dense_run(header.shape, type, offset, order);
}

class Npy final : public Format {
 public:
  const char* name() const override { return ".npy"; }
  bool is_this(const fs::path& /*path*/, std::span<const std::byte> first) const override {
    return begins_with(first, "\x93NUMPY");
  }
  bool is_meant(const fs::path& path) const override { return ends_with(path, {".npy"}); }

  std::vector<StoredArray> arrays(const fs::path& path) const override {
    return {
        run_array(*this, "", path, run_of_npy(io::read_npy_header(path), 0, "read `" + path.string() + "`"))};
  }

  std::optional<RunOutput> run_output(const WantedArray& wanted) const override {
    const auto descr = numpy_text(wanted.type, wanted.byte_order);
    if (!descr) {
      fail(ErrorCode::unsupported, "write .npy", "elements of type " + wanted.type.name,
           "a type that NumPy has", "--dtype converts");
    }
    const io::MemoryOrder order = wanted.fortran_order ? io::MemoryOrder::fortran : io::MemoryOrder::c;
    RunOutput made{
        .header = io::npy_header_bytes("'" + *descr + "'", wanted.shape, order, io::kTransferBlock),
        .form = {}};
    const std::uint64_t offset = made.header.size();
    made.form = wanted.fortran_order ? fortran_run(wanted.shape, wanted.type, offset, wanted.byte_order)
                                     : dense_run(wanted.shape, wanted.type, offset, wanted.byte_order);
    return made;
  }
};

class Raw final : public Format {
 public:
  const char* name() const override { return "raw"; }
  bool is_this(const fs::path& /*path*/, std::span<const std::byte> /*first*/) const override {
    return false;
  }
  bool is_meant(const fs::path& path) const override { return ends_with(path, {".raw", ".bin"}); }
  std::vector<StoredArray> arrays(const fs::path& /*path*/) const override { return {}; }
  std::optional<RunOutput> run_output(const WantedArray& wanted) const override {
    return RunOutput{.header = {},
                     .form = wanted.fortran_order
                                 ? fortran_run(wanted.shape, wanted.type, 0, wanted.byte_order)
                                 : dense_run(wanted.shape, wanted.type, 0, wanted.byte_order)};
  }
};

// A file in an archive, as the archive's directory has it.
struct ArchiveEntry {
  std::string name;
  std::uint64_t method = 0;  // 0: stored
  std::uint64_t bytes = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t header = 0;  // where its local header is
};

// The directory of a ZIP archive. Sizes that do not fit 32 bits are in a field of their own (ZIP64).
class Archive {
 public:
  explicit Archive(const fs::path& path)
      : path_(path), operation_("read `" + path.string() + "`"), file_(path), bytes_(file_bytes(path)) {}

  std::vector<ArchiveEntry> entries() const {
    const auto [begin, length, count] = directory();
    const Bytes bytes = file_.read(begin, length);
    FileNumbers numbers(bytes, ByteOrder::little, operation_);
    std::vector<ArchiveEntry> found;
    for (std::uint64_t e = 0; e < count; ++e) {
      if (numbers.u32() != 0x02014b50) fail_archive("a directory that is none");
      numbers.skip(6);
      ArchiveEntry entry{.name = {}, .method = numbers.u16()};
      numbers.skip(8);
      entry.stored_bytes = numbers.u32();
      entry.bytes = numbers.u32();
      const std::uint64_t name_bytes = numbers.u16();
      const std::uint64_t extra_bytes = numbers.u16();
      const std::uint64_t comment_bytes = numbers.u16();
      numbers.skip(8);
      entry.header = numbers.u32();
      entry.name = numbers.text(name_bytes);
      read_extra(numbers.bytes(extra_bytes), entry);
      numbers.skip(comment_bytes);
      found.push_back(std::move(entry));
    }
    return found;
  }

  /// Where its bytes begin.
  std::uint64_t data_of(const ArchiveEntry& entry) const {
    constexpr std::uint64_t kLocalHeader = 30;
    const Bytes bytes = file_.read(entry.header, kLocalHeader);
    FileNumbers numbers(bytes, ByteOrder::little, operation_);
    if (numbers.u32() != 0x04034b50) fail_archive("a file without its header");
    numbers.skip(22);
    const std::uint64_t name_bytes = numbers.u16();
    const std::uint64_t begin = entry.header + kLocalHeader + name_bytes + numbers.u16();
    if (begin > bytes_ || entry.bytes > bytes_ - begin) fail_archive("a file that ends behind the archive");
    return begin;
  }

  Bytes read(std::uint64_t offset, std::uint64_t bytes) const { return file_.read(offset, bytes); }

  [[noreturn]] void fail_archive(const std::string& got) const {
    fail(ErrorCode::file, operation_, got, "a ZIP archive of .npy files");
  }

 private:
  struct Directory {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
  };

  Directory directory() const {
    constexpr std::uint64_t kEndBytes = 22;
    constexpr std::uint64_t kMostComment = 65535;
    const std::uint64_t tail_bytes = std::min(bytes_, kEndBytes + kMostComment);
    const Bytes tail = file_.read(bytes_ - tail_bytes, tail_bytes);
    for (std::uint64_t at = tail_bytes < kEndBytes ? 0 : tail_bytes - kEndBytes + 1; at-- > 0;) {
      FileNumbers numbers(std::span<const std::byte>(tail).subspan(at), ByteOrder::little, operation_);
      if (numbers.u32() != 0x06054b50) continue;
      numbers.skip(6);
      Directory found{.count = numbers.u16()};
      found.bytes = numbers.u32();
      found.begin = numbers.u32();
      const bool is_large = found.count == 0xffff || found.bytes == 0xffffffff || found.begin == 0xffffffff;
      if (is_large) found = large_directory(bytes_ - tail_bytes + at);
      if (found.begin > bytes_ || found.bytes > bytes_ - found.begin)
        fail_archive("a directory behind the end");
      constexpr std::uint64_t kLeastEntry = 46;
      if (found.count > found.bytes / kLeastEntry) fail_archive("a directory of more files than it holds");
      return found;
    }
    fail_archive("no directory");
  }

  Directory large_directory(std::uint64_t end) const {
    constexpr std::uint64_t kLocatorBytes = 20;
    constexpr std::uint64_t kLargeEndBytes = 56;
    if (end < kLocatorBytes) fail_archive("no directory");
    const Bytes locator = file_.read(end - kLocatorBytes, kLocatorBytes);
    FileNumbers numbers(locator, ByteOrder::little, operation_);
    if (numbers.u32() != 0x07064b50) fail_archive("no locator of a large directory");
    numbers.skip(4);
    const Bytes large = file_.read(numbers.u64(), kLargeEndBytes);
    FileNumbers of_end(large, ByteOrder::little, operation_);
    if (of_end.u32() != 0x06064b50) fail_archive("no end of a large directory");
    of_end.skip(28);
    Directory found{.count = of_end.u64()};
    found.bytes = of_end.u64();
    found.begin = of_end.u64();
    return found;
  }

  void read_extra(std::span<const std::byte> extra, ArchiveEntry& entry) const {
    FileNumbers numbers(extra, ByteOrder::little, operation_);
    while (numbers.left() >= 4) {
      const std::uint64_t kind = numbers.u16();
      const std::uint64_t bytes = numbers.u16();
      FileNumbers field(numbers.bytes(bytes), ByteOrder::little, operation_);
      if (kind != 1) continue;
      for (std::uint64_t* const value : {&entry.bytes, &entry.stored_bytes, &entry.header}) {
        if (*value == 0xffffffff) *value = field.u64();
      }
    }
  }

  fs::path path_;
  std::string operation_;
  FileReader file_;
  std::uint64_t bytes_;
};

// What ZIP writes of a file. All sizes are in the fields for large ones.
class ArchiveWriter {
 public:
  // `begin`: of the entry in the archive.
  ArchiveWriter(std::string name, std::uint64_t begin, std::span<const std::byte> first,
                std::uint64_t data_bytes)
      : name_(std::move(name)), begin_(begin), first_(first), bytes_(first.size() + data_bytes) {}

  // With the first bytes of the file.
  Bytes local_header() const {
    HeaderBytes header;
    header.u32(0x04034b50);
    form(header);
    header.u16(kLocalExtra);
    header.text(name_);
    header.u16(1);
    header.u16(kLocalExtra - 4);
    header.u64(bytes_);
    header.u64(bytes_);
    header.append(first_);
    return header.take();
  }

  void add_to_directory(HeaderBytes& directory) const {
    directory.u32(0x02014b50);
    directory.u16(kVersion);
    form(directory);
    directory.u16(kLocalExtra + 8);
    directory.u16(0);  // comment
    directory.u16(0);  // disk
    directory.u16(0);
    directory.u32(0);
    directory.u32(kIsLarge);
    directory.text(name_);
    directory.u16(1);
    directory.u16(kLocalExtra + 4);
    directory.u64(bytes_);
    directory.u64(bytes_);
    directory.u64(begin_);
  }

  // `at`: where the directory of `count` files begins.
  static void end_directory(HeaderBytes& directory, std::uint64_t at, std::uint64_t count) {
    const std::uint64_t bytes = directory.size();
    directory.u32(0x06064b50);
    directory.u64(44);
    directory.u16(kVersion);
    directory.u16(kVersion);
    directory.u64(0);
    directory.u64(count);
    directory.u64(count);
    directory.u64(bytes);
    directory.u64(at);
    directory.u32(0x07064b50);
    directory.u32(0);
    directory.u64(at + bytes);
    directory.u32(1);
    directory.u32(0x06054b50);
    directory.u32(0);
    directory.u16(0xffff);
    directory.u16(0xffff);
    directory.u32(kIsLarge);
    directory.u32(kIsLarge);
    directory.u16(0);
  }

  // Where its checksum is: of the local header, and of an entry that begins at `entry`.
  std::uint64_t local_sum() const { return begin_ + 14; }
  static std::uint64_t directory_sum(std::uint64_t entry) { return entry + 16; }
  // Where the file begins within the archive.
  std::uint64_t begin() const { return begin_ + 30 + name_.size() + kLocalExtra; }
  std::uint64_t end() const { return begin() + bytes_; }

 private:
  static constexpr std::uint64_t kVersion = 45;  // the first with large files
  static constexpr std::uint64_t kIsLarge = 0xffffffff;
  static constexpr std::uint64_t kLocalExtra = 20;

  // From the version to the length of the name; the checksum is not known yet.
  void form(HeaderBytes& header) const {
    header.u16(kVersion);
    header.u16(0);       // flags
    header.u16(0);       // stored
    header.u16(0);       // midnight
    header.u16(0x0021);  // of 1980-01-01
    header.u32(0);
    header.u32(kIsLarge);
    header.u32(kIsLarge);
    header.u16(name_.size());
  }

  std::string name_;
  std::uint64_t begin_;
  std::span<const std::byte> first_;
  std::uint64_t bytes_;
};

// Reads each file of an archive, and puts its checksum where it belongs.
struct ArchiveSum {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::vector<std::uint64_t> places = {};

  void write(int descriptor) const {
    const std::string operation = "write .npz";
    Bytes some(std::size_t{1} << 20);
    std::uint32_t sum = 0;
    for (std::uint64_t at = begin; at < end; at += some.size()) {
      some.resize(std::min<std::uint64_t>(some.size(), end - at));
      if (io::read_at(descriptor, some, at).bytes != some.size())
        fail(ErrorCode::file, operation, "less than was written", "what was written");
      sum = crc32_zip(sum, some);
    }
    for (const std::uint64_t place : places) {
      if (const int error = io::write_at(descriptor, std::as_bytes(std::span(&sum, 1)), place); error != 0)
        fail(ErrorCode::file, operation, io::error_text(error), "room on the disk");
    }
  }
};

class Npz final : public Format {
 public:
  const char* name() const override { return ".npz"; }
  bool is_this(const fs::path& /*path*/, std::span<const std::byte> first) const override {
    return begins_with(first, "PK\x03\x04") || begins_with(first, "PK\x05\x06");
  }
  bool is_meant(const fs::path& path) const override { return ends_with(path, {".npz"}); }

  std::vector<StoredArray> arrays(const fs::path& path) const override {
    const Archive archive(path);
    std::vector<StoredArray> found;
    for (const ArchiveEntry& entry : archive.entries()) {
      if (entry.name.ends_with(".npy")) found.push_back(array_of(path, archive, entry));
    }
    return found;
  }

  bool holds_several() const override { return true; }
  std::optional<std::vector<RunOutput>> run_outputs(const WantedStore& wanted,
                                                    std::vector<std::string>& left_out) const override {
    leave_out_notes(wanted, left_out);
    std::vector<RunOutput> outputs;
    std::vector<ArchiveSum> sums;
    HeaderBytes directory;
    std::uint64_t at = 0;
    for (const WantedArray& each : wanted.arrays) {
      RunOutput output = *npy_format().run_output(each);
      const std::string name = (each.name.empty() ? "arr_0" : each.name) + ".npy";
      if (name.size() > 0xffff)
        fail(ErrorCode::unsupported, "write .npz", "a name of 64 KiB", "a shorter one");
      const Bytes first = std::exchange(output.header, {});
      const ArchiveWriter entry(name, at, first, volume(each.shape) * each.type.bytes);
      output.header = entry.local_header();
      output.form.offset = entry.begin() + first.size();
      sums.push_back({.begin = entry.begin(),
                      .end = entry.end(),
                      .places = {entry.local_sum(), ArchiveWriter::directory_sum(directory.size())}});
      entry.add_to_directory(directory);
      at = entry.end();
      output.array = outputs.size();
      outputs.push_back(std::move(output));
    }
    ArchiveWriter::end_directory(directory, at, wanted.arrays.size());
    for (ArchiveSum& sum : sums) sum.places.back() += at;
    outputs.back().tail = directory.take();
    outputs.back().finish = [sums](int descriptor) {
      for (const ArchiveSum& sum : sums) sum.write(descriptor);
    };
    return outputs;
  }

 private:
  StoredArray array_of(const fs::path& path, const Archive& archive, const ArchiveEntry& entry) const {
    const std::string name = entry.name.substr(0, entry.name.size() - std::string_view(".npy").size());
    const std::string operation = "read `" + path.string() + ":" + name + "`";
    if (entry.method != 0) {
      return {.name = name,
              .format = this->name(),
              .refusal = ErrorReport{.code = ErrorCode::unsupported,
                                     .operation = operation,
                                     .got = "an array that is compressed in its archive",
                                     .wanted = "one that is stored",
                                     .remedy = "numpy.savez instead of savez_compressed"}};
    }
    const std::uint64_t begin = archive.data_of(entry);
    constexpr std::uint64_t kMostHeader = std::uint64_t{1} << 20;
    const Bytes first = archive.read(begin, std::min(entry.bytes, kMostHeader));
    const io::NpyHeader header = io::parse_npy_header(first, entry.bytes, path.string() + ":" + name);
    try {
      return run_array(*this, name, path, run_of_npy(header, begin, operation));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      return {.name = name, .format = this->name(), .refusal = error.report()};
    }
  }
};

}  // namespace

const Format& npy_format() {
  static const Npy format;
  return format;
}
const Format& npz_format() {
  static const Npz format;
  return format;
}
const Format& raw_format() {
  static const Raw format;
  return format;
}

}  // namespace faro::store
