// NumPy's .npy files: header and shape read and checked, data left as bytes.
//
//     6 bytes         "\x93NUMPY"
//     1 + 1 bytes     major and minor version: 1.0, 2.0 or 3.0
//     2 or 4 bytes    length of the dictionary; 2 in version 1
//     the dictionary  {'descr': '<u4', 'fortran_order': False, 'shape': (4, 8), }   spaces, end of line
//     the data        in the order of the shape, the last axis fastest; in Fortran order the first one
//
// faro moves elements and never looks inside them, so a dtype is its item size and its text, which is kept
// as it was. A header is input from anywhere: nothing in it is believed until it agrees with itself and
// with the file's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace faro::io {

class Buffer;

/// Told of bytes that were read or written since the last call, by any thread; may be empty.
using Advance = std::function<void(std::uint64_t bytes)>;

/// Which axis of an array is the fastest: the last, or the first.
enum class MemoryOrder : std::uint8_t { c, fortran };

/// A dtype that is one word: a number, a text or bytes.
struct NpyTypeCode {
  char kind = 0;  // as numpy's dtype.kind: b, i, u, f, c, M, m, S, U, V; W for ml_dtypes' complex numbers of
                  // two halves
  std::uint64_t item_bytes = 0;  // 0: 'S', 'U' and 'V' without a length
  bool big_endian = false;
  std::string unit = {};  // "[ns]" of times, or empty

  /// Without a byte order: "f4", "U3", "M8[ns]".
  std::string text() const;
  bool operator==(const NpyTypeCode&) const = default;
};

/// What numpy.dtype() takes as one word: "<f4", "|S32", "<U3" of 12 bytes, "<M8[ns]", "f", "float32",
/// "bfloat16", "<f1" as ml_dtypes writes float8_e5m2. `long` has 8 bytes. Nothing for objects and for what is
/// no such word.
std::optional<NpyTypeCode> npy_type_code(std::string_view text);

/// The names of types that npy_type_code knows, for suggestions.
std::vector<std::string_view> npy_type_names();

struct NpyHeader {
  std::string descr;             // the dtype as written, in UTF-8: "'<u4'", "'|V32'", or a structured list
  std::uint64_t item_bytes = 0;  // bytes of one item
  std::vector<std::uint64_t> shape;  // empty: one scalar
  std::uint64_t data_offset = 0;     // bytes from the start of the file
  bool fortran_order = false;        // the first axis is the fastest, and that makes a difference

  /// Product of the shape. Checked against overflow when the header is read.
  std::uint64_t item_count() const;
  std::uint64_t data_bytes() const { return item_count() * item_bytes; }

  /// Nothing for a structured dtype and for one with a shape.
  std::optional<NpyTypeCode> type_code() const;
};

/// Parses the header at the start of `bytes`; versions 1 to 3, either order, any dtype with an item size.
/// `file_bytes` is the size of the whole file, against which the header is checked; `name` is for messages.
/// Errors: ErrorCode::file naming what was wrong: magic, version, header length, dictionary, object dtype,
///         item size zero, a product past 2^63, fewer or more data bytes than the header says.
/// Cost:   linear in the header; nothing is allocated on the word of a length or a shape.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                           const std::string& name);

/// The same of a stream, whose length nobody knows.
NpyHeader parse_npy_stream_header(std::span<const std::byte> bytes, const std::string& name);

/// The header of the file at `path`, without its data. Errors: ErrorCode::file where the file is missing,
/// unreadable, no regular file, or its header is refused.
NpyHeader read_npy_header(const std::filesystem::path& path);

/// The header as bytes, version 1 where it fits and else 2 or 3, padded to a multiple of `alignment`.
/// Requires: `descr` is a dtype's text as NpyHeader keeps it; alignment a multiple of 64 (unchecked).
std::vector<std::byte> npy_header_bytes(const std::string& descr, std::span<const std::uint64_t> shape,
                                        MemoryOrder order = MemoryOrder::c, std::size_t alignment = 64);

