// SPDX-License-Identifier: Apache-2.0
// Every row of the table of CNI types: its file, its folder of cases, its page, its place in the lists of the
// documentation and in the harness against the original plugins; and its cases, attached on the fake kernel and looked
// at by check, which must say the same. A type without one of these fails here, by name.
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/cni_plugin.h"
#include "attach/test_networks.h"
#include "attach/types.h"
#include "base/testdata.h"
#include "os/fake/kernel.h"
#include "schema/cni_values.h"
#include "schema/schema.h"

namespace railbed::attach {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string source(const std::string& path) {
  return content(fs::path(source_dir()) / path);
}

os::FakeMachine machine() {
  os::FakeMachine machine;
  machine.pfs = {os::FakePf::mlx5({0, 1, 0, 0}, "eth0"), os::FakePf::mlx5({0, 2, 0, 0}, "ib0", true)};
  for (os::FakePf& pf : machine.pfs) {
    pf.num_vfs = 2;
    pf.refused.clear();
  }
  machine.other_links = {"eth9"};
  machine.rdma_mode = os::RdmaNetnsMode::kExclusive;
  return machine;
}

// A pod on that machine.
class Pod {
 public:
  Pod() : kernel(machine()) {
    EXPECT_EQ(message(kernel.netns().create("pod")), "");
    start = snapshot();
    kernel.clear_journal();
  }
  // The kernel renumbers RDMA devices when a VF's driver is bound.
  std::string snapshot() const {
    return std::regex_replace(kernel.snapshot(), std::regex("rdma mlx5_[0-9]+"), "rdma mlx5_N");
  }
  Result<PodReport> attach(const std::vector<doc::Value>& plugins) {
    InterfaceRequest one{.name = IfName{"net1"}, .network = "default/net1"};
    for (const doc::Value& plugin : plugins) one.config.plugins.push_back({text_in(plugin, "type"), plugin});
    return attach_with_addresses(kernel, *store, {.pod = "a/b", .netns_path = "/run/netns/pod", .interfaces = {one}},
                                 soon());
  }
  Result<DetachReport> detach() { return detach_pod(kernel, *store, "a/b", soon()); }
  os::Deadline soon() { return kernel.clock().now() + std::chrono::seconds(10); }

  os::FakeKernel kernel;
  std::unique_ptr<state::Store> store = state::memory_store();
  std::string start;

 private:
  static std::string text_in(const doc::Value& object, std::string_view key) {
    const doc::Value* found = object.find(key);
    return found != nullptr && found->is_string() ? *found->as_string() : "";
  }
};

// The sentences in which check finds errors in a configuration.
std::vector<std::string> check_says(const std::string& type, const doc::Value& config) {
  doc::Diagnostics out;
  schema::check_schema(config, *schema::find_plugin_schema(type), "", out);
  api::check_plugin({type, config}, "", out);
  std::vector<std::string> sentences;
  for (const doc::Diagnostic& one : out.all())
    if (one.severity != doc::Severity::kNote) sentences.push_back(one.message);
  return sentences;
}

class EveryType : public testing::TestWithParam<std::string> {
 protected:
  EveryType() : type(*find_plugin_type(GetParam())) {
    const std::string text = content(testdata() / "types" / GetParam() / "cases.json");
    if (text.empty()) return;
    cases = json(text);
    if (const doc::Value* before = cases.find("after"))
      for (const doc::Value& one : *before->as_array()) after.push_back(one);
  }
  void SetUp() override {
    ASSERT_TRUE(cases.is_object()) << "testdata/types/" << GetParam() << "/cases.json is missing";
    for (const char* part : {"good", "bad"})
      ASSERT_TRUE(cases.find(part) != nullptr && cases.find(part)->is_array()) << GetParam() << " has no list " << part;
    ASSERT_FALSE(good().empty()) << "testdata/types/" << GetParam() << "/cases.json has no good configuration";
  }
  std::vector<doc::Value> chain(const doc::Value& config) const {
    std::vector<doc::Value> plugins = after;
    plugins.push_back(config);
    return plugins;
  }
  const doc::Value::Array& good() const { return *cases.find("good")->as_array(); }

