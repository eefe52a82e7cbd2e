// SPDX-License-Identifier: Apache-2.0
#include "controller/pool_entries.h"

#include <gtest/gtest.h>

#include "api/ip_pool.h"
#include "controller/test_cells.h"
#include "controller/test_rights.h"
#include "ipam/pools.h"
#include "kube/fake/clock.h"
#include "kube/fake/roles.h"
#include "kube/kinds.h"

namespace railbed::controller {
namespace {

using namespace testing;

constexpr const char* kPools = "/apis/whereabouts.cni.cncf.io/v1alpha1/namespaces/kube-system/ippools/";
constexpr const char* kPool = "10.0.0.0-24";

struct PoolEntries : ::testing::Test {
  kube::fake::ApiServer server;
  kube::fake::FakeClock clock;
  kube::Client client{server, clock, {.retry = {.tries = 1}}};
  bool leads = true;

  void TearDown() override { EXPECT_EQ(kube::fake::beyond(operator_rights(), server.requests(), "op"), ""); }
  static std::string entry(int last, const std::string& machine) {
    return fmt::format(R"("{}": {{"id": "railbed.dev/{}/10.0.0.{}", "podref": ""}})", last, machine, last);
  }
  void put_pool(const std::string& allocations, const std::string& name = kPool, const char* range = "10.0.0.0/24") {
    server.put(kPools + name, json(fmt::format(R"({{"apiVersion": "whereabouts.cni.cncf.io/v1alpha1", "kind": "IPPool",
                                     "metadata": {{"name": "{}", "namespace": "kube-system"}},
                                     "spec": {{"range": "{}", "allocations": {{{}}}}}}})",
                                               name, range, allocations)));
  }
  api::IpPool pool(const std::string& name = kPool) {
    return api::read_ip_pool(server.objects().at(kPools + name)).value();
  }
  // "1 u1, 3 ai/llm-0": who has what.
  std::string shown(const std::string& name = kPool) {
    std::string out;
    for (const auto& [place, one] : pool(name).allocations) {
      const std::string id = one.id.substr(one.id.find('/') + 1);
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", place,
                         ipam::is_ours(one) ? id.substr(0, id.rfind('/')) : one.pod_ref);
    }
    return out;
  }
  // How many are gone, or why not.
  std::string look() {
    const auto gone = take_stale_pool_entries({client, client, [this] { return leads; }}, {});
    return gone.has_value() ? fmt::format("{}", *gone) : gone.error().to_string();
  }
  size_t writes() const {
    size_t out = 0;
    for (const std::string& one : server.requests()) out += one.starts_with("PUT");
    return out;
  }
};

TEST_F(PoolEntries, AreNoneWithoutWhereabouts) {
  EXPECT_EQ(look(), "0");
}

TEST_F(PoolEntries, OfAddressesThatNoOneHasLeasedGo) {
  put(server, cell("10.0.0.0", {lease("n1", "u1", 0x0002), lease("n2", "u2", 0x0010)}));
  put_pool(entry(1, "u1") + "," + entry(2, "u1") + R"(, "3": {"id": "c", "podref": "ai/llm-0"}, )" + entry(4, "u1") +
           "," + entry(40, "u3"));
  put_pool(entry(1, "u1"), "rail-10.0.0.0-24");
  put_pool(R"("3": {"id": "c", "podref": "ai/llm-0"})", "10.1.0.0-24", "10.1.0.0/24");
  EXPECT_EQ(look(), "3");
  EXPECT_EQ(shown(), "1 n1/u1, 3 ai/llm-0, 4 n2/u2") << "n2 has leased .4 since";
  EXPECT_EQ(shown("rail-10.0.0.0-24"), "") << "of another network_name nothing is leased";
  const size_t before = writes();
  EXPECT_EQ(look(), "0");
  EXPECT_EQ(writes(), before);
}

TEST_F(PoolEntries, OfACellThatCannotBeReadStay) {
  auto object = api::to_value(cell("10.0.0.0", {lease("n1", "u1")}));
  object.find("spec")->set("leases", "?");
  server.put(cell_path(cell("10.0.0.0", {})), object);
  put_pool(entry(1, "u1"));
  EXPECT_EQ(look(), "0");
  EXPECT_EQ(shown(), "1 u1");
}

TEST_F(PoolEntries, AreNotLookedThroughWithoutTheRight) {
  put_pool(entry(1, "u1"));
  server.before = [](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.target.find("/ippools") == std::string::npos) return std::nullopt;
    return kube::refused(request.to_string(), 403, R"({"kind": "Status", "message": "ippools is forbidden"})");
  };
  EXPECT_EQ(look(), "0") << "the pools are not shared here";
}

TEST_F(PoolEntries, StayWhereTheLeasesAreNotKnown) {
  put_pool(entry(1, "u1"));
  server.before = [](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.target.find("/addresscells") == std::string::npos) return std::nullopt;
    return kube::refused(request.to_string(), 404, R"({"kind": "Status", "message": "no such kind"})");
  };
  EXPECT_NE(look().find("AddressCells: "), std::string::npos) << look();
  EXPECT_EQ(shown(), "1 u1");
}

TEST_F(PoolEntries, StayWhereAnotherOperatorLeads) {
  put_pool(entry(1, "u1"));
  leads = false;
  EXPECT_EQ(look(), "0");
  EXPECT_EQ(writes(), 0U);
}

TEST_F(PoolEntries, AreFinishedAfterALostAnswer) {
  put_pool(entry(1, "u1"));
  server.lose_answer = [](const kube::Request& request) { return request.method == kube::Method::kPut; };
  EXPECT_NE(look(), "0");
  EXPECT_EQ(shown(), "1 ended");
  server.lose_answer = nullptr;
  EXPECT_EQ(look(), "1");
  EXPECT_EQ(shown(), "");
}

// A machine leases the address just before each request of a look in turn: as an agent does it, the lease first, and
// then its entry, by what the pool says then.
TEST_F(PoolEntries, OfAMachineThatComesBackMeanwhileStay) {
  for (const char* machine : {"u1", "u2"}) {
    for (size_t moment = 0; moment < 8; ++moment) {
      server.erase(cell_path(cell("10.0.0.0", {})));
      put_pool(entry(1, "u1") + "," + entry(2, "u1"));
      size_t asked = 0;
      server.before = [&](const kube::Request&) -> std::optional<kube::ApiError> {
        if (asked++ != moment) return std::nullopt;
        put(server, cell("10.0.0.0", {lease("n1", machine, 0x0002)}));
        auto object = server.objects().at(kPools + std::string(kPool));
        const auto change =
            ipam::reserve_in(pool(), {IpAddress::parse("10.0.0.0").value(), 0x0002}, {"n1", machine, ""}).value();
        if (!change.empty()) {
          api::apply_change(object, change);
          server.put(kPools + std::string(kPool), object);
        }
        return std::nullopt;
      };
      (void)look();
      server.before = nullptr;
      if (asked <= moment) break;
      EXPECT_TRUE(pool().allocations.contains(1)) << machine << " at request " << moment << ": " << shown();
      (void)look();
      EXPECT_TRUE(pool().allocations.contains(1)) << machine << " at request " << moment << ": " << shown();
      EXPECT_FALSE(pool().allocations.contains(2)) << machine << " at request " << moment << ": " << shown();
    }
  }
}

}  // namespace
}  // namespace railbed::controller
