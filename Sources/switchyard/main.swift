import Glibc
import Runtime

let environment = ProcessEnvironment.variables(of: Switchyard.command)
let status = await Switchyard.command.main(
  Array(CommandLine.arguments.dropFirst()), environment: environment, version: Switchyard.version,
  terminal: .process(environment: environment))
exit(status.rawValue)
