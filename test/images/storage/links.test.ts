import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { GatewayError } from '../../../src/canonical/error.ts'
import { ImageLinks } from '../../../src/storage/links.ts'

const now = Date.parse('2026-11-21T12:00:00.900Z')
const file = `2026-11-21/${'a1'.repeat(16)}`
const key = randomBytes(32)
const links = new ImageLinks(key, 3600)

function partsOf(link: string) {
  const url = new URL(link, 'http://gateway')
  const part = (name: string) => url.searchParams.get(name) ?? undefined
  return {
    file: url.pathname.slice('/v1/images/files/'.length),
    expires: part('expires'),
    signature: part('signature'),
  }
}

/** The error of a link; undefined when it is valid. */
function refusalOf(given: Partial<ReturnType<typeof partsOf>>, atMs = now, by = links) {
  const right = partsOf(links.sign(file, now))
  const link = { ...right, ...given }
  try {
    by.verify(link.file, link.expires, link.signature, atMs)
    return undefined
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { reason: error.reason, message: error.message }
  }
}

test('a link names its expiry, and is valid until then', () => {
  expect(links.sign(file, now)).toMatch(
    new RegExp(`^/v1/images/files/${file}\\?expires=1795266000&signature=[\\w-]{43}$`),
  )
  expect(refusalOf({})).toBeUndefined()
  expect(refusalOf({}, Date.parse('2026-11-21T12:59:59.999Z'))).toBeUndefined()
})

test('the error of an expired link names its expiry, and how to get another link', () => {
  expect(refusalOf({}, Date.parse('2026-11-21T13:00:00.000Z'))).toEqual({
    reason: 'image_link_expired',
    message:
      'The link expired at 2026-11-21T13:00:00.000Z. GET /v1/images/generations/{id} returns a new one.',
  })
})

test('a changed link is invalid', () => {
  const { signature = '', expires = '' } = partsOf(links.sign(file, now))
  const last = signature.at(-1) ?? ''
  const sameBits = String.fromCharCode(last.charCodeAt(0) + 1)
  const changed = [
    { file: `2026-11-21/${'a2'.repeat(16)}` },
    { file: `2026-11-22/${'a1'.repeat(16)}` },
    { expires: '1795266001' },
    { expires: `0${expires}` },
    { expires: `${expires}.0` },
    { expires: 'Infinity' },
    { expires: '' },
    { signature: '' },
    { signature: signature.slice(1) },
    { signature: `${signature}=` },
    { signature: signature.slice(0, -1) + sameBits },
    { signature: `${signature.slice(0, -1)}\u00e9` },
    { file: `${file}\n${expires}`, expires: '' },
  ]
  for (const change of changed) {
    expect(refusalOf(change), JSON.stringify(change)).toEqual({
      reason: 'image_link_unsigned',
      message:
        'The signature of the link is missing or wrong. Use the link exactly as it was returned. GET /v1/images/generations/{id} returns a new one.',
    })
  }
})

test('a link of another gateway, or without its query, is refused', () => {
  expect(refusalOf({}, now, new ImageLinks(randomBytes(32), 3600))?.message).toContain('signature')
  expect(refusalOf({}, now, new ImageLinks(key, 60))).toBeUndefined()
  for (const part of [{ expires: undefined }, { signature: undefined }]) {
    const link = { ...partsOf(links.sign(file, now)), ...part }
    expect(() => links.verify(link.file, link.expires, link.signature, now)).toThrow(
      expect.objectContaining({ kind: 'permission_denied', reason: 'image_link_unsigned' }),
    )
  }
})
