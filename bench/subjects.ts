import { startTollgate } from '../test/support/tollgate.ts'
import type { Checkout } from './checkout.ts'
import type { Rig } from './measure.ts'
import { startServer } from './peer.ts'
import { scenarios } from './scenarios.ts'

/** A measured gateway, in a process of its own. */
export interface Subject {
  /** Whether each call becomes a row. */
  isLogging: boolean
  pid: number
  origin: string
  keys: Record<'unlimited' | 'budgeted', string>
  stderr(): string
  /** Rejects when the process ended wrongly. */
  stop(): Promise<void>
}

export async function startReference(upstreamPort: number, nodeArgs: string[] = []): Promise<Subject> {
  const key = 'bench-key-of-the-reference'
  const peer = await startServer('reference.ts', [`http://127.0.0.1:${upstreamPort}`, key], nodeArgs)
  return {
    isLogging: false,
    pid: peer.pid,
    origin: `http://127.0.0.1:${peer.port}`,
    keys: { unlimited: key, budgeted: key },
    stderr: () => '',
    stop: peer.stop,
  }
}

/** Tollgate with everything on: keys, limits, usage log with bodies, Postgres. It starts as an operator starts it. */
export async function startGateway(
  { upstream, usageLog }: Pick<Rig, 'upstream' | 'usageLog'>,
  {
    nodeArgs = [],
    settings = {},
    checkout,
  }: {
    nodeArgs?: string[]
    settings?: Readonly<Record<string, string>>
    /** Default: this tree. */
    checkout?: Pick<Checkout, 'directory' | 'node'> | undefined
  } = {},
): Promise<Subject> {
  const tollgate = await startTollgate({
    databaseUrl: usageLog.url,
    gatewayYaml: gatewayFile(upstream.port),
    nodeArgs,
    ...checkout,
    env: { NODE_ENV: 'production', ...settings },
  })
  return {
    isLogging: true,
    pid: tollgate.pid,
    origin: tollgate.url,
    keys,
    stderr: tollgate.stderr,
    async stop() {
      const code = await tollgate.stop()
      if (code !== 0) throw new Error(`Tollgate ended with ${code}.\n${tollgate.stderr().slice(-4000)}`)
    },
  }
}

const keys = { unlimited: 'bench-key-without-a-limit', budgeted: 'bench-key-with-a-budget' }

function gatewayFile(upstreamPort: number): string {
  const models = [...new Set(scenarios.map((scenario) => scenario.model))]
  const upstreamName = (model: string) => (model === 'burst-8' ? `renamed-${model}` : model)
  return subjectFile(upstreamPort, Object.fromEntries(models.map((id) => [id, upstreamName(id)])), [
    { name: 'unlimited', keys: [{ name: 'bench', group: 'bench', secret: keys.unlimited }] },
    {
      name: 'budgeted',
      balance_usd: '1000000.00',
      keys: [{ name: 'bench', group: 'bench', secret: keys.budgeted }],
    },
  ])
}

/** A gateway.yaml before the mock upstream, with limits that are taken and never reached. `models`: their names there, by ours. */
export function subjectFile(
  upstreamPort: number,
  models: Readonly<Record<string, string>>,
  tenants: readonly object[],
): string {
  return JSON.stringify({
    models: Object.keys(models).map((id) => ({
      id,
      context_length: 128_000,
      max_output_tokens: 4096,
      price: { input: '2.50', output: '10.00', cache_read: '0.25' },
    })),
    channels: [
      {
        name: 'mock',
        protocols: { 'openai-chat': `http://127.0.0.1:${upstreamPort}/v1` },
        api_keys: ['upstream-secret'],
        models,
        allow_private_address: true,
      },
    ],
    groups: [
      {
        name: 'bench',
        models: ['*'],
        channels: ['*'],
        limits: {
          requests_per_minute: 2_000_000_000,
          tokens_per_minute: 2_000_000_000,
          concurrency: 100_000,
        },
      },
    ],
    tenants,
  })
}
