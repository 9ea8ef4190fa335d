#include "store/scratch.hpp"

#include <utility>

#include "faro/error.hpp"
#include "io/file_system.hpp"

namespace faro::store {
namespace {

// Elements before a box of a grid where the boxes of `extents` lie one behind another in C order, each dense.
// Law: the boxes of any grid that cuts every axis by itself cover 0 .. volume(extents)-1 once.
std::uint64_t elements_before(const Shape& extents, const Shape& origin, const Shape& box) {
  std::uint64_t before = 0;
  std::uint64_t thick = 1;  // of the axes so far: how much of each the box has
  std::uint64_t rest = volume(extents);
  for (std::size_t a = 0; a < extents.size(); ++a) {
    rest /= extents[a];
    before += thick * origin[a] * rest;
    thick *= box[a];
  }
  return before;
}

class Scratch {
 public:
  Scratch(int descriptor, ScratchForm form) : descriptor_(descriptor), form_(std::move(form)) {}

 protected:
  const ScratchForm& form() const { return form_; }

  // The pieces of a region of one grid: where the other one cuts it.
  static std::vector<Box> pieces(const Box& region, const Shape& other) {
    std::vector<Box> boxes;
    for_each_part(region, other, [&](const Box& part, const Shape&) { boxes.push_back(part); });
    return boxes;
  }

  std::uint64_t offset(const Box& piece) const {
    Shape index = piece.origin;
    for (std::size_t a = 0; a < index.size(); ++a) index[a] /= form_.read[a];
    const Box region = cell_of(form_.shape, form_.read, index);
    Shape within = piece.origin;
    for (std::size_t a = 0; a < within.size(); ++a) within[a] -= region.origin[a];
    return (elements_before(form_.shape, region.origin, region.extents) +
            elements_before(region.extents, within, piece.extents)) *
           form_.element_bytes;
  }

  std::uint64_t bytes(const Box& piece) const { return volume(piece.extents) * form_.element_bytes; }

  void read(const Box& piece, std::span<std::byte> elements) const {
    if (io::read_at(descriptor_, elements, offset(piece)).bytes != elements.size())
      fail(ErrorCode::file, "read scratch space", "less than was written", "what was written");
  }
  void write(const Box& piece, std::span<const std::byte> elements) const {
    if (const int error = io::write_at(descriptor_, elements, offset(piece)); error != 0)
      fail(ErrorCode::file, "write scratch space", io::error_text(error), "room on the disk");
  }

  std::uint64_t most_piece_bytes() const {
    Shape most = form_.shape;
    for (std::size_t a = 0; a < most.size(); ++a)
      most[a] = std::min({most[a], form_.read[a], form_.written[a]});
    return volume(most) * form_.element_bytes;
  }

 private:
  int descriptor_;
  ScratchForm form_;
};

class ScratchSink final : public Sink, Scratch {
 public:
  using Scratch::Scratch;

  Shape unit() const override { return form().written; }
  std::vector<Box> boxes(const Box& region) const override { return pieces(region, form().read); }
  Room room(const Box& box) const override {
    return {.bytes = bytes(box), .strides = dense_strides(box.extents, c_order(box.extents.size()))};
  }
  const Bytes& fill() const override { return fill_; }
  void store(const Box& box, std::span<std::byte> elements, Workspace& /*workspace*/) override {
    write(box, elements);
  }
  void read_back(const Box& box, std::span<std::byte> elements, Workspace& /*workspace*/) const override {
    read(box, elements);
  }
  Cost cost(const Shape& /*region*/) const override { return scratch_cost(form()) / 2; }
  std::uint64_t workspace_bytes(const Shape& /*region*/) const override { return most_piece_bytes(); }

 private:
  Bytes fill_;
};

class ScratchSource final : public Source, Scratch {
 public:
  using Scratch::Scratch;

  std::vector<Box> boxes(const Box& region) const override { return pieces(region, form().written); }
  Loaded load(const Box& box, Workspace& workspace) const override {
    Loaded loaded{.first = nullptr, .strides = dense_strides(box.extents, c_order(box.extents.size()))};
    const std::span<std::byte> room = workspace.room_for(box.extents, loaded.strides, bytes(box));
    read(box, room);
    loaded.first = room.data();
    return loaded;
  }
  Cost cost(const Shape& /*region*/) const override { return scratch_cost(form()) / 2; }
  std::uint64_t workspace_bytes(const Shape& /*region*/) const override { return most_piece_bytes(); }
  Shape unit() const override { return form().read; }
};

}  // namespace

std::unique_ptr<Sink> scratch_sink(int descriptor, ScratchForm form) {
  return std::make_unique<ScratchSink>(descriptor, std::move(form));
}

std::unique_ptr<Source> scratch_source(int descriptor, ScratchForm form) {
  return std::make_unique<ScratchSource>(descriptor, std::move(form));
}

Cost scratch_cost(const ScratchForm& form) {
  double pieces = 1;
  for (std::size_t a = 0; a < form.shape.size(); ++a) {
    // Where both grids cut at once, one cut does.
    const auto cells = [&](std::uint64_t cell) {
      return static_cast<double>(detail::ceil_div(form.shape[a], std::min(cell, form.shape[a])));
    };
    const std::uint64_t larger = std::max(form.read[a], form.written[a]);
    const std::uint64_t smaller = std::min(form.read[a], form.written[a]);
    pieces *= larger % smaller == 0 ? cells(smaller) : cells(smaller) + cells(larger);
  }
  const auto bytes = static_cast<double>(volume(form.shape) * form.element_bytes);
  return 2 * (bytes + pieces * kRequestBytes);
}

}  // namespace faro::store
