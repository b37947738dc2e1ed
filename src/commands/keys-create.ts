import { randomUUID } from 'node:crypto'
import { command } from './command.ts'
import { exitCodes, wrongUsage } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import { json, required, value, values } from './options.ts'

export const keysCreate = command({
  name: 'keys create',
  group: 'Keys and money',
  does: 'create a key, and print its secret once',
  details: `--set accepts every setting of a key in gateway.yaml, as JSON or as text:
  --set limits.requests_per_minute=60
  --set budget.month=10.00
  --set 'allowed_models=["gpt-main"]'`,
  changes: true,
  options: {
    group: value('GROUP', 'the group of the key; default: default'),
    expires: value('TIME', 'when the key expires, such as 2027-01-31T00:00:00Z'),
    set: values('NAME=VALUE', 'set another setting of the key'),
    json,
    ...gatewayOptions,
  },
  arguments: {
    tenant: required('TENANT', 'the name or id of the tenant that owns the key'),
    name: required('NAME', 'the name of the key, unique within the tenant'),
  },
  async run({ options, arguments: { tenant, name }, terminal, ...call }) {
    const gateway = new GatewayClient({ options, ...call })
    const { ask, madeKey } = await import('./gateway-answers.ts')
    const { group, expires, set, json } = options
    const body = set.reduce(withSetting, {
      tenant,
      name,
      ...(group !== undefined && { group }),
      ...(expires !== undefined && { expires_at: expires }),
    })
    const made = await ask(madeKey, gateway, 'POST', 'keys', { body, idempotencyKey: randomUUID() })
    if (json) terminal.printJson(made)
    else {
      terminal.tell(
        `Created key ${made.tenant}/${made.name} in group ${made.group}. Its secret is shown only once:`,
      )
      terminal.print(made.secret)
    }
    return exitCodes.done
  },
})

type Body = Record<string, unknown>

/** `limits.concurrency=5` sets a nested member. */
function withSetting(body: Body, text: string): Body {
  const at = text.indexOf('=')
  if (at < 1) throw wrongUsage(`--set must be NAME=VALUE, not ${JSON.stringify(text)}`)
  return setAt(body, text.slice(0, at).split('.'), settingOf(text.slice(at + 1)))
}

function setAt(body: Body, [first = '', ...rest]: readonly string[], value: unknown): Body {
  if (rest.length === 0) return { ...body, [first]: value }
  const below = body[first]
  const inner = typeof below === 'object' && below !== null ? { ...below } : {}
  return { ...body, [first]: setAt(inner, rest, value) }
}

/** Money stays text, as in gateway.yaml, because `10.00` would lose digits as a number. */
function settingOf(text: string): unknown {
  if (/^-?\d*\.\d+$/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
