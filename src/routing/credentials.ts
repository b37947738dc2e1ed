import { createHash } from 'node:crypto'
import type { Channel } from '../catalog/snapshot.ts'
import { chanceOf, type Session } from './session.ts'

/** A credential of a channel. */
export interface Credential {
  /** Empty if the upstream needs none. */
  secret: string
  /** Identifies the credential without revealing the secret: the first 8 hex digits of its SHA-256. */
  name: string
  /** The secrets last obtained for it, such as a session token. */
  obtained?: readonly string[]
}

/**
 * Returns a channel's credentials in the order of use. A session always starts with the same credential,
 * because vendors cache prompts per account; requests without a session take turns.
 */
export function credentialsOf(
  channel: Channel,
  findSession: () => Session | undefined,
): readonly Credential[] {
  const rotation = rotationOf(channel)
  const { credentials } = rotation
  if (credentials.length < 2) return credentials
  const session = findSession()
  const first = session === undefined ? rotation.turn++ % credentials.length : bestFor(session, rotation)
  return first === 0 ? credentials : [...credentials.slice(first), ...credentials.slice(0, first)]
}

/** Returns all credentials in the order of the configuration, without taking a turn. */
export function everyCredentialOf(channel: Channel): readonly Credential[] {
  return rotationOf(channel).credentials
}

/** A channel that was called with one of its credentials. */
export interface CalledChannel {
  readonly channel: Channel
  readonly credential: Credential
}

/**
 * Returns the secrets that must not appear in any row, log or error of a call: the credential and its parts,
 * what was obtained for it until now, and the secrets in the channel's connection settings.
 */
export function secretsOf({ channel: { connection }, credential }: CalledChannel): readonly string[] {
  const { secret, obtained } = credential
  const own = secret === '' ? [] : [secret]
  if (connection === undefined) return own
  const parts = connection.auth?.kind === 'sigv4' ? secret.split(':').slice(1) : []
  return [...own, ...parts, ...(obtained ?? []), ...connection.secrets]
}

/** The same for every credential of a channel. */
export function everySecretOf(channel: Channel): string[] {
  return everyCredentialOf(channel).flatMap((credential) => secretsOf({ channel, credential }))
}

/** A channel's credentials, and the number of turns taken so far. */
interface Rotation {
  credentials: readonly Credential[]
  turn: number
}

/** Channels are immutable. An entry is garbage-collected together with its channel. */
const rotations = new WeakMap<Channel, Rotation>()

function rotationOf(channel: Channel): Rotation {
  const known = rotations.get(channel)
  if (known !== undefined) return known
  const secrets = channel.credentials.length === 0 ? [''] : channel.credentials
  const credentials = secrets.map((secret) => ({ secret, name: credentialNameOf(secret) }))
  const made = { credentials, turn: 0 }
  rotations.set(channel, made)
  return made
}

function bestFor(session: Session, { credentials }: Rotation): number {
  let best = 0
  let most = -1
  for (const [at, { name }] of credentials.entries()) {
    const chance = chanceOf(session, name)
    if (chance <= most) continue
    best = at
    most = chance
  }
  return best
}

/** Returns the first 8 hex digits of its SHA-256. */
export function credentialNameOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 8)
}
