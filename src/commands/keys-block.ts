import { command } from './command.ts'
import { exitCodes, wrongUsage } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import { keyArgument } from './key-argument.ts'
import { json, value } from './options.ts'

export const keysBlock = command({
  name: 'keys block',
  group: 'Keys and money',
  does: 'block a key and its sub-keys now, also one of gateway.yaml',
  details:
    'All processes refuse the key within a second; running requests can finish. It stays blocked until `tollgate keys unblock`, whatever gateway.yaml says.',
  changes: true,
  options: { reason: value('TEXT', 'why, for people; required'), json, ...gatewayOptions },
  arguments: { key: keyArgument },
  async run({ options, arguments: { key }, terminal, ...call }) {
    const { reason } = options
    if (reason === undefined || reason.trim() === '')
      throw wrongUsage(
        '--reason TEXT is required: it says why the key is blocked, to the person who finds it',
      )
    const gateway = new GatewayClient({ options, ...call })
    const [{ ask, anyKey }, { namedKey }] = await Promise.all([
      import('./gateway-answers.ts'),
      import('./named-key.ts'),
    ])
    const { id } = await namedKey(gateway, key)
    const blocked = await ask(anyKey, gateway, 'POST', `keys/${id}/block`, { body: { reason } })
    if (options.json) terminal.printJson(blocked)
    else
      terminal.print(
        `Key ${blocked.tenant}/${blocked.name} has been blocked since ${blocked.blocked?.at}. Running requests can finish.`,
      )
    return exitCodes.done
  },
})
