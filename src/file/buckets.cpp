#include "file/buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "faro/error.hpp"
#include "file/pipeline.hpp"
#include "file/tiles.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"
#include "rounding.hpp"
#include "threads.hpp"

namespace faro::file {
namespace {

constexpr std::uint64_t kTagBytes = 4;                        // a place in its bucket
constexpr std::uint64_t kPlaceBytes = sizeof(std::uint64_t);  // of a record of a chunk, while it is sorted
constexpr std::uint64_t kMostBucketRecords = std::uint64_t{1} << 32;
constexpr std::uint64_t kPart = 4096;  // records whose places are asked for at once

Rows row_at(std::uint64_t offset, std::uint64_t bytes) {
  return {.count = 1, .bytes = bytes, .begin = offset, .base = 0, .vectors = {}, .digits = {}};
}

// Rows of a stage: `records` of them a tile, of `in_bytes` and `out_bytes` each; the output's side may be
// determined later.
class RecordTiles final : public Tiles {
 public:
  RecordTiles(std::uint64_t records, std::uint64_t of_tile, std::uint64_t in_bytes, std::uint64_t out_bytes)
      : records_(records), of_tile_(of_tile), in_bytes_(in_bytes), out_bytes_(out_bytes) {
    tile_bytes = of_tile * std::max(in_bytes, out_bytes);
    read_run_bytes = of_tile * in_bytes;
    write_run_bytes = of_tile * out_bytes;
  }
  std::uint64_t count() const override { return detail::ceil_div(records_, of_tile_); }
  TileWork tile(std::uint64_t number) override {
    const std::uint64_t first = number * of_tile_;
    const std::uint64_t records = std::min(of_tile_, records_ - first);
    return {.in = row_at(first * in_bytes_, records * in_bytes_),
            .out = row_at(first * out_bytes_, records * out_bytes_),
            .move = nullptr};
  }

 private:
  std::uint64_t records_;
  std::uint64_t of_tile_;
  std::uint64_t in_bytes_;
  std::uint64_t out_bytes_;
};

class Work {
 public:
  Work(const Places& places, std::uint64_t record_bytes, const Input& in, const Output& out,
       const Options& options)
      : places_(places),
        width_(record_bytes),
        options_(options),
        threads_(detail::thread_count(options.threads)),
        facts_(bucket_facts(places.count(), record_bytes,
                            options.memory_bytes != 0 ? options.memory_bytes : default_memory_bytes())),
        choice_(options.io),
        source_(in, places.count() * record_bytes),
        target_(out.path),
        label_(out.path.string()),
        in_offset_(in.offset),
        out_offset_(out.header.size()),
        teller_(options, places.count() * record_bytes * (facts_.buckets == 1 ? 2 : 4)) {}

