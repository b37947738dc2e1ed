import type { Configuration } from 'openid-client'
import { z } from 'zod'
import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import type { UserSecrets } from './people.ts'

export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string
}

/** The verified claims of the issuer about the person who signs in. */
export interface Person {
  issuer: string
  subject: string
  /** Undefined if the issuer has not verified it. */
  email: string | undefined
  claims: Readonly<Record<string, unknown>>
}

export interface Begun {
  /** The URL to redirect the browser to. */
  url: string
  /**
   * The encrypted state that the browser keeps until the callback, so that a callback in another browser is
   * refused.
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
 * Single sign-on with OpenID Connect: code flow with PKCE, state and nonce. openid-client verifies the
 * responses: signature, issuer, audience, expiry and nonce. It is loaded, and the issuer contacted, on the
 * first sign-in.
 */
export class Oidc {
  readonly #settings: OidcSettings
  readonly #secrets: UserSecrets
  #discovered: Promise<Configuration> | undefined

  constructor(settings: OidcSettings, secrets: UserSecrets) {
    this.#settings = settings
    this.#secrets = secrets
  }

  /** `callback` is our URL to which the issuer sends the browser back. */
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
   * `url` is our callback URL as the browser called it, with the issuer's response. Rejects with
   * `unauthenticated` if the response is not valid, and with `unavailable` if the issuer does not respond.
   */
  async finish(url: URL, keptText: string): Promise<{ person: Person; returnTo: string }> {
    const { state, nonce, verifier, returnTo, endsAt } = this.#openKept(keptText)
    if (endsAt < Date.now()) throw refused('The sign-in took too long.')
    const client = await import('openid-client')
    const configuration = await this.#configuration()
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    }
    const tokens = await client.authorizationCodeGrant(configuration, url, checks).catch((cause: unknown) => {
      throw isUnreachable(cause) ? away(cause) : refused('The response from the issuer is not valid.', cause)
    })
    const claims = tokens.claims()
    if (claims === undefined) throw refused('The issuer did not send an ID token.')
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
      throw refused('The sign-in was not started in this browser.', cause)
    }
  }

  /** The issuer's metadata, fetched once, and again after a failure. */
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
    // For trying it out with an issuer on this machine. openid-client refuses plain HTTP for all other
    // issuers.
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

/** A failure of the network or of the issuer's server. */
function isUnreachable(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false
  const { name } = cause
  return name === 'TimeoutError' || (cause instanceof TypeError && cause.message === 'fetch failed')
}
