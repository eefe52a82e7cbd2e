// SPDX-License-Identifier: Apache-2.0
// Documents against the program: verbs and options that they name exist, and the README's tour can be typed.
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "command/exit_status.h"
#include "run_verb.h"

namespace railbed {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

std::vector<fs::path> documents() {
  const fs::path root = source_dir();
  std::vector<fs::path> all = {root / "README.md", root / "SECURITY.md", root / "CONTRIBUTING.md",
                               root / "CHANGELOG.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  return all;
}

std::set<std::string> verbs() {
  std::set<std::string> all = {"help", "version"};
  std::istringstream lines(run_verb({"--help"}).output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  ")) all.insert(line.substr(2, line.find(' ', 2) - 2));
  return all;
}

// All options of a verb and of its subcommands, as its manual page has them.
std::set<std::string> options_of(const std::string& verb) {
  static std::map<std::string, std::set<std::string>> known;
  const auto [found, fresh] = known.try_emplace(verb);
  if (!fresh) return found->second;
  std::string page = run_verb({"man", verb}).output;
  page = std::regex_replace(page, std::regex(R"(\\-)"), "-");
  static const std::regex kName(R"(\\fB(--?[A-Za-z][a-z-]*)\\fR)");
  for (std::sregex_iterator at(page.begin(), page.end(), kName), end; at != end; ++at) found->second.insert((*at)[1]);
  found->second.insert({"--help", "-h"});
  return found->second;
}

// One command line of railbed in a document.
struct Typed {
  std::string verb;
  std::vector<std::string> options;
  std::string text;
};

// The code of a document: lines that are indented by four blanks or fenced, and what stands between backticks.
std::vector<std::string> code_in(const std::string& text) {
  static const std::regex kSpan("`([^`]+)`");
  std::vector<std::string> all;
  bool fenced = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool fence = line.starts_with("```");
    fenced = fenced != fence;
    if (fence) continue;
    if (fenced || line.starts_with("    ")) {
      all.push_back(line);
      continue;
    }
    for (std::sregex_iterator at(line.begin(), line.end(), kSpan), end; at != end; ++at) all.push_back((*at)[1]);
  }
  return all;
}

// The command lines of railbed in a document.
std::vector<Typed> typed_in(const std::string& text) {
  static const std::regex kCommand(
      R"((?:^|^ +|\$ |\| |-- |<\()(?:sudo )?(?:build/)?railbed ([a-z]+)((?: [^|#;&>]*)?))");
  static const std::regex kOption(R"((?:^|[ \[(|])(--?[A-Za-z][A-Za-z-]*))");
  std::vector<Typed> all;
  for (const std::string& code : code_in(text))
    for (std::sregex_iterator at(code.begin(), code.end(), kCommand), end; at != end; ++at) {
      Typed one{.verb = (*at)[1], .options = {}, .text = at->str()};
      std::string rest = (*at)[2];
      rest = rest.substr(0, rest.find(" -- "));  // behind it stands another program's command line
      for (std::sregex_iterator option(rest.begin(), rest.end(), kOption), none; option != none; ++option)
        one.options.push_back((*option)[1]);
      all.push_back(std::move(one));
    }
  return all;
}

// What is wrong in a text, one line each.
std::vector<std::string> wrong_in(const std::string& text) {
  static const std::set<std::string> kVerbs = verbs();
  std::vector<std::string> wrong;
  for (const Typed& one : typed_in(text)) {
    if (!kVerbs.contains(one.verb)) {
      wrong.push_back("there is no verb " + one.verb + ": " + one.text);
      continue;
    }
    if (one.verb == "help" || one.verb == "version") continue;
    for (const std::string& option : one.options)
      if (!options_of(one.verb).contains(option))
        wrong.push_back(one.verb + " has no option " + option + ": " + one.text);
  }
  return wrong;
}

TEST(Documents, NameVerbsAndOptionsThatExist) {
  size_t commands = 0;
  for (const fs::path& path : documents()) {
    const std::string text = content(path);
    commands += typed_in(text).size();
    EXPECT_THAT(wrong_in(text), IsEmpty()) << path;
  }
  EXPECT_GT(commands, 100u) << "the commands are not found any more";
  for (const std::string& verb : verbs()) EXPECT_THAT(wrong_in(run_verb({"help", verb}).output), IsEmpty()) << verb;
}

TEST(Documents, WithAnythingElseAreReported) {
  EXPECT_THAT(wrong_in("see `railbed fabric`"), testing::SizeIs(1));
  EXPECT_THAT(wrong_in("    $ railbed plan a.yaml --soft-rmda  # x"), testing::SizeIs(1));
  EXPECT_THAT(wrong_in("    railbed plan [--frob] | railbed chek -"), testing::SizeIs(2));
  EXPECT_THAT(wrong_in("`railbed exec a -- ls --frob`"), IsEmpty());
}

// Links to files of the tree.
TEST(Documents, LinkToWhatExists) {
  static const std::regex kLink(R"(\]\(([^)#: ]+)(#[^)]*)?\))");
  for (const fs::path& path : documents()) {
    const std::string text = content(path);
    for (std::sregex_iterator at(text.begin(), text.end(), kLink), end; at != end; ++at)
      EXPECT_TRUE(fs::exists(path.parent_path() / (*at)[1].str())) << path << ": " << at->str();
  }
}

// Scripts are written by the table.
TEST(Documents, HaveTheExitStatusesOfThePrograms) {
  const std::string page = content(fs::path(source_dir()) / "docs/README.md");
  const size_t begin = page.find("## Exit statuses");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = page.substr(begin, page.find("\n## ", begin) - begin);
  const std::regex row(R"(\n\| (\d+) \|)");
  std::vector<int> documented;
  for (std::sregex_iterator at(section.begin(), section.end(), row), end; at != end; ++at)
    documented.push_back(std::stoi(at->str(1)));
  std::vector<int> all;
  for (const ExitStatus& one : kExitStatuses) all.push_back(one.status);
  EXPECT_EQ(documented, all);
}

// What the tour only reads is run verbatim, on the recorded machine that it shows; what changes machines is run by
// the demo in its virtual machines (tests/lab).
TEST(Readme, TourSaysWhatTheProgramSays) {
  const std::string readme = content(fs::path(source_dir()) / "README.md");
  const std::string machine = (testdata() / "machines/lab-fresh.machine").string();
  const std::string demo = (fs::path(source_dir()) / "demo/manifests").string();
  const auto shows = [&](const std::string& output) {
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) EXPECT_THAT(readme, HasSubstr("    " + line + "\n")) << output;
  };
  const os::RunResult generated = run_verb({"generate", "--profile", "roce", "--soft-rdma", "--facts", machine});
  EXPECT_EQ(generated.exit_status, 0) << generated.errors;
  const fs::path file = fs::temp_directory_path() / ("railbed-tour-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(file) << generated.output;
  const os::RunResult checked = run_verb({"check", "-o", "text", file.string()});
  EXPECT_EQ(checked.exit_status, 0) << checked.output;
  shows(checked.output.substr(checked.output.rfind('\n', checked.output.size() - 2) + 1));
  fs::remove(file);
  EXPECT_EQ(run_verb({"plan", demo, "--soft-rdma", "--from", machine, "--node", "guest-1"}).exit_status, 2);
}

TEST(Readme, AWrongManifestIsReportedAsItShows) {
  const std::string readme = content(fs::path(source_dir()) / "README.md");
  const std::string machine = (testdata() / "machines/lab-fresh.machine").string();
  const std::string policy = (testdata() / "tour/policy.yaml").string();
  const os::RunResult planned = run_verb({"plan", policy, "--from", machine, "--node", "lab"});
  EXPECT_EQ(planned.exit_status, 1) << planned.output;
  std::string shown = "    $ railbed plan policy.yaml\n";
  std::istringstream lines(planned.errors);
  for (std::string line; std::getline(lines, line);)
    shown += "    " + (line.starts_with(policy) ? "policy.yaml" + line.substr(policy.size()) : line) + "\n";
  EXPECT_THAT(readme, HasSubstr(shown));
}

}  // namespace
}  // namespace railbed
