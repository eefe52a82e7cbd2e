// SPDX-License-Identifier: Apache-2.0
// The agent's socket with real unix sockets and threads, and clients that misbehave in every way.
#include "agent/door/server.h"

#include <atomic>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/door/test_server.h"
#include "cni/wire.h"

namespace railbed::agent {
namespace {
using namespace server_tests;
using std::chrono::milliseconds;

TEST(Server, AnswersWhateverTheFrameIsCutInto) {
  Agent agent(echo);
  const std::string whole = frame("ADD", "c", "config");
  for (size_t cut = 0; cut < whole.size(); cut += 3) {
    Client client(agent.path());
    ASSERT_TRUE(client.send(whole.substr(0, cut)));
    ASSERT_TRUE(client.send(whole.substr(cut)));
    EXPECT_EQ(client.answer(), (cni::WireAnswer{0, "c:config"})) << cut;
  }
  Client half_closed(agent.path());
  half_closed.send(whole);
  half_closed.finish_writing();
  EXPECT_EQ(half_closed.answer().output, "c:config");
}

uint64_t file_number(int descriptor) {
  struct stat file{};
  return fstat(descriptor, &file) == 0 ? file.st_ino : 0;
}

// What the shim opened is what the request is about, for as long as it is worked on.
TEST(Server, HoldsThePassedDescriptorUntilTheAnswer) {
  const SocketFolder folder;
  const os::Descriptor file(::open((folder / "netns").c_str(), O_RDWR | O_CREAT, 0600));
  const os::Descriptor other(::open((folder / "other").c_str(), O_RDWR | O_CREAT, 0600));
  std::weak_ptr<void> held;
  std::vector<uint64_t> passed;
  Agent agent(
      [&](const cni::Request&) {
        return Reply{.result = held.expired() ? fail(Code::kInternal, "not held") : Result<std::string>()};
      },
      {.hold = [&](const cni::Request&, os::Descriptor descriptor) -> Result<std::shared_ptr<void>> {
        passed.push_back(descriptor ? file_number(descriptor.get()) : 0);
        auto kept = std::make_shared<os::Descriptor>(std::move(descriptor));
        held = kept;
        return std::shared_ptr<void>(kept);
      }});
  const std::vector<std::vector<int>> sent = {{file.get()}, {file.get(), other.get()}};
  for (const std::vector<int>& descriptors : sent) {
    Client client(agent.path());
    client.send_with(frame("CHECK"), descriptors);
    EXPECT_EQ(client.answer().status, 0);
  }
  Client without(agent.path());
  without.send(frame("CHECK"));
  EXPECT_EQ(without.answer().status, 0);
  agent.stop();
  agent.join();
  EXPECT_EQ(passed, (std::vector<uint64_t>{file_number(file.get()), file_number(file.get()), 0}));
  EXPECT_TRUE(held.expired());
}

TEST(Server, ARequestWhoseNamespaceCannotBeHeldIsRefused) {
  Agent agent(echo, {.hold = [](const cni::Request&, os::Descriptor) -> Result<std::shared_ptr<void>> {
                return fail(Code::kBusy, "in use");
              }});
  Client client(agent.path());
  client.send(frame("ADD"));
  const cni::WireAnswer answer = client.answer();
  EXPECT_EQ(answer.status, 1);
  EXPECT_THAT(answer.output, testing::HasSubstr("in use"));
}

TEST(Server, Serves200AtOnceEachItsOwn) {
  std::atomic<int> handled = 0;
  Agent agent([&](const cni::Request& request) {
    ++handled;
    return Reply{.result = std::string(100'000, 'x') + request.container_id};
  });
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 200; ++i)
    threads.emplace_back([&, i] {
      Client client(agent.path());
      const std::string id = fmt::format("pod-{}", i);
      client.send(frame("ADD", id));
      const auto answer = client.answer();
      right += answer.status == 0 && answer.output.ends_with("x" + id);
    });
  threads.clear();
  EXPECT_EQ(right, 200);
  EXPECT_EQ(handled, 200);
}

TEST(Server, ReportsInCnisJsonWhatIsWrong) {
  Agent agent(echo, {.most_payload_bytes = 1000});
  const std::pair<std::string, const char*> cases[] = {
      {"GET / HTTP/1.1\r\n\r\n", "does not begin with RBC1"},
      {"G", "does not begin with RBC1"},
      {std::string("RBC1\2\0\0\0\1x", 10), "it is an answer, not a request"},
      {"RBC1\1\xff\xff\xff\xff", "larger than 4 MiB"},
      {std::string("RBC1\1\0\1\0\0", 9), "65536 bytes, the limit is 1000"},
      {frame("ADD") + "more", "extra bytes after its end"},
      {std::string("RBC1\1\0\0\0\1x", 10), "does not name a plugin"},
      {frame("FLY"), "unknown CNI_COMMAND: FLY"},
      {frame("ADD", "../up"), "is not a container id"},
  };
  for (const auto& [bytes, message] : cases) {
    Client client(agent.path());
    client.send(bytes);
    const auto answer = client.answer();
    EXPECT_EQ(answer.status, 1) << message;
    EXPECT_NE(answer.output.find(message), std::string::npos) << answer.output;
    EXPECT_NE(answer.output.find("\"code\""), std::string::npos) << answer.output;
  }
}

TEST(Server, SlowAndVanishingClientsHurtNoOthers) {
  std::atomic<std::chrono::steady_clock::time_point> now = std::chrono::steady_clock::now();
  Gate gate;
  Agent agent(
      [&](const cni::Request& request) {
        if (request.container_id == "slow") gate.pass();
        return Reply{.result = std::string(2 << 20, 'y')};
      },
      {.workers = 2, .request_time = milliseconds(200), .now = [&] { return now.load(); }});
  const std::string whole = frame("ADD");
  std::vector<std::unique_ptr<Client>> half;
  for (int i = 0; i < 50; ++i) {
    half.push_back(std::make_unique<Client>(agent.path()));
    half.back()->send(whole.substr(0, whole.size() / 2));
  }
  auto deaf = std::make_unique<Client>(agent.path());  // never takes its answer
  deaf->send(whole);
  {
    Client vanishing(agent.path());
    vanishing.send(frame("ADD", "slow"));
    gate.await_waiting(1);
  }
  // Each of another container: those of one are begun one after another.
  for (int i = 0; i < 5; ++i) {
    Client good(agent.path());
    good.send(frame("ADD", fmt::format("good{}", i)));
    EXPECT_EQ(good.answer().output.size(), 2U << 20);
  }
  deaf->await_answer();
  now = now.load() + milliseconds(200);
  wake(agent);
  EXPECT_NE(half[0]->answer().output.find("did not arrive in time"), std::string::npos);
  EXPECT_LT(deaf->read_all().size(), 2U << 20);
  gate.open();
  agent.stop();
  agent.join();
}

TEST(Server, RefusesOneTooMany) {
  Gate gate;
  Agent agent(
      [&](const cni::Request& request) {
        gate.pass();
        return echo(request);
      },
      {.workers = 2, .most_connections = 2});
  Client first(agent.path());
  Client second(agent.path());
  first.send(frame("ADD", "a"));
  second.send(frame("ADD", "b"));
  gate.await_waiting(2);
  Client third(agent.path());
  third.send(frame("ADD", "c"));
  const auto refused = third.answer();
  EXPECT_NE(refused.output.find("\"code\": 11"), std::string::npos) << refused.output;
  gate.open();
  EXPECT_EQ(first.answer().output, "a:{}");
  EXPECT_EQ(second.answer().output, "b:{}");
}

// A client that waits for a plugin that asks in turn holds a connection: counted together, a full house could not empty
// itself.
TEST(Server, CountsWhatExecutedPluginsAskApart) {
  Gate gate;
  std::mutex mutex;
  std::vector<std::string> troubles;
  Agent agent(
      [&](const cni::Request& request) {
        if (request.executed_by.empty()) gate.pass();
        return echo(request);
      },
      {.workers = 8, .most_connections = 2, .trouble = [&](Trouble what, const std::string& story) {
         std::lock_guard lock(mutex);
         troubles.push_back(fmt::format("{}: {}", trouble_name(what), story));
       }});
  Client first(agent.path());
  Client second(agent.path());
  first.send(frame("ADD", "a"));
  second.send(frame("ADD", "b"));
  gate.await_waiting(2);
  Client nested(agent.path());
  nested.send(cni::to_frame(cni::WireRequest{
      "host-local",
      {"CNI_COMMAND=ADD", "CNI_CONTAINERID=a", "CNI_NETNS=/n", "CNI_IFNAME=e", "CNI_PATH=/p", "CNI_RAILBED_AGENT=1-2"},
      "nested"}));
  EXPECT_EQ(nested.answer().output, "a:nested");
  Client third(agent.path());
  third.send(frame("ADD", "c"));
  EXPECT_NE(third.answer().output.find("2 requests are already in progress"), std::string::npos);
  {
    std::lock_guard lock(mutex);
    EXPECT_EQ(troubles, (std::vector<std::string>{"connections: 2 requests are already in progress"}));
  }
  gate.open();
  EXPECT_EQ(first.answer().output, "a:{}");
  EXPECT_EQ(second.answer().output, "b:{}");
  Client fourth(agent.path());
  fourth.send(frame("ADD", "d"));
  EXPECT_EQ(fourth.answer().output, "d:{}");
}

TEST(Server, ReportsWhileEverythingIsFull) {
  Gate gate;
  Agent agent(
      [&](const cni::Request& request) {
        gate.pass();
        return echo(request);
      },
      {.workers = 1, .most_connections = 1, .report = [] { return std::string("how it is"); }});
  Client first(agent.path());
  first.send(frame("ADD", "a"));
  gate.await_waiting(1);
  Client asks(agent.path());
  asks.send(cni::to_frame(cni::WireRequest{std::string(cni::kAgentReport), {}, ""}));
  EXPECT_EQ(asks.answer(), (cni::WireAnswer{0, "how it is"}));
  gate.open();
  EXPECT_EQ(first.answer().output, "a:{}");
}

TEST(Server, ThrownExhaustionHasItsOwnCode) {
  Agent agent([](const cni::Request& request) -> Reply {
    if (request.container_id == "memory") throw std::bad_alloc();
    if (request.container_id == "thread")
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    throw std::runtime_error("a defect");
  });
  for (const auto& [container, code] : {std::pair("memory", 105), std::pair("thread", 105), std::pair("other", 104)}) {
    Client client(agent.path());
    client.send(frame("ADD", container));
    EXPECT_EQ(cni::code_of(cni::read_error(client.answer().output).value_or(Error{})), code) << container;
  }
}

TEST(Server, RefusesWhatIsTooLargeTogether) {
  Agent agent(echo, {.most_bytes = 200'000});
  const std::string large = frame("ADD", "c", std::string(150'000, 'z'));
  Client holds(agent.path());
  holds.send(large.substr(0, 120'000));
  Client second(agent.path());
  second.send(large);
  const auto one = second.answer();
  Client small(agent.path());
  small.send(frame("ADD"));
  EXPECT_EQ(small.answer().status, 0);
  EXPECT_NE(one.output.find("too many large requests"), std::string::npos) << one.output.substr(0, 200);
}

// Why pods start slowly is reported where no thread can be started to serve them; one thread does it all meanwhile.
TEST(Server, ReportsThatItGetsNoThreadsAndServesAnyway) {
  // In a process of its own: threads that tests before this one have left must not be there when it forks.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Gate reported;
        std::string story;
        ServerOptions options;
        options.trouble = [&](Trouble what, const std::string& text) {
          if (what != Trouble::kThreads || !story.empty()) return;
          story = text;
          reported.open();
        };
        {
          // One thread is there from the beginning; where it is stuck, others are wanted.
          const auto stuck = [&](const cni::Request& request) {
            reported.pass();
            return echo(request);
          };
          Agent agent(stuck, std::move(options));
          std::vector<std::unique_ptr<Client>> clients;  // they connect as who they were
          for (int i = 0; i < 3; ++i) clients.push_back(std::make_unique<Client>(agent.path()));
          const std::string folder = std::filesystem::path(agent.path()).parent_path();
          const rlimit none = {};
          if (getuid() == 0 && (chown(folder.c_str(), 65534, 65534) != 0 || setuid(65534) != 0)) std::_Exit(3);
          if (setrlimit(RLIMIT_NPROC, &none) != 0) std::_Exit(3);
          for (size_t i = 0; i < clients.size(); ++i) clients[i]->send(frame("ADD", fmt::format("c{}", i)));
          for (auto& client : clients)
            if (client->answer().status != 0) std::_Exit(4);
        }
        std::_Exit(story.starts_with("starting a thread failed: ") ? 42 : 5);
      },
      testing::ExitedWithCode(42), "");
}

TEST(Server, NestedRequestsWaitForNoOne) {
  // Fifty pods whose plugin asks this agent for an address, as bridge does with host-local.
  std::string path;
  Agent agent([&](const cni::Request& request) {
    if (request.type == "host-local") return Reply{.result = "an address"};
    Client nested(path);
    nested.send(frame("ADD", request.container_id, "{}", "host-local"));
    return Reply{.result = nested.answer().output};
  });
  path = agent.path();
  std::vector<std::unique_ptr<Client>> pods;
  for (int i = 0; i < 50; ++i) {
    pods.push_back(std::make_unique<Client>(path));
    pods.back()->send(frame("ADD", fmt::format("c{}", i)));
  }
  for (auto& pod : pods) EXPECT_EQ(pod->answer().output, "an address");
}

TEST(Server, OneThatHangsCostsItsOwnContainerOnly) {
  Gate gate;
  Agent agent([&](const cni::Request& request) {
    if (request.container_id.starts_with("slow")) gate.pass();
    return echo(request);
  });
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 40; ++i) {
    slow.push_back(std::make_unique<Client>(agent.path()));
    slow.back()->send(frame("ADD", fmt::format("slow{}", i)));
  }
  gate.await_waiting(40);
  Client good(agent.path());
  good.send(frame("ADD", "good"));
  EXPECT_EQ(good.answer().output, "good:{}");
  gate.open();
  for (auto& one : slow) EXPECT_EQ(one->answer().status, 0);
}

// A clean-up below /run takes the socket from all clients: it is there again at the next look.
TEST(Server, ListensAgainWhereItsSocketWasRemoved) {
  std::atomic<std::chrono::steady_clock::time_point> now = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::vector<std::string> troubles;
  Agent agent(echo, {.trouble =
                         [&](Trouble what, const std::string& story) {
                           std::lock_guard lock(mutex);
                           troubles.push_back(fmt::format("{}: {}", trouble_name(what), story));
                         },
                     .now = [&] { return now.load(); }});
  // It looks after it has answered.
  const auto await_troubles = [&](size_t count) {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
         std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      std::lock_guard lock(mutex);
      if (troubles.size() >= count) return;
    }
    ADD_FAILURE() << "no trouble number " << count;
  };
  const std::string folder = std::filesystem::path(agent.path()).parent_path();
  size_t times = 0;
  // The whole folder, or the socket without its lock.
  for (const std::string& gone : {folder, agent.path()}) {
    Client before(agent.path());
    Client wakes(agent.path());
    std::filesystem::remove_all(gone);
    now = now.load() + kLookForSocket;
    wakes.send("x");  // the server's thread sleeps by the real clock
    wakes.answer();
    await_troubles(++times);
    Client after(agent.path());
    after.send(frame("ADD", "a"));
    EXPECT_EQ(after.answer().output, "a:{}");
    before.send(frame("ADD", "b"));
    EXPECT_EQ(before.answer().output, "b:{}") << "those that are connected stay so: " << gone;
  }
  std::lock_guard lock(mutex);
  const std::string reported = fmt::format("socket: {} was removed; listening on it again", agent.path());
  EXPECT_EQ(troubles, (std::vector<std::string>{reported, reported}));
}

TEST(Server, AnswersStatusWhileAllWorkersWait) {
  Gate gate;
  Agent agent(
      [&](const cni::Request& request) {
        if (request.command == cni::Command::kAdd) gate.pass();
        return Reply{.result = "ready"};
      },
      {.workers = 1});
  Client add(agent.path());
  add.send(frame("ADD"));
  gate.await_waiting(1);
  Client status(agent.path());
  status.send(frame("STATUS"));
  EXPECT_EQ(status.answer().output, "ready");
  gate.open();
  EXPECT_EQ(add.answer().output, "ready");
}

TEST(Server, AHundredNetworksWhoseStatusHangsCostOthersNothing) {
  Gate gate;
  Agent agent([&](const cni::Request& request) {
    if (request.config.find("hung") != std::string::npos) gate.pass();
    return Reply{.result = "ready"};
  });
  std::vector<std::unique_ptr<Client>> hung;
  for (int i = 0; i < 100; ++i) {
    hung.push_back(std::make_unique<Client>(agent.path()));
    hung.back()->send(frame("STATUS", "", fmt::format(R"({{"name": "hung{}"}})", i)));
  }
  gate.await_waiting(100);
  Client other(agent.path());
  other.send(frame("STATUS", "", R"({"name": "other"})"));
  EXPECT_EQ(other.answer().output, "ready");
  Client pod(agent.path());
  pod.send(frame("ADD", "pod", R"({"name": "other"})"));
  EXPECT_EQ(pod.answer().output, "ready");
  gate.open();
  for (auto& one : hung) EXPECT_EQ(one->answer().output, "ready");
}

TEST(Server, AnswersWithOurFaultWhenTheHandlerThrows) {
  Agent agent([](const cni::Request&) -> Reply { throw std::runtime_error("a defect"); });
  Client client(agent.path());
  client.send(frame("ADD"));
  const auto answer = client.answer();
  EXPECT_EQ(answer.status, 1);
  EXPECT_NE(answer.output.find("a defect"), std::string::npos);
  EXPECT_NE(answer.output.find("104"), std::string::npos);
}

TEST(Server, AnswersNoOtherUser) {
  Agent agent(echo, {.uid = getuid() + 1});
  Client client(agent.path());
  EXPECT_NE(client.answer().output.find("the agent serves user"), std::string::npos);
}

TEST(UnixListener, ReplacesADeadSocketButNotALivingOne) {
  SocketFolder folder;
  const std::string path = folder / "deep/agent.sock";
  {
    auto first = os::UnixListener::open(path);
    ASSERT_TRUE(first.has_value()) << first.error().to_string();
    auto second = os::UnixListener::open(path);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, Code::kBusy);
    const auto mode = [](const std::string& name) {
      struct stat there{};
      return stat(name.c_str(), &there) == 0 ? there.st_mode & 07777U : 0U;
    };
    EXPECT_EQ(mode(path), 0600U);
    EXPECT_EQ(mode(path + ".lock"), 0600U) << "an ordinary user who locked it would keep the agent from starting";
    EXPECT_EQ(mode(folder / "deep"), 0700U);
    // The state that a killed process leaves: the file exists, and no process listens.
    std::filesystem::rename(path, path + ".kept");
  }
  std::filesystem::rename(path + ".kept", path);
  EXPECT_FALSE(os::Connection::connect(path).has_value());
  EXPECT_TRUE(os::UnixListener::open(path).has_value());
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::create_directory(path);
  EXPECT_EQ(os::UnixListener::open(path).error().code, Code::kConflict);
  EXPECT_EQ(os::UnixListener::open(folder / std::string(120, 'x').c_str()).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace railbed::agent
