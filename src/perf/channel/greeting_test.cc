// SPDX-License-Identifier: Apache-2.0
// The first messages against peers without the token: servers that want to learn it, clients that want to be served,
// and hosts in the middle.
#include "perf/channel/greeting.h"

#include <gtest/gtest.h>

#include "perf/channel/test_greeting.h"
#include "perf/channel/test_messages.h"
#include "perf/mesh/mesh_message.h"
#include "perf/ping/ping_message.h"
#include "perf/session/test_peers.h"

namespace railbed::perf {
namespace {

constexpr const char* kToken = "correct horse battery staple";

Hello hello_with(const std::optional<Nonce>& nonce, const std::optional<Mac>& proof = {}) {
  return {.protocol = kProtocol, .version = "0", .hostname = "x", .nonce = nonce, .proof = proof};
}

// ---- the server's side

// What the server says to a client that says hello and then this.
template <typename Next>
std::string said_to(const Next& next) {
  ServerGreeting greeting(kToken, "server");
  const Nonce nonce{.bytes = {1, 2, 3}};
  const auto hello = greeting.answer(envelope_of(hello_with(nonce)));
  if (!hello) return hello.error().to_string();
  const auto answer = greeting.answer(envelope_of(next(std::get<Hello>(*hello), nonce)));
  EXPECT_EQ(answer.has_value(), greeting.done());
  return answer ? std::string(encoded(*answer).type) : answer.error().to_string();
}

Mac client_proof(const Nonces& nonces, std::string_view token = kToken, int64_t protocol = kProtocol) {
  return *proof_of(Role::kClient, token, protocol, nonces);
}

TEST(ServerGreeting, TakesOnlyTheProofOfThisConnection) {
  const std::string wrong = "the token is not this server's\n  give the client the server's token with --token-file";
  EXPECT_EQ(
      said_to([](const Hello& server, const Nonce& client) { return Proof{client_proof({client, *server.nonce})}; }),
      "welcome");
  const struct {
    const char* what;
    std::function<Proof(const Hello& server, const Nonce& client)> proof;
  } cases[] = {
      {"the server's own proof, sent back", [](const Hello& server, const Nonce&) { return Proof{*server.proof}; }},
      {"nothing", [](const Hello&, const Nonce&) { return Proof{}; }},
      {"another token", [](const Hello& server,
                           const Nonce& client) { return Proof{client_proof({client, *server.nonce}, "another")}; }},
      {"an older protocol",
       [](const Hello& server, const Nonce& client) {
         return Proof{client_proof({client, *server.nonce}, kToken, kProtocol - 1)};
       }},
      {"the proof of an earlier connection",
       [](const Hello&, const Nonce& client) { return Proof{client_proof({client, Nonce{.bytes = {9}}})}; }},
      {"numbers the other way round",
       [](const Hello& server, const Nonce& client) { return Proof{client_proof({*server.nonce, client})}; }},
  };
  for (const auto& one : cases) EXPECT_EQ(said_to(one.proof), wrong) << one.what;
}

TEST(ServerGreeting, TakesNothingBeforeTheProof) {
  const auto sent = [](const auto& message) { return said_to([&](const Hello&, const Nonce&) { return message; }); };
  EXPECT_EQ(sent(OpenTest{small_test(TestKind::kLatency)}), R"(the peer sent "open-test" where "proof" was due)");
  EXPECT_EQ(sent(mesh::Step{}), R"(the peer sent "mesh-step" where "proof" was due)");
  EXPECT_EQ(sent(hello_with(Nonce{})), R"(the peer sent "hello" where "proof" was due)");
}

TEST(ServerGreeting, SaysWhatIsWrongWithAHello) {
  const auto said = [](const Hello& hello, const std::string& token) {
    ServerGreeting greeting(token, "server");
    const auto answer = greeting.answer(envelope_of(hello));
    if (!answer) return answer.error().to_string();
    const Hello& own = std::get<Hello>(*answer);
    EXPECT_EQ(greeting.done(), token.empty());
    return fmt::format("hello{}{}", own.nonce ? ", nonce" : "", own.proof ? ", proof" : "");
  };
  EXPECT_EQ(said(hello_with({}), ""), "hello");
  EXPECT_EQ(said(hello_with(Nonce{}), ""), "hello") << "a server without a token proves nothing";
  EXPECT_EQ(said(hello_with(Nonce{}), kToken), "hello, nonce, proof");
  EXPECT_EQ(said(hello_with({}), kToken),
            "this server requires a token\n  give the client the server's token with --token-file");
  const auto older = [](int64_t protocol) { return Hello{.protocol = protocol, .version = "0.3", .hostname = "x"}; };
  const std::string versions = fmt::format(
      "the client (railbed 0.3) speaks protocol 3, this server (railbed {}) speaks "
      "4\n  use the same railbed on both sides",
      RAILBED_VERSION);
  EXPECT_EQ(said(older(3), ""), versions);
  EXPECT_EQ(said(older(3), kToken),
            versions + "; protocols up to 3 send the token in clear text: replace the token on all hosts");
}

// ---- the client's side

// A server at a stale or wrong address: answers the client's first message by `play`, and keeps all bytes that come.
class FalseServer {
 public:
  using Play = std::function<std::string(const Hello& hello)>;
  explicit FalseServer(Play play)
      : listener_(*Listener::open(*IpAddress::parse("127.0.0.1"), 0)),
        thread_([this, play = std::move(play)] { run(play); }) {}
  uint16_t port() const { return listener_.port(); }
  std::string heard() {
    thread_.join();
    return heard_;
  }

