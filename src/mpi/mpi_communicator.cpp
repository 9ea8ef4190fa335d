// Ranks by MPI: each message its own MPI_Isend and MPI_Irecv, in pieces that an int can count.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>  // OpenMPI's: whether it takes arrays of devices
#endif

#include "engines/cuda_parts.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/mpi.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 30;
constexpr int kTag = 23;

void check_mpi(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(status, text, &length);
  fail(ErrorCode::device, "exchange shards by MPI",
       fmt::format("{}: {}", call, std::string_view(text, static_cast<std::size_t>(length))), "success");
}

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator(MPI_Comm comm, std::chrono::milliseconds time_limit) : limit_(time_limit) {
    check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_size(comm_, &ranks_), "MPI_Comm_size");
    check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  }
  ~MpiCommunicator() override {
    int finalized = 0;
    if (MPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0) MPI_Comm_free(&comm_);
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int ranks() const override { return ranks_; }
  int rank() const override { return rank_; }
  std::string name() const override { return "MPI"; }
  Engine memory() const override { return Engine::cpu; }

  void exchange(const void* from, std::span<const ShardMessage> sends, void* to,
                std::span<const ShardMessage> receives, Stream stream) override {
    settle(stream);
    std::vector<MPI_Request> requests;
    for_pieces(receives, [&](const ShardMessage& piece) {
      requests.emplace_back();
      check_mpi(MPI_Irecv(static_cast<std::byte*>(to) + piece.offset_bytes, static_cast<int>(piece.bytes),
                          MPI_BYTE, piece.peer, kTag, comm_, &requests.back()),
                "MPI_Irecv");
    });
    // Beginning with the ranks above one's own, so that not all send to the same one first.
    const auto is_above = [this](const ShardMessage& message) { return message.peer > rank_; };
    const auto send = [&](const ShardMessage& piece) {
      requests.emplace_back();
      check_mpi(MPI_Isend(static_cast<const std::byte*>(from) + piece.offset_bytes,
                          static_cast<int>(piece.bytes), MPI_BYTE, piece.peer, kTag, comm_, &requests.back()),
                "MPI_Isend");
    };
    for_pieces(sends, [&](const ShardMessage& piece) {
      if (is_above(piece)) send(piece);
    });
    for_pieces(sends, [&](const ShardMessage& piece) {
      if (!is_above(piece)) send(piece);
    });
    copy_own(static_cast<const std::byte*>(from), sends, static_cast<std::byte*>(to), receives, stream);
    wait_for(requests);
    settle(stream);
  }

  std::vector<std::string> all_gather(const std::string& mine) override {
    // Short words go with their lengths: where more ranks run than processors, each call waits for all of
    // them.
    struct Word {
      int length = 0;
      std::array<char, 124> text = {};
    };
    const int length = static_cast<int>(mine.size());
    Word word{.length = length};
    std::copy_n(mine.begin(), std::min(mine.size(), word.text.size()), word.text.begin());
    std::vector<Word> said(static_cast<std::size_t>(ranks_));
    collective([&](MPI_Request* request) {
      return MPI_Iallgather(&word, sizeof(Word), MPI_BYTE, said.data(), sizeof(Word), MPI_BYTE, comm_,
                            request);
    });
    const auto is_short = [](const Word& each) {
      return static_cast<std::size_t>(each.length) <= each.text.size();
    };
    if (std::all_of(said.begin(), said.end(), is_short)) {
      std::vector<std::string> all;
      all.reserve(said.size());
      for (const Word& each : said) all.emplace_back(each.text.data(), static_cast<std::size_t>(each.length));
      return all;
    }
    std::vector<int> lengths;
    lengths.reserve(said.size());
    for (const Word& each : said) lengths.push_back(each.length);
    std::vector<int> offsets(lengths.size(), 0);
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] = offsets[i - 1] + lengths[i - 1];
    std::string words(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
    collective([&](MPI_Request* request) {
      return MPI_Iallgatherv(mine.data(), length, MPI_CHAR, words.data(), lengths.data(), offsets.data(),
                             MPI_CHAR, comm_, request);
    });
    std::vector<std::string> all;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      all.push_back(words.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
    return all;
  }

  void abort(const std::string& why) noexcept override {
    std::fprintf(stderr, "faro: rank %d gave up: %s\n", rank_, why.c_str());
    MPI_Abort(comm_, 1);
  }

 protected:
  // What is queued on the stream is done.
  virtual void settle(Stream /*stream*/) const {}
  virtual void copy(const std::byte* from, std::byte* to, std::uint64_t bytes, Stream /*stream*/) const {
    std::memcpy(to, from, bytes);
  }

 private:
  template <typename Use>
  void for_pieces(std::span<const ShardMessage> messages, const Use& use) const {
    for (const ShardMessage& message : messages) {
      if (message.peer == rank_) continue;
      for (std::uint64_t done = 0; done < message.bytes; done += kPieceBytes) {
        use({.peer = message.peer,
             .offset_bytes = message.offset_bytes + done,
             .bytes = std::min(kPieceBytes, message.bytes - done)});
      }
    }
  }

  void copy_own(const std::byte* from, std::span<const ShardMessage> sends, std::byte* to,
                std::span<const ShardMessage> receives, Stream stream) const {
    auto source = sends.begin();
    for (const ShardMessage& message : receives) {
      if (message.peer != rank_) continue;
      source = std::find_if(source, sends.end(), [this](const ShardMessage& m) { return m.peer == rank_; });
      FARO_CHECK(source != sends.end() && source->bytes == message.bytes);
      if (message.bytes > 0)
        copy(from + source->offset_bytes, to + message.offset_bytes, message.bytes, stream);
      ++source;
    }
  }

  // Asks again and again, so that a rank that hears nothing gives up in the end.
  void wait_for(std::vector<MPI_Request>& requests) const {
    const auto begin = std::chrono::steady_clock::now();
    for (int done = 0; done == 0;) {
      check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
                "MPI_Testall");
      if (done != 0) return;
      if (std::chrono::steady_clock::now() - begin > limit_) {
        fail(ErrorCode::device, "exchange shards by MPI",
             fmt::format("nothing from a rank for {} ms", limit_.count()), "all ranks, in every call");
      }
      std::this_thread::yield();
    }
  }

  template <typename Start>
  void collective(const Start& start) const {
    std::vector<MPI_Request> request(1);
    check_mpi(start(request.data()), "a collective call");
    wait_for(request);
  }

  std::chrono::milliseconds limit_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int ranks_ = 0;
  int rank_ = 0;
};

