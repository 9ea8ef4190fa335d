#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include "faro/error.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"

namespace faro::io {
namespace {

namespace fs = std::filesystem;
std::byte* map_file(int descriptor, std::uint64_t bytes, int protection, int flags) {
  void* const mapping = mmap(nullptr, bytes, protection, flags, descriptor, 0);
  return mapping == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapping);
}

}  // namespace

NpyInput::NpyInput(const fs::path& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not hang before it can be refused.
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const auto message = [](int error) { return std::generic_category().message(error); };
  if (!file.is_open())
    fail(ErrorCode::file, "read `" + path.string() + "`", message(errno), "a readable .npy file");
  struct stat status {};
  if (fstat(file.get(), &status) != 0)
    fail(ErrorCode::file, "read `" + path.string() + "`", message(errno), "a readable .npy file");
  if (S_ISDIR(status.st_mode))
    fail(ErrorCode::file, "read `" + path.string() + "`", "a directory", "a .npy file");
  if (!S_ISREG(status.st_mode))
    fail(ErrorCode::file, "read `" + path.string() + "`", "a pipe or device",
         "a regular file, which can be mapped");
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  if (file_bytes > 0) {
    mapping_ = map_file(file.get(), file_bytes, PROT_READ, MAP_PRIVATE);
    if (mapping_ == nullptr)
      fail(ErrorCode::file, "read `" + path.string() + "`", message(errno), "a file that can be mapped");
    mapping_bytes_ = file_bytes;
  }
  try {
    header_ = parse_npy_header({mapping_, mapping_bytes_}, file_bytes, path.string());
  } catch (...) {
    if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
    throw;
  }
  // Advice: a failure leaves the pages to be read when they are touched.
  const bool fits = mapping_bytes_ <= available_memory_bytes() / 2;
  madvise(mapping_, mapping_bytes_, fits ? MADV_POPULATE_READ : MADV_WILLNEED);
}

NpyInput::~NpyInput() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

std::span<const std::byte> NpyInput::data() const {
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
};

NpyOutput::NpyOutput(const fs::path& path, const std::string& descr, std::span<const std::uint64_t> shape,
                     std::uint64_t item_bytes)
    : state_(std::make_unique<State>(path)) {
  State& state = *state_;
  state.header = npy_header_bytes(descr, shape);
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
  if (state.mapping == nullptr) state.file.refuse(errno, "a file that can be mapped");
}

NpyOutput::~NpyOutput() = default;

std::span<std::byte> NpyOutput::data() {
  if (state_->buffer) return state_->buffer->span();
  return std::span(state_->mapping, state_->file_bytes).subspan(state_->header.size());
}

void NpyOutput::commit() {
  State& state = *state_;
  state.file.write(state.header, 0);
  if (state.buffer) {
    state.file.write(state.buffer->span(), state.header.size());
  } else {
    munmap(state.mapping, state.file_bytes);
    state.mapping = nullptr;
  }
  state.file.commit();
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  return fs::equivalent(a, b, failed) && !failed;
}

}  // namespace faro::io
