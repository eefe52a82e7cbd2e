// SPDX-License-Identifier: Apache-2.0
#include "check/read/engines.h"

#include <gtest/gtest.h>

#include "check/read/placeholders.h"

namespace railbed::check {
namespace {

std::string marked(std::string_view text) {
  const auto mark = find_mark(text);
  return mark ? std::string(text.substr(mark->begin, mark->end - mark->begin)) : "";
}

TEST(Engines, FindTheirMarks) {
  for (const std::string mark : {"{{ vfs }}",
                                 "{{hub index x hub}}",
                                 "{% if x %}",
                                 "${VFS}",
                                 "$VFS",
                                 "$(VFS)",
                                 "$(params.vfs)",
                                 "((vfs))",
                                 "(( grab vfs ))",
                                 "(@= vfs @)",
                                 "<%= vfs %>",
                                 "#{vfs}",
                                 "__VFS__",
                                 "@VFS@",
                                 "%VFS%",
                                 "<<VFS>>",
                                 "${{ inputs.vfs }}",
                                 "$[[ inputs.vfs ]]",
                                 "%{ for x in y }",
                                 "@@vfs@@",
                                 "[% vfs %]",
                                 "~{vfs}"}) {
    EXPECT_EQ(marked(mark), mark);
    EXPECT_EQ(marked("rail-" + mark + "-x"), mark);
    EXPECT_NE(engine_of_mark(mark, mark), nullptr) << mark;
  }
  for (const std::string whole : {"ENC[AES256_GCM,data:x,type:str]", "[[ vfs ]]"}) {
    EXPECT_EQ(marked(whole), whole);
    EXPECT_EQ(marked("a " + whole), "") << "all of the value, or no mark";
  }
  for (const std::string plain : {"", "ens1f0np0", "5$", "$1", "a@b.example", "50%", "{a: b}", "[1, 2]", "__init__",
                                  "(a)", "100% of 5%", "a_b", "#1", "$()", "{}", "''", "<num>", "%d", "@now"})
    EXPECT_EQ(marked(plain), "") << plain;
}

TEST(Engines, AreNamedByWhatElseIsInTheFile) {
  const auto name = [](std::string_view mark, std::string_view file) {
    const Engine* engine = engine_of_mark(mark, file);
    return engine == nullptr ? "" : engine->name;
  };
  EXPECT_EQ(name("{{ .Values.vfs }}", "numVfs: {{ .Values.vfs }}"), "Helm");
  EXPECT_EQ(name("{{ vfs | int }}", "numVfs: '{{ vfs | int }}'"), "Jinja");
  EXPECT_EQ(name("{{hub x hub}}", ""), "a hub template of ACM");
  EXPECT_EQ(name("$(params.vfs)", ""), "Tekton");
  EXPECT_EQ(name("$(VFS)", ""), "Kustomize");
  EXPECT_EQ(name("${VFS}", ""), "envsubst");
  EXPECT_EQ(name("${VFS}", "apiVersion: template.openshift.io/v1"), "a Template of OpenShift");
  EXPECT_EQ(name("$name", "metadata:\n  name: $name\n"), "a source CR of a PolicyGenerator");
  EXPECT_EQ(name("$NAME", "metadata:\n  name: a\n"), "envsubst");
  EXPECT_EQ(name("!Ref Vfs", ""), "CloudFormation");
  EXPECT_EQ(name("!vault |", ""), "Ansible Vault");
  EXPECT_EQ(name("#@ vfs", ""), "ytt");
  EXPECT_EQ(engine_of_lines("a: b\n#@ for x in y:\n")->name, "ytt");
  EXPECT_EQ(engine_of_lines("a: #@ b\n")->name, "ytt");
  EXPECT_EQ(engine_of_lines("a: \"#@b\"\n"), nullptr);
  EXPECT_EQ(engine_of_key("sops")->name, "SOPS");
}

TEST(Engines, KnowFilesWithHereDocuments) {
  for (const char* yes : {"Vagrantfile", "a/Makefile", "Dockerfile.rdma", "Jenkinsfile-nightly", "x.mk"})
    EXPECT_TRUE(has_here_documents(yes)) << yes;
  for (const char* no : {"Vagrantfiles", "a.yaml", "Makefile/a", "make", "mk"})
    EXPECT_FALSE(has_here_documents(no)) << no;
}

TEST(Engines, HaveAWayToCheckTheirResult) {
  for (const Engine& engine : engines()) {
    EXPECT_FALSE(engine.marks.empty()) << engine.name;
    EXPECT_FALSE(engine.command.empty()) << engine.name;
    for (const Mark& mark : engine.marks) EXPECT_FALSE(mark.open.empty()) << engine.name;
  }
  EXPECT_EQ(other_language("a/policy.yaml.J2")->language, "Jinja");
  EXPECT_EQ(other_language("main.tf")->language, "Terraform");
  EXPECT_EQ(other_language("policy.yaml"), nullptr);
  EXPECT_EQ(other_language("a.tf/policy"), nullptr);
}

TEST(Placeholders, AreWhatAPageAsksItsReaderToWrite) {
  for (const char* text : {"<num>",
                           "\"<pf_name>\"",
                           "<eth|ib>",
                           "<your interface>",
                           "rail-<n>",
                           "{namespace}",
                           "RESOURCE_NAME_C_PLANE",
                           "'PHYSICAL_INTERFACE#0-1'",
                           "NUM_VFS",
                           "YOUR_POLICY",
                           "your-namespace",
                           "CHANGE_ME",
                           "changeme",
                           "TO"
                           "DO",
                           "xxx",
                           "x.x.x.x/24",
                           "xxxx:xx:xx.x",
                           "netdevice | vfio-pci",
                           "\"...\"",
                           "…",
                           "int",
                           "string, optional",
                           "boolean",
                           "*<mtu>*",
                           "[<pf>]"})
    EXPECT_TRUE(is_placeholder(text)) << text;
  for (const char* text : {"ens1f0np0", "8", "\"15b3\"", "0000:18:00.0", "ETH", "IB", "a-b", "rail_0", "{a: b}",
                           "[a, b]", "true", "10.0.0.0/24", "netdevice", "", "x", "Pod", "1 < 2 > 0"})
    EXPECT_FALSE(is_placeholder(text)) << text;
  for (const char* sure :
       {"<num>", "rail-<n>", "CHANGEME", "change-me", "__REPLACE_ME__", "to be defined", "_replaced_",
        "replaced-by-kustomize", "to-be-filled", "your-namespace", "xxx", "XX:XX:XX", "\"...\""})
    EXPECT_TRUE(is_sure_placeholder(sure)) << sure;
  for (const char* file :
       {"NUM_VFS", "int", "a | b", "rail_0", "replacement", "replaces", "MY_RAIL", "changes", "your"})
    EXPECT_FALSE(is_sure_placeholder(file)) << file;
  for (const char* program : {"_replaced_", "REPLACED", "\"replaced-by-ci\"", "to_be_replaced", "to-be-filled-by-argo"})
    EXPECT_TRUE(is_replaced_word(program)) << program;
  for (const char* person : {"REPLACE_ME", "<num>", "placeholder", "rail0", "tbd"})
    EXPECT_FALSE(is_replaced_word(person)) << person;
  for (const char* part : {"APP_NAME-migration", "dsv4-bench-JOBSUFFIX", "REPLACE_NETWORK.0/24", "pod-n{}", "_ignored_",
                           "SERVENGINE-MODEL_TAG-nlb", "\"MY_RAIL\"", "__JOB_NAME__"})
    EXPECT_TRUE(has_stand_in(part)) << part;
  for (const char* whole : {"My-pod", "Rail0", "MyApp", "blueZZ", "a-GPU", "RAIL", "net_NET", "{}", "{\"a\":{}}",
                            "rail_0", "a B_C d", "_", "__"})
    EXPECT_FALSE(has_stand_in(whole)) << whole;
  EXPECT_TRUE(may_be_placeholder("NAMESPACE"));
  EXPECT_TRUE(may_be_placeholder("N"));
  EXPECT_FALSE(may_be_placeholder("rail0"));
}

}  // namespace
}  // namespace railbed::check
