// SPDX-License-Identifier: Apache-2.0
#include "check/read/shell_words.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace railbed::check {
namespace {

// "a|b c" for the words "a" and "b c"; commands are separated by " ; ", what stands in here-documents and the rest of
// the text follows.
std::string words_read(const std::string& text, size_t at = 0) {
  ShellLexer lexer(text, text.size());
  const ShellLine line = lexer.line(at);
  std::string out;
  for (const ShellWords& words : line.commands) {
    if (!out.empty()) out += " ; ";
    for (size_t i = 0; i < words.size(); ++i) out += (i == 0 ? "" : "|") + words[i].text;
  }
  for (const std::string& mark : line.here_documents) out += " <<" + mark;
  if (line.next < text.size()) out += " then " + text.substr(line.next);
  return out;
}

TEST(ShellWords, AreThoseThatAShellMakes) {
  const std::pair<std::string, std::string> cases[] = {
      {"a b\tc", "a|b|c"},
      {"  a  b ", "a|b"},
      {"", ""},
      {"a\nb", "a then b"},
      {"a\r\nb", "a then b"},
      {"a\rb", "a\rb"},
      {"a \\\n b\nc", "a|b then c"},
      {"a\\\r\nb\nc", "a|b then c"},
      {"a\\ b \\$c", "a b|$c"},
      {"a\\", "a\\"},
      {"'a b' \"c d\"", "a b|c d"},
      {"a'b'\"c\"", "abc"},
      {"''", ""},
      {"x '' y", "x||y"},
      {"'a\\'", "a\\"},
      {R"("a\"b\\c\$d\`e\nf")", "a\"b\\c$d`e\\nf"},
      {"\"a\\\nb\"", "a\nb"},
      {"'a", "'a"},
      {"\"a\\\"", "\"a\""},
      {"a # b", "a"},
      {"a#b", "a#b"},
      {"# a\nb", " then b"},
      {"a | b && c; d & e", "a ; b ; c ; d ; e"},
      {"(a; b)", "a ; b"},
      {"a > f", "a"},
      {"a >f b", "a|b"},
      {"a >> f b", "a|b"},
      {"a 2> f b", "a|b"},
      {"a 2>&1 b", "a|b"},
      {"a >&- b", "a|b"},
      {"a >&2- b", "a|b"},
      {"a 22> f b", "a|22|b"},
      {"a '2'> f b", "a|2|b"},
      {"a x> f b", "a|x|b"},
      {"a > 'f g' b", "a|b"},
      {"a < f b", "a|b"},
      {"a > f; b", "a ; b"},
      {"a >; b c", "a ; b|c"},
      {"a <<< f b", "a|b"},
      {"a <node> b", "a|<node>|b"},
      {"a <your node> b", "a|<your node>|b"},
      {"a <1node> b", "a"},
      {"a <> b", "a"},
      {"a <n;b> c", "a ; b"},
      {"a <n\"b> c", "a"},
      {"cat <<EOF\nx", "cat <<EOF then x"},
      {"cat <<-EOF", "cat <<EOF"},
      {"cat <<- 'E_1' b", "cat|b <<E_1"},
      {"cat << \"EOF\" > f", "cat <<EOF"},
      {"cat <<A <<B", "cat <<A <<B"},
      {"cat << ;b", "cat ; b"},
      {"a $(b c) d", "a|$|d ; b|c"},
      {"a x$(b)", "a|x$ ; b"},
      {"a $(b $(c) d) e", "a|$|e ; b|$|d ; c"},
      {"a `b c` d", "a|$|d ; b|c"},
      {"a x`b`", "a|x$ ; b"},
      {"$(b)", "b"},
      {"a $(b", "a ; b"},
      {"a `b", "a ; b"},
      {"a $(`b`) c", "a|$|c ; b"},
      {"a) b", "a ; b"},
      {"a$b", "a$b"},
  };
  for (const auto& [text, words] : cases) EXPECT_EQ(words_read(text), words) << text;
  EXPECT_EQ(words_read("a b\nc d\ne", 4), "c|d then e");
  const std::string most = "'" + std::string(64, 'x') + "'";
  EXPECT_EQ(words_read(most), std::string(64, 'x'));
}

