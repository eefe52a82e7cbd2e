// SPDX-License-Identifier: Apache-2.0
#include "kube/curl_transfer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "kube/bounds.h"

namespace railbed::kube {
namespace {

// The caller's own deadline is the second one; it holds also where curl's thread is held up.
constexpr milliseconds kGrace{500};

// libcurl keeps all headers. An API server sends less than a kilobyte of them.
constexpr size_t kMostHeaderBytes = 256 << 10;
// Of an answer that refuses: a Status object, or a proxy's page.
constexpr size_t kMostRefusalBytes = 1 << 20;

// Whether the request has certainly not reached anybody who could carry it out.
bool never_sent(CURLcode result) {
  switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_PEER_FAILED_VERIFICATION:
      return true;
    default:
      return false;
  }
}

Code code_of(CURLcode result) {
  switch (result) {
    case CURLE_OPERATION_TIMEDOUT:
      return Code::kTimeout;
    case CURLE_ABORTED_BY_CALLBACK:
      return Code::kCanceled;
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_PEER_FAILED_VERIFICATION:
      return Code::kDenied;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return Code::kInvalid;
    default:
      return Code::kIo;
  }
}

std::string hint_of(CURLcode result) {
  if (result == CURLE_PEER_FAILED_VERIFICATION)
    return "the server's certificate is not valid here: check that the CA (certificate-authority) is that of this "
           "cluster and that the certificate contains the address";
  if (result == CURLE_SSL_CERTPROBLEM) return "the client certificate or its key cannot be used";
  if (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST)
    return "check that the API server is running and its address is correct";
  return "";
}

// "10.0.0.1:6443" of "https://10.0.0.1:6443/path".
std::string authority(const std::string& url) {
  const size_t begin = url.find("://") + 3;
  return url.substr(begin, url.find('/', begin) - begin);
}
std::string port_of(const std::string& server_authority) {
  const size_t colon = server_authority.rfind(':');
  const bool given = colon != std::string::npos && server_authority.find(']', colon) == std::string::npos;
  return given ? server_authority.substr(colon + 1) : "443";
}

}  // namespace

Transfer::Transfer(const Request& request, Kind kind, const CurlSettings& settings)
    : request_(request), kind_(kind), settings_(settings) {}

Transfer::~Transfer() {
  if (easy_ != nullptr) curl_easy_cleanup(easy_);
  curl_slist_free_all(headers_);
  curl_slist_free_all(connect_to_);
}

template <typename T>
void Transfer::set(CURLoption option, T value) {
  if (set_result_ == CURLE_OK) set_result_ = curl_easy_setopt(easy_, option, value);
}

void Transfer::set_blob(CURLoption option, const std::string& data) {
  if (data.empty()) return;
  curl_blob blob{const_cast<char*>(data.data()), data.size(), CURL_BLOB_COPY};
  set(option, &blob);
}

// Certificates go to curl as text, not as files: what Credentials read is what is used, and curl keeps no copy of a CA
// for a day, as it does of files.
void Transfer::set_tls(const ClusterAccess& access, const Credentials::Now& credentials) {
  set_blob(CURLOPT_CAINFO_BLOB, credentials.ca);
  set_blob(CURLOPT_SSLCERT_BLOB, credentials.client_certificate);
  set_blob(CURLOPT_SSLKEY_BLOB, credentials.client_key);
  set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  const bool verify = access.tls_check == TlsCheck::kVerify;
  set(CURLOPT_SSL_VERIFYPEER, verify ? 1L : 0L);
  set(CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
}

void Transfer::set_times() {
  const long milliseconds_left = std::max(1L, static_cast<long>(request_.timeout.count()));
  set(CURLOPT_CONNECTTIMEOUT_MS, std::min(milliseconds_left, static_cast<long>(settings_.connect_timeout.count())));
  // A stream's silence is measured by who reads it, to the millisecond and also before its first byte.
  if (kind_ == Kind::kWhole) set(CURLOPT_TIMEOUT_MS, milliseconds_left);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, 20L);
  set(CURLOPT_TCP_KEEPINTVL, 5L);
  set(CURLOPT_SOCKOPTFUNCTION, &Transfer::on_socket);
  set(CURLOPT_SOCKOPTDATA, this);
}

