import type { groups } from '../db/schema.ts'
import type { GroupEntry } from './gateway-file.ts'
import { budgetColumns, limitColumns } from './limit-columns.ts'

/** Returns the columns for the settings of a group. */
export function groupColumns(group: GroupEntry) {
  return {
    name: group.name,
    description: group.description ?? null,
    public: group.public,
    models: group.models,
    channels: group.channels,
    priceMultiplier: group.priceMultiplier,
    imagePriority: group.imagePriority,
    captureAnswers: group.captureAnswers,
    keptDays: group.keptDays,
    compactModel: group.compactModel ?? null,
    clientGonePolicy: group.clientGone.policy,
    clientGoneSeconds: group.clientGone.seconds,
    clientGoneUnseen: group.clientGone.unseen,
    ...limitColumns(group.limits),
    totalRequestsPerMinute: group.totalLimits.requestsPerMinute ?? null,
    totalTokensPerMinute: group.totalLimits.tokensPerMinute ?? null,
    totalConcurrency: group.totalLimits.concurrency ?? null,
    ...budgetColumns(group.budget),
  } satisfies Partial<typeof groups.$inferInsert>
}
