import Glibc
import Runtime

let status = await BenchmarksCommand.command.main(
  Array(CommandLine.arguments.dropFirst()), environment: [:], version: "1", terminal: .process(environment: [:]))
exit(status.rawValue)