Result<void> Transfer::set_headers(const Credentials::Now& credentials) {
  std::vector<std::string> lines = {"Accept: application/json", "Expect:"};
  if (!request_.content_type.empty()) lines.push_back("Content-Type: " + request_.content_type);
  if (!credentials.token.empty()) lines.push_back("Authorization: Bearer " + credentials.token);
  for (const std::string& line : lines) {
    curl_slist* longer = curl_slist_append(headers_, line.c_str());
    if (longer == nullptr) return fail(Code::kExhausted, "libcurl has no memory");
    headers_ = longer;
  }
  set(CURLOPT_HTTPHEADER, headers_);
  return {};
}

Result<void> Transfer::prepare(const ClusterAccess& access, const Credentials::Now& credentials,
                               bool fresh_connection) {
  easy_ = curl_easy_init();
  if (easy_ == nullptr) return fail(Code::kExhausted, "libcurl has no memory");
  std::string server = access.server;
  if (!access.tls_server_name.empty()) {
    // The connection goes where the kubeconfig says, TLS and the Host header are about the other name.
    const std::string to = authority(server);
    server = fmt::format("https://{}:{}{}", access.tls_server_name, port_of(to),
                         server.substr(server.find("://") + 3 + to.size()));
    connect_to_ =
        curl_slist_append(nullptr, fmt::format("::{}{}", to, to.ends_with(port_of(to)) ? "" : ":443").c_str());
    set(CURLOPT_CONNECT_TO, connect_to_);
  }
  set(CURLOPT_URL, (server + request_.target).c_str());
  set(CURLOPT_PROTOCOLS_STR, "https,http");
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_PROXY, access.proxy.c_str());  // empty: none, whatever the environment says
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, message_);
  set(CURLOPT_USERAGENT, settings_.user_agent.c_str());
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_2TLS});
  set(CURLOPT_PIPEWAIT, 1L);
  if (fresh_connection) set(CURLOPT_FRESH_CONNECT, 1L);
  if (request_.method != Method::kGet) {
    set(CURLOPT_CUSTOMREQUEST, std::string(method_name(request_.method)).c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    set(CURLOPT_POSTFIELDS, request_.body.c_str());  // request_ lives as long as the handle
  }
  set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &Transfer::on_bytes);
  set(CURLOPT_WRITEDATA, this);
  set_tls(access, credentials);
  set_times();
  TRY(set_headers(credentials));
  if (set_result_ != CURLE_OK)
    return fail(Code::kInvalid, "{}: libcurl rejected it: {}", request_.to_string(), curl_easy_strerror(set_result_));
  return {};
}

int Transfer::on_socket(void* self, curl_socket_t socket, curlsocktype /*purpose*/) {
  const auto timeout = static_cast<unsigned>(static_cast<Transfer*>(self)->settings_.unacknowledged.count());
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);  // without it, deadlines find out
  return CURL_SOCKOPT_OK;
}

// A watch begins with its headers; its first event may come an hour later.
size_t Transfer::on_header(char* data, size_t size, size_t count, void* self) {
  const std::string_view line(data, size * count);
  auto* transfer = static_cast<Transfer*>(self);
  return transfer->note_header(line) ? line.size() : 0;
}

bool Transfer::note_header(std::string_view line) {
  const std::lock_guard lock(mutex_);
  header_bytes_ += line.size();
  if (header_bytes_ > kMostHeaderBytes) {
    overflow_ = Overflow::kHeaders;
    return false;
  }
  if (line != "\r\n" && line != "\n") return true;
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  status_ = static_cast<int>(status);
  changed_.notify_all();
  return true;
}

size_t Transfer::on_bytes(char* data, size_t size, size_t count, void* self) {
  return static_cast<Transfer*>(self)->take({data, size * count});
}

size_t Transfer::most_bytes() const {
  return is_good() ? request_.most_bytes : std::min(request_.most_bytes, kMostRefusalBytes);
}

