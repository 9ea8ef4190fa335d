#include "store/nested_shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "faro/error.hpp"

namespace faro::store {
namespace {

class ShardsWithin final : public ChunkStore {
 public:
  ShardsWithin(ShardForm form, ChunkForm chunks, std::shared_ptr<ChunkStore> files)
      : form_(std::move(form)),
        chunks_(std::move(chunks)),
        files_(std::move(files)),
        shard_(form_.levels.front().chunk),
        strides_(dense_strides(shard_, c_order(shard_.size()))),
        packed_(dense_strides(chunks_.chunk, chunks_.order)) {
    if (chunks_.fill.empty()) chunks_.fill.resize(chunks_.type.bytes);
    if (chunks_.byte_order == ByteOrder::big) swap_bytes(chunks_.fill, chunks_.type);
  }

  void write(const Shape& index, std::span<const std::byte> elements) override {
    Coding coding;
    if (!append_shard(1, elements.data(), shard_, coding)) return files_->leave_out(index);
    files_->write(index, coding.shard);
  }
  void leave_out(const Shape& index) override { files_->leave_out(index); }

  bool read(const Shape& index, Bytes& into, std::uint64_t /*most*/) const override {
    into.resize(volume(shard_) * chunks_.type.bytes);
    Bytes chunk;
    Bytes between;
    Shape step(shard_.size(), 0);
    const Shape cells = cells_of(shard_, chunks_.chunk);
    do {
      const Shape inner = inner_index(index, step);
      constexpr std::uint64_t kSlack = 4096;
      const std::uint64_t most = most_encoded_bytes(chunks_.codecs, chunks_.chunk_bytes()) + kSlack;
      if (!files_->read(inner, chunk, most)) {
        chunk.resize(chunks_.chunk_bytes());
        fill_with(chunks_.fill, chunk);
      } else if (const DecodeFault fault = decode(chunks_.codecs, chunk, chunks_.chunk_bytes(), between);
                 !fault.empty()) {
        fail(ErrorCode::file, "read `" + files_->label(inner) + "`", fault,
             fmt::format("a chunk of {} bytes by {}", chunks_.chunk_bytes(), to_text(chunks_.codecs)));
      }
      std::byte* const first = into.data() + place_of(step);
      for_each_run([&](std::uint64_t at, std::uint64_t packed, std::uint64_t bytes) {
        std::memcpy(first + at, chunk.data() + packed, bytes);
      });
    } while (advance(step, cells));
    return true;
  }

  std::uint64_t workspace_bytes() const override {
    const std::uint64_t stored = most_encoded_bytes(chunks_.codecs, chunks_.chunk_bytes());
    const std::uint64_t chunks = volume(cells_of(shard_, chunks_.chunk));
    constexpr std::uint64_t kMostOfIndex = 20;  // of a chunk, on each level
    return chunks * (stored + kMostOfIndex * form_.levels.size()) + chunks_.chunk_bytes() + 2 * stored;
  }

  bool is_settled() const override { return files_->is_settled(); }
  std::string identity() const override { return files_->identity(); }
  std::string label(const Shape& index) const override {
    return files_->label(inner_index(index, Shape(index.size(), 0)));
  }

 private:
  struct Coding {
    Bytes shard = {};
    Bytes chunk = {};
    Bytes stored = {};
    Bytes between = {};
  };

  // In the grid of all chunks, of the one at `step` of a shard.
  Shape inner_index(const Shape& index, const Shape& step) const {
    Shape inner = index;
    for (std::size_t a = 0; a < inner.size(); ++a)
      inner[a] = index[a] * (shard_[a] / chunks_.chunk[a]) + step[a];
    return inner;
  }

  // Bytes before a cell of chunks in the elements that are written at once.
  std::uint64_t place_of(const Shape& step, const Shape& cell) const {
    std::uint64_t elements = 0;
    for (std::size_t a = 0; a < step.size(); ++a)
      elements += step[a] * cell[a] * static_cast<std::uint64_t>(strides_[a]);
    return elements * chunks_.type.bytes;
  }
  std::uint64_t place_of(const Shape& step) const { return place_of(step, chunks_.chunk); }

  // Calls copy(bytes before it among the elements, bytes before it in the chunk, bytes) for each run of a
  // chunk that lies together in both.
  template <typename Copy>
  void for_each_run(const Copy& copy) const {
    Shape extents = chunks_.chunk;
    std::uint64_t run = 1;
    if (!extents.empty() && packed_.back() == 1) run = std::exchange(extents.back(), 1);
    Shape step(extents.size(), 0);
    const Shape zero(extents.size(), 0);
    const std::uint64_t bytes = chunks_.type.bytes;
    do {
      copy(static_cast<std::uint64_t>(distance(zero, step, strides_)) * bytes,
           static_cast<std::uint64_t>(distance(zero, step, packed_)) * bytes, run * bytes);
    } while (advance(step, extents));
  }

  // Appends the shard of a level whose elements begin at `first`, or nothing: whether any chunk is there.
  bool append_shard(std::size_t level, const std::byte* first, const Shape& extents, Coding& coding) const {
    const ShardLevel& form = form_.levels[level];
    const Shape cells = cells_of(extents, form.chunk);
    const std::size_t begin = coding.shard.size();
    const std::uint64_t index_bytes = bytes_of_index(form, volume(cells));
    if (!form.index_at_end) coding.shard.resize(begin + index_bytes);
    ShardIndex index(2 * volume(cells), kNoChunk);
    bool is_any = false;
    std::size_t number = 0;
    Shape step(cells.size(), 0);
    do {
      const std::size_t offset = coding.shard.size() - begin;
      const std::byte* const at = first + place_of(step, form.chunk);
      const bool is_there = level + 1 < form_.levels.size() ? append_shard(level + 1, at, form.chunk, coding)
                                                            : append_chunk(at, coding);
      if (is_there) {
        index[2 * number] = offset;
        index[2 * number + 1] = coding.shard.size() - begin - offset;
        is_any = true;
      }
      ++number;
    } while (advance(step, cells));
    if (!is_any) {
      coding.shard.resize(begin);
      return false;
    }
    const Bytes told = stored_index(form, index);
    const std::size_t place = form.index_at_end ? coding.shard.size() : begin;
    if (form.index_at_end) coding.shard.resize(place + told.size());
    std::memcpy(coding.shard.data() + place, told.data(), told.size());
    return true;
  }

  bool append_chunk(const std::byte* first, Coding& coding) const {
    coding.chunk.resize(chunks_.chunk_bytes());
    for_each_run([&](std::uint64_t at, std::uint64_t packed, std::uint64_t bytes) {
      std::memcpy(coding.chunk.data() + packed, first + at, bytes);
    });
    if (is_all(chunks_.fill, chunks_.type.bytes, coding.chunk)) return false;
    const auto stored = encode(chunks_.codecs, coding.chunk, coding.stored, coding.between);
    coding.shard.insert(coding.shard.end(), stored.begin(), stored.end());
    return true;
  }

  ShardForm form_;
  ChunkForm chunks_;  // the fill value is in the array's byte order
  std::shared_ptr<ChunkStore> files_;
  Shape shard_;      // what is written at once
  Strides strides_;  // of its elements
  Strides packed_;   // of a chunk's
};

}  // namespace

std::shared_ptr<ChunkStore> shards_within(ShardForm form, ChunkForm chunks,
                                          std::shared_ptr<ChunkStore> files) {
  return std::make_shared<ShardsWithin>(std::move(form), std::move(chunks), std::move(files));
}

}  // namespace faro::store
