#include "file/buckets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "file/cells.hpp"
#include "file/file_run.hpp"
#include "file/tiles.hpp"
#include "io/buffer.hpp"
#include "io/output_file.hpp"
#include "rounding.hpp"
#include "size_text.hpp"

namespace faro::file {
namespace {

constexpr std::uint64_t kCountBytes = sizeof(std::uint32_t);  // of a cell's records, in a run
constexpr std::uint64_t kTagOfRecord = sizeof(std::uint16_t);
constexpr int kMostCellBits = 16;
constexpr std::uint64_t kManyCells = 16;  // in a bucket: enough for all threads
constexpr std::uint64_t kMostChunkRecords = std::uint64_t{1} << 31;
constexpr std::uint64_t kLongRunBytes = std::uint64_t{128} << 10;  // worth whole blocks of the disk

// How many threads may count cells. A shape must not depend on how many there are, so that a run is gone on
// with by any number: the counters of a few have room in every budget, of more where all of them take a small
// part of it.
std::uint64_t counting_threads(std::uint64_t cells, std::uint64_t memory_bytes) {
  constexpr std::uint64_t kLeast = 2;
  constexpr std::uint64_t kMost = 32;  // a disk is not that fast
  constexpr std::uint64_t kShare = 64;
  return std::clamp(memory_bytes / kShare / (cells * kCountBytes), kLeast, kMost);
}

// A sweep's tiles that are a row each on the input's side.
class RowTiles final : public Tiles {
 public:
  using Maker = std::function<TileWork(std::uint64_t)>;
  RowTiles(std::uint64_t count, std::uint64_t most_bytes, std::uint64_t read_run, std::uint64_t write_run,
           Maker maker)
      : count_(count), maker_(std::move(maker)) {
    tile_bytes = most_bytes;
    read_run_bytes = read_run;
    write_run_bytes = write_run;
  }
  std::uint64_t count() const override { return count_; }
  TileWork tile(std::uint64_t number) override { return maker_(number); }

 private:
  std::uint64_t count_;
  Maker maker_;
};

std::uint32_t count_at(const std::byte* header, std::uint64_t cell) {
  std::uint32_t count = 0;
  std::memcpy(&count, header + cell * kCountBytes, kCountBytes);
  return count;
}

// Cells' bits of which a bucket has most cells, up to many of them.
std::optional<BucketShape> shape_of(std::uint64_t records, std::uint64_t record_bytes, bool is_tagged,
                                    std::uint64_t memory_bytes, std::uint64_t run_unit) {
  std::optional<BucketShape> best;
  for (int bits = kMostCellBits; bits >= 0; --bits) {
    BucketShape shape{.records = records,
                      .record_bytes = record_bytes,
                      .is_tagged = is_tagged,
                      .cell_bits = bits,
                      .run_unit = run_unit};
    const std::uint64_t stored = shape.stored_bytes();
    // The counts of three buffers' runs, and each thread's.
    const std::uint64_t counts =
        shape.cells() * kCountBytes * (3 + counting_threads(shape.cells(), memory_bytes));
    if (counts >= memory_bytes) break;  // smaller cells have more
    shape.chunk_records = std::min(
        {(memory_bytes - counts) / (3 * stored + sorting_bytes(record_bytes)), kMostChunkRecords, records});
    if (shape.chunk_records == 0) break;
    const std::uint64_t padding = 3 * shape.chunks() * run_unit;
    const std::uint64_t of_cell = 3 * ((stored << bits) + shape.chunks() * kCountBytes) +
                                  shape.chunks() * (kCountBytes + sizeof(std::uint32_t));
    if (padding + of_cell > memory_bytes) continue;
    const std::uint64_t most = (memory_bytes - padding) / of_cell;
    // Buckets have one size, but for the last.
    const std::uint64_t buckets = detail::ceil_div(shape.cells(), most);
    shape.bucket_cells = detail::ceil_div(shape.cells(), buckets);
    shape.region_bytes = detail::round_up(
        shape.bucket_records() * stored + shape.chunks() * (shape.bucket_cells * kCountBytes + run_unit),
        io::kTransferBlock);
    if (!best || shape.bucket_cells > best->bucket_cells) best = shape;
    if (shape.bucket_cells >= kManyCells) break;
  }
  return best;
}

class Work {
 public:
  Work(const Places& places, const BucketShape& shape, FileRun& run, std::uint64_t memory_bytes, int threads)
      : places_(places),
        shape_(shape),
        width_(shape.record_bytes),
        run_(run),
        threads_(std::min(detail::thread_count(threads),
                          static_cast<int>(counting_threads(shape.cells(), memory_bytes)))) {}