  Report run(const Output& out) {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t bytes = places_.count() * width_;
    target_.reserve(out.header.size() + bytes);
    target_.write(out.header, 0);
    Report report;
    report.facts.moved_bytes = bytes;
    if (bytes == 0) {
      report.finished = true;
      report.io = "nothing to move";
    } else if (facts_.buckets == 1) {
      report.finished = in_one(report);
    } else {
      report.finished = by_buckets(out, report);
    }
    if (report.finished) {
      source_.require_unchanged();
      target_.finish();
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (report.finished) {
      if (options_.done) options_.done(report);
      target_.commit();
    }
    return report;
  }

 private:
  using Use = io::TransferFile::Use;

  // All records in one buffer.
  bool in_one(Report& report) {
    RecordTiles tiles(places_.count(), places_.count(), width_, width_);
    const Hook permute = [this](TileWork&, const std::byte* x, std::byte* y) {
      begin_bucket(0);
      for_parts(0, places_.count(), [&](std::uint64_t first, std::span<const std::uint64_t> to) {
        for (std::size_t i = 0; i < to.size(); ++i) {
          if (take_place(to[i])) std::memcpy(y + to[i] * width_, x + (first + i) * width_, width_);
        }
      });
      require_permutation();
    };
    const io::TransferFile in(source_.descriptor(), Use::read, choice_.mode_for(tiles.read_run_bytes),
                              source_.path());
    const io::TransferFile to(target_.descriptor(), Use::update, choice_.mode_for(tiles.write_run_bytes),
                              label_);
    return stage(tiles, {.file = &in, .offset = in_offset_}, {.file = &to, .offset = out_offset_}, permute,
                 report);
  }

  bool by_buckets(const Output& out, Report& report) {
    const std::uint64_t count = places_.count();
    const std::uint64_t tagged = width_ + kTagBytes;
    io::OutputFile scratch(out.path);  // never committed
    scratch.reserve(count * tagged);
    const std::uint64_t run_bytes =
        std::max<std::uint64_t>(facts_.chunk_records / facts_.buckets, 1) * tagged;
    const io::TransferFile middle(scratch.descriptor(), Use::update, choice_.mode_for(run_bytes),
                                  "scratch of " + label_);
    filled_.assign(facts_.buckets, 0);
    {
      RecordTiles chunks(count, facts_.chunk_records, width_, tagged);
      chunks.write_run_bytes = run_bytes;
      const io::TransferFile in(source_.descriptor(), Use::read, choice_.mode_for(chunks.read_run_bytes),
                                source_.path());
      if (!stage(
              chunks, {.file = &in, .offset = in_offset_}, {.file = &middle, .offset = 0},
              [this](TileWork& work, const std::byte* x, std::byte* y) { distribute(work, x, y); }, report))
        return false;
    }
    RecordTiles buckets(count, facts_.bucket_records, tagged, width_);
    const io::TransferFile to(target_.descriptor(), Use::update, choice_.mode_for(buckets.write_run_bytes),
                              label_);
    report.facts.sweeps = 2;
    const bool finished = stage(
        buckets, {.file = &middle, .offset = 0}, {.file = &to, .offset = out_offset_},
        [this](TileWork& work, const std::byte* x, std::byte* y) { place(work, x, y); }, report);
    report.facts.write_run_bytes = run_bytes;
    return finished;
  }

  using Hook = std::function<void(TileWork&, const std::byte*, std::byte*)>;

  bool stage(RecordTiles& tiles, Pipeline::Side in, Pipeline::Side out, const Hook& permute, Report& report) {
    Machinery machinery(options_, choice_.mode(), tiles.tile_bytes);
    Pipeline pipeline(machinery, teller_, in, out, {.permute = permute});
    const bool finished = pipeline.run(tiles);
    report.facts.tiles += tiles.count();
    report.facts.tile_bytes = std::max(report.facts.tile_bytes, tiles.tile_bytes);
    report.facts.read_run_bytes = tiles.read_run_bytes;
    report.facts.write_run_bytes = tiles.write_run_bytes;
    report.facts.memory_bytes = std::max(report.facts.memory_bytes, 3 * tiles.tile_bytes);
    report.read_bytes += pipeline.read_bytes();
    report.written_bytes += pipeline.written_bytes();
    const std::string reads = choice_.text(*in.file, tiles.read_run_bytes);
    const std::string writes = choice_.text(*out.file, tiles.write_run_bytes);
    report.io = reads == writes ? reads : "reads " + reads + "; writes " + writes;
    return finished;
  }

  // body(first - begin, places) for parts of [begin, begin + count), by all threads.
  template <typename Body>
  void for_parts(std::uint64_t begin, std::uint64_t count, const Body& body) const {
    const auto parts = static_cast<std::int64_t>(detail::ceil_div(count, kPart));
    std::exception_ptr error;  // nothing may be thrown out of a parallel region
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::uint64_t first = static_cast<std::uint64_t>(part) * kPart;
      std::array<std::uint64_t, kPart> to;
      const std::span<std::uint64_t> asked = std::span(to).first(std::min(kPart, count - first));
      try {
        places_.fill(begin + first, asked);
        body(first, asked);
      } catch (...) {
#pragma omp critical(faro_places)
        error = std::current_exception();
      }
    }
    if (error != nullptr) std::rethrow_exception(error);
  }

