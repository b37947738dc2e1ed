import { fileMark, fileUsesIn } from '../../bodies/file-uses.ts'
import { gatewayError } from '../../canonical/error.ts'
import type { Json } from '../../canonical/json.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'

/**
 * Throws `unsupported_parameter` for a body that names a gateway file where files are not read. `where` is
 * the end of the sentence that says so, such as "when tokens are counted".
 */
export function refuseFiles(body: Json, client: ProtocolName, where: string): void {
  const text = JSON.stringify(body)
  if (!text.includes(fileMark)) return
  const [use] = fileUsesIn(Buffer.from(text), client, Number.POSITIVE_INFINITY)
  if (use === undefined) return
  throw gatewayError('kept_files_not_read', { path: use.path, where }, { field: use.path })
}
