import type { AllRows } from './queries.ts'

/** Returns the groups that refer to a channel, for example `group "a"`. */
export function referrersOfChannel({ groups }: AllRows, name: string): string[] {
  return groups.filter(({ channels }) => channels.includes(name)).map((group) => `group "${group.name}"`)
}

/** Returns the models, channels and groups that refer to a model. */
export function referrersOfModel({ models, channels, offers, groups }: AllRows, id: string): string[] {
  const live = new Map(
    channels
      .filter((row) => row.disabledAt === null || row.managedBy === 'admin')
      .map((row) => [row.id, row.name]),
  )
  return [
    ...groups
      .filter((group) => group.models.includes(id) || group.compactModel === id)
      .map(({ name }) => `group "${name}"`),
    ...models
      .filter((model) => model.disabledAt === null && model.fallbacks.includes(id))
      .map((model) => `model "${model.id}"`),
    ...offers.flatMap(({ modelId, channelId }) => {
      const name = modelId === id ? live.get(channelId) : undefined
      return name === undefined ? [] : [`channel "${name}"`]
    }),
  ]
}
