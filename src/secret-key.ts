import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Derives one key for each purpose from SECRET_KEY, and does not keep SECRET_KEY itself. */
export class SecretKeeper {
  /** Identifies the SECRET_KEY: 8 hex digits that do not reveal it. */
  readonly keyId: string
  /** Keys the hashes of client keys. */
  readonly pepper: Buffer
  /** Keys the hashes in the placeholders of redacted strings. */
  readonly redactionKey: Buffer
  /** Signs the envelopes in which reasoning signatures travel through clients. */
  readonly envelopeKey: Buffer
  /** Signs links to images. */
  readonly linkKey: Buffer
  /** Keys the secrets that tenants check our webhooks with. */
  readonly webhookKey: Buffer
  /** Keys the hash by which a gateway.yaml is recognised. */
  readonly fileKey: Buffer
  readonly #credentialKey: Buffer
  readonly #answerKey: Buffer
  readonly #jobKey: Buffer
  readonly #totpKey: Buffer

  constructor(secretKey: string) {
    const derive = (purpose: string, bytes: number) =>
      Buffer.from(hkdfSync('sha256', secretKey, 'tollgate', purpose, bytes))
    this.keyId = derive('key id', 4).toString('hex')
    this.pepper = derive('client key pepper', 32)
    this.redactionKey = derive('redaction hash', 32)
    this.envelopeKey = derive('reasoning envelope', 32)
    this.linkKey = derive('image link', 32)
    this.webhookKey = derive('webhook secret', 32)
    this.fileKey = derive('gateway file', 32)
    this.#credentialKey = derive('channel credential', 32)
    this.#answerKey = derive('kept answer', 32)
    this.#jobKey = derive('image job', 32)
    this.#totpKey = derive('totp secret', 32)
  }

  /** Encrypt an upstream credential, bound to its channel. The form is nonce | tag | ciphertext. */
  encryptCredential(credential: string, channelId: string): EncryptedCredential {
    return { keyId: this.keyId, sealed: encryptFor(channelId, Buffer.from(credential), this.#credentialKey) }
  }

  /** Throws an Error for another SECRET_KEY, for another channel, and for changed bytes. */
  decryptCredential({ keyId, sealed }: EncryptedCredential, channelId: string): string {
    if (keyId !== this.keyId) {
      throw new Error(
        `the credential was sealed with SECRET_KEY ${keyId}, but this is SECRET_KEY ${this.keyId}`,
      )
    }
    try {
      return decryptFor(channelId, sealed, this.#credentialKey).toString('utf8')
    } catch (cause) {
      throw new Error('the credential is damaged or belongs to another channel', { cause })
    }
  }

  /** Encrypt a part of a job, bound to `owner`. */
  encryptJob(text: string, owner: string): Buffer {
    return encryptFor(owner, Buffer.from(text), this.#jobKey)
  }

  /** Throws an Error for another SECRET_KEY, for another owner, and for changed bytes. */
  decryptJob(encrypted: Buffer, owner: string): string {
    try {
      return decryptFor(owner, encrypted, this.#jobKey).toString('utf8')
    } catch (cause) {
      throw new Error('the job is damaged, or sealed with another SECRET_KEY', { cause })
    }
  }

  /** Encrypt the secret of a second factor, or what a browser keeps during a single sign-on, bound to `owner`. */
  encryptTotp(secret: string, owner: string): Buffer {
    return encryptFor(owner, Buffer.from(secret), this.#totpKey)
  }

  /** Throws an Error for another SECRET_KEY, for another owner, and for changed bytes. */
  decryptTotp(encrypted: Buffer, owner: string): string {
    return decryptFor(owner, encrypted, this.#totpKey).toString('utf8')
  }

  /** Encrypt an answer, bound to its request. */
  encryptAnswer(answer: Buffer, requestId: string): Buffer {
    return encryptFor(requestId, answer, this.#answerKey)
  }

  /** Throws an Error for another SECRET_KEY, for another request, and for changed bytes. */
  decryptAnswer(encrypted: Buffer, requestId: string): Buffer {
    try {
      return decryptFor(requestId, encrypted, this.#answerKey)
    } catch (cause) {
      throw new Error('the answer is damaged, of another request, or sealed with another SECRET_KEY', {
        cause,
      })
    }
  }
}

export interface EncryptedCredential {
  /** Identifies the SECRET_KEY that encrypted it. */
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
 * The given SECRET_KEY, or the one in `<dataDir>/secret.key`, which the first start generates. Only a process with the
 * embedded database generates one: the key then lives in the same directory as the data that it encrypts. Otherwise throws
 * an Error for the operator.
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
