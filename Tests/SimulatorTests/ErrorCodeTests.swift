@Suite struct `The simulator's error codes` {
  private let table = Vocabulary.embedded.apiErrors

  @Test func `are those of the table, each under its name`() {
    #expect(Set(APIErrorCode.allCases.map(\.rawValue)) == Set(table.rows.map(\.code)))
    for code in APIErrorCode.allCases {
      // The one that Apple's Swift library calls otherwise than Apple's page does.
      let name = code == .transactionIdNotOriginalTransactionId ? "transactionIdIsNotOriginalTransactionId" : "\(code)"
      let row = table[code.rawValue]
      #expect(row?.name.lowercased() == name.lowercased() + "error", "\(row?.name ?? "?")")
      #expect((row?.retry == .yes) == code.isRetryable, "\(name)")
    }
  }
}
