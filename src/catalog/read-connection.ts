import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Timeouts } from '../db/settings/connection-settings.ts'
import { mustBe } from '../db/settings/values.ts'
import type { ConnectionEntry } from './channel-connection.ts'
import type { ConnectionDraft, PemName } from './connection-entry.ts'
import type { Entry, EntryReader } from './entry-reader.ts'
import { whyUnreadable } from './named-file.ts'

/** The timeouts of the process that reads the file. */
export interface TimeoutBounds {
  upstreamConnectMs: number
  upstreamFirstByteMs: number
  upstreamIdleMs: number
  upstreamTotalMs: number
}

export interface ConnectionSurroundings {
  /** Reads a file that gateway.yaml names. Throws an Error if that fails. */
  readFile(path: string): string
  /** Undefined if they are not known here. A call never takes longer than its process allows. */
  bounds: TimeoutBounds | undefined
}

/** Reads the files of a channel's connection, and makes the checks that the schema cannot. */
export function readConnection(
  reader: EntryReader,
  { entry, path }: Entry<{ connection?: ConnectionDraft }>,
  { readFile, bounds }: ConnectionSurroundings,
): ConnectionEntry | undefined {
  const draft = entry.connection
  if (draft === undefined) return undefined
  const { files, ...connection } = draft
  for (const name of pemNames) {
    const named = files?.[name]
    if (named === undefined) continue
    const place = [...path, `${name}_file`]
    if (connection[name] !== undefined) reader.report(place, `cannot be combined with "${name}"`)
    else {
      try {
        connection[name] = readFile(named)
      } catch (error) {
        reader.report(place, whyUnreadable(error))
      }
    }
  }
  const placeOf = (name: PemName) => [...path, draft[name] === undefined ? `${name}_file` : name]
  const { ca, cert, key } = connection
  if (ca !== undefined && !isCertificates(ca)) reader.report(placeOf('ca'), mustBe('certificates in PEM'))
  if (cert !== undefined && !isCertificates(cert))
    reader.report(placeOf('cert'), mustBe('certificates in PEM'))
  else if (cert !== undefined && key !== undefined && !belongTogether(cert, key)) {
    reader.report(placeOf('key'), mustBe('the private key of the certificate, in PEM without a passphrase'))
  }
  if (cert !== undefined && key === undefined)
    reader.report(placeOf('cert'), 'requires a private key ("key")')
  if (key !== undefined && cert === undefined)
    reader.report(placeOf('key'), 'requires a certificate ("cert")')
  if (bounds !== undefined) checkTimeouts(reader, [...path, 'timeouts'], connection.timeouts ?? {}, bounds)
  return connection
}

const pemNames: readonly PemName[] = ['ca', 'cert', 'key']

function checkTimeouts(
  reader: EntryReader,
  path: Entry<unknown>['path'],
  { connectMs, firstByteMs, idleMs, totalMs }: Timeouts,
  bounds: TimeoutBounds,
): void {
  const all = [
    { name: 'connect_ms', ms: connectMs, most: bounds.upstreamConnectMs, variable: 'UPSTREAM_CONNECT_MS' },
    {
      name: 'first_byte_ms',
      ms: firstByteMs,
      most: bounds.upstreamFirstByteMs,
      variable: 'UPSTREAM_FIRST_BYTE_MS',
    },
    { name: 'idle_ms', ms: idleMs, most: bounds.upstreamIdleMs, variable: 'UPSTREAM_IDLE_MS' },
    { name: 'total_ms', ms: totalMs, most: bounds.upstreamTotalMs, variable: 'UPSTREAM_TOTAL_MS' },
  ]
  for (const { name, ms, most, variable } of all) {
    if (ms !== undefined && ms > most)
      reader.report([...path, name], `must be ${most} or less, the value of ${variable}`)
  }
}

function isCertificates(text: string): boolean {
  const all = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  return all.length > 0 && all.every(isCertificate)
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).serialNumber !== ''
  } catch {
    return false
  }
}

function belongTogether(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key })
    return true
  } catch {
    return false
  }
}