TEST(ShellWords, KnowTheirPlaces) {
  const std::string text = "ab 'c d' e\\ f $(g)h";
  ShellLexer lexer(text, text.size());
  const ShellLine line = lexer.line(0);
  std::string places;
  for (const ShellWords& words : line.commands)
    for (const ShellWord& word : words)
      places += fmt::format("{} {}-{}{}; ", word.text, word.begin, word.end, word.quoted ? " quoted" : "");
  EXPECT_EQ(places, "ab 0-2; c d 3-8 quoted; e f 9-13; $h 18-19; g 16-17; ");
}

TEST(Assignments, HaveANameBeforeTheEqualsSign) {
  const auto is = [](const char* text) { return is_assignment(ShellWord{.text = text}); };
  EXPECT_TRUE(is("A=1"));
  EXPECT_TRUE(is("a_9="));
  EXPECT_FALSE(is("=1"));
  EXPECT_FALSE(is("A"));
  EXPECT_FALSE(is("a-b=1"));
  EXPECT_FALSE(is("--a=1"));
}

// What is left of a command behind the programs that only start another one, and where that runs.
TEST(Leaders, AreSkipped) {
  const std::pair<std::string, std::string> cases[] = {
      {"ls -l", "ls -l"},
      {"A=1 B=2 ls", "ls"},
      {"do ls", "ls"},
      {"if ! ls", "ls"},
      {"sudo -E ls -l", "ls -l"},
      {"sudo -u root ls", "ls"},
      {"sudo -u root", "root"},
      {"watch -n 1 ls", "ls"},
      {"env -i A=1 ls", "ls"},
      {"nohup time numactl -N0 ls", "ls"},
      {"timeout 5 ls", "ls"},
      {"timeout -k 5 ls", "ls"},
      {"timeout 5", "timeout 5"},
      {"taskset -c 3 ls -l", "ls -l"},
      {"chroot /host ls", "ls"},
      {"chroot /host", "chroot /host"},
      {"kubectl get pods", "kubectl get pods"},
      {"kubectl exec p -- ls -l", "@p ls -l"},
      {"kubectl -n net exec p -- ls", "@p ls"},
      {"kubectl --namespace net --context c exec p -- ls", "@p ls"},
      {"kubectl -v exec p -- ls", "@p ls"},
      {"kubectl net exec p -- ls", "kubectl net exec p -- ls"},
      {"kubectl exec", "kubectl exec"},
      {"kubectl exec -it", "kubectl exec -it"},
      {"kubectl exec -it -c main p -- ls", "@p ls"},
      {"kubectl exec -n net --container main p -- ls", "@p ls"},
      {"kubectl exec p ls", "@p "},
      {"oc debug node/n -- chroot /host ls", "@node/n ls"},
      {"oc debug --image x node/n", "@node/n "},
      {"oc rsh p ls", "@p ls"},
      {"oc rsh p", "@p "},
      {"docker exec -it -e A=1 -u 0 -w /x c ls", "@c ls"},
      {"podman exec c ls -l", "@c ls -l"},
      {"crictl exec c ls", "@c ls"},
      {"docker run c ls", "docker run c ls"},
      {"sudo kubectl exec p -- sudo ls", "@p ls"},
      {"", ""},
  };
  for (const auto& [text, rest] : cases) {
    ShellLexer lexer(text, text.size());
    const ShellLine line = lexer.line(0);
    const ShellWords words = line.commands.empty() ? ShellWords{} : line.commands[0];
    std::string where;
    std::string out;
    for (size_t i = skip_leaders(words, where); i < words.size(); ++i) out += (out.empty() ? "" : " ") + words[i].text;
    EXPECT_EQ((where.empty() ? "" : "@" + where + " ") + out, rest) << text;
  }
}

}  // namespace
}  // namespace railbed::check
