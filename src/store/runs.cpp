#include "store/runs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "io/file_system.hpp"
#include "store/file_numbers.hpp"

namespace faro::store {
namespace {

// Most bytes of one request, and of a thread's buffer.
constexpr std::uint64_t kMostPieceBytes = std::uint64_t{1} << 20;

// What both sides share: how boxes lie in rows.
class RunSide {
 public:
  explicit RunSide(RunForm form) : form_(std::move(form)), order_(c_order(form_.shape.size())) {
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return form_.strides[a] > form_.strides[b]; });
  }

 protected:
  const RunForm& form() const { return form_; }

  // Cut along the slowest axes until each fits a buffer.
  std::vector<Box> pieces(const Box& region) const {
    std::vector<Box> boxes;
    if (is_empty(region.extents)) return boxes;
    Shape piece = region.extents;
    std::uint64_t bytes = volume(piece) * form_.type.bytes;
    for (const std::size_t axis : order_) {
      if (bytes <= kMostPieceBytes) break;
      const std::uint64_t others = bytes / piece[axis];
      piece[axis] = std::max<std::uint64_t>(1, kMostPieceBytes / others);
      bytes = others * piece[axis];
    }
    Shape step(region.extents.size(), 0);
    const Shape counts = cells_of(region.extents, piece);
    do {
      Box box = cell_of(region.extents, piece, step);
      for (std::size_t a = 0; a < step.size(); ++a) box.origin[a] += region.origin[a];
      boxes.push_back(std::move(box));
    } while (advance(step, counts));
    return boxes;
  }

  std::uint64_t piece_bytes(const Shape& region) const {
    return std::min(volume(region) * form_.type.bytes, kMostPieceBytes + form_.type.bytes);
  }

  // Strides of a box in a buffer: dense, in the file's order.
  Strides strides_of(const Shape& extents) const { return dense_strides(extents, order_); }

  // Axes from here on in order_ are together one run of bytes in a box of such extents.
  std::size_t first_of_row(const Shape& extents) const {
    std::int64_t step = 1;
    std::size_t first = order_.size();
    while (first > 0) {
      const std::size_t axis = order_[first - 1];
      if (extents[axis] > 1 && form_.strides[axis] != step) break;
      step *= static_cast<std::int64_t>(extents[axis]);
      --first;
    }
    return first;
  }

  std::uint64_t row_elements(const Shape& extents) const {
    std::uint64_t elements = 1;
    for (std::size_t o = first_of_row(extents); o < order_.size(); ++o) elements *= extents[order_[o]];
    return elements;
  }

  // Calls transfer(offset in the file, offset in the buffer, bytes) for each row.
  template <typename Transfer>
  void for_each_row(const Box& box, const Transfer& transfer) const {
    const std::size_t rows = first_of_row(box.extents);
    const std::uint64_t bytes = row_elements(box.extents) * form_.type.bytes;
    Shape extents(rows);
    for (std::size_t o = 0; o < rows; ++o) extents[o] = box.extents[order_[o]];
    Shape row(rows, 0);
    std::uint64_t at = 0;
    do {
      Shape place = box.origin;
      for (std::size_t o = 0; o < rows; ++o) place[order_[o]] += row[o];
      const std::int64_t element = distance(Shape(place.size(), 0), place, form_.strides);
      transfer(form_.offset + static_cast<std::uint64_t>(element) * form_.type.bytes, at, bytes);
      at += bytes;
    } while (advance(row, extents));
  }

  Cost cost_of(const Shape& region) const {
    const auto elements = static_cast<double>(volume(form_.shape));
    Shape extents = region;
    for (std::size_t a = 0; a < extents.size(); ++a) extents[a] = std::min(extents[a], form_.shape[a]);
    if (is_empty(extents)) return 0;
    const double row = std::min(static_cast<double>(row_elements(extents) * form_.type.bytes),
                                static_cast<double>(kMostPieceBytes));
    const double bytes = elements * static_cast<double>(form_.type.bytes);
    return bytes * (1 + kRequestBytes / row);
  }

 private:
  RunForm form_;
  std::vector<std::size_t> order_;  // axes, slowest first
};

