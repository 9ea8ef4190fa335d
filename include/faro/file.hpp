// Files larger than memory, permuted in one sweep within a budget of memory.
//
//     faro::file::permute({.permutation = faro::maps::bit_reversal(36), .element_bytes = 4},
//                         "in.npy", "out.npy", {.memory_bytes = std::uint64_t{16} << 30});
//
// The theorem of the tile (docs/theory/one-pass.md) holds at every level of memory: what a segment and a
// tile are to a cache, they are to a file and the memory.
//
//     file      |seg|   |seg|      |seg|   |seg|      2^r segments of 2^s elements, spread over the input
//                  \       \        /       /
//     memory       [ tile of 2^(s+r) elements ]       read, permuted by the CPU engine's plan of a tile,
//                  /       /        \       \         and written, while the tiles before and behind it are
//     file      |seg|   |seg|      |seg|   |seg|      written and read
//
// Since r is at most s, every affine map of a file of any size takes one sweep in segments whose lengths,
// read and written, have a product of at least tile x element: 32 and 64 KiB with a gibibyte of memory and
// elements of 4 bytes. Permutations of axes, rolls and strided views take boxes (docs/theory/boxes.md) with
// the same property. Each byte of data is read once and written once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faro/arithmetic.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/permutation/strided.hpp"
#include "faro/plan/plan.hpp"
#include "faro/problem/target.hpp"

namespace faro::file {

struct Report;

/// How ranges of files are read and written. `automatic`: the first that both files' systems allow.
enum class Io : std::uint8_t {
  automatic,
  uring,     // O_DIRECT by io_uring
  threads,   // O_DIRECT by threads
  buffered,  // by way of the page cache
};

/// "auto", "uring", "threads" or "buffered".
const char* name(Io io) noexcept;

struct Progress {
  std::uint64_t done_bytes = 0;   // read, and written
  std::uint64_t total_bytes = 0;  // to be read, and to be written
};

/// How fast a disk reads and writes segments of one length at random.
struct SegmentRate {
  std::uint64_t segment_bytes = 0;
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;
};

struct Options {
  /// Bytes of the buffers, at most; at least some KiB. 0: default_memory_bytes().
  std::uint64_t memory_bytes = 0;
  int threads = 0;  // that permute: as PlanOptions::threads
  /// Engine::cuda: a device permutes the tiles where it is faster than the CPU, which the first tile shows.
  /// It has to hold a tile twice. Of records by a seed or an index file the CPU sorts whatever is asked for.
  Engine engine = Engine::cpu;
  int device = -1;      // of engine cuda: its ordinal; -1: the current one
  int io_threads = 0;   // that read and write; 0: 8
  int queue_depth = 0;  // requests that each of these has under way by io_uring; 0: 32
  /// Requests of so many bytes are as fast as longer ones; 0: 128 KiB. Where runs are long, a tile is 32 of
  /// them, and no more.
  std::uint64_t segment_bytes = 0;
  /// By ascending length, all above 0: whether longer runs are worth more where the input is read or where
  /// the output is written. Empty: those of a usual disk, on which they are worth more where it is written.
  std::vector<SegmentRate> segment_rates = {};
  Io io = Io::automatic;
  /// Holds what is read against what is written, by sums that a wrong place or value changes
  /// (docs/guide/files.md says what they prove).
  bool verify = false;
  /// Leaves an unfinished output beside OUT with a journal of its finished tiles, for `resume`.
  bool keep_unfinished = false;
  /// Goes on where an earlier run with the same problem, input, budget and output was interrupted: tiles that
  /// its journal says are finished are read again and compared by checksums. Where there is no such run, from
  /// the beginning. Implies keep_unfinished.
  bool resume = false;
  /// Seconds between two records of the journal, each of which waits for the disk.
  double checkpoint_seconds = 5;
  /// Called by any thread, but by one at a time, whenever some MiB are done.
  std::function<void(const Progress&)> progress = {};
  /// Asked as often; true ends the run.
  std::function<bool()> cancelled = {};
  /// Called once when all is on the disk but for the file's name; what it throws leaves the output as it was.
  std::function<void(const Report&)> done = {};
};

/// An array in a file: raw bytes that begin at `offset`.
struct Input {
  std::filesystem::path path;
  std::uint64_t offset = 0;
};

/// A file that is to be `header`, and the result behind it. Transfers need not cut blocks of the disk in two
/// where the header is a multiple of 4096 bytes.
struct Output {
  std::filesystem::path path;
  std::vector<std::byte> header = {};
};

/// What is done to each number in the same sweep (faro/arithmetic.hpp): a file of another type, scaled, added
/// to, of the other byte order.
///
///     Sweep({.permutation = maps::transpose_any(rows, columns), .element_bytes = 4}, options,
///           Numbers{.arithmetic = {.from = Number::f32, .to = Number::bf16, .scale = {{0.5}, {}}}});
struct Numbers {
  Arithmetic arithmetic;  // its addend has no strides: it lies as the output does
  /// Of the result as it lies in the file, slowest first: what scale's and offset's axes are of.
  std::vector<std::uint64_t> shape = {};
  Input addend = {};
};

/// What a sweep does, before it does it.
struct Facts {
  std::uint64_t tiles = 0;
  std::uint64_t tile_bytes = 0;       // the most of one
  std::uint64_t read_run_bytes = 0;   // that lie together, of most tiles; the shortest of several boxes
  std::uint64_t write_run_bytes = 0;  // likewise
  std::uint64_t memory_bytes = 0;     // of all buffers
  std::uint64_t moved_bytes = 0;      // read; as many are written but for repeats of a view
  std::uint64_t added_bytes = 0;      // of Numbers::addend, which are read as well
  std::uint64_t written_bytes = 0;    // where numbers are changed; 0: as many as are moved
  int sweeps = 1;
  bool in_place = false;     // sweeps over the file itself
  std::string numbers = {};  // "f32 to bf16, scaled by 0.5, in f32", where they are changed

