import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import { keyArgument } from './key-argument.ts'
import { json } from './options.ts'

export const keysUnblock = command({
  name: 'keys unblock',
  group: 'Keys and money',
  does: 'lift the block of a key, in all processes within a second',
  changes: true,
  options: { json, ...gatewayOptions },
  arguments: { key: keyArgument },
  async run({ options, arguments: { key }, terminal, ...call }) {
    const gateway = new GatewayClient({ options, ...call })
    const [{ ask, anyKey }, { namedKey }] = await Promise.all([
      import('./gateway-answers.ts'),
      import('./named-key.ts'),
    ])
    const { id } = await namedKey(gateway, key)
    const unblocked = await ask(anyKey, gateway, 'POST', `keys/${id}/unblock`)
    if (options.json) terminal.printJson(unblocked)
    else terminal.print(`Key ${unblocked.tenant}/${unblocked.name} is not blocked.`)
    return exitCodes.done
  },
})