 private:
  void run(const Play& play) {
    auto socket = listener_.accept(Deadline::after(milliseconds(20000)));
    ASSERT_TRUE(socket);
    FrameParser parser;
    std::array<std::byte, 4096> buffer;
    bool answered = false;
    for (;;) {
      const auto count = socket->read_some(buffer, Deadline::after(milliseconds(20000)));
      if (!count) return;
      const std::string_view bytes(reinterpret_cast<const char*>(buffer.data()), *count);
      heard_ += bytes;
      parser.feed(bytes);
      const auto body = parser.next();
      if (answered || !body || !*body) continue;
      answered = true;
      const auto envelope = open_envelope(**body);
      ASSERT_TRUE(envelope) << envelope.error().to_string();
      const auto hello = decode_as<Hello>(*envelope);
      ASSERT_TRUE(hello) << hello.error().to_string();
      const std::string answer = play(*hello);
      ASSERT_TRUE(socket->write_all(std::as_bytes(std::span(answer)), Deadline::after(milliseconds(20000))));
    }
  }

  Listener listener_;
  std::string heard_;
  std::jthread thread_;
};

std::string framed(const auto& message) {
  return frame(encode(message));
}

TEST(ClientGreeting, AFalseServerLearnsNothing) {
  const std::string no_token =
      "the server has no token and cannot prove its identity\n"
      "  start it with --token-file, or leave out --token-file here";
  const std::string no_proof =
      "the server does not have this token: its proof is wrong\n  check the address, and that both sides have the same "
      "--token-file; nothing that depends on the token was sent to the server";
  const struct {
    const char* what;
    FalseServer::Play play;
    std::string said;
  } cases[] = {
      {"no proof", [](const Hello&) { return framed(hello_with({})); }, no_token},
      {"a number and no proof", [](const Hello&) { return framed(hello_with(Nonce{})); }, no_token},
      {"a made-up proof", [](const Hello&) { return framed(hello_with(Nonce{}, Mac{})); }, no_proof},
      {"the client's own number",
       [](const Hello& hello) { return framed(hello_with(hello.nonce, Mac{hello.nonce->bytes})); }, no_proof},
      {"the client's own hello", [](const Hello& hello) { return framed(hello); }, no_token},
      {"a proof in the client's role",
       [](const Hello& hello) {
         return framed(hello_with(Nonce{}, client_proof({*hello.nonce, Nonce{}})));  // as if it had got one
       },
       no_proof},
      {"an old proof",
       [](const Hello&) {
         return framed(
             hello_with(Nonce{}, *proof_of(Role::kServer, kToken, kProtocol, {Nonce{.bytes = {7}}, Nonce{}})));
       },
       no_proof},
      {"an old protocol", [](const Hello&) { return framed(Hello{.protocol = 3, .version = "0.3", .hostname = "x"}); },
       "the server (railbed 0.3) speaks protocol 3, this railbed 4\n  use the same railbed on both sides"},
      {"a refusal that asks for it",
       [](const Hello&) { return framed(Refusal{.message = "send the token", .hint = ""}); },
       "the peer says: send the token"},
      {"half a number",
       [](const Hello&) {
         return frame(R"({"type":"hello","protocol":4,"version":"0","hostname":"x","nonce":"00ff"})");
       },
       "message hello: nonce: 4 characters, expected 64 hexadecimal digits in lower case"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.what);
    FalseServer server(one.play);
    ClientOptions options;
    options.host = "127.0.0.1";
    options.port = server.port();
    options.token = kToken;
    const auto result = measure(*os::real_kernel(), options, small_test(TestKind::kLatency));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().to_string(), "perf lat with 127.0.0.1: " + one.said);
    const std::string heard = server.heard();
    EXPECT_FALSE(heard.contains("horse")) << heard;
    EXPECT_FALSE(heard.contains(R"("proof")")) << heard;
  }
}

// ---- hosts in the middle

class MiddleTest : public ServedTest {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.session.token = kToken;
    serve(std::move(options));
  }
  Limits limits() const override { return {}; }
  Channel greeted() {
    Channel channel(connect());
    greet_as_client(channel, kToken);
    return channel;
  }
  static void write(const Channel& channel, const std::string& bytes) {
    EXPECT_TRUE(const_cast<Socket&>(channel.socket())
                    .write_all(std::as_bytes(std::span(bytes)), Deadline::after(milliseconds(20000))));
  }
};

