#include "file/in_place_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "faro/error.hpp"
#include "file/checksums.hpp"
#include "rounding.hpp"

namespace faro::file {
namespace {

using IntentJson = nlohmann::ordered_json;

constexpr std::uint64_t kIntentMagic = 0x31'6c'70'6e'69'72'61'66;  // "farinpl1"
constexpr std::uint64_t kSlotMagic = 0x31'74'6f'6c'73'72'61'66;    // "farslot1"
constexpr std::uint64_t kSlotHead = io::kTransferBlock;
constexpr std::uint64_t kMostIntentBytes = std::uint64_t{64} << 20;
constexpr mode_t kOwner = 0600;

std::uint64_t sum_of(std::span<const std::byte> bytes) { return checksum(bytes, 1); }

struct SlotHead {
  std::uint64_t magic = kSlotMagic;
  InPlaceJournal::Record record;
  std::uint64_t data_sum = 0;
  std::uint64_t own_sum = 0;  // of all before

  std::uint64_t sum() const { return sum_of(std::as_bytes(std::span(this, 1)).first(sizeof(*this) - 8)); }
};
static_assert(sizeof(SlotHead) == 64);

std::string hex_of(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte each : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(each));
  return text;
}

std::vector<std::byte> bytes_of(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::string text_of(const InPlaceIntent& intent) {
  const IntentJson json = {{"schema", 1},
                           {"permutation", intent.permutation},
                           {"element_bytes", intent.element_bytes},
                           {"batch", intent.batch},
                           {"offset", intent.offset},
                           {"memory_bytes", intent.memory_bytes},
                           {"segment_bytes", intent.segment_bytes},
                           {"file_bytes", intent.file_bytes},
                           {"steps", intent.steps},
                           {"step_bytes", intent.step_bytes},
                           {"header_before", hex_of(intent.header_before)},
                           {"header_after", hex_of(intent.header_after)}};
  return json.dump();
}

InPlaceIntent intent_of(const std::string& text) {
  const IntentJson json = IntentJson::parse(text);
  if (json.at("schema") != 1) throw std::out_of_range("schema");
  return {.permutation = json.at("permutation"),
          .element_bytes = json.at("element_bytes"),
          .batch = json.at("batch"),
          .offset = json.at("offset"),
          .memory_bytes = json.at("memory_bytes"),
          .segment_bytes = json.value("segment_bytes", std::uint64_t{0}),  // none in older journals
          .file_bytes = json.at("file_bytes"),
          .steps = json.at("steps"),
          .step_bytes = json.at("step_bytes"),
          .header_before = bytes_of(json.at("header_before")),
          .header_after = bytes_of(json.at("header_after"))};
}

std::filesystem::path end_of(const std::filesystem::path& path) {
  std::filesystem::path end = path;
  return io::follow_links(end) ? path : end;
}

}  // namespace

std::filesystem::path in_place_journal_path(const std::filesystem::path& file) {
  const std::filesystem::path end = end_of(file);
  return io::directory_of(end) / (".faro-in-place-" + end.filename().string());
}

InPlaceJournal::InPlaceJournal(const std::filesystem::path& file, int flags, io::TransferMode mode)
    : path_(in_place_journal_path(file)), requests_(mode) {
  folder_.open(io::directory_of(path_));
  file_.reset(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, kOwner));
  if (!file_.is_open()) {
    if (errno == EEXIST)
      fail(ErrorCode::file, operation(), "what an interrupted run left", "none",
           "`faro recover " + file.string() + "` finishes that run, or takes it back with --undo");
    if (errno == ENOENT)
      fail(ErrorCode::file, operation(), "no such file",
           "the journal that an interrupted `faro permute --in-place` left",
           "without one the file is not permuted in part");
    fail(ErrorCode::file, operation(), io::error_text(errno), "a file that can be written to");
  }
  struct stat status {};
  if (fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode))
    fail(ErrorCode::file, operation(), "no regular file", "one of faro's");
  transfers_.emplace(file_.get(), io::TransferFile::Use::update, mode, path_.string());
}

std::unique_ptr<InPlaceJournal> InPlaceJournal::create(const std::filesystem::path& file,
                                                       const InPlaceIntent& intent, io::TransferMode mode) {
  std::unique_ptr<InPlaceJournal> journal(new InPlaceJournal(file, O_CREAT | O_EXCL, mode));
  journal->intent_ = intent;
  try {
    journal->create_file();
  } catch (...) {
    journal->remove();
    throw;
  }
  return journal;
}

void InPlaceJournal::create_file() {
  const std::string text = text_of(intent_);
  const IntentHead head{kIntentMagic, text.size(), sum_of(std::as_bytes(std::span(text)))};
  intent_bytes_ = detail::round_up(sizeof(head) + text.size(), io::kTransferBlock);
  std::string all(intent_bytes_, '\0');
  std::memcpy(all.data(), head.data(), sizeof(head));
  std::memcpy(all.data() + sizeof(head), text.data(), text.size());
  const std::uint64_t bytes = slot_offset(2);
  int error = posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes));
  if (error != 0)
    fail(ErrorCode::file, operation(), io::error_text(error), fmt::format("room for {} bytes", bytes));
  requests_.write(*transfers_,
                  std::array{io::Piece{
                      .offset = 0, .bytes = all.size(), .memory = reinterpret_cast<std::byte*>(all.data())}});
  error = io::sync_file(file_.get());
  if (error == 0) error = folder_.sync();
  if (error != 0)
    fail(ErrorCode::file, operation(), io::error_text(error), "a disk that takes what is written");
}

