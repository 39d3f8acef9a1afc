import JSON
import Ledger
import Purchases
import Runtime
import Signing
import Time

/// An explanation for a person on call at night: first the state, then the events, then the sources.
extension Explanation {
  func text(withSources: Bool, for terminal: Terminal) -> String {
    var parts = [heading]
    parts += subscriptions.map(summary)
    if !ownedLines.isEmpty { parts.append(limit.first(of: ownedLines).joined()) }
    parts.append(purchaseTable.render(for: terminal) + rest(of: purchases.count, "purchases"))
    if !events.isEmpty { parts.append(eventTable.render(for: terminal) + rest(of: events.count, "events")) }
    if !accounts.isEmpty { parts.append(accountTable.render(for: terminal) + rest(of: accounts.count, "accounts")) }
    if !sharedLines.isEmpty { parts.append(limit.first(of: sharedLines).joined()) }
    if !transfers.isEmpty { parts.append(transferTable.render(for: terminal) + rest(of: transfers.count, "transfers")) }
    if withSources {
      for purchase in limit.newest(of: purchases) {
        let key = purchase.signedKey
        let title = "purchase \(key.originalTransactionID) line \(key.line.shown)"
        if let thing = thing(purchase) { parts.append(sources(title, thing, terminal)) }
      }
      for subscription in subscriptions {
        guard let renewal = subscription.renewal else { continue }
        parts.append(sources("renewal of \(subscription.key.originalTransactionID)", renewal, terminal))
      }
      for thing in appTransactions { parts.append(sources("app transaction", thing, terminal)) }
    }
    let shown = messages.suffix(Self.messagesShown).map(Self.short)
    parts.append("messages, the latest last: \(shown.joined(separator: " "))\n")
    return parts.joined(separator: "\n")
  }

  private static let messagesShown = 12

  private static func short(_ message: [UInt8]) -> String { String((Digest(bytes: message)?.hex ?? "").prefix(12)) }

  private var heading: String {
    let customers = dossier.customers.sorted { $0.key < $1.key }.map { _, members in
      let shown = limit.first(of: members.sorted())
      let others = members.count - shown.count
      return "customer  \(shown.map(\.shown).joined(separator: " "))\(others > 0 ? " and \(others) more ids" : "")\n"
    }
    return "\(app) in \(dossier.environment.rawValue), \(id.shown) at \(now.iso8601)\n" + customers.joined()
      + claimedLinksLine
      + (dossier.claimsAreCut
        ? "claims    cut: unsigned messages claim more than is shown here; all that is signed is shown\n" : "")
  }

  /// A line that names purchases linked only by unsigned messages; empty without any.
  private var claimedLinksLine: String {
    let others = Set(claimedNeighbours.map(\.originalTransactionID)).sorted()
    guard !others.isEmpty else { return "" }
    let shown = others.prefix(Self.claimsShown).map(\.shown).joined(separator: " ")
    let more = others.count > Self.claimsShown ? " and \(others.count - Self.claimsShown) more" : ""
    return "claimed   \(shown)\(more): only unsigned messages link them to this customer, so they are not shown here\n"
  }

  private static let claimsShown = 12

  private func rest(of count: Int, _ what: String) -> String {
    guard let most = limit.count, count > most else { return "" }
    return "the newest \(most) of \(count) \(what); --limit \(count) shows all\n"
  }