  // All records in one buffer.
  bool in_one() {
    const std::uint64_t bytes = shape_.records * width_;
    RowTiles tiles(1, bytes, bytes, bytes, [bytes](std::uint64_t) {
      return TileWork{.in = one_row(0, bytes), .out = one_row(0, bytes), .move = nullptr};
    });
    fill_facts(tiles, bytes, 1);
    const io::TransferFile from = run_.input(bytes);
    const io::TransferFile to = run_.output(bytes);
    return run_.sweep({.tiles = tiles,
                       .in = from,
                       .out = to,
                       .in_offset = run_.in_offset(),
                       .out_offset = run_.out_offset(),
                       .permute = [this](TileWork&, const std::byte* x, std::byte* y) {
                         const io::Buffer memory(CellSort::bytes(width_, shape_.records));
                         CellSort sort(places_, width_, shape_.cell_bits, shape_.records, threads_,
                                       memory.data());
                         require_permutation(sort.sort(0, shape_.records, x));
                         detail::with_width(width_, [&](auto width) { place_entries(sort, y, width); });
                       }});
  }

  bool by_buckets(const Output& out) {
    // Beside the output; kept where that is.
    const bool is_kept = run_.unfinished() == io::Unfinished::kept;
    io::OutputFile scratch(is_kept ? scratch_path(out.path) : out.path, run_.unfinished());
    try {
      const std::uint64_t run_bytes =
          std::max<std::uint64_t>(shape_.chunk_records / shape_.buckets(), 1) * shape_.stored_bytes();
      const io::TransferFile middle(scratch.descriptor(), io::TransferFile::Use::update,
                                    run_.choice().mode_for(run_bytes), "scratch of " + out.path.string());
      scratch_ = scratch.descriptor();
      begins_.assign(shape_.buckets(), 0);
      ends_ = begins_;
      // Both sweeps use the same memory, so that its pages are cleared once.
      const std::uint64_t sorting = TileBuffers::bytes(chunk_bytes());
      memory_.emplace(std::max(sorting + CellSort::bytes(width_, shape_.chunk_records),
                               TileBuffers::bytes(bucket_bytes())),
                      io::PageKind::huge, io::PageTouch::as_used);
      sort_memory_ = memory_->data() + sorting;
      if (!run_.goes_on() && ftruncate(scratch.descriptor(), 0) != 0)
        fail(ErrorCode::file, scratch.operation(), io::error_text(errno), "a file that can be written to");
      scratch.reserve(shape_.buckets() * shape_.region_bytes);
      const bool finished = distribute_all(middle, run_bytes) && sweep_buckets(middle);
      // At the end nobody needs it; a run that was cancelled is gone on with.
      if (is_kept && finished) scratch.discard();
      return finished;
    } catch (...) {
      if (is_kept && !run_.is_resumable()) scratch.discard();
      throw;
    }
  }

