// SPDX-License-Identifier: Apache-2.0
#include "cells/cell_api.h"

#include <gtest/gtest.h>

#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"

namespace railbed::cells {
namespace {

using api::AddressCell;

IpAddress ip(const std::string& text) {
  return IpAddress::parse(text).value();
}

struct CellApiTest : testing::Test {
  kube::fake::ApiServer server;
  kube::fake::FakeClock clock;
  kube::Client client{server, clock, {.retry = {.tries = 1}, .page = 2}};
  CellApi cells{client};

  static AddressCell cell(const std::string& base, api::CellOffsets offsets, const std::string& network = "") {
    AddressCell out = unleased(network, ip(base));
    if (offsets != 0)
      out.leases.push_back({.holder = {"n1", "u1", "b1"}, .claim = "c", .offsets = offsets, .quiet_seconds = 5});
    return out;
  }
  static std::string path(const AddressCell& one) {
    return "/apis/railbed.dev/v1/addresscells/" + api::cell_name(one.network_name, one.base);
  }
  void put(const AddressCell& one) { server.put(path(one), api::to_value(one)); }
  void put_unreadable(const std::string& base) {
    doc::Value object = api::to_value(cell(base, 1));
    object.find("spec")->set("base", "not an address");
    server.put(path(cell(base, 1)), std::move(object));
  }
  AddressCell stored(const std::string& base) { return cells.get("", ip(base), {}).value(); }

  // "done", "another was first", or the error; then the offsets that are leased.
  std::string store(const AddressCell& before, AddressCell next) {
    next.uid = before.uid;
    next.resource_version = before.resource_version;
    const auto is_done = [&](const AddressCell& now) { return now.leases == next.leases; };
    const auto written = cells.store(before, next, is_done, {});
    server.lose_answer = nullptr;
    server.before = nullptr;
    std::string out = !written ? written.error().message : written->done ? "done" : "another was first";
    const AddressCell now = stored(next.base.to_string());
    if (written) {
      EXPECT_EQ(written->now, now);
    }
    for (const api::CellLease& lease : now.leases) out += fmt::format(", {:04x}", lease.offsets);
    return out;
  }
};

TEST_F(CellApiTest, CreatesUpdatesAndDeletes) {
  EXPECT_EQ(store(stored("10.0.0.0"), cell("10.0.0.0", 0x1)), "done, 0001");
  EXPECT_EQ(store(stored("10.0.0.0"), cell("10.0.0.0", 0x3)), "done, 0003");
  EXPECT_EQ(store(stored("10.0.0.0"), cell("10.0.0.0", 0)), "done");
  EXPECT_TRUE(server.objects().empty());
  const size_t before = server.requests().size();
  EXPECT_EQ(store(stored("10.0.0.0"), cell("10.0.0.0", 0)), "done");
  EXPECT_EQ(server.requests().size(), before + 2) << "two reads of this test: there is nothing to write";
}

TEST_F(CellApiTest, AWriteWithoutAnAnswerIsLookedUp) {
  const auto losing = [&] {
    server.lose_answer = [](const kube::Request& request) { return request.method != kube::Method::kGet; };
  };
  for (const api::CellOffsets offsets : {0x1, 0x3, 0x0}) {
    const AddressCell before = stored("10.0.0.0");
    losing();
    EXPECT_EQ(store(before, cell("10.0.0.0", offsets)), offsets == 0 ? "done" : fmt::format("done, {:04x}", offsets));
  }
}

TEST_F(CellApiTest, AWriteThatMayComeLaterIsNoRefusal) {
  const AddressCell before = stored("10.0.0.0");
  server.before = [](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.method == kube::Method::kGet) return std::nullopt;
    return kube::unanswered(Code::kTimeout, kube::Delivery::kUnknown, "no answer came");
  };
  EXPECT_EQ(store(before, cell("10.0.0.0", 0x1)), "no answer came");
}

TEST_F(CellApiTest, ReportsThatAnotherWriterWasFirst) {
  const AddressCell before = stored("10.0.0.0");
  put(cell("10.0.0.0", 0x8));
  EXPECT_EQ(store(before, cell("10.0.0.0", 0x1)), "another was first, 0008") << "a create";
  const AddressCell read = stored("10.0.0.0");
  put(cell("10.0.0.0", 0x9));
  EXPECT_EQ(store(read, cell("10.0.0.0", 0x1)), "another was first, 0009") << "an update";
  EXPECT_EQ(store(read, cell("10.0.0.0", 0)), "another was first, 0009") << "a delete";
}

TEST_F(CellApiTest, WhatWasNotSentIsNotLookedUp) {
  const AddressCell before = stored("10.0.0.0");
  server.before = [](const kube::Request&) {
    return kube::unanswered(Code::kIo, kube::Delivery::kNotSent, "connection refused");
  };
  const size_t requests = server.requests().size();
  EXPECT_EQ(store(before, cell("10.0.0.0", 0x1)), "connection refused");
  EXPECT_EQ(server.requests().size(), requests + 1) << "the one of this test";
}

TEST_F(CellApiTest, AnObjectThatCannotBeReadIsNeverReleased) {
  put_unreadable("10.0.0.0");
  EXPECT_TRUE(is_unreadable(stored("10.0.0.0")));
  EXPECT_EQ(stored("10.0.0.0").leases.front().offsets, api::kWholeCell);
  EXPECT_FALSE(is_unreadable(stored("10.0.0.16")));
  EXPECT_EQ(stored("10.0.0.16"), unleased("", ip("10.0.0.16")));
  // One whose name belongs to another network.
  doc::Value object = api::to_value(cell("10.0.0.32", 1, "other"));
  object.find("metadata")->set("name", api::cell_name("", ip("10.0.0.32")));
  server.put(path(cell("10.0.0.32", 1)), std::move(object));
  EXPECT_TRUE(is_unreadable(stored("10.0.0.32")));
}

TEST_F(CellApiTest, ListsByMachineAndByNetwork) {
  put(cell("10.0.0.0", 1));
  put(cell("10.0.0.16", 1, "rail1"));
  AddressCell others = cell("10.0.0.32", 1);
  others.leases.front().holder.system_uuid = "u2";
  put(others);
  put_unreadable("10.0.0.48");
  EXPECT_EQ(cells.held_by("u1", {}).value().size(), 2U);
  EXPECT_EQ(cells.held_by("u2", {}).value().size(), 1U);
  EXPECT_EQ(cells.of_network("", {}).value().size(), 2U);
  EXPECT_EQ(cells.of_network("rail1", {}).value().size(), 1U);
  size_t readable = 0, all = 0;
  const auto count = [&](const doc::Value&, const Result<AddressCell>& one) {
    ++all;
    readable += one.has_value();
    return kube::Visit::kGoOn;
  };
  ASSERT_TRUE(cells.each("", count, {}).has_value());
  EXPECT_EQ(all, 4U);
  EXPECT_EQ(readable, 3U);
}

}  // namespace
}  // namespace railbed::cells
