import JSON
import Mappings
import Purchases
import Time

/// What is true of an example, in the words in which it says what it expects.
struct ExampleView {
  private let kept: ModelExample.Kept
  private let lookUp: PendingLookup?
  private let purchases: [Purchase]
  private let renewal: Resolved<RenewalField>?
  private let subscription: Subscription?

  /// - Parameter lookUp: by which Apple is being asked.
  init(_ kept: ModelExample.Kept, asking lookUp: PendingLookup?) {
    self.kept = kept
    self.lookUp = lookUp
    let vocabulary = Vocabulary.embedded
    purchases = Purchase.fold(kept.purchases, rules: vocabulary.purchases.rules)
    renewal = Resolved(kept.renewals, rules: vocabulary.renewals.rules)
    subscription = Subscription(
      key: SubscriptionKey(app: ModelExample.app, environment: .production, originalTransactionID: "1"),
      purchases: purchases, renewal: renewal)
  }

  /// The true words in the place of `words`, which say what is asked and what is expected.
  func answer(_ words: [String]) -> String {
    switch words.first {
    case "purchases": (["purchases"] + purchases.map(name)).joined(separator: " ")
    case "customers":
      (["customers"] + kept.customers.map { $0.sorted().joined(separator: "+") }.sorted()).joined(separator: " ")
    case "events": (["events"] + events).joined(separator: " ")
    case "shown": (["shown"] + shown).joined(separator: " ")
    case "transfers": (["transfers"] + transfers).joined(separator: " ")
    case "found": (["found", words[1]] + (kept.found[words[1]] ?? []).sorted()).joined(separator: " ")
    case "at": access(words)
    case "renewal": fact("renewal", words, renewal)
    case let word?: fact(word, words, purchases.first { name($0) == word }?.resolved)
    case nil: "nothing is asked"
    }
  }

  private func name(_ purchase: Purchase) -> String {
    let line = purchase.key.line.text == "" ? "-" : purchase.key.line.text
    return purchase.key.originalTransactionID == "1" ? line : "\(purchase.key.originalTransactionID)/\(line)"
  }

  /// `WHAT field=value [source] [inferred]`, `WHAT field=none`.
  private func fact<Field>(_ what: String, _ words: [String], _ resolved: Resolved<Field>?) -> String {
    guard let resolved, words.count > 1, let name = words[1].split(separator: "=").first.map(String.init),
      let field = Field(name: name)
    else { return "nothing of the kind" }
    guard let value = resolved.facts[field], let origin = resolved.origins[field] else {
      return "\(what) \(name)=none"
    }
    let text =
      switch value {
      case .integer(let number) where field.kind == .date: seconds(Timestamp(number))
      case .string(let text): text
      case .null, .bool, .integer, .number, .array, .object: String(decoding: value.encoded(), as: UTF8.self)
      }
    return "\(what) \(name)=\(text) \(origin.source.name)\(origin.isInferred ? " inferred" : "")"
  }

  /// `at TIME STATUS confirmed|unconfirmed access:yes|no`, with `held:TIME` when access is held and
  /// `claimed:STATUS` when unsigned sources say otherwise.
  private func access(_ words: [String]) -> String {
    guard words.count > 1, let now = try? ExampleLine.instant(words[1]), let subscription else {
      return "no subscription"
    }
    let decision = subscription.accessDecision(at: now, lookUp: lookUp, hold: .standard)
    let (proof, access) = (decision.isConfirmed ? "confirmed" : "unconfirmed", decision.grantsAccess ? "yes" : "no")
    let held = decision.accessHeldUntil.map { ["held:\(seconds($0))"] } ?? []
    let claimed = decision.claim.map { ["claimed:\($0.status.name)"] } ?? []
    return (["at", words[1], decision.status?.name ?? "unknown", proof, "access:\(access)"] + held + claimed)
      .joined(separator: " ")
  }

  /// `TYPE/SUBTYPE`, with `(superseded)` and `x2` for two tellings.
  private var events: [String] {
    MergedEvent.all(in: kept.events, purchases: purchases).map { occurrence in
      let event = occurrence.event
      let title = event.subtype.map { "\(event.notificationType)/\($0)" } ?? event.notificationType
      let times = occurrence.tellings.count == 1 ? "" : "x\(occurrence.tellings.count)"
      return title + (subscription?.isSuperseded(event) == true ? "(superseded)" : "") + times
    }
  }

  /// What is shown of events, those that are learned included: `TYPE/SUBTYPE:SOURCE`, with `x2` for two tellings and `(claimed)`.
  private var shown: [String] {
    MergedEvent.toldAndLearned(in: kept.events, purchases: purchases).map { occurrence in
      let event = occurrence.event
      let title = event.subtype.map { "\(event.notificationType)/\($0)" } ?? event.notificationType
      let times = occurrence.tellings.count == 1 ? "" : "x\(occurrence.tellings.count)"
      return "\(title):\(event.source.name)\(times)\(occurrence.isClaimed ? "(claimed)" : "")"
    }
  }

  private var transfers: [String] {
    AccountTransfer.all(in: kept.attributions, purchases: purchases).map { transfer in
      "\(transfer.originalTransactionID):\(transfer.from)>\(transfer.to)@\(seconds(transfer.date))"
    }
  }

  private func seconds(_ instant: Timestamp) -> String {
    let (seconds, rest) = instant.sinceEpoch.quotientAndRemainder(dividingBy: 1_000)
    return rest == 0 ? "\(seconds)" : "\(Double(instant.sinceEpoch) / 1_000)"
  }
}
