// SPDX-License-Identifier: Apache-2.0
// `railbed perf` as a person starts it, against a server of this machine over loopback.
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "run_verb.h"
#include "started.h"

namespace railbed {
namespace {

class PerfVerb : public testing::Test {
 protected:
  PerfVerb() {
    std::string name = (std::filesystem::temp_directory_path() / "perf-verb.XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~PerfVerb() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  static std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::filesystem::path folder_;
};

TEST_F(PerfVerb, OptionsAreRefusedAndNotReplaced) {
  const auto said = [](const std::vector<std::string>& options) {
    std::vector<std::string> all = {"perf", "bw", "127.0.0.1"};
    all.insert(all.end(), options.begin(), options.end());
    const auto ran = run_verb(all);
    EXPECT_EQ(ran.exit_status, 1);
    return ran.errors;
  };
  EXPECT_EQ(said({"-s", "0"}), "railbed: size: 0 is outside 1..67108864\n");
  EXPECT_EQ(said({"--gid-rule", "index=300"}),
            "railbed: --gid-rule: index=300 is not a GID index, which is 0 to 255\n");
  EXPECT_EQ(said({"--verb", "read", "--inline", "8"}),
            "railbed: inline: an RC read sends none of its data, so nothing can go inline\n");
  EXPECT_EQ(said({"--verb", "fetch-add", "-s", "16"}),
            "railbed: size: an atomic fetch-and-add works on 8 bytes, not on 16 B\n");
  EXPECT_EQ(said({"--tcp", "--verb", "send"}),
            "railbed: verb: only for RDMA; plain sockets (--tcp) have no such thing\n");
  EXPECT_EQ(said({"--memory", "gpu"}),
            "railbed: --memory: \"gpu\" is not a kind of memory: host, huge (pages of 2 MiB) or gpu:N (0 to 255)\n");
}

// Before anything is measured: no server is there, and that is not what is said.
TEST_F(PerfVerb, TheFileOfSaveIsOpenedFirst) {
  const auto ran = run_verb({"perf", "bw", "127.0.0.1", "--port", "1", "--save", "/nonexistent/x"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.errors,
            "railbed: open /nonexistent/x: ENOENT (No such file or directory)\n"
            "  --save writes to this file; nothing was measured\n");
  // What was there stays where nothing is measured, and no empty file is left.
  std::ofstream(path("old.json")) << "old";
  EXPECT_EQ(run_verb({"perf", "bw", "127.0.0.1", "--port", "1", "--save", path("old.json")}).exit_status, 1);
  EXPECT_EQ(content(path("old.json")), "old");
  EXPECT_EQ(run_verb({"perf", "bw", "127.0.0.1", "--port", "1", "--save", path("new.json")}).exit_status, 1);
  EXPECT_FALSE(std::filesystem::exists(path("new.json")));
}

TEST_F(PerfVerb, ASavedResultMakesAReport) {
  const Started server({"perf", "serve", "--bind", "127.0.0.1", "--port", "0"});
  const auto ran = run_verb({"perf", "lat", "127.0.0.1", "--port", server.port(), "--tcp", "-n", "20", "--label", "lo",
                             "--save", path("lat.json")});
  EXPECT_EQ(ran.exit_status, 0) << ran.errors;
  const auto report = run_verb({"perf", "report", path("lat.json"), "-o", path("report.html")});
  EXPECT_EQ(report.exit_status, 0) << report.errors;
  EXPECT_NE(report.output.find("Plain TCP was measured on 1 rail, RDMA was not."), std::string::npos) << report.output;
}

// What a terminal as standard error gets of a verb, and what goes to standard output, which is a file.
std::string on_a_terminal(std::vector<std::string> arguments, const std::string& output) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_TRUE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  const std::string name = ptsname(terminal);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, name.c_str(), O_RDWR | O_NOCTTY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT, 0600);
  arguments.insert(arguments.begin(), RAILBED_PROGRAM);
  std::vector<char*> raw;
  for (std::string& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, RAILBED_PROGRAM, &actions, nullptr, raw.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  std::string seen;
  std::array<char, 4096> buffer;
  // The last one that has it open ends it (EIO).
  for (ssize_t got = 0; (got = read(terminal, buffer.data(), buffer.size())) > 0;)
    seen.append(buffer.data(), static_cast<size_t>(got));
  close(terminal);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << seen;
  return seen;
}

// On a terminal a line says how far a size is and leaves nothing; elsewhere there is none.
TEST_F(PerfVerb, ALineOnATerminalAlone) {
  const Started server({"perf", "serve", "--bind", "127.0.0.1", "--port", "0"});
  const std::vector<std::string> bw = {"perf", "bw", "127.0.0.1", "--port", server.port(), "--tcp", "-D", "1"};
  const std::string seen = on_a_terminal(bw, path("output"));
  EXPECT_NE(seen.find(" s  bw over tcp, 64 KiB: 0."), std::string::npos) << seen;
  EXPECT_NE(seen.find(" messages/s\x1b[K"), std::string::npos) << seen;
  EXPECT_TRUE(seen.ends_with("\r\x1b[K")) << seen;
  EXPECT_EQ(seen.find('\n'), std::string::npos) << seen;
  EXPECT_EQ(content(path("output")).find('\x1b'), std::string::npos);
  const auto piped = run_verb(bw);
  EXPECT_EQ(piped.exit_status, 0);
  EXPECT_EQ(piped.errors, "");
}

// A sweep that ends early leaves what it has, marked as incomplete, in the file and on the terminal.
TEST_F(PerfVerb, WhatWasMeasuredOutlivesCtrlCAndADeadPeer) {
  for (const bool interrupted : {true, false}) {
    Started server({"perf", "serve", "--bind", "127.0.0.1", "--port", "0"});
    const std::string file = path(interrupted ? "interrupted.json" : "dead.json");
    Started client({"perf", "lat", "127.0.0.1", "--port", server.port(), "--tcp", "-a", "-D", "0.2", "-o", "json",
                    "--save", file});
    // Until a size is in the file; the sweep takes four seconds and more.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (content(file).find("half_min_us") == std::string::npos && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_NE(content(file).find("\"ended_by\": \"in progress, or killed\""), std::string::npos);
    int status = 0;
    if (interrupted) {
      status = client.end(SIGINT);
    } else {
      server.end(SIGKILL);
      status = client.end(0);  // ends by itself
    }
    EXPECT_EQ(status, 1);
    EXPECT_EQ(client.line(), "{");
    const std::string saved = content(file);
    EXPECT_NE(saved.find("\"complete\": false"), std::string::npos) << saved.substr(0, 500);
    EXPECT_NE(saved.find(interrupted ? "stopped" : "the peer closed the connection"), std::string::npos)
        << saved.substr(0, 500);
    EXPECT_EQ(run_verb({"perf", "report", file, "-o", path("report.html")}).exit_status, 0);
  }
}

TEST_F(PerfVerb, AFileThatCannotBeWrittenIsReportedBesideADeadPeer) {
  Started server({"perf", "serve", "--bind", "127.0.0.1", "--port", "0"});
  const std::string port = server.port();
  std::jthread killer([&] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    server.end(SIGKILL);
  });
  const auto ran =
      run_verb({"perf", "lat", "127.0.0.1", "--port", port, "--tcp", "-a", "-D", "0.5", "--save", "/dev/full"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_NE(ran.errors.find("the peer closed the connection; saving the partial result also failed: "),
            std::string::npos)
      << ran.errors;
  EXPECT_NE(ran.errors.find("/dev/full: ENOSPC (No space left on device)"), std::string::npos) << ran.errors;
}

// The machine of the tests has no RDMA device of this name, and mostly none at all.
TEST_F(PerfVerb, WatchSaysThatThereIsNothingToWatch) {
  const auto ran = run_verb({"perf", "watch", "no_such_device", "-n", "1"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.output, "");
  EXPECT_TRUE(ran.errors ==
                  "railbed: this machine has no RDMA device\n  `rdma link` lists them; in a pod they come with the "
                  "RDMA resource\n" ||
              ran.errors.starts_with("railbed: no RDMA device or port no_such_device\n  this machine has "))
      << ran.errors;
}

}  // namespace
}  // namespace railbed