bool InPlaceJournal::remove_unbegun(const std::filesystem::path& file, io::TransferMode mode) {
  InPlaceJournal journal(file, 0, mode);
  if (journal.read_head() != IntentHead{}) return false;
  journal.remove();
  return true;
}

InPlaceJournal::IntentHead InPlaceJournal::read_head() {
  IntentHead head{};
  if (bytes() >= sizeof(head)) {
    requests_.read(*transfers_, std::array{io::Piece{.offset = 0,
                                                     .bytes = sizeof(head),
                                                     .memory = reinterpret_cast<std::byte*>(head.data())}});
  }
  return head;
}

std::uint64_t InPlaceJournal::bytes() const {
  struct stat status {};
  if (fstat(file_.get(), &status) != 0)
    fail(ErrorCode::file, operation(), io::error_text(errno), "a file whose size can be asked for");
  return static_cast<std::uint64_t>(status.st_size);
}

std::unique_ptr<InPlaceJournal> InPlaceJournal::open(const std::filesystem::path& file,
                                                     io::TransferMode mode) {
  std::unique_ptr<InPlaceJournal> journal(new InPlaceJournal(file, 0, mode));
  journal->read_intent();
  return journal;
}

void InPlaceJournal::read_intent() {
  const std::uint64_t bytes = this->bytes();
  const std::string damaged = "a damaged journal";
  const std::string wanted = "the journal as `faro permute --in-place` left it";
  const IntentHead head = read_head();
  if (head[0] != kIntentMagic || head[1] > kMostIntentBytes || head[1] + sizeof(head) > bytes)
    fail(ErrorCode::file, operation(), damaged, wanted);
  std::string text(head[1], '\0');
  requests_.read(*transfers_, std::array{io::Piece{.offset = sizeof(head),
                                                   .bytes = text.size(),
                                                   .memory = reinterpret_cast<std::byte*>(text.data())}});
  if (sum_of(std::as_bytes(std::span(text))) != head[2]) fail(ErrorCode::file, operation(), damaged, wanted);
  try {
    intent_ = intent_of(text);
  } catch (const std::exception&) {
    fail(ErrorCode::file, operation(), "a journal of another version of faro", wanted);
  }
  intent_bytes_ = detail::round_up(sizeof(head) + text.size(), io::kTransferBlock);
  if (intent_.step_bytes > bytes || slot_offset(2) > bytes)
    fail(ErrorCode::file, operation(), damaged, wanted);
}

std::uint64_t InPlaceJournal::slot_offset(std::uint64_t slot) const {
  return intent_bytes_ + slot * (kSlotHead + detail::round_up(intent_.step_bytes, io::kTransferBlock));
}

std::vector<InPlaceJournal::Record> InPlaceJournal::records(std::byte* buffer) {
  std::vector<Record> valid;
  bool had_two = false;
  for (std::uint64_t slot = 0; slot < 2; ++slot) {
    SlotHead head;
    requests_.read(*transfers_, std::array{io::Piece{.offset = slot_offset(slot),
                                                     .bytes = sizeof(head),
                                                     .memory = reinterpret_cast<std::byte*>(&head)}});
    // The first of all is in slot 1: who began the second had finished the first.
    had_two = had_two || (slot == 0 && head.magic != 0);
    if (head.magic != kSlotMagic || head.own_sum != head.sum()) continue;
    const Record& record = head.record;
    if (record.serial % 2 != slot || record.step >= intent_.steps || record.bytes > intent_.step_bytes)
      continue;
    read(record, buffer);
    if (checksum({buffer, record.bytes}, 0) == head.data_sum) valid.push_back(record);
  }
  if (valid.empty() && had_two)
    fail(ErrorCode::file, operation(), "two damaged records", "at least one as it was written",
         "only a copy of the file can help");
  std::sort(valid.begin(), valid.end(), [](const Record& a, const Record& b) { return a.serial < b.serial; });
  if (!valid.empty()) serial_ = valid.back().serial;
  return valid;
}

void InPlaceJournal::read(const Record& record, std::byte* data) {
  requests_.read(*transfers_, std::array{io::Piece{.offset = slot_offset(record.serial % 2) + kSlotHead,
                                                   .bytes = record.bytes,
                                                   .memory = data}});
}

void InPlaceJournal::write(Record record, std::span<const std::byte> data) {
  record.serial = ++serial_;
  record.bytes = data.size();
  SlotHead head{.record = record, .data_sum = checksum(data, 0)};
  head.own_sum = head.sum();
  const std::uint64_t at = slot_offset(record.serial % 2);
  // Transfers::write reads the memory only.
  auto* const bytes = const_cast<std::byte*>(data.data());
  requests_.write(
      *transfers_,
      std::array{
          io::Piece{.offset = at + kSlotHead, .bytes = data.size(), .memory = bytes},
          io::Piece{.offset = at, .bytes = sizeof(head), .memory = reinterpret_cast<std::byte*>(&head)}});
  written_ += data.size();
  if (const int error = io::sync_file(file_.get()); error != 0)
    fail(ErrorCode::file, operation(), io::error_text(error), "a disk that takes what is written");
}

void InPlaceJournal::remove() {
  unlink(path_.c_str());
  folder_.sync();
}

}  // namespace faro::file
