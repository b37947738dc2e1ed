import { createHash } from 'node:crypto'
import type { ChannelAuth } from '../db/settings/auth-settings.ts'
import type { Timeouts } from '../db/settings/connection-settings.ts'
import type { EncryptedCredential, SecretKeeper } from '../secrets/secret-key.ts'
import type { ChannelRow } from './queries.ts'

/**
 * How a channel is reached, as stated in gateway.yaml. Absent settings stay absent, because the entry is
 * compared with rows.
 */
export interface ConnectionEntry {
  /** How requests prove whose they are. Absent: the credential is sent in the header of the protocol. */
  auth?: ChannelAuth
  /** The URL of the proxy, including its credentials. */
  proxy?: string
  /** PEM certificates to trust in addition to the system's. */
  ca?: string
  /** Our own certificate and its private key, in PEM. */
  cert?: string
  key?: string
  /** Keyed by lower-case name. */
  headers?: Record<string, string>
  timeouts?: Timeouts
  /** Sends requests over WebSocket, if the protocol supports it. */
  websocket?: true
}

/** How a channel is reached, beyond its base URLs. */
export interface Connection extends Omit<ConnectionEntry, 'proxy'> {
  proxy?: EgressProxy
  /** Derived from the transport settings. Calls with the same pool name can share connections. */
  poolName: string
  /** Texts that must not appear in rows, logs or errors. */
  secrets: readonly string[]
}

/** A proxy for upstream calls. */
export interface EgressProxy {
  protocol: 'http:' | 'https:'
  /** Without brackets. */
  hostname: string
  port: number
  /** The value of `proxy-authorization`; undefined if the proxy does not require it. */
  authorization: string | undefined
  /**
   * The private addresses that the proxy is allowed to have. If absent, any, because the operator chose the
   * proxy.
   */
  allowed?: boolean | readonly string[]
}

/** The stored form in a channel's columns: the part that can be shown, and the rest encrypted. */
type ConnectionColumns = Pick<ChannelRow, 'connection' | 'connectionKeyId' | 'connectionSealed'>

/**
 * Returns the columns for an entry. Encrypting produces different bytes each time, so the stored bytes are
 * kept if they contain the same text.
 */
export function connectionColumns(
  entry: ConnectionEntry | undefined,
  channelId: string,
  stored: ConnectionColumns | undefined,
  keeper: SecretKeeper,
): ConnectionColumns {
  const { auth, timeouts, websocket, ...secret } = entry ?? {}
  const shown = {
    ...(auth !== undefined && { auth }),
    ...(timeouts !== undefined && { timeouts }),
    ...(websocket === true && { websocket }),
    ...(secret.headers !== undefined && { headers: Object.keys(secret.headers) }),
  }
  const connection = Object.keys(shown).length === 0 ? null : shown
  if (Object.keys(secret).length === 0) return { connection, connectionKeyId: null, connectionSealed: null }
  const text = JSON.stringify(secret)
  if (stored !== undefined && isStored(text, channelId, stored, keeper)) {
    const { connectionKeyId, connectionSealed } = stored
    return { connection, connectionKeyId, connectionSealed }
  }
  const { keyId, sealed } = keeper.encryptCredential(text, ownerOf(channelId))
  return { connection, connectionKeyId: keyId, connectionSealed: sealed }
}

/** Throws an Error if another SECRET_KEY was used or the bytes have been changed. */
export function openConnection(
  row: ConnectionColumns & { id: string },
  keeper: SecretKeeper,
): Connection | undefined {
  const entry = openedConnection(row, keeper)
  if (entry === undefined) return undefined
  const { proxy: url, auth, timeouts, websocket, ...rest } = entry
  const proxy = url === undefined ? undefined : proxyOf(url)
  const transport = JSON.stringify([url, rest.ca, rest.cert, rest.key, timeouts?.connectMs])
  return {
    ...rest,
    ...(proxy !== undefined && { proxy }),
    ...(auth !== undefined && { auth }),
    ...(timeouts !== undefined && { timeouts }),
    ...(websocket === true && { websocket }),
    poolName: createHash('sha256').update(transport).digest('base64'),
    secrets: [
      ...Object.values(rest.headers ?? {}).flatMap(secretsOfHeader),
      ...(url === undefined ? [] : secretsOfUrl(url)),
    ],
  }
}

