@testable import Adapter

/// A body that came as a notification, read once.
@Suite struct `A received body` {
  @Test(arguments: [
    #"{"signedPayload":"eyJ.a-_Z09.b"}"#, #"{"signedPayload":"a"}"#, #"{"signedPayload":"password=abc"}"#,
    #"{"signedPayload":"a","x":"y"}"#, #"{"signedPayload":"a\u002e"}"#, #"{"signedPayload":""}"#, #"{"signedPayload":"#,
    #"{"signedPayload":7}"#, #" {"signedPayload":"a.b.c"} "#, #"{"notification_type":"CANCEL","password":"a"}"#,
    #"{"status":0}"#, "[]", "", "eyJhIjowfQ.e30.c2ln", "MIIT", "\u{feff}{}", #"{"a":1,"a":2}"#,
    "{\"signedPayload\":\"a\u{1}\"}",
  ])
  func `is what its bytes say`(text: String) throws {
    let bytes = Array(text.utf8)
    let body = ReceivedBody(bytes)
    let told = Result { () throws(MessageError) in try MessageFormat(bytes) }
    #expect("\(body.told)" == "\(told)")
    #expect(body.bytes == bytes)
    #expect(body.isSignedAlone == ReceivedBody.isSignedAlone(bytes))
    if !body.isSignedAlone { #expect(body.object == (try? JSONReader.read(bytes).object)) }
    #expect(MessageIdentity(ofNotification: bytes).bytes == MessageIdentity(ofNotification: body).bytes)
  }

  @Test(arguments: [
    (#"{"signedPayload":"eyJ.a-_Z09.b"}"#, true), (#"{"signedPayload":"a+b"}"#, false),
    (#"{"signedPayload":"a b"}"#, false), (#"{"signedPayload":"a\n"}"#, false),
    (#"{"signedPayload":"a","b":"c"}"#, false),
    (#"{"signedPayload": "a"}"#, false), (#"{"signedPayload":""}"#, false), (#"{"signedPayload":"é"}"#, false),
  ])
  func `is a signed payload alone only if nothing but letters and points is in it`(text: String, isAlone: Bool) {
    #expect(ReceivedBody.isSignedAlone(Array(text.utf8)) == isAlone)
  }

  @Test(arguments: [
    (#"{"signedPayload":"a.b.c"}"#, #"{"signedPayload":"a.b.c"}"#),
    (#"{ "signedPayload" : "a.b.c" }"#, #"{ "signedPayload" : "a.b.c" }"#),
    (#"{"signedPayload":"a.b.c","more":"of a stranger"}"#, #"{"signedPayload":"a.b.c"}"#),
    (#"{"notification_type":"CANCEL" }"#, #"{"notification_type":"CANCEL" }"#), ("none", "none"),
  ])
  func `is kept without what a stranger put around it`(text: String, kept: String) {
    let body = ReceivedBody(Array(text.utf8)).kept
    #expect(body.bytes == Array(kept.utf8))
    #expect("\(body.told)" == "\(ReceivedBody(body.bytes).told)")
  }

  @Test func `with much white space around its payload is kept without it`() {
    let payload = #""signedPayload":"a.b.c""#
    let text = "{" + String(repeating: " ", count: 65) + payload + "}"
    #expect(ReceivedBody(Array(text.utf8)).kept.bytes == Array("{\(payload)}".utf8))
  }

  @Test func `that is longer than a message may be is refused, signed or not`() throws {
    let text = #"{"signedPayload":""# + String(repeating: "a", count: 1 << 20) + #""}"#
    #expect(throws: MessageError.self) { try ReceivedBody(Array(text.utf8)).told.get() }
  }
}
