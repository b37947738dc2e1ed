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
  /** Signs links to images. */
  readonly linkKey: Buffer
  /** Keys the secrets that tenants check our webhooks with. */
  readonly webhookKey: Buffer
  readonly #credentialKey: Buffer
  readonly #answerKey: Buffer
  readonly #jobKey: Buffer

  constructor(secretKey: string) {
    const derive = (purpose: string, bytes: number) =>
      Buffer.from(hkdfSync('sha256', secretKey, 'tollgate', purpose, bytes))
    this.keyId = derive('key id', 4).toString('hex')
    this.pepper = derive('client key pepper', 32)
    this.redactionKey = derive('redaction hash', 32)
    this.envelopeKey = derive('reasoning envelope', 32)
    this.linkKey = derive('image link', 32)
    this.webhookKey = derive('webhook secret', 32)
    this.#credentialKey = derive('channel credential', 32)
    this.#answerKey = derive('kept answer', 32)
    this.#jobKey = derive('image job', 32)
  }

  /** Encrypt an upstream credential so that it opens for this channel only: nonce | tag | ciphertext. */
  seal(credential: string, channelId: string): SealedCredential {
    return { keyId: this.keyId, sealed: sealFor(channelId, Buffer.from(credential), this.#credentialKey) }
  }

  /** Throws an Error when it was sealed with another SECRET_KEY, for another channel, or was changed. */
  open({ keyId, sealed }: SealedCredential, channelId: string): string {
    if (keyId !== this.keyId) {
      throw new Error(
        `the credential was sealed with SECRET_KEY ${keyId}, but this is SECRET_KEY ${this.keyId}`,
      )
    }
    try {
      return openFor(channelId, sealed, this.#credentialKey).toString('utf8')
    } catch (cause) {
      throw new Error('the credential is damaged or belongs to another channel', { cause })
    }
  }

  /** Encrypt what is kept of a job so that it opens for this owner only. */
  sealJob(text: string, owner: string): Buffer {
    return sealFor(owner, Buffer.from(text), this.#jobKey)
  }

  /** Throws an Error when it was sealed with another SECRET_KEY, for another owner, or was changed. */
  openJob(sealed: Buffer, owner: string): string {
    try {
      return openFor(owner, sealed, this.#jobKey).toString('utf8')
    } catch (cause) {
      throw new Error('the job is damaged, or sealed with another SECRET_KEY', { cause })
    }
  }

  /** Encrypt an answer so that it opens for this request only. */
  sealAnswer(answer: Buffer, requestId: string): Buffer {
    return sealFor(requestId, answer, this.#answerKey)
  }

  /** Throws an Error when it was sealed with another SECRET_KEY, for another request, or was changed. */
  openAnswer(sealed: Buffer, requestId: string): Buffer {
    try {
      return openFor(requestId, sealed, this.#answerKey)
    } catch (cause) {
      throw new Error('the answer is damaged, of another request, or sealed with another SECRET_KEY', {
        cause,
      })
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

function sealFor(owner: string, plain: Buffer, key: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(owner))
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext])
}

function openFor(owner: string, sealed: Buffer, key: Buffer): Buffer {
  const nonce = sealed.subarray(0, nonceBytes)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(owner))
  decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()])
}

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
