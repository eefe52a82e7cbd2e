// SPDX-License-Identifier: Apache-2.0
#include "agent_log.h"

#include <cstdlib>
#include <memory>
#include <vector>

#include <unistd.h>

#include "doc/text.h"
#include "os/real/service_manager.h"

namespace railbed {
namespace {

// Of syslog(3).
std::string_view priority(log::Level level) {
  switch (level) {
    case log::Level::kDebug:
      return "7";
    case log::Level::kInfo:
      return "6";
    case log::Level::kWarn:
      return "4";
    case log::Level::kError:
      return "3";
  }
  return "3";
}

bool send(const os::Journal& journal, log::Level level, std::string_view line, std::span<const log::Field> fields) {
  const std::string message = doc::printable(line);
  std::vector<os::JournalField> entry = {
      {"MESSAGE", message}, {"PRIORITY", priority(level)}, {"SYSLOG_IDENTIFIER", "railbed"}};
  for (const log::Field& field : fields) entry.emplace_back(field.name, field.value);
  return journal.send(entry);
}

void print_entry(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  (void)os::write_without_waiting(STDERR_FILENO, doc::printable(text) + "\n");
}

}  // namespace

void log_without_waiting(log::Level level) {
  log::set_level(level);
  log::Outlets outlets{.entry = {}, .text = print_entry};
  const char* stream = std::getenv("JOURNAL_STREAM");
  if (auto journal = os::Journal::of_standard_error(stream == nullptr ? "" : stream))
    // std::function copies what it holds.
    outlets.entry = [shared = std::make_shared<const os::Journal>(std::move(*journal))](
                        log::Level of, std::string_view line, std::span<const log::Field> fields) {
      return send(*shared, of, line, fields);
    };
  log::set_outlets(std::move(outlets));
}

void log_request(const agent::RequestLine& line) {
  log::write(line.level, line.text, line.fields);
}

}  // namespace railbed
