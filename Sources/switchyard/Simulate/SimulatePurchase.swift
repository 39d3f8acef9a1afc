import JSON
import Runtime
import Signing
import Simulator
import Time

/// `switchyard simulate purchase`: one purchase in each of its forms, side by side.
enum SimulatePurchase {
  static let command = Command(
    "purchase", "Print one simulated purchase in each form a back end may meet.",
    discussion: """
      One JSON object: v2 (payloads and what carries them), v1 (notifications, verifyReceipt's answers in both shapes), \
      receipts (base64, with the root to trust) and truth (what a perfect back end would know). All of the same purchase, \
      which was made --days ago in --app. Each --restores gives V1 another transaction id and leaves everything else alone.
      """,
    examples: [
      Command.Example("switchyard simulate purchase plus.monthly"),
      Command.Example("switchyard simulate purchase plus.monthly --offer introductory --days 40 --restores 2"),
      Command.Example("switchyard simulate purchase coins.100 --app com.example.app --refund"),
    ],
    options: [
      .value("offer", "ID", "Bought with this offer: introductory, stay.3, SPRING or welcome.back."),
      .value("days", "N", default: "3", "How long ago it was bought, 0 to 3,650."),
      .value("restores", "N", default: "0", "How often everything was restored since, 0 to 100."),
      .flag("production", "As in Production, which nobody trusts this root for; else Sandbox."),
      .flag("unpaid", "Let payments fail from then on."), .flag("refund", "Refund the last period in the end."),
    ],
    arguments: [Positional("PRODUCT", choices: products, "What is bought.")]
  ) { arguments, terminal in
    let now = WallClock.system.now()
    let pki = try SimulatedApple.pki(in: arguments.required("data-dir"), now: now)
    let forms = try forms(arguments, at: now)
    let signer = try PayloadSigner(pki)
    try terminal.write(forms.object(signedBy: signer, receiptsBy: ReceiptPKI.shared(at: now)))
    return .done
  }

  private static let products = AppPlan.sample("com.example.inkwell").products.map(\.id)

  private static func forms(_ arguments: ParsedArguments, at now: Milliseconds) throws -> PurchaseForms {
    let days = Int64(try arguments.integer("days", in: 0...3_650) ?? 3)
    let restores = try arguments.integer("restores", in: 0...100) ?? 0
    let seed = UInt64(try arguments.integer("seed", in: 0...Int.max) ?? 1)
    let environment: AppStoreEnvironment = arguments.flag("production") ? .production : .sandbox
    let bundleID = arguments.values("app").last ?? "com.example.inkwell"
    guard WorldOptions.isBundleID(bundleID) else {
      throw UsageError(.invalidValue, "--app takes a bundle id, as com.example.app.", path: arguments.path)
    }
    let plan = AppPlan.sample(bundleID, environment: environment)
    var world = AppStoreWorld(plan: WorldPlan(apps: [plan]), seed: seed, start: now - .days(days) - .minutes(1))
    let customer = try world.enrol(in: plan.app.bundleID, environment: environment, usesStoreKit1: true)
    do {
      try world.act(.buy(product: arguments.positionals[0], offer: arguments.value("offer")), on: customer)
      if arguments.flag("unpaid") { try world.act(.setPayment(works: false), on: customer) }
      for _ in 0..<restores {
        world.advance(by: .milliseconds(days * 86_400_000 / Int64(restores + 1)))
        try world.act(.restore, on: customer)
      }
      world.advance(to: now - .seconds(50))
      if arguments.flag("refund"), let last = world.transactions(of: customer).last {
        try world.act(.refund(transaction: last.transaction.transactionID), on: customer)
      }
    } catch {
      throw UsageError(.invalidValue, "The simulated App Store refuses: \(error.detail).", path: arguments.path)
    }
    world.advance(to: now)
    let told = world.drainNotifications()
    let id = world.transactions(of: customer).last?.transaction.transactionID ?? ""
    guard let forms = PurchaseForms(of: id, in: world.state(of: customer), told: told) else {
      preconditionFailure("what was bought is not there")
    }
    return forms
  }
}
