import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import { keyArgument } from './key-argument.ts'
import { flag, json } from './options.ts'

export const keysRevoke = command({
  name: 'keys revoke',
  group: 'Keys and money',
  does: 'refuse a key permanently, in all processes within a second',
  details:
    'It asks on a terminal; --yes skips that. Exit code 1: it was not done. A key of gateway.yaml is changed there.',
  changes: true,
  options: { yes: flag('do it without asking'), json, ...gatewayOptions },
  arguments: { key: keyArgument },
  async run({ options, arguments: { key }, terminal, ...call }) {
    const gateway = new GatewayClient({ options, ...call })
    const [{ ask, anyKey }, { namedKey }] = await Promise.all([
      import('./gateway-answers.ts'),
      import('./named-key.ts'),
    ])
    const { id } = await namedKey(gateway, key)
    const asked = `Refuse ${key} permanently?`
    if (!options.yes && (options.json || !(await terminal.agrees(asked, call.signal)))) {
      terminal.tell('Nothing is done: --yes does it.')
      return exitCodes.notWell
    }
    const revoked = await ask(anyKey, gateway, 'POST', `keys/${id}/revoke`)
    if (options.json) terminal.printJson(revoked)
    else terminal.print(`Key ${revoked.tenant}/${revoked.name} is revoked since ${revoked.revoked_at}.`)
    return exitCodes.done
  },
})
