// SPDX-License-Identifier: Apache-2.0
// HMAC-SHA256 by the vectors of RFC 4231, and the seal of messages against who changes, adds, repeats or reorders them.
#include "perf/channel/hmac.h"

#include <gtest/gtest.h>

#include "perf/channel/seal.h"

namespace railbed::perf {
namespace {

std::string mac_text(std::string_view key, std::string_view text) {
  const auto mac = hmac_sha256(key, text);
  return mac ? mac->to_string() : mac.error().to_string();
}

TEST(Hmac, GivesWhatTheStandardSays) {
  EXPECT_EQ(mac_text(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(mac_text("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(mac_text(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Hmac, ComparesWholeMacs) {
  const Mac mac = *hmac_sha256("key", "text");
  EXPECT_TRUE(*same_mac(mac, mac.view()));
  for (size_t i = 0; i < mac.bytes.size(); ++i) {
    Mac other = mac;
    other.bytes[i] ^= 1;
    EXPECT_FALSE(*same_mac(mac, other.view())) << i;
  }
  EXPECT_FALSE(*same_mac(mac, mac.view().substr(1)));
  EXPECT_FALSE(*same_mac(mac, ""));
}

TEST(Hmac, DrawsNoNumberTwice) {
  EXPECT_NE(*random_one<Nonce>(), *random_one<Nonce>());
}

TEST(Hmac, BytesComeBackAsTheyWere) {
  const Nonce nonce = *random_one<Nonce>();
  EXPECT_EQ(*Nonce::parse(nonce.to_string()), nonce);
}

// ---- seal

Nonces nonces(uint8_t client, uint8_t server) {
  return {.client = Nonce{.bytes = {client}}, .server = Nonce{.bytes = {server}}};
}
SessionKeys keys(std::string_view token = "token", uint8_t client = 1) {
  return *session_keys(token, 4, nonces(client, 2));
}

std::string opened(Seal& seal, std::string_view body) {
  const auto message = seal.open(body);
  return message ? *message : message.error().to_string();
}

std::string wrong(int number) {
  return fmt::format(
      "message {} of this connection has a wrong MAC\n"
      "  a device between the two sides changes, adds or replays messages",
      number);
}

TEST(Seal, MessagesComeInOrder) {
  Seal client(Role::kClient, keys());
  Seal server(Role::kServer, keys());
  for (const char* message : {"one", "two", ""}) {
    EXPECT_EQ(opened(server, *client.seal(message)), message);
    EXPECT_EQ(opened(client, *server.seal(message)), message);
  }
}

TEST(Seal, RefusesWhatThePeerDidNotSendNext) {
  Seal client(Role::kClient, keys());
  const std::string first = *client.seal("one");
  const std::string second = *client.seal("two");
  const auto after_first = [&](const std::string& body) {
    Seal server(Role::kServer, keys());
    EXPECT_EQ(opened(server, first), "one");
    return opened(server, body);
  };
  EXPECT_EQ(after_first(second), "two");
  EXPECT_EQ(after_first(first), wrong(2)) << "a replay";
  EXPECT_EQ(after_first("two"), wrong(2)) << "no MAC";
  EXPECT_EQ(after_first(""), wrong(2));
  EXPECT_EQ(after_first(second.substr(0, second.size() - 1)), wrong(2)) << "a MAC that is cut off";
  EXPECT_EQ(after_first("T" + second.substr(1)), wrong(2)) << "another text";
  EXPECT_EQ(after_first("x" + second), wrong(2)) << "a longer text";
  Seal ahead(Role::kServer, keys());
  EXPECT_EQ(opened(ahead, second), wrong(1)) << "one was left out";
  EXPECT_EQ(opened(client, first), wrong(1)) << "one's own message, sent back";
  for (const SessionKeys& others : {keys("another"), keys("token", 7)}) {
    Seal other(Role::kServer, others);
    EXPECT_EQ(opened(other, first), wrong(1)) << "of another token, or another connection";
  }
}

TEST(Handshake, ProofsDifferInAllTheyAreBoundTo) {
  const Mac good = *proof_of(Role::kServer, "token", 4, nonces(1, 2));
  EXPECT_EQ(*proof_of(Role::kServer, "token", 4, nonces(1, 2)), good);
  EXPECT_NE(*proof_of(Role::kClient, "token", 4, nonces(1, 2)), good);
  EXPECT_NE(*proof_of(Role::kServer, "tokem", 4, nonces(1, 2)), good);
  EXPECT_NE(*proof_of(Role::kServer, "token", 5, nonces(1, 2)), good);
  EXPECT_NE(*proof_of(Role::kServer, "token", 4, nonces(3, 2)), good);
  EXPECT_NE(*proof_of(Role::kServer, "token", 4, nonces(1, 3)), good);
  EXPECT_NE(*proof_of(Role::kServer, "token", 4, nonces(2, 1)), good);
  const SessionKeys both = keys();
  EXPECT_NE(both.client_to_server, both.server_to_client);
  EXPECT_NE(both.client_to_server, good);
}

}  // namespace
}  // namespace railbed::perf
