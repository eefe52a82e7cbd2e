// SPDX-License-Identifier: Apache-2.0
// Requests, configurations and the wire, by tables; results in every version's spelling against testdata/cni.
#include <cerrno>
#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "cni/config.h"
#include "cni/request.h"
#include "cni/wire.h"
#include "doc/json.h"

namespace railbed::cni {
namespace {

const std::string kWhole = R"({
  "cniVersion": "1.1.0",
  "interfaces": [
    {"name": "net1", "mac": "02:00:00:00:00:01", "sandbox": "/run/netns/a", "mtu": 9000,
     "socketPath": "/run/s", "pciID": "0000:3b:02.5"},
    {"name": "br0"}
  ],
  "ips": [
    {"address": "10.0.0.5/24", "gateway": "10.0.0.1", "interface": 0},
    {"address": "fd00::5/64"}
  ],
  "routes": [
    {"dst": "0.0.0.0/0", "gw": "10.0.0.1"},
    {"dst": "10.9.0.0/16", "mtu": 1400, "advmss": 1360, "priority": 7, "table": 100, "scope": 0}
  ],
  "dns": {"nameservers": ["10.0.0.2"], "domain": "example", "search": ["a.example"], "options": ["ndots:5"]},
  "vendor.example/x": {"b": 1, "a": [true, null]}
})";

AddResult whole() {
  auto result = read_result(kWhole, "0.3.1");
  EXPECT_TRUE(result.has_value()) << result.error().story();
  return *result;
}

TEST(CniResult, HasEveryVersionsSpelling) {
  for (std::string_view version : kSupportedVersions) {
    const std::string text = to_json(whole(), *supported_version(version));
    expect_golden(testdata() / "cni" / fmt::format("whole-{}.json", version), text);
    auto back = read_result(text, "0.1.0");
    ASSERT_TRUE(back.has_value()) << back.error().story();
    AddResult wanted = whole();
    if (version.starts_with("0."))
      for (Interface& one : wanted.interfaces) {
        one.mtu = 0;
        one.socket_path.clear();
        one.pci_id.clear();
      }
    EXPECT_EQ(*back, wanted) << version;
  }
}

TEST(CniResult, SaysNothingWhereThereIsNothing) {
  EXPECT_EQ(to_json(AddResult{}, {0, 4, 0}), "{\n    \"cniVersion\": \"0.4.0\",\n    \"dns\": {}\n}");
  EXPECT_EQ(to_json(AddResult{}, {1, 0, 0}), "{\n    \"cniVersion\": \"1.0.0\"\n}");
}

TEST(CniResult, ReadsTheShapeOf02AndTakesTheConfigsVersionWhereNoneIsGiven) {
  const std::string old =
      R"({"ip4": {"ip": "10.0.0.5/24", "gateway": "10.0.0.1", "routes": [{"dst": "10.1.0.0/16"}]},
                              "ip6": {"ip": "fd00::5/64"}, "dns": {}})";
  auto result = read_result(old, "0.2.0");
  ASSERT_TRUE(result.has_value()) << result.error().story();
  ASSERT_EQ(result->addresses.size(), 2U);
  EXPECT_EQ(result->addresses[0].gateway->to_string(), "10.0.0.1");
  EXPECT_EQ(result->routes.at(0).destination.to_string(), "10.1.0.0/16");
  EXPECT_TRUE(result->extra.is_null());
  auto as_new = read_result(old, "1.0.0");
  ASSERT_TRUE(as_new.has_value());
  EXPECT_TRUE(as_new->addresses.empty());
}

TEST(CniResult, SaysWhereItCannotBeRead) {
  const std::pair<const char*, const char*> cases[] = {
      {"{\"ips\": [{}]}", "ips[0].address: an address with its prefix length is missing"},
      {"{\"ips\":\n [{\"address\": \"10.0.0.300/24\"}]}", "result:2:15: ips[0].address: "},
      {"{\"ips\": {}}", "result:1:9: ips must be a list, found an object"},
      {"{\"interfaces\": [1]}", "result:1:17: interfaces[0] must be an object (keys with values), found an integer 1"},
      {"{\"routes\": [{\"dst\": \"0.0.0.0/0\", \"table\": 1.5}]}",
       "result:1:43: routes[0].table must be an integer, found a number 1.5"},
      {"{\"dns\": {\"search\": [4]}}", "result:1:21: dns.search[0] must be a string, found an integer 4"},
      {"[]", "result:1:1: the document must be an object (keys with values), found a list"},
      {"{", "result:1:"},
      {"", "result:1:"},
  };
  for (const auto& [text, message] : cases) {
    auto result = read_result(std::string(text), "1.0.0");
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(code_of(result.error()), kDecode);
    EXPECT_NE(result.error().story().find(message), std::string::npos) << result.error().story();
  }
  EXPECT_EQ(code_of(read_result(std::string("{\"cniVersion\": \"x\"}"), "").error()), kIncompatibleVersion);
}

