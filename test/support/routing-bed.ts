import type { Clock } from '../../src/runtime/clock.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { freeKey, paidKey } from './gateway-yaml.ts'
import { startTestbed, type Testbed } from './testbed.ts'
import type { Plan, SeenRequest } from './upstream.ts'
import { chat, errorAnswer } from './upstream-plans.ts'

/** Several channels and credentials, called by one or two gateways on one Postgres. */
export interface RoutingBed extends Testbed {
  /** Undefined unless two gateways were asked for. */
  second: Gateway | undefined
  /** What a channel answers, by its name. Default: a good answer. */
  answers: Record<string, (seen: SeenRequest, credential: string) => Plan | Promise<Plan>>
  /** Forget `answers` and the requests of the upstream. */
  reset(): void
  asked(channel: string): SeenRequest[]
  ask(model: string, asking?: Asking): Promise<Asked>
  /** After the row is shipped. */
  attemptsOf(id: string | null): Promise<Record<string, unknown>[]>
}

interface Asking {
  /** Origin of a process. Default: the first. */
  of?: string
  path?: string
  key?: string
  headers?: Record<string, string>
  [member: string]: unknown
}

interface Asked {
  status: number
  headers: Headers
  text: string
  id: string | null
}

export const narrowKey = 'narrow-key-for-tests-001'
/** The time that a breaker stays open at first, give or take a tenth. It doubles, so that a slow machine also finds it open. */
export const openMs = 500
export const hello = [{ role: 'user', content: 'Hello' }]

export const channelOf = ({ path }: SeenRequest) => path.split('/')[1] ?? ''
export const credentialOf = ({ headers }: SeenRequest) =>
  String(headers.authorization ?? headers['x-api-key']).replace('Bearer ', '')
export const overloaded = () => errorAnswer(503, { type: 'server_error', message: 'Overloaded.' })
export const limited = (retryAfter?: string) =>
  errorAnswer(
    429,
    { code: 'rate_limit_exceeded' },
    retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  )

/** `models` and `channels`: lines of gateway.yaml, as `channelLine` makes them. `narrow`: all that `narrowKey` may use. */
export async function startRoutingBed(options: {
  models: string
  channels: (origin: string) => string
  narrow?: string
  gateways?: 1 | 2
  env?: Record<string, string>
  clock?: Clock
}): Promise<RoutingBed> {
  const yaml = (url: string) => gatewayYaml(options, url.replace(/\/v1$/, ''))
  const env = {
    BREAKER_OPEN_MS: String(openMs),
    BREAKER_OPEN_MS_MAX: String(16 * openMs),
    CREDENTIAL_REST_MS: '60000',
    ROUTING_HEADERS: 'show',
    ...options.env,
  }
  const own = options.clock === undefined ? { env } : { env, clock: options.clock }
  const bed = await startTestbed({ yaml, ...own })
  const second =
    options.gateways !== 2
      ? undefined
      : await startGateway({
          databaseUrl: bed.databaseUrl,
          gatewayYaml: yaml(bed.upstream.url),
          ...own,
        })
  const routing: RoutingBed = {
    ...bed,
    second,
    answers: {},
    reset() {
      routing.answers = {}
      bed.upstream.requests.length = 0
    },
    asked: (channel) => bed.upstream.requests.filter((seen) => channelOf(seen) === channel),
    async ask(
      model,
      { of = bed.tollgate.url, path = '/v1/chat/completions', key = freeKey, headers = {}, ...body } = {},
    ) {
      const response = await fetch(`${of}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          'anthropic-version': '2023-06-01',
          ...headers,
        },
        body: JSON.stringify({
          model,
          ...(path.endsWith('responses') ? {} : { messages: hello }),
          ...body,
        }),
      })
      const text = await response.text()
      const { status, headers: answerHeaders } = response
      return { status, headers: answerHeaders, text, id: answerHeaders.get('x-request-id') }
    },
    async attemptsOf(id) {
      await bed.row(id)
      return [
        ...(await bed.database
          .sql`SELECT channel, reason, passed_over, status, error_kind FROM attempts WHERE request_id = ${id} ORDER BY ordinal`),
      ]
    },
    async close() {
      await second?.stop()
      await bed.close()
    },
  }
  bed.upstream.script((seen) => {
    const answer = routing.answers[channelOf(seen)]
    return answer === undefined ? chat(seen) : answer(seen, credentialOf(seen))
  })
  return routing
}

/** A line of gateway.yaml: a channel at a path of its own, whose `keys` credentials are `name-1`, `name-2`, ... */
export function channelLine(
  origin: string,
  name: string,
  models: string,
  { keys = 1, more = '', protocol = 'openai-chat' } = {},
): string {
  const secrets = Array.from({ length: keys }, (_, i) => `${name}-${i + 1}`)
  const base =
    protocol === 'openai-chat' || protocol === 'openai-responses'
      ? `${origin}/${name}/v1`
      : `${origin}/${name}`
  return `  - { name: ${name}, protocols: { ${protocol}: ${base} }, api_keys: [${secrets.join(', ')}], models: ${models}, allow_private_address: true${more} }`
}

function gatewayYaml(
  { models, channels, narrow }: Pick<Parameters<typeof startRoutingBed>[0], 'models' | 'channels' | 'narrow'>,
  origin: string,
): string {
  const allowed = narrow === undefined ? '' : `, allowed_models: [${narrow}]`
  return `
models:
${models}
channels:
${channels(origin)}
groups:
  - { name: default, models: ['*'], channels: ['*'], client_gone: { policy: abort, seconds: 0 } }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
      - { name: narrow, group: default, secret: ${narrowKey}${allowed} }
  - name: paid
    balance_usd: "1.00"
    keys: [{ name: paid, group: default, secret: ${paidKey} }]
`
}
