import Database
package import Purchases

/// An app in one environment.
///
/// IDs are unique only within it.
package struct AppScope: Hashable, Sendable, Comparable {
  package let app: App.ID
  package let environment: Environment

  package init(app: App.ID, environment: Environment) {
    self.app = app
    self.environment = environment
  }

  var columns: [SQLValue] { [.integer(Int64(app.number)), .integer(Int64(environment.code))] }

  package static func < (a: Self, b: Self) -> Bool { (a.app, a.environment) < (b.app, b.environment) }
}