// Device arrays that MPI takes as they are.
class MpiDeviceCommunicator : public MpiCommunicator {
 public:
  MpiDeviceCommunicator(MPI_Comm comm, std::chrono::milliseconds time_limit, int device)
      : MpiCommunicator(comm, time_limit), host_(comm, time_limit), device_(cuda::target(device).device) {}

  Engine memory() const override { return Engine::cuda; }
  int device() const override { return device_; }
  Communicator* host() override { return &host_; }
  void wait(Stream stream) override { cuda::finish(device_, stream); }

 protected:
  void settle(Stream stream) const override { cuda::finish(device_, stream); }
  void copy(const std::byte* from, std::byte* to, std::uint64_t bytes, Stream stream) const override {
    cuda::copy_between(from, to, bytes, device_, stream);
  }

 private:
  MpiCommunicator host_;
  int device_;
};

void require_mpi() {
  int initialized = 0;
  check_mpi(MPI_Initialized(&initialized), "MPI_Initialized");
  if (initialized != 0) return;
  fail(ErrorCode::device, "make a communicator of MPI", "a process that has not called MPI_Init",
       "MPI_Init before");
}

bool mpi_takes_device_arrays() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

}  // namespace

std::shared_ptr<Communicator> mpi_device_communicator(MPI_Comm comm, int device, bool takes_device_arrays,
                                                      std::chrono::milliseconds time_limit) {
  std::shared_ptr<Communicator> host = mpi_communicator(comm, time_limit);
  if (!takes_device_arrays && !mpi_takes_device_arrays()) return staged_communicator(std::move(host), device);
  return std::make_shared<MpiDeviceCommunicator>(comm, time_limit, device);
}

std::shared_ptr<Communicator> mpi_intercommunicator(MPI_Comm comm, GroupOrder order,
                                                    std::chrono::milliseconds time_limit) {
  require_mpi();
  int has_two_groups = 0;
  check_mpi(MPI_Comm_test_inter(comm, &has_two_groups), "MPI_Comm_test_inter");
  if (has_two_groups == 0) {
    fail(ErrorCode::value, "make a communicator of MPI", "a communicator of one group",
         "an intercommunicator", "mpi_communicator() takes it");
  }
  MPI_Comm merged = MPI_COMM_NULL;
  check_mpi(MPI_Intercomm_merge(comm, order == GroupOrder::second ? 1 : 0, &merged), "MPI_Intercomm_merge");
  auto made = mpi_communicator(merged, time_limit);  // of a copy
  check_mpi(MPI_Comm_free(&merged), "MPI_Comm_free");
  return made;
}

std::shared_ptr<Communicator> mpi_communicator(MPI_Comm comm, std::chrono::milliseconds time_limit) {
  require_mpi();
  return std::make_shared<MpiCommunicator>(comm, time_limit);
}

}  // namespace faro
