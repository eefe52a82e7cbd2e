// SPDX-License-Identifier: Apache-2.0
#include "api/address_cell.h"

#include <gtest/gtest.h>

#include "doc/json.h"
#include "doc/members.h"

namespace railbed::api {
namespace {

IpAddress ip(const char* text) {
  return *IpAddress::parse(text);
}

AddressCell cell() {
  return {.network_name = "rail0",
          .base = ip("10.0.0.16"),
          .leases = {{.holder = {"node1", "uuid-1", "boot-1"},
                      .claim = "boot-1.1",
                      .offsets = 0x8005,
                      .quiet_seconds = 43200},
                     {.holder = {"node2", "uuid-2", "boot-2"}, .offsets = 0x0100, .gone_seconds = 60}},
          .uid = "u",
          .resource_version = "7"};
}

TEST(AddressCell, IsReadAsItWasWritten) {
  const AddressCell read = read_address_cell(to_value(cell())).value();
  EXPECT_EQ(read, cell());
  AddressCell v6{.network_name = "", .base = ip("fd00::10"), .leases = {}, .uid = "", .resource_version = ""};
  EXPECT_EQ(read_address_cell(to_value(v6)).value(), v6);
}

TEST(AddressCell, KeepsWhatALaterVersionHasWritten) {
  doc::Value object = to_value(cell());
  doc::Value& spec = *object.find("spec");
  spec.set("scheme", "next");
  spec.find("leases")->as_array()->at(1).set("spare", int64_t{3});
  const AddressCell read = read_address_cell(object).value();
  EXPECT_EQ(doc::to_json(*to_value(read).find("spec")->find("scheme")), R"("next")");
  EXPECT_EQ(doc::to_json(to_value(read).find("spec")->find("leases")->as_array()->at(1)),
            R"({"node":"node2","systemUUID":"uuid-2","bootID":"boot-2","offsets":[8],"goneSeconds":60,"spare":3})");
  EXPECT_EQ(read_address_cell(to_value(read)).value(), read);
}

TEST(AddressCell, KeepsWhatOthersHaveWrittenAboutIt) {
  doc::Value object = to_value(cell());
  doc::Value& metadata = *object.find("metadata");
  metadata.find("labels")->set("holder.railbed.dev/0", "");  // of a lease that is not there any more
  metadata.find("labels")->set("team", "net");
  doc::Value annotations = doc::Value::object();
  annotations.set("note", "of mine");
  metadata.set("annotations", std::move(annotations));
  metadata.set("creationTimestamp", "2026-11-23T00:00:00Z");
  const doc::Value written = to_value(read_address_cell(object).value());
  EXPECT_EQ(doc::to_json(*written.find("metadata")->find("annotations")), R"({"note":"of mine"})");
  const doc::Value& labels = *written.find("metadata")->find("labels");
  EXPECT_EQ(doc::text_in(labels, "team"), "net");
  EXPECT_EQ(labels.find("holder.railbed.dev/0"), nullptr);
  EXPECT_EQ(labels.as_object()->size(), 4U);
  EXPECT_EQ(written.find("metadata")->find("creationTimestamp"), nullptr);
}

TEST(AddressCell, IsWrittenSoThatPeopleCanReadIt) {
  const doc::Value object = to_value(cell());
  EXPECT_EQ(*object.find("apiVersion"), doc::Value("railbed.dev/v1"));
  EXPECT_EQ(*object.find("kind"), doc::Value("AddressCell"));
  EXPECT_EQ(doc::to_json(*object.find("spec")),
            R"({"networkName":"rail0","base":"10.0.0.16","leases":[)"
            R"({"node":"node1","systemUUID":"uuid-1","bootID":"boot-1","claim":"boot-1.1","offsets":[0,2,15],)"
            R"("quietSeconds":43200},)"
            R"({"node":"node2","systemUUID":"uuid-2","bootID":"boot-2","offsets":[8],"goneSeconds":60}]})");
}

TEST(AddressCell, HasANameOfItsNetworkAndBaseAlone) {
  EXPECT_EQ(cell_name("rail0", ip("10.0.0.16")), "10-0-0-16-6ee00c11c35bcdcb");
  EXPECT_EQ(cell_name("", ip("10.0.0.16")), "10-0-0-16-cbf29ce484222325");
  EXPECT_EQ(cell_name("", ip("fd00::10")), "fd000000000000000000000000000010-cbf29ce484222325");
  const doc::Value object = to_value(cell());
  EXPECT_EQ(doc::text_in(*object.find("metadata"), "name"), "10-0-0-16-6ee00c11c35bcdcb");
}

TEST(AddressCell, IsFoundByItsNetworkAndByEachHolder) {
  const doc::Value object = to_value(cell());
  const doc::Value* labels = doc::object_in(*object.find("metadata"), "labels");
  ASSERT_NE(labels, nullptr);
  for (const std::string& key : {cell_network_label("rail0"), cell_holder_label("uuid-1"), cell_holder_label("uuid-2")})
    EXPECT_NE(labels->find(key), nullptr) << key;
  EXPECT_EQ(labels->as_object()->size(), 3u);
}

// Somebody wrote the second one who should not, or etcd is older than what nodes have.
TEST(AddressCell, GivesAnOffsetToTheFirstOfItsLeases) {
  AddressCell both = cell();
  both.leases[1].offsets = 0x0104;
  const doc::Value object = to_value(both);
  const AddressCell read = read_address_cell(object).value();
  EXPECT_EQ(read.leases[0].offsets, 0x8005);
  EXPECT_EQ(read.leases[0].overlapping, 0);
  EXPECT_EQ(read.leases[1].offsets, 0x0100);
  EXPECT_EQ(read.leases[1].overlapping, 0x0004);
  EXPECT_EQ(to_value(read), object) << "a write of somebody else does not change it";
  AddressCell released = read;
  released.leases.erase(released.leases.begin());
  give_offsets_to_the_first(released.leases);
  EXPECT_EQ(released.leases[0].offsets, 0x0104);
  EXPECT_EQ(released.leases[0].overlapping, 0);
}

TEST(AddressCell, SaysThatItIsBeingDeleted) {
  doc::Value object = to_value(cell());
  EXPECT_FALSE(is_being_deleted(read_address_cell(object).value()));
  object.find("metadata")->set("deletionTimestamp", "2026-11-23T00:00:00Z");
  EXPECT_TRUE(is_being_deleted(read_address_cell(object).value()));
}

struct Wrong {
  const char* object;
  const char* message;
};
constexpr Wrong kWrong[] = {
    {R"({"spec":{}})", "an AddressCell without metadata"},
    {R"({"metadata":{"name":"a"}})", "AddressCell a: spec is missing"},
    {R"({"metadata":{"name":"a"},"spec":{}})", "AddressCell a: spec.base is missing"},
    {R"({"metadata":{"name":"a"},"spec":{"base":"10.0.0.3"}})",
     "AddressCell a: spec.base 10.0.0.3 is not a multiple of 16"},
    {R"({"metadata":{"name":"a"},"spec":{"base":"10.0.0.16"}})",
     "AddressCell a: the cell of its network and base is called 10-0-0-16-cbf29ce484222325"},
    {R"({"metadata":{"name":"a"},"spec":{"base":"10.0.0.16","leases":[{"systemUUID":"u","bootID":"b","offsets":[]}]}})",
     "AddressCell a: spec.leases[0].node is missing"},
    {R"({"metadata":{"name":"a"},"spec":{"base":"10.0.0.16","leases":)"
     R"([{"node":"n","systemUUID":"u","bootID":"b","offsets":[16]}]}})",
     "AddressCell a: spec.leases[0].offsets[0] must be 0 to 15, found 16"},
};

TEST(AddressCell, SaysWhatIsWrong) {
  for (const Wrong& wrong : kWrong) {
    doc::Diagnostics found;
    const auto object = doc::parse_json(std::make_shared<const doc::Source>("", wrong.object), found);
    ASSERT_TRUE(object.has_value()) << wrong.object;
    const Result<AddressCell> read = read_address_cell(*object);
    ASSERT_FALSE(read.has_value()) << wrong.object;
    EXPECT_EQ(read.error().story(), wrong.message);
  }
}

}  // namespace
}  // namespace railbed::api
