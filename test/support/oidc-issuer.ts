import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface OidcIssuer {
  url: string
  clientId: string
  clientSecret: string
  /** What the next ID tokens say about the person, beside `iss`, `aud`, `exp`, `iat` and `nonce`; it may replace them. */
  claims: Record<string, unknown>
  /** True: ID tokens are signed with a key that the issuer does not publish. */
  forges: boolean
  close(): Promise<void>
}

/** A real issuer of OpenID Connect: discovery, keys, and the code flow with PKCE. It asks the person nothing. */
export async function startOidcIssuer(): Promise<OidcIssuer> {
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const published = { ...own.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }
  const codes = new Map<string, { challenge: string; nonce: string; redirectUri: string }>()
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const issuer: OidcIssuer = {
    url: `http://127.0.0.1:${port}`,
    clientId: 'tollgate-test',
    clientSecret: 'the-secret-of-the-client',
    claims: {},
    forges: false,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer.url)
    const { pathname } = url
    if (pathname === '/.well-known/openid-configuration') json(response, 200, discovery(issuer.url))
    else if (pathname === '/jwks') json(response, 200, { keys: [published] })
    else if (pathname === '/authorize') authorize(url.searchParams, response)
    else if (pathname === '/token') await token(request, response)
    else json(response, 404, { error: 'not_found' })
  }

  function authorize(asked: URLSearchParams, response: ServerResponse): void {
    const redirectUri = asked.get('redirect_uri') ?? ''
    if (asked.get('client_id') !== issuer.clientId || asked.get('code_challenge_method') !== 'S256') {
      json(response, 400, { error: 'invalid_request' })
      return
    }
    const code = randomUUID()
    codes.set(code, {
      challenge: asked.get('code_challenge') ?? '',
      nonce: asked.get('nonce') ?? '',
      redirectUri,
    })
    const back = new URL(redirectUri)
    back.searchParams.set('code', code)
    back.searchParams.set('state', asked.get('state') ?? '')
    response.writeHead(302, { location: back.href }).end()
  }

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const form = new URLSearchParams(Buffer.concat(chunks).toString())
    const code = form.get('code') ?? ''
    const begun = codes.get(code)
    codes.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isClient =
      form.get('client_secret') === issuer.clientSecret && form.get('client_id') === issuer.clientId
    if (!isClient) return json(response, 401, { error: 'invalid_client' })
    if (
      begun === undefined ||
      begun.challenge !== challenge ||
      begun.redirectUri !== form.get('redirect_uri')
    )
      return json(response, 400, { error: 'invalid_grant' })
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: issuer.url,
      aud: issuer.clientId,
      iat: now,
      exp: now + 300,
      nonce: begun.nonce,
      ...issuer.claims,
    }
    const key = issuer.forges ? other.privateKey : own.privateKey
    json(response, 200, {
      access_token: randomUUID(),
      token_type: 'Bearer',
      expires_in: 300,
      id_token: signed(claims, key),
    })
  }
  return issuer
}

function discovery(url: string) {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    code_challenge_methods_supported: ['S256'],
  }
}

function signed(claims: Record<string, unknown>, key: KeyObject): string {
  const head = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'one', typ: 'JWT' })).toString('base64url')
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
  const signature = sign('sha256', Buffer.from(`${head}.${body}`), key).toString('base64url')
  return `${head}.${body}.${signature}`
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
