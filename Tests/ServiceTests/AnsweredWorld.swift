/// A simulated App Store with customers, and how two answers about them are compared.
enum AnsweredWorld {
  static func world(days: Int64 = 200, customers: Int = 12, seed: UInt64 = 3) -> AppStoreWorld {
    var world = MixedStory.world(customers: customers, seed: seed, start: AnsweringService.start)
    world.advance(by: .days(days))
    _ = world.drainNotifications()
    return world
  }

  static func buyers(_ world: AppStoreWorld) -> [CustomerID] {
    world.customers().filter { !world.state(of: $0).legacyPurchases.isEmpty }
  }

  /// The paths of fields that two answers do not have alike.
  ///
  /// But for the time of the request, and the receipt that Apple signs anew. No key order means anything; that of rows does.
  static func differences(_ ours: JSONObject, _ theirs: JSONObject) -> [String] {
    var (left, right): ([String: JSONValue], [String: JSONValue]) = ([:], [:])
    gather(.object(ours), "", into: &left)
    gather(.object(theirs), "", into: &right)
    let paths = Set(left.keys).union(right.keys).filter {
      !$0.hasPrefix("/receipt/request_date") && $0 != "/latest_receipt"
    }
    return paths.filter { left[$0] != right[$0] }.sorted().map { path in
      "\(path): \(left[path].map { "\($0)" } ?? "-") | \(right[path].map { "\($0)" } ?? "-")"
    }
  }

  private static func gather(_ value: JSONValue, _ path: String, into leaves: inout [String: JSONValue]) {
    switch value {
    case .object(let object): for member in object { gather(member.value, "\(path)/\(member.key)", into: &leaves) }
    case .array(let elements):
      if elements.isEmpty { leaves[path] = value }
      for (place, element) in elements.enumerated() { gather(element, "\(path)/\(place)", into: &leaves) }
    default: leaves[path] = value
    }
  }
}
