package import Time

/// What a command line says, after the declarations have been applied.
///
/// Asking for a name that was not declared stops the process: that is a slip in our code, not the operator's.
package struct ParsedArguments: Sendable {
  /// The command that was called: `["switchyard", "jws", "verify"]`.
  package let path: [String]
  /// The arguments known by their place.
  package let positionals: [String]
  private let options: [Option]
  /// By the command line or the environment.
  private let given: [String: [String]]
  /// Options that the command line itself names.
  private let named: Set<String>
  /// The command's.
  let stopNote: String?

  init(
    path: [String], positionals: [String], options: [Option], given: [String: [String]], named: Set<String>,
    stopNote: String?
  ) {
    self.path = path
    self.positionals = positionals
    self.options = options
    self.given = given
    self.named = named
    self.stopNote = stopNote
  }

  package func flag(_ name: String) -> Bool {
    precondition(option(name).placeholder == nil, "--\(name) is not a flag")
    return given[name] != nil
  }

  /// Every value given, in order; else the environment's, else the default.
  package func values(_ name: String) -> [String] {
    let option = option(name)
    precondition(option.placeholder != nil, "--\(name) is a flag")
    return given[name] ?? option.fallback.map { [$0] } ?? []
  }

  package func value(_ name: String) -> String? { values(name).last }

  /// The values that the command line itself gives: what the environment says may be a secret.
  package func valuesGiven(_ name: String) -> [String] {
    precondition(option(name).placeholder != nil, "--\(name) is a flag")
    return named.contains(name) ? given[name] ?? [] : []
  }

  package func required(_ name: String) throws(UsageError) -> String {
    if let value = value(name) { return value }
    let variable = option(name).environment.map { ", or set \($0)" } ?? ""
    throw UsageError(.missingOption, "Give --\(name) \(option(name).placeholder ?? "")\(variable).", path: path)
  }

  package func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    if let number = Int(text), range.contains(number) { return number }
    throw UsageError(
      .invalidValue,
      "--\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not \(UsageError.shown(text)).",
      path: path)
  }

  /// A span of time: `30s`, `10m`, `12h` or `3d`; `0` and `off` are none at all.
  ///
  /// - Parameter unit: of a number without one.
  package func duration(
    _ name: String, in range: ClosedRange<Interval>, bare unit: Interval? = nil
  ) throws(UsageError) -> Interval? {
    guard let text = value(name) else { return nil }
    let units: [Character: Interval] = ["s": .seconds(1), "m": .minutes(1), "h": .hours(1), "d": .days(1)]
    let (digits, length): (Substring, Interval?) =
      text == "0" || text == "off"
      ? ("0", .seconds(1)) : text.last.flatMap { units[$0] }.map { (text.dropLast(), $0) } ?? (text[...], unit)
    if let length, digits.allSatisfy(\.isNumber), let count = Int64(digits), count < 1_000_000_000,
      range.contains(.milliseconds(count * length.milliseconds))
    {
      return .milliseconds(count * length.milliseconds)
    }
    throw UsageError(
      .invalidValue,
      "--\(name) takes a span of time from \(range.lowerBound.asOption) to \(range.upperBound.asOption), as 30s, 10m, 12h or "
        + "3d, not \(UsageError.shown(text)).", path: path)
  }

  /// The value as a case of `Choice`, whose raw values are what the operator writes.
  package func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, as type: Choice.Type = Choice.self
  ) throws(UsageError) -> Choice? where Choice.RawValue == String {
    guard let text = value(name) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    throw Self.invalid("--\(name)", text, choices: Choice.allCases.map(\.rawValue), path: path)
  }

  static func invalid(_ what: String, _ text: String, choices: [String], path: [String]) -> UsageError {
    UsageError(
      .invalidValue, "\(what) takes one of \(choices.joined(separator: ", ")), not \(UsageError.shown(text)).",
      suggestion: Suggestion.nearest(to: text, among: choices), path: path)
  }

  private func option(_ name: String) -> Option {
    guard let option = options.first(where: { $0.name == name }) else {
      preconditionFailure("\(path.joined(separator: " ")) declares no --\(name)")
    }
    return option
  }
}

extension Interval {
  /// As a command line says it, in the largest unit that divides it.
  package var asOption: String {
    let units: [(Interval, String)] = [(.days(1), "d"), (.hours(1), "h"), (.minutes(1), "m")]
    for (unit, letter) in units where milliseconds != 0 && milliseconds % unit.milliseconds == 0 {
      return "\(milliseconds / unit.milliseconds)\(letter)"
    }
    return milliseconds == 0 ? "0" : "\(milliseconds / 1_000)s"
  }
}
