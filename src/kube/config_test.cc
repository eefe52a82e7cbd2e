// SPDX-License-Identifier: Apache-2.0
#include "kube/config.h"

#include <gtest/gtest.h>

#include "kube/credentials.h"
#include "kube/fake/clock.h"

namespace railbed::kube {
namespace {

constexpr const char* kConfig = R"(apiVersion: v1
kind: Config
current-context: prod
contexts:
  - name: prod
    context: {cluster: c1, user: u1, namespace: ai}
  - name: other
    context: {cluster: c2, user: u2}
clusters:
  - name: c1
    cluster:
      server: https://10.0.0.1:6443/
      certificate-authority: pki/ca.crt
      tls-server-name: kubernetes
  - name: c2
    cluster: {server: "https://h/k8s", certificate-authority-data: Q0E=}
users:
  - name: u1
    user: {client-certificate: /pki/u1.crt, client-key-data: S0VZ}
  - name: u2
    user: {token: abc, tokenFile: t}
)";

TEST(Kubeconfig, IsReadByItsContexts) {
  const auto prod = read_kubeconfig("/etc/k/config", kConfig, {});
  ASSERT_TRUE(prod) << prod.error().to_string();
  EXPECT_EQ(*prod, (ClusterAccess{.server = "https://10.0.0.1:6443",
                                  .tls_server_name = "kubernetes",
                                  .ca = {.file = "/etc/k/pki/ca.crt"},
                                  .client_certificate = {.file = "/pki/u1.crt"},
                                  .client_key = {.data = "KEY"},
                                  .ns = "ai"}));
  const auto other = read_kubeconfig("config", kConfig, {.context = "other"});
  ASSERT_TRUE(other) << other.error().to_string();
  EXPECT_EQ(*other, (ClusterAccess{.server = "https://h/k8s", .ca = {.data = "CA"}, .token = {.data = "abc"}}));
}

// The configuration with one piece of it replaced.
std::string with(std::string_view from, std::string_view to) {
  std::string text = kConfig;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Kubeconfig, RefusesWithPlaceAndReason) {
  const struct {
    std::string text;
    std::string message;
  } cases[] = {
      {"", "k is not a kubeconfig: it has 0 documents"},
      {"a: [", "k:1:5: expected ',' or ']' in what '[' opened"},
      {"- a", "k:1:1: the document must be an object (keys with values), found a list"},
      {"kind: Config", "k has no current-context"},
      {with("current-context: prod", "current-context: nope"), "k has no context \"nope\""},
      {with("cluster: c1,", "cluster: c9,"), "k has no cluster \"c9\", which context \"prod\" names"},
      {with("user: u1,", "user: u9,"), "k has no user \"u9\", which context \"prod\" names"},
      {with("https://10.0.0.1:6443/", "10.0.0.1"),
       "k:12:15: clusters[0].cluster.server: must be a URL as \"https://10.0.0.1:6443\""},
      {with("https://10.0.0.1:6443/", "http://10.0.0.1"),
       "k: http://10.0.0.1 is not encrypted and would expose this user's credentials"},
      {with("tls-server-name: kubernetes", "insecure-skip-tls-verify: true"),
       "k:14:33: clusters[0].cluster.insecure-skip-tls-verify: allows any server to impersonate the API server and is "
       "not supported"},
      {with("S0VZ", "S0V"), "k:19:62: users[0].user.client-key-data: is not base64: its length is not a multiple of 4"},
      {with("S0VZ", "S0*Z"), "k:19:62: users[0].user.client-key-data: is not base64: it has an invalid character"},
      {with(", client-key-data: S0VZ", ""),
       "k:19:32: users[0].user.client-certificate: requires both certificate and key"},
      {with("{client-certificate: /pki/u1.crt, client-key-data: S0VZ}", "{exec: {command: aws}}"),
       "k:19:18: users[0].user.exec: is a credential plugin, which railbed does not run. Use a client "
       "certificate, token or tokenFile"},
      {with("{client-certificate: /pki/u1.crt, client-key-data: S0VZ}", "{token: t, as: admin}"),
       "k:19:26: users[0].user.as: is not supported: it impersonates another user. Use credentials of that user"},
      {with("{client-certificate: /pki/u1.crt, client-key-data: S0VZ}", "{username: a}"),
       "k:19:22: users[0].user.username: is basic authentication, which Kubernetes 1.19 removed. Use a client certificate, "
       "token or tokenFile"},
  };
  for (const auto& each : cases) {
    const auto access = read_kubeconfig("k", each.text, {});
    ASSERT_FALSE(access) << each.message;
    EXPECT_EQ(access.error().message, each.message);
  }
}

TEST(Kubeconfig, OtherContextsMayHaveWhatIsNotSupported) {
  EXPECT_TRUE(read_kubeconfig("k", with("{token: abc, tokenFile: t}", "{exec: {command: aws}}"), {}));
}

TEST(Kubeconfig, InsecureIsAllowedWhereTheCallerSaysSo) {
  const auto access = read_kubeconfig("k", with("tls-server-name: kubernetes", "insecure-skip-tls-verify: true"),
                                      {.least_tls_check = TlsCheck::kNone});
  ASSERT_TRUE(access) << access.error().to_string();
  EXPECT_EQ(access->tls_check, TlsCheck::kNone);
}

TEST(Base64, IsStrict) {
  EXPECT_EQ(decode_base64("").value(), "");
  EXPECT_EQ(decode_base64("AP/+").value(), std::string("\0\xFF\xFE", 3));
  EXPECT_EQ(decode_base64("YQ==").value(), "a");
  EXPECT_EQ(decode_base64("YWI=").value(), "ab");
  for (const char* bad : {"Y", "YQ=", "====", "Y=Q=", "YQ==\n", "Y Q="}) EXPECT_FALSE(decode_base64(bad)) << bad;
}

// Files in memory.
struct Files {
  std::map<std::string, std::string> files;
  int reads = 0;
  ReadFile reader() {
    return [this](const std::string& path) -> Result<std::string> {
      ++reads;
      if (!files.contains(path)) return fail(Code::kNotFound, "read {}: ENOENT", path);
      return files[path];
    };
  }
};

TEST(InCluster, TakesThePodsServiceAccount) {
  Files pod{{{"/sa/ca.crt", "CA"}, {"/sa/token", "T"}, {"/sa/namespace", "ai"}}};
  const auto access = in_cluster({"fd00::1", "443", "/sa"}, pod.reader());
  ASSERT_TRUE(access) << access.error().to_string();
  EXPECT_EQ(*access, (ClusterAccess{.server = "https://[fd00::1]:443",
                                    .ca = {.file = "/sa/ca.crt"},
                                    .token = {.file = "/sa/token"},
                                    .ns = "ai"}));
  pod.files.erase("/sa/token");
  EXPECT_EQ(in_cluster({"10.0.0.1", "443", "/sa"}, pod.reader()).error().to_string(),
            "reading the pod's service account: read /sa/token: ENOENT\n  check automountServiceAccountToken");
  EXPECT_EQ(in_cluster({}, pod.reader()).error().message,
            "not running in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
}

TEST(Credentials, AreReadAgainBeforeTheyEnd) {
  Files pod{{{"/t", "one\n"}, {"/ca", "CA1"}}};
  fake::FakeClock clock;
  Credentials credentials({.ca = {.file = "/ca"}, .token = {.file = "/t"}}, pod.reader(), clock);
  EXPECT_EQ(credentials.now().value(), (Credentials::Now{.ca = "CA1", .token = "one"}));
  pod.files = {{"/t", "two"}, {"/ca", "CA2"}};
  EXPECT_EQ(credentials.now()->token, "one") << "not read for each request";
  EXPECT_EQ(pod.reads, 2);
  clock.advance(std::chrono::seconds(61));
  EXPECT_EQ(credentials.now().value(), (Credentials::Now{.ca = "CA2", .token = "two"}));

  pod.files.clear();  // being replaced, or not readable for a moment
  clock.advance(std::chrono::seconds(61));
  EXPECT_EQ(credentials.now()->token, "two");
}

TEST(Credentials, AreReadAtOnceAfterAServerRefusedThem) {
  Files pod{{{"/t", "one"}}};
  fake::FakeClock clock;
  Credentials credentials({.token = {.file = "/t"}}, pod.reader(), clock);
  const auto used = credentials.now().value();
  EXPECT_FALSE(credentials.renewed(used));
  pod.files["/t"] = "two";
  EXPECT_TRUE(credentials.renewed(used));
  EXPECT_EQ(credentials.now()->token, "two");
}

TEST(Credentials, RefuseWhatCannotBeSent) {
  Files pod{{{"/t", "one\r\nX-Remote-User: admin"}, {"/empty", " \n"}}};
  fake::FakeClock clock;
  EXPECT_EQ(Credentials({.token = {.file = "/t"}}, pod.reader(), clock).now().error().message,
            "the token in /t has more than one line");
  EXPECT_EQ(Credentials({.token = {.file = "/empty"}}, pod.reader(), clock).now().error().message, "/empty is empty");
  EXPECT_EQ(Credentials({.token = {.file = "/none"}}, pod.reader(), clock).now().error().message, "read /none: ENOENT");
}

}  // namespace
}  // namespace railbed::kube
