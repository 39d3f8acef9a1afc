import Runtime

enum ReceiptCommand {
  static let command = Command(
    "receipt", "Look at receipts of the App Store.",
    examples: [Command.Example("switchyard receipt inspect --json receipt.b64")],
    subcommands: [ReceiptInspect.command])
}
