import { createHash, createHmac } from 'node:crypto'
import type { AwsKey, AwsScope } from '../../catalog/aws-credentials.ts'
import type { SignedHeaders } from '../signer.ts'

// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, read 2026-11-30

interface ToSign {
  method: string
  url: string
  /** Alternating names and values, all of which are signed. */
  headers: readonly string[]
  /** The SHA-256 of the body, in hex. */
  bodyHash: string
}

/**
 * Returns the headers that sign a request for Amazon (Signature Version 4). `now` is in milliseconds since
 * the epoch: Amazon refuses a signature that is five minutes off.
 */
export function signV4(request: ToSign, key: AwsKey, scope: AwsScope, now: number): SignedHeaders {
  const { host, pathname, searchParams } = new URL(request.url)
  const moment = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const added = ['x-amz-date', moment]
  if (key.sessionToken !== undefined) added.push('x-amz-security-token', key.sessionToken)
  const headers = canonicalHeaders(['host', host, ...request.headers, ...added])
  const names = headers.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    canonicalPath(pathname),
    canonicalQuery(searchParams),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    request.bodyHash,
  ].join('\n')
  const place = [moment.slice(0, 8), scope.region, scope.service, 'aws4_request']
  const hash = createHash('sha256').update(canonical).digest('hex')
  const signature = hmac(
    signingKey(key.secretAccessKey, place),
    ['AWS4-HMAC-SHA256', moment, place.join('/'), hash].join('\n'),
  ).toString('hex')
  const credential = `${key.accessKeyId}/${place.join('/')}`
  return [
    'authorization',
    `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
    ...added,
  ]
}

/**
 * Each segment, which is encoded already, is encoded once more: a colon in the name of a model is `%253A`
 * here.
 */
function canonicalPath(path: string): string {
  return path
    .replace(/\/{2,}/g, '/')
    .split('/')
    .map(encoded)
    .join('/')
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .sort(([name, value], [other, its]) => compare(name, other) || compare(value, its))
    .map((pair) => pair.join('='))
    .join('&')
}

function canonicalHeaders(pairs: readonly string[]): [name: string, value: string][] {
  const values = new Map<string, string>()
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const name = pairs[at]?.toLowerCase() ?? ''
    const value = (pairs[at + 1] ?? '').trim().replace(/ +/g, ' ')
    const before = values.get(name)
    values.set(name, before === undefined ? value : `${before},${value}`)
  }
  return [...values].sort(([name], [other]) => compare(name, other))
}

/** By code units, not by the rules of a language. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}

function signingKey(secret: string, place: readonly string[]): Buffer {
  return place.reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${secret}`))
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
