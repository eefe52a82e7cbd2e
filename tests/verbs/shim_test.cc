// SPDX-License-Identifier: Apache-2.0
// railbed-cni as a program: with an agent, without one, and with agents that misbehave in every way.
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/door/server.h"
#include "agent/leftovers/replay.h"
#include "base/testdata.h"
#include "os/ports/processes.h"

namespace railbed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using PluginEnvironment = std::vector<std::string>;

class Shim : public testing::Test {
 protected:
  Shim() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-shim-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::filesystem::create_symlink(SHIM_PROGRAM, folder_ / "macvlan");
  }
  ~Shim() override { std::filesystem::remove_all(folder_); }

  PluginEnvironment environment(const std::string& command, PluginEnvironment more = {}) const {
    more.insert(more.end(),
                {"CNI_COMMAND=" + command, "CNI_CONTAINERID=c1", "CNI_NETNS=/run/netns/a", "CNI_IFNAME=net1",
                 "CNI_PATH=/opt/cni/bin", "RAILBED_SOCKET=" + socket(), "RAILBED_PENDING=" + pending(), "SECRET=x"});
    return more;
  }
  os::RunResult run(const PluginEnvironment& entries, const std::string& input = "{}") const {
    auto processes = os::real_processes();
    auto ran = processes->run({.program = folder_ / "macvlan",
                               .environment = entries,
                               .input = input,
                               .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30)});
    EXPECT_TRUE(ran.has_value()) << ran.error().to_string();
    return ran ? *ran : os::RunResult{};
  }
  os::RunResult run(const std::string& command) const { return run(environment(command)); }

  std::string socket() const { return folder_ / "agent.sock"; }
  std::string pending() const { return folder_ / "deep/pending"; }
  std::vector<std::string> kept() const {
    std::vector<std::string> out;
    if (std::filesystem::exists(pending()))
      for (const auto& one : std::filesystem::directory_iterator(pending())) out.push_back(one.path());
    std::ranges::sort(out);
    return out;
  }
  std::filesystem::path folder_;
};

// Serves requests with the real server.
class Agent {
 public:
  Agent(const std::string& path, agent::Handler handler)
      : server_(*os::UnixListener::open(path), std::move(handler), {.uid = getuid()}),
        thread_([this](std::stop_token stop) { (void)server_.run(stop); }) {}

 private:
  agent::Server server_;
  std::jthread thread_;
};

// Accepts connections and calls `act` with each.
class BadAgent {
 public:
  BadAgent(const std::string& path, std::function<void(os::Connection&)> act)
      : listener_(*os::UnixListener::open(path)), thread_([this, act](std::stop_token stop) {
          while (!stop.stop_requested()) {
            pollfd one{listener_.fd(), POLLIN, 0};
            if (poll(&one, 1, 20) <= 0) continue;
            auto next = listener_.accept();
            if (next && *next) act(**next);
          }
        }) {}

 private:
  os::UnixListener listener_;
  std::jthread thread_;
};

TEST_F(Shim, PassesItsNameVariablesAndInputOnAndTheAnswerBack) {
  std::mutex mutex;
  std::vector<cni::Request> seen;
  Agent agent(socket(), [&](const cni::Request& request) {
    const std::lock_guard lock(mutex);
    seen.push_back(request);
    if (request.command == cni::Command::kCheck) return agent::Reply{.result = fail(Code::kNotFound, "no interface")};
    return agent::Reply{.result = "the answer"};
  });
  const std::string config = "{\"name\": \"n\", \"text\": \"" + std::string(700'000, 'x') + "\"}";
  auto add = run(environment("ADD", {"CNI_ARGS=A=b;K8S_POD_NAME=p"}), config);
  EXPECT_EQ(add.exit_status, 0);
  EXPECT_EQ(add.output, "the answer");
  EXPECT_THAT(add.errors, IsEmpty());
  auto check = run("CHECK");
  EXPECT_EQ(check.exit_status, 1);
  EXPECT_EQ(check.output, "{\n    \"cniVersion\": \"1.1.0\",\n    \"code\": 100,\n    \"msg\": \"no interface\"\n}");
  EXPECT_EQ(run("DEL").output, "the answer");
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].type, "macvlan");
  EXPECT_EQ(seen[0].container_id, "c1");
  EXPECT_EQ(seen[0].args.at("A"), "b");
  EXPECT_EQ(seen[0].config, config);
  EXPECT_THAT(kept(), IsEmpty());
}

