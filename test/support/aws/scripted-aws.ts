import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startVendor } from '../vendor/vendor.ts'
import { type ServiceAnswer, TokenServices } from './token-services.ts'
import { refusalOf, type SignedRequest } from './verify-signature.ts'

/**
 * Amazon on loopback: Bedrock by its OpenAI and Messages paths on both of its endpoints, before the strict vendor, and
 * the services that hand out keys. Each verifies what the real one verifies.
 */
export interface ScriptedAws {
  /** Base URLs without a path: `/openai/v1` and `/anthropic` are below both, `/v1` below Mantle. */
  runtime: string
  mantle: string
  tokens: TokenServices
  /** The requests to Bedrock that were let in. */
  served: SignedRequest[]
  /** From now on streams stop after their first frames, until the returned function is called. */
  holdStreams(): () => void
  /** The codes of those that were not. */
  refused: string[]
  /** What a machine's environment says of a source of keys. */
  env: { sts: Env; webIdentity(tokenFile: string, role: string): Env; container: Env; instance: Env }
  close(): Promise<void>
}

type Env = Record<string, string>

export const awsRegion = 'us-east-1'

/** `now`: the clock of Bedrock, and of the ends of keys. */
export async function startAws({
  now = () => Date.now(),
}: {
  now?: () => number
} = {}): Promise<ScriptedAws> {
  const vendor = await startVendor({ tokenDelayMs: 1 })
  const tokens = new TokenServices(now)
  const served: SignedRequest[] = []
  const refused: string[] = []
  let held: Promise<void> | undefined
  const bedrock = (service: string) => async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = await readWhole(incoming)
    const { path } = request
    if (service === 'bedrock' && path === '/sts/') return answer(response, await tokens.sts(request))
    if (service === 'bedrock' && path === '/ecs') return answer(response, await tokens.container(request))
    if (service === 'bedrock' && path.startsWith('/latest/'))
      return answer(response, await tokens.instance(request))
    const refusal = await refusalOf(request, { keys: tokens.keys, region: awsRegion, service, now: now() })
    if (refusal !== undefined) {
      refused.push(refusal.code)
      response.setHeader('x-amzn-errortype', refusal.code)
      return answer(response, {
        status: refusal.status,
        type: 'application/json',
        body: JSON.stringify({ message: refusal.message }),
      })
    }
    served.push(request)
    if (request.method === 'GET' && /\/models(\?|$)/.test(path)) return answer(response, models)
    pass(request, `${vendor.url}${path.replace(/^\/(openai|anthropic)/, '')}`, response, held)
  }
  const [runtime, mantle] = [createServer(bedrock('bedrock')), createServer(bedrock('bedrock-mantle'))]
  const [runtimeUrl, mantleUrl] = await Promise.all([listening(runtime), listening(mantle)])
  const sts = { AWS_ENDPOINT_URL_STS: `${runtimeUrl}/sts` }
  return {
    runtime: runtimeUrl,
    mantle: mantleUrl,
    tokens,
    served,
    refused,
    holdStreams() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        held = undefined
        resolve()
      }
    },
    env: {
      sts,
      webIdentity: (file, role) => ({ ...sts, AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role }),
      container: {
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `${runtimeUrl}/ecs`,
        AWS_CONTAINER_AUTHORIZATION_TOKEN: tokens.containerToken,
      },
      instance: { AWS_EC2_METADATA_SERVICE_ENDPOINT: runtimeUrl },
    },
    async close() {
      for (const server of [runtime, mantle]) {
        server.close()
        server.closeAllConnections()
      }
      await vendor.close()
    },
  }
}

const models: ServiceAnswer = {
  status: 200,
  type: 'application/json',
  body: '{"object":"list","data":[{"id":"openai.gpt-oss-20b-1:0","object":"model"}]}',
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function readWhole(incoming: IncomingMessage): Promise<SignedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const { method = '', url = '', headers } = incoming
  return { method, path: url, headers, body: Buffer.concat(chunks) }
}

function answer(response: ServerResponse, { status, type, body }: ServiceAnswer): void {
  response.writeHead(status, { 'content-type': type, 'x-amzn-requestid': 'amazon-request-1' }).end(body)
}

/** Bedrock's own headers are gone by then: the strict vendor knows none. */
function pass(
  { method, headers, body }: SignedRequest,
  url: string,
  response: ServerResponse,
  held: Promise<void> | undefined,
): void {
  const { authorization: _, host: __, connection: ___, ...others } = headers
  send(url, { method, headers: others }, (its) => {
    response.writeHead(its.statusCode ?? 500, its.headers)
    if (held === undefined || its.headers['content-type'] !== 'text/event-stream')
      return void its.pipe(response)
    let frames = 0
    const first = (frame: Buffer) => {
      response.write(frame)
      if (++frames < 4) return
      its.off('data', first).pause()
      void held.then(() => its.pipe(response))
    }
    its.on('data', first)
  })
    .on('error', () => response.destroy())
    .end(body)
}

const ambient = /^AWS_/

/** Sets the environment of this process, as Amazon's packages read it, until the returned function is called. */
export function withAwsEnv(env: Env): () => void {
  const before = Object.entries(process.env).filter(([name]) => ambient.test(name))
  const set = (all: Iterable<readonly [string, string | undefined]>) => {
    for (const name of Object.keys(process.env)) if (ambient.test(name)) delete process.env[name]
    for (const [name, value] of all) if (value !== undefined) process.env[name] = value
  }
  const nowhere = { AWS_CONFIG_FILE: '/nonexistent', AWS_SHARED_CREDENTIALS_FILE: '/nonexistent' }
  set(Object.entries({ ...nowhere, ...env }))
  return () => set(before)
}
