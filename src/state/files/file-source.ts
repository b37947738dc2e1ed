import type { Readable } from 'node:stream'

/** The source of the files that requests name. */
export interface FileSource {
  /**
   * Returns those of these files that exist for this tenant, or for this key of the tenant. Rejects with
   * `unavailable`.
   */
  find(scope: { tenantId: string; keyId: string | null }, ids: readonly string[]): Promise<SourceFile[]>
  /** Returns undefined when the file's bytes are gone. The stream must be read or destroyed. */
  open(file: SourceFile): Promise<{ bytes: number; stream: Readable } | undefined>
}

export interface SourceFile {
  id: string
  filename: string
  mime: string
  bytes: number
  /** The key of the file in the storage. */
  object: string
}
