// The journal of a file that is permuted where it lies: what a step is about to write, before it writes it.
//
//     intent     what is asked for, and what the file begins with before and afterwards
//     slot 0     |serial, state, step, sums| the step's bytes |
//     slot 1     |serial, state, step, sums| the step's bytes |
//
// Steps take the slots in turns. A slot is on the disk before its step writes to the file, and the step's
// bytes are in the file before the slot is taken again. So whenever the machine stops, the later valid slot
// tells how many steps are done, and writing both slots' bytes to the file, in their order, makes it whole:
// all steps up to that one done, none behind it begun. From there the run goes on, or back.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/file_system.hpp"
#include "io/transfers.hpp"

namespace faro::file {

/// Beside the file, links followed.
std::filesystem::path in_place_journal_path(const std::filesystem::path& file);

/// All that a run in place is made from.
struct InPlaceIntent {
  std::string permutation;  // its canonical text
  std::uint64_t element_bytes = 0;
  std::uint64_t batch = 1;
  std::uint64_t offset = 0;  // of the data in the file
  std::uint64_t memory_bytes = 0;
  std::uint64_t segment_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t steps = 0;
  std::uint64_t step_bytes = 0;          // the most of one
  std::vector<std::byte> header_before;  // what the file begins with
  std::vector<std::byte> header_after;   // and is to begin with; empty: as it does
};

class InPlaceJournal {
 public:
  /// Makes it, and brings it and its name to the disk. Errors: ErrorCode::file where there is one, or no room
  /// for two steps.
  static std::unique_ptr<InPlaceJournal> create(const std::filesystem::path& file,
                                                const InPlaceIntent& intent, io::TransferMode mode);
  /// Opens what a run left. Errors: ErrorCode::file where there is none, or it is damaged.
  /// Removes a journal without an intent: what a run leaves that was killed before its first step, for which
  /// the intent is on the disk. Returns whether it was one. Requires: the file is held.
  static bool remove_unbegun(const std::filesystem::path& file, io::TransferMode mode);
  static std::unique_ptr<InPlaceJournal> open(const std::filesystem::path& file, io::TransferMode mode);

  const InPlaceIntent& intent() const { return intent_; }

  struct Record {
    std::uint64_t serial = 0;  // from 1
    std::uint64_t state = 0;   // how many steps are done when its bytes are in the file
    std::uint64_t step = 0;
    std::uint64_t is_undone = 0;
    std::uint64_t bytes = 0;
  };
  /// The valid ones, the earlier first; `buffer` has room for intent().step_bytes. Errors: ErrorCode::file
  /// where there are none although some were.
  std::vector<Record> records(std::byte* buffer);
  /// The bytes of a record. Requires: room for intent().step_bytes.
  void read(const Record& record, std::byte* data);

  /// The next record, on the disk. `record.serial` is determined here. Errors: ErrorCode::file.
  void write(Record record, std::span<const std::byte> data);

  /// Whether no record was ever begun, and so nothing written to the file.
  bool is_unused() const { return serial_ == 0; }
  /// Bytes of data that write() was given.
  std::uint64_t written_bytes() const { return written_; }
  void remove();

 private:
  using IntentHead = std::array<std::uint64_t, 3>;  // the mark of an intent, its length and its sum

  InPlaceJournal(const std::filesystem::path& file, int flags, io::TransferMode mode);
  void create_file();
  IntentHead read_head();  // zeros where the file is shorter
  std::uint64_t bytes() const;
  void read_intent();
  std::uint64_t slot_offset(std::uint64_t slot) const;
  std::string operation() const { return "journal `" + path_.string() + "`"; }

  std::filesystem::path path_;
  io::FolderSync folder_;
  io::Descriptor file_;
  std::optional<io::TransferFile> transfers_;
  io::Transfers requests_;
  InPlaceIntent intent_;
  std::uint64_t intent_bytes_ = 0;  // of the file, before the slots
  std::uint64_t serial_ = 0;        // of the latest record
  std::uint64_t written_ = 0;
};

}  // namespace faro::file
