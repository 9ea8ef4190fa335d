// A format: how files of one kind name arrays, describe them, and keep their bytes.
//
//     read       is_this()  ->  arrays(): each with its shape, type, and a run of bytes or a grid of chunks
//     written    run_output(): a header, and a run of bytes behind it       one file, written by any sweep
//                create(): a folder of chunks                              written by sink(), there at commit()
//
// Adding a format is a file with one Format in it, and its line in formats.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "io/output_file.hpp"
#include "store/chunks.hpp"
#include "store/json.hpp"
#include "store/runs.hpp"
#include "store/sides.hpp"

namespace faro::store {

/// What formats say of an array beside its elements.
struct Notes {
  std::vector<Json> dimension_names = {};  // one an axis, text or null; or none
  Json attributes = Json::object();
  std::optional<Bytes> fill = {};          // an element, in this machine's order
  std::vector<std::string> left_out = {};  // what there is besides, in words
};

/// A run of bytes in a file.
struct RunInFile {
  std::filesystem::path path;
  RunForm form;
};

/// A grid of chunks.
struct ChunksInStore {
  ChunkForm form;
  std::shared_ptr<const ChunkStore> store;
  Shape shard = {};  // chunks that are stored together; empty: each by itself
};

/// An array that is read.
struct StoredArray {
  std::string name = {};  // in its store; empty: the only one
  std::string format = {};
  Shape shape = {};
  ElementType type = {};
  ByteOrder byte_order = ByteOrder::little;
  Notes notes = {};
  std::optional<RunInFile> run = {};
  std::optional<ChunksInStore> chunks = {};  // instead
  std::optional<ErrorReport> refusal = {};   // instead: why it cannot be read

  std::unique_ptr<Source> source() const;
};

/// An array that is written.
struct WantedArray {
  std::string name = {};  // in its store, where that names arrays
  Shape shape = {};
  ElementType type = {};
  ByteOrder byte_order = ByteOrder::little;
  bool fortran_order = false;
  Shape chunks = {};                              // empty: the format's choice
  Shape shards = {};                              // empty: none
  std::vector<Shape> inner_shards = {};           // that those hold, outermost first; empty: chunks
  std::optional<std::vector<Codec>> codecs = {};  // nothing: the format's choice
  Notes notes = {};
};

/// A group of a store, with attributes of its own.
struct Group {
  std::string name = {};  // empty: the store itself
  Json attributes = Json::object();
  std::vector<std::string> left_out = {};  // what there is besides, in words
  /// The attributes as a file of this format has them, which keeps their types.
  std::string native_format = {};
  Bytes native = {};
  /// The store itself has what is said of all that is in it in one place, and so will a store made of it.
  bool is_consolidated = false;
};

/// All that is in a file.
struct WantedStore {
  std::vector<WantedArray> arrays;
  std::vector<Group> groups = {};
};

/// What becomes of what an earlier run left of an output.
enum class Leftover : std::uint8_t { removed, gone_on_with };

/// A file that is one run between what comes before and behind it; of a file of several, one of those that
/// lie one behind another.
struct RunOutput {
  std::vector<std::byte> header;
  RunForm form = {};
  std::optional<ChunkForm> tiles = {};  // instead of the run's strides: whole chunks in C order
  /// Where chunks wait that are coded (slots_in_file()) until finish() puts them into the file. 0: tiles are
  /// not coded, and lie where they stay.
  std::uint64_t waiting_at = 0;
  std::vector<std::byte> tail = {};
  /// What of the header follows from the elements, which are all stored. Errors: ErrorCode::file.
  std::function<void(int descriptor)> finish = {};
  std::size_t array = 0;  // of several, which
};
/// From the file's begin to the end of its elements, but for those that wait.
std::uint64_t end_of(const RunOutput& output);
/// Into a descriptor that stays open.
std::unique_ptr<Sink> output_sink(int descriptor, const std::filesystem::path& label,
                                  const RunOutput& output);

/// A store that is written beside its place. Where it is to be kept unfinished, it is under
/// io::partial_path(path()) until it has its name.
class CreatedStore {
 public:
  virtual ~CreatedStore() = default;
  /// What gets its name in the end: the file, or the topmost folder that is new.
  virtual const std::filesystem::path& path() const = 0;
  /// Where the array is stored until it has its name: for joined_sink().
  virtual std::filesystem::path place() const { return io::partial_path(path()); }
  virtual Sink& sink() = 0;
  /// Before anything is stored: goes on with what an earlier run left, or removes it. Errors:
  /// ErrorCode::file.
  virtual void begin(Leftover leftover) = 0;
  /// Brings what is stored by now to the disk. Errors: ErrorCode::file.
  virtual void sync() = 0;
  /// Brings all to the disk. Errors: ErrorCode::file.
  virtual void finish() = 0;
  /// Gives it its name. Errors: ErrorCode::file.
  virtual void commit() = 0;
  /// Removes one that would be kept: nothing of it is of use.
  virtual void discard() noexcept = 0;
};

class Format {
 public:
  virtual ~Format() = default;