  private func summary(_ explained: ExplainedSubscription) -> String {
    let original = explained.key.originalTransactionID.shown
    guard let decision = explained.decision, let subscription = explained.subscription else {
      return "subscription \(original): no period is known, only what Apple intends\n"
    }
    let access = explained.grantsAccess ? "access" : "NO access"
    let status = decision.status?.name ?? "unknown: no source says when it ends"
    let proof = decision.isConfirmed ? "confirmed by Apple's signature" : "NOT confirmed by any signature"
    var lines = ["subscription \(original): \(status), \(access)", "  \(proof)"]
    if let claim = decision.claim {
      let line = claim.period.map { " by line \($0.key.line.shown)" } ?? ""
      lines.append("  claimed by unsigned messages, and not counted: \(claim.status.name)\(line)")
    }
    if let owner = explained.owner { lines.append("  \(text(of: owner))") }
    lines += lookUpLines(explained, decision)
    if let period = decision.period ?? subscription.current {
      let ends = period.expiresDate.map(\.iso8601) ?? "?"
      lines.append("  decided by line \(period.key.line.shown), \(period.productID?.shown ?? "?"), until \(ends)")
      if let revoked = period.revocationDate { lines.append("  revoked \(revoked.iso8601)") }
    }
    if let renewal = explained.renewal {
      let told = renewal.fields.compactMap { field -> String? in
        guard Self.intentions.contains(field.name), let word = field.counting else { return nil }
        return "\(field.name) \(word.shown(field.kind))"
      }
      if !told.isEmpty { lines.append("  next: \(told.joined(separator: ", "))") }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func text(of owner: PresentOwner) -> String {
    let accounts = owner.accounts.sorted { $0.key.rawValue < $1.key.rawValue }
    let told = accounts.map { "\($0.key.name) \($0.value.shown)" }.joined(separator: ", ")
    return "owner: \(told)" + (owner.isAnother ? "; \(id.shown) had it before and has no access" : "")
  }

  /// A line for each non-subscription purchase that passed from one account to another.
  private var ownedLines: [String] {
    let originals = Set(purchases.filter { !$0.isSubscription }.map(\.key.originalTransactionID)).sorted()
    return originals.compactMap { original in
      owners[original].map { "purchase \(original.shown): \(text(of: $0))\n" }
    }
  }

  private static let reported = ["period": "a new period", "renewal": "a new renewal state", "refund": "a refund"]

  /// Returns whether and why Apple is being asked, and the effect on access.
  private func lookUpLines(_ explained: ExplainedSubscription, _ decision: AccessDecision) -> [String] {
    guard let lookUp = explained.lookUp else {
      guard decision.hasUnconfirmedWord, !dossier.canAskApple else { return [] }
      return [
        "  Apple cannot be asked: the app has no API key. Add it with `switchyard app add \(app) --key-file FILE`"
      ]
    }
    let reported = lookUp.because.names.map { Self.reported[$0] ?? $0 }
    var lines = [
      "  Waiting for Apple since \(lookUp.since.iso8601): message \(Self.short(lookUp.message)) reports "
        + reported.joined(separator: " and ")
    ]
    if let failure = lookUp.failure { lines.append("  the last attempt failed: \(failure.shown)") }
    if let until = decision.accessHeldUntil {
      lines.append(
        "  access is held until \(until.iso8601) at the latest: the signed period is over, V1 reports a renewal")
    }
    return lines
  }

  private static let intentions: Set<String> = [
    "autoRenewProductId", "autoRenewStatus", "renewalDate", "expirationIntent", "isInBillingRetryPeriod",
    "gracePeriodExpiresDate", "priceIncreaseStatus",
  ]

  private var purchaseTable: TextTable {
    var table = TextTable([
      .init("ORIGINAL"), .init("LINE"), .init("PRODUCT"), .init("BOUGHT"), .init("EXPIRES"), .init("STATE"),
      .init("SOURCE"),
    ])
    for told in limit.newest(of: purchases) {
      let purchase = told.shown
      var states: [String] = []
      if let revoked = purchase.revocationDate { states.append("revoked \(revoked.iso8601)") }
      if purchase.isUpgraded { states.append("upgraded") }
      if !purchase.isConfirmed { states.append("unconfirmed") }
      if purchase.revocationDate == nil, let claimed = told.revocationDate {
        states.append("claimed revoked \(claimed.iso8601)")
      }
      let sources = Set(told.statements.map(\.source)).sorted(by: >).map(\.name)
      table.add([
        purchase.key.originalTransactionID, purchase.key.line.shown, purchase.productID ?? "?",
        purchase.purchaseDate?.iso8601 ?? "?", purchase.expiresDate?.iso8601 ?? "",
        states.joined(separator: ", "), sources.joined(separator: ", "),
      ])
    }
    return table
  }

  private var eventTable: TextTable {
    var table = TextTable([
      .init("WHEN"), .init("WHAT"), .init("ORIGINAL"), .init("LINE"), .init("SOURCE"), .init("RULE"),
      .init("MESSAGES"),
    ])
    for explained in limit.newest(of: events) {
      let event = explained.occurrence.event
      let title = event.subtype.map { "\(event.notificationType)/\($0)" } ?? event.notificationType
      let tellings = explained.occurrence.tellings
      table.add([
        event.date.iso8601,
        title + (explained.isSuperseded ? " (superseded)" : "") + (explained.occurrence.isLearned ? " (learned)" : "")
          + (explained.occurrence.isClaimed ? " (claimed)" : ""),
        event.originalTransactionID ?? "",
        event.line?.text ?? "", tellings.map(\.source.name).joined(separator: ", "), event.rule ?? "",
        tellings.map { Self.short($0.message) }.joined(separator: " "),
      ])
    }
    return table
  }

  private var accountTable: TextTable {
    var table = TextTable([
      .init("ACCOUNT"), .init("OF"), .init("ORIGINAL"), .init("LINE"), .init("FIRST SAID"), .init("LAST SAID"),
      .init("MESSAGE"),
    ])
    for attribution in limit.newest(of: accounts, by: \.lastAsOf) {
      table.add([
        attribution.value, attribution.kind.name + (attribution.isClaimed ? " (claimed)" : ""),
        attribution.originalTransactionID, attribution.line.text,
        Self.said(attribution.firstAsOf), Self.said(attribution.lastAsOf), Self.short(attribution.message),
      ])
    }
    return table
  }

  /// Formats the date of a source; stored tables have no known date.
  private static func said(_ date: Timestamp) -> String { date == Timestamp(0) ? "stored" : date.iso8601 }

  /// A line for each originalTransactionId that several accounts claimed first at the same time, for the same purchase.
  private var sharedLines: [String] {
    let told = Dictionary(grouping: accounts.filter { !$0.isClaimed }) { account in
      [account.originalTransactionID, account.kind.name, account.line.text, account.firstAsOf.iso8601]
    }
    let lines = told.compactMap { key, said -> String? in
      let values = Set(said.map { Array($0.value.utf8) }).map { String(decoding: $0, as: UTF8.self).shown }
      guard values.count > 1 else { return nil }
      let shown = values.sorted().prefix(Self.claimsShown).joined(separator: ", ")
      let more = values.count > Self.claimsShown ? " and \(values.count - Self.claimsShown) more" : ""
      return
        "shared    \(key[0].shown) was reported with \(key[1]) \(shown)\(more) at the same time; the order is unknown\n"
    }
    return Set(lines).sorted()
  }

  private var transferTable: TextTable {
    var table = TextTable([.init("TRANSFER"), .init("OF"), .init("ORIGINAL"), .init("FROM"), .init("TO")])
    for transfer in limit.newest(of: transfers) {
      table.add([
        transfer.date.iso8601, transfer.kind.name, transfer.originalTransactionID, transfer.from, transfer.to,
      ])
    }
    return table
  }

  private func sources(_ title: String, _ thing: ExplainedThing, _ terminal: Terminal) -> String {
    var table = TextTable([
      .init("FIELD"), .init("VALUE"), .init("VERDICT"), .init("SOURCE"), .init("AS OF"), .init("HOW"), .init("RULE"),
      .init("SAID BY"), .init("MESSAGE"),
    ])
    for field in thing.fields {
      for (place, word) in field.words.sorted(by: { $0.comesFirst && !$1.comesFirst }).enumerated() {
        table.add([
          place == 0 ? field.name : "", word.shown(field.kind), word.verdict.rawValue, word.source.name,
          word.asOf.iso8601, word.isInferred ? "inferred" : "stated", field.rule, word.rows.joined(separator: " "),
          Self.short(word.message),
        ])
      }
    }
    return "\(title.shown)\n" + table.render(for: terminal)
  }
}

extension ExplainedThing.Word {
  fileprivate var comesFirst: Bool { verdict == .counts }

  fileprivate func shown(_ kind: FactKind) -> String {
    if kind == .date, let date = value.milliseconds { return date.iso8601 }
    return value.string?.shown ?? String(decoding: value.encoded(), as: UTF8.self).shown
  }
}

extension Line {
  fileprivate var shown: String { text == "" ? "-" : text.shown }
}

extension CustomerNode {
  fileprivate var shown: String {
    switch self {
    case .originalTransactionID(let id): id.shown
    case .appTransactionID(let id): "appTransactionId:\(id.shown)"
    }
  }
}

extension String {
  /// The text without terminal control characters, because IDs and values are untrusted.
  fileprivate var shown: String { SafeText.escaped(self, limit: 256) }
}
