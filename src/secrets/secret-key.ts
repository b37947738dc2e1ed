import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { KeyRing } from '../canonical/key-ring.ts'

/**
 * The purposes that have their own key, and the texts from which the keys are derived. To add a purpose, add
 * a line here. A text must never change, because everything sealed with it could no longer be opened.
 */
const purposes = {
  /** For the hashes of client keys. */
  pepper: 'client key pepper',
  /** For the hashes in the placeholders of redacted strings. */
  redaction: 'redaction hash',
  /** Signs the envelopes in which reasoning signatures travel through clients. */
  envelope: 'reasoning envelope',
  /** Signs links to images. */
  link: 'image link',
  /** For the secrets with which tenants verify our webhooks. */
  webhook: 'webhook secret',
  /** For the hash that identifies a gateway.yaml. */
  file: 'gateway file',
  /** Seals credentials and connections of channels. */
  credential: 'channel credential',
  /** Seals responses that are stored for repeats of their request. */
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
  /** Seals responses that are stored so that later requests can continue them. */
  keptAnswer: 'continued answer',
  /** Seals responses of the admin API that are stored for repeats of their request. */
  adminAnswer: 'kept admin answer',
  /** Seals the names of files uploaded by clients. */
  upload: 'name of an uploaded file',
} as const

export type KeyPurpose = keyof typeof purposes

/** A decrypted master key. */
export interface MasterSecret {
  secret: string
  /**
   * When it was replaced, in ms since 1970. Infinity if it has not sealed anything yet, or if another process
   * seals with it.
   */
  retiredMs: number
}

/** Derives one key per purpose from each master key, and does not keep the master keys themselves. */
export class SecretKeeper {
  #current: Derived
  #former: readonly Derived[]

  /** `secret` seals; those in `former` are only used to open. */
  constructor(secret: string, former: readonly MasterSecret[] = []) {
    this.#current = derivedFrom({ secret, retiredMs: Number.POSITIVE_INFINITY })
    this.#former = former.map(derivedFrom)
  }

  /** Replaces the master keys. Returns whether they changed, including in their order. */
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

  /** Returns the keys of a purpose, which always reflect the current master keys. */
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

  /** Encrypts a secret for a purpose, bound to its owner. The result is nonce | tag | ciphertext. */
  seal(purpose: KeyPurpose, plain: Buffer | string, owner: string): Buffer {
    return encryptFor(owner, Buffer.from(plain), this.#current.key(purpose))
  }

  /**
   * Decrypts the result of `seal` with any of the master keys. Throws an Error if the key or owner is a
   * different one, or if the bytes were changed.
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
   * Seals again what was sealed with a former master key. Returns `current` if the current one sealed it, and
   * undefined if no key opens it.
   */
  resealed(purpose: KeyPurpose, sealed: Buffer, owner: string): Buffer | 'current' | undefined {
    for (const { id, key } of [this.#current, ...this.#former]) {
      try {
        const plain = decryptFor(owner, sealed, key(purpose))
        return id === this.keyId ? 'current' : this.seal(purpose, plain, owner)
      } catch {
        // It was sealed with another master key.
      }
    }
    return undefined
  }

  /** Encrypts an upstream credential, bound to its channel. */
  encryptCredential(credential: string, channelId: string): EncryptedCredential {
    return { keyId: this.keyId, sealed: this.seal('credential', credential, channelId) }
  }

  /** Throws an Error if the master key or channel is a different one, or if the bytes were changed. */
  decryptCredential({ keyId, sealed }: EncryptedCredential, channelId: string): string {
    const master = [this.#current, ...this.#former].find(({ id }) => id === keyId)
    if (master === undefined) {
      throw new Error(
        `the credential was sealed with master key ${keyId}, which is not in the database; the current one is ${this.keyId}`,
      )
    }
    try {
      return decryptFor(channelId, sealed, master.key('credential')).toString('utf8')
    } catch (cause) {
      throw new Error('the credential is damaged or belongs to another channel', { cause })
    }
  }

  /** Encrypts a part of a job, bound to `owner`. */
  encryptJob(text: string, owner: string): Buffer {
    return this.seal('job', text, owner)
  }

  /** Throws an Error if the master key or owner is a different one, or if the bytes were changed. */
  decryptJob(encrypted: Buffer, owner: string): string {
    try {
      return this.open('job', encrypted, owner).toString('utf8')
    } catch (cause) {
      throw new Error('the job is damaged or was sealed with another SECRET_KEY', { cause })
    }
  }

  /** Encrypts a response, bound to its request. */
  encryptAnswer(answer: Buffer, requestId: string): Buffer {
    return this.seal('answer', answer, requestId)
  }

  /** Throws an Error if the master key or request is a different one, or if the bytes were changed. */
  decryptAnswer(encrypted: Buffer, requestId: string): Buffer {
    try {
      return this.open('answer', encrypted, requestId)
    } catch (cause) {
      throw new Error(
        'the answer is damaged, belongs to another request, or was sealed with another SECRET_KEY',
        {
          cause,
        },
      )
    }
  }
}

/** The keys derived from a master key. */
interface Derived {
  id: string
  key: (purpose: KeyPurpose) => Buffer
  retiredMs: number
}

function derivedFrom({ secret, retiredMs }: MasterSecret): Derived {
  const key = (purpose: KeyPurpose) => derive(secret, purposes[purpose], 32)
  return { id: idOfSecret(secret), retiredMs, key: once(key) }
}

/** Derives each key when it is first used. */
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

/** Returns the id of a SECRET_KEY or master key: 8 hex digits that do not reveal it. */
export function idOfSecret(secret: string): string {
  return derive(secret, 'key id', 4).toString('hex')
}

/** Encrypts a master key with a key derived from SECRET_KEY. */
export function wrapMaster(master: string, secretKey: string): Buffer {
  return encryptFor(idOfSecret(master), Buffer.from(master), derive(secretKey, wrapping, 32))
}

/** Throws an Error if the SECRET_KEY or the master key is a different one, or if the bytes were changed. */
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
 * Returns the given SECRET_KEY, or the one in `<dataDir>/secret.key`, which the first start generates. Only a
 * process with the embedded database generates one, because the key is then in the same directory as the data
 * that it encrypts. Otherwise throws an Error for the operator.
 */
export function resolveSecretKey(options: {
  secretKey: string | undefined
  dataDir: string
  embedded: boolean
}): string {
  if (options.secretKey !== undefined) return options.secretKey
  if (!options.embedded) {
    throw new Error('SECRET_KEY must be set when DATABASE_URL is. Create one with: openssl rand -hex 32')
  }
  mkdirSync(options.dataDir, { recursive: true })
  const path = join(options.dataDir, 'secret.key')
  const secretKey = readIfThere(path) ?? makeOnce(path)
  if (secretKey.length >= secretKeyCharactersMin) return secretKey
  throw new Error(
    `${path} is not a secret key: expected at least ${secretKeyCharactersMin} characters, got ${secretKey.length}`,
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

/**
 * Creates the file with a hard link, which is atomic: if two processes start at the same time, one of them
 * wins.
 */
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
