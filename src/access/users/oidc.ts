import type { Configuration } from 'openid-client'
import { z } from 'zod'
import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import type { UserSecrets } from './people.ts'

export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string
}

/** The claims of the issuer on the person who signs in. They are checked. */
export interface Person {
  issuer: string
  subject: string
  /** Undefined: the issuer has not verified it. */
  email: string | undefined
  claims: Readonly<Record<string, unknown>>
}

export interface Begun {
  /** Where the browser goes. */
  url: string
  /**
   * The encrypted state that the browser keeps until the callback: a callback in another browser is refused.
   */
  kept: string
}

const kept = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  endsAt: z.number(),
})

const signInMs = 10 * 60_000
const requestSeconds = 10
const owner = 'single sign-on'

/**
 * Single sign-on by OpenID Connect: code flow with PKCE, state and nonce. openid-client checks the answers:
 * signature, issuer, audience, expiry and nonce. It is loaded, and the issuer is asked, when somebody signs
 * in.
 */
export class Oidc {
  readonly #settings: OidcSettings
  readonly #secrets: UserSecrets
  #discovered: Promise<Configuration> | undefined

  constructor(settings: OidcSettings, secrets: UserSecrets) {
    this.#settings = settings
    this.#secrets = secrets
  }

  /** `callback`: our address that the issuer sends the browser back to. */
  async begin(callback: string, returnTo: string): Promise<Begun> {
    const client = await import('openid-client')
    const configuration = await this.#configuration()
    const verifier = client.randomPKCECodeVerifier()
    const state = client.randomState()
    const nonce = client.randomNonce()
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: callback,
      scope: 'openid email profile',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    const endsAt = Date.now() + signInMs
    const text = JSON.stringify({ state, nonce, verifier, returnTo, endsAt })
    return { url: url.href, kept: this.#secrets.seal(text, owner).toString('base64url') }
  }

  /**
   * `url`: our address as the browser called it, with the answer of the issuer. Rejects `unauthenticated` for
   * an answer that does not hold, and `unavailable` when the issuer does not answer.
   */
  async finish(url: URL, keptText: string): Promise<{ person: Person; returnTo: string }> {
    const { state, nonce, verifier, returnTo, endsAt } = this.#openKept(keptText)
    if (endsAt < Date.now()) throw refused('It took too long.')
    const client = await import('openid-client')
    const configuration = await this.#configuration()
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    }
    const tokens = await client.authorizationCodeGrant(configuration, url, checks).catch((cause: unknown) => {
      throw isUnreachable(cause) ? away(cause) : refused('The answer of the issuer does not hold.', cause)
    })
    const claims = tokens.claims()
    if (claims === undefined) throw refused('The issuer sent no ID token.')
    const { email, email_verified: isVerified } = claims
    return {
      person: {
        issuer: claims.iss,
        subject: claims.sub,
        email: typeof email === 'string' && isVerified === true ? email : undefined,
        claims,
      },
      returnTo,
    }
  }

  #openKept(text: string): z.output<typeof kept> {
    try {
      return kept.parse(JSON.parse(this.#secrets.open(Buffer.from(text, 'base64url'), owner)))
    } catch (cause) {
      throw refused('This browser has not begun it.', cause)
    }
  }

  /** The issuer's description, asked for once; again after a failure. */
  #configuration(): Promise<Configuration> {
    this.#discovered ??= this.#discover().catch((cause: unknown) => {
      this.#discovered = undefined
      throw away(cause)
    })
    return this.#discovered
  }

  async #discover(): Promise<Configuration> {
    const client = await import('openid-client')
    const issuer = new URL(this.#settings.issuer)
    const isLoopback = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(issuer.hostname)
    const execute = [client.enableNonRepudiationChecks]
    // An issuer on this machine, for trying it out. openid-client refuses plain HTTP to any other.
    if (issuer.protocol === 'http:' && isLoopback) execute.push(client.allowInsecureRequests)
    const { clientId, clientSecret } = this.#settings
    return await client.discovery(issuer, clientId, clientSecret, undefined, {
      execute,
      timeout: requestSeconds,
    })
  }
}

function refused(why: string, cause?: unknown): GatewayError {
  return gatewayError('sso_failed', { why }, { cause })
}

function away(cause: unknown): GatewayError {
  return gatewayError('sso_issuer_away', {}, { cause, retryAfterSeconds: 5 })
}

/** A failure of the network, or of the issuer's server. */
function isUnreachable(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false
  const { name } = cause
  return name === 'TimeoutError' || (cause instanceof TypeError && cause.message === 'fetch failed')
}
