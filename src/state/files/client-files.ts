import { endUserHash } from '../../canonical/end-user-hash.ts'
import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import type { Database } from '../../db/database.ts'
import type { Terms } from '../../db/pool.ts'
import { adopt } from '../../runtime/confine.ts'
import type { ImageStorage, ImageWriter, StoredImage } from '../../storage/storage.ts'
import { type ClientFile, type FilePurpose, type FileScope, newFileId, purposes } from './file.ts'
import {
  dropFiles,
  type FileFilter,
  type FileRow,
  findFile,
  findFiles,
  hideFile,
  listClientFiles,
  listLeftFiles,
  oldestFile,
} from './file-queries.ts'

export interface ClientFilesOptions {
  database: Pick<Database, 'answers' | 'reads' | 'jobs'>
  storage: ImageStorage
  /** Encrypts the names. `owner` binds a name to its file. */
  cipher: {
    seal(text: string, owner: string): Buffer
    open(sealed: Buffer, owner: string): string
  }
  bounds: FileBounds
}

export interface FileBounds {
  fileDays: number
  filesPerTenantMax: number
  filesBytesPerTenant: number
}

/** An upload that has begun: a row, and a writer for its bytes. */
export interface BegunFile {
  id: string
  tenantId: string
  keyId: string
  writer: ImageWriter
}

/** The files of clients: rows in Postgres, bytes in the storage. */
export class ClientFiles {
  readonly storage: ImageStorage
  readonly #options: ClientFilesOptions

  constructor(options: ClientFilesOptions) {
    this.storage = options.storage
    this.#options = options
  }

  /**
   * Rejects with `request_too_large` when the tenant has no room for the bytes, and with `invalid_request`
   * when it has too many files.
   */
  async begin(tenantId: string, keyId: string, declaredBytes: number): Promise<BegunFile> {
    const { database, bounds } = this.#options
    const writer = this.storage.create()
    const id = newFileId()
    const [answer] = await database.answers.ask(
      ({ sql }) => sql<{ verdict: 'begun' | 'files' | 'bytes' }[]>`
        SELECT verdict FROM begin_file(${id}, ${tenantId}, ${keyId}, ${writer.key}, ${declaredBytes}::bigint,
          ${bounds.filesPerTenantMax}::integer, ${bounds.filesBytesPerTenant}::bigint)`,
      away,
    )
    if (answer?.verdict === 'files') throw tooManyFiles(bounds)
    if (answer?.verdict === 'bytes') throw tooManyBytes(bounds)
    return { id, tenantId, keyId, writer }
  }

  /** Makes the file visible to its tenant, once its bytes are complete and durable. Rejects like `begin`. */
  async finish(
    { id, tenantId, keyId, writer }: BegunFile,
    file: Pick<ClientFile, 'purpose' | 'filename' | 'mime' | 'bytes' | 'sha256'> & {
      seconds?: number | undefined
      /** The end user that its upload named, as it appears in the usage log. */
      endUser: string | null
    },
  ): Promise<ClientFile> {
    const { database, bounds, cipher } = this.#options
    const { purpose, filename, mime, bytes, sha256, endUser } = file
    const most = bounds.fileDays * 86_400
    const sealed = cipher.seal(filename, id)
    const hash = endUser === null ? null : endUserHash(endUser)
    const [own] = await database.answers.ask(
      ({ sql }) => sql<{ days: number | null }[]>`
        UPDATE files f SET end_user_hash = ${hash} FROM tenants t WHERE f.id = ${id} AND t.id = f.tenant_id
        RETURNING least(t.rows_days, t.bodies_days) AS days`,
      away,
    )
    const ownMost = own?.days == null ? most : Math.min(most, own.days * 86_400)
    const lives = Math.min(file.seconds ?? ownMost, ownMost)
    const [answer] = await database.answers.ask(
      ({ sql }) => sql<{ verdict: 'ready' | 'bytes' | 'gone'; created: Date | null; expires: Date | null }[]>`
        SELECT verdict, created, expires FROM finish_file(${id}, ${tenantId}, ${purpose}, ${sealed}, ${mime}, ${bytes}::bigint,
          ${sha256}, ${lives}::double precision, ${bounds.filesBytesPerTenant}::bigint)`,
      away,
    )
    if (answer?.verdict === 'bytes') throw tooManyBytes(bounds)
    if (answer?.verdict !== 'ready' || answer.created === null || answer.expires === null) {
      throw gatewayError('upload_late')
    }
    const { created: createdAt, expires: expiresAt } = answer
    const object = writer.key
    return { id, tenantId, keyId, object, purpose, filename, mime, bytes, sha256, createdAt, expiresAt }
  }

