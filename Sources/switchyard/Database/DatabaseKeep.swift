import Database
import Runtime
import Time

/// `switchyard db keep`: the process that runs the private database, started by the commands that use it.
enum DatabaseKeep {
  static let command = Command(
    "keep", "Keep the private database running while other processes use it.",
    discussion: """
      The commands that use the private database start this process. It starts the server, starts it again when it dies, \
      and stops it when no process uses it. It ignores SIGHUP, SIGINT and SIGTERM: stop the processes that use \
      the database instead. It writes what happens to keeper.log in --data-dir/database.
      """,
    examples: [Command.Example("switchyard db keep --data-dir /var/lib/switchyard")], isHidden: true
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    let logger = Logger(
      label: "switchyard.keeper", level: .info, handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    Terminal.outlivesItsReaders()
    let signals = SignalSource([.hangup, .interrupt, .terminate]) { signal in
      logger.notice(
        "signal ignored: the database stops when no process uses it", metadata: ["signal": "\(signal.name)"])
    }
    defer { signals.cancel() }
    let keeper = DatabaseSupervisor(directory: options.embeddedDirectory, settings: options.serverSettings) { report in
      logger.note(report)
      // The process that started this one reads it, as long as it lives.
      try? terminal.write(report.json)
    }
    try await keeper.run()
    logger.info("stopped: no process uses the database")
    return .done
  }
}

extension Logger {
  fileprivate func note(_ report: SupervisorReport) {
    switch report {
    case .event(.moved(let reason)): notice("the data is elsewhere", metadata: ["reason": "\(reason)"])
    case .event(.initializing(let directory, let user)):
      notice("making a database", metadata: ["directory": "\(directory)", "user": "\(user)"])
    case .event(.stoppedOrphan(let pid)):
      notice("stopped a server left over from a killed process", metadata: ["pid": "\(pid)"])
    case .event(.started(let pid)): info("started", metadata: ["pid": "\(pid)"])
    case .event(.died(let code, let pause)):
      warning(
        "the server ended; starting it again",
        metadata: ["exitCode": "\(code)", "afterMilliseconds": "\(pause.milliseconds)"])
    case .failed(let failure):
      if case .inUse = failure.code { return info("another process runs the database") }
      error("the database cannot be run", metadata: ["error": "\(failure)"])
    }
  }
}