  // A chunk's records in the order of their buckets, each with its place in it: counted by shares of the
  // chunk, summed up, and moved by the same shares.
  void distribute(TileWork& work, const std::byte* x, std::byte* y) {
    const std::uint64_t records = work.in.bytes / width_;
    const std::uint64_t tagged = width_ + kTagBytes;
    const std::uint64_t buckets = facts_.buckets;
    to_.resize(records);
    is_wrong_ = false;
    for_parts(work.in.begin / width_, records, [&](std::uint64_t first, std::span<const std::uint64_t> to) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        if (to[i] >= places_.count()) is_wrong_ = true;
        to_[first + i] = to[i];
      }
    });
    require_permutation();
    const auto shares = static_cast<std::uint64_t>(threads_);
    const std::uint64_t share = detail::ceil_div(records, shares);
    std::vector<std::uint64_t> next(shares * buckets, 0);
    const auto for_share = [&](std::int64_t s, const auto& body) {
      const std::uint64_t first = static_cast<std::uint64_t>(s) * share;
      for (std::uint64_t i = first; i < std::min(records, first + share); ++i)
        body(i, &next[static_cast<std::uint64_t>(s) * buckets + to_[i] / facts_.bucket_records]);
    };
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (std::int64_t s = 0; s < static_cast<std::int64_t>(shares); ++s)
      for_share(s, [](std::uint64_t, std::uint64_t* counter) { ++*counter; });
    std::uint64_t at = 0;
    work.out.ranges.clear();
    for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
      const std::uint64_t begin = at;
      for (std::uint64_t s = 0; s < shares; ++s) {
        const std::uint64_t of_share = next[s * buckets + bucket];
        next[s * buckets + bucket] = at;
        at += of_share;
      }
      if (at == begin) continue;
      const std::uint64_t first = bucket * facts_.bucket_records;
      work.out.ranges.push_back({.at = begin * tagged,
                                 .offset = (first + filled_[bucket]) * tagged,
                                 .bytes = (at - begin) * tagged});
      filled_[bucket] += at - begin;
      is_wrong_ = is_wrong_ || filled_[bucket] > std::min(facts_.bucket_records, places_.count() - first);
    }
    require_permutation();
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (std::int64_t s = 0; s < static_cast<std::int64_t>(shares); ++s) {
      for_share(s, [&](std::uint64_t i, std::uint64_t* counter) {
        std::byte* const record = y + (*counter)++ * tagged;
        const auto tag = static_cast<std::uint32_t>(to_[i] % facts_.bucket_records);
        std::memcpy(record, x + i * width_, width_);
        std::memcpy(record + width_, &tag, kTagBytes);
      });
    }
  }

  // A bucket's records at their places.
  void place(TileWork& work, const std::byte* x, std::byte* y) {
    const std::uint64_t tagged = width_ + kTagBytes;
    const auto records = static_cast<std::int64_t>(work.in.bytes / tagged);
    begin_bucket(work.out.begin / width_ / facts_.bucket_records);
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (std::int64_t i = 0; i < records; ++i) {
      const std::byte* const record = x + static_cast<std::uint64_t>(i) * tagged;
      std::uint32_t tag = 0;
      std::memcpy(&tag, record + width_, kTagBytes);
      if (take_place(tag)) std::memcpy(y + tag * width_, record, width_);
    }
    require_permutation();
  }

  // --- whether every place is taken once

  void begin_bucket(std::uint64_t bucket) {
    const std::uint64_t first = bucket * facts_.bucket_records;
    bucket_records_ = std::min(facts_.bucket_records, places_.count() - first);
    taken_ = std::vector<std::atomic<std::uint64_t>>(detail::ceil_div(bucket_records_, 64));
    is_wrong_ = false;
  }

  // False for a place that is none.
  bool take_place(std::uint64_t place) {
    const std::uint64_t bit = std::uint64_t{1} << place % 64;
    const bool is_free =
        place < bucket_records_ && (taken_[place / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
    if (!is_free) is_wrong_ = true;
    return is_free;
  }

  void require_permutation() const {
    if (!is_wrong_) return;
    fail(ErrorCode::value, "permute `" + source_.path() + "`",
         "an index array with an entry twice or too large",
         fmt::format("each of 0 to {} once", places_.count() - 1), "no result was written");
  }

  const Places& places_;
  std::uint64_t width_;
  const Options& options_;
  int threads_;
  BucketFacts facts_;
  IoChoice choice_;
  SourceFile source_;
  io::OutputFile target_;
  std::string label_;
  std::uint64_t in_offset_;
  std::uint64_t out_offset_;
  Teller teller_;
  std::vector<std::uint64_t> filled_;  // records of each bucket so far
  std::vector<std::uint64_t> to_;      // places of a chunk's records
  std::vector<std::atomic<std::uint64_t>> taken_;
  std::uint64_t bucket_records_ = 0;
  std::atomic<bool> is_wrong_{false};
};

}  // namespace

BucketFacts bucket_facts(std::uint64_t count, std::uint64_t record_bytes, std::uint64_t memory_bytes) {
  // A bit a record tells whether its place is taken.
  const std::uint64_t in_one = memory_bytes / (3 * record_bytes + 1);
  if (count <= in_one) return {.buckets = 1, .bucket_records = count, .chunk_records = count};
  const std::uint64_t tagged = record_bytes + kTagBytes;
  const std::uint64_t of_bucket = std::min(memory_bytes / (3 * tagged + 1), kMostBucketRecords);
  const std::uint64_t of_chunk = memory_bytes / (3 * tagged + kPlaceBytes);
  if (of_chunk == 0)
    fail(ErrorCode::value, "plan", fmt::format("memory of {} bytes", memory_bytes),
         fmt::format("at least {}, three records with their places", 3 * tagged + kPlaceBytes));
  const std::uint64_t buckets = detail::ceil_div(count, of_bucket);
  // Alike, but for the last.
  const std::uint64_t alike = detail::ceil_div(count, buckets);
  return {.buckets = detail::ceil_div(count, alike), .bucket_records = alike, .chunk_records = of_chunk};
}

Report place_records(const Places& places, std::uint64_t record_bytes, const Input& in, const Output& out,
                     const Options& options) {
  if (record_bytes == 0) fail(ErrorCode::value, "permute records", "records of 0 bytes", "1 byte or more");
  if (io::same_target(in.path, out.path))
    fail(ErrorCode::value, "permute `" + in.path.string() + "`", "the same file as output", "two files");
  if (options.resume || options.verify)
    fail(ErrorCode::unsupported, "permute `" + in.path.string() + "`",
         "--resume or --verify with records by places", "neither");
  return Work(places, record_bytes, in, out, options).run(out);
}

}  // namespace faro::file