  /// "one sweep, tiles of 256 MiB in segments of 32 KiB"
  std::string text() const;
};

/// The plan that a sweep holds for its tiles: of a whole one, its rows one behind another in memory.
struct TilePlan {
  std::string permutation;  // in text form
  std::string text;         // explained, several lines
  std::string json;  // likewise (docs/guide/json.md, "explain"); empty where elements are copied one by one
};

/// What a run did.
struct Report {
  Facts facts;
  Engine engine = Engine::cpu;   // that permuted the tiles
  std::string engine_text;       // "12 GB/s by cuda, 3.4 by cpu": of engine cuda, what the first tile showed
  bool finished = false;         // false: cancelled, and no output is there
  std::string io;                // "io_uring with O_DIRECT", "buffered, for O_DIRECT is refused by …"
  std::uint64_t read_bytes = 0;  // of data: asked for, without the rests of blocks
  std::uint64_t written_bytes = 0;
  std::uint64_t journal_bytes = 0;  // of data, written before it is written in place
  std::uint64_t resumed_tiles = 0;  // that were finished before
  double seconds = 0;
  bool verified = false;
};

/// 60% of the memory that can be taken, within the limits of the control group.
std::uint64_t default_memory_bytes();

/// A sweep that is planned. Cheap to copy.
class Sweep {
 public:
  /// Sweeps by a permutation, batches included; elements are some numbers of the input each where those are
  /// changed. Errors: those of faro::plan(); ErrorCode::unsupported for an index array that memory_bytes do
  /// not hold, and for placement in_place; ErrorCode::value for memory that does not hold three elements; of
  /// numbers those of check(arithmetic, shape), and ErrorCode::value for an addend with strides, for elements
  /// that are no whole number of them, and for axes of another array than the result.
  Sweep(const Problem& problem, const Options& options, const std::optional<Numbers>& numbers = std::nullopt);
  /// Sweeps by a view: what no element of it reaches is zero. Errors: those of check(view); as above.
  Sweep(const Strided& view, std::uint64_t element_bytes, const Options& options,
        const std::optional<Numbers>& numbers = std::nullopt);

