import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { type AwsKey, type AwsScope, awsScopeOf } from '../../catalog/aws-credentials.ts'
import type { ChannelAuth } from '../../db/settings/auth-settings.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { SignedHeaders, Signer, UnsignedRequest } from '../signer.ts'
import type { AwsIdentities } from './identities.ts'
import { signV4 } from './sigv4.ts'

/** How much of a body is hashed in one turn of the event loop. */
const turnBytes = 1024 * 1024

/** Signs with a key of Amazon, an identity of this machine, or a role that one of them assumes. */
export function awsSigner(auth: ChannelAuth, identities: AwsIdentities, clock: Clock): Signer {
  return (request, call) => {
    const scope = awsScopeOf(auth, request.url)
    if (scope === undefined) throw new Error('the base URL does not say the region and the service')
    const { body, credential } = request
    const key = identities.of(credential.secret, auth, scope.region, call)
    if (key instanceof Promise || (body !== null && !Buffer.isBuffer(body)))
      return signLater(request, key, scope, clock)
    return signed(request, key, scope, { bodyHash: hashNow(body), now: clock.now() })
  }
}

async function signLater(
  request: UnsignedRequest,
  key: AwsKey | Promise<AwsKey>,
  scope: AwsScope,
  clock: Clock,
): Promise<SignedHeaders> {
  // A key that fails while the body is hashed is not an unhandled rejection.
  const [bodyHash, own] = await Promise.all([hashOf(request.body), key])
  return signed(request, own, scope, { bodyHash, now: clock.now() })
}

/**
 * Only the host, the content type and Amazon's own headers are signed, so a proxy may change the others.
 * Amazon accepts an unsigned body only for S3:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, read 2026-11-30
 */
function signed(
  { method, url, headers, credential }: UnsignedRequest,
  key: AwsKey,
  scope: AwsScope,
  { bodyHash, now }: { bodyHash: string; now: number },
): SignedHeaders {
  const { secretAccessKey, sessionToken } = key
  const { obtained = [] } = credential
  // A refusal may quote the session token, also the one before.
  if (!obtained.includes(secretAccessKey))
    credential.obtained = [
      secretAccessKey,
      ...(sessionToken === undefined ? [] : [sessionToken]),
      ...obtained,
    ].slice(0, 4)
  const own: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]?.toLowerCase() ?? ''
    if (name === 'content-type' || (name.startsWith('x-amz-') && !signersOwn.has(name)))
      own.push(name, headers[at + 1] ?? '')
  }
  return signV4({ method, url, headers: own, bodyHash }, key, scope, now)
}

/** What `signV4` adds. */
const signersOwn: ReadonlySet<string> = new Set(['x-amz-date', 'x-amz-security-token'])

function hashNow(body: Buffer | null): string {
  return createHash('sha256')
    .update(body ?? '')
    .digest('hex')
}

/** The pieces of a large body are read where they are, not copied. */
async function hashOf(body: UnsignedRequest['body']): Promise<string> {
  if (body === null || Buffer.isBuffer(body)) return hashNow(body)
  const hash = createHash('sha256')
  for (const piece of body.pieces) {
    for (let at = 0; at < piece.length; at += turnBytes) {
      hash.update(piece.subarray(at, at + turnBytes))
      await setImmediate()
    }
  }
  return hash.digest('hex')
}