 private:
  bool distribute_all(const io::TransferFile& middle, std::uint64_t run_bytes) {
    RowTiles chunks(shape_.chunks(), chunk_bytes(), shape_.chunk_records * width_, run_bytes,
                    [this](std::uint64_t chunk) {
                      const std::uint64_t first = chunk * shape_.chunk_records;
                      const std::uint64_t records = std::min(shape_.chunk_records, shape_.records - first);
                      return TileWork{.in = one_row(first * width_, records * width_),
                                      .out = one_row(0, 0),
                                      .move = nullptr};
                    });
    fill_facts(chunks, run_bytes, 2);
    const io::TransferFile from = run_.input(chunks.read_run_bytes);
    CellSort sort(places_, width_, shape_.cell_bits, shape_.chunk_records, threads_, sort_memory_);
    return run_.sweep(
        {.tiles = chunks,
         .in = from,
         .out = middle,
         .in_offset = run_.in_offset(),
         .out_offset = 0,
         .sums_written = false,
         .permute = [&](TileWork& work, const std::byte* x, std::byte* y) { distribute(sort, work, x, y); },
         .found = [&](TileWork& work) { return found(work); },
         .memory = memory_->data()});
  }

  // The most of a tile of either sweep.
  std::uint64_t chunk_bytes() const {
    return shape_.chunk_records * shape_.stored_bytes() +
           shape_.buckets() * (shape_.bucket_cells * kCountBytes + shape_.run_unit);
  }
  std::uint64_t bucket_bytes() const {
    return std::max(shape_.region_bytes, shape_.bucket_records() * width_);
  }

  bool sweep_buckets(const io::TransferFile& middle) {
    RowTiles buckets(shape_.buckets(), bucket_bytes(), shape_.region_bytes, shape_.bucket_records() * width_,
                     [this](std::uint64_t bucket) {
                       return TileWork{.in = one_row(bucket * shape_.region_bytes, ends_[bucket]),
                                       .out = one_row(bucket * shape_.bucket_records() * width_,
                                                      shape_.records_of(bucket) * width_),
                                       .move = nullptr};
                     });
    fill_facts(buckets, run_.facts().write_run_bytes, 2);
    const io::TransferFile to = run_.output(buckets.write_run_bytes);
    return run_.sweep(
        {.tiles = buckets,
         .in = middle,
         .out = to,
         .in_offset = 0,
         .out_offset = run_.out_offset(),
         .sums_read = false,
         .permute = [this](TileWork& work, const std::byte* x, std::byte* y) { bring_together(work, x, y); },
         .memory = memory_->data()});
  }

  void fill_facts(const Tiles& tiles, std::uint64_t run_bytes, int sweeps) {
    Facts& facts = run_.facts();
    facts.tiles += tiles.count();
    facts.tile_bytes = std::max(facts.tile_bytes, tiles.tile_bytes);
    facts.memory_bytes = std::max(facts.memory_bytes, 3 * tiles.tile_bytes);
    facts.read_run_bytes = tiles.read_run_bytes;
    facts.write_run_bytes = run_bytes;
    facts.sweeps = sweeps;
  }

  // --- the first sweep

  // The runs of a chunk, one behind another in memory and each at its bucket's end in the scratch file.
  // Chunks come in their order, one of them perhaps again: found to be another than it should be, and then
  // made. False where a bucket would have more than its room.
  template <typename RecordsOf>
  bool set_runs(TileWork& work, std::uint64_t chunk, const RecordsOf& records_of) {
    if (chunk != latest_chunk_) {
      FARO_CHECK(chunk == latest_chunk_ + 1);
      latest_chunk_ = chunk;
      begins_ = ends_;
    }
    std::uint64_t begin = 0;
    work.out.ranges.clear();
    for (std::uint64_t bucket = 0; bucket < shape_.buckets(); ++bucket) {
      const std::uint64_t bytes = shape_.run_bytes(bucket, records_of(bucket));
      work.out.ranges.push_back(
          {.at = begin, .offset = bucket * shape_.region_bytes + begins_[bucket], .bytes = bytes});
      ends_[bucket] = begins_[bucket] + bytes;
      if (ends_[bucket] > shape_.region_bytes) return false;
      begin += bytes;
    }
    return true;
  }

