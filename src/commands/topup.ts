import { randomUUID } from 'node:crypto'
import { command } from './command.ts'
import { CommandError, exitCodes } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import { flag, json, required, value } from './options.ts'

export const topup = command({
  name: 'topup',
  group: 'Keys and money',
  does: "add money to a tenant's account",
  details:
    'An entry with a given id is booked only once. If the gateway does not respond, the command prints the id: run it again with --id to book the entry if it was not booked.',
  changes: true,
  options: {
    adjustment: flag('book an adjustment, whose amount can be negative, as in `-- -5.00`'),
    note: value('TEXT', 'the reason, stored in the ledger'),
    id: value('UUID', 'the id of the entry; default: a new one', { read: uuid }),
    json,
    ...gatewayOptions,
  },
  arguments: {
    tenant: required('TENANT', 'the name or id of the tenant'),
    amount: required('AMOUNT', 'the amount in USD, such as 25.00', { read: decimal }),
  },
  async run({ options, arguments: { tenant, amount }, terminal, ...call }) {
    const gateway = new GatewayClient({ options, ...call })
    const { ask, booked } = await import('./gateway-answers.ts')
    const { adjustment, note, json } = options
    const id = options.id ?? randomUUID()
    const body = {
      id,
      kind: adjustment ? 'adjustment' : 'top_up',
      amount_usd: amount,
      ...(note !== undefined && { note }),
    }
    const path = `tenants/${encodeURIComponent(tenant)}/entries`
    const answer = await ask(booked, gateway, 'POST', path, { body }).catch((error: unknown) => {
      if (!(error instanceof CommandError) || error.exitCode !== exitCodes.unreachable) throw error
      const again = `It is unknown whether the entry was booked. Run the same command again with --id ${id}: the entry is booked at most once.`
      throw new CommandError(error.exitCode, `${error.message}\n${again}`, { cause: error })
    })
    if (json) terminal.printJson(answer)
    else {
      const held = Number(answer.held_usd) > 0 ? `, of which running requests hold $${answer.held_usd}` : ''
      terminal.print(
        `$${answer.entry.amount_usd} booked for ${answer.tenant} as ${answer.entry.id}. Balance: $${answer.balance_usd}${held}`,
      )
    }
    return exitCodes.done
  },
})

function decimal(text: string): string {
  if (/^-?\d{1,10}(\.\d{1,9})?$/.test(text)) return text
  throw new Error(
    `must be an amount in USD with at most 9 decimals, such as 25.00, not ${JSON.stringify(text)}`,
  )
}

function uuid(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text
  throw new Error(`must be a UUID, not ${JSON.stringify(text)}`)
}
