import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What is derived from SECRET_KEY. The key itself is not kept, and each purpose has a key of its own. */
export class SecretKeeper {
  /** Names the SECRET_KEY: 8 hex digits that do not reveal it. */
  readonly keyId: string
  /** Keys the hashes of client keys. */
  readonly pepper: Buffer
  /** Keys the hashes that stand for redacted strings. */
  readonly redactionKey: Buffer
  /** Signs seals of reasoning that travel through clients. */
  readonly envelopeKey: Buffer
  readonly #credentialKey: Buffer

  constructor(secretKey: string) {
    const derive = (purpose: string, bytes: number) =>
      Buffer.from(hkdfSync('sha256', secretKey, 'tollgate', purpose, bytes))
    this.keyId = derive('key id', 4).toString('hex')
    this.pepper = derive('client key pepper', 32)
    this.redactionKey = derive('redaction hash', 32)
    this.envelopeKey = derive('reasoning envelope', 32)
    this.#credentialKey = derive('channel credential', 32)
  }

  /** Encrypt an upstream credential so that it opens for this channel only: nonce | tag | ciphertext. */
  seal(credential: string, channelId: string): SealedCredential {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#credentialKey, nonce)
    cipher.setAAD(Buffer.from(channelId))
    const ciphertext = Buffer.concat([cipher.update(credential, 'utf8'), cipher.final()])
    return { keyId: this.keyId, sealed: Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]) }
  }

  /** Throws an Error when it was sealed with another SECRET_KEY, for another channel, or was changed. */
  open({ keyId, sealed }: SealedCredential, channelId: string): string {
    if (keyId !== this.keyId) {
      throw new Error(
        `the credential was sealed with SECRET_KEY ${keyId}, but this is SECRET_KEY ${this.keyId}`,
      )
    }
    try {
      const nonce = sealed.subarray(0, nonceBytes)
      const decipher = createDecipheriv('aes-256-gcm', this.#credentialKey, nonce, {
        authTagLength: tagBytes,
      })
      decipher.setAAD(Buffer.from(channelId))
      decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
      const ciphertext = sealed.subarray(nonceBytes + tagBytes)
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
    } catch (cause) {
      throw new Error('the credential is damaged or belongs to another channel', { cause })
    }
  }
}

export interface SealedCredential {
  /** Names the SECRET_KEY that sealed it. */
  keyId: string
  sealed: Buffer
}

const nonceBytes = 12
const tagBytes = 16

/**
 * The SECRET_KEY given, or the one kept in `<dataDir>/secret.key`, made at the first start. One is only made for
 * the embedded database, which lives beside it: lost together, kept together. Throws an Error otherwise.
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

/** A link appears whole or not at all and only once, so that of two processes that start together one wins. */
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