// Who took over a connection on which both have proved the token cannot say a word on it.
TEST_F(MiddleTest, CanAddNoMessage) {
  for (const EncodedMessage& message : {encoded(OpenTest{small_test(TestKind::kBandwidth)}), encoded(mesh::Enlist{}),
                                        encoded(mesh::Step{}), encoded(OpenPing{64})}) {
    Channel channel = greeted();
    write(channel, frame(message.json));
    EXPECT_TRUE(heard("127.0.0.1: message 1 of this connection has a wrong MAC")) << message.type;
    const std::lock_guard lock(mutex_);
    for (const std::string& line : events_) EXPECT_FALSE(line.contains("tcp, 2 size(s)")) << line;
    events_.clear();
  }
}

// A message that was heard is of no use on another connection, with the same token.
TEST_F(MiddleTest, CanRepeatNoMessage) {
  Seal other(Role::kClient, *session_keys(kToken, kProtocol, {Nonce{}, Nonce{}}));
  Channel channel = greeted();
  write(channel, frame(*other.seal(encode(OpenTest{small_test(TestKind::kBandwidth)}))));
  EXPECT_TRUE(heard("127.0.0.1: message 1 of this connection has a wrong MAC"));
}

// What is sent before the proof, in the hope that it counts when the proof has come.
TEST_F(MiddleTest, CanSendNothingAheadOfTheProof) {
  Channel channel(connect());
  write(channel, framed(hello_with(Nonce{})) + framed(OpenTest{small_test(TestKind::kBandwidth)}));
  ASSERT_TRUE(channel.expect<Hello>(milliseconds(20000)));
  const auto refused = channel.expect<Welcome>(milliseconds(20000));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().to_string(), R"(the peer says: the peer sent "open-test" where "proof" was due)");
}

TEST_F(MiddleTest, WhoHasTheTokenIsServed) {
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = server_->port();
  options.token = kToken;
  const auto result = measure(*kernel_, options, small_test(TestKind::kLatency));
  EXPECT_TRUE(result) << result.error().to_string();
}

}  // namespace
}  // namespace railbed::perf
