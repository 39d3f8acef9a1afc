extension Command {
  /// Does what a command line asks for and gives the exit status; errors are said on stderr.
  ///
  /// `let status = await root.main(Array(CommandLine.arguments.dropFirst()), environment: …, version: "1.0", terminal: …)`
  ///
  /// - Parameters:
  ///   - report: hears an error before it is said on stderr.
  ///   - signals: whether SIGINT and SIGTERM stop it, and a service that does not stop in time ends the
  ///     process; false where the process has other work.
  package func main(
    _ arguments: [String], environment: [String: String], version: String, terminal: Terminal, signals: Bool = true,
    report: (any Error) throws -> Void = { _ in }
  ) async -> ExitStatus {
    do {
      switch try parse(arguments, environment: environment, width: terminal.width) {
      case .help(let text): try terminal.write(text)
      case .version: try terminal.write("\(name) \(version)\n")
      case .run(let action, let parsed):
        guard signals else {
          return try await SignalSource.$stopsServices.withValue(false) { try await action(parsed, terminal) }
        }
        guard let note = parsed.stopNote else { return try await action(parsed, terminal) }
        return try await CommandShutdown(name, note, terminal).run { try await action(parsed, terminal) }
      }
      return .done
    } catch Terminal.OutputError.closed {
      return .failed
    } catch let status as ExitStatus {
      return status
    } catch {
      try? report(error)
      terminal.note("\(name): \(error)")
      return (error as? any ExitStatusError)?.exitStatus ?? .failed
    }
  }
}
