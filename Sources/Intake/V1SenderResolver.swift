import Adapter
import JSON
import Ledger

/// Who sent a V1 notification: told from its body, the registered apps and the URL, and from nothing else.
///
/// The app is the one that `bid` names, else the one whose secret it is, else the one in the URL; its secret must be one
/// of the app's. Bodies before 2020 have no `bid`.
struct V1SenderResolver {
  let app: App

  /// - Parameters:
  ///   - pathApp: the bundle id in the URL.
  ///   - notedApp: what was noted of it when the message was set aside: anybody may have posted it to another app's URL first.
  init(_ body: JSONObject, pathApp: String?, notedApp: String? = nil, in directory: AppRegistrySnapshot)
    throws(MessageError)
  {
    let secret = body["password"]?.string
    let app = try Self.app(body, secret, pathApp, notedApp, directory)
    guard directory.hasSecret(app) else {
      let sealed = directory.unopened.first { $0.app == app.id && !$0.isRetired }
      throw Self.refusal(
        .noSharedSecret,
        sealed.map {
          "the shared secret \($0.name) does not open under this master key (\($0.reason)); name the right one, then replay"
        }
          ?? "no shared secret is registered; `switchyard app secret \(app.bundleID) --shared-secret-file FILE`, then replay",
        app.bundleID)
    }
    guard let secret else {
      throw Self.refusal(
        .missingSharedSecret, "it has no password, and nothing else verifies a V1 notification", app.bundleID)
    }
    guard directory.accepts(secret, of: app) else {
      throw Self.refusal(
        .wrongSharedSecret,
        "its password is not one of the app's; if Apple has a newer one, `switchyard app secret \(app.bundleID) --shared-secret-file FILE`, "
          + "then replay", app.bundleID)
    }
    self.app = app
  }

  private static func app(
    _ body: JSONObject, _ secret: String?, _ pathApp: String?, _ notedApp: String?, _ directory: AppRegistrySnapshot
  ) throws(MessageError) -> App {
    if let named = body["bid"]?.string {
      if let pathApp, pathApp != named { throw contradiction(named) }
      return try registered(named, directory)
    }
    let holders = secret.map(directory.apps(withSecret:)) ?? []
    if let pathApp {
      // The account's primary secret is of many apps, the URL of one.
      if let holder = holders.first, !holders.contains(where: { $0.bundleID == pathApp }) {
        throw contradiction(holder.bundleID)
      }
      return try registered(pathApp, directory)
    }
    if holders.count == 1 { return holders[0] }
    if let notedApp { return try registered(notedApp, directory) }
    throw refusal(
      .appNotNamed,
      holders.isEmpty
        ? "neither a bid nor a known password names its app; give Apple the URL …/notifications/BUNDLE_ID"
        : "it has no bid, and its password is of \(holders.count) apps; give Apple the URL …/notifications/BUNDLE_ID",
      nil)
  }

  private static func registered(_ bundleID: String, _ directory: AppRegistrySnapshot) throws(MessageError) -> App {
    guard let app = directory[bundleID] else {
      throw refusal(
        .unknownApp, "the app \(bundleID.prefix(255)) is not registered; `switchyard app add` it, then replay", bundleID
      )
    }
    return app
  }

  private static func contradiction(_ bundleID: String) -> MessageError {
    refusal(.wrongBundle, "it is of \(bundleID.prefix(255)), the URL is for another app", bundleID)
  }

  private static func refusal(_ code: MessageError.Code, _ detail: String, _ app: String?) -> MessageError {
    MessageError(.legacy, code, detail, claimedApp: app)
  }
}
