import HTTPClient
import Ledger
import Time

/// Checks the public address of an installation without a token, like any stranger.
///
/// Run it outside the network that the service trusts. The service stores nothing from it, because its requests are
/// rejected or empty.
struct PublicChecks {
  let all: [Check]

  struct Answer: Sendable {
    /// `nil` without a response.
    let status: Int?
    let reason: String
  }

  private static let patience = Interval.seconds(10)

  init(_ url: String, client: HTTPClient) async {
    let base = String(url.reversed().drop { $0 == "/" }.reversed())
    func ask(
      _ method: String, _ path: String, _ headers: [(name: String, value: String)] = [], body: String = ""
    ) async -> Answer {
      let request = ClientRequest(
        method: method, url: base + path, headers: headers, body: Array(body.utf8), deadline: Self.patience)
      do throws(HTTPClientError) {
        let response = try await client.send(request)
        return Answer(status: response.status, reason: "\(response.status)")
      } catch {
        return Answer(status: nil, reason: "\(error)")
      }
    }
    let alive = await ask("GET", "/livez")
    guard alive.status != nil else {
      all = [.fail("public", "\(base) does not answer: \(alive.reason)", "give the address that Apple posts to")]
      return
    }
    // The body is not JSON, so it is rejected and never stored.
    var checks = [Self.notifications(await ask("POST", "/notifications", body: "doctor"))]
    if Destination.isLoopback(base) {
      checks.append(
        .warn(
          "public", "\(base) is reachable only from this machine, which sees more than others",
          "name the address that Apple posts to: `switchyard doctor --public https://…`"))
    } else {
      checks += [Self.transport(base), Self.metrics(await ask("GET", "/metrics"))]
    }
    let guess = [(name: "Authorization", value: "Bearer switchyard-doctor-guess")]
    checks.append(
      Self.closed(
        "customers",
        [
          await ask("GET", "/v1/apps/com.example.app/customers/1"),
          await ask("GET", "/v1/apps/com.example.app/customers/1", guess),
        ]))
    let evidence = [await ask("POST", "/v1/evidence", body: "{}"), await ask("POST", "/v1/evidence", guess)]
    checks.append(Self.closed("evidence", evidence))
    all = checks
  }

  static func transport(_ url: String) -> Check {
    url.lowercased().hasPrefix("https://")
      ? .ok("transport", "TLS")
      : .fail(
        "transport", "plain http: tokens, shared secrets and receipts can be read in transit",
        "put a proxy with TLS in front, or serve with --tls-certificate-file and --tls-key-file")
  }

  static func notifications(_ answer: Answer) -> Check {
    switch answer.status {
    case 403: .ok("notifications", "are not taken from this address")
    case 400, 413, 422:
      .warn(
        "notifications", "are taken from this address too, and from any address if this is not one of Apple's",
        "serve with --allow-from apple, and behind a proxy with --trusted-proxy")
    case 404: .warn("notifications", "answered 404", "let the proxy pass /notifications on")
    default: .warn("notifications", "answered \(answer.reason), which is unexpected", "check the proxy in front")
    }
  }

  static func metrics(_ answer: Answer) -> Check {
    answer.status == 200
      ? .fail(
        "metrics", "strangers can read /metrics, which names the apps and their traffic",
        "let the proxy refuse /metrics from outside, or serve on a public address with --metrics-listen")
      : .ok("metrics", "are not shown to strangers (\(answer.reason))")
  }

  static func closed(_ name: String, _ answers: [Answer]) -> Check {
    let closed: Set<Int?> = [401, 403, 404, 429]
    guard let open = answers.first(where: { !closed.contains($0.status) }) else {
      return .ok(name, "ask for a token")
    }
    return .fail(name, "answered \(open.reason) to a stranger without a token", "check the proxy in front")
  }
}