TEST(CniVersion, IsReadLeniently) {
  EXPECT_EQ(*parse_version("1"), (Version{1, 0, 0}));
  EXPECT_EQ(*parse_version("0.4"), (Version{0, 4, 0}));
  EXPECT_EQ(*parse_version(""), (Version{0, 1, 0}));
  EXPECT_EQ(parse_version("1.1.0")->to_string(), "1.1.0");
  for (const char* bad : {"1.", ".1", "1.2.3.4", "-1", "1.x", " 1", "99999999999"})
    EXPECT_FALSE(parse_version(bad).has_value()) << bad;
  EXPECT_TRUE(supported_version("1.0").has_value());
  for (const char* other : {"", "0.2.0", "1.2.0", "0.3.2"})
    EXPECT_EQ(code_of(supported_version(other).error()), kIncompatibleVersion) << other;
}

TEST(CniError, IsJsonWithTheCodeOfTheSpecification) {
  const Error error{.code = Code::kExhausted, .message = "no address", .context = {"pool a"}, .hint = "widen it"};
  EXPECT_EQ(to_json(error, "0.4.0"),
            "{\n    \"cniVersion\": \"0.4.0\",\n    \"code\": 102,\n    \"msg\": \"pool a: no address\",\n"
            "    \"details\": \"widen it\"\n}");
  EXPECT_EQ(code_of(Error{.code = Code::kBusy}), kTryAgainLater);
  // What the kernel has no more of is no address and no VF.
  const std::pair<int, int> starved[] = {
      {EMFILE, kStarved}, {ENFILE, kStarved}, {ENOMEM, kStarved}, {ENOBUFS, kStarved}, {ENOSPC, kIo}};
  for (const auto& [number, code] : starved) {
    const Error failed = system_error(number, "open /x");
    EXPECT_EQ(code_of(failed), code) << number;
    EXPECT_FALSE(hint_of(failed).empty()) << number;
  }
  EXPECT_EQ(code_of(no_thread_error("a pod")), kStarved);
  EXPECT_EQ(code_of(error_of(std::bad_alloc())), kStarved);
  EXPECT_EQ(error_of(std::runtime_error("a defect")), error_with(kInternal, "a defect"));
  EXPECT_EQ(code_of(Error{.code = Code::kTimeout}), kTryAgainLater);
  EXPECT_EQ(code_of(Error{.code = Code::kNotFound}), kGone);
  EXPECT_EQ(code_of(Error{.code = Code::kConflict}), kTaken);
  EXPECT_EQ(code_of(Error{.code = Code::kInvalid}), kInvalidConfig);
}

// The code of the wire leads: STATUS says 50 for whatever keeps an ADD from being served.
TEST(CniError, ACodeOfTheWireIsKept) {
  for (const int code : {kIncompatibleVersion, kUnsupportedField, kUnknownContainer, kInvalidEnvironment, kIo, kDecode,
                         kInvalidConfig, kInvalidNetns, kTryAgainLater, kUnavailable, kUnavailableLimited, kGone,
                         kTaken, kExhausted, kKernel, kInternal, kStarved, 999}) {
    EXPECT_EQ(code_of(error_with(code, "x")), code);
    EXPECT_EQ(code_of(fail_with(code, "x").error()), code);
  }
  Error full = system_error(EMFILE, "open /x");
  full.wire_code = kUnavailable;
  EXPECT_EQ(code_of(full), kUnavailable);
  EXPECT_EQ(hint_of(full), "the agent reached its open file limit; run `railbed status`");
}

// What is to be done about an exhausted machine stays when something is added.
TEST(CniError, AddsToWhatIsToBeDone) {
  Error plain{.code = Code::kBusy, .message = "x"};
  add_hint(plain, "wait");
  EXPECT_EQ(plain.hint, "wait");
  add_hint(plain, "or not");
  EXPECT_EQ(plain.hint, "wait; or not");
  Error full = system_error(ENFILE, "open /x");
  add_hint(full, "the DEL undoes it");
  EXPECT_EQ(hint_of(full), "this machine reached its open file limit (fs.file-max); the DEL undoes it");
}

