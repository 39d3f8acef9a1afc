/// Something that is fuzzed: it takes any bytes, and the process stops where a rule does not hold.
package struct FuzzTarget: Sendable {
  package let name: String
  /// What fuzzing begins with.
  package let seeds: @Sendable () throws -> [[UInt8]]
  package let check: @Sendable ([UInt8]) throws -> Void

  package static let all: [FuzzTarget] = {
    let legacy = LegacySubject(), evidence = EvidenceSubject()
    let jws = Result { try JWSSubject() }, receipt = Result { try ReceiptSubject() }
    return [
      FuzzTarget(name: "JWS", seeds: { try JWSSeeds().all().jws }) { try jws.get().check($0) },
      FuzzTarget(name: "JSON", seeds: { try JWSSeeds().all().json }, check: JSONSubject.check),
      FuzzTarget(name: "Receipt", seeds: ReceiptSeeds.all) { try receipt.get().check($0) },
      FuzzTarget(name: "Legacy", seeds: LegacySeeds.all, check: legacy.check),
      FuzzTarget(name: "Evidence", seeds: EvidenceSeeds.all, check: evidence.check),
      FuzzTarget(name: "Rows", seeds: RowSeeds.all) { input in
        if let choice = input.first { RowSubject(choice: choice, rest: input.dropFirst()).check() }
      },
      FuzzTarget(name: "Heads", seeds: { HeadSeeds.all }, check: HeadSubject.check),
      FuzzTarget(name: "Compressed", seeds: CompressedSeeds.all, check: CompressedSubject.check),
    ]
  }()
}
