#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"
#include "thread_team.hpp"

namespace faro::io {
namespace {

namespace fs = std::filesystem;
std::byte* map_file(int descriptor, std::uint64_t bytes, int protection, int flags) {
  void* const mapping = mmap(nullptr, bytes, protection, flags, descriptor, 0);
  return mapping == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapping);
}

// The items of an array in Fortran order, in C order: its axes reversed. What is fastest on one side is
// slowest on the other, so squares of first x last axis are copied, each within a cache.
//
//     in   first axis fastest      strides 1, d0, d0 d1, ...
//     out  last axis fastest
class ToCOrder {
 public:
  ToCOrder(const NpyHeader& header, const std::byte* in, std::byte* out)
      : shape_(header.shape), item_bytes_(header.item_bytes), in_(in), out_(out) {}

  void run() const {
    const std::uint64_t rows = shape_.front();
    const std::uint64_t columns = shape_.back();
    std::uint64_t middle = 1;
    for (std::size_t a = 1; a + 1 < shape_.size(); ++a) middle *= shape_[a];
    const std::uint64_t strips = (rows + kSide - 1) / kSide;
    detail::take_turns_at(middle * strips, detail::thread_count(), 1,
                          [&](std::uint64_t piece, std::uint64_t) {
                            const std::uint64_t at = piece / strips;
                            const std::uint64_t row = piece % strips * kSide;
                            for (std::uint64_t column = 0; column < columns; column += kSide) {
                              copy_square({row, std::min(row + kSide, rows)},
                                          {column, std::min(column + kSide, columns)}, at, middle);
                            }
                          });
  }

 private:
  static constexpr std::uint64_t kSide = 32;

  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };

  // `at` counts the indices of the axes in between, in C order.
  void copy_square(Range rows, Range columns, std::uint64_t at, std::uint64_t middle) const {
    std::uint64_t at_in = 0;
    std::uint64_t stride = shape_.front() * middle;
    for (std::size_t a = shape_.size() - 1; a-- > 1;) {
      // From the last axis to the first, both strides are known as they are met.
      stride /= shape_[a];
      at_in += at_index(a, at) * stride;
    }
    const std::uint64_t row_stride = middle * shape_.back();
    const std::uint64_t column_stride = shape_.front() * middle;
    for (std::uint64_t i = rows.begin; i < rows.end; ++i) {
      for (std::uint64_t j = columns.begin; j < columns.end; ++j) {
        copy_item(i * row_stride + at * shape_.back() + j, i + at_in + j * column_stride);
      }
    }
  }

  std::uint64_t at_index(std::size_t axis, std::uint64_t at) const {
    for (std::size_t a = shape_.size() - 2; a > axis; --a) at /= shape_[a];
    return at % shape_[axis];
  }

  void copy_item(std::uint64_t to, std::uint64_t from) const {
    switch (item_bytes_) {  // sizes that the compiler knows are single moves
      case 1:
        out_[to] = in_[from];
        return;
      case 2:
        std::memcpy(out_ + 2 * to, in_ + 2 * from, 2);
        return;
      case 4:
        std::memcpy(out_ + 4 * to, in_ + 4 * from, 4);
        return;
      case 8:
        std::memcpy(out_ + 8 * to, in_ + 8 * from, 8);
        return;
      default:
        std::memcpy(out_ + item_bytes_ * to, in_ + item_bytes_ * from, item_bytes_);
    }
  }

  const std::vector<std::uint64_t>& shape_;
  std::uint64_t item_bytes_;
  const std::byte* in_;
  std::byte* out_;
};

Descriptor open_array(const fs::path& path, const std::string& operation, struct stat& status) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not hang before it can be refused.
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) fail(ErrorCode::file, operation, error_text(errno), "a readable .npy file");
  if (fstat(file.get(), &status) != 0)
    fail(ErrorCode::file, operation, error_text(errno), "a readable .npy file");
  if (S_ISDIR(status.st_mode)) fail(ErrorCode::file, operation, "a directory", "a .npy file");
  if (!S_ISREG(status.st_mode))
    fail(ErrorCode::file, operation, "a pipe or device", "a regular file, which can be mapped");
  return file;
}

}  // namespace

