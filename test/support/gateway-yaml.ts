export const secretKey = 'a-secret-key-for-tests-of-32-characters'
/** A key of tenant `free`, whose money is recorded but not limited. */
export const freeKey = 'free-key-for-tests-0001'
/** A key of tenant `paid`, which has one dollar. */
export const paidKey = 'paid-key-for-tests-0001'
/** A key of tenant `free` in group `abort`: the upstream call ends when the client leaves. */
export const abortKey = 'abort-key-for-tests-001'

/** One channel for all models. The upstream knows model `main` by another name. Tenant `paid` has one dollar. */
export function gatewayYaml(upstreamUrl: string, extra = ''): string {
  return `
models:
  - id: main
    context_length: 1000
    max_output_tokens: 100
    price: { input: "1000", output: "2000", cache_read: "500" }
  - id: priced
    context_length: 1000
    max_output_tokens: 100
    price: { input: "1", output: "2" }
  - id: '*'
channels:
  - name: scripted
    protocols: { openai-chat: ${upstreamUrl} }
    api_keys: [ "upstream-credential-0001" ]
    models: { main: upstream-main, priced: priced, '*': '*' }
    concurrency: 10000
    allow_private_address: true
groups:
  - { name: default, models: ['*'], channels: ['*'], client_gone: { policy: drain, seconds: 5 } }
  - { name: abort, models: ['*'], channels: ['*'], client_gone: { policy: abort, seconds: 0 } }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
      - { name: abort, group: abort, secret: ${abortKey} }
  - name: paid
    balance_usd: "1.00"
    keys:
      - { name: paid, group: default, secret: ${paidKey} }
${extra}`
}

/** The same, where all models have a price and tenant `paid` has money for all: no request of the load is refused. */
export function plentifulYaml(upstreamUrl: string): string {
  const any = `{ id: '*', context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }`
  return gatewayYaml(upstreamUrl).replace("id: '*'", any).replace('"1.00"', '"1000"')
}
