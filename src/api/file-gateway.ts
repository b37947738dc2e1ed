import type { Gateway } from '../pipeline/gateway.ts'
import type { ClientFiles } from '../state/files/client-files.ts'

/** A gateway whose clients upload files. */
export interface FileGateway extends Gateway {
  files: ClientFiles
}
