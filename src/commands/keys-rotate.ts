import { randomUUID } from 'node:crypto'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import { keyArgument } from './key-argument.ts'
import { json, value, whole } from './options.ts'

const secondsMost = 30 * 24 * 3600

export const keysRotate = command({
  name: 'keys rotate',
  group: 'Keys and money',
  does: 'give a key a new secret, and print it once',
  details: 'Without --grace the old secret stops working at once, which is right for a leaked one.',
  changes: true,
  options: {
    grace: value('SECONDS', `how long the old secret keeps working, at most ${secondsMost}; default 0`, {
      read: whole(0, secondsMost),
    }),
    json,
    ...gatewayOptions,
  },
  arguments: { key: keyArgument },
  async run({ options, arguments: { key }, terminal, ...call }) {
    const gateway = new GatewayClient({ options, ...call })
    const [{ ask, madeKey }, { namedKey }] = await Promise.all([
      import('./gateway-answers.ts'),
      import('./named-key.ts'),
    ])
    const { id } = await namedKey(gateway, key)
    const made = await ask(madeKey, gateway, 'POST', `keys/${id}/rotate`, {
      body: { grace_seconds: options.grace ?? 0 },
      idempotencyKey: randomUUID(),
    })
    if (options.json) terminal.printJson(made)
    else {
      const grace = options.grace ? `works for another ${options.grace} s` : 'no longer works'
      terminal.tell(
        `Key ${made.tenant}/${made.name}: its old secret ${grace}. The new one is shown only once:`,
      )
      terminal.print(made.secret)
    }
    return exitCodes.done
  },
})
