import type { Schema } from '../../api/client.ts'

/** What the API says now. Undefined: not read yet, or not for the caller. */
export interface SetUpFacts {
  channels: readonly Pick<Schema<'Channel'>, 'name' | 'state' | 'protocols' | 'models'>[]
  models: readonly Pick<Schema<'AdminModel'>, 'id' | 'price'>[]
  groups: readonly { name: string }[]
  tenants: readonly { name: string }[]
  keys: readonly Pick<Schema<'Key'>, 'id' | 'name' | 'tenant' | 'revoked_at' | 'disabled'>[]
  rows: readonly { id: string }[]
}

export type StepName = 'owner' | 'channel' | 'price' | 'group' | 'tenant' | 'key' | 'request' | 'row'

/** `demo`: it works, but no model is behind it. */
export type StepState = 'done' | 'demo' | 'open'

/** How far the set-up is, from what there is: it has no memory of its own. */
export function stepsOf(facts: SetUpFacts): Record<StepName, StepState> {
  const enabled = facts.channels.filter(({ state }) => state === 'enabled')
  const isReal = enabled.some((channel) => !isDemo(channel))
  const done = (is: boolean): StepState => (is ? 'done' : 'open')
  return {
    owner: 'done',
    channel: isReal ? 'done' : enabled.length > 0 ? 'demo' : 'open',
    price: isReal
      ? done(offeredModels(facts).every(({ price }) => price !== null))
      : enabled.length > 0
        ? 'demo'
        : 'open',
    group: done(facts.groups.length > 0),
    tenant: done(facts.tenants.length > 0),
    key: done(facts.keys.some(isUsable)),
    request: done(facts.rows.length > 0),
    row: done(facts.rows.length > 0),
  }
}

/** The models that channels of vendors offer by name. */
export function offeredModels<Model extends { id: string }>({
  channels,
  models,
}: {
  channels: SetUpFacts['channels']
  models: readonly Model[]
}): Model[] {
  const offered = channels
    .filter((channel) => !isDemo(channel))
    .flatMap((channel) => (typeof channel.models === 'string' ? [] : Object.keys(channel.models)))
  return models.filter(({ id }) => id !== '*' && offered.includes(id))
}

/** What a first request asks for: a model of a vendor before one of the demo. */
export function firstModel(facts: SetUpFacts, usable: readonly string[]): string | undefined {
  const offered = new Set(offeredModels(facts).map(({ id }) => id))
  return usable.find((id) => offered.has(id)) ?? usable[0]
}

export function isUsable({ revoked_at, disabled }: Pick<Schema<'Key'>, 'revoked_at' | 'disabled'>): boolean {
  return revoked_at === null && !disabled
}

/** The channel that a gateway without settings has. */
export function isDemo({ protocols }: Pick<Schema<'Channel'>, 'protocols'>): boolean {
  return Object.values(protocols).some((url) => url?.includes('//tollgate-demo.internal'))
}