  void distribute(CellSort& sort, TileWork& work, const std::byte* x, std::byte* y) {
    const std::uint64_t first = work.in.begin / width_;
    const std::uint64_t chunk = first / shape_.chunk_records;
    require_permutation(sort.sort(first, work.in.bytes / width_, x));
    const auto begin_of = [&](std::uint64_t bucket) {
      return sort.begin(std::min(bucket * shape_.bucket_cells, shape_.cells()));
    };
    require_permutation(
        set_runs(work, chunk, [&](std::uint64_t bucket) { return begin_of(bucket + 1) - begin_of(bucket); }));
    std::atomic<bool> is_wrong{false};
    detail::with_width(width_, [&](auto width) {
#pragma omp parallel num_threads(threads_)
      {
        CellOrder order(shape_.cell_bits);
#pragma omp for schedule(dynamic, 4)
        for (std::int64_t c = 0; c < static_cast<std::int64_t>(shape_.cells()); ++c) {
          const auto cell = static_cast<std::uint64_t>(c);
          const std::uint64_t bucket = cell / shape_.bucket_cells;
          const std::uint64_t cells = shape_.cells_of(bucket);
          const std::uint64_t records = begin_of(bucket + 1) - begin_of(bucket);
          std::byte* const run = y + work.out.ranges[bucket].at;
          const std::uint64_t in_bucket = cell % shape_.bucket_cells;
          const auto count = static_cast<std::uint32_t>(sort.begin(cell + 1) - sort.begin(cell));
          std::memcpy(run + in_bucket * kCountBytes, &count, kCountBytes);
          std::byte* const run_records = run + cells * kCountBytes;
          std::byte* const tags = run_records + records * width_;
          const std::uint64_t first_record = sort.begin(cell) - begin_of(bucket);
          std::byte* const cell_records = run_records + first_record * width_;
          std::byte* const cell_tags = tags + first_record * kTagOfRecord;
          // The seed's places are a permutation's, a file's need not be.
          const auto put = [&](std::uint64_t rank, std::uint16_t, std::uint64_t entry) {
            std::memcpy(cell_records + rank * width, sort.record(entry), width);
          };
          const auto put_with_tag = [&](std::uint64_t rank, std::uint16_t tag, std::uint64_t entry) {
            put(rank, tag, entry);
            std::memcpy(cell_tags + rank * kTagOfRecord, &tag, kTagOfRecord);
          };
          const bool is_right = shape_.is_tagged ? order.rank<true>(sort, cell, put_with_tag)
                                                 : order.rank<false>(sort, cell, put);
          if (!is_right) is_wrong = true;
          if (in_bucket + 1 != cells) continue;
          const std::uint64_t used = cells * kCountBytes + records * shape_.stored_bytes();
          std::memset(run + used, 0, work.out.ranges[bucket].bytes - used);
        }
      }
    });
    require_permutation(!is_wrong);
  }

  // Finds the runs of a chunk that an earlier run distributed, by the counts that they begin with.
  bool found(TileWork& work) {
    const std::uint64_t chunk = work.in.begin / width_ / shape_.chunk_records;
    std::vector<std::byte> counts(shape_.bucket_cells * kCountBytes);
    std::uint64_t sum = 0;
    bool is_there = true;
    const bool fits = set_runs(work, chunk, [&](std::uint64_t bucket) {
      const std::uint64_t bytes = shape_.cells_of(bucket) * kCountBytes;
      const auto offset = static_cast<off_t>(bucket * shape_.region_bytes + begins_[bucket]);
      is_there = is_there && pread(scratch_, counts.data(), bytes, offset) == static_cast<ssize_t>(bytes);
      std::uint64_t records = 0;
      for (std::uint64_t cell = 0; cell < shape_.cells_of(bucket); ++cell)
        records += count_at(counts.data(), cell);
      sum += records;
      return std::min(records, shape_.chunk_records);
    });
    return is_there && fits && sum == work.in.bytes / width_;
  }

  // --- the second

  // Where, for each chunk, the records and tags of its run in the bucket's buffer begin.
  struct Run {
    const std::byte* records = nullptr;
    const std::byte* tags = nullptr;
  };

