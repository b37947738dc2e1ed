import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { KeyRing } from './canonical/key-ring.ts'

/**
 * The purposes that have a key of their own, and the texts that they derive from. A new purpose is a new line
 * here. A text never changes: whatever was sealed for it could not be opened any more.
 */
const purposes = {
  /** Keys the hashes of client keys. */
  pepper: 'client key pepper',
  /** Keys the hashes in the placeholders of redacted strings. */
  redaction: 'redaction hash',
  /** Signs the envelopes in which reasoning signatures travel through clients. */
  envelope: 'reasoning envelope',
  /** Signs links to images. */
  link: 'image link',
  /** Keys the secrets that tenants check our webhooks with. */
  webhook: 'webhook secret',
  /** Keys the hash by which a gateway.yaml is recognised. */
  file: 'gateway file',
  /** Seals credentials and connections of channels. */
  credential: 'channel credential',
  /** Seals answers that are kept for a repeat of their request. */
  answer: 'kept answer',
  /** Seals the bodies and webhook addresses of image jobs. */
  job: 'image job',
  /** Seals the TOTP secrets of users. */
  totp: 'totp secret',
  /** Seals the client secrets of OIDC. */
  oidc: 'oidc client secret',
  /** Signs the sessions of users. */
  session: 'user session',
  /** Seals the addresses and signing keys of alert webhooks. */
  alertWebhook: 'alert webhook secret',
  /** Seals answers that are kept so that later requests continue them. */
  keptAnswer: 'continued answer',
  /** Seals the answers of the admin API that are kept for a repeat of their request. */
  adminAnswer: 'kept admin answer',
  /** Seals the names of files that clients have uploaded. */
  upload: 'name of an uploaded file',
} as const

export type KeyPurpose = keyof typeof purposes

/** A master key, open. */
export interface MasterSecret {
  secret: string
  /**
   * When another one took its place, in ms since 1970. Infinity: it has not sealed yet, or another process
   * seals with it.
   */
  retiredMs: number
}

/** Derives one key for each purpose from each master key, and does not keep the master keys themselves. */
export class SecretKeeper {
  #current: Derived
  #former: readonly Derived[]

  /** `secret` seals. `former` only open. */
  constructor(secret: string, former: readonly MasterSecret[] = []) {
    this.#current = derivedFrom({ secret, retiredMs: Number.POSITIVE_INFINITY })
    this.#former = former.map(derivedFrom)
  }

