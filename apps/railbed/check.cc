// SPDX-License-Identifier: Apache-2.0
// railbed check: what is wrong in a bundle of manifests, before a node reboots. railbed explain: why.
#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "check/rules/maturity.h"
#include "check_run.h"
#include "command/output.h"
#include "doc/diagnostic.h"
#include "findings/explain.h"
#include "verb.h"

namespace railbed {
namespace {

// What is read, and together with what.
void declare_input(CommandLine& line, CheckOptions& options) {
  line.option("FILES", &options.files, "files, directories, - for standard input").required().file();
  line.option("--facts", &options.facts,
              "node facts (railbed discover -o yaml) or a recording (FILE.tar); more may follow, or be among FILES")
      .one_value_each()
      .existing_file();
  line.option("--each", &options.each, "check each file as a separate bundle");
  line.option("--together", &options.together, "check all folders as one bundle, even if they contradict each other");
  line.option("--exclude", &options.excluded,
              "skip files and folders with this name or path (*.tmpl.yaml); may be repeated")
      .one_value_each();
  line.option("--require-read", &options.require_read,
              "fail if fewer than N objects were read, or none from files like this pattern; may be repeated")
      .one_value_each();
  const Option& render = line.option(
      "--render", &options.render,
      "render charts and kustomizations among FILES (helm template, kubectl kustomize) and check the result");
  line.option("--render-timeout", &options.render_timeout_s, "time limit of one rendering, in seconds").show_default();
  line.option("--render-remote", &options.render_remote,
              "also render kustomizations that fetch from other machines, with network access");
  line.option("--since", &options.since,
              "report only what was not found at this commit of git (main, HEAD~1), in all files, and what caused it")
      .excludes(render);
}

// What is done with the findings.
void declare_findings(CommandLine& line, CheckOptions& options) {
  line.option("--select", &options.select,
              "only these rules or families (RB-RES-001, RB-MTU), with commas between them")
      .with_commas()
      .one_value_each();
  line.option("--ignore", &options.ignore, "not these rules or families").with_commas().one_value_each();
  line.option("--fail-on", &options.fail_on,
              "exit with 2 for an error that is sure, also for a warning, or never for what is found")
      .one_of({"error", "warning", "never"})
      .show_default();
  line.option("--strict", &options.strict, "the same as --fail-on warning");
  Option& write = line.option("--write-baseline", &options.write_baseline,
                              "write all findings to this file, to accept them, and exit with 0");
  write.file();
  line.option("--baseline", &options.baseline, "report only what is not in this file").existing_file().excludes(write);
  line.option("--fix", &options.fix,
              "apply safe fixes, print them as a diff, and check again; --fix=suggested also applies those that a "
              "person should read")
      .one_of({"safe", "suggested"})
      .as_flag("safe");
  line.option("--diff", &options.diff, "with --fix: only print the diff, and exit with 2 if there is one");
}

void declare_output(CommandLine& line, CheckOptions& options) {
  line.option("-o,--output", &options.outputs,
              "text, json, yaml, sarif, junit, github, markdown, or mistakes (a table of known mistakes); with =FILE "
              "into a file; may be repeated")
      .one_of({"text", "json", "yaml", "sarif", "junit", "github", "markdown", "mistakes"})
      .or_to_file()
      .one_value_each();
  line.option("--notes", &options.notes, "SARIF has notes, too");
  line.option("-q,--quiet", &options.quiet, "print only the findings, without their number and what was not checked");
  line.option("--show-config", &options.show_config,
              "print what project files (railbed.yaml) and options say, without a check");
}

}  // namespace

int check_verb(CommandLine& line) {
  CheckOptions options;
  line.about(
      "Finds errors in manifests before a node reboots: unknown and misplaced fields, objects that do not\n"
      "match each other, addresses and VFs that run out and, with --facts, what the nodes do not support.\n"
      "Reads YAML, JSON, Markdown with manifests and commands, and Ansible tasks. Exits 0 if no error was\n"
      "found, 2 if one was (--fail-on says what counts), 1 if something could not be read or checked.\n"
      "A comment `# railbed: ignore ID reason` ignores a finding; a file railbed.yaml sets rules for a repository.");
  declare_input(line, options);
  declare_findings(line, options);
  declare_output(line, options);
  line.option("--cluster-network", &options.cluster_networks,
              "a pod, service or machine network of the cluster, as CIDR; may be repeated")
      .one_value_each();
  line.option("--resource-prefix", &options.settings.graph.resource_prefix,
              "prefix of the SR-IOV operator's resource names")
      .show_default();
  line.exit_status(kExitFound, "an error was found, also if other files could not be read; see --fail-on and --diff");
  if (auto status = line.parse()) return *status;
  if (options.diff && options.fix.empty()) {
    print_error("railbed check: --diff shows what --fix would do; give both\n");
    return kExitError;
  }
  return status_of(run_check(options));
}

int explain_verb(CommandLine& line) {
  std::string id;
  bool list = false;
  line.about("Explains a finding: what it means, why it matters, how to fix it.");
  line.option("ID", &id, "id of a finding, e.g. RB-ADDR-001 or RB-PCIE-001");
  line.option("--list", &list, "list all rule ids with their titles");
  if (auto status = line.parse()) return *status;
  if (list) {
    for (const findings::Explanation& one : findings::explanations()) print("{:<14} {}\n", one.id, one.title);
    return kExitOk;
  }
  std::ranges::transform(id, id.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (const findings::Explanation* one = findings::explain(id)) {
    const std::string state =
        one->is_about_text() ? check::in_words(check::maturity_of(one->id)) + "\n\n" : std::string();
    print("{}: {}\n\n{}\n\n{}({})\n", one->id, one->title, one->story, state, one->page);
    return kExitOk;
  }
  std::vector<std::string_view> ids;
  for (const findings::Explanation& one : findings::explanations()) ids.push_back(one.id);
  const std::string near = doc::nearest(id, ids);
  print_error("railbed: unknown finding \"{}\"{}; railbed explain --list shows all\n", id,
              near.empty() ? "" : fmt::format(" (did you mean {}?)", near));
  return kExitError;
}

}  // namespace railbed
