import { randomUUIDv7 } from 'node:crypto'
import type { Identity } from '../../access/identity.ts'

/** A file that a client has uploaded and can use. */
export interface ClientFile {
  id: string
  tenantId: string
  keyId: string
  purpose: FilePurpose
  filename: string
  /** The type detected from its bytes. */
  mime: string
  bytes: number
  sha256: Buffer
  createdAt: Date
  expiresAt: Date
  /** Its key in the storage. */
  object: string
}

/** The purposes of a file. All of them mean an input of requests, because files have no other use here. */
export const purposes = ['user_data', 'vision', 'assistants'] as const
export type FilePurpose = (typeof purposes)[number]

/** The owner of files: a tenant, or one key. */
export interface FileScope {
  tenantId: string
  /** Null means all keys of the tenant. */
  keyId: string | null
}

/** The files that a caller may see and use. */
export function fileScopeOf({ tenantId, keyId, usageScope }: Identity): FileScope {
  return { tenantId, keyId: usageScope === 'key' ? keyId : null }
}

/**
 * The ids sort by time. No vendor has ids in this format, so a gateway file in a request is recognised by its
 * format.
 */
export function newFileId(): string {
  return `file-tg${randomUUIDv7().replaceAll('-', '')}`
}

export function isFileId(text: string): boolean {
  return /^file-tg[0-9a-f]{32}$/.test(text)
}
