@testable import Service

@Suite struct `Allowed sources` {
  private static func peer(_ text: String) -> PeerAddress { PeerAddress(numeric: text) ?? .unknown }

  private static func networks(_ texts: [String]) -> [Network] { texts.compactMap { Network($0) } }

  @Test(arguments: [
    ("17.0.0.0/8", "17.255.255.255", true), ("17.0.0.0/8", "18.0.0.0", false), ("17.0.0.0/8", "16.255.255.255", false),
    ("17.128.0.0/9", "17.127.255.255", false), ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.6", false),
    ("192.0.2.6/31", "192.0.2.7", true), ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false),
    ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::", false),
    ("2001:db8::/33", "2001:db8:8000::", false), ("::1", "::1", true), ("17.0.0.0/8", "::ffff:17.1.2.3", true),
    ("17.0.0.0/8", "::ffff:18.1.2.3", false), ("17.0.0.0/8", "1100::", false), ("17.0.0.0/8", "nobody", false),
  ])
  func `of one network let in whom it contains`(network: String, peer: String, isAllowed: Bool) {
    let sources = IPAllowlist(networks: Self.networks([network]), proxies: [])
    #expect(sources.allow(peer: Self.peer(peer), forwardedFor: []) == isAllowed)
  }

  @Test(arguments: [
    "", "17", "17.0.0.0/", "17.0.0.0/33", "17.0.0.0/-1", "17.0.0.0/x", "17.0.0.0/8/8", "2001:db8::/129", "example.com",
    "17.0.0.256", "017.0.0.0/8", " 17.0.0.0/8", "[::1]", "/8",
  ])
  func `are made of networks alone`(text: String) { #expect(Network(text) == nil) }

  @Test(
    arguments: [
      // A stranger's claim counts for nothing.
      ("203.0.113.9", ["17.1.2.3"], false), ("17.1.2.3", ["203.0.113.9"], true), ("17.1.2.3", [], true),
      // Behind one proxy, behind two, behind a proxy of the other family.
      ("10.0.0.1", ["17.1.2.3"], true), ("10.0.0.1", ["203.0.113.9"], false),
      ("10.0.0.1", ["17.1.2.3, 10.0.0.2"], true), ("10.0.0.1", ["17.1.2.3", "10.0.0.2"], true),
      ("fd00::1", ["17.1.2.3,10.0.0.2"], true), ("10.0.0.1", ["::ffff:17.1.2.3"], true),
      ("::ffff:10.0.0.1", ["17.1.2.3"], true),
      // What the sender wrote into the header itself is never reached.
      ("10.0.0.1", ["17.1.2.3, 203.0.113.9"], false), ("10.0.0.1", ["17.1.2.3, 203.0.113.9, 10.0.0.2"], false),
      ("10.0.0.1", ["203.0.113.9, 17.1.2.3"], true),
      // Nothing but proxies, or no address at all.
      ("10.0.0.1", [], false), ("10.0.0.1", ["10.0.0.2"], false), ("10.0.0.1", [""], false),
      ("10.0.0.1", ["unknown"], false), ("10.0.0.1", ["17.1.2.3:4711"], false), ("10.0.0.1", ["17.0.0.0/8"], false),
      ("10.0.0.1", ["17.1.2.3, garbage"], false), ("10.0.0.1", ["garbage, 17.1.2.3"], true),
    ] as [(String, [String], Bool)])
  func `behind proxies look at the last address that is none`(peer: String, header: [String], isAllowed: Bool) {
    let sources = IPAllowlist(networks: IPAllowlist.apple, proxies: Self.networks(["10.0.0.0/8", "fd00::/8"]))
    #expect(sources.allow(peer: Self.peer(peer), forwardedFor: header) == isAllowed)
  }

  @Test func `may be everybody`() {
    #expect(IPAllowlist.anywhere.allow(peer: .unknown, forwardedFor: ["garbage"]))
  }
}
