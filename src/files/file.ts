import { randomUUIDv7 } from 'node:crypto'
import type { Identity } from '../access/identity.ts'

/** A file that a client has uploaded, and that exists for it. */
export interface ClientFile {
  id: string
  tenantId: string
  keyId: string
  purpose: FilePurpose
  filename: string
  /** As its bytes say. */
  mime: string
  bytes: number
  sha256: Buffer
  createdAt: Date
  expiresAt: Date
  /** Its key in the storage. */
  object: string
}

/** What a file is for. Only as an input of requests: nothing else is done with files here. */
export const purposes = ['user_data', 'vision', 'assistants'] as const
export type FilePurpose = (typeof purposes)[number]

/** Whose files: of a tenant, or of one key. */
export interface FileScope {
  tenantId: string
  /** Null: all keys of the tenant. */
  keyId: string | null
}

/** The files that a caller may see and use. */
export function fileScopeOf({ tenantId, keyId, usageScope }: Identity): FileScope {
  return { tenantId, keyId: usageScope === 'key' ? keyId : null }
}

/**
 * The ids are in the order of time. No vendor has ids of this form, so that a request's own ids show by their
 * form.
 */
export function newFileId(): string {
  return `file-tg${randomUUIDv7().replaceAll('-', '')}`
}

export function isFileId(text: string): boolean {
  return /^file-tg[0-9a-f]{32}$/.test(text)
}
