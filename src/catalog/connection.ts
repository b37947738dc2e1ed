import { createHash } from 'node:crypto'
import type { EncryptedCredential, SecretKeeper } from '../secret-key.ts'
import type { ChannelRow } from './queries.ts'

/** How a channel is reached, as gateway.yaml says. Absent settings stay absent: it is compared with rows. */
export interface ConnectionEntry {
  /** URL of the proxy, with its credentials. */
  proxy?: string
  /** Certificates in PEM that count in addition to the system's. */
  ca?: string
  /** Our own certificate and its key, in PEM. */
  cert?: string
  key?: string
  /** By name in lower case. */
  headers?: Record<string, string>
  timeouts?: Timeouts
  /** Requests go by WebSocket, where the protocol has one. */
  websocket?: true
}

/** In ms. Each can only be shorter than the bound of the process. */
export interface Timeouts {
  connectMs?: number
  firstByteMs?: number
  idleMs?: number
  totalMs?: number
}

/** How a channel is reached, where gateway.yaml says more than its base URLs. */
export interface Connection extends Omit<ConnectionEntry, 'proxy'> {
  proxy?: EgressProxy
  /** Equal settings of the transport have equal names: calls with the same name may share connections. */
  poolName: string
  /** Texts that no row, log or error may show. */
  secrets: readonly string[]
}

/** A proxy for calls to upstreams. */
export interface EgressProxy {
  protocol: 'http:' | 'https:'
  /** Without brackets. */
  hostname: string
  port: number
  /** The value of `proxy-authorization`; undefined: it wants none. */
  authorization: string | undefined
  /** The private addresses that it may have. Absent: any, because the operator has named it. */
  allowed?: boolean | readonly string[]
}

/** How the columns of a channel keep it: what may be shown, and the rest encrypted. */
type ConnectionColumns = Pick<ChannelRow, 'connection' | 'connectionKeyId' | 'connectionSealed'>

/**
 * The columns for an entry. Encrypting gives other bytes each time, so it keeps the stored bytes where they
 * mean the same.
 */
export function connectionColumns(
  entry: ConnectionEntry | undefined,
  channelId: string,
  stored: ConnectionColumns | undefined,
  keeper: SecretKeeper,
): ConnectionColumns {
  const { timeouts, websocket, ...secret } = entry ?? {}
  const shown = {
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

/** Throws an Error for another SECRET_KEY, and for changed bytes. */
export function openConnection(
  row: ConnectionColumns & { id: string },
  keeper: SecretKeeper,
): Connection | undefined {
  const entry = openedConnection(row, keeper)
  if (entry === undefined) return undefined
  const { proxy: url, timeouts, websocket, ...rest } = entry
  const proxy = url === undefined ? undefined : proxyOf(url)
  const transport = JSON.stringify([url, rest.ca, rest.cert, rest.key, timeouts?.connectMs])
  return {
    ...rest,
    ...(proxy !== undefined && { proxy }),
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
 * The channel of an API caller: its proxy may have no private address but those that the channel may call.
 */
export function boundAddresses<
  Bound extends { connection?: Connection | undefined; allowPrivateAddress: boolean | readonly string[] },
>(channel: Bound): Bound {
  const { connection, allowPrivateAddress: allowed } = channel
  if (connection?.proxy === undefined) return channel
  return { ...channel, connection: { ...connection, proxy: { ...connection.proxy, allowed } } }
}

/** The settings as they were stated, with their secrets. Throws as `openConnection` does. */
export function openedConnection(
  row: ConnectionColumns & { id: string },
  keeper: SecretKeeper,
): ConnectionEntry | undefined {
  const sealed = sealedIn(row)
  const timeouts = timeoutsIn(row.connection)
  const websocket = row.connection?.websocket === true
  if (sealed === undefined && timeouts === undefined && !websocket) return undefined
  // It is our own JSON: no one else can seal it.
  const entry: Omit<ConnectionEntry, 'timeouts' | 'websocket'> =
    sealed === undefined ? {} : JSON.parse(keeper.decryptCredential(sealed, ownerOf(row.id)))
  return { ...entry, ...(timeouts !== undefined && { timeouts }), ...(websocket && { websocket }) }
}

/** The secrets of a connection are bound to their channel, and differ from its credentials. */
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
    // Encrypted with another SECRET_KEY: the file has the text, so encrypt it again.
    return false
  }
}

function timeoutsIn(shown: Record<string, unknown> | null): Timeouts | undefined {
  const timeouts: object | null | undefined = typeof shown?.timeouts === 'object' ? shown.timeouts : undefined
  return timeouts ?? undefined
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

/** A credential after the name of its scheme, as in `Token abc`: an error may quote the credential alone. */
function secretsOfHeader(value: string): string[] {
  const [, credential] = /^[A-Za-z-]+ +(\S+)$/.exec(value) ?? []
  return credential === undefined ? [value] : [value, credential]
}

/**
 * Every form in which an error could quote the password, or the token given alone instead of a user.
 */
function secretsOfUrl(text: string): string[] {
  const { username, password } = new URL(text)
  if (username + password === '') return []
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const secret = password === '' ? username : password
  return [...new Set([Buffer.from(pair, 'utf8').toString('base64'), decodeURIComponent(secret), secret])]
}
