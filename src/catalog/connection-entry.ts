import { z } from 'zod'
import { connectionSettings } from '../db/settings/connection-settings.ts'
import { membersOf } from '../db/settings/setting.ts'
import type { ConnectionEntry } from './channel-connection.ts'

const file = z.string().min(1).max(4096).exactOptional()

/** The settings of a channel's connection in gateway.yaml, which can also refer to files. */
export const connectionEntry = {
  ...membersOf(connectionSettings, 'entry'),
  ca_file: file,
  cert_file: file,
  key_file: file,
}

type Settings = z.output<z.ZodObject<typeof connectionEntry>>

/** A connection whose files have not been read yet. */
export interface ConnectionDraft extends ConnectionEntry {
  files?: Partial<Record<PemName, string>>
}

/** Settings that can be stored in separate files. */
export type PemName = 'ca' | 'cert' | 'key'

/** Returns undefined if there are no such settings. */
export function connectionDraft(all: Settings): ConnectionDraft | undefined {
  const { auth, proxy, ca, cert, key, ca_file, cert_file, key_file, headers, timeouts, websocket } = all
  const files = {
    ...(ca_file !== undefined && { ca: ca_file }),
    ...(cert_file !== undefined && { cert: cert_file }),
    ...(key_file !== undefined && { key: key_file }),
  }
  const draft: ConnectionDraft = {
    ...(auth !== undefined && { auth }),
    ...(proxy !== undefined && { proxy }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(headers !== undefined && Object.keys(headers).length > 0 && { headers }),
    ...(timeouts !== undefined && Object.keys(timeouts).length > 0 && { timeouts }),
    ...(websocket === true && { websocket }),
    ...(Object.keys(files).length > 0 && { files }),
  }
  return Object.keys(draft).length === 0 ? undefined : draft
}
