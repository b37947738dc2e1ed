import { fileMark, fileUsesIn } from '../../bodies/file-uses.ts'
import { gatewayError } from '../../canonical/error.ts'
import type { Json } from '../../canonical/json.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'

/**
 * Throws `unsupported_parameter` for a body that names a gateway file where files are not read. `who` is the
 * start of the sentence that says so.
 */
export function refuseFiles(body: Json, client: ProtocolName, who: string): void {
  const text = JSON.stringify(body)
  if (!text.includes(fileMark)) return
  const [use] = fileUsesIn(Buffer.from(text), client, Number.POSITIVE_INFINITY)
  if (use === undefined) return
  throw gatewayError('kept_files_not_read', { path: use.path, who }, { field: use.path })
}