size_t Transfer::take(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes_.size() + bytes.size() > most_bytes()) {
    bytes_.append(bytes.substr(0, most_bytes() - bytes_.size()));  // a refusal begins with its reason
    overflow_ = Overflow::kBody;
    return 0;
  }
  bytes_.append(bytes);
  changed_.notify_all();
  return bytes.size();
}

void Transfer::finish(CURLcode result) {
  long status = 0;
  curl_off_t retry_after = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(easy_, CURLINFO_RETRY_AFTER, &retry_after);
  const std::lock_guard lock(mutex_);
  status_ = static_cast<int>(status);
  if (retry_after > 0) retry_after_ = std::min(std::chrono::seconds(retry_after), kLongestRetryAfter);
  result_ = result;
  finished_ = true;
  changed_.notify_all();
}

ApiError Transfer::stopped() const {
  return unanswered(Code::kCanceled, Delivery::kUnknown, request_.to_string() + ": asked to stop");
}

ApiError Transfer::late() const {
  return unanswered(Code::kTimeout, Delivery::kUnknown,
                    fmt::format("{}: no answer within {} ms", request_.to_string(), request_.timeout.count()));
}

ApiError Transfer::error_of(CURLcode result, int status, const std::string& body) const {
  if (result == CURLE_OK || (overflow_ == Overflow::kBody && status / 100 != 2)) {
    ApiError error = refused(request_.to_string(), status, body);
    if (!error.retry_after) error.retry_after = retry_after_;
    return error;
  }
  if (overflow_ != Overflow::kNone) return too_large();
  const char* text = message_[0] != '\0' ? message_ : curl_easy_strerror(result);
  // A time-out while connecting counts as not sent: nothing was ever written.
  curl_off_t connected_us = 0;
  curl_easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
  const bool unsent = never_sent(result) || (result == CURLE_OPERATION_TIMEDOUT && connected_us == 0);
  ApiError error = unanswered(code_of(result), unsent ? Delivery::kNotSent : Delivery::kUnknown,
                              fmt::format("{}: {}", request_.to_string(), text));
  error.hint = hint_of(result);
  return error;
}

ApiError Transfer::too_large() const {
  const bool headers = overflow_ == Overflow::kHeaders;
  if (!headers && kind_ == Kind::kStream)
    return unanswered(Code::kBusy, Delivery::kUnknown,
                      fmt::format("{}: the server sends faster than it is read: more than {} bytes wait; {}",
                                  request_.to_string(), request_.most_bytes, kCheckServer));
  return unanswered(Code::kExhausted, Delivery::kUnknown,
                    fmt::format("{}: the answer {}too large: more than {} bytes; {}", request_.to_string(),
                                headers ? "has headers that are " : "is ",
                                headers ? kMostHeaderBytes : request_.most_bytes, kCheckServer));
}

Answer<Response> Transfer::whole(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, stop, request_.timeout + kGrace, [&] { return finished_; }))
    return no_answer(stop.stop_requested() ? stopped() : late());
  if (result_ != CURLE_OK || status_ / 100 != 2) return no_answer(error_of(result_, status_, bytes_));
  return Response{status_, std::move(bytes_)};
}

Answer<void> Transfer::wait_begun(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  // A refusal is read to its end, for its reason.
  const auto begun = [&] { return finished_ || is_good(); };
  if (!changed_.wait_for(lock, stop, request_.timeout, begun))
    return no_answer(stop.stop_requested() ? stopped() : late());
  // One that was cut already gives first what has come.
  if (is_good() && (!finished_ || result_ == CURLE_OK || overflow_ == Overflow::kBody)) return {};
  return no_answer(error_of(result_, status_, bytes_));
}

Answer<std::string> Transfer::next_bytes(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, stop, request_.silence, [&] { return finished_ || !bytes_.empty(); })) {
    if (stop.stop_requested()) return no_answer(stopped());
    return no_answer(unanswered(
        Code::kTimeout, Delivery::kUnknown,
        fmt::format("{}: no data from the server for {} ms", request_.to_string(), request_.silence.count())));
  }
  if (!bytes_.empty()) return std::exchange(bytes_, {});
  if (result_ != CURLE_OK) return no_answer(error_of(result_, status_, ""));
  return std::string();
}

}  // namespace railbed::kube