NpyHeader read_npy_header(const fs::path& path) {
  constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{16} << 20;
  const std::string operation = "read `" + path.string() + "`";
  struct stat status {};
  const Descriptor file = open_array(path, operation, status);
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  std::vector<std::byte> begin;
  // Most headers are short; one that is longer than what was read is refused as too long by its file.
  for (std::uint64_t wanted = std::min<std::uint64_t>(file_bytes, 4096);; wanted *= 2) {
    wanted = std::min(wanted, file_bytes);
    begin.resize(wanted);
    const ReadAt read = read_at(file.get(), begin, 0);
    if (read.error != 0) fail(ErrorCode::file, operation, error_text(read.error), "a readable .npy file");
    begin.resize(read.bytes);
    const bool is_all = read.bytes < wanted || wanted == file_bytes || wanted >= kMostHeaderBytes;
    try {
      return parse_npy_header(begin, file_bytes, path.string());
    } catch (const Error&) {
      if (is_all) throw;
    }
  }
}

NpyInput::NpyInput(const fs::path& path, HeaderFirst /*tag*/) : operation_("read `" + path.string() + "`") {
  struct stat status {};
  const Descriptor file = open_array(path, operation_, status);
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  if (file_bytes > 0) {
    mapping_ = map_file(file.get(), file_bytes, PROT_READ, MAP_PRIVATE);
    if (mapping_ == nullptr)
      fail(ErrorCode::file, operation_, error_text(errno), "a file that can be mapped");
    mapping_bytes_ = file_bytes;
  }
  try {
    header_ = parse_npy_header({mapping_, mapping_bytes_}, file_bytes, path.string());
  } catch (...) {
    if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
    throw;
  }
}

NpyInput::NpyInput(const fs::path& path, const Advance& advance, FortranData fortran)
    : NpyInput(path, HeaderFirst{}) {
  load(advance, fortran);
}

void NpyInput::load(const Advance& advance, FortranData fortran) {
  require_memory_for_array(operation_, header_.data_bytes());
  populate(mapping_, mapping_bytes_, advance);
  if (fortran == FortranData::to_c_order) put_in_c_order();
}

void NpyInput::put_in_c_order() {
  if (!header_.fortran_order) return;
  in_c_order_ = std::make_unique<Buffer>(header_.data_bytes());
  ToCOrder(header_, mapping_ + header_.data_offset, in_c_order_->data()).run();
  header_.fortran_order = false;
  munmap(mapping_, mapping_bytes_);
  mapping_ = nullptr;
}

NpyInput::~NpyInput() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

std::span<const std::byte> NpyInput::data() const {
  if (in_c_order_) return in_c_order_->span();
  return {mapping_ + header_.data_offset, static_cast<std::size_t>(mapping_bytes_ - header_.data_offset)};
}

struct NpyOutput::State {
  explicit State(const fs::path& path) : file(path) {}
  ~State() {
    if (mapping != nullptr) munmap(mapping, file_bytes);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  OutputFile file;
  std::vector<std::byte> header;
  std::uint64_t file_bytes = 0;
  std::optional<Buffer> buffer;  // either this
  std::byte* mapping = nullptr;  // or the file itself
  bool finished = false;
};

NpyOutput::NpyOutput(const fs::path& path, const std::string& descr, std::span<const std::uint64_t> shape,
                     std::uint64_t item_bytes, MemoryOrder order)
    : state_(std::make_unique<State>(path)) {
  State& state = *state_;
  state.header = npy_header_bytes(descr, shape, order);
  const std::uint64_t data_bytes =
      NpyHeader{.descr = descr, .item_bytes = item_bytes, .shape = {shape.begin(), shape.end()}}.data_bytes();
  state.file_bytes = state.header.size() + data_bytes;
  // Into a mapped hole the disk could turn out full at any store: map only what is reserved.
  const bool reserved = state.file.reserve(state.file_bytes);
  if (!reserved || data_bytes <= available_memory_bytes() / 2) {
    state.buffer.emplace(data_bytes);
    return;
  }
  state.mapping = map_file(state.file.descriptor(), state.file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
  if (state.mapping == nullptr)
    fail(ErrorCode::file, state.file.operation(), error_text(errno), "a file that can be mapped");
}

NpyOutput::~NpyOutput() = default;

std::span<std::byte> NpyOutput::data() {
  if (state_->buffer) return state_->buffer->span();
  return std::span(state_->mapping, state_->file_bytes).subspan(state_->header.size());
}

void NpyOutput::finish(const Advance& advance) {
  State& state = *state_;
  if (std::exchange(state.finished, true)) return;
  state.file.write(state.header, 0);
  if (state.buffer) {
    state.file.write(state.buffer->span(), state.header.size(), advance);
  } else {
    munmap(state.mapping, state.file_bytes);
    state.mapping = nullptr;
  }
  state.file.finish();
}

void NpyOutput::commit(const Advance& advance) {
  finish(advance);
  state_->file.commit();
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  return fs::equivalent(a, b, failed) && !failed;
}

}  // namespace faro::io