  // A bucket's records in the order of their places.
  void bring_together(TileWork& work, const std::byte* x, std::byte* y) {
    const std::uint64_t bucket = work.in.begin / shape_.region_bytes;
    const std::uint64_t cells = shape_.cells_of(bucket);
    const std::uint64_t chunks = shape_.chunks();
    std::vector<Run> runs(chunks);
    // By cell and chunk: the records of the chunk's run before the cell; behind all, those of the run.
    std::vector<std::uint32_t> before((cells + 1) * chunks);
    std::uint64_t at = 0;
    std::uint64_t total = 0;
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
      require_scratch(at + cells * kCountBytes <= work.in.bytes);
      std::uint64_t records = 0;
      for (std::uint64_t cell = 0; cell < cells; ++cell) {
        before[cell * chunks + chunk] = static_cast<std::uint32_t>(records);
        records += count_at(x + at, cell);
      }
      require_scratch(records <= shape_.chunk_records);
      before[cells * chunks + chunk] = static_cast<std::uint32_t>(records);
      runs[chunk].records = x + at + cells * kCountBytes;
      runs[chunk].tags = runs[chunk].records + records * width_;
      at += shape_.run_bytes(bucket, records);
      total += records;
      require_scratch(at <= work.in.bytes);
    }
    // More or fewer records than places: an entry comes twice.
    require_permutation(total == shape_.records_of(bucket));
    std::atomic<bool> is_wrong{false};
    detail::with_width(width_, [&](auto width) {
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads_)
      for (std::int64_t c = 0; c < static_cast<std::int64_t>(cells); ++c) {
        const auto cell = static_cast<std::uint64_t>(c);
        const bool is_right = shape_.is_tagged
                                  ? place_tagged(bucket, cell, runs, &before[cell * chunks], y, width)
                                  : merge(bucket, cell, runs, &before[cell * chunks], y, width);
        if (!is_right) is_wrong = true;
      }
    });
    require_permutation(!is_wrong);
  }

  std::uint64_t places_of_cell(std::uint64_t bucket, std::uint64_t cell) const {
    const std::uint64_t first = cell << shape_.cell_bits;
    return std::min(std::uint64_t{1} << shape_.cell_bits, shape_.records_of(bucket) - first);
  }

  // By the tags. Returns whether each place is taken once.
  template <typename Width>
  bool place_tagged(std::uint64_t bucket, std::uint64_t cell, const std::vector<Run>& runs,
                    const std::uint32_t* before, std::byte* y, Width width) const {
    const std::uint64_t places = places_of_cell(bucket, cell);
    CellPlaces taken(shape_.cell_bits, places);
    std::byte* const to = y + (cell << shape_.cell_bits) * width_;
    std::uint64_t placed = 0;
    for (std::size_t chunk = 0; chunk < runs.size(); ++chunk) {
      for (std::uint64_t i = before[chunk]; i < before[runs.size() + chunk]; ++i) {
        std::uint16_t tag = 0;
        std::memcpy(&tag, runs[chunk].tags + i * kTagOfRecord, kTagOfRecord);
        if (!taken.take(tag)) return false;
        std::memcpy(to + tag * width_, runs[chunk].records + i * width_, width);
        ++placed;
      }
    }
    return placed == places;
  }

  // For each place in order the next record of the chunk that its record comes from. Returns whether the runs
  // have as many as they should.
  template <typename Width>
  bool merge(std::uint64_t bucket, std::uint64_t cell, const std::vector<Run>& runs,
             const std::uint32_t* before, std::byte* y, Width width) const {
    constexpr std::uint64_t kPart = 1024;
    const std::uint64_t places = places_of_cell(bucket, cell);
    const std::uint64_t first = bucket * shape_.bucket_records() + (cell << shape_.cell_bits);
    std::vector<std::uint32_t> next(before, before + runs.size());
    const std::uint32_t* const end = before + runs.size();
    const double share = 1 / static_cast<double>(shape_.chunk_records);
    std::byte* to = y + (cell << shape_.cell_bits) * width_;
    std::array<std::uint64_t, kPart> sources;
    for (std::uint64_t done = 0; done < places; done += kPart) {
      const std::span<std::uint64_t> part = std::span(sources).first(std::min(kPart, places - done));
      places_.fill_inverse(first + done, part);
      for (const std::uint64_t source : part) {
        // A division: the quotient of the nearest numbers of 53 bits is off by one at most.
        auto chunk = static_cast<std::uint64_t>(static_cast<double>(source) * share);
        if (chunk * shape_.chunk_records > source) --chunk;
        if (source - chunk * shape_.chunk_records >= shape_.chunk_records) ++chunk;
        if (next[chunk] == end[chunk]) return false;
        std::memcpy(to, runs[chunk].records + std::uint64_t{next[chunk]++} * width_, width);
        to += width_;
      }
    }
    return true;
  }

