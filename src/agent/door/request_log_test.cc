// SPDX-License-Identifier: Apache-2.0
#include "agent/door/request_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railbed::agent {
namespace {

cni::Request request_of(cni::Command command) {
  return {.command = command,
          .type = "railbed",
          .container_id = "c1",
          .ifname = "eth0",
          .args = {{"K8S_POD_NAMESPACE", "ai"}, {"K8S_POD_NAME", "vllm-0"}}};
}

std::vector<std::string> texts(const std::vector<log::Field>& fields) {
  std::vector<std::string> all;
  for (const log::Field& field : fields) all.push_back(fmt::format("{}={}", field.name, field.value));
  return all;
}

TEST(RequestLine, SaysWhoGotWhatAndHowLongItTook) {
  RequestStory story;
  story.has_network("ai/rail0");
  story.has_network("ai/rail1");
  story.has_network("ai/rail0");
  story.has_device("0000:3b:00.2");
  story.took(Phase::kWait, 0.0002);
  story.took(Phase::kExec, 0.003);
  story.took(Phase::kExec, 0.004);
  story.took(Phase::kTotal, 0.0121);
  const RequestLine line = request_line(request_of(cni::Command::kAdd), {.result = "{}"}, story);
  EXPECT_EQ(line.level, log::Level::kInfo);
  EXPECT_EQ(line.text,
            "ADD ai/vllm-0 container=c1 as railbed interface=eth0 networks=ai/rail0,ai/rail1 devices=0000:3b:00.2 in "
            "12.1 ms (wait 0.2, exec 7.0)");
  EXPECT_THAT(texts(line.fields),
              testing::ElementsAre("VERB=ADD", "TYPE=railbed", "POD=ai/vllm-0", "CONTAINER_ID=c1", "INTERFACE=eth0",
                                   "NETWORK=ai/rail0", "NETWORK=ai/rail1", "DEVICE=0000:3b:00.2", "CODE=0",
                                   "WAIT_MS=0.2", "EXEC_MS=7.0", "TOTAL_MS=12.1"));
}

TEST(RequestLine, SaysWhyItFailed) {
  const Reply reply{.result = cni::fail_with(cni::kExhausted, "no VF", "make more")};
  const RequestLine line = request_line(request_of(cni::Command::kCheck), reply, {});
  EXPECT_EQ(line.level, log::Level::kWarn);
  EXPECT_EQ(line.text,
            "CHECK ai/vllm-0 container=c1 as railbed interface=eth0 failed after 0.0 ms: code 102: no VF (make more)");
  EXPECT_THAT(texts(line.fields), testing::IsSupersetOf({"CODE=102", "ERROR=no VF"}));
  EXPECT_THAT(request_line(request_of(cni::Command::kAdd), {.result = fail(Code::kInternal, "no reason")}, {}).text,
              testing::EndsWith("code 104: no reason"));
}

TEST(RequestLine, NoClientWritesALineOfItsOwn) {
  cni::Request request = request_of(cni::Command::kAdd);
  request.args["K8S_POD_NAME"] = "a\nCODE=0";
  RequestStory story;
  story.has_network("evil\x1b[2J\n2026-01-01 info ADD");
  const Reply reply{.result = cni::fail_with(cni::kInternal, "two\nlines" + std::string(1 << 20, 'x'))};
  const RequestLine line = request_line(request, reply, story);
  EXPECT_EQ(line.level, log::Level::kError);
  EXPECT_EQ(line.text.find_first_of("\n\x1b"), std::string::npos) << line.text;
  EXPECT_LT(line.text.size(), 8192U);
  for (const log::Field& field : line.fields)
    EXPECT_EQ(field.value.find_first_of("\n\x1b"), std::string::npos) << field.name;
}

TEST(RequestLine, CutsALongErrorAndSaysSo) {
  const auto reported = [](size_t length) {
    const Reply reply{.result = cni::fail_with(cni::kIo, "begin" + std::string(length - 5, 'x'))};
    for (const log::Field& field : request_line(request_of(cni::Command::kAdd), reply, {}).fields)
      if (field.name == "ERROR") return field.value;
    return std::string();
  };
  EXPECT_EQ(reported(2000), "begin" + std::string(1995, 'x'));
  EXPECT_EQ(reported(2001), "begin" + std::string(1995, 'x') + " …");
}

TEST(RequestLine, IsAsLoudAsItMatters) {
  using cni::Command;
  const Reply good;
  const auto failed = [](int code) { return Reply{.result = cni::fail_with(code, "x")}; };
  cni::Request nested = request_of(Command::kAdd);
  nested.executed_by = "1-2";
  const std::tuple<cni::Request, Reply, log::Level> cases[] = {
      {request_of(Command::kDel), good, log::Level::kInfo},
      {request_of(Command::kCheck), good, log::Level::kDebug},
      {request_of(Command::kStatus), good, log::Level::kDebug},
      {request_of(Command::kStatus), failed(cni::kUnavailable), log::Level::kDebug},
      {nested, good, log::Level::kDebug},
      {nested, failed(cni::kTryAgainLater), log::Level::kWarn},
      {request_of(Command::kAdd), failed(cni::kIo), log::Level::kError},
      {request_of(Command::kAdd), failed(cni::kKernel), log::Level::kError},
      {request_of(Command::kAdd), failed(cni::kStarved), log::Level::kError},
      {request_of(Command::kGc), failed(cni::kTaken), log::Level::kWarn},
  };
  for (const auto& [request, reply, level] : cases)
    EXPECT_EQ(request_line(request, reply, {}).level, level) << request_line(request, reply, {}).text;
}

}  // namespace
}  // namespace railbed::agent