TEST_F(Shim, WithoutAnAgentSaysWhatTheSpecificationHasForIt) {
  const std::pair<const char*, int> cases[] = {{"ADD", 11}, {"GC", 11}, {"CHECK", 50}, {"STATUS", 50}};
  for (const auto& [command, code] : cases) {
    auto ran = run(command);
    EXPECT_EQ(ran.exit_status, 1) << command;
    EXPECT_EQ(ran.output,
              fmt::format("{{\n    \"cniVersion\": \"1.1.0\",\n    \"code\": {},\n    \"msg\": \"no railbed agent "
                          "answers on {}: ENOENT (No such file or directory)\",\n    \"details\": \"is the railbed "
                          "agent running? systemctl status railbed-agent\"\n}}",
                          code, socket()));
  }
  EXPECT_EQ(run("VERSION").output,
            "{\"cniVersion\":\"1.1.0\",\"supportedVersions\":[\"0.3.0\",\"0.3.1\",\"0.4.0\",\"1.0.0\",\"1.1.0\"]}\n");
  EXPECT_THAT(kept(), IsEmpty());
  auto about = run(PluginEnvironment{});
  EXPECT_EQ(about.exit_status, 0);
  EXPECT_THAT(about.output, IsEmpty());
  EXPECT_THAT(about.errors, HasSubstr("railbed-cni-shim/"));
}

TEST_F(Shim, KeepsADelForTheAgentThatComes) {
  auto del = run(environment("DEL", {"CNI_ARGS=K8S_POD_NAME=p"}), "{\"name\": \"n\"}");
  EXPECT_EQ(del.exit_status, 0);
  EXPECT_THAT(del.output, IsEmpty());
  ASSERT_EQ(run("DEL").exit_status, 0);
  ASSERT_EQ(kept().size(), 2U);
  EXPECT_EQ(std::filesystem::status(kept()[0]).permissions(), std::filesystem::perms(0600));
  auto request = agent::read_pending(content(kept()[0]));
  ASSERT_TRUE(request.has_value()) << request.error().to_string();
  EXPECT_EQ(request->command, cni::Command::kDel);
  EXPECT_EQ(request->type, "macvlan");
  EXPECT_EQ(request->config, "{\"name\": \"n\"}");
  EXPECT_EQ(request->args.at("K8S_POD_NAME"), "p");
}

// What a plugin leaves on standard input that is killed while it starts this one.
TEST_F(Shim, RefusesADelWithoutAWholeConfiguration) {
  for (const char* config : {"", "  ", "{", "{\"name\": \"n\", \"ipam\": {}", "{\"name\": \"}", "{\"name\": \"\\\"}",
                             "{} {}", "[{}]", "null"}) {
    const auto done = run(environment("DEL"), config);
    EXPECT_EQ(done.exit_status, 1) << config;
    EXPECT_THAT(done.output, HasSubstr("\"code\": 6"));
    EXPECT_THAT(done.output, HasSubstr("the configuration on standard input is incomplete"));
    EXPECT_TRUE(kept().empty()) << config;
  }
  for (const char* config : {"{}", " {\"a\": {\"b\": \"}\\\"{\"}}\n"})
    EXPECT_EQ(run(environment("DEL"), config).exit_status, 0) << config;
  EXPECT_EQ(kept().size(), 2U);
}

TEST_F(Shim, RefusesADelThatNoOneCouldRepeat) {
  auto ran = run({"CNI_COMMAND=DEL", "CNI_IFNAME=e", "RAILBED_SOCKET=" + socket(), "RAILBED_PENDING=" + pending()});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.output, HasSubstr("\"code\": 4"));
  EXPECT_THAT(ran.output, HasSubstr("[CNI_CONTAINERID] missing"));
  std::ofstream(folder_ / "deep") << "a file where a folder should be";
  auto full = run("DEL");
  EXPECT_EQ(full.exit_status, 1);
  EXPECT_THAT(full.output, HasSubstr("\"code\": 5"));
  EXPECT_THAT(full.output, HasSubstr("queueing the DEL for later also failed: mkdir"));
}

TEST_F(Shim, TakesAnAgentThatFailsItForNone) {
  const std::pair<std::function<void(os::Connection&)>, const char*> cases[] = {
      {[](os::Connection&) {}, "closed the connection before it answered"},
      {[](os::Connection& to) { (void)to.write_some("RBC1\2"); }, "truncated or invalid"},
      {[](os::Connection& to) { (void)to.write_some("HTTP/1.1 400 Bad Request"); }, "truncated or invalid"},
      {[](os::Connection& to) { (void)to.write_some(std::string_view("RBC1\2\xff\xff\xff\xff\0", 10)); },
       "truncated or invalid"},
      {[](os::Connection& to) { (void)to.write_some(std::string_view("RBC1\2\0\0\0\0", 9)); }, "truncated or invalid"}};
  size_t dels = 0;
  for (const auto& [act, message] : cases) {
    BadAgent agent(socket(), act);
    auto add = run(environment("ADD", {"RAILBED_RETRY_MS=1"}));
    EXPECT_EQ(add.exit_status, 1);
    EXPECT_THAT(add.output, HasSubstr("\"code\": 11"));
    EXPECT_THAT(add.output, HasSubstr(message));
    EXPECT_EQ(run("DEL").exit_status, 0);
    EXPECT_EQ(kept().size(), ++dels);
  }
}

