// SPDX-License-Identifier: Apache-2.0
// railbed check: what is wrong in a bundle of manifests, before a node reboots. railbed explain: why.
#include "check/check.h"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

#include "check/findings/output.h"
#include "check/read/engines.h"
#include "check/read/rendered.h"
#include "command/output.h"
#include "command/replace_file.h"
#include "doc/edits.h"
#include "findings/explain.h"
#include "machine.h"
#include "manifests.h"
#include "render.h"
#include "verb.h"

namespace railbed {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> facts;
  std::vector<std::string> cluster_networks;
  std::string output = "text";
  bool fix = false;
  bool quiet = false;
  bool strict = false;
  bool each = false;
  bool together = false;
  bool render = false;
  int render_timeout_s = 60;
  bool render_remote = false;
  std::vector<std::string> excluded;
  check::Settings settings;
};

void print_findings(const check::Report& report, const CheckOptions& options) {
  const std::string& output = options.output;
  if (output == "json" || output == "yaml") return print_value(check::to_value(report), output);
  if (output == "sarif") return print_document(check::to_sarif(report));
  if (output == "junit") return print_document(check::to_junit(report));
  if (output == "github") return print_document(check::to_github(report));
  if (output == "mistakes") return print_document(check::to_mistakes(report));
  if (output == "markdown") return print_document(check::to_markdown(report));
  const Colour colour = colour_of(stdout);
  print("{}", options.quiet ? check::findings_text(report, colour) : check::to_text(report, colour));
}

Result<void> repair(const check::Report& report) {
  for (const check::Repair& one : report.repairs) {
    print("{}", doc::unified_diff(one.before->name, one.before->text, one.after->text));
    if (one.before->name != "<stdin>") TRY(replace_file(one.before->name, one.after->text));
  }
  return {};
}

// What a program printed is in no file: nothing of it can be repaired.
void keep_rendered_text(check::Report& report) {
  std::erase_if(report.repairs, [](const check::Repair& one) { return check::is_rendered(one.before->name); });
  for (doc::Diagnostic& finding : report.findings.mutable_all())
    if (finding.span.known() && check::is_rendered(finding.span.source->name)) finding.edits.clear();
}

check::Report check_all(const std::vector<doc::SourcePtr>& sources, const std::vector<facts::NodeFacts>& nodes,
                        const CheckOptions& options) {
  check::Settings settings = options.settings;
  settings.given = options.files;
  settings.together = options.together;
  if (!options.each) return check::check_files(sources, nodes, settings);
  check::Report all;
  for (const doc::SourcePtr& source : sources) all.add(check::check({source}, nodes, settings));
  return all;
}

Result<int> run_check(CheckOptions& options) {
  TRY(take_facts(options.files, options.facts));
  for (const std::string& network : options.cluster_networks)
    options.settings.cluster_networks.push_back(TRY(IpPrefix::parse(network)));
  const FileChoice choice{
      .endings = {".yaml", ".yml", ".json", ".md", ".markdown", ".adoc", ".asciidoc", ".rst", ".txt"},
      .excluded = options.excluded};
  std::vector<doc::SourcePtr> sources = TRY(read_sources(options.files, choice));
  FileChoice others{.endings = {}, .excluded = options.excluded};
  for (const check::OtherLanguage& one : check::other_languages()) others.endings.insert(one.ending);
  options.settings.unopened = TRY(names_below(options.files, others));
  doc::Diagnostics about_facts;
  const std::vector<facts::NodeFacts> nodes = TRY(read_nodes_of(options.facts, about_facts));
  print_diagnostics(about_facts);
  if (about_facts.has_errors()) return kExitError;

  std::vector<Error> not_rendered;
  if (options.render) {
    RenderedSources all = render(sources, {.given = options.files,
                                           .limit = std::chrono::seconds(options.render_timeout_s),
                                           .remote = options.render_remote});
    sources = std::move(all.sources);
    not_rendered = std::move(all.failures);
  }
  check::Report report = check_all(sources, nodes, options);
  keep_rendered_text(report);
  // Documents are about machines of several kinds: each node is asked for itself, too, and none of them.
  if (options.output == "mistakes" && !nodes.empty()) {
    check::Report all = check_all(sources, {}, options);
    for (const facts::NodeFacts& node : nodes) all.add(check_all(sources, {node}, options));
    all.add(std::move(report));
    report = std::move(all);
  }
  if (options.fix && !report.repairs.empty()) {
    TRY(repair(report));
    std::vector<doc::SourcePtr> repaired = sources;
    for (doc::SourcePtr& source : repaired)
      for (const check::Repair& one : report.repairs)
        if (one.before == source) source = one.after;
    report = check_all(repaired, nodes, options);
    keep_rendered_text(report);
  }
  print_findings(report, options);
  for (const Error& error : not_rendered) print_error("railbed: {}\n", error.to_string());
  if (!not_rendered.empty()) return kExitError;
  const size_t bad = report.findings.count(doc::Severity::kError) +
                     (options.strict ? report.findings.count(doc::Severity::kWarning) : 0);
  return bad > 0 ? kExitFound : kExitOk;
}

}  // namespace

int check_verb(CommandLine& line) {
  CheckOptions options;
  line.about(
      "Finds errors in manifests before a node reboots: unknown and misplaced fields, objects that do not\n"
      "match each other, addresses and VFs that run out and, with --facts, what the nodes do not support.\n"
      "Reads YAML, JSON, Markdown with manifests and commands, and Ansible tasks. Exits 0 if no error was\n"
      "found, 2 if one was (with --strict also for a warning), 1 if the check could not run.\n"
      "A comment `# railbed: ignore ID reason` ignores a finding.");
  line.option("FILES", &options.files, "files, directories, - for standard input").required().file();
  line.option("--facts", &options.facts,
              "node facts (railbed discover -o yaml) or a recording (FILE.tar); more may follow, or be among FILES")
      .one_value_each()
      .existing_file();
  line.option("-o,--output", &options.output,
              "text, json, yaml, sarif, junit, github, markdown, or mistakes (a table of known mistakes)")
      .one_of({"text", "json", "yaml", "sarif", "junit", "github", "markdown", "mistakes"});
  line.option("--fix", &options.fix, "apply safe fixes, print them as a diff, and check again");
  line.option("--each", &options.each, "check each file as a separate bundle");
  line.option("--together", &options.together, "check all folders as one bundle, even if they contradict each other");
  line.option("--exclude", &options.excluded,
              "skip files and folders with this name or path (*.tmpl.yaml); may be repeated")
      .one_value_each();
  line.option("--render", &options.render,
              "render charts and kustomizations among FILES (helm template, kubectl kustomize) and check the result");
  line.option("--render-timeout", &options.render_timeout_s, "time limit of one rendering, in seconds").show_default();
  line.option("--render-remote", &options.render_remote,
              "also render kustomizations that fetch from other machines, with network access");
  line.option("--strict", &options.strict, "warnings fail, too");
  line.option("-q,--quiet", &options.quiet, "print only the findings, without their number and what was not checked");
  line.option("--cluster-network", &options.cluster_networks,
              "a pod, service or machine network of the cluster, as CIDR; may be repeated")
      .one_value_each();
  line.option("--resource-prefix", &options.settings.graph.resource_prefix,
              "prefix of the SR-IOV operator's resource names")
      .show_default();
  line.exit_status(kExitFound, "an error was found; with --strict also: a warning");
  if (auto status = line.parse()) return *status;
  Result<int> done = run_check(options);
  if (done) return *done;
  return give_up(done.error());
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
    print("{}: {}\n\n{}\n\n({})\n", one->id, one->title, one->story, one->page);
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
