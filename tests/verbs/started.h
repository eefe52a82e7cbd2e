// SPDX-License-Identifier: Apache-2.0
// A verb that runs beside the test. Only included by tests.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace railbed {

// A process with its standard output on a pipe. The destructor ends it.
class Started {
 public:
  explicit Started(std::vector<std::string> arguments) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    arguments.insert(arguments.begin(), RAILBED_PROGRAM);
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, RAILBED_PROGRAM, &actions, nullptr, raw.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    out_ = ends[0];
  }
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  ~Started() {
    if (pid_ > 0) end(SIGKILL);
    close(out_);
  }
  // What it prints up to the end of a line, or its end.
  std::string line() const {
    std::string text;
    for (char c = 0; read(out_, &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }
  // Where `perf serve --port 0` listens: "serving on 127.0.0.1 port 34567; Ctrl-C ends".
  std::string port() const {
    const std::string said = line();
    const size_t at = said.find(" port ");
    EXPECT_NE(at, std::string::npos) << said;
    return said.substr(at + 6, said.find(';') - at - 6);
  }
  int end(int signal) {
    kill(pid_, signal);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
  int out_ = -1;
};

}  // namespace railbed