  // All of one buffer's records, from their entries. For in_one().
  template <typename Width>
  void place_entries(const CellSort& sort, std::byte* y, Width width) const {
    std::atomic<bool> is_wrong{false};
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads_)
    for (std::int64_t c = 0; c < static_cast<std::int64_t>(shape_.cells()); ++c) {
      const auto cell = static_cast<std::uint64_t>(c);
      const std::uint64_t first = cell << shape_.cell_bits;
      CellPlaces taken(shape_.cell_bits,
                       std::min(std::uint64_t{1} << shape_.cell_bits, shape_.records - first));
      for (std::uint64_t entry = sort.begin(cell); entry < sort.begin(cell + 1); ++entry) {
        const std::uint64_t tag = sort.tag(entry);
        if (taken.take(tag)) {
          std::memcpy(y + (first + tag) * width_, sort.record(entry), width);
        } else {
          is_wrong = true;
        }
      }
    }
    require_permutation(!is_wrong);
  }

  // Whether the entries are those of a permutation, and the scratch file is as it was written.
  void require_permutation(bool is_one) const {
    if (is_one) return;
    fail(ErrorCode::value, "permute `" + run_.in_label() + "`",
         "an index array with an entry twice or too large",
         fmt::format("each of 0 to {} once", places_.count() - 1), "no result was written");
  }
  void require_scratch(bool is_whole) const {
    if (is_whole) return;
    fail(ErrorCode::file, "permute `" + run_.in_label() + "`",
         "a scratch file that reads otherwise than it was written", "the bytes as they were written",
         "no result was written");
  }

  const Places& places_;
  BucketShape shape_;
  std::uint64_t width_;
  FileRun& run_;
  int threads_;
  int scratch_ = -1;
  std::optional<io::Buffer> memory_;
  std::byte* sort_memory_ = nullptr;
  // By bucket: bytes of the runs of the chunks before the latest, and of the latest too.
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint64_t> ends_;
  std::uint64_t latest_chunk_ = ~std::uint64_t{0};
};

[[noreturn]] void fail_for_memory(std::uint64_t records, std::uint64_t record_bytes, bool is_tagged,
                                  std::uint64_t memory) {
  std::uint64_t enough = std::max<std::uint64_t>(memory, 1);
  while (enough < std::uint64_t{1} << 60 && !bucket_shape(records, record_bytes, is_tagged, enough))
    enough *= 2;
  fail(ErrorCode::value, "plan", fmt::format("memory of {}", size_text(memory)),
       fmt::format("about {} for {} record{} of {}", size_text(enough), records, records == 1 ? "" : "s",
                   size_text(record_bytes)));
}

}  // namespace

std::uint64_t BucketShape::chunks() const { return detail::ceil_div(records, chunk_records); }
std::uint64_t BucketShape::cells() const { return ((records - 1) >> cell_bits) + 1; }
std::uint64_t BucketShape::buckets() const { return detail::ceil_div(cells(), bucket_cells); }
std::uint64_t BucketShape::cells_of(std::uint64_t bucket) const {
  return std::min(bucket_cells, cells() - bucket * bucket_cells);
}
std::uint64_t BucketShape::records_of(std::uint64_t bucket) const {
  return std::min(bucket_records(), records - bucket * bucket_records());
}
std::uint64_t BucketShape::run_bytes(std::uint64_t bucket, std::uint64_t run_records) const {
  return detail::round_up(cells_of(bucket) * kCountBytes + run_records * stored_bytes(), run_unit);
}

