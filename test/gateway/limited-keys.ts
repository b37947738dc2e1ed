export const messages = [{ role: 'user' as const, content: 'Hello' }]
export const body = { model: 'main', messages }

/** Named by their limit, or by their purpose. */
export const keys = {
  own: 'own-key-for-tests-00001',
  first: 'first-key-for-tests-001',
  second: 'second-key-for-tests-01',
  rapid: 'rapid-key-for-tests-001',
  tokens: 'tokens-key-for-tests-01',
  single: 'single-key-for-tests-01',
  messages: 'messages-key-for-tests1',
  unread: 'unread-key-for-tests-01',
  repeating: 'repeating-key-for-tests',
}

/** Groups, tenants and keys, each limited in another way. */
export function yaml(url: string): string {
  return `
models: [ { id: main } ]
channels:
  - { name: scripted, protocols: { openai-chat: ${url} }, api_keys: [upstream-credential-1], models: [main], allow_private_address: true }
groups:
  - { name: default, models: ['*'], channels: ['*'], limits: { requests_per_minute: 1 } }
  - { name: pair, models: ['*'], channels: ['*'], limits: { requests_per_minute: 10 }, total_limits: { requests_per_minute: 3 } }
  - { name: open, models: ['*'], channels: ['*'], client_gone: { policy: abort } }
tenants:
  - name: one
    keys:
      - { name: own, group: default, secret: ${keys.own}, limits: { requests_per_minute: 2, tokens_per_minute: 6000 } }
      - { name: messages, group: default, secret: ${keys.messages}, limits: { requests_per_minute: 2, tokens_per_minute: 6000 } }
      - { name: first, group: pair, secret: ${keys.first} }
      - { name: rapid, group: open, secret: ${keys.rapid}, limits: { requests_per_minute: 120 } }
      - { name: tokens, group: open, secret: ${keys.tokens}, limits: { requests_per_minute: 20, tokens_per_minute: 1000 } }
      - { name: unread, group: open, secret: ${keys.unread}, limits: { requests_per_minute: 1 } }
      - { name: repeating, group: open, secret: ${keys.repeating}, limits: { requests_per_minute: 2 } }
      - { name: single, group: open, secret: ${keys.single}, limits: { concurrency: 1 } }
  - name: two
    limits: { tokens_per_minute: 500 }
    keys:
      - { name: second, group: pair, secret: ${keys.second} }
`
}