std::vector<std::string> environment(std::vector<std::string> changes = {}) {
  std::vector<std::string> out = std::move(changes);  // the first entry of a name counts
  for (const char* entry : {"CNI_COMMAND=ADD", "CNI_CONTAINERID=abc-1", "CNI_NETNS=/run/netns/a", "CNI_IFNAME=net1",
                            "CNI_PATH=/opt/cni/bin::/usr/lib/cni", "HOME=/root"})
    out.emplace_back(entry);
  return out;
}

TEST(CniRequest, IsReadFromTheEnvironment) {
  auto request = read_request(
      "macvlan", environment({"CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p;K8S_POD_UID=u;X=a=b;"}),
      "{}");
  ASSERT_TRUE(request.has_value()) << request.error().story();
  EXPECT_EQ(request->command, Command::kAdd);
  EXPECT_EQ(request->path, (std::vector<std::string>{"/opt/cni/bin", "/usr/lib/cni"}));
  EXPECT_EQ(request->pod(), "ns/p");
  EXPECT_EQ(request->pod_uid(), "u");
  EXPECT_EQ(request->args.at("X"), "a=b");
  EXPECT_EQ(command_name(request->command), "ADD");
}

TEST(CniRequest, NamesEverythingThatIsMissing) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"CNI_COMMAND=ADD"}, "required env variables [CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH] missing"},
      {{"CNI_COMMAND=CHECK", "CNI_PATH=/p"}, "required env variables [CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME] missing"},
      {{"CNI_COMMAND=DEL"}, "required env variables [CNI_CONTAINERID,CNI_IFNAME,CNI_PATH] missing"},
      {{"CNI_COMMAND=GC"}, "required env variables [CNI_PATH] missing"},
      {{"CNI_COMMAND=STATUS", "CNI_PATH="}, "required env variables [CNI_PATH] missing"},
      {{"CNI_IFNAME=x"}, "required env variables [CNI_COMMAND] missing"},
      {{"CNI_COMMAND=add"}, "unknown CNI_COMMAND: add"},
  };
  for (const auto& [entries, message] : cases) {
    auto request = read_request("macvlan", entries, "");
    ASSERT_FALSE(request.has_value()) << message;
    EXPECT_EQ(code_of(request.error()), kInvalidEnvironment);
    EXPECT_EQ(request.error().story(), message);
  }
  EXPECT_TRUE(read_request("macvlan", {"CNI_COMMAND=VERSION"}, "").has_value());
  EXPECT_TRUE(
      read_request("x", {"CNI_COMMAND=DEL", "CNI_CONTAINERID=a", "CNI_IFNAME=e", "CNI_PATH=/p"}, "").has_value());
}

TEST(CniRequest, LetsNothingPastThePatterns) {
  for (const char* entry :
       {"CNI_CONTAINERID=../x", "CNI_CONTAINERID=a/b", "CNI_CONTAINERID=-a", "CNI_CONTAINERID=a b", "CNI_IFNAME=..",
        "CNI_IFNAME=a/b", "CNI_IFNAME=a:b", "CNI_IFNAME=a b", "CNI_IFNAME=0123456789abcdef", "CNI_NETNS=run/netns/a",
        "CNI_NETNS=/run/\n", "CNI_ARGS=K", "CNI_ARGS==v", "CNI_ARGS=A=\x01", "CNI_ARGS=K8S_POD_NAME=../../etc",
        "CNI_ARGS=K8S_POD_NAMESPACE=a/b", "CNI_ARGS=K8S_POD_UID=$(x)"}) {
    auto request = read_request("macvlan", environment({entry}), "{}");
    ASSERT_FALSE(request.has_value()) << entry;
    EXPECT_EQ(code_of(request.error()), kInvalidEnvironment) << entry;
  }
  EXPECT_FALSE(read_request("../macvlan", environment(), "{}").has_value());
  EXPECT_FALSE(read_request("macvlan", environment({"CNI_CONTAINERID=" + std::string(254, 'a')}), "").has_value());
}

TEST(CniConfig, ReadsWhatAllPluginsShare) {
  auto config = read_plugin_config(R"({"cniVersion": "1.1.0", "name": "n", "type": "macvlan", "mode": "bridge",
    "args": {"cni": {"ips": ["10.0.0.5/24"]}}, "runtimeConfig": {"mac": "02:00:00:00:00:01"},
    "prevResult": {"interfaces": [{"name": "net1"}]},
    "cni.dev/valid-attachments": [{"containerID": "a", "ifname": "net1"}]})");
  ASSERT_TRUE(config.has_value()) << config.error().story();
  EXPECT_EQ(config->network, "n");
  EXPECT_EQ(config->previous->interfaces.at(0).name, "net1");
  EXPECT_EQ(*config->runtime.find("mac")->as_string(), "02:00:00:00:00:01");
  EXPECT_NE(config->args.find("ips"), nullptr);
  EXPECT_EQ(config->valid, (std::vector<AttachmentId>{{"a", "net1"}}));
  EXPECT_TRUE(config->valid_is_given);
  EXPECT_EQ(*config->object.find("mode")->as_string(), "bridge");
}

