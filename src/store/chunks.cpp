#include "store/chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "faro/error.hpp"

namespace faro::store {
namespace {

// Chunks that regions load: with each multiple of `region` one begins.
std::uint64_t chunks_met(std::uint64_t extent, std::uint64_t chunk, std::uint64_t region) {
  const std::uint64_t chunks = detail::ceil_div(extent, chunk);
  if (region % chunk == 0 || region >= extent) return chunks;
  // Every inner border between regions that is none between chunks cuts one in two.
  const std::uint64_t borders = detail::ceil_div(extent, region) - 1;
  std::uint64_t a = region;
  std::uint64_t b = chunk;
  while (b != 0) a = std::exchange(b, a % b);
  const std::uint64_t period = chunk / a;  // of so many borders one lies between chunks
  return chunks + borders - borders / period;
}

// What both sides share.
class ChunkSide {
 public:
  explicit ChunkSide(ChunkForm form) : form_(std::move(form)) {}

 protected:
  const ChunkForm& form() const { return form_; }
  Shape index_of(const Box& box) const {
    Shape index = box.origin;
    for (std::size_t a = 0; a < index.size(); ++a) index[a] /= form_.chunk[a];
    return index;
  }
  // As the chunk of `index` lies in memory.
  Shape extents_of(const Shape& index) const {
    return form_.ends_are_cut ? cell_of(form_.shape, form_.chunk, index).extents : form_.chunk;
  }
  std::vector<Box> parts(const Box& region) const {
    std::vector<Box> boxes;
    for_each_part(region, form_.chunk, [&](const Box& part, const Shape&) { boxes.push_back(part); });
    return boxes;
  }
  std::uint64_t stored_bytes() const { return most_encoded_bytes(form_.codecs, form_.chunk_bytes()); }
  // Reads and decodes. False: missing.
  bool read(const ChunkStore& store, const Shape& index, Bytes& elements, Bytes& between) const {
    const std::uint64_t bytes = volume(extents_of(index)) * form_.type.bytes;
    constexpr std::uint64_t kSlack = 4096;  // encoders need not be the best
    if (!store.read(index, elements, 2 * most_encoded_bytes(form_.codecs, bytes) + kSlack)) return false;
    if (const DecodeFault fault = decode(form_.codecs, elements, bytes, between); !fault.empty()) {
      fail(ErrorCode::file, "read `" + store.label(index) + "`", fault,
           fmt::format("a chunk of {} bytes by {}", bytes, to_text(form_.codecs)));
    }
    if (form_.byte_order == ByteOrder::big) swap_bytes(elements, form_.type);
    return true;
  }

 private:
  ChunkForm form_;
};

class ChunkSource final : public Source, ChunkSide {
 public:
  ChunkSource(ChunkForm form, std::shared_ptr<const ChunkStore> store)
      : ChunkSide(std::move(form)), store_(std::move(store)) {}

  std::vector<Box> boxes(const Box& region) const override { return parts(region); }

  Loaded load(const Box& box, Workspace& workspace) const override {
    const Shape index = index_of(box);
    const Shape extents = extents_of(index);
    Loaded loaded{.first = nullptr, .strides = dense_strides(extents, form().order)};
    const Shape origin = cell_of(form().shape, form().chunk, index).origin;
    const auto first =
        static_cast<std::uint64_t>(distance(origin, box.origin, loaded.strides)) * form().type.bytes;
    const std::uint64_t whole = volume(extents) * form().type.bytes;
    const std::uint64_t part = span_bytes(box.extents, loaded.strides);
    if (reads_parts()) {
      const bool is_dense = part == volume(box.extents) * form().type.bytes;
      if (!is_dense) workspace.destination = {};
      const std::span<std::byte> room = workspace.room_for(box.extents, loaded.strides, part);
      if (!store_->read_part(index, whole, first, room)) {
        fill_with(form().fill, room);
      } else if (form().byte_order == ByteOrder::big) {
        swap_bytes(room, form().type);
      }
      loaded.first = room.data();
      return loaded;
    }
    if (!read(*store_, index, workspace.loaded, workspace.between)) {
      workspace.loaded.resize(whole);
      fill_with(form().fill, workspace.loaded);
    }
    loaded.first = workspace.loaded.data() + first;
    return loaded;
  }

  Cost cost(const Shape& region) const override {
    double chunks = 1;
    for (std::size_t a = 0; a < region.size(); ++a)
      chunks *= static_cast<double>(chunks_met(form().shape[a], form().chunk[a], region[a]));
    const auto bytes = static_cast<double>(loaded_bytes(region));
    return chunks * (bytes * (1 + decode_cost(form().codecs)) + 2 * kRequestBytes);
  }

  std::uint64_t workspace_bytes(const Shape& region) const override {
    return loaded_bytes(region) + (form().codecs.empty() ? 0 : stored_bytes());
  }

  Shape unit() const override { return form().chunk; }
  std::string identity() const override { return store_->identity(); }

