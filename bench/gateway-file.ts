import { applyGatewayFile, checkGatewayFile } from '../src/access/apply-gateway-file.ts'
import { gatewaySource } from '../src/catalog/gateway-source.ts'
import { openConnections } from '../src/db/connections.ts'
import { prepareDatabase } from '../src/db/migrate.ts'
import { SecretKeeper } from '../src/secrets/secret-key.ts'
import { tableOf } from './table.ts'
import { startTemporary } from './temporary-postgres.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

/**
 * Measures what a start spends on gateway.yaml: `node runtime.cjs bench/gateway-file.ts [keys]` (default 6,000). Each line
 * is one file on a fresh embedded Postgres: the keys are of one tenant, of tenants with 100 each, or of a tenant each.
 * "read" is reading and checking the text, "write" is the transaction. A file that is in force is not read.
 */
async function main(): Promise<void> {
  const keys = Number(process.argv[2] ?? 6_000)
  const temporary = await startTemporary()
  try {
    const rows = [['tenants', 'file', 'read ms', 'write ms']]
    for (const tenants of [1, Math.ceil(keys / 100), keys]) {
      for (const [name, read, write] of await measure(temporary.url, tenants, keys)) {
        rows.push([String(tenants), name, read.toFixed(0), write.toFixed(0)])
      }
    }
    console.log(tableOf(rows, (column) => column !== 1))
  } finally {
    await temporary.stop()
  }
}

const keeper = new SecretKeeper('a secret key for the benchmark, long enough')

async function measure(server: string, tenants: number, keys: number) {
  const url = new URL(server)
  const administration = openConnections(server, { max: 1 })
  await administration.sql.unsafe(`CREATE DATABASE tenants_${tenants}`)
  await administration.end()
  url.pathname = `/tenants_${tenants}`
  await prepareDatabase(url.href)
  const connections = openConnections(url.href, { max: 1 })
  const apply = async (text: string): Promise<[read: number, write: number]> => {
    const beganAt = performance.now()
    const source = gatewaySource(text, { path: 'gateway.yaml', env: {} })
    await checkGatewayFile(connections, source, keeper)
    const readAt = performance.now()
    await applyGatewayFile(connections, source, keeper)
    return [readAt - beganAt, performance.now() - readAt]
  }
  const each = Math.ceil(keys / tenants)
  const files: [name: string, text: string][] = [
    ['all keys are new', fileOf(tenants, each, () => 7)],
    ['unchanged', fileOf(tenants, each, () => 7)],
    ['one key changed', fileOf(tenants, each, (index) => (index === 3 ? 8 : 7))],
    ['all keys changed', fileOf(tenants, each, () => 9)],
  ]
  const measured: [name: string, read: number, write: number][] = []
  for (const [name, text] of files) measured.push([name, ...(await apply(text))])
  await connections.end()
  return measured
}

/** `concurrencyOf` answers the limit of the key with this number. */
function fileOf(tenants: number, each: number, concurrencyOf: (index: number) => number): string {
  const keyOf = (index: number) =>
    `      - { name: key-${index}, secret: secret-number-${index}-of-the-file, limits: { concurrency: ${concurrencyOf(index)} } }`
  const tenantOf = (tenant: number) =>
    [
      `  - name: tenant-${tenant}`,
      '    keys:',
      ...Array.from({ length: each }, (_, index) => keyOf(tenant * each + index)),
    ].join('\n')
  return `models:
  - { id: big, price: { input: "2.50", output: "10" } }
channels:
  - { name: a, protocols: { openai-chat: https://a.example/v1 }, api_keys: [a], models: [big] }
groups:
  - { name: default }
tenants:
${Array.from({ length: tenants }, (_, tenant) => tenantOf(tenant)).join('\n')}
`
}

await main()