/// Item size of a dtype's text as numpy writes it in `descr` ("'>u4'", "'S32'", "[('a', '<f4', (3,)), …]").
/// Errors: ErrorCode::file for objects, for items of no bytes and for what is not a dtype.
std::uint64_t npy_item_bytes(const std::string& descr, const std::string& name);

/// Whether data in Fortran order is read as what it means, the same array in C order, into memory of its
/// size, where header().fortran_order is false; or as it lies.
enum class FortranData : std::uint8_t { to_c_order, as_it_lies };

/// A file's data, mapped for reading.
class NpyInput {
 public:
  /// Brings the data into memory where it fits, so that the first sweep does not wait for the disk page by
  /// page.
  /// Errors: ErrorCode::file where the file is missing, unreadable, no regular file, or its header is
  /// refused; ErrorCode::unsupported for an array larger than the free memory.
  explicit NpyInput(const std::filesystem::path& path, const Advance& advance = {},
                    FortranData fortran = FortranData::to_c_order);
  /// The header alone, until load(). Errors: ErrorCode::file as above.
  static NpyInput header_first(const std::filesystem::path& path) { return {path, HeaderFirst{}}; }
  ~NpyInput();
  NpyInput(const NpyInput&) = delete;
  NpyInput& operator=(const NpyInput&) = delete;

  /// Brings the data into memory. Call once, after header_first(). Errors: ErrorCode::unsupported as above.
  void load(const Advance& advance, FortranData fortran);

  const NpyHeader& header() const { return header_; }

  /// Where the data is in Fortran order, puts it into C order after all.
  void put_in_c_order();

  /// Stays valid while this lives, until put_in_c_order(); a file that another process shortens meanwhile
  /// raises SIGBUS.
  std::span<const std::byte> data() const;

 private:
  struct HeaderFirst {};
  NpyInput(const std::filesystem::path& path, HeaderFirst tag);

  std::string operation_;  // for messages
  NpyHeader header_;
  std::byte* mapping_ = nullptr;
  std::uint64_t mapping_bytes_ = 0;
  std::unique_ptr<Buffer> in_c_order_;  // of a file in Fortran order
};

/// A file being written: beside its final place, nameless or under a temporary name, and renamed onto it by
/// commit(). Destroyed uncommitted, it leaves nothing behind.
///
/// The data is a buffer of huge pages that commit() writes out in large pieces; that is faster than mapping
/// the file, whose pages are small and fault one by one (scattered stores of 1 GiB: 0.35-0.45 s against
/// 0.4-0.9 s). Only where the buffer would take more than half of the free memory is the file mapped.
class NpyOutput {
 public:
  /// Reserves the whole file on disk first. A `path` that is a symbolic link is followed.
  /// Errors: ErrorCode::file where the directory is missing or unwritable, `path` is no regular file, or
  ///         the disk is full.
  NpyOutput(const std::filesystem::path& path, const std::string& descr, std::span<const std::uint64_t> shape,
            std::uint64_t item_bytes, MemoryOrder order = MemoryOrder::c);
  ~NpyOutput();
  NpyOutput(const NpyOutput&) = delete;
  NpyOutput& operator=(const NpyOutput&) = delete;

  /// The data, for writing. Its bytes are undefined until written.
  std::span<std::byte> data();

  /// Writes everything and brings it to the disk. Call once, and data() no more. Errors: ErrorCode::file.
  void finish(const Advance& advance = {});

  /// Finishes where that was not done, and renames onto the final path. Call once.
  /// Errors: ErrorCode::file; `path` is then as it was.
  void commit(const Advance& advance = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Refuses what write_file would refuse now, before work whose result is to be written. Leaves nothing there.
/// Errors: ErrorCode::file: a directory that is missing or unwritable, a path that a file cannot have.
void require_output(const std::filesystem::path& path);

/// Writes a whole small file the same way: beside its place, then renamed onto it. Errors: ErrorCode::file.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Removes the temporary files of every output not yet committed, for a signal handler that is about to end
/// the process. Async-signal-safe. Where the file system has nameless files there is nothing to remove.
void remove_uncommitted() noexcept;

/// Whether both paths name one existing file (links followed).
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);
/// Whether what is written to one path would be in the other's file, which need not exist (links followed).
bool same_target(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace faro::io
