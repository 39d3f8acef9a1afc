@Suite struct `A bucket and a share` {
  @Test func `hash what is documented`() {
    let message = Bucket.message(salt: "salt", app: "com.example.app", customer: "1")
    #expect(message == Array("switchyard bucket 1\nsalt\ncom.example.app\n1".utf8))
    #expect(Bucket(digest: [0, 0, 0, 0, 0, 0, 0x27, 0x0F, 255]).number == 9_999)
    #expect(Bucket(digest: [0, 0, 0, 0, 0, 0, 0x27, 0x10, 255]).number == 0)
    #expect(Bucket(number: 10_000) == nil && Bucket(number: -1) == nil)
  }

  @Test func `hold every smaller share in a larger one`() throws {
    let bucket = try #require(Bucket(number: 999))
    let shares = [0, 999, 1_000, 2_500, 10_000].compactMap { RampPercentage(hundredths: $0) }
    #expect(shares.map { $0.contains(bucket) } == [false, false, true, true, true])
  }

  @Test(arguments: [
    ("10", 1_000), ("0", 0), ("100", 10_000), ("0.01", 1), ("12.5%", 1_250), ("99.99", 9_999), ("007", 700),
  ])
  func `is read`(text: String, hundredths: Int) {
    #expect(RampPercentage(text)?.hundredths == hundredths)
  }

  @Test(arguments: ["", "101", "100.01", "-1", "1.234", ".5", "5.", "1e1", "ten", "%", "1,5", "٣"])
  func `is refused`(text: String) { #expect(RampPercentage(text) == nil) }

  @Test(arguments: [(1_000, "10 %"), (1_250, "12.5 %"), (1, "0.01 %"), (1_205, "12.05 %")])
  func `is written`(hundredths: Int, text: String) {
    #expect(RampPercentage(hundredths: hundredths)?.description == text)
  }
}