TEST(CniConfig, DistinguishesAnAbsentListOfAttachmentsFromAnEmptyOne) {
  const std::string head = R"({"cniVersion": "1.1.0", "name": "n", "type": "t")";
  EXPECT_FALSE(read_plugin_config(head + "}")->valid_is_given);
  EXPECT_TRUE(read_plugin_config(head + ", \"cni.dev/valid-attachments\": []}")->valid_is_given);
  EXPECT_TRUE(read_plugin_config(head + ", \"cni.dev/attachments\": null}")->valid_is_given);
  EXPECT_EQ(code_of(read_plugin_config(head + ", \"cni.dev/attachments\": [{}]}").error()), kInvalidConfig);
  EXPECT_EQ(code_of(read_plugin_config(head + ", \"cni.dev/attachments\": {}}").error()), kInvalidConfig);

  EXPECT_TRUE(
      require_valid_attachments(*read_plugin_config(head + ", \"cni.dev/valid-attachments\": []}")).has_value());
  EXPECT_EQ(
      require_valid_attachments(*read_plugin_config(head + "}")).error(),
      error_with(kInvalidConfig, "GC needs cni.dev/valid-attachments: without it every attachment would be removed",
                 "send the attachments that are still valid, [] for none (cnitool gc sends no list); \"railbed "
                 "gc\" shows and removes what no namespace owns"));
}

TEST(CniConfig, RefusesWithThePlace) {
  const std::tuple<const char*, int, const char*> cases[] = {
      {"{\"cniVersion\": \"0.2.0\"}", kIncompatibleVersion, "incompatible CNI versions: the configuration is 0.2.0"},
      {"{\"cniVersion\": \"1.0.0\",\n\"name\": \"a/b\"}", kInvalidConfig, "network configuration:2:9: name: "},
      {"{\"cniVersion\": \"1.0.0\", \"type\": \"x\"}", kInvalidConfig, "name: the network's name is missing"},
      {"{\"cniVersion\": \"1.0.0\", \"name\": \"n\"}", kInvalidConfig, "type: the plugin's type is missing"},
      {"{\"cniVersion\": \"1.0.0\", \"name\": \"n\", \"type\": \"../x\"}", kInvalidConfig, "type: a type is"},
      {"{\"cniVersion\": \"1.0.0\", \"name\": \"n\", \"type\": \"x\", \"args\": 1}", kInvalidConfig,
       "args must be an object"},
      {"{\"cniVersion\": 1}", kInvalidConfig,
       "network configuration:1:16: cniVersion must be a string, found an integer 1"},
      {"{\"cniVersion\": \"1.0.0\",}", kDecode, "network configuration:1:"},
      {"nonsense", kDecode, "network configuration:1:1"},
  };
  for (const auto& [text, code, message] : cases) {
    auto config = read_plugin_config(text);
    ASSERT_FALSE(config.has_value()) << text;
    EXPECT_EQ(code_of(config.error()), code) << text;
    EXPECT_NE(config.error().story().find(message), std::string::npos) << config.error().story();
  }
}

TEST(CniList, PicksTheHighestVersionThatIsOurs) {
  const auto version = [](const std::string& head) {
    return read_list_config("{" + head + R"("name": "n", "plugins": [{"type": "a"}]})")->version;
  };
  EXPECT_EQ(version(R"("cniVersion": "0.4.0", "cniVersions": ["0.3.1", "1.0.0", "9.0.0"], )"), "1.0.0");
  EXPECT_EQ(version(R"("cniVersion": "1.1.0", "cniVersions": ["0.3.1"], )"), "1.1.0");
  EXPECT_EQ(version(R"("cniVersion": "9.0.0", "cniVersions": ["0.3.1"], )"), "0.3.1");
  EXPECT_EQ(version(R"("cniVersion": "0.2.0", )"), "0.2.0");
  EXPECT_EQ(version(R"("cniVersion": "0.2.0", "cniVersions": ["0.1.0"], )"), "0.2.0");
  EXPECT_EQ(version(R"("cniVersion": "0.3.1", "cniVersions": ["1.0.0", "0.4.0"], )"), "1.0.0");
  EXPECT_EQ(version(""), "0.1.0");
}

