import { channelArgument } from './channels-block.ts'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import { json } from './options.ts'

export const channelsUnblock = command({
  name: 'channels unblock',
  group: 'Repair',
  does: 'lift the block of a channel, in all processes within a second',
  changes: true,
  options: { json, ...gatewayOptions },
  arguments: { channel: channelArgument },
  async run({ options, arguments: { channel }, terminal, ...call }) {
    const gateway = new GatewayClient({ options, ...call })
    const { ask, anyChannel } = await import('./gateway-answers.ts')
    const path = `channels/${encodeURIComponent(channel)}/unblock`
    const unblocked = await ask(anyChannel, gateway, 'POST', path)
    if (options.json) terminal.printJson(unblocked)
    else terminal.print(`Channel ${unblocked.name} is not blocked.`)
    return exitCodes.done
  },
})