 private:
  bool reads_parts() const { return form().codecs.empty() && store_->has_parts(); }

  // From a box's first element to its last, in a chunk.
  std::uint64_t span_bytes(const Shape& extents, const Strides& strides) const {
    Shape last = extents;
    for (std::uint64_t& each : last) --each;
    return static_cast<std::uint64_t>(distance(Shape(last.size(), 0), last, strides) + 1) * form().type.bytes;
  }

  // What is loaded of a chunk, at most, for regions of such extents.
  std::uint64_t loaded_bytes(const Shape& region) const {
    if (!reads_parts()) return form().chunk_bytes();
    Shape part = form().chunk;
    for (std::size_t a = 0; a < part.size(); ++a) part[a] = std::min(part[a], region[a]);
    return span_bytes(part, dense_strides(form().chunk, form().order));
  }

  std::shared_ptr<const ChunkStore> store_;
};

class ChunkSink final : public Sink, ChunkSide {
 public:
  ChunkSink(ChunkForm form, std::shared_ptr<ChunkStore> store)
      : ChunkSide(std::move(form)), store_(std::move(store)) {}

  Shape unit() const override { return form().chunk; }
  std::vector<Box> boxes(const Box& region) const override { return parts(region); }

  Room room(const Box& box) const override {
    const Shape extents = extents_of(index_of(box));
    return {.bytes = volume(extents) * form().type.bytes,
            .strides = dense_strides(extents, form().order),
            .has_rests = extents != box.extents};
  }

  const Bytes& fill() const override { return form().fill; }

  void store(const Box& box, std::span<std::byte> elements, Workspace& workspace) override {
    const Shape index = index_of(box);
    if (!form().has_all && is_all(form().fill, form().type.bytes, elements)) return store_->leave_out(index);
    if (form().byte_order == ByteOrder::big) swap_bytes(elements, form().type);
    store_->write(index, encode(form().codecs, elements, workspace.stored, workspace.between));
  }

  void read_back(const Box& box, std::span<std::byte> elements, Workspace& workspace) const override {
    if (!read(*store_, index_of(box), workspace.stored, workspace.between))
      return fill_with(form().fill, elements);
    std::memcpy(elements.data(), workspace.stored.data(), elements.size());
  }

  Cost cost(const Shape& /*region*/) const override {
    const auto chunks = static_cast<double>(volume(cells_of(form().shape, form().chunk)));
    const auto bytes = static_cast<double>(form().chunk_bytes());
    return chunks * (bytes * (1 + encode_cost(form().codecs)) + 2 * kRequestBytes);
  }

  std::uint64_t workspace_bytes(const Shape& /*region*/) const override {
    return form().chunk_bytes() + (form().codecs.empty() ? 0 : 2 * stored_bytes()) +
           store_->workspace_bytes();
  }

  bool is_settled() const override { return store_->is_settled(); }

 private:
  std::shared_ptr<ChunkStore> store_;
};

}  // namespace

void fill_with(const Bytes& fill, std::span<std::byte> elements) {
  const bool is_zero =
      std::all_of(fill.begin(), fill.end(), [](std::byte byte) { return byte == std::byte{0}; });
  if (is_zero) {
    std::memset(elements.data(), 0, elements.size());
    return;
  }
  for (std::size_t at = 0; at < elements.size(); at += fill.size())
    std::memcpy(elements.data() + at, fill.data(), fill.size());
}

bool is_all(const Bytes& fill, std::uint64_t element_bytes, std::span<const std::byte> elements) {
  const auto first = elements.first(element_bytes);
  const bool begins = fill.empty() ? std::all_of(first.begin(), first.end(),
                                                 [](std::byte byte) { return byte == std::byte{0}; })
                                   : std::equal(first.begin(), first.end(), fill.begin());
  // And each element is the one before it.
  return begins &&
         std::memcmp(elements.data(), elements.data() + element_bytes, elements.size() - element_bytes) == 0;
}

void ChunkStore::write(const Shape& index, std::span<const std::byte> /*stored*/) {
  fail(ErrorCode::internal, "write `" + label(index) + "`", "a store that is read", "one that is written");
}
bool ChunkStore::read_part(const Shape& index, std::uint64_t /*whole*/, std::uint64_t /*offset*/,
                           std::span<std::byte> /*to*/) const {
  fail(ErrorCode::internal, "read `" + label(index) + "`", "a store without parts", "one that has them");
}
void ChunkStore::leave_out(const Shape& /*index*/) {}

std::unique_ptr<Source> chunk_source(ChunkForm form, std::shared_ptr<const ChunkStore> store) {
  return std::make_unique<ChunkSource>(std::move(form), std::move(store));
}

std::unique_ptr<Sink> chunk_sink(ChunkForm form, std::shared_ptr<ChunkStore> store) {
  return std::make_unique<ChunkSink>(std::move(form), std::move(store));
}

}  // namespace faro::store
