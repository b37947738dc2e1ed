import { z } from 'zod'
import { Oidc } from '../../access/users/oidc.ts'
import { readRoleMapping } from '../../access/users/oidc-roles.ts'
import { type OidcPolicy, signInPerson } from '../../access/users/oidc-sign-in.ts'
import type { AuthenticateContext } from './authenticate.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { notAllowed, notFound } from './refusals.ts'
import { browserOf, sessionHeaders } from './session.ts'
import { cookieHeader, cookieOf, oidcCookie, ownOrigin } from './session-cookie.ts'

export interface OidcConfig {
  oidcIssuer?: string | undefined
  oidcClientId?: string | undefined
  oidcClientSecret?: string | undefined
  oidcDomains?: readonly string[] | undefined
  oidcRoleClaim: string
  oidcRoles?: string | undefined
}

const callbackPath = '/admin/v1/oidc/callback'
const keptSeconds = 600

/** Single sign-on, if OIDC_ISSUER is set. */
export function oidcEndpoints(context: AuthenticateContext & { config: OidcConfig }): AdminEndpoint[] {
  const { people, publicUrl, config } = context
  const oidc = oidcOf(config, people)
  const policy = policyOf(config)
  const required = () => {
    if (oidc === undefined) throw notFound('single sign-on, because OIDC_ISSUER is not set')
    return oidc
  }
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/sign-in',
      area: 'open',
      summary: 'Get the available ways to sign in',
      answer: z
        .object({ password: z.literal(true), single_sign_on: z.boolean() })
        .meta({ id: 'SignInMethods' }),
      async handle() {
        return { body: { password: true as const, single_sign_on: oidc !== undefined } }
      },
    }),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/oidc/start',
      area: 'open',
      summary: 'Start single sign-on by redirecting the browser to the issuer',
      query: z.object({
        return_to: z
          .string()
          .regex(/^\/(?![/\\])[\x21-\x7e]{0,1000}$/, 'expected a path on this server')
          .default('/')
          .describe('The path on this server to which the browser returns.'),
      }),
      async handle({ request, response, query }) {
        const origin = ownOrigin(request, publicUrl)
        const begun = await required().begin(`${origin}${callbackPath}`, query.return_to)
        const isSecure = origin.startsWith('https:')
        response.setHeader(
          'set-cookie',
          cookieHeader(oidcCookie, begun.kept, { isSecure, seconds: keptSeconds }),
        )
        response.status(302).set('location', begun.url).end()
        return undefined
      },
    }),
    adminEndpoint({
      method: 'GET',
      path: callbackPath,
      area: 'open',
      summary: 'Complete single sign-on (the issuer redirects the browser here)',
      query: z.looseObject({}),
      async handle({ request, response, requestId }) {
        const origin = ownOrigin(request, publicUrl)
        const isSecure = origin.startsWith('https:')
        const kept = cookieOf(request, oidcCookie, isSecure)
        if (kept === undefined)
          throw notAllowed(
            'This browser has not started single sign-on. Start with GET /admin/v1/oidc/start.',
          )
        const gone = cookieHeader(oidcCookie, undefined, { isSecure, seconds: 0 })
        response.setHeader('set-cookie', gone)
        const { person, returnTo } = await required().finish(new URL(request.originalUrl, origin), kept)
        const signedIn = await signInPerson(people, person, policy, browserOf(context, request, requestId))
        const { 'set-cookie': cookies } = sessionHeaders(context, request, signedIn)
        response.setHeader('set-cookie', [gone, ...cookies])
        response.status(303).set('location', returnTo).end()
        return undefined
      },
    }),
  ]
}

function oidcOf(config: OidcConfig, { secrets }: AuthenticateContext['people']): Oidc | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = config
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined
  return new Oidc({ issuer, clientId, clientSecret }, secrets)
}

function policyOf({ oidcDomains: allowedDomains, oidcRoleClaim: claim, oidcRoles }: OidcConfig): OidcPolicy {
  const mapping = oidcRoles === undefined ? undefined : readRoleMapping(oidcRoles)
  return { allowedDomains, roles: mapping === undefined ? undefined : { claim, mapping } }
}
