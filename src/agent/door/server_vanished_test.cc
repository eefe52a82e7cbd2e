// SPDX-License-Identifier: Apache-2.0
// Clients of the agent's socket that disconnect or are late, and an agent that stops.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/door/test_server.h"

namespace railbed::agent {
namespace {

using namespace server_tests;
using std::chrono::milliseconds;

TEST(Server, BeginsNothingForAClientThatHasGone) {
  Gate gate;
  Book book;
  Agent agent([&](const cni::Request& request) {
    book.write(request);
    if (request.config == "wait") gate.pass();
    return echo(request);
  });
  Client first(agent.path());
  first.send(frame("CHECK", "c", "wait"));
  gate.await_waiting(1);
  std::vector<std::unique_ptr<Client>> later;
  for (const char* command : {"ADD", "DEL", "ADD", "CHECK"}) {
    later.push_back(std::make_unique<Client>(agent.path()));
    later.back()->send(frame(command, "c"));
    // They come in this order only when each was taken before the next one.
    Client asked(agent.path());
    asked.send(frame("VERSION"));
    asked.answer();
  }
  for (int gone : {0, 1, 2}) later[gone].reset();
  // The agent has seen their ends when it answers what came after them.
  Client asked(agent.path());
  asked.send(frame("VERSION"));
  asked.answer();
  gate.open();
  EXPECT_EQ(later[3]->answer().output, "c:{}");
  std::vector<std::string> begun = book.await(3);
  std::erase_if(begun, [](const std::string& line) { return line.starts_with("VERSION"); });
  EXPECT_THAT(begun, testing::ElementsAre("CHECK c", "DEL c", "CHECK c"));
}

TEST(Server, UndoesAnAddWhoseClientWentMeanwhileBeforeAnythingElse) {
  Gate gate;
  Book book;
  Agent agent([&](const cni::Request& request) {
    book.write(request);
    if (request.config == "wait" && request.command == cni::Command::kAdd) gate.pass();
    return request.config == "fails" ? Reply{.result = fail(Code::kInternal, "no")} : echo(request);
  });
  auto first = std::make_unique<Client>(agent.path());
  first->send(frame("ADD", "c", "wait"));
  gate.await_waiting(1);
  Client second(agent.path());
  second.send(frame("ADD", "c"));
  first.reset();
  {
    Client refused(agent.path());
    refused.send(frame("ADD", "d", "fails"));
    EXPECT_EQ(refused.answer().status, 1);
  }
  gate.open();
  EXPECT_EQ(second.answer().output, "c:{}");
  EXPECT_THAT(book.await(4), testing::ElementsAre("ADD c", "ADD d", "DEL c", "ADD c"));
}

TEST(Server, UndoesAnAddWhoseAnswerNoOneTakes) {
  std::atomic<std::chrono::steady_clock::time_point> now = std::chrono::steady_clock::now();
  Book book;
  Agent agent(
      [&](const cni::Request& request) {
        book.write(request);
        return Reply{.result = std::string(2 << 20, 'y')};
      },
      {.request_time = milliseconds(100), .now = [&] { return now.load(); }});
  Client deaf(agent.path());
  deaf.send(frame("ADD", "c"));
  deaf.await_answer();  // and takes no more than what the socket holds
  now = now.load() + milliseconds(100);
  wake(agent);
  EXPECT_THAT(book.await(2), testing::ElementsAre("ADD c", "DEL c"));
}

TEST(Server, CutsOffWhatIsNotDoneInTime) {
  Gate gate;
  SocketFolder folder;
  std::stop_source stop;
  const std::string path = folder / "agent.sock";
  auto listener = os::UnixListener::open(path);
  ASSERT_TRUE(listener.has_value());
  {
    Server server(std::move(*listener),
                  [&](const cni::Request& request) {
                    gate.pass();
                    return echo(request);
                  },
                  {.uid = getuid(), .time_to_end = milliseconds(50)});
    std::jthread thread([&] { EXPECT_EQ(server.run(stop.get_token()).value(), Server::End::kCutOff); });
    Client hanging(path);
    hanging.send(frame("ADD"));
    gate.await_waiting(1);
    stop.request_stop();
    thread.join();
    EXPECT_FALSE(os::Connection::connect(path).has_value());
    gate.open();
  }
}

TEST(Server, SendsWhatFailsBecauseItStopsToTheNextAgent) {
  Gate gate;
  Agent agent([&](const cni::Request&) {
    gate.pass();
    return Reply{.result = fail(Code::kInternal, "the plugin was ended")};
  });
  Client add(agent.path());
  Client del(agent.path());
  add.send(frame("ADD", "a"));
  del.send(frame("DEL", "b"));
  gate.await_waiting(2);
  agent.stop();
  while (os::Connection::connect(agent.path()).has_value()) std::this_thread::yield();
  gate.open();
  EXPECT_EQ(add.answer().status, cni::kAskAgain);
  EXPECT_EQ(del.read_all(), "");  // the shim journals it
  agent.join();
}

TEST(Server, FinishesWhatIsAtWorkWhenItStops) {
  Gate gate;
  Agent agent(
      [&](const cni::Request& request) {
        gate.pass();
        return echo(request);
      },
      {.workers = 1});
  Client at_work(agent.path());
  at_work.send(frame("ADD", "at-work"));
  gate.await_waiting(1);
  Client add(agent.path());
  Client del(agent.path());
  Client half(agent.path());
  add.send(frame("ADD", "at-work"));  // behind the other one of its container
  del.send(frame("DEL", "later"));    // behind the only worker
  half.send("RBC1");
  // STATUS has its own worker and waits at the same gate: once it waits there, the others are in the queue.
  Client status(agent.path());
  status.send(frame("STATUS"));
  gate.await_waiting(2);
  agent.stop();
  const cni::WireAnswer given_back = add.answer();
  EXPECT_EQ(given_back.status, cni::kAskAgain);
  EXPECT_NE(given_back.output.find("the agent is stopping"), std::string::npos);
  EXPECT_EQ(del.read_all(), "");  // the shim journals it
  EXPECT_EQ(half.read_all(), "");
  gate.open();
  EXPECT_EQ(at_work.answer().output, "at-work:{}");
  agent.join();
}

}  // namespace
}  // namespace railbed::agent
