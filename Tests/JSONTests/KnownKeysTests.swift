@Suite struct `Known keys` {
  @Test(arguments: [
    ["a", "b", "c"], [], ["price"], ["offerType", "offerPeriod", "offerIdentifier", "offerDiscountType"],
    (0..<200).map { "field\($0)" },
  ])
  func `finds each of its names and no other`(names: [String]) {
    let table = KnownKeys(names)
    for (place, name) in names.enumerated() { #expect(table.place(of: name) == place) }
    for other in ["", "x", "prize", "offerTyqe", "field200", "field1\u{0}", "prïce"] where !names.contains(other) {
      #expect(table.place(of: other) == nil)
    }
  }

  @Test func `tells names apart of one length that begin, halve and end alike`() {
    let names = ["aXXbXXc", "aYYbYYc", "aZZbZZc"]
    let table = KnownKeys(names)
    #expect(names.map { table.place(of: $0) } == [0, 1, 2])
    #expect(table.place(of: "aXXbYYc") == nil)
  }
}
