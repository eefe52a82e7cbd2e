// SPDX-License-Identifier: Apache-2.0
#include "check/read/tools.h"

#include <gtest/gtest.h>

#include "check/data_files.h"
#include "check/read/shell.h"

namespace railbed::check {
namespace {

std::string problems_of(const std::string& line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    words.push_back(std::string_view(line).substr(at, end - at));
    at = end + 1;
  }
  const Tool* tool = find_tool(words[0]);
  if (tool == nullptr) return "no tool";
  std::string out;
  for (const OptionProblem& problem : parse_command(*tool, words).problems) {
    out += out.empty() ? "" : "; ";
    switch (problem.what) {
      case OptionProblem::kUnknown:
        out += "unknown " + problem.option + (problem.nearest.empty() ? "" : " near " + problem.nearest);
        break;
      case OptionProblem::kNeedsArgument:
        out += problem.option + " needs an argument";
        break;
      case OptionProblem::kStray:
        out += "stray " + std::string(words[problem.word]) + (problem.after.empty() ? "" : " after " + problem.after);
        break;
    }
  }
  return out;
}

TEST(Tools, EveryLineOfTheDataIsAnOption) {
  for (std::string_view name :
       {"ib_write_bw", "ibping", "sminfo", "ibnetdiscover", "ibv_devinfo", "ibstat", "rping", "ip", "rdma", "mstconfig",
        "all_reduce_perf", "ucx_perftest", "iblinkinfo", "perfquery"}) {
    const Tool* tool = find_tool(name);
    ASSERT_NE(tool, nullptr) << name;
    EXPECT_FALSE(tool->package.empty()) << name;
    EXPECT_FALSE(tool->options.empty()) << name;
    std::set<std::string> seen;
    for (const ToolOption& option : tool->options) {
      ASSERT_FALSE(option.names.empty()) << name;
      for (const std::string& option_name : option.names)
        EXPECT_TRUE(seen.insert(option_name).second) << name << " has " << option_name << " twice";
      EXPECT_EQ(option.argument.find_first_of("abcdefghijklmnopqrstuvwxyz"), std::string::npos)
          << name << " " << option.names[0] << " " << option.argument;
    }
    if (!tool->device_option.empty()) {
      EXPECT_NE(tool->find(tool->device_option), nullptr) << name;
    }
  }
}

TEST(Tools, OptionsAreReadAsGetoptReadsThem) {
  EXPECT_EQ(problems_of("ib_write_bw -aF -q4 --report_gbits -d mlx5_0 host"), "");
  EXPECT_EQ(problems_of("ib_write_bw --report_gb --qp=4 --ib-dev mlx5_0"), "");
  EXPECT_EQ(problems_of("ib_write_bw --use_cud 0"), "unknown --use_cud near --use_cuda");  // not the only one
  EXPECT_EQ(problems_of("ib_write_bw --report_bgits"), "unknown --report_bgits near --report_gbits");
  EXPECT_EQ(problems_of("ib_write_bw -d"), "-d needs an argument");
  EXPECT_EQ(problems_of("ib_write_bw host other"), "stray other");
  EXPECT_EQ(problems_of("ib_write_bw -- -host"), "");
  EXPECT_EQ(problems_of("rping -c -a 10.0.0.1 -d mlx5_2"), "stray mlx5_2 after -d");
  EXPECT_EQ(problems_of("rping -cvVd -a10.0.0.1"), "");
  EXPECT_EQ(problems_of("/usr/sbin/ibping -S -C mlx5_0 -P 1"), "");
  EXPECT_EQ(problems_of("ip -br -c link show dev ens1 -x"), "");
  EXPECT_EQ(problems_of("ibstat -z"), "-z needs an argument");
  EXPECT_EQ(problems_of("ibv_devinfo -X"), "unknown -X");
}

TEST(Tools, DistinguishesPromptsFromComments) {
  const std::vector<std::string_view> commands = {"# sminfo",
                                                  "# ip a",
                                                  "# rdma link show",
                                                  "# ibping -S",
                                                  "$ anything goes",
                                                  "[root@n1 ~]# x",
                                                  "sh-4.4# x",
                                                  "bash-5.1$ x",
                                                  "root@pod:/# x",
                                                  "  $ x",
                                                  "# sudo ibstat",
                                                  "# kubectl get nodes",
                                                  "# lspci | grep x",
                                                  "# cat /proc/cmdline",
                                                  "# /usr/sbin/ip a",
                                                  "# /sbin/rdma link show",
                                                  "> oc get pods -o yaml",
                                                  "> cat <<EOF | oc apply -f -",
                                                  "$> cat a.yaml",
                                                  "> root@n1 ~# ls",
                                                  "root@n1 ~/charts# x",
                                                  "PS> kubectl get pods",
                                                  "PS C:\\charts> x",
                                                  "❯ x",
                                                  "% x",
                                                  "[ann@n1 charts]$ x",
                                                  "(venv) $ x",
                                                  "hub> oc get nodes",
                                                  "n1# kubectl get pods",
                                                  "> [root@n1 ~]# x",
                                                  "~ ❯ cat p.yaml",
                                                  "~ ❯",
                                                  "~/dev/x (main) $ cat p.yaml",
                                                  "~/x main* kubectl get pods",
                                                  "➜  ~ git:(main) ✗ kubectl get pods",
                                                  "» kubectl get pods",
                                                  "⚡ kubectl get pods",
                                                  "▶ oc get pods",
                                                  "🐳 kubectl get pods",
                                                  "~ ᐅ cat p.yaml",
                                                  "└─$ cat p.yaml",
                                                  "┌──(ann㉿n1)-[~]",
                                                  "[ann@n1] (⎈|kind:default)$ kubectl get pods",
                                                  ":$ cat p.yaml",
                                                  ">>> kubectl get pods"};
  for (std::string_view line : commands) EXPECT_GT(prompt_length(line), 0u) << line;
  const std::vector<std::string_view> comments = {"# Check the links",
                                                  "# rdma devices of the pod",
                                                  "# ip addresses must differ",
                                                  "## sminfo",
                                                  "# find the card first",
                                                  "# test it",
                                                  "# kubectl must be there",
                                                  "# 1. sminfo",
                                                  "# On the server",
                                                  "price: 5 $ each",
                                                  "#bytes #iterations",
                                                  "",
                                                  "# time passes",
                                                  "# ibping is a tool",
                                                  "# /usr/sbin/ip must be there",
                                                  "a # comment",
                                                  "> make sure that it runs",
                                                  "> oc is the client",
                                                  "> text of a quotation",
                                                  "> > kubectl get pods",
                                                  "description: > kubectl get pods",
                                                  "a@b: /path # comment",
                                                  "n1# a comment",
                                                  "a > b",
                                                  "→ the rail of the pod",
                                                  "» see the page",
                                                  "key: ❯ cat p.yaml",
                                                  "- ▶ cat p.yaml",
                                                  "echo ❯ cat p.yaml",
                                                  "all of it > cat p.yaml",
                                                  "└── values.yaml",
                                                  "┌────┬────┐",
                                                  "~/charts is the folder",
                                                  "a # cat p.yaml",
                                                  "deploy ./charts # kubectl get pods",
                                                  "on <node> kubectl get pods"};
  for (std::string_view line : comments) EXPECT_EQ(prompt_length(line), 0u) << line;
}

}  // namespace
}  // namespace railbed::check