  /**
   * Take these master keys instead of those that it has. Returns whether they are other ones, or in another
   * order.
   */
  learn(secret: string, former: readonly MasterSecret[]): boolean {
    const idsBefore = [this.#current, ...this.#former].map(({ id }) => id)
    const ids = [secret, ...former.map((one) => one.secret)].map(idOfSecret)
    if (isDeepStrictEqual(ids, idsBefore)) return false
    this.#current = derivedFrom({ secret, retiredMs: Number.POSITIVE_INFINITY })
    this.#former = former.map(derivedFrom)
    return true
  }

  /** Identifies the master key that seals: 8 hex digits that do not reveal it. */
  get keyId(): string {
    return this.#current.id
  }

  get pepper(): Buffer {
    return this.#current.key('pepper')
  }

  get redactionKey(): Buffer {
    return this.#current.key('redaction')
  }

  get fileKey(): Buffer {
    return this.#current.key('file')
  }

  /** The keys of a purpose. They follow the master keys. */
  ring(purpose: KeyPurpose): KeyRing {
    const current = () => this.#current.key(purpose)
    const former = () => this.#former.map(({ key, retiredMs }) => ({ key: key(purpose), retiredMs }))
    return {
      get current() {
        return current()
      },
      get former() {
        return former()
      },
    }
  }

  /** Encrypt a secret for a purpose, bound to its owner. The form is nonce | tag | ciphertext. */
  seal(purpose: KeyPurpose, plain: Buffer | string, owner: string): Buffer {
    return encryptFor(owner, Buffer.from(plain), this.#current.key(purpose))
  }

  /**
   * Decrypt what `seal` made with any of the master keys. Throws an Error for other keys, another owner and
   * changed bytes.
   */
  open(purpose: KeyPurpose, sealed: Buffer, owner: string): Buffer {
    let failure: unknown
    for (const { key } of [this.#current, ...this.#former]) {
      try {
        return decryptFor(owner, sealed, key(purpose))
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  /**
   * What a former master key sealed, resealed. `current`: the current one sealed it. Undefined: no key
   * opens it.
   */
  resealed(purpose: KeyPurpose, sealed: Buffer, owner: string): Buffer | 'current' | undefined {
    for (const { id, key } of [this.#current, ...this.#former]) {
      try {
        const plain = decryptFor(owner, sealed, key(purpose))
        return id === this.keyId ? 'current' : this.seal(purpose, plain, owner)
      } catch {
        // Another master key sealed it.
      }
    }
    return undefined
  }

  /** Encrypt an upstream credential, bound to its channel. */
  encryptCredential(credential: string, channelId: string): EncryptedCredential {
    return { keyId: this.keyId, sealed: this.seal('credential', credential, channelId) }
  }

  /** Throws an Error for another master key, for another channel, and for changed bytes. */
  decryptCredential({ keyId, sealed }: EncryptedCredential, channelId: string): string {
    const master = [this.#current, ...this.#former].find(({ id }) => id === keyId)
    if (master === undefined) {
      throw new Error(
        `the credential was sealed with master key ${keyId}, which is not in the database; ${this.keyId} is`,
      )
    }
    try {
      return decryptFor(channelId, sealed, master.key('credential')).toString('utf8')
    } catch (cause) {
      throw new Error('the credential is damaged or belongs to another channel', { cause })
    }
  }

  /** Encrypt a part of a job, bound to `owner`. */
  encryptJob(text: string, owner: string): Buffer {
    return this.seal('job', text, owner)
  }

  /** Throws an Error for another master key, for another owner, and for changed bytes. */
  decryptJob(encrypted: Buffer, owner: string): string {
    try {
      return this.open('job', encrypted, owner).toString('utf8')
    } catch (cause) {
      throw new Error('the job is damaged, or sealed with another SECRET_KEY', { cause })
    }
  }

  /** Encrypt an answer, bound to its request. */
  encryptAnswer(answer: Buffer, requestId: string): Buffer {
    return this.seal('answer', answer, requestId)
  }

  /** Throws an Error for another master key, for another request, and for changed bytes. */
  decryptAnswer(encrypted: Buffer, requestId: string): Buffer {
    try {
      return this.open('answer', encrypted, requestId)
    } catch (cause) {
      throw new Error('the answer is damaged, of another request, or sealed with another SECRET_KEY', {
        cause,
      })
    }
  }
}

/** A master key by what derives from it. */
interface Derived {
  id: string
  key: (purpose: KeyPurpose) => Buffer
  retiredMs: number
}

function derivedFrom({ secret, retiredMs }: MasterSecret): Derived {
  const key = (purpose: KeyPurpose) => derive(secret, purposes[purpose], 32)
  return { id: idOfSecret(secret), retiredMs, key: once(key) }
}

/** Derives each key at its first use. */
function once(key: (purpose: KeyPurpose) => Buffer): (purpose: KeyPurpose) => Buffer {
  const made = new Map<KeyPurpose, Buffer>()
  return (purpose) => {
    const known = made.get(purpose)
    if (known !== undefined) return known
    const fresh = key(purpose)
    made.set(purpose, fresh)
    return fresh
  }
}

function derive(secret: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'tollgate', purpose, bytes))
}

/** The id of a SECRET_KEY or of a master key: 8 hex digits that do not reveal it. */
export function idOfSecret(secret: string): string {
  return derive(secret, 'key id', 4).toString('hex')
}

/** A master key, encrypted with a key that derives from SECRET_KEY. */
export function wrapMaster(master: string, secretKey: string): Buffer {
  return encryptFor(idOfSecret(master), Buffer.from(master), derive(secretKey, wrapping, 32))
}

/** Throws an Error for another SECRET_KEY, for another master key, and for changed bytes. */
export function unwrapMaster(wrapped: Buffer, id: string, secretKey: string): string {
  return decryptFor(id, wrapped, derive(secretKey, wrapping, 32)).toString('utf8')
}

const wrapping = 'master key wrapping'

export interface EncryptedCredential {
  /** Identifies the master key that encrypted it. */
  keyId: string
  sealed: Buffer
}

const nonceBytes = 12
const tagBytes = 16

function encryptFor(owner: string, plain: Buffer, key: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(owner))
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext])
}

function decryptFor(owner: string, encrypted: Buffer, key: Buffer): Buffer {
  const nonce = encrypted.subarray(0, nonceBytes)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(owner))
  decipher.setAuthTag(encrypted.subarray(nonceBytes, nonceBytes + tagBytes))
  return Buffer.concat([decipher.update(encrypted.subarray(nonceBytes + tagBytes)), decipher.final()])
}

/**
 * The given SECRET_KEY, or the one in `<dataDir>/secret.key`, which the first start generates. Only a process
 * with the embedded database generates one: the key then lives in the same directory as the data that it
 * encrypts. Otherwise throws an Error for the operator.
 */
export function resolveSecretKey(options: {
  secretKey: string | undefined
  dataDir: string
  embedded: boolean
}): string {
  if (options.secretKey !== undefined) return options.secretKey
  if (!options.embedded) {
    throw new Error('SECRET_KEY must be set when DATABASE_URL is. Make one with: openssl rand -hex 32')
  }
  mkdirSync(options.dataDir, { recursive: true })
  const path = join(options.dataDir, 'secret.key')
  const secretKey = readIfThere(path) ?? makeOnce(path)
  if (secretKey.length >= secretKeyCharactersMin) return secretKey
  throw new Error(
    `${path} is not a secret key: it has ${secretKey.length} characters, not ${secretKeyCharactersMin}`,
  )
}

const secretKeyCharactersMin = 32

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Creates the file by a hard link, which is atomic: if two processes start together, one of them wins. */
function makeOnce(path: string): string {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${randomBytes(32).toString('hex')}\n`)
    fsyncSync(file)
    linkSync(draft, path)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  } finally {
    closeSync(file)
    rmSync(draft, { force: true })
  }
  return readFileSync(path, 'utf8').trim()
}

const isCode = (error: unknown, code: string) =>
  error instanceof Error && 'code' in error && error.code === code
