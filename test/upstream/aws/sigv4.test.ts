import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { signV4 } from '../../../src/upstream/aws/sigv4.ts'

/**
 * Amazon's public test suite of Signature Version 4, of which these are all that a request of ours can be like.
 * https://github.com/awslabs/aws-c-auth/tree/main/tests/aws-signing-test-suite/v4, read 2026-11-30
 */

const key = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: undefined,
}
const scope = { region: 'us-east-1', service: 'service' }
const now = Date.UTC(2015, 7, 30, 12, 36)
const sessionToken =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=='
const hash = (body: string) => createHash('sha256').update(body).digest('hex')
const form = ['Content-Type', 'application/x-www-form-urlencoded']

test.each<[string, string, string, string[], string, string, string | undefined]>([
  [
    'get-vanilla',
    'GET',
    '/',
    [],
    '',
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    undefined,
  ],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    [],
    '',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    undefined,
  ],
  [
    'get-unreserved',
    'GET',
    '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    [],
    '',
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
    undefined,
  ],
  [
    'get-header-key-duplicate',
    'GET',
    '/',
    ['My-Header1', 'value2', 'My-Header1', 'value2', 'My-Header1', 'value1'],
    '',
    'c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea',
    undefined,
  ],
  [
    'get-header-value-trim',
    'GET',
    '/',
    ['My-Header1', ' value1', 'My-Header2', ' "a   b   c"'],
    '',
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
    undefined,
  ],
  [
    'post-vanilla',
    'POST',
    '/',
    [],
    '',
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    undefined,
  ],
  [
    'post-header-key-sort',
    'POST',
    '/',
    ['My-Header1', 'value1'],
    '',
    'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
    undefined,
  ],
  [
    'post-x-www-form-urlencoded',
    'POST',
    '/',
    form,
    'Param1=value1',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    undefined,
  ],
  [
    'post-sts-header-before',
    'POST',
    '/',
    [],
    '',
    '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
    sessionToken,
  ],
])('%s', (_name, method, path, headers, body, signature, token) => {
  const url = `https://example.amazonaws.com${path}`
  const signed = signV4(
    { method, url, headers, bodyHash: hash(body) },
    { ...key, sessionToken: token },
    scope,
    now,
  )
  expect(signed.slice(0, 4)).toEqual([
    'authorization',
    expect.stringMatching(
      `^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=[a-z0-9;-]+, Signature=${signature}$`,
    ),
    'x-amz-date',
    '20150830T123600Z',
  ])
  expect(signed.slice(4)).toEqual(token === undefined ? [] : ['x-amz-security-token', token])
})
