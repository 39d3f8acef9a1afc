import Glibc
import Runtime

exit(await Switchyard.run().rawValue)
