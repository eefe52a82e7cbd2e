// SPDX-License-Identifier: Apache-2.0
// Commands: options that the tool does not have, tests whose two sides do not match, checks that prove nothing.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "check/data_files.h"
#include "check/read/command_view.h"
#include "check/read/sections.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "check/rules/output.h"

namespace railbed::check {
namespace {

using doc::Value;

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789_./:") != std::string_view::npos;
}

bool is_kubectl(const Command& command) {
  return !command.words.empty() && (command.words[0].text == "kubectl" || command.words[0].text == "oc");
}

bool has_word(const Command& command, std::string_view word) {
  return std::ranges::find(command.words, word, &Word::text) != command.words.end();
}

// Whether a line of text or a word of a command in that source contains `needle`.
bool mentions(const Bundle& bundle, const doc::SourcePtr& source, std::string_view needle) {
  for (const TextLine& line : text_lines(bundle))
    if (line.span->source == source && line.text.find(needle) != std::string_view::npos) return true;
  for (const Command& command : bundle.commands)
    if (command.span.source == source)
      for (const Word& word : command.words)
        if (word.text.find(needle) != std::string::npos) return true;
  return false;
}

// The same for commands of all sources.
bool runs(const Bundle& bundle, std::string_view needle) {
  return std::ranges::any_of(bundle.commands, [&](const Command& command) {
    return std::ranges::any_of(command.words,
                               [&](const Word& word) { return word.text.find(needle) != std::string::npos; });
  });
}

// Another command of the same tool and source that has `option`.
const ToolCommand* other_with(const std::vector<ToolCommand>& all, const ToolCommand& one, std::string_view option) {
  for (const ToolCommand& other : all)
    if (&other != &one && other.tool == one.tool && same_source(other.command->span, one.command->span) &&
        other.parsed.given(*other.tool, option) != nullptr)
      return &other;
  return nullptr;
}

void unknown_option(const Input& in, Findings& out) {
  const std::vector<ToolCommand> all = tool_commands(in.bundle);
  for (const ToolCommand& one : all) {
    if (one.tool->options.empty()) continue;
    for (const OptionProblem& problem : one.parsed.problems) {
      if (problem.what != OptionProblem::kUnknown || is_placeholder_word(problem.option)) continue;
      const Word& word = one.word(problem.word);
      const doc::Span span = part_of(word.span, 0, problem.option.size());
      auto& reported = out.error(span, fmt::format("{} ({}) has no option '{}'; it ends with its usage text",
                                                   one.tool->name, one.tool->package, problem.option));
      if (problem.nearest.empty()) {
        reported.at_most(doc::Confidence::kMedium, "a version of the tool that is not known here may have it");
        continue;
      }
      reported.with_fix(fmt::format("did you mean '{}'?", problem.nearest));
      if (word.text.starts_with(problem.option)) reported.with_edit(span, problem.nearest);
      const ToolCommand* other = other_with(all, one, problem.nearest);
      if (other != nullptr)
        reported.note(other->word(other->parsed.given(*other->tool, problem.nearest)->word).span,
                      "the other side says it so");
    }
  }
}

void stray_word(const Input& in, Findings& out) {
  for (const ToolCommand& one : tool_commands(in.bundle))
    for (const OptionProblem& problem : one.parsed.problems) {
      if (problem.what != OptionProblem::kStray) continue;
      const Word& word = one.word(problem.word);
      if (is_placeholder_word(word.text) || !has_digit(word.text)) continue;
      const std::string message = problem.after.empty()
                                      ? fmt::format("{} does not recognize '{}'", one.tool->name, word.text)
                                      : fmt::format("{} of {} takes no argument, so '{}' has no effect", problem.after,
                                                    one.tool->name, word.text);
      std::string fix = fmt::format("leave '{}' out", word.text);
      if (!one.tool->hint.empty()) fix += "; " + one.tool->hint;
      out.warning(word.span, message).with_fix(std::move(fix));
    }
}

void missing_argument(const Input& in, Findings& out) {
  for (const ToolCommand& one : tool_commands(in.bundle))
    for (const OptionProblem& problem : one.parsed.problems) {
      if (problem.what != OptionProblem::kNeedsArgument) continue;
      const ToolOption* option = one.tool->find(problem.option);
      out.error(one.word(problem.word).span, fmt::format("{} of {} needs an argument", problem.option, one.tool->name))
          .with_fix(fmt::format("{} {}", problem.option, option ? option->argument : "VALUE"));
    }
}

// The longest name of an option, which is the easiest to read.
std::string_view long_name(const ToolOption& option) {
  return *std::ranges::max_element(option.names, {}, &std::string::size);
}

bool is_script(const doc::Span& span) {
  const std::string_view name = span.source->name;
  return name.ends_with(".sh") || name.ends_with(".bash") || span.source->text.starts_with("#!");
}

bool agree_in_all(const Pair& pair) {
  return std::ranges::all_of(pair.client->tool->options, [&](const ToolOption& option) {
    return !option.both_sides || agree(pair, option.names[0]);
  });
}

void sides_differ(const Input& in, Findings& out) {
  const std::vector<ToolCommand> all = tool_commands(in.bundle);
  const std::vector<Pair> found = pairs(all);
  for (const Pair& pair : found) {
    if (!pair.server->parsed.problems.empty() || !pair.client->parsed.problems.empty()) continue;
    // A page shows a test, and then the output of another run of it: the server has its client.
    if (std::ranges::any_of(found, [&](const Pair& other) {
          return other.server == pair.server && other.client != pair.client && agree_in_all(other);
        }))
      continue;
    for (const ToolOption& option : pair.client->tool->options) {
      if (!option.both_sides) continue;
      const GivenOption* server = pair.server->parsed.given(*pair.server->tool, option.names[0]);
      const GivenOption* client = pair.client->parsed.given(*pair.client->tool, option.names[0]);
      if (agree(pair, option.names[0])) continue;
      const auto said = [&](const GivenOption* given) {
        if (given == nullptr) return fmt::format("no {}", long_name(option));
        return given->argument.empty() ? given->name : fmt::format("{} {}", given->name, given->argument);
      };
      const doc::Span at = client ? pair.client->word(client->word).span : pair.client->command->span;
      auto& reported = out.error(at, fmt::format("the client of {} has '{}', its server '{}': they run different tests",
                                                 pair.client->tool->name, said(client), said(server)));
      reported.note(server ? pair.server->word(server->word).span : pair.server->command->span, "the server")
          .with_fix("use the same options on both sides");
      if (!is_script(at)) reported.at_most(doc::Confidence::kMedium, "the two commands are examples of a text");
    }
  }
}

bool wants_gpu_test(const Input& in, const doc::SourcePtr& source) {
  for (const PodTemplate& pod : in.pods)
    if (pod.span.source == source && gpus_of(pod) > 0) return true;
  return mentions(in.bundle, source, "GPUDirect") || mentions(in.bundle, source, "NCCL");
}

// One finding for a source: the last command that measures bandwidth, where none uses GPU memory.
void host_memory_only(const Input& in, Findings& out) {
  std::map<doc::SourcePtr, const ToolCommand*> measured;
  std::set<doc::SourcePtr> covered;
  const std::vector<ToolCommand> all = tool_commands(in.bundle);
  for (const ToolCommand& one : all) {
    const doc::SourcePtr& source = one.command->span.source;
    if (one.uses_gpu_memory() || one.tool->package == "nccl-tests") covered.insert(source);
    if (!one.tool->memory.empty()) measured[source] = &one;
  }
  for (const auto& [source, last] : measured)
    if (!covered.contains(source) && wants_gpu_test(in, source))
      out.warning(last->command->span,
                  fmt::format("this {} moves host memory; nothing here tests GPU memory, which the job uses",
                              last->tool->name))
          .with_fix("run it once more with --use_cuda=0 --use_cuda_dmabuf on both sides, or an all_reduce_perf");
}

bool has_key(const Value& value, std::string_view key) {
  if (const Value::Object* members = value.as_object())
    for (const Value::Member& member : *members)
      if (member.key == key || has_key(member.value, key)) return true;
  if (const Value::Array* items = value.as_array())
    for (const Value& item : *items)
      if (has_key(item, key)) return true;
  const std::string* text = value.as_string();
  return text != nullptr && *text == key;
}

// `label node N K=V` followed by `get nodes -l K=V` only shows what the first command did.
void label_proves_itself(const Input& in, Findings& out) {
  std::map<std::string, const Word*> set;
  for (const Command& command : in.bundle.commands) {
    if (!is_kubectl(command)) continue;
    const bool nodes = has_word(command, "node") || has_word(command, "nodes") || has_word(command, "no");
    if (!nodes) continue;
    if (has_word(command, "label")) {
      for (const Word& word : command.words)
        if (word.text.find('=') != std::string::npos && word.text[0] != '-') set.emplace(word.text, &word);
      continue;
    }
    for (const Word& word : command.words) {
      const auto found = set.find(word.text);
      if (found == set.end() || !has_word(command, "get")) continue;
      const std::string key = word.text.substr(0, word.text.find('='));
      const bool used = std::ranges::any_of(in.bundle.documents,
                                            [&](const Document& document) { return has_key(document.value, key); });
      if (used) continue;
      out.warning(word.span, fmt::format("this lists the nodes that were manually labelled '{}': it shows nothing else "
                                         "about them, and no selector uses it",
                                         key))
          .note(found->second->span, "it is set here")
          .with_fix(
              "let a NodeFeatureRule set the label from what the node has, or look for the "
              "resource in status.allocatable");
    }
  }
}

struct Card {
  std::string pf, name, mst;
};

std::vector<Card> cards_with_mst() {
  std::vector<Card> out;
  const Value data = data_document("pci_ids.yaml");
  const Value* list = data.find("cards");
  if (const Value::Array* items = list ? list->as_array() : nullptr)
    for (const Value& item : *items)
      out.push_back(
          {std::string(text_at(item, "pf")), std::string(text_at(item, "name")), std::string(text_at(item, "mst"))});
  return out;
}

const Card* find_card(const std::vector<Card>& cards_with_mst, std::string Card::* field, std::string_view value) {
  const auto found = std::ranges::find(cards_with_mst, value, field);
  return found == cards_with_mst.end() ? nullptr : &*found;
}

// "mt4125" of "/dev/mst/mt4125_pciconf0.1".
std::string_view mst_name(std::string_view word) {
  constexpr std::string_view kFolder = "/dev/mst/";
  const size_t at = word.find(kFolder);
  if (at == std::string_view::npos) return {};
  word.remove_prefix(at + kFolder.size());
  const size_t end = word.find('_');
  if (!word.starts_with("mt") || end == std::string_view::npos || end < 3) return {};
  const bool digits = word.substr(2, end - 2).find_first_not_of("0123456789") == std::string_view::npos;
  return digits ? word.substr(0, end) : std::string_view();
}

using SelectedDevices = std::vector<std::pair<std::string, doc::Span>>;  // device ids that policies select

SelectedDevices selected_devices(const Input& in) {
  SelectedDevices out;
  for (const PolicyView& policy : in.views.policies)
    if (const Value* id = at(*policy.spec, "nicSelector.deviceID"); id != nullptr && id->as_string() != nullptr)
      out.emplace_back(*id->as_string(), id->span);
  return out;
}

// Whether `mst` can be the name of a card that the policies select.
bool fits(const std::vector<Card>& known, const SelectedDevices& selected, std::string_view mst) {
  if (find_card(known, &Card::mst, mst) == nullptr) return false;
  return selected.empty() || std::ranges::any_of(selected, [&](const auto& one) {
           const Card* its = find_card(known, &Card::pf, one.first);
           return its == nullptr || its->mst == mst;
         });
}

void mst_name_of_another_card(const Input& in, Findings& out) {
  if (in.bundle.commands.empty()) return;
  const std::vector<Card> known = cards_with_mst();
  const SelectedDevices selected = selected_devices(in);
  for (const Command& command : in.bundle.commands)
    for (const Word& word : command.words) {
      const std::string_view name = mst_name(word.text);
      if (name.empty() || fits(known, selected, name)) continue;
      const Card* card = find_card(known, &Card::mst, name);
      auto& reported = out.warning(part_of(word.span, word.text.find(name), name.size()),
                                   card == nullptr ? fmt::format("no card is named {}", name)
                                                   : fmt::format("{} is a {} (device {}), which no policy here selects",
                                                                 name, card->name, card->pf));
      for (const auto& [id, span] : selected)
        if (const Card* its = find_card(known, &Card::pf, id); its != nullptr && !its->mst.empty())
          reported.note(span, fmt::format("device {} is a {}; its name there is {}", id, its->name, its->mst));
      reported.with_fix("name the card by its PCI address, which needs no mst driver: -d 0000:5e:00.0");
    }
}

void mst_without_driver(const Input& in, Findings& out) {
  if (in.bundle.commands.empty()) return;
  for (const Command& command : in.bundle.commands)
    if (!command.words.empty() && command.words[0].text == "mst") return;
  const std::vector<Card> known = cards_with_mst();
  const SelectedDevices selected = selected_devices(in);
  for (const Command& command : in.bundle.commands) {
    const std::string_view program = command.words.empty() ? "" : std::string_view(command.words[0].text);
    if (program != "mstconfig" && program != "mstflint") continue;
    for (const Word& word : command.words) {
      const std::string_view name = mst_name(word.text);
      if (!name.empty() && fits(known, selected, name))
        out.note(word.span, fmt::format("/dev/mst is created by `mst start` (MFT), which is never run here; {} is part "
                                        "of mstflint and takes PCI addresses",
                                        program))
            .with_fix("-d 0000:5e:00.0");
    }
  }
}

bool lists_devices(const Command& command) {
  static constexpr std::array<std::string_view, 6> kLists{"lspci",  "ibdev2netdev", "ibv_devices",
                                                          "ibstat", "ibstatus",     "show_gids"};
  return !command.words.empty() && std::ranges::find(kLists, command.words[0].text) != kLists.end();
}

// Whether the output is a list of cards, not one of all PCI devices that was cut for another reason.
bool lists_cards(const Command& command) {
  if (command.words[0].text != "lspci") return true;
  const std::string_view line = command.span.source->text;
  const std::string_view rest = line.substr(
      command.span.offset, std::min<size_t>(200, line.find('\n', command.span.offset) - command.span.offset));
  for (std::string_view name : {"Mellanox", "mellanox", "15b3", "nfiniband", "ConnectX", "NVIDIA"})
    if (rest.find(name) != std::string_view::npos) return true;
  return false;
}

void first_card_only(const Input& in, Findings& out) {
  const Command* list = nullptr;
  for (const Command& command : in.bundle.commands) {
    const bool same_line =
        list != nullptr && same_source(list->span, command.span) && list->span.line == command.span.line;
    if (lists_devices(command)) list = same_line ? list : &command;
    const bool head = !command.words.empty() && command.words[0].text == "head" && command.words.size() > 1;
    const bool one =
        head && (command.words[1].text == "-1" || command.words[1].text == "-n1" ||
                 (command.words.size() > 2 && command.words[1].text == "-n" && command.words[2].text == "1"));
    if (one && same_line && lists_cards(*list))
      out.warning(command.span, "this checks the first card only; the others may differ")
          .note(list->span, "they are listed here")
          .with_fix("loop over all of them: for card in $(lspci -Dn -d 15b3: | cut -d' ' -f1); do …; done");
  }
}

bool is_node(const Command& command) {
  return command.where.empty() || command.where.starts_with("node/") || command.where.starts_with("no/");
}

void devices_of_the_node(const Input& in, Findings& out) {
  const Command* on_node = nullptr;
  for (const Command& command : in.bundle.commands) {
    if (command.words.empty()) continue;
    const std::string& program = command.words[0].text;
    const bool lists =
        (program == "ls" || program == "ll" || program == "find") &&
        std::ranges::any_of(command.words, [](const Word& word) { return word.text.starts_with("/dev/infiniband"); });
    const bool shows = lists || program == "ibv_devices" || program == "ibv_devinfo";
    if (shows && !is_node(command)) return;  // it was checked in a pod as well
    if (lists && command.where.starts_with("node/")) on_node = &command;
  }
  if (on_node == nullptr) return;
  auto& reported = out.note(
      on_node->span, "these are the devices of the node; a pod sees only those that its device plugin allocated");
  reported.with_fix("also check in a pod: kubectl exec POD -- ls /dev/infiniband");
  for (const Prose& prose : in.bundle.prose)
    if (same_source(prose.span, on_node->span) && prose.span.line >= on_node->span.line &&
        prose.span.line <= on_node->span.line + 3 && prose.text.find("GPU Operator") != std::string_view::npos)
      reported.note(prose.span, "the GPU Operator does not load the driver of the network card");
}

void answer_is_no_proof(const Input& in, Findings& out) {
  if (in.bundle.commands.empty()) return;
  const Value data = data_document("logs.yaml");
  for (const Command& command : in.bundle.commands) {
    if (command.words.empty() || command.words[0].text != "curl") continue;
    const auto asks = std::ranges::find_if(command.words, [](const Word& word) {
      return word.text.find("/v1/chat/completions") != std::string::npos ||
             word.text.find("/v1/completions") != std::string::npos;
    });
    const doc::SourcePtr& source = command.span.source;
    if (asks == command.words.end()) continue;
    if (!mentions(in.bundle, source, "RDMA") && !mentions(in.bundle, source, "RoCE")) continue;
    const std::vector<Word> proofs = texts_at(data, "proof");
    if (std::ranges::any_of(proofs, [&](const Word& proof) { return runs(in.bundle, proof.text); })) continue;
    out.note(asks->span, "an answer also arrives over TCP; it does not prove that RDMA was used")
        .with_fix("read the port's counters before and after (port_xmit_data), or NCCL's and UCX's transport lines");
  }
}

// Whether the "bc:00" around the ':' at `colon` is of a PCI address ("bc:00.0", "0000:bc:00.0"), and not a part of a
// MAC or a GUID.
bool is_pci_address(std::string_view line, size_t colon) {
  if (colon + 3 < line.size() && line[colon + 3] == ':') return false;
  const std::string_view before = line.substr(0, colon - 2);
  const size_t word = before.find_last_not_of("0123456789abcdefABCDEF:");
  const std::string_view domain = before.substr(word == std::string_view::npos ? 0 : word + 1);
  return domain.empty() || (domain.ends_with(':') && domain.find(':') == domain.size() - 1 && domain.size() >= 5);
}

// "mlx5_4" → "bc:00" from lines that name both.
std::map<std::string, std::string> addresses_of_devices(const Bundle& bundle, const doc::SourcePtr& source) {
  std::map<std::string, std::string> out;
  for (const TextLine& line : text_lines(bundle)) {
    if (line.span->source != source) continue;
    const size_t device = line.text.find("mlx5_");
    if (device == std::string_view::npos) continue;
    const size_t end = std::min(line.text.find_first_not_of("0123456789", device + 5), line.text.size());
    for (size_t at = line.text.find(':'); at != std::string_view::npos; at = line.text.find(':', at + 1)) {
      if (at < 2 || at + 2 >= line.text.size()) continue;
      const std::string_view address = line.text.substr(at - 2, 5);
      const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
      const bool bus =
          is_hex(address[0]) && is_hex(address[1]) && address.size() == 5 && is_hex(address[3]) && is_hex(address[4]);
      if (bus && is_pci_address(line.text, at)) out.emplace(line.text.substr(device, end - device), address);
    }
  }
  return out;
}

// "bc:00" for each root device that a policy selects.
std::set<std::string> selected_addresses(const Input& in, const doc::SourcePtr& source) {
  std::set<std::string> out;
  for (const PolicyView& policy : in.views.policies)
    for (const Word& root : texts_at(*policy.spec, "nicSelector.rootDevices"))
      if (root.span.source == source && root.text.size() == 12) out.insert(root.text.substr(5, 5));
  return out;
}

void ping_across_fabrics(const Input& in, Findings& out) {
  const ToolCommand* server = nullptr;
  Sections sections;
  const std::vector<ToolCommand> all = tool_commands(in.bundle);
  for (const ToolCommand& one : all) {
    if (one.tool->name != "ibping") continue;
    if (one.parsed.given(*one.tool, "-S") != nullptr) {
      server = &one;
      continue;
    }
    if (server == nullptr || !sections.same(server->command->span, one.command->span)) continue;
    const Word* a = server->argument("-C");
    const Word* b = one.argument("-C");
    if (a == nullptr || b == nullptr || a->text == b->text) continue;
    auto addresses = addresses_of_devices(in.bundle, one.command->span.source);
    const std::set<std::string> selected = selected_addresses(in, one.command->span.source);
    if (selected.empty() || !addresses.contains(a->text) || !addresses.contains(b->text)) continue;
    if (selected.contains(addresses[a->text]) == selected.contains(addresses[b->text])) continue;
    const Word* outside = selected.contains(addresses[a->text]) ? b : a;
    out.warning(outside->span,
                fmt::format("{} ({}) is not selected by the policy, but its partner is: the two may be in different "
                            "fabrics, which cannot reach each other",
                            outside->text, addresses[outside->text]))
        .note((outside == a ? b : a)->span, "its partner")
        .with_fix("ping between ports of one fabric: those with the same subnet manager (sm_lid) and subnet prefix");
  }
}

void state_not_looked_at(const Input& in, Findings& out) {
  for (const ToolCommand& one : tool_commands(in.bundle)) {
    if (one.tool->name != "ibv_devinfo" && one.tool->name != "ibv_devices") continue;
    if (is_node(*one.command) || !one.command->output.empty()) continue;
    const doc::SourcePtr& source = one.command->span.source;
    if (mentions(in.bundle, source, "PORT_ACTIVE") || mentions(in.bundle, source, "port state")) continue;
    out.note(one.command->span,
             fmt::format("{} also lists devices whose port is down or that have no address", one.tool->name))
        .with_fix("look for 'state: PORT_ACTIVE', and for a LID (InfiniBand) or a GID with an address (RoCE)");
  }
}

void placeholder_in_script(const Input& in, Findings& out) {
  for (const Command& command : in.bundle.commands) {
    if (!command.span.known() || !is_script(command.span)) continue;
    for (const Word& word : command.words)
      if (word.text.starts_with("<") && word.text.ends_with(">") && word.text.size() > 2 &&
          command.span.source->text.compare(word.span.offset, 1, "<") == 0)
        out.error(word.span,
                  fmt::format("the placeholder {} was not filled in; the shell reads '<' as a redirection", word.text))
            .with_fix("write the real value, or a variable that must be set: \"${NODE:?}\"")
            .that_says(doc::Says::kPlaceholder);
  }
}

constexpr std::array kCommandRules = {
    Rule{"RB-CMD-001", "an option that the tool does not have", Needs::kNothing, unknown_option},
    Rule{"RB-CMD-002", "a word that the tool does not recognize", Needs::kNothing, stray_word},
    Rule{"RB-CMD-003", "an option without its argument", Needs::kNothing, missing_argument},
    Rule{"RB-CMD-004", "server and client of a test say different things", Needs::kNothing, sides_differ},
    Rule{"RB-CMD-005", "GPUs are used, only host memory is tested", Needs::kNothing, host_memory_only},
    Rule{"RB-CMD-006", "a label is set manually and then queried", Needs::kNothing, label_proves_itself},
    Rule{"RB-CMD-007", "an mst name of another card", Needs::kNothing, mst_name_of_another_card},
    Rule{"RB-CMD-008", "/dev/mst without the mst driver", Needs::kNothing, mst_without_driver},
    Rule{"RB-CMD-009", "only the first of several cards is looked at", Needs::kNothing, first_card_only},
    Rule{"RB-CMD-010", "devices of the node are taken for those of a pod", Needs::kNothing, devices_of_the_node},
    Rule{"RB-CMD-011", "an answer of the model is taken for a proof of RDMA", Needs::kNothing, answer_is_no_proof},
    Rule{"RB-CMD-012", "a ping between two fabrics", Needs::kNothing, ping_across_fabrics},
    Rule{"RB-CMD-013", "a device is listed, its port's state not looked at", Needs::kNothing, state_not_looked_at},
    Rule{"RB-CMD-014", "a placeholder in a script", Needs::kNothing, placeholder_in_script},
    Rule{"RB-OUT-001", "times of ibping are ten times too small", Needs::kNothing, ibping_clock},
    Rule{"RB-OUT-002", "output of another device than the command names", Needs::kNothing, output_of_another_device},
    Rule{"RB-OUT-003", "both ends of a test have the same address", Needs::kNothing, ends_not_mirrored},
    Rule{"RB-OUT-004", "several switches with one name", Needs::kNothing, switches_of_one_name},
    Rule{"RB-OUT-005", "figures from a processor that changes its clock", Needs::kNothing, clock_changes},
    Rule{"RB-OUT-006", "one queue pair does not fill the link", Needs::kNothing, one_queue_pair},
    Rule{"RB-OUT-007", "a log line that the library never prints", Needs::kNothing, never_printed},
    Rule{"RB-OUT-008", "a port that is not active", Needs::kNothing, port_not_active},
    Rule{"RB-OUT-009", "a log that shows TCP where RDMA is wanted", Needs::kNothing, log_shows_tcp},
    Rule{"RB-OUT-010", "a provider that does not fit the kernel", Needs::kNothing, provider_not_loaded},
    Rule{"RB-OUT-011", "a small path MTU on a fast link", Needs::kNothing, small_path_mtu},
    Rule{"RB-OUT-012", "an InfiniBand port without a GUID", Needs::kNothing, port_without_guid},
    Rule{"RB-DOC-004", "a path that leads nowhere", Needs::kNothing, path_leads_nowhere},
};

}  // namespace

std::span<const Rule> command_rules() {
  return kCommandRules;
}

}  // namespace railbed::check
