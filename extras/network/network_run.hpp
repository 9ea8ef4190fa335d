// faro network run: a program's result on the array of a .npy file.
#pragma once

#include <string>

#include "cli/arguments.hpp"
#include "faro/network/network.hpp"

namespace faro::cli {

struct NetworkRunOptions {
  CommonOptions common;  // engine, device, threads, json
  std::string program;
  std::string in;
  std::string out;
  network::Sizes sizes;
  bool pairs = false;  // keys and values along a last axis of 2
  bool verify = false;
  bool quiet = false;
};

/// Reads, runs, verifies, writes, reports. Errors: those of the file, of the program and of the engine;
/// ErrorCode::value for a shape or a dtype that no network takes.
void run_network(const NetworkRunOptions& options);

}  // namespace faro::cli
