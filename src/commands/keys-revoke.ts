import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import { keyArgument } from './key-argument.ts'
import { flag, json } from './options.ts'

export const keysRevoke = command({
  name: 'keys revoke',
  group: 'Keys and money',
  does: 'revoke a key permanently, in all processes within a second',
  details:
    'It asks for confirmation on a terminal unless --yes is given. Exit code 1: the key was not revoked. A key managed by gateway.yaml has to be changed in that file.',
  changes: true,
  options: { yes: flag('revoke without asking'), json, ...gatewayOptions },
  arguments: { key: keyArgument },
  async run({ options, arguments: { key }, terminal, ...call }) {
    const gateway = new GatewayClient({ options, ...call })
    const [{ ask, anyKey }, { namedKey }] = await Promise.all([
      import('./gateway-answers.ts'),
      import('./named-key.ts'),
    ])
    const { id } = await namedKey(gateway, key)
    const asked = `Revoke ${key} permanently?`
    if (!options.yes && (options.json || !(await terminal.agrees(asked, call.signal)))) {
      terminal.tell('Nothing was revoked. Add --yes to revoke the key.')
      return exitCodes.notWell
    }
    const revoked = await ask(anyKey, gateway, 'POST', `keys/${id}/revoke`)
    if (options.json) terminal.printJson(revoked)
    else terminal.print(`Key ${revoked.tenant}/${revoked.name} has been revoked since ${revoked.revoked_at}.`)
    return exitCodes.done
  },
})
