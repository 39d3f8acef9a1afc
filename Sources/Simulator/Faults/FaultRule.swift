package import JSON

package struct FaultRule: Hashable, Sendable {
  package var fault: Fault
  package var surface: Fault.Surface
  /// The name of the API operation, or the notification type; `nil` means any.
  package var operation: String?
  /// `nil` means any app.
  package var bundleID: String?
  /// The number of matching calls to spare first.
  package var skip = 0
  /// The number of calls to strike before the rule ends; `nil` means all.
  package var times: Int?
  /// The percentage of matching calls to strike, by the plan's seed.
  package var percent = 100

  package init(_ fault: Fault, on surface: Fault.Surface, times: Int? = 1) {
    self.fault = fault
    self.surface = surface
    self.times = times
  }

  package struct Mistake: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
  }

  /// Parses `{"fault": …, "on": …}` and optionally `value`, `operation`, `bundleId`, `skip`, `times`, `percent`.
  ///
  /// `times` is 1 by default; null means always.
  package init(_ object: JSONObject) throws(Mistake) {
    let known: Set<String> = ["fault", "on", "value", "operation", "bundleId", "skip", "times", "percent"]
    if let key = object.first(where: { !known.contains($0.key) })?.key { throw Mistake("\(key) is not known here") }
    guard let kind = object["fault"]?.string.flatMap(Fault.Kind.init) else {
      throw Mistake("fault is one of \(Fault.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    let surfaces = kind.description.surfaces.map(\.rawValue).sorted()
    guard
      let surface = (object["on"]?.string ?? (surfaces.count == 1 ? surfaces[0] : nil))
        .flatMap(Fault.Surface.init), kind.description.surfaces.contains(surface)
    else { throw Mistake("\(kind.rawValue) strikes on: \(surfaces.joined(separator: ", "))") }
    let value = try Self.number(object, "value", kind.range)
    self.init(Fault(kind, value), on: surface)
    operation = object["operation"]?.string
    bundleID = object["bundleId"]?.string
    skip = try Self.number(object, "skip", 0...1_000_000_000).map(Int.init) ?? 0
    percent = try Self.number(object, "percent", 0...100).map(Int.init) ?? 100
    if object["times"]?.isNull == true {
      times = nil
    } else if [.hourlyLimit, .secondLimit].contains(kind), object["times"] == nil {
      times = nil
    } else {
      times = try Self.number(object, "times", 1...1_000_000_000).map(Int.init) ?? 1
    }
  }

  package var json: JSONObject {
    var members = PayloadMembers()
    members.add("fault", fault.kind.rawValue)
    members.add("on", surface.rawValue)
    if fault.kind.description.value != nil { members.add("value", fault.value) }
    members.add("operation", operation)
    members.add("bundleId", bundleID)
    members.add("skip", Int64(skip))
    members.add("times", times.map { .integer(Int64($0)) } ?? JSONValue.null)
    members.add("percent", Int64(percent))
    return members.object
  }

  private static func number(
    _ object: JSONObject, _ key: String, _ range: ClosedRange<Int64>
  ) throws(Mistake) -> Int64? {
    guard let value = object[key] else { return nil }
    guard let number = value.integer, range.contains(number) else {
      throw Mistake("\(key) is a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
