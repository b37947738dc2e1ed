import { randomBytes } from 'node:crypto'
import type { IssuedKey, SignedRequest } from './verify-signature.ts'
import { refusalOf } from './verify-signature.ts'

/** What a service answers. */
export interface ServiceAnswer {
  status: number
  type: string
  body: string
}

/** The services of Amazon that hand out keys, as strict as the real ones. */
export class TokenServices {
  /** All that were issued, by the access key id. */
  readonly keys = new Map<string, IssuedKey>()
  /** Roles that may be assumed; `externalId`: what their trust policy demands. */
  readonly roles = new Map<string, { externalId?: string }>()
  /** What each call asked for, in order. */
  readonly calls: string[] = []
  /** Of issued keys. */
  lifeMs = 3_600_000
  /** Waited for before each answer. */
  before: () => Promise<unknown> = () => Promise.resolve()
  readonly webIdentityToken = `header.${randomBytes(40).toString('hex')}.signature`
  readonly containerToken = randomBytes(20).toString('hex')
  readonly #instanceTokens = new Set<string>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  issue(lifeMs: number | undefined = this.lifeMs): IssuedKey {
    const key: IssuedKey = {
      accessKeyId: `ASIA${randomBytes(8).toString('hex').toUpperCase()}`,
      secretAccessKey: randomBytes(30).toString('base64'),
      sessionToken: randomBytes(450).toString('base64'),
      expiresAt: this.#now() + lifeMs,
    }
    this.keys.set(key.accessKeyId, key)
    return key
  }

  /** A user's key, which does not end. */
  issueLasting(): IssuedKey {
    const key = { ...this.issue(), sessionToken: undefined, expiresAt: undefined }
    const lasting = { ...key, accessKeyId: key.accessKeyId.replace('ASIA', 'AKIA') }
    this.keys.set(lasting.accessKeyId, lasting)
    return lasting
  }

  /** STS: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html, read 2026-11-30 */
  async sts(request: SignedRequest): Promise<ServiceAnswer> {
    const form = new URLSearchParams(request.body.toString())
    const action = form.get('Action')
    const role = form.get('RoleArn') ?? ''
    this.calls.push(`${action} ${role} ${form.get('RoleSessionName')}`)
    await this.before()
    const known = this.roles.get(role)
    if (action === 'AssumeRoleWithWebIdentity') {
      if (form.get('WebIdentityToken') !== this.webIdentityToken)
        return stsError(
          400,
          'InvalidIdentityToken',
          "Couldn't retrieve verification key from your identity provider",
        )
      if (known === undefined)
        return stsError(403, 'AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity')
      return this.#session(action, role)
    }
    if (action !== 'AssumeRole') return stsError(400, 'InvalidAction', `Could not find operation ${action}`)
    const region = /Credential=[^/]+\/\d+\/([^/]+)\//.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const refusal = await refusalOf(request, { keys: this.keys, region, service: 'sts', now: Date.now() })
    if (refusal !== undefined)
      return stsError(refusal.status, refusal.code.replace('Exception', ''), refusal.message)
    const denied = `User: arn:aws:iam::123456789012:user/tests is not authorized to perform: sts:AssumeRole on resource: ${role}`
    if (
      known === undefined ||
      (known.externalId !== undefined && known.externalId !== form.get('ExternalId'))
    )
      return stsError(403, 'AccessDenied', denied)
    return this.#session(action, role)
  }

  #session(action: string, role: string): ServiceAnswer {
    const { accessKeyId, secretAccessKey, sessionToken, expiresAt } = this.issue()
    const body = `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result>
<AssumedRoleUser><Arn>${role.replace(':iam:', ':sts:').replace('role/', 'assumed-role/')}/s</Arn><AssumedRoleId>AROA:s</AssumedRoleId></AssumedRoleUser>
<Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken><Expiration>${new Date(expiresAt ?? 0).toISOString()}</Expiration></Credentials>
</${action}Result><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></${action}Response>`
    return { status: 200, type: 'text/xml', body }
  }

  /** ECS and EKS Pod Identity: one address, and a token of the container. */
  async container({ headers }: SignedRequest): Promise<ServiceAnswer> {
    this.calls.push('container')
    await this.before()
    if (headers.authorization !== this.containerToken) return json(401, { message: 'Unauthorized' })
    return json(200, this.#published(this.issue(), { RoleArn: 'arn:aws:iam::123456789012:role/task' }))
  }

  /** IMDSv2: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-v2-how-it-works.html, read 2026-11-30 */
  async instance({ method, path, headers }: SignedRequest): Promise<ServiceAnswer> {
    this.calls.push(`${method} ${path}`)
    if (path === '/latest/api/token') {
      const ttl = Number(headers['x-aws-ec2-metadata-token-ttl-seconds'])
      if (method !== 'PUT' || headers['x-forwarded-for'] !== undefined) return text(403, 'Forbidden')
      if (!(ttl >= 1 && ttl <= 21_600)) return text(400, 'Bad Request')
      const token = randomBytes(30).toString('base64')
      this.#instanceTokens.add(token)
      return text(200, token)
    }
    if (!this.#instanceTokens.has(String(headers['x-aws-ec2-metadata-token'])))
      return text(401, 'Unauthorized')
    await this.before()
    const folder = /^\/latest\/meta-data\/iam\/security-credentials(?:-extended)?\//
    if (!folder.test(path)) return text(404, 'Not Found')
    const name = path.replace(folder, '')
    if (name === '') return text(200, 'instance-role')
    if (name !== 'instance-role') return text(404, 'Not Found')
    return json(200, this.#published(this.issue(), { Code: 'Success', Type: 'AWS-HMAC' }))
  }

  #published(
    { accessKeyId, secretAccessKey, sessionToken, expiresAt }: IssuedKey,
    more: Record<string, string>,
  ) {
    return {
      ...more,
      AccessKeyId: accessKeyId,
      SecretAccessKey: secretAccessKey,
      Token: sessionToken,
      Expiration: new Date(expiresAt ?? 0).toISOString().replace(/\.\d+/, ''),
      LastUpdated: new Date(this.#now()).toISOString().replace(/\.\d+/, ''),
    }
  }
}

function stsError(status: number, code: string, message: string): ServiceAnswer {
  const body = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>r</RequestId></ErrorResponse>`
  return { status, type: 'text/xml', body }
}

function json(status: number, body: object): ServiceAnswer {
  return { status, type: 'application/json', body: JSON.stringify(body) }
}

function text(status: number, body: string): ServiceAnswer {
  return { status, type: 'text/plain', body }
}