/**
 * Restricts a channel that was set through the API: its proxy can only have private addresses that the
 * channel itself is allowed to call.
 */
export function boundAddresses<
  Bound extends { connection?: Connection | undefined; allowPrivateAddress: boolean | readonly string[] },
>(channel: Bound): Bound {
  const { connection, allowPrivateAddress: allowed } = channel
  if (connection?.proxy === undefined) return channel
  return { ...channel, connection: { ...connection, proxy: { ...connection.proxy, allowed } } }
}

/** Returns the original settings, including secrets. Throws as `openConnection` does. */
export function openedConnection(
  row: ConnectionColumns & { id: string },
  keeper: SecretKeeper,
): ConnectionEntry | undefined {
  const sealed = sealedIn(row)
  const shown = shownIn(row.connection)
  if (sealed === undefined && Object.keys(shown).length === 0) return undefined
  // Safe to parse unchecked: only we can have sealed this JSON.
  const entry: Omit<ConnectionEntry, keyof Shown> =
    sealed === undefined ? {} : JSON.parse(keeper.decryptCredential(sealed, ownerOf(row.id)))
  return { ...entry, ...shown }
}

/** Binds the secrets of a connection to their channel, separately from the channel's credentials. */
function ownerOf(channelId: string): string {
  return `${channelId} connection`
}

function sealedIn({
  connectionKeyId: keyId,
  connectionSealed: sealed,
}: ConnectionColumns): EncryptedCredential | undefined {
  return keyId === null || sealed === null ? undefined : { keyId, sealed }
}

function isStored(text: string, channelId: string, stored: ConnectionColumns, keeper: SecretKeeper): boolean {
  const sealed = sealedIn(stored)
  if (sealed === undefined) return false
  try {
    return keeper.decryptCredential(sealed, ownerOf(channelId)) === text
  } catch {
    // Encrypted with another SECRET_KEY. The file contains the plain text, so encrypt it again.
    return false
  }
}

type Shown = Pick<ConnectionEntry, 'auth' | 'timeouts' | 'websocket'>

/** Only we write this column, so its members are what we have checked. */
function shownIn(column: Record<string, unknown> | null): Shown {
  const { auth, timeouts, websocket } = (column ?? {}) as Shown
  return {
    ...(auth !== undefined && { auth }),
    ...(timeouts !== undefined && { timeouts }),
    ...(websocket === true && { websocket }),
  }
}

function proxyOf(text: string): EgressProxy {
  const url = new URL(text)
  const { username, password } = url
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const protocol = url.protocol === 'https:' ? 'https:' : 'http:'
  return {
    protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (protocol === 'https:' ? 443 : 80) : Number(url.port),
    authorization:
      username + password === '' ? undefined : `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`,
  }
}

/**
 * Includes the credential after a scheme name, as in `Token abc`, because an error may quote the credential
 * alone.
 */
function secretsOfHeader(value: string): string[] {
  const [, credential] = /^[A-Za-z-]+ +(\S+)$/.exec(value) ?? []
  return credential === undefined ? [value] : [value, credential]
}

/**
 * Returns every form in which an error could quote the password, or the token that takes the place of a user
 * name.
 */
function secretsOfUrl(text: string): string[] {
  const { username, password } = new URL(text)
  if (username + password === '') return []
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const secret = password === '' ? username : password
  return [...new Set([Buffer.from(pair, 'utf8').toString('base64'), decodeURIComponent(secret), secret])]
}
