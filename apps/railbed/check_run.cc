// SPDX-License-Identifier: Apache-2.0
#include "check_run.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fmt/ranges.h>
#include <fnmatch.h>

#include "check/check.h"
#include "check/findings/baseline.h"
#include "check/findings/judgement.h"
#include "check/findings/object_states.h"
#include "check/findings/output.h"
#include "check/read/paths.h"
#include "check/read/rendered.h"
#include "check_bundles.h"
#include "check_config.h"
#include "check_files.h"
#include "check_output.h"
#include "check_projects.h"
#include "check_since.h"
#include "command/exit_status.h"
#include "command/output.h"
#include "command/replace_file.h"
#include "doc/edits.h"
#include "doc/text.h"
#include "machine.h"
#include "manifests.h"
#include "render.h"

namespace railbed {

namespace fs = std::filesystem;

namespace {

using Sources = std::vector<doc::SourcePtr>;

class CheckRun {
 public:
  explicit CheckRun(CheckOptions& options) : options_(options) {}

  Result<int> run() {
    outputs_ = TRY(CheckOutputs::parse(options_.outputs));
    TRY(take_facts(options_.files, options_.facts));
    const GivenPaths given = TRY(given_paths(options_.files, choice(), projects_));
    Sources sources = TRY(read_all(given));
    TRY(find_places(sources));
    if (!projects_.problems().all().empty()) {
      print_diagnostics(projects_.problems());
      return kExitError;
    }
    TRY(settle(options_, projects_, policy_));
    if (options_.show_config) {
      print_value(config_value(options_, projects_), outputs_.format == "json" ? "json" : "yaml");
      return kExitOk;
    }
    doc::Diagnostics about_facts;
    nodes_ = TRY(read_nodes_of(options_.facts, about_facts));
    print_diagnostics(about_facts);
    if (about_facts.has_errors()) return kExitError;
    if (options_.render) render_all(sources);
    options_.settings.not_read = given.foreign;
    options_.settings.given = options_.files;
    check::Report report = checked(sources);
    if (options_.diff) return print_difference(report);
    if (!options_.fix.empty() && !report.repairs.empty()) report = TRY(repaired(std::move(report), sources));
    add_coverage_of(given, report);
    report_unused_ignores(report);
    TRY(compare(report));
    return end(report);
  }

 private:
  // --- what is asked

  CheckFileChoice choice() const {
    CheckFileChoice chosen{.excluded = options_.excluded, .outputs = {}};
    for (const std::string& file : {options_.baseline, options_.write_baseline})
      if (!file.empty()) chosen.outputs.push_back(file);
    for (const auto& [file, format] : outputs_.files) chosen.outputs.push_back(file);
    return chosen;
  }

  // --- what is read

  Result<Sources> read_all(const GivenPaths& given) {
    Sources sources;
    const std::set<std::string> named(options_.files.begin(), options_.files.end());
    for (const std::string& file : given.files) {
      Result<doc::SourcePtr> source = read_source(file);
      if (source)
        sources.push_back(std::move(*source));
      else if (named.contains(file))
        return fail(source.error());
      else
        errors_.push_back(source.error());
    }
    for (const std::string& why : given.unread) errors_.push_back({.code = Code::kIo, .message = why});
    return sources;
  }

  Result<void> find_places(const Sources& sources) {
    for (const doc::SourcePtr& source : sources)
      if (!policy_.places.contains(source->name))
        policy_.places.emplace(source->name, TRY(projects_.place_of(source->name)));
    return {};
  }

  void render_all(Sources& sources) {
    RenderedSources all = render(sources, {.given = options_.files,
                                           .limit = std::chrono::seconds(options_.render_timeout_s),
                                           .remote = options_.render_remote});
    sources = std::move(all.sources);
    rendered_from_ = std::move(all.from);
    std::ranges::move(all.failures, std::back_inserter(errors_));
    for (const doc::SourcePtr& source : sources) {
      if (!check::is_rendered(source->name)) continue;
      // The place of what is rendered is that of the file that says how.
      const auto file = rendered_from_.find(std::string(check::rendered_folder(source->name)));
      const auto place = file == rendered_from_.end() ? policy_.places.end() : policy_.places.find(file->second);
      if (place != policy_.places.end()) policy_.places[source->name] = place->second;
    }
  }

  // --- what is checked

  check::Report checked(const Sources& sources) const {
    check::Report report = check_bundles(sources, nodes_, options_);
    if (outputs_.format != "mistakes" || nodes_.empty()) return report;
    // Documents are about machines of several kinds: each node is asked for itself, too, and none of them.
    check::Report all = check_bundles(sources, {}, options_);
    for (const facts::NodeFacts& node : nodes_) all.add(check_bundles(sources, {node}, options_));
    all.add(std::move(report));
    return all;
  }

  // --- what is done with the findings

  Result<check::Report> repaired(check::Report report, const Sources& sources) {
    for (const check::Repair& one : report.repairs) {
      const std::string difference = doc::unified_diff(one.before->name, one.before->text, one.after->text);
      // A document for programs stays one.
      if (outputs_.format == "text")
        print("{}", difference);
      else
        print_error("{}", difference);
      if (one.before->name != "<stdin>") TRY(replace_file(one.before->name, one.after->text));
    }
    Sources after = sources;
    for (doc::SourcePtr& source : after)
      for (const check::Repair& one : report.repairs)
        if (one.before == source) source = one.after;
    return checked(after);
  }

  Result<int> print_difference(const check::Report& report) {
    for (const check::Repair& one : report.repairs)
      print("{}", doc::unified_diff(one.before->name, one.before->text, one.after->text));
    for (const Error& error : errors_) print_error("railbed: {}\n", error.to_string());
    if (!report.repairs.empty()) return kExitFound;
    return errors_.empty() ? kExitOk : kExitError;
  }

