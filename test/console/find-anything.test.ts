import { expect, test } from 'vitest'
import { hasSecret, looksLikeSecret } from '../../console/src/parts/looks-like-secret.ts'
import { foundQuery } from '../../console/src/parts/things-by-name.ts'
import { ranked } from '../../console/src/shell/ranked.ts'
import { makeKeySecret } from '../../src/access/key-secret.ts'

test('what has exactly these words comes first, then what begins with them, then the others as they were', () => {
  const found = ['key-79', 'monkey-7', 'Key-7', 'a-key-7', 'key-70'].map((name) => ({
    id: `id of ${name}`,
    name,
  }))
  const names = (words: string) => ranked(found, words).map(({ name }) => name)
  expect(names('key-7 ')).toEqual(['Key-7', 'key-79', 'key-70', 'monkey-7', 'a-key-7'])
  expect(names('id of a-key-7')[0]).toBe('a-key-7')
})

test('a secret is known as one, and neither names nor ids nor what "Secret begins" shows are', () => {
  const secret = makeKeySecret()
  for (const text of [
    ` ${secret}\n`,
    secret.slice(0, 12),
    'sk-proj-abcdefghij',
    'tga_0123456789',
    'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6',
    '0123456789abcdef0123456789abcdef',
  ])
    expect(looksLikeSecret(text), text).toBe(true)
  for (const text of [
    'acme',
    'tg-AbCd…',
    'a name of some words in 2026 with Capitals',
    'req_019a8f0e-7c1b-7e5d-9a30-2b7c1f0e4d11',
    'anthropic.claude-sonnet-4-5-20250929-v1:0',
    'openrouter/Some-Vendor/A-Model-With-A-Long-Name-2026',
  ])
    expect(looksLikeSecret(text), text).toBe(false)
})

test('a secret among the words of a filter is seen, and a search by name asks for none', () => {
  const secret = makeKeySecret()
  for (const text of [secret, `key:"of acme ${secret}"`, `${secret} `])
    expect(hasSecret(text), text).toBe(true)
  for (const text of ['of acme', '0123456789abcdef0123456789abcdef'])
    expect(hasSecret(text), text).toBe(false)
  expect(JSON.stringify(foundQuery('key', secret).queryKey)).not.toContain(secret)
  expect(JSON.stringify(foundQuery('key', 'acme').queryKey)).toContain('acme')
})
