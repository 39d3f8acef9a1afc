import Glibc
import Runtime

exit(await SwitchyardCommand.run().rawValue)
