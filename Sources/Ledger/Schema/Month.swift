import Time

/// A calendar month in UTC as a number, `202611`: the partition of a message's body.
struct Month: Hashable, Comparable {
  let number: Int64

  init(_ instant: Timestamp) {
    let (year, month, _) = Timestamp.civil(daysSinceEpoch: instant.sinceEpoch / 86_400_000)
    number = year * 100 + month
  }

  private init(number: Int64) { self.number = number }

  var next: Month { Month(number: number % 100 == 12 ? number + 89 : number + 1) }

  static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}
