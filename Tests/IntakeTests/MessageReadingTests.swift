@Suite struct `The reading of a message` {
  @Test(arguments: [InboxMessage.Kind.evidence, .verifyReceiptAnswer, .apiAnswer])
  func `needs somebody who says of which app it is, where nothing signed in it says so`(kind: InboxMessage.Kind) {
    let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: .apple))
    let message = InboxMessage(kind: kind, body: Array("{}".utf8), receivedAt: Timestamp(1_760_000_000_000))
    do throws(MessageError) {
      _ = try adapter.reading(of: message, app: nil, environment: .sandbox)
      Issue.record("it was read")
    } catch {
      #expect(error.code == MessageError.Code.unknownApp.rawValue)
    }
  }
}
