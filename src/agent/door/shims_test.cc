// SPDX-License-Identifier: Apache-2.0
// Installing the shim into real folders, killed before every step that changes something.
#include "agent/door/shims.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "schema/cni_types.h"

namespace railbed::agent {
namespace {

const std::string kShim = std::string(
                              "\x7f"
                              "ELF") +
                          "…railbed-cni-shim/1.2.3\n…";
const std::string kNewShim = std::string(
                                 "\x7f"
                                 "ELF") +
                             "…railbed-cni-shim/1.2.4\n…";
const std::vector<std::string> kTypes = {"macvlan", "sriov"};

class PluginFolder {
 public:
  PluginFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-shims.XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~PluginFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::remove(*this / name);
    std::ofstream(*this / name) << text;
  }
  // All files below the directory, by name.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> out;
    for (const auto& one : std::filesystem::recursive_directory_iterator(path_))
      if (one.is_regular_file()) out[one.path().string().substr(path_.size() + 1)] = content(one.path());
    return out;
  }

 private:
  std::string path_;
};

struct Killed {};

// Simulates the end of the process before step number `steps`.
class Mortal : public os::ProgramFiles {
 public:
  explicit Mortal(int steps) : left_(steps) {}
  bool exists(const std::string& path) const override { return files_->exists(path); }
  bool same(const std::string& a, const std::string& b) const override { return files_->same(a, b); }
  Result<std::string> read(const std::string& path, size_t most) const override { return files_->read(path, most); }
  Result<void> make_folder(const std::string& path) override { return step().make_folder(path); }
  Result<void> write(const std::string& path, std::string_view content) override {
    if (left_ == 0) std::ofstream(path) << content.substr(0, content.size() / 2);  // also in the middle of a write
    return step().write(path, content);
  }
  Result<void> link(const std::string& from, const std::string& to) override { return step().link(from, to); }
  Result<void> rename(const std::string& from, const std::string& to) override { return step().rename(from, to); }
  Result<void> remove(const std::string& path) override { return step().remove(path); }
  Result<void> remove_folder(const std::string& path) override { return step().remove_folder(path); }

 private:
  os::ProgramFiles& step() {
    if (left_-- == 0) throw Killed();
    return *files_;
  }
  int left_;
  std::unique_ptr<os::ProgramFiles> files_ = os::real_program_files();
};

void start(const PluginFolder& folder) {
  folder.put("macvlan", "the original");
  folder.put("bridge", "not ours");
}
const std::map<std::string, std::string> kInstalled = {
    {".railbed-originals/macvlan", "the original"}, {"bridge", "not ours"}, {"macvlan", kShim}, {"sriov", kShim}};
const std::map<std::string, std::string> kBefore = {{"bridge", "not ours"}, {"macvlan", "the original"}};

TEST(ShimTypes, AreAllTypesThatAreOurs) {
  const auto names = shim_types();
  for (const schema::CniType& type : schema::cni_types())
    for (const std::string_view name : {type.name, type.also_called})
      EXPECT_TRUE(name.empty() || std::ranges::count(names, name) == (type.ours ? 1 : 0)) << name;
  EXPECT_EQ(std::ranges::count(names, "railbed"), 1);
}

TEST(Shims, AreInstalledAndTheOriginalsComeBack) {
  PluginFolder folder;
  start(folder);
  auto files = os::real_program_files();
  Shims shims(*files, folder / "");
  ASSERT_TRUE(shims.install(kShim, kTypes).has_value());
  EXPECT_EQ(folder.files(), kInstalled);
  EXPECT_EQ(std::filesystem::status(folder / "sriov").permissions(), std::filesystem::perms(0755));
  ASSERT_TRUE(shims.install(kNewShim, kTypes).has_value());
  EXPECT_EQ(folder.files().at(".railbed-originals/macvlan"), "the original");
  auto state = shims.state({"macvlan", "sriov", "bridge", "vrf"});
  ASSERT_TRUE(state.has_value());
  using What = ShimState::What;
  EXPECT_EQ(*state, (std::vector<ShimState>{{"macvlan", What::kShim, "1.2.4", true},
                                            {"sriov", What::kShim, "1.2.4", false},
                                            {"bridge", What::kOriginal, "", false},
                                            {"vrf", What::kAbsent, "", false}}));
  ASSERT_TRUE(shims.uninstall(kTypes).has_value());
  EXPECT_EQ(folder.files(), kBefore);
  EXPECT_FALSE(std::filesystem::exists(folder / ".railbed-originals"));
}

TEST(Shims, KilledBeforeAnyStepAlwaysLeaveAWholeProgramAndEndTheSame) {
  int steps = 0;
  for (bool finished = false; !finished; ++steps) {
    PluginFolder folder;
    start(folder);
    try {
      Mortal files(steps);
      finished = Shims(files, folder / "").install(kShim, kTypes).has_value();
    } catch (const Killed&) {
    }
    const std::string now = folder.files().at("macvlan");
    EXPECT_TRUE(now == "the original" || now == kShim) << steps << now;
    auto files = os::real_program_files();
    Shims shims(*files, folder / "");
    if (steps % 2 == 0) {
      ASSERT_TRUE(shims.install(kShim, kTypes).has_value());
      EXPECT_EQ(folder.files(), kInstalled) << steps;
    }
    ASSERT_TRUE(shims.uninstall(kTypes).has_value());
    EXPECT_EQ(folder.files(), kBefore) << steps;
  }
  EXPECT_GT(steps, 10);
}

TEST(Shims, KilledWhileUninstallingGoOnAtTheNextCall) {
  int steps = 0;
  for (bool finished = false; !finished; ++steps) {
    PluginFolder folder;
    start(folder);
    auto real = os::real_program_files();
    ASSERT_TRUE(Shims(*real, folder / "").install(kShim, kTypes).has_value());
    try {
      Mortal files(steps);
      finished = Shims(files, folder / "").uninstall(kTypes).has_value();
    } catch (const Killed&) {
    }
    const std::string now = folder.files().at("macvlan");
    EXPECT_TRUE(now == "the original" || now == kShim) << steps << now;
    ASSERT_TRUE(Shims(*real, folder / "").uninstall(kTypes).has_value());
    EXPECT_EQ(folder.files(), kBefore) << steps;
  }
  EXPECT_GT(steps, 5);
}

TEST(Shims, ANewerOriginalOverOurShimIsKeptInstead) {
  PluginFolder folder;
  start(folder);
  auto files = os::real_program_files();
  Shims shims(*files, folder / "");
  ASSERT_TRUE(shims.install(kShim, kTypes).has_value());
  folder.put("macvlan", "a newer original");
  ASSERT_TRUE(shims.uninstall({"macvlan"}).has_value());
  EXPECT_EQ(folder.files().at("macvlan"), "a newer original");
  ASSERT_TRUE(shims.install(kShim, kTypes).has_value());
  EXPECT_EQ(folder.files().at(".railbed-originals/macvlan"), "a newer original");
}

TEST(Shims, RefuseWhatIsNoShim) {
  PluginFolder folder;
  start(folder);
  auto files = os::real_program_files();
  auto done = Shims(*files, folder / "")
                  .install(
                      "\x7f"
                      "ELF something else",
                      kTypes);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().message, "the program to install is not railbed-cni");
  EXPECT_EQ(folder.files(), kBefore);
  EXPECT_EQ(shim_version("text that says railbed-cni-shim/1.2.3\n"), "");
}

}  // namespace
}  // namespace railbed::agent
