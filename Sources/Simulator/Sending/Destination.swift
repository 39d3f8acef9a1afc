package import JSON

/// The generation of server notifications; App Store Connect has one choice for each URL.
package enum NotificationVersion: Int64, Hashable, Sendable, CaseIterable {
  case v1 = 1
  case v2 = 2
}

/// Where the notifications of one app and environment go.
package struct Destination: Hashable, Sendable {
  package var url: String
  package var version: NotificationVersion
  /// Whether an answer of 400 ends the retries; Apple's page says no, one report says yes.
  package var stopsAfter400 = false

  package init(url: String, version: NotificationVersion = .v2) {
    self.url = url
    self.version = version
  }

  package var json: JSONObject {
    ["url": .string(url), "version": .integer(version.rawValue), "stopsAfter400": .bool(stopsAfter400)]
  }
}
