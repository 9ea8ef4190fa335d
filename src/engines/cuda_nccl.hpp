// NCCL, as far as an exchange of messages needs it, opened at run time.
//
// In a build without CUDA every function that would open it refuses with ErrorCode::device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "faro/stream.hpp"

struct ncclComm;

namespace faro::cuda {

/// The bytes by which ranks find each other: ncclUniqueId as text.
std::string nccl_unique_id();

class NcclLink {
 public:
  struct Ranks {
    int count = 0;
    int mine = 0;
  };

  /// Over the caller's communicator, which is not destroyed.
  explicit NcclLink(ncclComm* comm);
  /// One of its own on `device`. Waits for the other ranks.
  NcclLink(int device, const std::string& unique_id, const Ranks& ranks);
  ~NcclLink();  // NOLINT(performance-trivially-destructible): with CUDA it is not
  NcclLink(const NcclLink&) = delete;
  NcclLink& operator=(const NcclLink&) = delete;

  Ranks ranks() const { return ranks_; }
  int device() const { return device_; }

  /// Between begin() and end() sends and receives are one group, which is queued by end().
  void begin() const;
  void send(const std::byte* from, std::uint64_t bytes, int peer, Stream stream) const;
  void receive(std::byte* to, std::uint64_t bytes, int peer, Stream stream) const;
  void end() const;
  /// Queues a copy within the device.
  void keep(const std::byte* from, std::byte* to, std::uint64_t bytes, Stream stream) const;

  /// Memory of the device that NCCL knows: kernels of a peer's write there, where others' messages go by way
  /// of buffers of NCCL's. Taken back with it; the link has to be there still.
  class Memory {
   public:
    /// Errors: ErrorCode::device where NCCL is older than 2.19, or there is no room.
    Memory(const NcclLink& link, std::uint64_t bytes);
    ~Memory();  // NOLINT(performance-trivially-destructible): with CUDA it is not
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    std::byte* data() const { return data_; }

   private:
    const NcclLink& link_;
    std::byte* data_ = nullptr;
    [[maybe_unused]] void* handle_ = nullptr;  // unused where CUDA is not built
  };
  /// Errors: ErrorCode::device where an exchange failed meanwhile, as by a rank that was lost.
  void look() const;
  /// Ends what is queued, as an error on the device.
  void abort() noexcept;

 private:
  void look_up();

  ncclComm* comm_ = nullptr;
  bool owned_ = false;
  Ranks ranks_;
  int device_ = 0;
};

}  // namespace faro::cuda
