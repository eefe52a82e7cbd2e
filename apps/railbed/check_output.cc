// SPDX-License-Identifier: Apache-2.0
#include "check_output.h"

#include <cstdio>

#include "check/findings/output.h"
#include "check_projects.h"
#include "command/output.h"
#include "command/replace_file.h"
#include "doc/json.h"
#include "doc/yaml.h"

namespace railbed {
namespace {

check::SarifOptions sarif_options(const PrintOptions& options) {
  const std::filesystem::path here = plain_absolute(".");
  const std::filesystem::path repository = repository_of(here);
  return {.root = (repository.empty() ? here : repository).string(),
          .folder = here.string(),
          .notes = options.notes,
          .exit_status = options.exit_status,
          .rendered_from = options.rendered_from};
}

// The report in a format for programs, or as text without colours.
std::string document(const check::Report& report, std::string_view format, const PrintOptions& options) {
  if (format == "json") return doc::to_json(check::to_value(report), 2) + "\n";
  if (format == "yaml") return doc::to_yaml(check::to_value(report));
  if (format == "sarif") return check::to_sarif(report, sarif_options(options));
  if (format == "junit") return check::to_junit(report);
  if (format == "github") return check::to_github(report);
  if (format == "mistakes") return check::to_mistakes(report);
  if (format == "markdown") return check::to_markdown(report);
  return options.quiet ? check::findings_text(report, Colour::kNo) : check::to_text(report, Colour::kNo);
}

}  // namespace

Result<CheckOutputs> CheckOutputs::parse(const std::vector<std::string>& outputs) {
  CheckOutputs parsed;
  bool has_format = false;
  for (const std::string& one : outputs) {
    const size_t equals = one.find('=');
    if (equals != std::string::npos) {
      parsed.files[one.substr(equals + 1)] = one.substr(0, equals);
    } else {
      if (has_format)
        return fail(Error{.code = Code::kInvalid,
                          .message = fmt::format("-o {} and -o {} both go to standard output", parsed.format, one),
                          .hint = fmt::format("write one of them to a file: -o {}=FILE", one)});
      parsed.format = one;
      has_format = true;
    }
  }
  return parsed;
}

Result<void> print_report(const check::Report& report, const CheckOutputs& outputs, const PrintOptions& options) {
  for (const auto& [file, format] : outputs.files) TRY(replace_file(file, document(report, format, options)));
  const std::string& format = outputs.format;
  if (format == "json" || format == "yaml") {
    print_value(check::to_value(report), format);
  } else if (format == "text") {
    const Colour colour = colour_of(stdout);
    print("{}", options.quiet ? check::findings_text(report, colour) : check::to_text(report, colour));
  } else {
    print_document(document(report, format, options));
  }
  return {};
}

}  // namespace railbed