  const Facts& facts() const;
  /// Nothing in it where nothing is moved. Errors: those of Plan.
  TilePlan tile_plan() const;

  struct State;
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// Whether the budget holds whole arrays of the batch with all that permuting them takes: what a Sweep of an
/// index array needs. Without, permute_indexed() distributes them.
bool holds_arrays(const Problem& problem, const Options& options);

/// Whether permute_indexed() is what takes a problem in normal form: an index array or a computed map, over
/// arrays that memory does not hold.
bool is_distributed(const Problem& problem, const Options& options);

/// out[b][pi(x)] = in[b][x], from file to file; the same file for every budget. The output appears at its
/// path whole, or not at all; its room is reserved before the first byte is read.
/// Errors: those of Sweep; ErrorCode::value where both are one file; ErrorCode::file for an input that is too
/// short, changes or cannot be read, a full disk, an output that another process is writing, a journal of
/// another problem; ErrorCode::verification.   Cost: one sweep over both files.
Report run(const Sweep& sweep, const Input& in, const Output& out, const Options& options);

/// The same of a problem, in whatever way the budget leaves: as run(Sweep(problem, options), …), and an index
/// array or a computed map over arrays that memory does not hold as permute_indexed().
Report run(const Problem& problem, const Input& in, const Output& out, const Options& options = {});

/// A share of a sweep: the tiles of one of several processes, which all write into one output.
struct Share {
  std::uint64_t process = 0;
  std::uint64_t processes = 1;
};

/// Sweeps the tiles that are this process's, as even a share as can be, into a file that is there already and
/// has its length; all shares together write each byte of the result once. By way of the page cache, since
/// shares may meet within a block of the disk. Syncs what it wrote. Report::facts are of the whole sweep; of
/// `options` verify, resume and done are not looked at. Errors: as run().
struct SharedOutput {
  std::filesystem::path path;
  std::uint64_t offset = 0;  // of the data
};
Report run_share(const Sweep& sweep, const Input& in, const SharedOutput& out, const Share& share,
                 const Options& options);

/// The same as run() of a problem, of whole .npy files: plans, reads the header of `in`, and writes the
/// result with its dtype and, where `shape` is not given, its shape. Errors: also for data in Fortran order
/// (ErrorCode::unsupported), and for a problem of other bytes than the file's data.
Report permute(const Problem& problem, const std::filesystem::path& in, const std::filesystem::path& out,
               const Options& options = {},
               const std::optional<std::vector<std::uint64_t>>& shape = std::nullopt);

/// out[b][pi(x)] = in[b][x] from one descriptor, such as a pipe, to another, both from where they are and in
/// order: whole arrays of the batch at a time. Errors: those of Sweep; ErrorCode::unsupported for arrays that
/// a third of the budget does not hold, and for resume; ErrorCode::file for an input that ends before its
/// time; ErrorCode::verification before anything wrong is written.
Report permute_stream(const Problem& problem, int in, int out, const Options& options = {});

/// For who writes something of its own first. Errors: those of permute_stream() that are known without the
/// streams.
void require_stream(const Problem& problem, const Options& options = {});

/// Data that is permuted where it lies in a file.
struct InPlaceFile {
  std::filesystem::path path;
  std::uint64_t offset = 0;
  /// What the file is to begin with when all is done, at most offset bytes; empty: what it begins with.
  std::vector<std::byte> header = {};
};

/// data[b][pi(x)] = data[b][x] as it was, in the file itself, beside a journal of at most two thirds of the
/// budget on the same disk. Affine maps take one pass or two (theorem 4 of
/// docs/theory/two-passes-in-place.md), rolls, flips and axes that keep the shape likewise, axes that change
/// the shape at most three; whatever permutes arrays of a batch that fit takes one. Each pass reads the data
/// once and writes it twice: to the journal, then where it lies.
///
/// A run that is interrupted at any moment, cancelled, or ends with an error after it began leaves the file
/// permuted in part and the journal, with which recover() finishes it or takes it back. Law: after finish the
/// file is what an uninterrupted run leaves, after undo what it was. With `verify` each step is held against
/// the obvious loop by sums before it is written, to the journal or to the file; recover() does not verify.
/// Errors: as run(), ErrorCode::unsupported for what no pass in place is known for, and for resume;
/// ErrorCode::file where there is a journal.
Report permute_in_place(const Problem& problem, const InPlaceFile& file, const Options& options = {});

/// What that does, before it does it. Errors: those of a run that are known without the file.
Facts in_place_facts(const Problem& problem, const Options& options);

/// Whether a journal says that the file is permuted in part.
bool is_permuted_in_part(const std::filesystem::path& path);

enum class Recovery : std::uint8_t { finish, undo };
/// The options threads, io, progress, cancelled and done are used; memory is what the interrupted run had.
/// Errors: ErrorCode::file where there is no journal, it is damaged, or the file is another.
/// Where the run was interrupted before its first step the file is as it was: the journal goes, and the
/// report has no tiles; `done` is not called.
Report recover(const std::filesystem::path& path, Recovery recovery, const Options& options = {});

/// A random permutation of records, computed from a seed: the same for every budget, number of threads and
/// way of reading.
struct Shuffle {
  std::uint64_t records = 0;
  std::uint64_t record_bytes = 1;
  std::uint64_t seed = 0;
  bool inverse = false;  // puts the records back where they were
};

/// Data is read once and written once where memory holds it, else twice, by way of a scratch file of its size
/// beside the output. Errors: as run() of a sweep; ErrorCode::value for too little memory.
Report shuffle(const Shuffle& shuffle, const Input& in, const Output& out, const Options& options = {});

/// What a distribution of records and its sweep do: of a shuffle, or of an index array. Errors:
/// ErrorCode::value for too little memory.
Facts record_facts(std::uint64_t records, std::uint64_t record_bytes, bool by_index, const Options& options);

/// An index array in an .npy file of one axis of integers, of any size: it is read as it is needed. Arrays of
/// a batch are permuted alike.
struct IndexFile {
  std::filesystem::path path;
  Direction direction = Direction::scatter;
  std::uint64_t batch = 1;
};

/// out[index[x]] = in[x], or of a gather out[x] = in[index[x]], for records of record_bytes. The scratch file
/// has 2 bytes a record more. A gather's array is inverted first, which takes four files' room of its
/// size beside the output. Errors: as shuffle(); ErrorCode::file for a file that cannot be read;
/// ErrorCode::value where it is no permutation, or no index array.
Report permute_indexed(const IndexFile& index, std::uint64_t record_bytes, const Input& in, const Output& out,
                       const Options& options = {});

/// A permutation's text in which index arrays are named by their files, of any size: `@index.npy`,
/// `gather(@index.npy)`, and `compose`, `inverse` and `power` of them and of maps that are computed, such as
/// `compose(@a.npy, inverse(compose(@b.npy, bit_reversal(40))))`.
struct IndexText {
  std::string text;
  ParseOptions parse = {};  // what a bare `@index.npy` is, and the array at hand
  bool inverse = false;     // undoes it
  std::uint64_t batch = 1;
};

/// Which index files a text names. None where it has none in such a form, or one of them is no index array:
/// parse_permutation() reads it, and tells what is wrong with it.
struct IndexFiles {
  std::uint64_t files = 0;
  std::uint64_t count = 0;  // entries of the first
  std::uint64_t bytes = 0;  // of all
};
IndexFiles index_files(const std::string& text);

/// As by one index file; the text is worked out to one before, in files beside the output: a distribution of
/// the index for each inverse and for each product with a file's index array on the left. Errors: also
/// ErrorCode::value for permutations of several sizes, those of parse_permutation().
Report permute_by_index_text(const IndexText& index, std::uint64_t record_bytes, const Input& in,
                             const Output& out, const Options& options = {});

/// The same by an index array in memory, whose bytes are taken out of the budget, or by a computed map, whose
/// places are worked out as they are needed; batches included. Errors:
/// also ErrorCode::value for another permutation, and where the array takes more than three quarters of the
/// budget.
Report permute_indexed(const Problem& problem, const Input& in, const Output& out,
                       const Options& options = {});

}  // namespace faro::file