  /** Removes everything that an upload has stored. Never rejects: the sweep removes what is left. */
  async abandon({ id, writer }: BegunFile): Promise<void> {
    await writer.abandon()
    await this.#options.database.answers.ask(({ db }) => dropFiles(db, [id])).catch(() => {})
  }

  async list(scope: FileScope, filter: FileFilter, terms: Terms): Promise<ClientFile[]> {
    const rows = await this.#options.database.reads.ask(({ db }) => listClientFiles(db, scope, filter), terms)
    return rows.map((row) => this.fileOf(row))
  }

  /** Returns those of these files that exist for this scope. Rejects with `unavailable`. */
  async find(scope: FileScope, ids: readonly string[]): Promise<ClientFile[]> {
    const rows = await this.#options.database.answers.ask(({ db }) => findFiles(db, scope, ids), away)
    return rows.map((row) => this.fileOf(row))
  }

  /** Includes the files of all tenants. */
  async findAny(id: string): Promise<ClientFile | undefined> {
    const row = await this.#options.database.answers.ask(({ db }) => findFile(db, id), away)
    return row === undefined ? undefined : this.fileOf(row)
  }

  /**
   * Returns undefined when the file's object is gone or is on another machine. The caller must read the
   * stream or destroy it.
   */
  async open({ object }: { object: string }): Promise<StoredImage | undefined> {
    const stored = await this.storage.open(object)
    if (stored !== undefined) adopt(stored.stream)
    return stored
  }

  /**
   * Deletes a file for clients. A request that is reading it continues to its end. Returns false when the
   * file does not exist.
   */
  async remove({ id, object }: Pick<ClientFile, 'id' | 'object'>): Promise<boolean> {
    const { database } = this.#options
    if (!(await database.answers.ask(({ db }) => hideFile(db, id), away))) return false
    await this.clear([{ id, object }]).catch(() => {})
    return true
  }

  /** Removes objects, then rows. The sweep removes anything that is left. */
  async clear(left: readonly { id: string; object: string }[]): Promise<void> {
    const gone: string[] = []
    try {
      for (const { id, object } of left) {
        await this.storage.remove(object)
        gone.push(id)
      }
    } finally {
      if (gone.length > 0) await this.#options.database.jobs.ask(({ db }) => dropFiles(db, gone))
    }
  }

  /**
   * Removes expired files, deleted files, and the remains of uploads that did not finish. Returns the number
   * removed.
   */
  async sweep(uploadMs: number, signal: AbortSignal): Promise<number> {
    let removed = 0
    while (!signal.aborted) {
      const left = await this.#options.database.jobs.ask(({ db }) => listLeftFiles(db, uploadMs, sweptAtOnce))
      await this.clear(left)
      removed += left.length
      if (left.length < sweptAtOnce) break
    }
    return removed
  }

  /** Removes objects that have no row and never will, because they are from days before the oldest row. */
  async sweepStorage(): Promise<number> {
    const oldest = await this.#options.database.jobs.ask(({ db }) => oldestFile(db))
    // The day of an object is from a process's clock.
    return await this.storage.removeBefore(new Date(oldest.getTime() - dayMs))
  }

  fileOf({ filename, purpose, mime, sha256, expiresAt, ...row }: FileRow): ClientFile {
    const known = purposes.find((each): each is FilePurpose => each === purpose)
    if (known === undefined || filename === null || mime === null || sha256 === null || expiresAt === null) {
      throw new Error(`the row of file ${row.id} is not whole`)
    }
    const { id, tenantId, keyId, object, bytes, createdAt } = row
    const name = this.#options.cipher.open(filename, id)
    return {
      id,
      tenantId,
      keyId,
      object,
      bytes,
      createdAt,
      purpose: known,
      filename: name,
      mime,
      sha256,
      expiresAt,
    }
  }
}

const sweptAtOnce = 100
const dayMs = 86_400_000

const away: Terms = {
  unavailable: 'The database is not responding, so files cannot be found or kept at the moment. Try again.',
  retryAfterSeconds: 5,
}

function tooManyFiles({ filesPerTenantMax }: FileBounds): GatewayError {
  return gatewayError('files_full', { most: filesPerTenantMax })
}

function tooManyBytes({ filesBytesPerTenant }: FileBounds): GatewayError {
  return gatewayError('file_bytes_full', { bytesMax: filesBytesPerTenant })
}