  /// "safetensors", "Zarr", …
  virtual const char* name() const = 0;
  /// Whether a path that is there is of this format, by its first bytes or what is in the folder.
  virtual bool is_this(const std::filesystem::path& path, std::span<const std::byte> first) const = 0;
  /// Whether a new path means this format, by its name.
  virtual bool is_meant(const std::filesystem::path& path) const = 0;
  /// Errors: ErrorCode::file for what is malformed; ErrorCode::unsupported, naming what it is.
  virtual std::vector<StoredArray> arrays(const std::filesystem::path& path) const = 0;
  /// Those that have attributes, or arrays. Errors: likewise.
  virtual std::vector<Group> groups(const std::filesystem::path& path) const;
  /// Attributes of an array that run_output() writes.
  virtual std::vector<std::string> attributes_kept() const { return {}; }
  /// Whether that writes the names of dimensions.
  virtual bool keeps_dimension_names() const { return false; }
  /// Of an array alone in a file. Nothing where the format is a folder. Errors: ErrorCode::unsupported for
  /// what it cannot say.
  virtual std::optional<RunOutput> run_output(const WantedArray& wanted) const;
  /// Of several in a file, in the order in which they lie there; of one as run_output(). What the format
  /// cannot say of them is added to `left_out`, in words. Requires: an array at least. Errors: likewise;
  /// ErrorCode::unsupported for several where the format has one.
  virtual std::optional<std::vector<RunOutput>> run_outputs(const WantedStore& wanted,
                                                            std::vector<std::string>& left_out) const;
  /// Errors: ErrorCode::file where there is something already; ErrorCode::unsupported.
  virtual std::unique_ptr<CreatedStore> create(const std::filesystem::path& path, const WantedArray& wanted,
                                               io::Unfinished unfinished) const;
  /// Stores in what create() made at CreatedStore::place(), beside its maker, chunks that nobody else stores;
  /// of no place it only counts. Requires: no run_output().
  virtual std::unique_ptr<Sink> joined_sink(const WantedArray& wanted,
                                            const std::filesystem::path& place) const;
  /// Whether all arrays are chunks, and keep the input's; it can be told chunks, shards and codecs.
  virtual bool has_chunks() const { return false; }
  /// Whether a store of it may have several arrays, and be written with them.
  virtual bool holds_several() const { return false; }
  /// Makes a group of a folder that is there. Requires: the format is a folder. Errors: ErrorCode::file.
  virtual void write_group(const std::filesystem::path& folder, const Json& attributes) const;
  /// Repeats in one place what is said of all that is in such a folder. Errors: ErrorCode::file.
  virtual void consolidate(const std::filesystem::path& /*folder*/) const {}
  /// Whether arrays may be chunks where it is told so.
  virtual bool has_tiles() const { return false; }
  /// Whether those may be coded.
  virtual bool has_codecs() const { return has_chunks(); }
  /// Whether an input's codec is kept that another format has, too.
  virtual bool knows(const Codec& /*codec*/) const { return false; }
};

/// All, in the order in which they are asked.
std::span<const Format* const> formats();

/// The format of a path that is there. Errors: ErrorCode::file where it is missing; ErrorCode::unsupported.
const Format& format_of(const std::filesystem::path& path);
/// That a new path's name means; nothing for other names.
const Format* format_meant(const std::filesystem::path& path);

/// "in.h5:/t": a path and an array's name in it.
struct Place {
  std::filesystem::path path = {};
  std::string array = {};  // empty: the only one
};
/// The whole text where such a file is there, or no colon is behind a name of a format's.
Place place_of(const std::string& text);

/// Errors: as Format::arrays(); ErrorCode::value for an array that is not there, and for none or several
/// where none was named.
StoredArray open_array(const Place& place);

// For formats: what their files begin with, and numbers in them.

/// At most `bytes` of the file's begin. Errors: ErrorCode::file.
Bytes first_bytes(const std::filesystem::path& path, std::uint64_t bytes);
/// Errors: ErrorCode::file.
std::uint64_t file_bytes(const std::filesystem::path& path);
/// Whether the name ends so, upper case or lower.
bool ends_with(const std::filesystem::path& path, std::initializer_list<std::string_view> endings);
/// Adds what formats cannot say that have arrays alone: attributes, and names of dimensions.
void leave_out_notes(const WantedStore& wanted, std::vector<std::string>& left_out);
/// The same of formats that have attributes of the whole store.
void leave_out_notes_within(const WantedStore& wanted, std::vector<std::string>& left_out);
/// The store itself among its groups. Null: nothing is said of it.
const Group* root_of(const WantedStore& wanted);
/// Chunks of about a MiB: the fastest axes whole, the slower ones cut.
Shape usual_chunks(const Shape& shape, std::uint64_t element_bytes);
/// A run that is checked to lie in the file. Errors: ErrorCode::file.
StoredArray run_array(const Format& format, std::string name, const std::filesystem::path& path,
                      const RunForm& form);

}  // namespace faro::store
