// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "doc/text.h"

namespace railbed {

namespace {

// The beginning of `text` that fits `columns`, without a partial character.
std::string_view fit(std::string_view text, size_t columns) {
  size_t shown = 0, end = 0;
  while (end < text.size()) {
    size_t next = end + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) ++next;
    if (++shown > columns) break;
    end = next;
  }
  return text.substr(0, end);
}

size_t columns_of(FILE* out) {
  winsize size{};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

// Whether it can be written does not change what the verb does.
void put(FILE* out, const std::string& text) {
  (void)std::fwrite(text.data(), 1, text.size(), out);
}

}  // namespace

Progress::Progress(FILE* out)
    : out_(out), terminal_(isatty(fileno(out)) == 1), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  wipe();
}

void Progress::now(const std::string& text) {
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (!terminal_) {
    put(out_, doc::printable(text) + "\n");
    return;
  }
  std::string line = fmt::format("{:5.1f} s  {}", seconds, doc::printable(text));
  put(out_, fmt::format("\r{}\033[K", fit(line, columns_of(out_) - 1)));
  fflush(out_);
  dirty_ = true;
}

void Progress::keep(const std::string& text) {
  wipe();
  put(out_, doc::printable(text) + "\n");
}

void Progress::wipe() {
  if (!dirty_) return;
  put(out_, "\r\033[K");
  fflush(out_);
  dirty_ = false;
}

}  // namespace railbed
