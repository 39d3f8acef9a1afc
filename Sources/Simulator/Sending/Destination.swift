package import JSON

/// The generation of server notifications, one for each URL in App Store Connect.
package enum NotificationVersion: Int64, Hashable, Sendable, CaseIterable {
  case v1 = 1
  case v2 = 2
}

/// The destination of the notifications of one app and environment.
package struct Destination: Hashable, Sendable {
  package var url: String
  package var version: NotificationVersion
  /// Whether a 400 response ends the retries.
  ///
  /// Apple's page says no; one report says yes.
  package var stopsAfter400 = false

  package init(url: String, version: NotificationVersion = .v2) {
    self.url = url
    self.version = version
  }

  package var json: JSONObject {
    ["url": .string(url), "version": .integer(version.rawValue), "stopsAfter400": .bool(stopsAfter400)]
  }
}