class RunSource final : public Source, RunSide {
 public:
  RunSource(const std::filesystem::path& path, RunForm form)
      : RunSide(std::move(form)),
        operation_("read `" + path.string() + "`"),
        path_(path),
        file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (!file_.is_open() || fstat(file_.get(), &status) != 0)
      fail(ErrorCode::file, operation_, io::error_text(errno), "a file that can be read");
    if (!S_ISREG(status.st_mode)) fail(ErrorCode::file, operation_, "no regular file", "a regular file");
    if (static_cast<std::uint64_t>(status.st_size) < end_of(this->form())) {
      fail(ErrorCode::file, operation_, fmt::format("a file of {} bytes", status.st_size),
           fmt::format("at least the {} to the array's end", end_of(this->form())));
    }
  }

  std::vector<Box> boxes(const Box& region) const override { return pieces(region); }

  Loaded load(const Box& box, Workspace& workspace) const override {
    Loaded loaded{.first = nullptr, .strides = strides_of(box.extents)};
    const std::span<std::byte> room =
        workspace.room_for(box.extents, loaded.strides, volume(box.extents) * form().type.bytes);
    for_each_row(box, [&](std::uint64_t offset, std::uint64_t at, std::uint64_t bytes) {
      const io::ReadAt read = io::read_at(file_.get(), room.subspan(at, bytes), offset);
      if (read.bytes == bytes) return;
      fail(ErrorCode::file, operation_,
           read.error != 0 ? io::error_text(read.error) : "an end before its time", "the file as it was");
    });
    if (form().byte_order == ByteOrder::big) swap_bytes(room, form().type);
    loaded.first = room.data();
    return loaded;
  }

  Cost cost(const Shape& region) const override { return cost_of(region); }
  std::uint64_t workspace_bytes(const Shape& region) const override { return piece_bytes(region); }
  Shape unit() const override { return Shape(form().shape.size(), 1); }

  std::string identity() const override { return identity_of_file(path_); }

 private:
  std::string operation_;
  std::filesystem::path path_;
  io::Descriptor file_;
};

class RunSink final : public Sink, RunSide {
 public:
  RunSink(int descriptor, std::filesystem::path label, RunForm form)
      : RunSide(std::move(form)), descriptor_(descriptor), label_(std::move(label)) {}

  Shape unit() const override { return Shape(form().shape.size(), 1); }
  std::vector<Box> boxes(const Box& region) const override { return pieces(region); }
  Room room(const Box& box) const override {
    return {.bytes = volume(box.extents) * form().type.bytes, .strides = strides_of(box.extents)};
  }
  const Bytes& fill() const override { return fill_; }

  void store(const Box& box, std::span<std::byte> elements, Workspace& /*workspace*/) override {
    if (form().byte_order == ByteOrder::big) swap_bytes(elements, form().type);
    for_each_row(box, [&](std::uint64_t offset, std::uint64_t at, std::uint64_t bytes) {
      if (const int error = io::write_at(descriptor_, elements.subspan(at, bytes), offset); error != 0)
        fail(ErrorCode::file, "write `" + label_.string() + "`", io::error_text(error), "room on the disk");
    });
  }

  void read_back(const Box& box, std::span<std::byte> elements, Workspace& /*workspace*/) const override {
    for_each_row(box, [&](std::uint64_t offset, std::uint64_t at, std::uint64_t bytes) {
      if (io::read_at(descriptor_, elements.subspan(at, bytes), offset).bytes == bytes) return;
      fail(ErrorCode::file, "read `" + label_.string() + "`", "less than was written", "what was written");
    });
    if (form().byte_order == ByteOrder::big) swap_bytes(elements, form().type);
  }

  Cost cost(const Shape& region) const override { return cost_of(region); }
  std::uint64_t workspace_bytes(const Shape& region) const override { return piece_bytes(region); }

 private:
  int descriptor_;
  std::filesystem::path label_;
  Bytes fill_;
};

}  // namespace

RunForm dense_run(Shape shape, ElementType type, std::uint64_t offset, ByteOrder byte_order) {
  Strides strides = dense_strides(shape, c_order(shape.size()));
  return {.shape = std::move(shape),
          .strides = std::move(strides),
          .type = std::move(type),
          .byte_order = byte_order,
          .offset = offset};
}

RunForm fortran_run(Shape shape, ElementType type, std::uint64_t offset, ByteOrder byte_order) {
  std::vector<std::size_t> order = c_order(shape.size());
  std::reverse(order.begin(), order.end());
  RunForm run = dense_run(std::move(shape), std::move(type), offset, byte_order);
  run.strides = dense_strides(run.shape, order);
  return run;
}

std::uint64_t end_of(const RunForm& run) {
  if (is_empty(run.shape)) return run.offset;
  std::uint64_t last = 0;
  for (std::size_t a = 0; a < run.shape.size(); ++a)
    last += (run.shape[a] - 1) * static_cast<std::uint64_t>(run.strides[a]);
  return run.offset + (last + 1) * run.type.bytes;
}

std::unique_ptr<Source> run_source(const std::filesystem::path& path, RunForm form) {
  return std::make_unique<RunSource>(path, std::move(form));
}

std::unique_ptr<Sink> run_sink(int descriptor, std::filesystem::path label, RunForm form) {
  return std::make_unique<RunSink>(descriptor, std::move(label), std::move(form));
}

}  // namespace faro::store
