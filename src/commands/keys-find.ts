import { command } from './command.ts'
import { exitCodes, wrongUsage } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import { stateOf } from './key-state.ts'
import { json } from './options.ts'

export const keysFind = command({
  name: 'keys find',
  group: 'Keys and money',
  does: 'find the key that has the secret given on standard input',
  details:
    'The secret is read from standard input, never from the command line, where other users of the machine could see it. Also finds revoked keys, and a key by its former secret.',
  options: { json, ...gatewayOptions },
  arguments: {},
  async run({ options, terminal, ...call }) {
    if (options.tokenFile === '-')
      throw wrongUsage(
        '--token-file - : standard input is for the secret. Name a file, or set TOLLGATE_TOKEN.',
      )
    const gateway = new GatewayClient({ options, ...call })
    const { ask, anyKey } = await import('./gateway-answers.ts')
    const secret = await terminal.secret('Paste the secret', call.signal)
    if (secret === '') throw wrongUsage('the secret is read from standard input, which is empty')
    const found = await ask(anyKey, gateway, 'POST', 'keys/find', { body: { secret } })
    if (options.json) terminal.printJson(found)
    else terminal.print(`${found.tenant}/${found.name} (${stateOf(found)}), id ${found.id}`)
    return exitCodes.done
  },
})