// Agents that end before they read the request, or that are stopping: the shim asks the next one.
TEST_F(Shim, AsksTheNextAgentForWhatNoneHasBegun) {
  for (const bool stopping : {false, true}) {
    std::atomic<int> asked = 0;
    auto answer = [&](os::Connection& to) {
      const bool last = ++asked == 3;
      if (!last && !stopping) return;
      std::array<char, 4096> request{};
      while (!to.read_some(request).value_or(size_t{0}).has_value()) std::this_thread::yield();
      (void)to.write_some(cni::to_frame(last ? cni::WireAnswer{0, "well"} : cni::WireAnswer{cni::kAskAgain, "11"}));
    };
    BadAgent agent(socket(), answer);
    for (const char* command : {"ADD", "CHECK", "GC"}) {
      asked = 0;
      auto ran = run(environment(command, {"RAILBED_RETRY_MS=20000"}));
      EXPECT_EQ(ran.output, "well") << command;
      EXPECT_EQ(asked, 3);
    }
    asked = 0;
    EXPECT_NE(run("STATUS").output, "well");
    EXPECT_EQ(asked, 1);
  }
}

TEST_F(Shim, WaitsABoundedTimeForAnAgentThatWasHere) {
  {
    auto stopped = os::UnixListener::open(socket());  // its lock file stays
    ASSERT_TRUE(stopped.has_value());
  }
  ASSERT_FALSE(std::filesystem::exists(socket()));
  auto add = run(environment("ADD", {"RAILBED_RETRY_MS=30"}));
  EXPECT_THAT(add.output, AllOf(HasSubstr("\"code\": 11"), HasSubstr("ENOENT")));
  // DEL and STATUS do not wait: DEL is kept on disk, however long the retries could take.
  EXPECT_EQ(run(environment("DEL", {"RAILBED_RETRY_MS=3000000"})).exit_status, 0);
  EXPECT_THAT(run(environment("STATUS", {"RAILBED_RETRY_MS=3000000"})).output, HasSubstr("\"code\": 50"));
  EXPECT_EQ(kept().size(), 1U);
}

TEST_F(Shim, DoesNotWaitForEverForASilentAgent) {
  auto silent = os::UnixListener::open(socket());
  ASSERT_TRUE(silent.has_value());
  auto add = run(environment("ADD", {"RAILBED_TIMEOUT_MS=100"}));
  EXPECT_THAT(add.output, HasSubstr("did not answer in time"));
  EXPECT_EQ(run(environment("DEL", {"RAILBED_TIMEOUT_MS=100"})).exit_status, 0);
  EXPECT_EQ(kept().size(), 1U);
  // More than the socket's buffers can take.
  auto large = run(environment("ADD", {"RAILBED_TIMEOUT_MS=100"}), std::string(800'000, 'x'));
  EXPECT_THAT(large.output, HasSubstr("did not answer in time"));
}

TEST_F(Shim, HearsARefusalThatComesBeforeItHasSentEverything) {
  const std::string refusal = cni::to_frame(cni::WireAnswer{1, "refused"});
  BadAgent agent(socket(), [&](os::Connection& to) { (void)to.write_some(refusal); });
  for (int i = 0; i < 20; ++i) {
    auto add = run(environment("ADD"), std::string(800'000, 'x'));
    EXPECT_EQ(add.output, "refused");
  }
}

TEST_F(Shim, LimitsStandardInput) {
  auto large = run(environment("ADD"), std::string(1'000'000, 'x'));
  EXPECT_THAT(large.output, HasSubstr("larger than 900 KiB"));
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[0], STDIN_FILENO);
    const int out = open((folder_ / "out").c_str(), O_CREAT | O_WRONLY, 0600);
    dup2(out, STDOUT_FILENO);
    execle(SHIM_PROGRAM, "macvlan", nullptr,
           std::array{"CNI_COMMAND=ADD", "RAILBED_TIMEOUT_MS=50", static_cast<const char*>(nullptr)}.data());
    _exit(99);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(content(folder_ / "out"), HasSubstr("standard input did not end in time"));
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Shim, AreServedManyAtOnce) {
  Agent agent(socket(), [](const cni::Request& request) { return agent::Reply{.result = request.config}; });
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        for (int k = 0; k < 25; ++k)
          right += run(environment("ADD"), fmt::format("{}-{}", i, k)).output == fmt::format("{}-{}", i, k);
      });
  }
  EXPECT_EQ(right, 200);
}

}  // namespace
}  // namespace railbed
