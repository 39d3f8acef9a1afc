import AppStore
import JSON
import Runtime
import Wire

/// `switchyard api message`: Retention Messaging, what is shown to who is about to cancel.
enum APIMessages {
  static let command = Command(
    "message", "Upload and configure retention messages.",
    examples: [Command.Example("switchyard api message list --app com.example.app --environment Sandbox")],
    subcommands: [
      list, upload, delete, images, uploadImage, deleteImage, showDefault, setDefault, unsetDefault, showURL, setURL,
      unsetURL, performanceTest, performanceResult,
    ])

  private static let identifier = Positional("UUID", "Its identifier, chosen by you.")
  private static let product = Positional("PRODUCT_ID", "The subscription's product id.")
  private static let locale = Positional("LOCALE", "As en-US.")
  /// The end of every example: all of it is asked as an app and in one environment.
  private static let asking = " --app com.example.app --environment Sandbox"
  private static let imageLimit = 16 << 20
  private static let messageLimit = 64 << 10

  /// A command that reads and prints Apple's answer.
  private static func reading<Answer>(
    _ name: String, _ summary: String, _ example: String, _ arguments: [Positional] = [],
    _ call: @escaping @Sendable ([String]) -> Call<Answer>
  ) -> Command {
    Command(name, summary, examples: [Command.Example(example + asking)], arguments: arguments) { arguments, terminal in
      try await APIAccess.with(arguments, terminal) { access in
        let reply = try await access.client.send(
          call(arguments.positionals), as: access.credentials, in: try access.environment(arguments))
        return try access.show(reply, summary, terminal)
      }
    }
  }

  /// A command that changes something.
  private static func changing<Answer>(
    _ name: String, _ summary: String, _ example: String, _ positionals: [Positional], options: [Option] = [],
    _ call: @escaping @Sendable (ParsedArguments) throws -> Call<Answer>
  ) -> Command {
    Command(
      name, summary, examples: [Command.Example(example + asking)], options: options + [Command.dryRun],
      arguments: positionals
    ) { arguments, terminal in
      try await APIAccess.with(arguments, terminal) { access in
        try await access.change(call(arguments), "done", arguments, terminal)
      }
    }
  }

  private static let list = reading(
    "list", "The messages and how far their review is.", "switchyard api message list"
  ) { _ in Call.messageList() }

  private static let images = reading(
    "images", "The images and how far their review is.", "switchyard api message images"
  ) { _ in Call.imageList() }

  private static let showDefault = reading(
    "default", "The default message of a product in a language.",
    "switchyard api message default com.example.pro en-US", [product, locale]
  ) { Call.defaultMessage(of: $0[0], locale: $0[1]) }

  private static let showURL = reading(
    "url", "The URL at which Apple asks which message to show.", "switchyard api message url"
  ) { _ in Call.realtimeURL() }

  private static let performanceResult = reading(
    "performance-result", "How a performance test went.", "switchyard api message performance-result ID",
    [Positional("ID", "As performance-test printed it.")]
  ) { Call.performanceTestResult($0[0]) }

  private static let upload = changing(
    "upload", "Upload a message: a file with Apple's UploadMessageRequestBody.",
    "switchyard api message upload UUID message.json",
    [identifier, Positional("FILE", "JSON with header, body and what else Apple documents; - is stdin.")]
  ) { arguments in
    let bytes = try Input.read(arguments.positionals[1], limit: messageLimit)
    guard let object = (try? JSONReader.read(bytes))?.object else {
      throw UsageError(.invalidValue, "FILE is no JSON object.", path: arguments.path)
    }
    return Call.uploadMessage(UploadMessageRequestBody(object), as: arguments.positionals[0])
  }

  private static let delete = changing(
    "delete", "Delete a message.", "switchyard api message delete UUID", [identifier]
  ) { Call.deleteMessage($0.positionals[0]) }

  private static let uploadImage = changing(
    "upload-image", "Upload an image.", "switchyard api message upload-image UUID picture.png",
    [identifier, Positional("FILE", "A PNG.")],
    options: [.value("size", "SIZE", choices: ["FULL_SIZE", "BULLET_POINT"], "What it is for.")]
  ) { arguments in
    Call.uploadImage(
      try Input.read(arguments.positionals[1], limit: imageLimit), as: arguments.positionals[0],
      imageSize: arguments.value("size"))
  }

  private static let deleteImage = changing(
    "delete-image", "Delete an image.", "switchyard api message delete-image UUID", [identifier]
  ) { Call.deleteImage($0.positionals[0]) }

  private static let setDefault = changing(
    "set-default", "Make a message the default of a product in a language.",
    "switchyard api message set-default UUID com.example.pro en-US", [identifier, product, locale]
  ) { Call.configureDefaultMessage($0.positionals[0], of: $0.positionals[1], locale: $0.positionals[2]) }

  private static let unsetDefault = changing(
    "unset-default", "Take the default message away.",
    "switchyard api message unset-default com.example.pro en-US", [product, locale]
  ) { Call.deleteDefaultMessage(of: $0.positionals[0], locale: $0.positionals[1]) }

  private static let setURL = changing(
    "set-url", "Set the URL at which Apple asks which message to show.",
    "switchyard api message set-url https://example.com/retention", [Positional("URL", "https, 256 characters.")]
  ) { Call.configureRealtimeURL($0.positionals[0]) }

  private static let unsetURL = changing(
    "unset-url", "Take the URL away.", "switchyard api message unset-url", []
  ) { _ in Call.deleteRealtimeURL() }

  private static let performanceTest = changing(
    "performance-test", "Let Apple test how fast the URL answers.",
    "switchyard api message performance-test 2000000123456789",
    [Positional("ORIGINAL_TRANSACTION_ID", "A subscription in the sandbox.")]
  ) { Call.performanceTest(of: $0.positionals[0]) }
}
