import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hashKeySecret, keyHint, looksMistyped, makeKeySecret } from '../../src/access/key-secret.ts'
import { makeUserSecret, prefixes } from '../../src/access/users/secrets.ts'
import { ownSecrets } from '../../src/canonical/own-secrets.ts'
import { redactText } from '../../src/redaction/redact.ts'
import { resolveSecretKey, SecretKeeper } from '../../src/secrets/secret-key.ts'
import { newWebhookKey, secretOf } from '../../src/upstream/webhooks/signature.ts'
import { sourcesIn } from '../support/sources.ts'

describe('a generated key', () => {
  test('has a fixed form, and no two are equal', () => {
    const secrets = Array.from({ length: 2000 }, makeKeySecret)
    for (const secret of secrets) expect(secret).toMatch(/^tg-[0-9A-Za-z]{46}$/)
    expect(new Set(secrets).size).toBe(2000)
  })

  test('looks mistyped when any single character is changed, cut or added', () => {
    const secret = makeKeySecret()
    expect(looksMistyped(secret)).toBe(false)
    for (let index = 3; index < secret.length; index++) {
      const other = secret[index] === 'x' ? 'y' : 'x'
      expect(looksMistyped(secret.slice(0, index) + other + secret.slice(index + 1))).toBe(true)
      expect(looksMistyped(secret.slice(0, index))).toBe(true)
    }
    expect(looksMistyped(`${secret}x`)).toBe(true)
  })

  test('of another form never looks mistyped', () => {
    expect(looksMistyped('sk-proj-0123456789abcdef')).toBe(false)
  })

  test('has a hint that hides most of it', () => {
    const secret = makeKeySecret()
    expect(keyHint(secret)).toBe(`${secret.slice(0, 7)}…`)
    expect(keyHint('0123456789abcdef')).toBe('0123…')
    expect(keyHint('a\u0007')).toBe('…')
    expect(keyHint('\r\n\u0007äabcdefghijklmnop')).toBe('????…')
  })

  test('has another hash under another pepper', () => {
    const hash = hashKeySecret('a secret', Buffer.from('pepper'))
    expect(hash).toHaveLength(32)
    expect(hashKeySecret('a secret', Buffer.from('pepper'))).toEqual(hash)
    expect(hashKeySecret('a secret', Buffer.from('salt'))).not.toEqual(hash)
  })
})

describe('redaction knows our own secrets', () => {
  test('each one that we make is removed', () => {
    const made = [makeKeySecret(), ...Object.values(prefixes).map(makeUserSecret), secretOf(newWebhookKey())]
    for (const secret of made)
      expect(redactText(`it is ${secret}, yes`)).toMatch(/^it is \[REDACTED [a-z-]+\], yes$/)
    expect(made.length).toBe(Object.keys(ownSecrets).length)
  })

  /** Text before random characters that is not a beginning of a secret: ids, and names of files. */
  const others = ['tollgate_image_']

  test('no file makes one with a beginning of its own', () => {
    for (const { file, text } of sourcesIn('src')) {
      for (const [literal, prefix = ''] of text.matchAll(
        /`([\w-]+[-_])\$\{(?:randomBytes|\w+\.toString\('(?:hex|base64))[^`]*`/g,
      ))
        expect(others, `${file}: ${literal} begins with no word of ownSecrets`).toContain(prefix)
    }
  })
})

describe('a credential', () => {
  const keeper = new SecretKeeper('a secret key for tests, long enough')

  test.each(['', 'sk-1', 'ü'.repeat(4000)])(
    'decrypts to the text that was encrypted: %.10s',
    (credential) => {
      const encrypted = keeper.encryptCredential(credential, 'channel-1')
      expect(keeper.decryptCredential(encrypted, 'channel-1')).toBe(credential)
      expect(keeper.encryptCredential(credential, 'channel-1').sealed).not.toEqual(encrypted.sealed)
    },
  )

  test('does not decrypt for another channel, nor with any byte changed', () => {
    const { keyId, sealed } = keeper.encryptCredential('sk-1', 'channel-1')
    expect(() => keeper.decryptCredential({ keyId, sealed }, 'channel-2')).toThrow(
      'belongs to another channel',
    )
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => keeper.decryptCredential({ keyId, sealed: changed }, 'channel-1')).toThrow('damaged')
    }
    expect(() => keeper.decryptCredential({ keyId, sealed: sealed.subarray(0, 20) }, 'channel-1')).toThrow(
      'damaged',
    )
  })

  test('encrypted with another SECRET_KEY is refused by an error that names both', () => {
    const other = new SecretKeeper('another secret key, also long enough')
    expect(keeper.keyId).toMatch(/^[0-9a-f]{8}$/)
    expect(() => other.decryptCredential(keeper.encryptCredential('sk-1', 'c'), 'c')).toThrow(
      new RegExp(`${keeper.keyId}.*${other.keyId}`),
    )
  })

  test('is encrypted with a key of its own purpose: no two purposes share one', () => {
    expect(keeper.pepper).not.toEqual(keeper.redactionKey)
    expect(new SecretKeeper('a secret key for tests, long enough').pepper).toEqual(keeper.pepper)
  })
})

describe('SECRET_KEY', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'tollgate-secret-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  test('is taken from the environment as it is', () => {
    expect(resolveSecretKey({ secretKey: 'given', dataDir, embedded: true })).toBe('given')
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('must be set when the database is not embedded, and the error says how to make one', () => {
    expect(() => resolveSecretKey({ secretKey: undefined, dataDir, embedded: false })).toThrow(
      /SECRET_KEY must be set.*openssl rand -hex 32/,
    )
  })

  test('is made once beside the embedded database, and only its owner can read it', () => {
    const options = { secretKey: undefined, dataDir: join(dataDir, 'new'), embedded: true }
    const made = resolveSecretKey(options)
    expect(made).toMatch(/^[0-9a-f]{64}$/)
    expect(resolveSecretKey(options)).toBe(made)
    expect(readdirSync(options.dataDir)).toEqual(['secret.key'])
    expect(statSync(join(options.dataDir, 'secret.key')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(options.dataDir, 'secret.key'), 'utf8').trim()).toBe(made)
  })

  test('is the same for processes that start together', async () => {
    const source = `import('./src/secrets/secret-key.ts').then(({ resolveSecretKey }) => console.log(
      resolveSecretKey({ secretKey: undefined, dataDir: ${JSON.stringify(dataDir)}, embedded: true })))`
    const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', source])
    const made = await Promise.all(Array.from({ length: 4 }, start))
    expect(new Set(made.map(({ stdout }) => stdout)).size).toBe(1)
    expect(readdirSync(dataDir)).toEqual(['secret.key'])
  })

  test('is refused when its file was truncated', () => {
    writeFileSync(join(dataDir, 'secret.key'), 'short\n')
    expect(() => resolveSecretKey({ secretKey: undefined, dataDir, embedded: true })).toThrow(
      'secret.key is not a secret key: expected at least 32 characters, got 5',
    )
  })
})