  const PluginType& type;
  doc::Value cases;
  std::vector<doc::Value> after;
};

// Each word of the table means something to the type's file.
TEST_P(EveryType, EachChoiceOfItsKeysIsRead) {
  for (const schema::CniKey& key : type.row.keys)
    for (const std::string_view word : key.choices) {
      doc::Value config = good().front();
      config.set(std::string(key.name), std::string(word));
      const api::Plugin plugin{GetParam(), config};
      const std::string network = "default/net1";
      InterfaceSpec spec;
      const Result<void> read = type.read(Keys(type.row, plugin, network),
                                          InterfaceRequest{.name = IfName{"net1"}, .network = network}, spec);
      EXPECT_TRUE(read.has_value() || read.error().code != Code::kInternal) << key.name << " " << word;
    }
}

class PlacesOfAType : public testing::TestWithParam<std::string> {
 protected:
  const PluginType& type = *find_plugin_type(GetParam());
};

TEST_P(PlacesOfAType, AreAllThere) {
  const std::string name(type.row.name);
  EXPECT_NE(source("docs/plugins/" + name + ".md"), "") << "docs/plugins/" << name << ".md is missing";
  const std::string row = fmt::format("\n| `{}`{} | {} | [{}]({}.md) |\n", name, type.chained() ? " (chained)" : "",
                                      type.row.does, name, name);
  for (const auto& [path, text] :
       {std::pair("docs/plugins/README.md", row), std::pair("tests/cni/harness/sides.py", "\"" + name + "\"")})
    EXPECT_NE(source(path).find(text), std::string::npos) << path << " does not list it: " << text;
}

TEST_P(PlacesOfAType, ThePageHasItsKeys) {
  const std::string page = source(fmt::format("docs/plugins/{}.md", GetParam()));
  for (const schema::CniKey& key : type.row.keys)
    EXPECT_THAT(page, HasSubstr(fmt::format("`{}`", key.name)))
        << "docs/plugins/" << GetParam() << ".md does not say what it does";
}

// Attached, looked at, attached again, detached: and all is as before. Check finds nothing.
TEST_P(EveryType, GoodConfigurationsAreAttachedAndGivenBack) {
  for (const doc::Value& config : good()) {
    const std::string text = doc::to_json(config);
    EXPECT_THAT(check_says(GetParam(), config), testing::IsEmpty()) << text;
    Pod pod;
    auto report = pod.attach(chain(config));
    ASSERT_EQ(message(report), "") << text;
    EXPECT_EQ(report->attached, 1) << text;
    EXPECT_EQ(message(check_interface(pod.kernel, *pod.store, "a/b", "net1", pod.soon())), "") << text;
    pod.kernel.clear_journal();
    auto again = pod.attach(chain(config));
    ASSERT_EQ(message(again), "") << text;
    EXPECT_EQ(again->kept, 1) << text;
    EXPECT_THAT(pod.kernel.journal(), testing::IsEmpty()) << text;
    EXPECT_EQ(to_json(again->interfaces.at(0)), to_json(report->interfaces.at(0))) << text;
    EXPECT_EQ(message(pod.detach()), "") << text;
    EXPECT_EQ(pod.snapshot(), pod.start) << text;
    EXPECT_TRUE(pod.store->attachments()->empty()) << text;
    EXPECT_TRUE(pod.store->all_leases()->empty()) << text;
  }
}

// Whatever call is the last one, or fails: nothing stays.
TEST_P(EveryType, AKillOrAFailureAnywhereLeavesNothing) {
  for (const doc::Value& config : good()) {
    Pod whole;
    ASSERT_EQ(message(whole.attach(chain(config))), "");
    const int calls = static_cast<int>(whole.kernel.journal().size());
    ASSERT_GT(calls, 0);
    for (int at = 0; at < calls; ++at) {
      Pod killed;
      killed.kernel.kill_after(at);
      EXPECT_FALSE(killed.attach(chain(config)).has_value());
      killed.kernel.restart();
      EXPECT_EQ(message(recover(killed.kernel, *killed.store, killed.soon())), "");
      EXPECT_EQ(killed.snapshot(), killed.start) << doc::to_json(config) << " killed after " << at;
      Pod failing;
      failing.kernel.fail_call(at + 1, EIO);
      if (failing.attach(chain(config)).has_value()) continue;
      EXPECT_EQ(failing.snapshot(), failing.start) << doc::to_json(config) << " call " << at + 1 << " fails";
    }
  }
}

TEST_P(EveryType, BadConfigurationsAreRefusedInTheWordsOfCheck) {
  for (const doc::Value& one : *cases.find("bad")->as_array()) {
    const std::string says = *one.find("says")->as_string();
    const doc::Value& config = *one.find("config");
    EXPECT_THAT(check_says(GetParam(), config), testing::Contains(says));
    Pod pod;
    auto report = pod.attach(chain(config));
    ASSERT_FALSE(report.has_value()) << says;
    EXPECT_EQ(report.error().code, Code::kInvalid);
    EXPECT_THAT(message(report),
                testing::EndsWith(fmt::format("network default/net1, plugin {}: {}", GetParam(), says)));
    EXPECT_THAT(pod.kernel.journal(), testing::IsEmpty()) << says;
  }
}

// Values that are wrong for a key, whatever it means.
std::vector<doc::Value> wrong_values(const schema::CniKey& key) {
  using enum schema::KeyType;
  std::vector<doc::Value> wrong = {doc::Value::object(), doc::Value::array(), 5, true, "no such thing", 0.5};
  if (key.type == kNumber) {
    wrong.emplace_back(int64_t{key.min} - 1);
    wrong.emplace_back(int64_t{key.max} + 1);
    if (key.reserved.first <= key.reserved.last) {
      wrong.emplace_back(key.reserved.first);
      wrong.emplace_back(key.reserved.last);
    }
  }
  return wrong;
}

// Whatever attaching refuses in a value, check finds, in the same words; and all numbers out of bounds are refused.
TEST_P(EveryType, WhatIsRefusedIsFoundByCheck) {
  int refused = 0;
  for (const schema::CniKey& key : type.row.keys) {
    if (key.type == schema::KeyType::kShape) continue;
    for (const doc::Value& value : wrong_values(key)) {
      doc::Value config = good().front();
      config.set(key.name, value);
      const std::string text = doc::to_json(config);
      auto report = Pod().attach(chain(config));
      const std::vector<std::string> found = check_says(GetParam(), json(text));
      const std::string problem = schema::key_problem(json(text), key);
      const bool out_of_bounds = key.type == schema::KeyType::kNumber && !problem.empty();
      EXPECT_FALSE(out_of_bounds && report.has_value()) << text;
      if (report.has_value() || problem.empty()) continue;
      ++refused;
      EXPECT_THAT(found, testing::Contains(problem)) << text;
    }
  }
  EXPECT_TRUE(refused > 0 || type.row.keys.empty() || GetParam() == "dummy");
}

// Whatever assigned them.
TEST(Dummy, IsOfNoUseWithoutAddresses) {
  Pod pod;
  InterfaceRequest one = wanted("net1", {R"({"type":"dummy","ipam":{"type":"host-local","subnet":"10.1.0.0/24"}})"});
  auto report = attach_pod(pod.kernel, *pod.store, {.pod = "a/b", .netns_path = "/run/netns/pod", .interfaces = {one}},
                           pod.soon());
  EXPECT_THAT(message(report), testing::EndsWith("network default/net1, plugin dummy: its ipam assigns no address"));
  EXPECT_THAT(pod.kernel.journal(), testing::IsEmpty());
}

std::vector<std::string> all_types() {
  return supported_types();
}
const auto kTestName = [](const testing::TestParamInfo<std::string>& one) {
  return std::regex_replace(one.param, std::regex("-"), "_");
};
INSTANTIATE_TEST_SUITE_P(OfTheTable, EveryType, testing::ValuesIn(all_types()), kTestName);
INSTANTIATE_TEST_SUITE_P(OfTheTable, PlacesOfAType, testing::ValuesIn(all_types()), kTestName);

// The second line of a type's file says which it is: a file without a row is never called.
TEST(TypesTable, HasARowForEveryFile) {
  std::set<std::string> files;
  for (const auto& file : fs::directory_iterator(fs::path(source_dir()) / "src/attach")) {
    const std::string text = content(file.path());
    std::smatch found;
    if (file.path().extension() != ".cc" ||
        !std::regex_search(text, found, std::regex("\n// Type ([a-z-]+)(, chained)?:")))
      continue;
    files.insert(found[1].str() + found[2].str());
  }
  std::set<std::string> rows;
  for (const PluginType& type : plugin_types())
    rows.insert(std::string(type.row.name) + (type.chained() ? ", chained" : ""));
  EXPECT_EQ(files, rows);
}

TEST(TypesTable, HasARowForEveryFolderOfCases) {
  for (const auto& folder : fs::directory_iterator(testdata() / "types"))
    EXPECT_NE(find_plugin_type(folder.path().filename().string()), nullptr) << folder.path() << " is of no type";
}

TEST(TypesTable, AddressTypesHaveTheirPages) {
  for (const schema::CniType& type : schema::cni_types()) {
    if (!type.ours || type.role != schema::CniRole::kIpam) continue;
    EXPECT_NE(source(fmt::format("docs/plugins/{}.md", type.name)), "")
        << "docs/plugins/" << type.name << ".md is missing";
    EXPECT_THAT(source("tests/cni/harness/sides.py"), HasSubstr(fmt::format("\"{}\"", type.name)));
  }
}

TEST(TypesTable, EveryPageIsOfARow) {
  for (const auto& file : fs::directory_iterator(fs::path(source_dir()) / "docs/plugins")) {
    const std::string name = file.path().stem().string();
    const schema::CniType* type = schema::find_cni_type(name);
    EXPECT_TRUE(name == "README" || (type != nullptr && type->ours)) << file.path();
  }
}

TEST(Keys, AKeyThatTheTableLacksIsOurMistake) {
  const api::Plugin plugin{"macvlan", json(R"({"type":"macvlan","color":"red"})")};
  const std::string network = "default/net1";
  const Keys keys(*schema::find_cni_type("macvlan"), plugin, network);
  auto color = keys.text("color");
  ASSERT_FALSE(color.has_value());
  EXPECT_EQ(color.error().code, Code::kInternal);
  EXPECT_EQ(message(color), "type macvlan has no key color in the table of types");
}

// Clusters have these, although the originals' own readers refuse some.
TEST(Keys, TakeALittleMoreThanCheckLikes) {
  const std::string network = "default/net1";
  const api::Plugin plugin{"sriov", json(R"({"type":"sriov","trust":true,"spoofchk":"","mac":null,"vlan":""})")};
  const Keys keys(*schema::find_cni_type("sriov"), plugin, network);
  EXPECT_EQ(keys.boolean("trust").value(), true);
  EXPECT_EQ(keys.boolean("spoofchk").value(), std::nullopt);
  EXPECT_EQ(keys.mac("mac").value(), std::nullopt);
  EXPECT_EQ(keys.number("vlan").value(), std::nullopt);
  const api::Plugin tuning{"tuning", json(R"({"type":"tuning","promisc":"on","allmulti":"false"})")};
  const Keys of_tuning(*schema::find_cni_type("tuning"), tuning, network);
  EXPECT_EQ(of_tuning.boolean("promisc").value(), true);
  EXPECT_EQ(of_tuning.boolean("allmulti").value(), false);
}

}  // namespace
}  // namespace railbed::attach