  void add_coverage_of(const GivenPaths& given, check::Report& report) const {
    std::vector<check::NotRead>& not_read = report.coverage.not_read;
    std::set<std::string> known;
    for (const check::NotRead& one : not_read) known.insert(one.name);
    for (const std::vector<check::NotRead>* more : {&given.foreign, &given.skipped})
      for (const check::NotRead& one : *more)
        if (known.insert(one.name).second) not_read.push_back(one);
  }

  // Only of projects that were read as a whole: what others need is not known.
  void report_unused_ignores(check::Report& report) const {
    std::set<size_t> whole;
    for (const std::string& path : options_.files)
      for (size_t i = 0; i < projects_.all().size(); ++i) {
        const std::string relative = projects_.folder(i).lexically_relative(plain_absolute(path)).string();
        if (!relative.empty() && !relative.starts_with("..")) whole.insert(i);
      }
    doc::Diagnostics unused;
    check::report_unused(policy_, report.used_ignores, whole, unused);
    if (unused.all().empty()) return;
    check::judge(check::Bundle(), options_.settings, unused);
    report.findings.append(std::move(unused));
    report.findings.sort();
  }

  Result<void> compare(check::Report& report) {
    if (!options_.since.empty()) {
      const Sources before = TRY(sources_at(options_.since, options_.files, choice(), projects_));
      TRY(find_places(before));
      policy_.projects = projects_.all();
      report.known += static_cast<int>(check::keep_what_is_new(checked(before), options_.since, report));
    }
    if (!options_.write_baseline.empty()) {
      const check::Baseline baseline = check::Baseline::of(report);
      TRY(replace_file(options_.write_baseline, baseline.to_json()));
      report.known +=
          static_cast<int>(baseline.remove_known(report, fmt::format("in the baseline {}", options_.write_baseline)));
    } else if (!options_.baseline.empty()) {
      const doc::SourcePtr file = TRY(read_source(options_.baseline));
      const check::Baseline baseline = TRY(check::Baseline::read(file));
      size_t gone = 0;
      report.known +=
          static_cast<int>(baseline.remove_known(report, fmt::format("in the baseline {}", options_.baseline), &gone));
      report.gone = static_cast<int>(gone);
    }
    return {};
  }

  // --- how it ends

  // Why the run has not read what it was asked to read.
  void require_read(const check::Report& report) {
    // What was not rendered is the reason already; a chart may render to nothing.
    const bool explained = !errors_.empty() || !rendered_from_.empty();
    std::vector<std::string> names;
    for (const std::string& file : options_.files) names.push_back(doc::printable(file));
    if (!explained && report.objects() == 0 && report.unknown_kinds.empty() && report.commands == 0)
      errors_.push_back({.code = Code::kNotFound,
                         .message = fmt::format("no manifest found in {}", fmt::join(names, " ")),
                         .hint = report.coverage.not_read.empty() ? "" : check::coverage_text(report.coverage)});
    int objects = 0;
    for (const auto& [name, number] : report.read_from) objects += number;
    for (const std::string& wanted : options_.require_read) {
      const bool is_number = !wanted.empty() && wanted.find_first_not_of("0123456789") == std::string::npos;
      if (is_number && !is_at_least(objects, wanted))
        errors_.push_back(
            {.code = Code::kNotFound,
             .message = fmt::format("{} objects were read, --require-read requires {}", objects, wanted)});
      if (is_number ||
          std::ranges::any_of(report.read_from, [&](const auto& one) { return is_file_like(one.first, wanted); }))
        continue;
      errors_.push_back({.code = Code::kNotFound,
                         .message = fmt::format("no object was read from {}, which --require-read requires",
                                                doc::printable(wanted))});
    }
  }

  static bool is_at_least(int objects, const std::string& wanted) {
    int number = 0;
    const auto read = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    return read.ec == std::errc() && objects >= number;
  }

  bool is_file_like(const std::string& name, const std::string& pattern) const {
    const auto place = policy_.places.find(name);
    const std::string path = place == policy_.places.end() ? name : place->second.path;
    const check::PathPattern like(pattern);
    return like.covers(check::plain_path(name)) || like.covers(path) || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  }

  // 2 for findings comes before 1 for what was not read: a repository that has both must see the first.
  int exit_status(const check::Report& report) const {
    size_t bad = 0;
    if (options_.fail_on == "error") bad = report.sure_errors();
    if (options_.fail_on == "warning")
      bad = report.findings.count(doc::Severity::kError) + report.findings.count(doc::Severity::kWarning);
    if (bad > 0) return kExitFound;
    return report.incomplete.empty() ? kExitOk : kExitError;
  }

  Result<int> end(check::Report& report) {
    require_read(report);
    for (const Error& error : errors_) report.incomplete.push_back(error.story());
    const int status = exit_status(report);
    TRY(print_report(
        report, outputs_,
        {.quiet = options_.quiet, .notes = options_.notes, .exit_status = status, .rendered_from = rendered_from_}));
    flush_output();
    for (const Error& error : errors_) print_error("railbed: {}\n", error.to_string());
    return status;
  }

  CheckOptions& options_;
  CheckOutputs outputs_;
  CheckProjects projects_;
  check::Policy policy_;
  std::vector<facts::NodeFacts> nodes_;
  std::map<std::string, std::string> rendered_from_;
  std::vector<Error> errors_;  // what could not be read or rendered
};

}  // namespace

Result<int> run_check(CheckOptions& options) {
  return CheckRun(options).run();
}

}  // namespace railbed
