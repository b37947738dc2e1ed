import type { IncomingHttpHeaders } from 'node:http'
import { Hash } from '@smithy/hash-node'
import { SignatureV4 } from '@smithy/signature-v4'

/** A request as it arrived at a server of Amazon's. */
export interface SignedRequest {
  method: string
  /** With its query, as on the wire. */
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A key that was issued. */
export interface IssuedKey {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | undefined
  /** In ms since the epoch; undefined: it does not end. */
  expiresAt: number | undefined
}

export interface AwsRefusal {
  status: number
  code: string
  message: string
}

const clockMs = 5 * 60_000

/**
 * Verifies a signature with Amazon's own package, which shares no code with ours. Undefined: it is valid. The words
 * are those of Amazon's services.
 */
export async function refusalOf(
  { method, path, headers, body }: SignedRequest,
  {
    keys,
    region,
    service,
    now,
  }: { keys: ReadonlyMap<string, IssuedKey>; region: string; service: string; now: number },
): Promise<AwsRefusal | undefined> {
  const { authorization } = headers
  if (authorization === undefined)
    return refused('MissingAuthenticationTokenException', 'Missing Authentication Token')
  const [, id = '', date = '', itsRegion = '', itsService = '', names = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=[0-9a-f]{64}$/.exec(
      authorization,
    ) ?? []
  if (names === '')
    return refused('IncompleteSignatureException', 'Authorization header is not of the form of SigV4')
  const key = keys.get(id)
  if (key === undefined || key.sessionToken !== headers['x-amz-security-token'])
    return refused('UnrecognizedClientException', 'The security token included in the request is invalid.')
  if (key.expiresAt !== undefined && now >= key.expiresAt)
    return refused('ExpiredTokenException', 'The security token included in the request is expired')
  if (itsRegion !== region)
    return refused(
      'InvalidSignatureException',
      `Credential should be scoped to a valid region. '${itsRegion}' is not.`,
    )
  if (itsService !== service)
    return refused(
      'InvalidSignatureException',
      `Credential should be scoped to correct service: '${service}'.`,
    )
  const moment = String(headers['x-amz-date'])
  const signedAt = Date.parse(moment.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
  const [here, off] = [wire(now), '5 min.']
  if (!(signedAt > now - clockMs))
    return refused(
      'InvalidSignatureException',
      `Signature expired: ${moment} is now earlier than ${wire(now - clockMs)} (${here} - ${off})`,
    )
  if (signedAt > now + clockMs)
    return refused(
      'InvalidSignatureException',
      `Signature not yet current: ${moment} is still later than ${wire(now + clockMs)} (${here} + ${off})`,
    )
  const mandatory = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'))
  const missing = mandatory.find((name) => !names.split(';').includes(name))
  if (missing !== undefined || date !== moment.slice(0, 8))
    return refused('InvalidSignatureException', `'${missing ?? 'the date'}' must be signed`)
  const expected = await signedAgain({ method, path, headers, body }, key, {
    region,
    service,
    names,
    signedAt,
  })
  if (expected === authorization.replaceAll(/, ?/g, ', ')) return undefined
  // It quotes what it expected, with the session token, which the real ones at least announce by its name.
  return refused(
    'InvalidSignatureException',
    `The request signature we calculated does not match the signature you provided. The Canonical String should have been '${method}\n${path}\n${headers['x-amz-security-token']}'`,
  )
}

async function signedAgain(
  { method, path, headers, body }: SignedRequest,
  key: IssuedKey,
  { region, service, names, signedAt }: { region: string; service: string; names: string; signedAt: number },
): Promise<string | undefined> {
  const { accessKeyId, secretAccessKey, sessionToken } = key
  const signer = new SignatureV4({
    region,
    service,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    sha256: Hash.bind(null, 'sha256'),
    applyChecksum: false,
  })
  const [pathname = '/', query = ''] = path.split('?')
  const signed = await signer.sign(
    {
      method,
      protocol: 'https:',
      hostname: String(headers.host),
      path: pathname,
      query: Object.fromEntries(new URLSearchParams(query)),
      headers: Object.fromEntries(names.split(';').map((name) => [name, String(headers[name])])),
      body,
    },
    { signingDate: new Date(signedAt), signableHeaders: new Set(names.split(';')) },
  )
  return signed.headers.authorization
}

function refused(code: string, message: string): AwsRefusal {
  return { status: 403, code, message }
}

function wire(moment: number): string {
  return new Date(moment).toISOString().replace(/[-:]|\.\d+/g, '')
}
