// SPDX-License-Identifier: Apache-2.0
// Files with tokens: which modes are refused, and what is said then.
#include "command/given_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/testdata.h"

namespace railbed {
namespace {

class TokenFile : public testing::Test {
 protected:
  TokenFile() { std::filesystem::create_directories(directory_); }
  ~TokenFile() override { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::string written(const std::string& text, mode_t mode, const std::string& name = "token") const {
    std::filesystem::remove(path(name));
    std::ofstream(path(name)) << text;
    EXPECT_EQ(::chmod(path(name).c_str(), mode), 0);
    return path(name);
  }
  static std::string said(const std::string& path) {
    const auto token = read_token(path);
    return token ? *token : token.error().to_string();
  }

  std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() / fmt::format("railbed-token-{}", ::getpid());
};

constexpr const char* kToken = "0123456789abcdef";

TEST_F(TokenFile, BelongsToItsOwnerAlone) {
  for (const mode_t mode : {0400, 0600}) EXPECT_EQ(said(written(kToken, mode)), kToken) << mode;
  const std::pair<mode_t, std::string> cases[] = {{0644, "0644, so every user of this machine"},
                                                  {0604, "0604, so every user of this machine"},
                                                  {0602, "0602, so every user of this machine"},
                                                  {0601, "0601, so every user of this machine"},
                                                  {0440, "0440, so its group"},
                                                  {0640, "0640, so its group"},
                                                  {0620, "0620, so its group"},
                                                  {0410, "0410, so its group"},
                                                  {01644, "1644, so every user of this machine"}};
  for (const auto& [mode, who] : cases) {
    const std::string file = written(kToken, mode);
    EXPECT_EQ(said(file),
              fmt::format("{}: the token file has mode {} can read or change the token\n  chmod 0400 {}; for "
                          "a Secret volume, set defaultMode: 0400 and no fsGroup",
                          file, who, file));
  }
}

// A Secret volume: token → ..data/token, ..data → ..2026_11_26; links have mode 0777.
TEST_F(TokenFile, MayBeBehindLinks) {
  std::filesystem::create_directories(path("..2026_11_26"));
  std::filesystem::create_directory_symlink("..2026_11_26", path("..data"));
  std::filesystem::create_symlink("..data/token", path("token"));
  const auto with_mode = [&](mode_t mode) {
    std::ofstream(path("..2026_11_26/token")) << kToken << "\nnot this\n";
    EXPECT_EQ(::chmod(path("..2026_11_26/token").c_str(), mode), 0);
    return said(path("token"));
  };
  EXPECT_EQ(with_mode(0600), kToken);
  EXPECT_TRUE(with_mode(0644).starts_with(path("token") + ": the token file has mode 0644")) << with_mode(0644);
}

TEST_F(TokenFile, HasATokenThatCannotBeGuessed) {
  EXPECT_EQ(said(""), "");
  EXPECT_EQ(said(written(std::string(256, 'x') + "\nmore", 0600)), std::string(256, 'x'));
  for (const std::string& wrong : {std::string(), std::string("sesame"), std::string(257, 'x')}) {
    const std::string file = written(wrong, 0600);
    EXPECT_EQ(said(file), fmt::format("{}: the first line must be a token of 16 to 256 characters, found {}\n"
                                      "  a short token can be guessed: (umask 077; openssl rand -hex 16 > {})",
                                      file, wrong.size(), file));
  }
  EXPECT_EQ(said(path("none")), "read " + path("none") + ": ENOENT (No such file or directory)");
}

}  // namespace
}  // namespace railbed