TEST(CniList, TakesFlagsAsWordsAndASinglePluginAsAList) {
  auto list = read_list_config(
      R"({"cniVersion": "1.0.0", "name": "n", "disableCheck": "True", "disableGC": true, "plugins": [{"type": "a"}, {"type": "b"}]})");
  ASSERT_TRUE(list.has_value()) << list.error().story();
  EXPECT_TRUE(list->disable_check);
  EXPECT_TRUE(list->disable_gc);
  EXPECT_EQ(list->plugins.size(), 2U);
  EXPECT_FALSE(read_list_config(R"({"plugins": [{"type": "a"}], "disableGC": "maybe"})").has_value());
  EXPECT_FALSE(read_list_config(R"({"name": "n", "plugins": []})").has_value());
  EXPECT_FALSE(read_list_config(R"({"name": "n", "plugins": [{"type": "a"}, {}]})").has_value());
  auto single = read_list_config(R"({"type": "macvlan", "master": "eth0"})");
  ASSERT_TRUE(single.has_value());
  EXPECT_EQ(single->plugins.at(0).find("master")->as_string()->c_str(), std::string("eth0"));
  EXPECT_TRUE(single->name.empty());
}

TEST(CniList, GivesAPluginWhatItDeclares) {
  auto list = read_list_config(R"({"cniVersion": "0.4.0", "name": "n", "plugins": [
    {"type": "a", "odd": {"k": [1]}, "prevResult": {}, "capabilities": {"mac": true, "ips": false}, "args": {"x": 1}}]})");
  ASSERT_TRUE(list.has_value());
  AddResult previous;
  previous.interfaces.push_back({.name = "net1", .mtu = 9000});
  const doc::Value cni_args = doc::Value::Object{{"label", {}, doc::Value("l")}};
  const std::string input = plugin_input(*list, 0, previous, {{"mac", "m"}, {"ips", "i"}, {"other", 1}}, &cni_args);
  EXPECT_EQ(input,
            R"({"type":"a","odd":{"k":[1]},"capabilities":{"mac":true,"ips":false},"args":{"x":1,"cni":{"label":"l"}},)"
            R"("cniVersion":"0.4.0","name":"n","runtimeConfig":{"mac":"m"},)"
            R"("prevResult":{"cniVersion":"0.4.0","interfaces":[{"name":"net1"}],"dns":{}}})");
  EXPECT_EQ(plugin_input(*list, 0, std::nullopt, {}).find("prevResult"), std::string::npos);
}

TEST(CniWire, AnswersVersionWithThoseThatAreSupported) {
  EXPECT_EQ(version_answer(), fmt::format(R"({{"cniVersion":"{}","supportedVersions":["{}"]}})"
                                          "\n",
                                          kLatest, fmt::join(kSupportedVersions, R"(",")")));
}

TEST(CniWire, SaysWhatIsWrongWithAFrame) {
  std::string why;
  EXPECT_FALSE(read_frame_head("RBC1", why));
  EXPECT_EQ(why, "the frame ends within its head");
  EXPECT_FALSE(read_frame_head("GET / HTT", why));
  EXPECT_EQ(why, "the frame does not begin with RBC1");
  EXPECT_FALSE(read_frame_head(std::string_view("RBC1\3\0\0\0\0", 9), why));
  EXPECT_EQ(why, "the frame is neither a request nor an answer");
  EXPECT_FALSE(read_frame_head("RBC1\1\xff\xff\xff\xff", why));
  EXPECT_EQ(why, "the frame is larger than 4 MiB");
  EXPECT_TRUE(read_frame_head(std::string_view("RBC1\1\0\x40\0\0", 9), why));
  EXPECT_FALSE(read_wire_request("macvlan", why));
  EXPECT_EQ(why, "the request does not name a plugin");
  EXPECT_FALSE(read_wire_request(std::string_view("macvlan\0A=1", 11), why));
  EXPECT_EQ(why, "the request ends within the environment");
  EXPECT_FALSE(read_wire_answer("", why));
  EXPECT_EQ(why, "the answer has no exit status");
}

TEST(CniError, IsReadBackAsItWasWritten) {
  const Error error = error_with(kTaken, "it is \"taken\"\n", "give it back");
  EXPECT_EQ(read_error(to_json(error, "")), error);
  for (const char* text : {"", "no json", "[]", "{}", R"({"code":7})", R"({"msg":"x"})", R"({"code":"7","msg":"x"})"})
    EXPECT_FALSE(read_error(text).has_value()) << text;
}

}  // namespace
}  // namespace railbed::cni