std::optional<BucketShape> bucket_shape(std::uint64_t records, std::uint64_t record_bytes, bool is_tagged,
                                        std::uint64_t memory_bytes) {
  // In one buffer: data, result, a third buffer, and what sorting takes.
  BucketShape one{.records = records, .record_bytes = record_bytes, .is_tagged = is_tagged};
  one.cell_bits = std::clamp(static_cast<int>(std::bit_width(records)) - 5, 0, kMostCellBits);
  one.chunk_records = records;
  one.bucket_cells = one.cells();
  const std::uint64_t counts = one.cells() * kCountBytes * (1 + counting_threads(one.cells(), memory_bytes));
  const std::uint64_t of_record = 3 * record_bytes + sorting_bytes(record_bytes);
  if (records <= kMostChunkRecords && counts < memory_bytes && (memory_bytes - counts) / of_record >= records)
    return one;
  const auto shape = shape_of(records, record_bytes, is_tagged, memory_bytes, 1);
  if (!shape || shape->chunk_records / shape->buckets() * shape->stored_bytes() < kLongRunBytes) return shape;
  const auto in_blocks = shape_of(records, record_bytes, is_tagged, memory_bytes, io::kTransferBlock);
  return in_blocks ? in_blocks : shape;
}

Facts record_facts(std::uint64_t records, std::uint64_t record_bytes, bool by_index, const Options& options) {
  const std::uint64_t memory = options.memory_bytes != 0 ? options.memory_bytes : default_memory_bytes();
  const std::uint64_t bytes = records * record_bytes;
  Facts facts{.moved_bytes = bytes};
  if (bytes == 0) return facts;
  const auto shape = bucket_shape(records, record_bytes, by_index, memory);
  if (!shape) fail_for_memory(records, record_bytes, by_index, memory);
  const bool in_one = shape->chunks() == 1 && shape->buckets() == 1;
  facts.sweeps = in_one ? 1 : 2;
  facts.tiles = in_one ? 1 : shape->chunks() + shape->buckets();
  facts.tile_bytes =
      in_one ? bytes : std::max(shape->region_bytes, shape->chunk_records * shape->stored_bytes());
  facts.memory_bytes = 3 * facts.tile_bytes;
  facts.read_run_bytes = in_one ? bytes : shape->region_bytes;
  facts.write_run_bytes =
      in_one ? bytes
             : std::max<std::uint64_t>(shape->chunk_records / shape->buckets(), 1) * shape->stored_bytes();
  return facts;
}

Report place_records(const Places& places, std::uint64_t record_bytes, const Input& in, const Output& out,
                     const Options& options) {
  if (record_bytes == 0) fail(ErrorCode::value, "permute records", "records of 0 bytes", "1 byte or more");
  const std::uint64_t count = places.count();
  const std::uint64_t bytes = count * record_bytes;
  const std::uint64_t memory = options.memory_bytes != 0 ? options.memory_bytes : default_memory_bytes();
  std::optional<BucketShape> shape(std::in_place);
  if (count > 0) {
    shape = bucket_shape(count, record_bytes, !places.has_inverse(), memory);
    if (!shape) fail_for_memory(count, record_bytes, !places.has_inverse(), memory);
  }
  const bool in_one = count == 0 || (shape->chunks() == 1 && shape->buckets() == 1);
  FileRun run(
      in, out, options, {.in_bytes = bytes, .out_bytes = bytes, .told_bytes = bytes * (in_one ? 2 : 4)},
      fmt::format("{}; {} records of {}; cells of {} bits, chunks of {}, buckets of {} cells", places.text(),
                  count, record_bytes, shape->cell_bits, shape->chunk_records, shape->bucket_cells));
  if (options.verify) {
    run.verify_by([&places](std::uint64_t first, std::span<std::uint64_t> to) { places.fill(first, to); },
                  record_bytes, places.text());
  }
  return run.run({.moved_bytes = bytes}, [&] {
    if (count == 0) return true;
    Work work(places, *shape, run, memory, options.threads);
    return in_one ? work.in_one() : work.by_buckets(out);
  });
}

}  // namespace faro::file
