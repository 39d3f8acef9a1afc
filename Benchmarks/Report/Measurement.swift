import JSON

/// One figure, beside what it is to be compared with.
struct Measurement: Sendable {
  /// What the figure is to reach.
  enum Target: Sendable {
    case atLeast(Double)
    case below(Double)

    func isMet(by value: Double) -> Bool {
      switch self {
      case .atLeast(let least): value >= least
      case .below(let limit): value < limit
      }
    }

    var text: String {
      switch self {
      case .atLeast(let least): ">= \(Figure.text(least))"
      case .below(let limit): "< \(Figure.text(limit))"
      }
    }
  }

  let name: String
  let value: Double
  let unit: String
  /// The ceiling's or the peer's figure, in the same unit.
  var against: Double?
  /// What that is.
  var peer: String?
  /// Of the ratio when there is something to compare with, else of the value.
  var target: Target?

  var ratio: Double? { against.map { value / $0 } }

  /// Nil without a target.
  var isMet: Bool? { target.map { $0.isMet(by: ratio ?? value) } }

  /// One JSON object and a line break.
  var line: String {
    var object = JSONObject()
    object["name"] = .string(name)
    object["value"] = Figure.json(value)
    object["unit"] = .string(unit)
    object["against"] = against.map(Figure.json) ?? .null
    object["peer"] = peer.map(JSONValue.string) ?? .null
    object["ratio"] = ratio.map(Figure.json) ?? .null
    object["target"] = target.map { .string($0.text) } ?? .null
    object["met"] = isMet.map(JSONValue.bool) ?? .null
    return String(decoding: object.encoded(), as: UTF8.self) + "\n"
  }
}

/// Numbers as people read them: three digits that count.
enum Figure {
  static func text(_ value: Double) -> String {
    switch value.magnitude {
    case 1_000...: grouped(Int(value.rounded()))
    case 100...: "\(Int(value.rounded()))"
    case 10...: "\((value * 10).rounded() / 10)"
    default: "\((value * 100).rounded() / 100)"
    }
  }

  /// Thousandths are enough for every unit used here.
  static func json(_ value: Double) -> JSONValue {
    let thousandths = (value * 1_000).rounded() / 1_000
    return (try? JSONReader.read(Array("\(thousandths)".utf8))) ?? .null
  }

  private static func grouped(_ number: Int) -> String {
    var digits = Array(String(number.magnitude))
    for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
    return (number < 0 ? "-" : "") + String(digits)
  }
}
